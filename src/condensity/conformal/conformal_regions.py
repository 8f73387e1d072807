"""Regions with guaranteed coverage for the rows of some inputs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condensity._typing import Array, Mask
from condensity._utils.parameters import check_rng
from condensity._utils.validation import check_same_length, check_targets
from condensity.conformal.calibration_scores import ROUNDING, CalibrationScores
from condensity.conformal.conformity import CentralIntervals, Conformity, log_densities
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution
from condensity.distributions.chunked import mixture_of

#: Steps that search for the end of an interval with several folds: twice as far, or half the range.
DOUBLINGS, BISECTIONS = 60, 40


class ConformalRegions:
    """Regions of y for m rows of inputs, with guaranteed coverage at any level.

    This is what ``Conformal.predict_regions`` returns.

    Parameters
    ----------
    conformities : sequence of Conformity
        Scores and regions of the densities, one for each model.
    calibration : sequence of CalibrationScores
        Scores of the samples that each model has not seen.
    groups : sequence of ndarray of shape (m,)
        Groups of the rows, for each model.
    weights : ndarray of shape (m,)
        Weights of the rows.

    See Also
    --------
    Conformal : The estimator.

    Examples
    --------
    >>> from condensity import LSCDE
    >>> from condensity.conformal import Conformal
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(300, random_state=0)
    >>> model = Conformal(LSCDE(bandwidth=0.3, penalty=0.01), random_state=0).fit(X[:, 1:2], y)
    >>> regions = model.predict_regions([[0.0], [1.0]])
    >>> regions.interval(0.9).shape, regions.size(0.9).shape
    ((2, 2), (2,))
    """

    def __init__(
        self,
        conformities: Sequence[Conformity],
        calibration: Sequence[CalibrationScores],
        groups: Sequence[Any],
        weights: Array,
    ) -> None:
        self.conformities, self.calibration = conformities, calibration
        self.groups, self.weights = groups, weights

    def __len__(self) -> int:
        return len(self.weights)

    def __repr__(self) -> str:
        n = sum(len(part.scores) for part in self.calibration)
        return f"ConformalRegions(m={len(self)}, {n} calibration samples)"

    @property
    def dist(self) -> Distribution:
        """The densities; those of several models are averaged."""
        dists = [self._dist(part) for part in self.conformities]
        return dists[0] if len(dists) == 1 else mixture_of(dists)

    def p_value(self, Y: ArrayLike) -> Array:
        """P-values of observed or hypothetical values of y.

        The share of calibration samples that are at least as unusual as (x_i, y_i), with the sample
        itself counted among them.  A small p-value says that y_i is unusual given x_i.

        Parameters
        ----------
        Y : array-like of shape (m,) or (m, dy)
            One value for each row.

        Returns
        -------
        ndarray of shape (m,)
            P-values in (0, 1].
        """
        return self._p_values(self._points(Y))

    def contains(self, Y: ArrayLike, level: float = 0.9) -> Mask:
        """Whether values of y lie in the regions: whether their p-value is above ``1 - level``.

        Parameters
        ----------
        Y : array-like of shape (m,) or (m, dy)
            One value for each row.
        level : float, default=0.9
            Coverage, strictly between 0 and 1.

        Returns
        -------
        ndarray of bool of shape (m,)
            True inside.
        """
        inside: Mask = self.p_value(Y) > 1 - checks.probability(level) + ROUNDING
        return inside

    def region(self, level: float = 0.9) -> list[Array]:
        """Regions of one output, as disjoint intervals.

        Parameters
        ----------
        level : float, default=0.9
            Coverage, strictly between 0 and 1.

        Returns
        -------
        list of m ndarrays of shape (k_i, 2)
            For each row, the ends of its intervals in increasing order.  With several folds and
            ``method="quantile"``, it is the smallest interval around all medians that holds all y
            for which ``contains`` is true.  With several folds and ``method="hpd"``, it is the
            union of one region for each fold, which holds all of them and is larger.
        """
        if len(self.conformities) > 1 and isinstance(self.conformities[0], CentralIntervals):
            return list(self._hulls(level)[:, None, :])
        by_model = [
            part.regions(t)
            for part, t in zip(self.conformities, self._thresholds(level), strict=True)
        ]
        if len(by_model) == 1:
            return by_model[0]
        return [_union(np.concatenate(row)) for row in zip(*by_model, strict=True)]

    def interval(self, level: float = 0.9) -> Array:
        """Intervals of one output: the smallest ones that hold the regions.

        Parameters
        ----------
        level : float, default=0.9
            Coverage, strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (m, 2)
            Lower and upper ends; infinite, or at the bounds of y, where the level is out of reach.
        """
        ends = [(region[0, 0], region[-1, 1]) for region in self.region(level)]
        return np.array(ends).reshape(-1, 2)

    def size(self, level: float = 0.9, n_draws: int = 1000, random_state: Any = None) -> Array:
        """Sizes of the regions: the total length of intervals, or the volume for several outputs.

        Parameters
        ----------
        level : float, default=0.9
            Coverage, strictly between 0 and 1.
        n_draws : int, default=1000
            Number of draws that estimate a volume.  Used for several outputs only.
        random_state : None, int, RandomState or Generator, default=None
            Source of these draws.

        Returns
        -------
        ndarray of shape (m,)
            Sizes, in the unit of y or the product of the units of all outputs.
        """
        dist = self.dist
        if dist.n_outputs == 1:
            return np.array([np.diff(region).sum() for region in self.region(level)])
        draws = dist.sample(n_draws, check_rng(random_state))
        inverse = np.exp(-log_densities(dist, draws))
        held = [self._above(points, level) for points in np.swapaxes(draws, 0, 1)]
        unlimited = np.isinf(self._thresholds(level)).any(axis=0)
        return np.where(unlimited, np.inf, np.mean(np.transpose(held) * inverse, axis=1))

    def density_threshold(self, level: float = 0.9) -> Array:
        """Densities above which y lies in the region, for ``method="hpd"`` and a single model.

        Parameters
        ----------
        level : float, default=0.9
            Coverage, strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (m,)
            The region of row i is ``{y : p(y | x_i) >= threshold_i}``.
        """
        if len(self.conformities) > 1:
            raise ValueError(
                "with folds a region is not a level set of one density: use contains(Y, level), or "
                "Conformal with cv='split'"
            )
        return self.conformities[0].heights(self._thresholds(level)[0])

    def _thresholds(self, level: float) -> Array:
        """Largest score in the region of each model and row; infinity for none: (models, m).

        If the mass above y over all models is more than needed, so is that of a model over its
        share of what is needed.  So the regions of all models hold every y that belongs.
        """
        alpha = 1 - checks.probability(level)
        totals = np.array([s.totals(g) for _, s, g in self._parts()])
        total = totals.sum(axis=0)
        needed = alpha * (total + self.weights) - self.weights
        with np.errstate(invalid="ignore"):
            shares = np.where(total > 0, totals / total, 1.0)
        pairs = zip(self._parts(), shares, strict=True)
        out = np.array([s.thresholds(share * needed, g) for (_, s, g), share in pairs])
        # A model without samples in the group of a row adds nothing; without any, all y belong.
        out = np.where((totals == 0) & (total > 0) & (needed >= 0), 0.0, out)
        self._warn_about_unlimited(level, np.isinf(out).any(axis=0))
        return out

    def _hulls(self, level: float) -> Array:
        """Intervals with all y whose p-value is above ``1 - level``, for central intervals: (m, 2).

        Beyond the medians of all models the p-value falls, so bisection finds the ends.
        """
        unlimited = np.isinf(self._thresholds(level)).all(axis=0)
        dists = [self._dist(part) for part in self.conformities]
        medians = np.array([dist.quantile(0.5) for dist in dists])
        unit = np.mean([np.diff(dist.quantile([0.25, 0.75]))[:, 0] for dist in dists], axis=0)
        out = np.stack([dists[0].quantile(q) for q in (0.0, 1.0)], axis=1)
        for j, (start, sign) in enumerate(
            [(medians.min(axis=0), -1.0), (medians.max(axis=0), 1.0)]
        ):
            inside, step = start, unit.copy()
            growing = self._above((start + sign * step)[:, None], level)
            for _ in range(DOUBLINGS):
                if not growing.any():
                    break
                step = np.where(growing, 2 * step, step)
                growing &= self._above((start + sign * step)[:, None], level)
            outside = start + sign * step
            for _ in range(BISECTIONS):
                middle = 0.5 * (inside + outside)
                above = self._above(middle[:, None], level)
                inside, outside = np.where(above, middle, inside), np.where(above, outside, middle)
            out[:, j] = np.where(unlimited | growing, out[:, j], outside)
        return out

    def _above(self, points: Array, level: float) -> Mask:
        """Like ``contains``, for ``points`` (m, dy) that need no validation."""
        inside: Mask = self._p_values(points) > 1 - level + ROUNDING
        return inside

    def _p_values(self, points: Array) -> Array:
        """P-values of ``points`` (m, dy): (m,)."""
        above, total = self.weights.copy(), self.weights.copy()
        for part, scores, groups in self._parts():
            above += scores.mass_above(part.score(points), groups)
            total += scores.totals(groups)
        return np.asarray(above / total)

    def _warn_about_unlimited(self, level: float, unlimited: Mask) -> None:
        if not unlimited.any():
            return
        counts = np.sum([s.counts(g) for _, s, g in self._parts()], axis=0)[unlimited]
        least = int(np.ceil(round(1 / (1 - level), 9))) - 1
        warnings.warn(
            f"level {level:g} is out of reach for {int(unlimited.sum())} of {len(self)} rows, so "
            f"their regions are unlimited: they have {int(counts.min())} calibration samples (of "
            f"their group), and this level needs at least {least} of equal weight. Lower the "
            "level, or calibrate with more samples, fewer groups or less extreme weights",
            UserWarning,
            stacklevel=4,
        )

    def _points(self, Y: ArrayLike) -> Array:
        values = np.asarray(Y, dtype=float)
        values = np.full(len(self), values) if values.ndim == 0 else values
        points, _ = check_targets(values, n_outputs=self._dist(self.conformities[0]).n_outputs)
        check_same_length(self.weights, points)
        return points

    def _parts(self) -> list[tuple[Conformity, CalibrationScores, Any]]:
        return list(zip(self.conformities, self.calibration, self.groups, strict=True))

    @staticmethod
    def _dist(part: Any) -> Distribution:
        dist: Distribution = part.dist
        return dist


def _union(intervals: Array) -> Array:
    """Disjoint intervals (k, 2) with the same union, in increasing order."""
    out: list[Array] = []
    for low, high in intervals[np.argsort(intervals[:, 0], kind="stable")]:
        if out and low <= out[-1][1]:
            out[-1][1] = max(out[-1][1], high)
        else:
            out.append(np.array([low, high]))
    return np.array(out)
