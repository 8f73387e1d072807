"""A fitted model as arrays, from which the page computes p(y|x) without Python.

A part is an average of members that share their Gaussians of y.  In part j, Gaussian k is the
distribution of ``y = shift(x) + c_k + L_g e`` in the units of the data, with one factor L_g for
each group of consecutive Gaussians.  The kernels of a member at z give its weights.  The frame of a
part gives the shift and the inputs of the kernels; parts with the same location share it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array
from condensity.data.sample import Scaling
from condensity.distributions.base import Distribution
from condensity.estimators.reduced import Reduced
from condensity.explorer.encoded_arrays import PageData, encode_array
from condensity.explorer.exported_location import terms_of
from condensity.fitting.density import KernelDensity
from condensity.fitting.neighbors import NeighborDensity
from condensity.locations.extrapolation import LocationRange
from condensity.locations.location import Constant, PredictedInput
from condensity.members.averaged import AveragedMembers, Ensemble
from condensity.members.member import Coefficients

ExportableDensity = Ensemble | KernelDensity | NeighborDensity


@dataclass(frozen=True, eq=False)
class Affine:
    """The map ``matrix (x - origin) + offset``."""

    matrix: Array  # (dz, dx)
    origin: Array  # (dx,)
    offset: Array  # (dz,)

    @classmethod
    def of_directions(cls, scaling: Scaling, W: Array) -> Affine:
        """Map from x to z for ``W`` (dz, dx), which acts on standardised inputs."""
        return cls(W * _inverse(scaling), scaling.mean, np.zeros(len(W)))

    def apply(self, X: Array) -> Array:
        """Images (m, dz) of the rows of ``X`` (m, dx)."""
        return np.asarray((X - self.origin) @ self.matrix.T + self.offset)

    def as_page_data(self) -> PageData:
        """The arrays of the map for the page."""
        return {k: encode_array(getattr(self, k)) for k in ("matrix", "origin", "offset")}


@dataclass(frozen=True, eq=False)
class ExportedModel:
    """The density of a fitted estimator, and the linear maps around it."""

    density: ExportableDensity
    before: Affine | None  # the map of the inputs before the density
    summary: Affine | None  # the map from x to z; None without a reduction
    loadings: Array | None  # (dz, dx)
    scaling: Scaling | None  # of x

    @classmethod
    def of(cls, model: Any) -> ExportedModel:
        """Export an estimator of this library that has ``predict_dist``; else ``TypeError``."""
        if not hasattr(model, "predict_dist"):
            hint = "; for a pipeline, pass its last step" if hasattr(model, "steps") else ""
            raise TypeError(
                f"model must be an estimator with predict_dist, got {type(model).__name__}{hint}"
            )
        check_is_fitted(model)
        if isinstance(model, Reduced):
            return _export_reduced(model)
        density = _density_of(model)
        if hasattr(model, "components_") and isinstance(density, Ensemble | KernelDensity):
            summary = Affine.of_directions(density.x_scaling, density.W)
            return cls(density, None, summary, np.asarray(model.components_), density.x_scaling)
        return cls(density, None, None, None, density.x_scaling)

    def at(self, X: Array) -> Distribution:
        """Densities for validated rows, without a check of column names."""
        return self.density.at(X if self.before is None else self.before.apply(X))

    @property
    def width(self) -> int:
        """Number of Gaussians in each density."""
        return self.density.width

    def as_page_data(self) -> PageData:
        """The model for the page; bounds are (lower, upper) for each output, None if unbounded."""
        bounds = getattr(self.density, "bounds", None)
        dy = len(self.density.y_scaling.mean)
        lower, upper = (
            (np.full(dy, -np.inf), np.full(dy, np.inf))
            if bounds is None
            else (bounds.lower, bounds.upper)
        )
        stretch = getattr(self.density, "stretch", None)
        frames, parts = _frames_and_parts(self.density)
        return {
            "dy": dy,
            "y_mean": encode_array(self.density.y_scaling.mean),
            "y_sd": encode_array(self.density.y_scaling.sd),
            "frames": frames,
            "parts": parts,
            "stretch": None if stretch is None or np.all(stretch == 1) else encode_array(stretch),
            "bounds": [
                [_finite_or_none(a), _finite_or_none(b)] for a, b in zip(lower, upper, strict=True)
            ],
            "before": None if self.before is None else self.before.as_page_data(),
            "summary": None if self.summary is None else self.summary.as_page_data(),
        }


def _finite_or_none(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _inverse(scaling: Scaling) -> Array:
    """Inverse standard deviations (dx,), 0 for a constant column."""
    return np.divide(1.0, scaling.sd, out=np.zeros_like(scaling.sd), where=scaling.varies)


def _density_of(model: Any) -> ExportableDensity:
    density = getattr(model, "_density", None)
    if not isinstance(density, ExportableDensity):
        raise TypeError(
            f"{type(model).__name__} has no density that a report can contain: pass a fitted LSCE, "
            "LSCDE or EpsilonKDE, or Reduced with one of them"
        )
    return density


def _export_reduced(model: Reduced) -> ExportedModel:
    reducer, density = model.reducer_, _density_of(model.density_)
    inner = getattr(reducer, "_density", None)
    scaling = getattr(reducer, "_x_scaling", None) or getattr(inner, "x_scaling", None)
    reduction = _linear_map(reducer, int(model.n_features_in_), scaling)
    loadings = np.asarray(getattr(reducer, "components_", reduction.matrix), dtype=float)
    return ExportedModel(density, reduction, reduction, loadings, scaling)


def _linear_map(reducer: Any, dx: int, scaling: Scaling | None) -> Affine:
    """The affine map that ``reducer.transform`` computes; ``TypeError`` if it is not affine."""
    origin = np.zeros(dx) if scaling is None else scaling.mean
    unit = np.ones(dx) if scaling is None else np.where(scaling.varies, scaling.sd, 1.0)
    test = np.random.default_rng(0).normal(size=(4, dx)) * unit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these rows have no column names
        images = np.asarray(reducer.transform(origin + np.vstack([0 * unit, np.diag(unit), test])))
    matrix = ((images[1 : dx + 1] - images[0]) / unit[:, None]).T
    affine = Affine(matrix, origin, images[0])
    if not np.allclose(affine.apply(origin + test), images[dx + 1 :], rtol=1e-8, atol=1e-10):
        raise TypeError(
            f"{type(reducer).__name__} is not linear, so the page cannot run it: "
            "use a linear reducer such as SIR, LSCE or PCA"
        )
    return affine


def _frames_and_parts(density: ExportableDensity) -> tuple[list[PageData], list[PageData]]:
    """The different frames, and all parts, each with the index of its frame."""
    if not isinstance(density, Ensemble):
        constant = Constant(np.zeros(len(density.y_scaling.mean)))
        return [_frame_data(density.x_scaling, constant)], [_single_part(density) | {"frame": 0}]
    frames: list[PageData] = []
    parts = []
    for share, part in density.parts:
        frame = _frame_data(part.scaling, part.location, part.predicted, part.limits)
        if frame not in frames:
            frames.append(frame)
        data = _part_data(share, part, density.y_scaling)
        parts.append(data | {"frame": frames.index(frame)})
    return frames, parts


def _frame_data(
    scaling: Scaling,
    location: Any,
    predicted: PredictedInput | None = None,
    limits: LocationRange | None = None,
) -> PageData:
    """The scaling of x, the location, its limits, and its value as one more input."""
    return {
        "mean": encode_array(scaling.mean),
        "inverse": encode_array(_inverse(scaling)),
        "location": terms_of(location).as_page_data(),
        "limits": None
        if limits is None
        else {name: encode_array(array) for name, array in vars(limits).items()},
        "predicted": None
        if predicted is None
        else {
            "axis": encode_array(predicted.axis),
            "mean": float(predicted.mean),
            "sd": float(predicted.sd),
        },
    }


def _single_part(density: KernelDensity | NeighborDensity) -> PageData:
    sd = density.y_scaling.sd
    is_kernel = isinstance(density, KernelDensity)
    centers = density.V if isinstance(density, KernelDensity) else density.sample.Y
    return {
        "share": 1.0,
        "centers": encode_array(sd * centers),
        "groups": [_group_data(len(centers), np.diag(density.sigma_y * sd), False)],
        "members": [_density_member(density) if is_kernel else _neighbor_member(density)],
    }


def _group_data(size: int, factor: Array, free: bool) -> PageData:
    """Gaussians with the same factor; the stretch applies to ``free`` ones only."""
    return {"size": size, "factor": encode_array(factor), "free": free}


def _part_data(share: float, part: AveragedMembers, y_scaling: Scaling) -> PageData:
    factor = y_scaling.sd[:, None] * part.factor
    centers, widths = part.components.centers, part.components.widths
    return {
        "share": float(share),
        "centers": encode_array(centers @ factor.T),
        "groups": [
            _group_data(len(centers) - 1, widths[0] * factor, True),
            _group_data(1, widths[-1] * factor, False),
        ],
        "members": [_member_data(member) for member in part.members],
    }


def _member_data(member: Coefficients) -> PageData:
    with np.errstate(divide="ignore"):
        log_alpha = np.log(member.alphas[0])
    return _kernel_data(member.W, member.U, member.sigma_z, log_alpha)


def _density_member(density: Any) -> PageData:
    return _kernel_data(density.W, density.U, density.sigma_z, density.log_alpha)


def _kernel_data(W: Array, U: Array, sigma_z: float, log_alpha: Array) -> PageData:
    return {
        "dz": len(W),
        "W": encode_array(W),
        "U": encode_array(U),
        "sigma_z": float(sigma_z),
        "log_alpha": encode_array(log_alpha),
    }


def _neighbor_member(density: Any) -> PageData:
    sample = density.sample
    return {
        "W": None,
        "U": encode_array(sample.X),
        "weight": encode_array(sample.weight),
        "epsilon": _finite_or_none(density.epsilon),
    }
