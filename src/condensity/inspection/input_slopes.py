"""Derivatives of properties of the density with respect to the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from condensity._typing import Array
from condensity._utils.composites import predict_dist
from condensity._utils.names import input_names
from condensity._utils.numerics import row_blocks
from condensity._utils.parameters import check_option
from condensity._utils.validation import check_inputs, column_names
from condensity.distributions.base import Distribution
from condensity.distributions.bounded import Bounds
from condensity.distributions.mixture import Mixture
from condensity.fitting.density import KernelDensity
from condensity.inspection.functionals import Property
from condensity.inspection.moving_gaussians import (
    SteepLocationError,
    mean_of_parts,
    moving_gaussians,
)
from condensity.members.averaged import Ensemble

#: Step of differences, in standard deviations of an input.
STEP = 0.25
ROOT_2PI = float(np.sqrt(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives of one property of the density with respect to every input.

    Parameters
    ----------
    values : ndarray of shape (m, dx)
        Derivative for row i with respect to input j, in units of the property over the unit of the
        input.
    names : list of str
        Names of the inputs.
    of : str
        The property in words.
    method : str
        "exact" or "difference".

    See Also
    --------
    slopes : Computes them.
    condensity.plots.SlopesDisplay : Draws them.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.inspection import Slopes
    >>> found = Slopes(np.array([[1.0, 0.0], [3.0, 0.5]]), ["a", "b"], "mean", "exact")
    >>> found.values.mean(axis=0)
    array([2.  , 0.25])
    """

    values: Array
    names: list[str]
    of: str
    method: str


def slopes(
    estimator: Any,
    X: Any,
    of: Any = "mean",
    *,
    method: str = "auto",
    step: Any = None,
    output: int = 0,
) -> Slopes:
    """Derivatives of a property of the density with respect to every input.

    For ``LSCE``, ``LSCDE`` and ``PublishedLSCE``, whose locations are smooth, they are derivatives
    of the fitted mixture in closed form.  Otherwise they are differences, ``(f(x + h) - f(x - h)) /
    2h``, the mean slope over an interval.

    Parameters
    ----------
    estimator : estimator
        Fitted density estimator, or a pipeline or search that ends in one.
    X : array-like of shape (m, dx)
        Inputs.
    of : str or (str, float), default="mean"
        The property: "mean", "spread" (the standard deviation), ("quantile", level) or ("above",
        threshold), the probability of larger values.
    method : {"auto", "exact", "difference"}, default="auto"
        "exact" is the closed form; it is an error if there is none.  "auto" is "exact" if there is
        a closed form, and otherwise "difference".
    step : None, float or array-like of shape (dx,), default=None
        The step h of differences, in the units of the inputs.  None: a quarter of the standard
        deviation of each column of X.
    output : int, default=0
        Index of the output.

    Returns
    -------
    Slopes
        The derivatives, and the method that was used.

    See Also
    --------
    importance : How much every input matters, by held-out losses.
    condensity.plots.SlopesDisplay : Plots of slopes.

    Notes
    -----
    They are derivatives of the model, not effects of an intervention.  There is no closed form for
    the default ``LSCE()`` if its location contains boosted trees (see ``location_weights_``): a sum
    of trees has steps, where the derivative does not exist, and between which it is zero.  A
    difference takes the steps into account.  It depends on h: small steps show single trees.  There
    is no closed form either for the mean and the spread of an output with two bounds, for
    ``Reduced``, for ``EpsilonKDE``, and for pipelines; there differences have an error of the order
    of h^2 where the density is smooth.  Differences may ask the model beyond the range of its
    training samples.

    Examples
    --------
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.inspection import slopes
    >>> X, y = toy_b().sample(300, random_state=0)
    >>> model = LSCDE(random_state=0).fit(X[:, 1:2], y)
    >>> slopes(model, [[-0.5], [0.5]], ("quantile", 0.9)).values.shape
    (2, 1)
    """
    asked = Property.of_number(of)
    check_option("method", method, ("auto", "exact", "difference"))
    names = list(column_names(X) or input_names(np.shape(X)[1]))
    if method != "difference":
        values, why = _closed_form(
            getattr(estimator, "best_estimator_", estimator), X, asked, output
        )
        if values is not None:
            return Slopes(values, names, asked.text, "exact")
        if method == "exact":
            raise ValueError(f"{why}: use method='difference', or method='auto'")
    return Slopes(_differences(estimator, X, asked, step, output), names, asked.text, "difference")


