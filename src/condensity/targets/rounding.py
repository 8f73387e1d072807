"""Densities of counts and scores as probabilities of their values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from condensity._typing import Array
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution
from condensity.targets.mixed import MixedDistribution

#: Probability beyond the first and the last value of an automatic range.
BEYOND = 1e-9
#: Largest number of values of an automatic range.
MOST_VALUES = 10_000
#: A limit is a multiple of the step if it differs from one by at most this part of the step.
TOLERANCE = 1e-9


def rounded(
    dist: Distribution,
    values: ArrayLike | None = None,
    *,
    step: float = 1.0,
    lower: float = -np.inf,
    upper: float = np.inf,
) -> MixedDistribution:
    """Densities of a count or a score as probabilities of its values.

    The probability of a value is that of its cell: all y that are closer to it than to any other
    value.  The first and the last cell have no end, so that the probabilities sum to one.

    Parameters
    ----------
    dist : Distribution
        Densities of one output, as ``predict_dist`` returns them for an estimator that was fitted
        to the counts or scores.
    values : array-like of shape (K,), default=None
        All possible values, in increasing order, such as ``range(3, 9)`` for scores from 3 to 8.
        None: all multiples of ``step`` that any of the densities reaches.
    step : float, default=1.0
        Distance of the values if they are not given.
    lower, upper : float
        Limits of the values if they are not given; ``lower=0`` for counts.

    Returns
    -------
    MixedDistribution
        A discrete distribution, with ``pmf``, ``cdf``, ``quantile``, ``crps`` and all other
        methods.  ``masses`` are the probabilities, (m, K).

    See Also
    --------
    WithAtoms : Few frequent values, and a density of all others.

    Notes
    -----
    The kernels of ``LSCE`` are at least half a step wide for values on a lattice, so that the
    density does not concentrate on them.  A warning about frequent values is of no concern here.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions import Block, Mixture
    >>> from condensity.targets import rounded
    >>> normal = Mixture([Block(np.zeros((1, 1)), np.array([[3.2]]), np.eye(1))])
    >>> scores = rounded(normal, range(1, 6))
    >>> scores.masses.round(2)
    array([[0.04, 0.2 , 0.38, 0.29, 0.1 ]])
    >>> scores.quantile(0.5)
    array([3.])
    """
    checks.one_output(dist.n_outputs, "rounded")
    if values is None:
        points = _range_of(dist, float(step), float(lower), float(upper))
    else:
        points = np.asarray(values, dtype=float)
    if points.ndim != 1 or len(points) < 2 or not (np.diff(points) > 0).all():
        raise ValueError(f"values must be at least two numbers in increasing order, got {values!r}")
    edges = np.concatenate([[-np.inf], 0.5 * (points[1:] + points[:-1]), [np.inf]])
    masses = np.empty((len(dist), len(points)))
    for k in range(len(points)):
        masses[:, k] = dist.prob(edges[k], edges[k + 1])
    return MixedDistribution(points, masses / masses.sum(axis=1, keepdims=True), None)


def _range_of(dist: Distribution, step: float, lower: float, upper: float) -> Array:
    """The multiples of ``step`` between the far quantiles of all densities."""
    if not 0 < step < np.inf:
        raise ValueError(f"step must be > 0 and finite, got {step}")
    ends = dist.quantile([BEYOND, 1 - BEYOND])
    low = max(np.floor(ends[:, 0].min() / step), np.ceil(lower / step - TOLERANCE))
    high = min(np.ceil(ends[:, 1].max() / step), np.floor(upper / step + TOLERANCE))
    if not high > low:
        raise ValueError(
            f"the densities reach fewer than two multiples of {step:g} from lower={lower:g} to "
            f"upper={upper:g}: pass values, a smaller step, or other limits"
        )
    if not high - low < MOST_VALUES:
        raise ValueError(
            f"the densities reach {high - low:.0f} multiples of {step:g}, and at most "
            f"{MOST_VALUES} values are allowed: pass values, a larger step, or fewer rows"
        )
    return _multiples(np.arange(low, high + 1), step)


def _multiples(counts: Array, step: float) -> Array:
    """``counts`` times ``step``, as the numbers that are read from a text: 0.3 for 3 times 0.1."""
    inverse = np.rint(1 / step)
    if abs(inverse * step - 1) < 1e-12:
        return np.asarray(counts / inverse)
    return np.asarray(counts * step)
