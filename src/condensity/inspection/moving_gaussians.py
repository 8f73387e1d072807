"""Gaussians whose weights and means are functions of x, and derivatives of what they average.

The density of one output is ``p(y|x) = sum_k w_k(x) N(y; a_k(x), s_k^2)``.  For any g,

    d E[g(Y)] / dx = sum_k G_k dw_k/dx + sum_k w_k G'_k da_k/dx,

with ``G_k = E g(N(a_k, s_k^2))`` and G' its derivative with respect to a_k.  The weights are
``w_k = c_k phi_k / (sum_l c_l phi_l + c_0)`` with ``phi_k = exp(-|z - u_k|^2 / (2 sigma^2))``, so

    sum_k G_k dw_k/dz = -sum_k w_k (G_k - sum_l w_l G_l) (z - u_k) / sigma^2

where the first sum is over the kernels and the inner one also over the background, which has the
coefficient c_0.  These are matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity._typing import Array
from condensity.fitting.density import KernelDensity
from condensity.fitting.gaussian_process import SmoothFunction, covariances
from condensity.locations.flexible import WeightedFunctions
from condensity.locations.location import Constant, Plane, ReducedFunction
from condensity.members.averaged import AveragedMembers, Ensemble
from condensity.members.member import Coefficients

#: From numbers of the Gaussians (m, K) to ``sum_k G_k dw_k/dx``, (m, dx).
Pull = Callable[[Array], Array]


class SteepLocationError(ValueError):
    """A location has steps, or is a function that this library does not know."""


@dataclass(frozen=True, eq=False)
class MovingGaussians:
    """Gaussians of one output for m rows, with the derivatives of weights and means."""

    weights: Array  # (m, K)
    means: Array  # (m, K)
    sds: Array  # (K,)
    slope: Array  # (m, dx) of all means, unless the Gaussians are stretched
    pull: Pull
    mean_slope: Array | None = None  # (m, dx) of the mean of the mixture, if it is stretched ...
    stay: Array | None = None  # (K,) ... about it: the share of it in the mean of a Gaussian

    def expectation_slope(self, G: Array, dG: Array) -> Array:
        """The part of these Gaussians in ``d E[g(Y)] / dx``, for (m, K) values and derivatives."""
        pushed = self.weights * dG
        if self.stay is None or self.mean_slope is None:
            return np.asarray(self.pull(G) + pushed.sum(axis=1)[:, None] * self.slope)
        own, mixture = pushed @ (1.0 - self.stay), pushed @ self.stay
        moved = own[:, None] * self.slope + mixture[:, None] * self.mean_slope
        return np.asarray(self.pull(G) + moved)

    def stretched(self, factors: Array, mean: Array, mean_slope: Array) -> MovingGaussians:
        """With means and widths stretched by ``factors`` (K,) about the mean of the mixture."""
        means = mean[:, None] + factors * (self.means - mean[:, None])
        return replace(
            self,
            means=means,
            sds=self.sds * factors,
            mean_slope=mean_slope,
            stay=1.0 - factors,
        )


def moving_gaussians(
    density: KernelDensity | Ensemble, X: Array, output: int
) -> list[MovingGaussians]:
    """The Gaussians of one output of a fitted density at the rows of ``X`` (m, dx)."""
    if isinstance(density, KernelDensity):
        return [_of_kernel_density(density, X, output)]
    parts = [_of_members(share, part, density, X, output) for share, part in density.parts]
    stretch = 1.0 if density.stretch is None else float(density.stretch[output])
    if stretch == 1.0:
        return parts
    mean = mean_of_parts(parts)
    slope = np.sum([p.expectation_slope(p.means, np.ones_like(p.means)) for p in parts], axis=0)
    return [p.stretched(_factors(stretch, len(p.sds)), mean, slope) for p in parts]


def mean_of_parts(parts: Sequence[MovingGaussians]) -> Array:
    """The mean of the mixture, (m,)."""
    means = [np.einsum("mk,mk->m", part.weights, part.means) for part in parts]
    return np.asarray(np.sum(means, axis=0))


def _factors(stretch: float, size: int) -> Array:
    """The factors of the kernels, and of the background, which is not stretched."""
    return np.append(np.full(size - 1, stretch), 1.0)


def _of_kernel_density(density: KernelDensity, X: Array, output: int) -> MovingGaussians:
    weights = density.at(X).blocks[0].weights
    Z, inverse = density.reduce(X), _inverse(density.x_scaling.sd)

    def pull(G: Array) -> Array:
        return _pull_to_z(weights, G, Z, density.U, density.sigma_z) @ density.W * inverse

    mean, sd = density.y_scaling.mean[output], density.y_scaling.sd[output]
    means = np.broadcast_to(mean + sd * density.V[:, output], weights.shape)
    sds = np.full(len(density.V), density.sigma_y * sd)
    return MovingGaussians(weights, means, sds, np.zeros((len(X), X.shape[1])), pull)


def _of_members(
    share: float, part: AveragedMembers, density: Ensemble, X: Array, output: int
) -> MovingGaussians:
    """The Gaussians of one configuration, with the background as the last one."""
    standardised, inverse = part.scaling.apply(X), _inverse(part.scaling.sd)
    inputs, m = part.frame.inputs(X)
    axis = np.zeros(m.shape[1])
    axis[output] = density.y_scaling.sd[output]
    slope = _limited_slope(part, standardised, axis)
    extra = None
    if part.predicted is not None:
        extra = _limited_slope(part, standardised, part.predicted.axis) / part.predicted.sd

    def pull(G: Array) -> Array:
        by_input = sum(
            _pull_of_member(member, inputs, G, share / len(part.members)) for member in part.members
        )
        dx = standardised.shape[1]
        own = np.asarray(by_input)[:, :dx]
        if extra is not None:
            own = own + np.asarray(by_input)[:, dx:] * extra
        return own * inverse

    row = axis @ part.factor
    sds = part.components.widths * float(np.linalg.norm(row))
    shift = density.y_scaling.mean[output] + m @ axis
    means = shift[:, None] + part.components.centers @ row
    return MovingGaussians(part.weights(inputs, share), means, sds, slope * inverse, pull)


def _pull_of_member(member: Coefficients, inputs: Array, G: Array, mass: float) -> Array:
    """``sum_k G_k dw_k/dx`` of one member, for its inputs x."""
    weights = member.weights(inputs, mass)[0]
    centred = weights * (G - np.einsum("mk,mk->m", weights, G)[:, None] / mass)
    return _kernel_part(centred[:, :-1], inputs @ member.W.T, member.U, member.sigma_z) @ member.W


def _pull_to_z(weights: Array, G: Array, Z: Array, U: Array, sigma: float) -> Array:
    """``sum_k G_k dw_k/dz`` without a background."""
    centred = weights * (G - np.einsum("mk,mk->m", weights, G)[:, None])
    return _kernel_part(centred, Z, U, sigma)


def _kernel_part(R: Array, Z: Array, U: Array, sigma: float) -> Array:
    """``-sum_k R_k (z - u_k) / sigma^2`` for R (m, b): (m, dz)."""
    return np.asarray((R @ U - R.sum(axis=1)[:, None] * Z) / sigma**2)


def _inverse(sd: Array) -> Array:
    return np.divide(1.0, sd, out=np.zeros_like(sd), where=sd > 0)


def _limited_slope(part: AveragedMembers, X: Array, axis: Array) -> Array:
    """The derivative of ``axis . m(x)`` for the limited location, by standardised x, (m, dx)."""
    if part.limits is None:
        axes = np.broadcast_to(axis, (len(X), len(axis)))
    else:
        axes = part.limits.gradient(part.location(X), axis)
    return location_slope(part.location, X, axes)


def location_slope(location: object, X: Array, axes: Array) -> Array:
    """The derivative of ``axis . m(x)`` by standardised x, (m, dx), with an axis for each row."""
    if isinstance(location, Constant):
        return np.zeros(X.shape)
    if isinstance(location, Plane):
        return np.asarray(axes @ location.slope.T)
    if isinstance(location, SmoothFunction):
        return _slope_of_process(location, X, axes)
    if isinstance(location, ReducedFunction):
        return _slope_of_process(location.function, X @ location.W.T, axes) @ location.W
    if isinstance(location, WeightedFunctions):
        parts = zip(location.weights, location.functions, strict=True)
        return np.asarray(sum(weight * location_slope(f, X, axes) for weight, f in parts))
    raise SteepLocationError(type(location).__name__)


def _slope_of_process(function: SmoothFunction, X: Array, axes: Array) -> Array:
    """The derivative of ``sum_c A_c (exp(-1/2 |(x - c) / l|^2) + slope x . c)``."""
    A, centers = axes @ function.coefficients.T, function.centers
    R = covariances(X, centers, function.lengths, 0.0) - 1.0
    R *= A
    curved = (R @ centers - R.sum(axis=1)[:, None] * X) / function.lengths**2
    return np.asarray(curved + function.slope * (A @ centers))
