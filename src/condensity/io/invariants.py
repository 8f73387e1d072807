"""Invariants of the values in files: shapes that fit together, and numbers that give densities.

A density of Gaussians has mass one and finite values if its weights, centres and widths are finite,
and its widths and weights positive.  Here this is checked from the fields alone, in time
proportional to their size, before anything is computed from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condensity._typing import Array
from condensity._utils.validation import LARGEST
from condensity.data.sample import Sample, Scaling
from condensity.distributions.bounded import Bounds
from condensity.fitting.density import KernelDensity
from condensity.fitting.gaussian_process import SmoothFunction
from condensity.fitting.neighbors import NeighborDensity
from condensity.fitting.scores import Gaussians
from condensity.fitting.trees import TreeSum
from condensity.io.container import DamagedFileError
from condensity.locations.flexible import WeightedFunctions
from condensity.locations.location import Constant, Plane, PredictedInput, ReducedFunction
from condensity.members.averaged import AveragedMembers, Ensemble
from condensity.members.member import Coefficients

#: Largest number in standardised units.  Sums of products of a few such numbers are finite.
STANDARD = 1e20
#: Largest bandwidth and largest inverse of one; estimators accept 1e-6 to 1e6.
WIDTH = 1e8
#: Largest factor of the calibration of widths, and largest inverse of one.
STRETCH = 1e4
#: Largest logarithm of a coefficient, in absolute value.
LOGARITHM = 1e3
#: Largest free coordinate of an output with bounds, and largest width of its Gaussians: floats have
#: logarithms within this range, and the cost of a mean grows with the square of the width.
FREE = 1e3
#: Largest coefficient of a Gaussian; its inverse is the smallest coefficient of the background.
COEFFICIENT = 1e250
#: Largest sum of the sizes of all arrays of coefficients, relative to that of the different ones:
#: a small file whose parts all share one large array would take much memory.
MOST_SHARED = 100


def check_density(density: Any, dx: int, dy: int) -> None:
    """Check a density of ``dy`` outputs given ``dx`` inputs."""
    checks: dict[type[Any], Callable[[Any, int, int], None]] = {
        KernelDensity: _check_kernel_density,
        NeighborDensity: _check_neighbor_density,
        Ensemble: _check_ensemble,
    }
    if type(density) not in checks:
        raise DamagedFileError(f"a {type(density).__name__} is stored in place of a density")
    checks[type(density)](density, dx, dy)


def check_scaling(scaling: Any, d: int, *, varies: bool = False) -> None:
    """Check the scaling of ``d`` columns; with ``varies``, none of them is constant."""
    _check_kind("a scaling", scaling, Scaling)
    check_array("the mean of a scaling", scaling.mean, (d,), most=LARGEST)
    least = 1 / LARGEST if varies else 0.0
    check_array("the unit of a scaling", scaling.sd, (d,), least=least, most=LARGEST)
    if np.any((scaling.sd > 0) & (scaling.sd < 1 / LARGEST)):
        raise DamagedFileError("the unit of a scaling is too small")


def check_array(
    name: str,
    values: Any,
    shape: tuple[int, ...],
    *,
    least: float = -np.inf,
    most: float = STANDARD,
) -> None:
    """Check the shape and the range of an array of floats."""
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or values.shape != shape:
        found = values.shape if isinstance(values, np.ndarray) else type(values).__name__
        raise DamagedFileError(f"{name} must be floats of shape {shape}, got {found}")
    low = max(least, -most)
    if not np.all((values >= low) & (values <= most)):  # NaN is out of range
        raise DamagedFileError(f"{name} contains a number outside [{low:g}, {most:g}]")


def check_number(name: str, value: Any, *, least: float, most: float = STANDARD) -> None:
    """Check the range of a number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
        raise DamagedFileError(
            f"{name} must be a number in [{least:g}, {most:g}], got {value!r:.20}"
        )


def _check_kind(name: str, value: Any, kind: type[Any] | tuple[type[Any], ...]) -> None:
    if not isinstance(value, kind):
        raise DamagedFileError(f"a {type(value).__name__} is stored in place of {name}")


def _rows(name: str, values: Any) -> int:
    """Number of rows of an array, at least one."""
    _check_kind(name, values, np.ndarray)
    if values.ndim == 0 or len(values) == 0:
        raise DamagedFileError(f"{name} has no rows")
    return len(values)


def _columns(name: str, values: Any) -> int:
    """Number of columns of a matrix."""
    _check_kind(name, values, np.ndarray)
    if values.ndim != 2:
        raise DamagedFileError(f"{name} must be a matrix, got shape {values.shape}")
    return int(values.shape[1])


def _check_width(name: str, value: Any) -> None:
    check_number(name, value, least=1 / WIDTH, most=WIDTH)


