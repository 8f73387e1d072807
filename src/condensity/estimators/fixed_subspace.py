"""A transformer with given directions."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from condensity._typing import Array
from condensity._utils.parameters import check_directions
from condensity._utils.validation import check_first_inputs, check_weight, remember_inputs
from condensity.estimators.reducer import LinearReducerMixin


class FixedSubspace(LinearReducerMixin, BaseEstimator):
    """Reduced inputs ``z = W x`` with given directions W.

    With the true W it shows what a dimension reduction can reach, as in the experiments of [1]_.
    W acts on x in the units of the data.  A subspace is usually given in these units, and
    standardising by a sample would change it.  (``components_`` of ``LSCE``, ``LSMI``, ``SIR`` and
    ``SAVE`` act on standardised inputs: divide their columns by the standard deviations first.)

    Parameters
    ----------
    components : None or array-like of shape (dz, dx), default=None
        W, with linearly independent rows.  None keeps all inputs as they are.

    Attributes
    ----------
    components_ : ndarray of shape (dz, dx)
        W, which acts on the inputs in the units of the data.
    n_features_in_ : int
        Number of inputs seen in ``fit``.
    feature_names_in_ : ndarray of shape (dx,)
        Names of the inputs, if ``fit`` was given a data frame.

    See Also
    --------
    Reduced : A density on reduced inputs.
    SIR : Directions learned from slices of y.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1),
       2015.

    Examples
    --------
    >>> from condensity import FixedSubspace
    >>> FixedSubspace([[0.6, 0.8, 0.0]]).fit_transform([[1.0, 1.0, 5.0], [0.0, 2.0, 7.0]])
    array([[1.4],
           [1.6]])
    """

    def __init__(self, components: Any = None) -> None:
        self.components = components

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Check that the directions fit the inputs.

        Parameters
        ----------
        X : array-like of shape (n, dx)
            Inputs.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), default=None
            Checked, but not used.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        values = check_first_inputs(self, X)
        check_weight(sample_weight, len(values))
        components = check_directions(self.components, values.shape[1])
        remember_inputs(self, X)
        self._set_directions(components)
        return self

    def _standardise(self, X: Array) -> Array:
        return X  # the directions act on the inputs in the units of the data
