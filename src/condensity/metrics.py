"""Losses and diagnostics of conditional densities, exact wherever a closed form exists.

The squared loss is the paper's Error_CDE, ``1/2 int p(y|x)^2 dy - p(y_i|x_i)`` averaged over the
sample; what the literature calls CDE loss is twice that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._typing import Array
from condensity._utils.validation import check_targets, check_weight
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution
from condensity.distributions.chunked import ChunkedDistribution
from condensity.subspaces.grassmann import orthonormal, projector_gap

__all__ = ["crps", "hpd_coverage", "log_loss", "pit", "squared_loss", "subspace_error"]


def squared_loss(dist: Distribution, Y: Any, sample_weight: Any = None) -> float:
    """``mean_i [1/2 int p_i(y)^2 dy - p_i(y_i)]``: the paper's Error_CDE, lower is better.

    It estimates ``1/2 int (p - p*)^2`` up to a constant that depends on the truth p* alone, so
    differences between estimates are squared L2 distances, halved.

    Parameters
    ----------
    dist : m densities, as ``predict_dist`` gives them
    Y : (m, dy), or (m,) for a single output
    sample_weight : (m,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(1000, random_state=0)
    >>> round(squared_loss(toy_b().conditional(X), y), 2)
    -0.56
    """
    return _mean(squared_loss_by_row(dist, Y), sample_weight)


def squared_loss_by_row(dist: Distribution, Y: Any) -> Array:
    """``1/2 int p_i(y)^2 dy - p_i(y_i)``, the loss of each density at its own sample: (m,)."""
    dist = _mixture(dist)
    if isinstance(dist, ChunkedDistribution):  # every part is made once for both terms
        return dist.ask(squared_loss_by_row, checks.rows_of(Y, len(dist), dist.n_outputs))
    return 0.5 * dist.squared_norm() - dist.pdf(Y)


def log_loss(dist: Distribution, Y: Any, sample_weight: Any = None) -> float:
    """``mean_i -log p_i(y_i)``, lower is better.

    Parameters
    ----------
    dist : m densities, as ``predict_dist`` gives them
    Y : (m, dy), or (m,) for a single output
    sample_weight : (m,), optional
    """
    return _mean(-_mixture(dist).log_pdf(Y), sample_weight)


def crps(dist: Distribution, Y: Any, sample_weight: Any = None) -> float:
    """Mean of ``int (F_i(t) - 1[y_i <= t])^2 dt``, in the units of y, lower is better.

    The continuous ranked probability score: for a density that is all at one point it is the
    absolute error.

    Parameters
    ----------
    dist : m densities of one output, as ``predict_dist`` gives them
    Y : (m,)
    sample_weight : (m,), optional
    """
    return _mean(_mixture(dist).crps(Y), sample_weight)


def pit(dist: Distribution, Y: Any) -> Array:
    """Probability integral transform ``F_i(y_i)``: uniform on [0, 1] when calibrated.

    Parameters
    ----------
    dist : m densities, as ``predict_dist`` gives them
    Y : (m, dy), or (m,) for a single output

    Returns
    -------
    (m,) for one output; (m, dy), the transform of every marginal, for several.
    """
    if _mixture(dist).n_outputs == 1:
        return dist.cdf(Y)
    Y, _ = check_targets(Y, n_outputs=dist.n_outputs)
    marginals = [dist.marginal(j).cdf(Y[:, j]) for j in range(dist.n_outputs)]
    return np.column_stack(marginals)


def hpd_coverage(dist: Distribution, Y: Any, random_state: Any = None) -> Array:
    """Mass of the highest-density region that ends at ``y_i``: uniform when calibrated, (m,).

    ``y_i`` lies in ``hdr(level)`` exactly when its value is at most ``level``, so the mean of
    ``hpd_coverage(dist, Y) <= 0.9`` is the coverage of the 90 % regions.  Exact for one output, by
    sampling from the densities for several.

    Parameters
    ----------
    dist : m densities, as ``predict_dist`` gives them
    Y : (m, dy), or (m,) for a single output
    random_state : None, int, RandomState or Generator, default=None
        Draws the samples, for several outputs.
    """
    return _mixture(dist).hpd_level(Y, random_state=random_state)


def subspace_error(A: Any, B: Any) -> float:
    """``|P_A - P_B|_F`` for the projectors on the row spaces: the paper's Error_DR.

    Between lines it is ``sqrt(2) sin(angle)``, and at most ``sqrt(da + db)``.

    Parameters
    ----------
    A, B : array-like (da, dx) and (db, dx)
        Rows that span the subspaces: linearly independent, and not necessarily orthonormal.

    Examples
    --------
    >>> subspace_error([[1.0, 0.0]], [[2.0, 0.0]])
    0.0
    """
    A, B = _basis("A", A), _basis("B", B)
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"A has {A.shape[1]} columns and B {B.shape[1]}: pass subspaces of the same space"
        )
    return projector_gap(A, B)


def _mixture(dist: Any) -> Distribution:
    if not isinstance(dist, Distribution):
        raise TypeError(
            f"dist must be what predict_dist returns, got {type(dist).__name__}: "
            "pass model.predict_dist(X)"
        )
    return dist


def _basis(name: str, rows: Any) -> Array:
    rows = np.atleast_2d(np.asarray(rows, dtype=float))
    ok = rows.ndim == 2 and np.isfinite(rows).all()
    if not ok or np.linalg.matrix_rank(rows) < len(rows):
        raise ValueError(
            f"{name} must be a finite matrix with linearly independent rows, got shape "
            f"{rows.shape}: drop the directions that repeat others"
        )
    return orthonormal(rows)


def _mean(values: Array, sample_weight: Any) -> float:
    return float(np.average(values, weights=check_weight(sample_weight, len(values))))