def _check_kernel_density(density: KernelDensity, dx: int, dy: int) -> None:
    check_scaling(density.x_scaling, dx)
    check_scaling(density.y_scaling, dy, varies=True)
    b, dz = _rows("the centres of a density", density.V), _columns("the centres of z", density.U)
    check_array("the directions of a density", density.W, (dz, dx))
    check_array("the centres of z", density.U, (b, dz))
    check_array("the centres of a density", density.V, (b, dy))
    check_array("the logarithms of coefficients", density.log_alpha, (b,), most=LOGARITHM)
    _check_width("the bandwidth of z", density.sigma_z)
    _check_width("the bandwidth of y", density.sigma_y)


def _check_neighbor_density(density: NeighborDensity, dx: int, dy: int) -> None:
    check_scaling(density.x_scaling, dx)
    check_scaling(density.y_scaling, dy, varies=True)
    _check_kind("samples", density.sample, Sample)
    n = _rows("the inputs of the samples", density.sample.X)
    check_array("the inputs of the samples", density.sample.X, (n, dx))
    check_array("the outputs of the samples", density.sample.Y, (n, dy))
    check_array(
        "the weights of the samples", density.sample.weight, (n,), least=1 / COEFFICIENT, most=1.0
    )
    check_number("the radius epsilon", density.epsilon, least=0.0, most=np.inf)
    _check_width("the bandwidth of y", density.sigma_y)


def _check_ensemble(ensemble: Ensemble, dx: int, dy: int) -> None:
    check_scaling(ensemble.x_scaling, dx)
    check_scaling(ensemble.y_scaling, dy, varies=True)
    if not ensemble.parts:
        raise DamagedFileError("a density has no configurations")
    shares = [share for share, _ in ensemble.parts]
    for share, part in ensemble.parts:
        check_number("the weight of a configuration", share, least=0.0, most=1.0)
        _check_part(part, dx, dy)
    if abs(sum(shares) - 1.0) > 1e-6:
        raise DamagedFileError(f"the weights of configurations have the sum {sum(shares):g}, not 1")
    _check_sharing([member.alphas for _, part in ensemble.parts for member in part.members])
    _check_kind("directions", ensemble.W, np.ndarray)
    check_array("the directions", ensemble.W, (len(ensemble.W), dx))
    if ensemble.stretch is not None:
        check_array(
            "the stretch of a density", ensemble.stretch, (dy,), least=1 / STRETCH, most=STRETCH
        )
    if ensemble.bounds is not None:
        _check_bounds(ensemble.bounds, dy)
        _check_free_coordinates(ensemble, dy)


def _check_sharing(arrays: list[Array]) -> None:
    different = sum({id(array): array.size for array in arrays}.values())
    if sum(array.size for array in arrays) > MOST_SHARED * different:
        raise DamagedFileError(f"more than {MOST_SHARED} parts share their coefficients")


def _check_bounds(bounds: Any, dy: int) -> None:
    _check_kind("bounds", bounds, Bounds)
    for name, ends in (("a lower bound", bounds.lower), ("an upper bound", bounds.upper)):
        # Infinity stands for an output without this bound.
        check_array(name, np.where(np.isinf(ends), 0.0, ends), (dy,), most=LARGEST)
    if not np.all(bounds.upper - bounds.lower >= 1 / LARGEST):
        raise DamagedFileError("a lower bound is not below its upper bound")


def _check_free_coordinates(ensemble: Ensemble, dy: int) -> None:
    """Check the range of the Gaussians of a density with bounds."""
    scaling, stretch = ensemble.y_scaling, ensemble.stretch
    check_array("the mean of a free coordinate", scaling.mean, (dy,), most=FREE)
    unit = scaling.sd if stretch is None else scaling.sd * np.maximum(stretch, 1.0)
    for _, part in ensemble.parts:
        widths = part.components.widths.max() * np.linalg.norm(part.factor, axis=1)
        check_array("the width of a free coordinate", widths * unit, (dy,), most=FREE)


def _check_part(part: Any, dx: int, dy: int) -> None:
    """Check one configuration."""
    _check_kind("a configuration", part, AveragedMembers)
    check_scaling(part.scaling, dx)
    _check_location(part.location, dx, dy)
    check_array("the factor of a covariance", part.factor, (dy, dy))
    if np.triu(part.factor, 1).any() or np.any(np.diagonal(part.factor) < 1 / WIDTH):
        raise DamagedFileError(
            "the factor of a covariance must be lower triangular with a positive diagonal"
        )
    n_inputs = dx
    if part.predicted is not None:
        _check_predicted(part.predicted, dy)
        n_inputs += 1
    b = _check_gaussians(part.components, dy)
    if not part.members:
        raise DamagedFileError("a configuration has no members")
    for member in part.members:
        _check_member(member, n_inputs, b)


def _check_gaussians(components: Any, dy: int) -> int:
    """Check the Gaussians of a configuration, of which the last is the background; their number."""
    _check_kind("Gaussians", components, Gaussians)
    b = _rows("the centres of a configuration", components.centers)
    check_array("the centres of a configuration", components.centers, (b, dy))
    check_array("the widths of a configuration", components.widths, (b,), least=1 / WIDTH)
    if b < 2 or np.ptp(components.widths[:-1]) > 0:
        raise DamagedFileError("a configuration must have kernels of equal width and a background")
    return b


