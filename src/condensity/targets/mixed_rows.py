"""Quantiles and regions of one row of a distribution with atoms."""

from __future__ import annotations

import numpy as np

from condensity._typing import Array, Indices
from condensity.distributions.base import Distribution

#: Levels above 1 minus this are those of the largest value: probabilities have rounding errors.
ROUNDING = 1e-12


def quantiles_of(
    atoms: Array,
    masses: Array,
    rest: float,
    beside: Distribution | None,
    q: Array,
    reached: Array,
) -> Array:
    """The smallest values at which the distribution function is at least ``q`` (k,).

    ``reached`` (K,) is its value at the atoms.  The density ``beside`` them has the probability
    ``rest``.
    """
    # The first atom at which the level is reached, and the probability of those before it.
    k = np.searchsorted(reached - ROUNDING, q)
    if beside is None or rest == 0.0:
        return _atoms_at(atoms, masses, k)
    before = np.append(0.0, np.cumsum(masses))[k]
    jump = np.append(reached - masses, np.inf)[k] + ROUNDING
    is_atom = (q >= jump) & np.append(masses > 0, False)[k]
    out = np.append(atoms, np.nan)[k]
    if not is_atom.all():
        level = np.clip((q[~is_atom] - before[~is_atom]) / rest, 0.0, 1.0)
        low = np.append(-np.inf, atoms)[k[~is_atom]]
        high = np.append(atoms, np.inf)[k[~is_atom]]
        out[~is_atom] = np.clip(beside.quantile(level)[0], low, high)
    return out


def _atoms_at(atoms: Array, masses: Array, k: Indices) -> Array:
    """The atoms number k; atoms without probability are no quantiles."""
    positive = np.flatnonzero(masses > 0)
    place = np.searchsorted(positive, k)
    return np.asarray(atoms[positive[np.minimum(place, len(positive) - 1)]])


def with_points(region: Array, points: Array) -> Array:
    """Intervals (k, 2) and points (l, 2) that lie outside them, in increasing order."""
    y = points[:, :1]
    inside = ((y >= region[:, 0]) & (y <= region[:, 1])).any(axis=1)
    both = np.vstack([region, points[~inside]])
    return np.asarray(both[np.argsort(both[:, 0], kind="stable")])