def _closed_form(model: Any, X: Any, asked: Property, output: int) -> tuple[Array | None, str]:
    """The derivatives (m, dx), or None and why there is no closed form."""
    density = getattr(model, "_density", None)
    name = type(model).__name__
    if not isinstance(density, KernelDensity | Ensemble):
        return None, f"the densities of {name} have no derivatives in closed form"
    bounds = getattr(density, "bounds", None)
    both = bounds is not None and bounds.exponential(output) is None
    if both and asked.name in ("mean", "spread"):
        return None, f"the {asked.name} of an output with two bounds has no closed form"
    values = check_inputs(model, X)
    out = np.empty(values.shape)
    try:
        for rows in row_blocks(len(values), 12 * density.width):
            out[rows] = _Derivatives(density, values[rows], output).of(asked)
    except SteepLocationError as error:
        what = "boosted trees" if str(error) == "TreeSum" else f"a {error}"
        return None, (
            f"the location of this {name} contains {what}, whose derivative is unknown or zero "
            "between steps"
        )
    return out, ""


class _Derivatives:
    """Derivatives of properties of one output in closed form."""

    def __init__(self, density: KernelDensity | Ensemble, X: Array, output: int) -> None:
        self.parts = moving_gaussians(density, X, output)
        dist: Any = density.at(X).marginal(output)
        self.dist: Distribution = dist
        self.bounds: Bounds | None = getattr(dist, "bounds", None)
        self.free: Mixture = getattr(dist, "free", dist)

    def of(self, asked: Property) -> Array:
        """The derivatives of one property, (m, dx)."""
        if asked.name == "above":
            u = np.full(len(self.free), asked.number)
            return self._above(u if self.bounds is None else self.bounds.free(u[:, None])[:, 0])
        if asked.name == "quantile":
            return self._quantile(asked.number)
        sign = None if self.bounds is None else self.bounds.exponential(0)
        if self.bounds is not None and sign:
            bound = self.bounds.lower[0] if sign > 0 else self.bounds.upper[0]
            return self._moment_of_exponential(asked.name, sign, float(bound))
        return self._mean() if asked.name == "mean" else self._spread()

    def _sum(self, function: Any) -> Array:
        """``d E[g(Y)] / dx`` for a function of means and widths that gives G and its derivative."""
        terms = [part.expectation_slope(*function(part.means, part.sds)) for part in self.parts]
        return np.asarray(np.sum(terms, axis=0))

    def _above(self, u: Array) -> Array:
        def above(means: Array, sds: Array) -> tuple[Array, Array]:
            t = (means - u[:, None]) / sds
            return ndtr(t), np.exp(-0.5 * t**2) / (ROOT_2PI * sds)

        return self._sum(above)

    def _quantile(self, level: float) -> Array:
        u = self.free.quantile(level)
        speed = 1.0 / self.free.pdf(u)
        if self.bounds is not None:
            speed = speed * np.exp(-self.bounds.log_volume(u[:, None]))
        return self._above(u) * speed[:, None]

    def _mean(self) -> Array:
        return self._sum(lambda means, sds: (means, np.ones_like(means)))

    def _spread(self) -> Array:
        mean = mean_of_parts(self.parts)[:, None]
        # The variance does not change with the point that it is computed about.
        variance = self._sum(lambda a, s: ((a - mean) ** 2 + s**2, 2 * (a - mean)))
        return np.asarray(variance / (2 * self.dist.std())[:, None])

    def _moment_of_exponential(self, name: str, sign: float, bound: float) -> Array:
        """Mean or standard deviation of ``bound + sign exp(sign u)``."""

        def power(p: float) -> Any:
            def moment(means: Array, sds: Array) -> tuple[Array, Array]:
                G = np.exp(p * sign * means + 0.5 * (p * sds) ** 2)
                return G, p * sign * G

            return moment

        first = self._sum(power(1.0))
        if name == "mean":
            return sign * first
        mean = sign * (self.dist.mean() - bound)
        variance = self._sum(power(2.0)) - 2 * mean[:, None] * first
        return np.asarray(variance / (2 * self.dist.std())[:, None])


def _differences(estimator: Any, X: Any, asked: Property, step: Any, output: int) -> Array:
    """Central differences over ``step``, (m, dx)."""
    values = np.asarray(X, dtype=float)
    steps = STEP * values.std(axis=0) if step is None else np.asarray(step, dtype=float)
    if step is None and len(values) < 2:
        raise ValueError(
            "differences need a step, and one row of X does not show how far the inputs vary: pass "
            "step, in the units of the inputs"
        )
    steps = np.broadcast_to(steps, values.shape[1:])
    if not np.isfinite(steps).all() or (steps < 0).any() or (step is not None and not steps.all()):
        raise ValueError(f"step must be > 0, a number or one for each input, got {step!r}")
    out = np.zeros(values.shape)
    for j in np.flatnonzero(steps):
        ends = []
        for sign in (1.0, -1.0):
            moved = values.copy()
            moved[:, j] += sign * steps[j]
            named = (
                type(X)(dict(zip(X.columns, moved.T, strict=True)))
                if hasattr(X, "columns")
                else moved
            )
            ends.append(asked.of_rows(predict_dist(estimator, named).marginal(output)))
        out[:, j] = (ends[0] - ends[1]) / (2 * steps[j])
    return out
