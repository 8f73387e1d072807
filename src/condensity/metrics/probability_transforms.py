"""Values that are uniform on [0, 1] if densities are calibrated: of quantiles and of regions."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from condensity._typing import Array
from condensity._utils.dask_collections import is_dask
from condensity._utils.extras import require
from condensity._utils.parameters import check_rng
from condensity._utils.validation import check_targets
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution
from condensity.distributions.bounded import BoundedMixture
from condensity.distributions.lazy import LazyDistribution
from condensity.distributions.mixture import Mixture
from condensity.metrics.arguments import check_distribution

#: A smaller probability of the values between two neighbouring floats is that of a density.
LEAST_JUMP = 1e-9


def pit(dist: Distribution, Y: Any, random_state: Any = 0) -> Array:
    """Probability integral transform, ``F_i(y_i)``.

    The values are uniform on [0, 1] if the densities are calibrated.  Many values near 0 and 1 show
    densities that are too narrow.  Where y_i has a positive probability, the value is drawn
    uniformly between ``P(Y < y_i)`` and ``P(Y <= y_i)``; the values are then uniform, too.

    Parameters
    ----------
    dist : Distribution
        The m densities that ``predict_dist`` returns.
    Y : array-like of shape (m, dy)
        Observed values, one row for each density.  For one output, (m,) is accepted.  Densities of
        a Dask collection need a Dask collection.

    random_state : None, int, RandomState or Generator, default=0
        Source of the draws for values with a positive probability.

    Returns
    -------
    ndarray or Dask array of shape (m,) or (m, dy)
        Probabilities.  For several outputs, column j holds those of the marginal of output j.

    See Also
    --------
    hpd_coverage : The corresponding value for highest-density regions.
    condensity.plots.CalibrationDisplay : Plot of these values.

    References
    ----------
    .. [1] T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation,"
       Journal of the American Statistical Association 102(477), 2007.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import pit
    >>> X, y = toy_b().sample(1000, random_state=0)
    >>> values = pit(toy_b().conditional(X), y)
    >>> round(float((values < 0.1).mean()), 2)
    0.1
    """
    if check_distribution(dist).n_outputs == 1:
        below = dist.cdf(Y)
        smooth = isinstance(dist, Mixture | BoundedMixture | LazyDistribution)
        # A generator of its own: draws of y with the same seed must be independent.
        own = check_rng(random_state).spawn(1)[0]
        return below if smooth else below - _parts_of_jumps(dist, Y, own)
    if is_dask(Y):
        columns = [Y[name] for name in Y.columns] if hasattr(Y, "columns") else Y.T
        values = [marginal.cdf(y) for marginal, y in zip(dist.marginals(), columns, strict=True)]
        dask_array: Any = require("dask.array", "dask")
        return cast(Array, dask_array.stack(values, axis=1, allow_unknown_chunksizes=True))
    Y, _ = check_targets(Y, n_outputs=dist.n_outputs)
    pairs = zip(dist.marginals(), Y.T, strict=True)
    return np.stack([marginal.cdf(y) for marginal, y in pairs], axis=1)


def _parts_of_jumps(dist: Distribution, Y: Any, rng: np.random.Generator) -> Array:
    """A random part of the probability of each value, (m,): zero if the value has none."""
    y = checks.rows_of(Y, len(dist), 1)[:, 0]
    jump = dist.prob(np.nextafter(y, -np.inf), y)
    return rng.random(len(y)) * np.where(jump > LEAST_JUMP, jump, 0.0)


def hpd_coverage(dist: Distribution, Y: Any, random_state: Any = None) -> Array:
    """Probability of the highest-density region whose boundary passes through y_i.

    The values are uniform on [0, 1] if the densities are calibrated.  ``y_i`` lies in
    ``hdr(level)`` exactly if its value is at most ``level``.  The mean of
    ``hpd_coverage(dist, Y) <= 0.9`` is therefore the coverage of the 90 % regions.

    Parameters
    ----------
    dist : Distribution
        The m densities that ``predict_dist`` returns.
    Y : array-like of shape (m, dy)
        Observed values, one row for each density.  For one output, (m,) is accepted.  Densities of
        a Dask collection need a Dask collection.
    random_state : None, int, RandomState or Generator, default=None
        Source of the draws that estimate the values for several outputs.

    Returns
    -------
    ndarray or Dask array of shape (m,)
        Probabilities.  They are exact for one output and estimated from samples of the densities
        for several outputs.

    See Also
    --------
    pit : The corresponding value for quantiles.
    condensity.distributions.Distribution.hdr : The regions.

    References
    ----------
    .. [1] R. J. Hyndman, "Computing and graphing highest density regions," The American
       Statistician 50(2), 1996.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> from condensity.metrics import hpd_coverage
    >>> X, y = toy_b().sample(1000, random_state=0)
    >>> values = hpd_coverage(toy_b().conditional(X), y)
    >>> round(float((values <= 0.9).mean()), 2)
    0.9
    """
    return check_distribution(dist).hpd_level(Y, random_state=random_state)
