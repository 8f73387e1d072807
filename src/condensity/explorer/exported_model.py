"""A fitted model as the numbers that answer for it: what the page needs to do without Python.

A part is an average of members that share their Gaussians of y.  In part j the k-th is the law of
``y = shift(x) + c_k + L_g e`` in the units of the data, one factor L_g for each group of
Gaussians that follow one another; a member gives them weights by the kernels of its z.
"""

from __future__ import annotations

import base64
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array
from condensity.data.sample import Scaling
from condensity.distributions.base import Distribution
from condensity.estimators.reduced import Reduced
from condensity.fitting.density import KernelDensity
from condensity.fitting.neighbors import NeighborDensity
from condensity.lsce.averaged import AveragedMembers, Ensemble
from condensity.lsce.location import Constant, Plane
from condensity.lsce.member import Coefficients

Told = dict[str, Any]
Kept = Ensemble | KernelDensity | NeighborDensity


@dataclass(frozen=True, eq=False)
class Affine:
    """``matrix (x - origin) + offset``."""

    matrix: Array  # (dz, dx)
    origin: Array  # (dx,)
    offset: Array  # (dz,)

    @classmethod
    def of_directions(cls, scaling: Scaling, W: Array) -> Affine:
        """``W`` (dz, dx) acting on standardised inputs."""
        return cls(W * _inverse(scaling), scaling.mean, np.zeros(len(W)))

    def at(self, X: Array) -> Array:
        """For the rows of ``X`` (m, dx): (m, dz)."""
        return np.asarray((X - self.origin) @ self.matrix.T + self.offset)

    def told(self) -> Told:
        """For the page."""
        return {k: packed(getattr(self, k)) for k in ("matrix", "origin", "offset")}


@dataclass(frozen=True, eq=False)
class Readable:
    """A fitted estimator taken apart."""

    density: Kept
    before: Affine | None  # what inputs go through before the density
    summary: Affine | None  # the coordinates z it finds; None where it reduces nothing
    loadings: Array | None  # (dz, dx)
    scaling: Scaling | None  # of x

    @classmethod
    def of(cls, model: Any) -> Readable:
        """Of any estimator of this library that answers with densities, or ``TypeError``."""
        if not hasattr(model, "predict_dist"):
            hint = "; of a pipeline pass the last step" if hasattr(model, "steps") else ""
            raise TypeError(
                f"a report shows an estimator with predict_dist, got {type(model).__name__}{hint}"
            )
        check_is_fitted(model)
        if isinstance(model, Reduced):
            return _two_steps(model)
        density = _kept(model)
        if hasattr(model, "components_") and isinstance(density, Ensemble | KernelDensity):
            summary = Affine.of_directions(density.x_scaling, density.W)
            return cls(density, None, summary, np.asarray(model.components_), density.x_scaling)
        return cls(density, None, None, None, density.x_scaling)

    def at(self, X: Array) -> Distribution:
        """The densities for rows past the gate, without a word about names."""
        return self.density.at(X if self.before is None else self.before.at(X))

    @property
    def width(self) -> int:
        """Number of Gaussians in each answer."""
        return self.density.width

    def told(self) -> Told:
        """For the page; bounds are (lower, upper) for each output, None where there is none."""
        bounds = getattr(self.density, "bounds", None)
        dy = len(self.density.y_scaling.mean)
        lower, upper = (
            (np.full(dy, -np.inf), np.full(dy, np.inf))
            if bounds is None
            else (bounds.lower, bounds.upper)
        )
        stretch = getattr(self.density, "stretch", None)
        return {
            "dy": dy,
            "parts": _parts(self.density),
            "stretch": None if stretch is None or np.all(stretch == 1) else packed(stretch),
            "bounds": [[_finite(a), _finite(b)] for a, b in zip(lower, upper, strict=True)],
            "before": None if self.before is None else self.before.told(),
            "summary": None if self.summary is None else self.summary.told(),
        }


def packed(values: Any) -> Told:
    """Numbers as base64 of little-endian float64, bit for bit."""
    data = np.ascontiguousarray(values, dtype="<f8").tobytes()
    return {"f8": base64.b64encode(data).decode("ascii")}


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _inverse(scaling: Scaling) -> Array:
    """What standardised inputs are multiplied by: 0 for a constant column."""
    return np.divide(1.0, scaling.sd, out=np.zeros_like(scaling.sd), where=scaling.varies)


def _kept(model: Any) -> Kept:
    density = getattr(model, "_density", None)
    if not isinstance(density, Kept):
        raise TypeError(
            f"{type(model).__name__} keeps no density that can be written down: a report shows "
            "LSCE, LSCDE, EpsilonKDE, or Reduced with one of them"
        )
    return density