def _check_member(member: Any, n_inputs: int, b: int) -> None:
    _check_kind("coefficients", member, Coefficients)
    dz = _columns("the centres of a member", member.U)
    check_array("the directions of a member", member.W, (dz, n_inputs))
    check_array("the centres of a member", member.U, (b - 1, dz))
    _check_width("the bandwidth of a member", member.sigma_z)
    penalties = _rows("the coefficients", member.alphas)
    check_array("the coefficients", member.alphas, (penalties, b), least=0.0, most=COEFFICIENT)
    if np.any(member.alphas[:, -1] < 1 / COEFFICIENT):
        raise DamagedFileError("the background of a member has no weight")


def _check_predicted(predicted: Any, dy: int) -> None:
    _check_kind("the value of a location as an input", predicted, PredictedInput)
    check_array("the axis of a location", predicted.axis, (dy,))
    check_number("the mean of a location", predicted.mean, least=-STANDARD)
    _check_width("the spread of a location", predicted.sd)


def _check_location(location: Any, dx: int, dy: int) -> None:
    """Check a location with ``dx`` inputs and ``dy`` outputs."""
    checks: dict[type[Any], Callable[[Any, int, int], None]] = {
        Constant: _check_constant,
        Plane: _check_plane,
        SmoothFunction: _check_smooth,
        TreeSum: _check_trees,
        WeightedFunctions: _check_sum,
        ReducedFunction: _check_reduced,
    }
    if type(location) not in checks:
        raise DamagedFileError(f"a {type(location).__name__} is stored in place of a location")
    checks[type(location)](location, dx, dy)


def _check_constant(constant: Constant, dx: int, dy: int) -> None:
    check_array("a constant location", constant.mean, (dy,))


def _check_plane(plane: Plane, dx: int, dy: int) -> None:
    check_array("the intercept of a linear location", plane.intercept, (dy,))
    check_array("the slope of a linear location", plane.slope, (dx, dy))


def _check_sum(total: WeightedFunctions, dx: int, dy: int) -> None:
    if not len(total.weights) == len(total.functions) > 0:
        raise DamagedFileError("a sum of locations needs a weight for each of its functions")
    for weight, function in zip(total.weights, total.functions, strict=True):
        check_number("the weight of a location", weight, least=-STANDARD)
        _check_location(function, dx, dy)


def _check_smooth(smooth: SmoothFunction, dx: int, dy: int) -> None:
    n = _rows("the centres of a smooth location", smooth.centers)
    check_array("the centres of a smooth location", smooth.centers, (n, dx))
    check_array("the coefficients of a smooth location", smooth.coefficients, (n, dy))
    check_array("the mean of a smooth location", smooth.mean, (dy,))
    check_array("the lengths of a smooth location", smooth.lengths, (dx,), least=1 / STANDARD)
    check_number("the slope of a smooth location", smooth.slope, least=-STANDARD)


def _check_reduced(reduced: ReducedFunction, dx: int, dy: int) -> None:
    """Check the directions, and the function of z with one input for each of them."""
    dz = _rows("the directions of a reduced location", reduced.W)
    check_array("the directions of a reduced location", reduced.W, (dz, dx))
    _check_kind("the function of a reduced location", reduced.function, SmoothFunction)
    _check_smooth(reduced.function, dz, dy)


def _check_trees(trees: TreeSum, dx: int, dy: int) -> None:
    """Check all nodes: an input visits only some of them."""
    nodes = _rows("the nodes of a tree location", trees.value)
    check_array("the intercept of a tree location", trees.intercept, (dy,))
    check_array("the values of a tree location", trees.value, (nodes,))
    check_array("the thresholds of a tree location", trees.threshold, (nodes,))
    n_trees = _rows("the roots of a tree location", trees.roots)
    _check_indices(trees.roots, (n_trees, dy), nodes)
    _check_indices(trees.feature, (nodes,), dx)
    _check_indices(trees.below, (nodes,), nodes)
    _check_indices(trees.above, (nodes,), nodes)
    reached = np.unique(trees.roots)
    for _ in range(trees.depth):
        reached = np.unique([trees.below[reached], trees.above[reached]])
    if np.any(trees.below[reached] != reached) or np.any(trees.above[reached] != reached):
        raise DamagedFileError("a tree location has paths that do not end at a leaf")


def _check_indices(indices: NDArray[Any], shape: tuple[int, ...], end: int) -> None:
    _check_kind("an array of indices", indices, np.ndarray)
    if indices.dtype.kind != "i" or indices.shape != shape:
        raise DamagedFileError(f"indices of a tree location must have the shape {shape}")
    if indices.size and (indices.min() < 0 or indices.max() >= end):
        raise DamagedFileError("a tree location contains an index that does not exist")
