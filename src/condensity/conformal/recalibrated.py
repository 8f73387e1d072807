"""Recalibrated densities: a monotone map of the distribution function.

``F_new(y) = R(F(y))`` and ``p_new(y) = R'(F(y)) p(y)``.  R is piecewise linear between bins of
[0, 1] that hold equal numbers of the calibration values F(y_i); a small part of it is the identity,
as if one value of each bin were spread over [0, 1].  So all answers are those of the old density on
the intervals between its quantiles, weighted by the slopes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condensity._typing import Array, Mask
from condensity._utils.composites import predict_dist
from condensity._utils.parameters import check_count, check_rng
from condensity._utils.validation import check_same_length, check_targets
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution

#: Samples for each bin, and the largest number of bins, unless the number is given.
SAMPLES_A_BIN, MOST_BINS = 20, 20
#: Levels that divide the range of a density for quadrature, and nodes between two of them.
LEVELS = np.concatenate([10.0 ** -np.arange(12, 1, -1.0), np.linspace(0.05, 0.5, 10)])
NODES = 12
#: Least distance of two edges of bins.
GAP = 1e-9
#: Slopes above which draws come from quantiles: rejection takes as many tries as the slope.
MOST_TRIES = 50.0
#: Draws from the old density at once.
DRAWS = 1 << 18


class RecalibratedDistribution(Distribution):
    """Conditional densities whose distribution function is mapped by a monotone function.

    Density, distribution function, quantiles, probabilities, moments and draws are exact.  Scores,
    the squared norm and the entropy are by quadrature, with an error of about 1e-5.  ``hdr``,
    ``modes`` and ``hpd_level`` are refused, because the density jumps at the edges of the bins.

    Parameters
    ----------
    dist : Distribution
        Densities of one output in memory, or computed chunk by chunk.
    levels : ndarray of shape (n_bins + 1,)
        Edges of the bins, strictly increasing from 0 to 1.
    values : ndarray of shape (n_bins + 1,)
        Values of the map at the edges, strictly increasing from 0 to 1.

    See Also
    --------
    calibrate : Estimate the map from calibration samples.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.conformal import RecalibratedDistribution
    >>> from condensity.distributions import Block, Mixture
    >>> normal = Mixture([Block(np.zeros((1, 1)), np.zeros((1, 1)), np.eye(1))])
    >>> wider = RecalibratedDistribution(normal, [0, 0.25, 0.75, 1], [0, 0.4, 0.6, 1])
    >>> wider.cdf(0.0), wider.std().round(2)
    (array([0.5]), array([1.23]))
    """

    def __init__(self, dist: Distribution, levels: ArrayLike, values: ArrayLike) -> None:
        checks.one_output(dist.n_outputs, "recalibration")
        dist._free_coordinate()  # refused for Dask collections
        self.dist, self.levels, self.values = (
            dist,
            _knots("levels", levels),
            _knots("values", values),
        )
        if len(self.levels) != len(self.values):
            raise ValueError(
                f"levels and values must have the same length, got {len(self.levels)} and "
                f"{len(self.values)}"
            )
        self.slopes = np.diff(self.values) / np.diff(self.levels)
        self._edges = dist.quantile(self.levels[1:-1]).reshape(len(dist), len(self.levels) - 2)

    @property
    def n_outputs(self) -> int:
        return 1

    def __len__(self) -> int:
        return len(self.dist)

    def __repr__(self) -> str:
        return f"RecalibratedDistribution({self.dist!r}, bins={len(self.slopes)})"

    def __getitem__(self, index: Any) -> RecalibratedDistribution:
        return RecalibratedDistribution(self.dist[index], self.levels, self.values)

    def compute(self) -> RecalibratedDistribution:
        return RecalibratedDistribution(self.dist.compute(), self.levels, self.values)

    def _slope_at(self, y: Array) -> Array:
        """Slope of the map at points ``y`` (m, k): (m, k)."""
        return np.asarray(self.slopes[self._bins_at(y, self._edges)])

    @staticmethod
    def _bins_at(y: Array, edges: Array) -> Array:
        """Bins of points ``y`` (m, k) between ``edges`` (m, n_bins - 1): (m, k)."""
        return np.asarray((y[:, :, None] > edges[:, None, :]).sum(axis=2))

    def log_pdf(self, Y: ArrayLike) -> Array:
        y = checks.rows_of(Y, len(self), 1)
        return self.dist.log_pdf(y) + np.log(self._slope_at(y)[:, 0])

    def pdf_on(self, grid: ArrayLike) -> Array:
        points = checks.grid_of(grid, 1)
        out = np.empty((len(self), len(points)))
        for j, density in enumerate(self.dist.pdf_on(points).T):
            y = np.full((len(self), 1), points[j, 0])
            out[:, j] = density * self._slope_at(y)[:, 0]
        return out

    def cdf(self, Y: ArrayLike) -> Array:
        return np.asarray(np.interp(self.dist.cdf(Y), self.levels, self.values))

    def prob(self, lower: ArrayLike, upper: ArrayLike) -> Array:
        a, b = checks.ordered_bounds(lower, upper, len(self))
        ends = [np.full(len(self), -np.inf), *self._edges.T, np.full(len(self), np.inf)]
        total = np.zeros(len(self))
        for slope, low, high in zip(self.slopes, ends[:-1], ends[1:], strict=True):
            low, high = np.clip(a, low, high), np.clip(b, low, high)
            total += slope * self.dist.prob(low, high)
        return total

    def quantile(self, q: ArrayLike) -> Array:
        levels = np.asarray(q, dtype=float)
        inside = (levels >= 0) & (levels <= 1)
        mapped = np.interp(levels, self.values, self.levels)
        # The old density refuses what is no level, and keeps the digits of small ones.
        small = levels < self.values[1]
        mapped = np.where(small, levels / self.slopes[0], mapped)
        return self.dist.quantile(np.where(inside, mapped, levels))

    def partial_moment(self, threshold: ArrayLike, order: int = 1, tail: str = "upper") -> Array:
        t, order, side = checks.tail_question(threshold, order, tail, len(self))
        steps = np.diff(self.slopes)
        if side < 0:
            steps = -steps
        slope = self._slope_at(t[:, None])[:, 0]
        total = slope * self.dist.partial_moment(t, order, tail)
        for step, edge in zip(steps, self._edges.T, strict=True):
            beyond = side * (edge - t) > 0
            if beyond.any():
                moment = self._moment_beyond(np.where(beyond, edge, t), t, order, tail)
                total += np.where(beyond, step * moment, 0.0)
        return np.maximum(total, 0.0)

    def _moment_beyond(self, edge: Array, t: Array, order: int, tail: str) -> Array:
        """``E |Y - t|^order`` where Y lies beyond ``edge``, which lies beyond t: (m,)."""
        gap = np.abs(edge - t)
        terms = [
            comb(order, k) * gap ** (order - k) * self.dist.partial_moment(edge, k, tail)
            for k in range(order + 1)
        ]
        return np.asarray(sum(terms))

    def mean(self) -> Array:
        middle = self.dist.mean()
        above, below = (self.partial_moment(middle, 1, tail) for tail in ("upper", "lower"))
        return middle + above - below

    def var(self) -> Array:
        middle = self.mean()
        above, below = (self.partial_moment(middle, 2, tail) for tail in ("upper", "lower"))
        return above + below

    def cov(self) -> Array:
        return self.var()[:, None, None]

    def marginal(self, columns: int | Sequence[int]) -> RecalibratedDistribution:
        checks.columns_of(columns, 1)
        return self

    def condition(self, columns: int | Sequence[int], values: ArrayLike) -> Distribution:
        checks.given_and_rest(columns, values, len(self), 1)
        raise AssertionError("one output leaves none")

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        n, rng = check_count("n", n, low=0), check_rng(random_state)
        out, u = np.empty((len(self), n)), rng.random((len(self), n))
        steep = self.slopes[np.searchsorted(self.values[1:-1], u, side="right")] > MOST_TRIES
        levels = np.interp(u, self.values, self.levels)
        levels = np.clip(levels, np.finfo(float).tiny, 1 - np.finfo(float).epsneg)
        for i in np.flatnonzero(steep.any(axis=1)):
            out[i, steep[i]] = self.dist[i : i + 1].quantile(levels[i, steep[i]])[0]
        for own, free, draws in zip(out, ~steep, self._flat_draws(~steep, rng), strict=True):
            own[free] = draws
        return out

    def _flat_draws(self, wanted: Mask, rng: np.random.Generator) -> list[Array]:
        """For each row, as many draws as ``wanted`` (m, n) says, outside the steep bins."""
        missing = wanted.sum(axis=1)
        found: list[Array] = [np.empty(0) for _ in missing]
        chances = np.where(self.slopes > MOST_TRIES, 0.0, self.slopes)
        tries_each = chances.max() / (chances @ np.diff(self.levels))
        while (missing > 0).any():  # rejection
            rows = np.flatnonzero(missing > 0)
            most = max(1, DRAWS // len(rows))
            tries = min(int(np.ceil(missing.max() * tries_each)) + 5, most)
            draws = self.dist[rows].sample(tries, rng)
            chance = chances[self._bins_at(draws, self._edges[rows])]
            accepted = rng.random(draws.shape) * chances.max() < chance
            for i, own, keep in zip(rows, draws, accepted, strict=True):
                new = own[keep][: missing[i]]
                found[i], missing[i] = np.append(found[i], new), missing[i] - len(new)
        return found

    def squared_norm(self) -> Array:
        y, share = self._rule()
        return np.asarray((share * self._densities(y) ** 2).sum(axis=1))

    def entropy(self, n_draws: int = 1000, random_state: Any = None) -> Array:
        y, share = self._rule()
        p = self._densities(y)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(p > 0, p * np.log(p), 0.0)
        return np.asarray(-(share * terms).sum(axis=1))

    def crps(self, Y: ArrayLike) -> Array:
        y = checks.rows_of(Y, len(self), 1)[:, 0]
        return self._score(y, np.full(len(self), -np.inf), 1.0)

    def twcrps(self, Y: ArrayLike, threshold: ArrayLike, tail: str = "upper") -> Array:
        y = checks.rows_of(Y, len(self), 1)[:, 0]
        t = checks.row_bound(threshold, len(self), "threshold")
        return self._score(y, t, checks.side_of(tail))

    def _score(self, y: Array, t: Array, side: float) -> Array:
        """``int (F - 1{Y >= y_i})^2 dY`` over the side of t: (m,)."""
        points, share = self._rule(y, t)
        F = np.column_stack([self.cdf(own) for own in points.T])
        terms = (F - (points >= y[:, None])) ** 2
        total = np.where(side * (points - t[:, None]) > 0, share * terms, 0.0).sum(axis=1)
        low, high = points[:, 0], points[:, -1]  # where y or t lies far outside
        start = np.maximum(t, high) if side > 0 else high
        stop = y if side > 0 else np.minimum(y, t)
        total += np.maximum(stop - start, 0.0)
        start, stop = (np.maximum(y, t), low) if side > 0 else (y, np.minimum(low, t))
        return np.asarray(total + np.maximum(stop - start, 0.0))

    def _rule(self, *cuts: Array) -> tuple[Array, Array]:
        """Nodes and weights of a composite Gauss-Legendre rule for each row: (m, nodes)."""
        levels = np.concatenate([LEVELS, 1 - LEVELS[-2::-1]])
        ends = self.dist.quantile(levels)
        inner = [np.clip(cut, ends[:, 0], ends[:, -1])[:, None] for cut in cuts]
        edges = np.sort(np.concatenate([ends, self._edges, *inner], axis=1), axis=1)
        x, w = np.polynomial.legendre.leggauss(NODES)
        half = 0.5 * np.diff(edges, axis=1)[:, :, None]
        nodes = edges[:, :-1, None] + half * (1 + x)
        return nodes.reshape(len(self), -1), (half * w).reshape(len(self), -1)

    def _densities(self, y: Array) -> Array:
        return np.exp(np.column_stack([self.log_pdf(own) for own in y.T]))

    def hdr(self, level: float) -> list[Array]:
        raise TypeError(_refusal("hdr"))

    def modes(self) -> list[Array]:
        raise TypeError(_refusal("modes"))

    def hpd_level(self, Y: ArrayLike, n_draws: int = 1000, random_state: Any = None) -> Array:
        raise TypeError(_refusal("hpd_level"))

    def frozen(self, row: int = 0) -> Any:
        raise TypeError(_refusal("frozen"))

    def _free_coordinate(self) -> tuple[Any, Any]:
        raise TypeError(_refusal("comparison with other densities"))


class CalibratedModel:
    """A fitted model whose densities are recalibrated; ``calibrate`` makes it.

    Parameters
    ----------
    estimator : fitted estimator
        Estimator with ``predict_dist``, or a pipeline that ends in one.
    levels, values : ndarray of shape (n_bins + 1,)
        Edges of the bins, and values of the map there.

    See Also
    --------
    calibrate : Estimate the map.

    Examples
    --------
    >>> from condensity import LSCDE
    >>> from condensity.conformal import calibrate
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(300, random_state=0)
    >>> base = LSCDE(bandwidth=0.8, penalty=0.1, random_state=0).fit(X[:200, 1:2], y[:200])
    >>> calibrate(base, X[200:, 1:2], y[200:]).predict(X[:3, 1:2]).shape
    (3,)
    """

    def __init__(self, estimator: Any, levels: Array, values: Array) -> None:
        self.estimator, self.levels, self.values = estimator, levels, values

    def __repr__(self) -> str:
        return f"CalibratedModel({self.estimator!r}, bins={len(self.levels) - 1})"

    def predict_dist(self, X: Any) -> RecalibratedDistribution:
        """Predict the recalibrated densities.

        Parameters
        ----------
        X : array-like of shape (m, dx)
            Inputs.

        Returns
        -------
        RecalibratedDistribution
            One density for each row.
        """
        dist = predict_dist(self.estimator, X)
        return RecalibratedDistribution(dist, self.levels, self.values)

    def predict(self, X: Any) -> Array:
        """Predict the means of the recalibrated densities.

        Parameters
        ----------
        X : array-like of shape (m, dx)
            Inputs.

        Returns
        -------
        ndarray of shape (m,)
            The means.
        """
        return self.predict_dist(X).mean()


def calibrate(estimator: Any, X_cal: Any, y_cal: Any, n_bins: int | None = None) -> CalibratedModel:
    """Recalibrate the densities of a fitted model with samples that it has not seen.

    The values ``F(y_i | x_i)`` of calibrated densities are uniform on [0, 1].  The map makes them
    nearly so.  It does not depend on x and has no guarantee for finite samples;
    ``Conformal`` has one.

    Parameters
    ----------
    estimator : fitted estimator
        Estimator with ``predict_dist``, or a pipeline that ends in one; of one output.
    X_cal : array-like of shape (n, dx)
        Inputs of the calibration samples.
    y_cal : array-like of shape (n,)
        Their targets.
    n_bins : None or int, default=None
        Number of bins.  None: one for 20 samples, at least 2 and at most 20.

    Returns
    -------
    CalibratedModel
        With ``predict_dist`` and ``predict``.

    See Also
    --------
    Conformal : Regions with guaranteed coverage.

    References
    ----------
    .. [1] V. Kuleshov, N. Fenner, S. Ermon, "Accurate uncertainties for deep learning using
       calibrated regression," International Conference on Machine Learning, 2018.

    Examples
    --------
    >>> from condensity import LSCDE
    >>> from condensity.conformal import calibrate
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(600, random_state=0)
    >>> base = LSCDE(bandwidth=0.8, penalty=0.1, random_state=0).fit(X[:300, 1:2], y[:300])
    >>> model = calibrate(base, X[300:, 1:2], y[300:])
    >>> model.predict_dist(X[:2, 1:2]).interval(0.9).shape
    (2, 2)
    """
    dist = predict_dist(estimator, X_cal)
    checks.one_output(dist.n_outputs, "calibrate")
    Y, _ = check_targets(y_cal, n_outputs=1)
    check_same_length(dist, Y)
    if n_bins is None:
        n_bins = min(max(len(Y) // SAMPLES_A_BIN, 2), MOST_BINS)
    n_bins = check_count("n_bins", n_bins, low=1)
    inner = np.quantile(dist.cdf(Y), np.arange(1, n_bins) / n_bins)
    levels = np.concatenate([[0.0], inner, [1.0]])
    identity = n_bins / (len(Y) + n_bins)
    values = (1 - identity) * np.linspace(0, 1, n_bins + 1) + identity * levels
    rising = np.append(np.diff(levels[:-1], prepend=-1.0) > GAP, True)
    rising[:-1] &= levels[:-1] < 1 - GAP
    return CalibratedModel(estimator, levels[rising], values[rising])


def _knots(name: str, knots: ArrayLike) -> Array:
    out = np.asarray(knots, dtype=float)
    ends = out.ndim == 1 and len(out) >= 2 and out[0] == 0 and out[-1] == 1
    if not ends or not (np.diff(out) > 0).all():
        raise ValueError(f"{name} must be strictly increasing from 0 to 1, got {out}")
    return out


def _refusal(what: str) -> str:
    return (
        f"{what} is not available for recalibrated densities, which jump at the edges of bins: ask "
        "the density before recalibration (dist.dist), or use quantiles and intervals"
    )