def _two_steps(model: Reduced) -> Readable:
    reducer, density = model.reducer_, _kept(model.density_)
    scaling = next(
        (found for name in ("_scaling", "_x_scaling") if (found := getattr(reducer, name, None))),
        getattr(getattr(reducer, "_density", None), "x_scaling", None),
    )
    map_ = _probed(reducer, int(model.n_features_in_), scaling)
    loadings = np.asarray(getattr(reducer, "components_", map_.matrix), dtype=float)
    return Readable(density, map_, map_, loadings, scaling)


def _probed(reducer: Any, dx: int, scaling: Scaling | None) -> Affine:
    """The map of a transformer that is linear, found by asking; ``TypeError`` if it is not."""
    origin = np.zeros(dx) if scaling is None else scaling.mean
    unit = np.ones(dx) if scaling is None else np.where(scaling.varies, scaling.sd, 1.0)
    test = np.random.default_rng(0).normal(size=(4, dx)) * unit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows without the names of their columns
        answer = np.asarray(reducer.transform(origin + np.vstack([0 * unit, np.diag(unit), test])))
    matrix = ((answer[1 : dx + 1] - answer[0]) / unit[:, None]).T
    affine = Affine(matrix, origin, answer[0])
    if not np.allclose(affine.at(origin + test), answer[dx + 1 :], rtol=1e-8, atol=1e-10):
        raise TypeError(
            f"{type(reducer).__name__} is not linear, so the page could not run it: "
            "use a reducer such as SIR, LSCE or PCA"
        )
    return affine


def _parts(density: Kept) -> list[Told]:
    if isinstance(density, Ensemble):
        return [_averaged(share, part, density.y_scaling) for share, part in density.parts]
    dy, y_scaling = len(density.y_scaling.mean), density.y_scaling
    single = isinstance(density, KernelDensity)
    centers = density.V if isinstance(density, KernelDensity) else density.sample.Y
    return [
        _scaled(density.x_scaling)
        | {
            "share": 1.0,
            "intercept": packed(np.zeros(dy)),
            "slope": None,
            "centers": packed(y_scaling.mean + y_scaling.sd * centers),
            "groups": [_group(len(centers), np.diag(density.sigma_y * y_scaling.sd), False)],
            "members": [_single(density) if single else _neighbours(density)],
        }
    ]


def _scaled(scaling: Scaling) -> Told:
    return {"mean": packed(scaling.mean), "inverse": packed(_inverse(scaling))}


def _group(size: int, factor: Array, free: bool) -> Told:
    """Gaussians with the same factor; ``free`` ones take part in a stretch."""
    return {"size": size, "factor": packed(factor), "free": free}


def _averaged(share: float, part: AveragedMembers, y_scaling: Scaling) -> Told:
    factor = y_scaling.sd[:, None] * part.factor
    intercept, slope = _location(part, y_scaling)
    centers, widths = part.components.centers, part.components.widths
    return _scaled(part.scaling) | {
        "share": float(share),
        "intercept": packed(intercept),
        "slope": None if slope is None else packed(slope),
        "centers": packed(centers @ factor.T),
        "groups": [
            _group(len(centers) - 1, widths[0] * factor, True),
            _group(1, widths[-1] * factor, False),
        ],
        "members": [_member(member) for member in part.members],
    }


def _location(part: AveragedMembers, y_scaling: Scaling) -> tuple[Array, Array | None]:
    """Intercept (dy,) and slope (dx, dy) on standardised x, in the units of y."""
    location = part.location
    if isinstance(location, Constant):
        return y_scaling.mean + y_scaling.sd * location.mean, None
    if isinstance(location, Plane):
        return y_scaling.mean + y_scaling.sd * location.intercept, y_scaling.sd * location.slope
    raise TypeError(
        "the location of this model is a regressor, which a page cannot run: "
        "fit it with location='auto', 'linear' or 'none'"
    )


def _member(member: Coefficients) -> Told:
    with np.errstate(divide="ignore"):
        logs = np.log(member.alphas[0])
    return _kernels(member.W, member.U, member.sigma_z, logs)


def _single(density: Any) -> Told:
    return _kernels(density.W, density.U, density.sigma_z, density.log_alpha)


def _kernels(W: Array, U: Array, sigma_z: float, log_alpha: Array) -> Told:
    return {
        "dz": len(W),
        "W": packed(W),
        "U": packed(U),
        "sigma_z": float(sigma_z),
        "log_alpha": packed(log_alpha),
    }


def _neighbours(density: Any) -> Told:
    sample = density.sample
    return {
        "W": None,
        "U": packed(sample.X),
        "weight": packed(sample.weight),
        "epsilon": _finite(density.epsilon),
    }
