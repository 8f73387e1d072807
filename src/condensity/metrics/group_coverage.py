"""Coverage of regions in groups of samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._utils.parameters import check_option
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution
from condensity.metrics.arguments import check_distribution
from condensity.metrics.calibration_tests import kupiec_test
from condensity.metrics.probability_transforms import hpd_coverage, pit


def reliability_by_group(
    dist: Distribution,
    Y: Any,
    groups: Any,
    levels: Any = (0.5, 0.8, 0.9),
    region: str = "interval",
    random_state: Any = None,
) -> dict[str, Any]:
    """Coverage of regions in groups of samples, which shows where a model is not reliable.

    Parameters
    ----------
    dist : Distribution
        The m densities that ``predict_dist`` returns.
    Y : array-like of shape (m, dy)
        Observed values, one row for each density.  For one output, (m,) is accepted.
    groups : array-like of shape (m,)
        Label of the group of each row.
    levels : sequence of float, default=(0.5, 0.8, 0.9)
        Levels of the regions.
    region : {"interval", "hpd"}, default="interval"
        Central intervals of one output, or highest-density regions.
    random_state : None, int, RandomState or Generator, default=None
        Source of the draws for highest-density regions of several outputs.

    Returns
    -------
    dict of ndarray
        Columns of a table with one row for each group and level: "group", "level", "n",
        "coverage", "standard_error" (of the coverage, if the level is right), "pvalue" (of
        ``kupiec_test``).

    See Also
    --------
    condensity.conformal.Conformal : Regions with guaranteed coverage in groups.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import reliability_by_group
    >>> X, y = toy_b().sample(1000, random_state=0)
    >>> table = reliability_by_group(toy_b().conditional(X), y, X[:, 1] > 0, levels=[0.9])
    >>> table["coverage"].round(1)
    array([0.9, 0.9])
    """
    check_option("region", region, ("interval", "hpd"))
    if region == "hpd":
        scores = hpd_coverage(dist, Y, random_state)
    else:
        checks.one_output(check_distribution(dist).n_outputs, "region='interval'")
        scores = np.abs(2 * pit(dist, Y) - 1)
    scores, groups = np.asarray(scores), np.asarray(groups)
    if groups.shape != scores.shape:
        raise ValueError(
            f"groups must have shape {scores.shape}, one label for each density, got {groups.shape}"
        )
    rows = []
    for label in np.unique(groups):
        for level in np.atleast_1d(checks.levels_of(levels, "levels")):
            hit = scores[groups == label] <= level
            error = np.sqrt(level * (1 - level) / len(hit))
            test = kupiec_test(~hit, 1 - level)
            rows.append((label, level, len(hit), hit.mean(), error, test.pvalue))
    names = ("group", "level", "n", "coverage", "standard_error", "pvalue")
    return {name: np.array([row[k] for row in rows]) for k, name in enumerate(names)}
