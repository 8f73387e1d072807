"""Distance of two subspaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._typing import Array
from condensity.subspaces.grassmann import orthonormal, projector_gap


def subspace_error(A: Any, B: Any) -> float:
    """Distance of two subspaces, ``|P_A - P_B|_F``, the paper's Error_DR.

    P_A and P_B are the orthogonal projectors on the row spaces of A and B.  Between two lines the
    distance is ``sqrt(2) sin(angle)``.  It is at most ``sqrt(da + db)``.

    Parameters
    ----------
    A : array-like of shape (da, dx)
        Linearly independent rows that span the first subspace.  They need not be orthonormal.
    B : array-like of shape (db, dx)
        Linearly independent rows that span the second subspace.

    Returns
    -------
    float
        The distance; 0 if the subspaces are equal.

    Raises
    ------
    ValueError
        If rows are linearly dependent or not finite, or if A and B differ in their columns.

    See Also
    --------
    squared_loss : The error of the density, Error_CDE.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

    Examples
    --------
    >>> from condensity.metrics import subspace_error
    >>> subspace_error([[1.0, 0.0]], [[2.0, 0.0]])
    0.0
    >>> round(subspace_error([[1.0, 0.0]], [[0.0, 1.0]]), 4)
    1.4142
    """
    A, B = _basis("A", A), _basis("B", B)
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"A has {A.shape[1]} columns and B {B.shape[1]}: pass subspaces of the same space"
        )
    return projector_gap(A, B)


def _basis(name: str, rows: Any) -> Array:
    """Orthonormal rows that span the same subspace as the argument ``name``."""
    rows = np.atleast_2d(np.asarray(rows, dtype=float))
    valid = rows.ndim == 2 and np.isfinite(rows).all()
    if not valid or np.linalg.matrix_rank(rows) < len(rows):
        raise ValueError(
            f"{name} must be a finite matrix with linearly independent rows, got shape "
            f"{rows.shape}: drop the directions that repeat others"
        )
    return orthonormal(rows)
