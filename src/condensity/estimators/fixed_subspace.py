"""Directions that are known beforehand, in the shape of a transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array
from condensity._utils.parameters import check_directions
from condensity._utils.validation import (
    check_first_inputs,
    check_inputs,
    check_weight,
    remember_inputs,
)


class FixedSubspace(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The reduced inputs ``z = W x`` for directions W that are given, not learned.

    W acts on x as it is, in the units of the data: a truth that is known, is known in these, and
    standardising by a sample would tilt it.  (``components_`` of ``LSCE``, ``SIR`` and ``SAVE``
    act on standardised inputs: divide their columns by the standard deviations first.)

    Parameters
    ----------
    components : None or array-like (dz, dx), default=None
        W, with linearly independent rows.  None keeps all inputs as they are.

    Attributes
    ----------
    components_ : (dz, dx)
    n_features_in_, feature_names_in_
        Inputs seen in ``fit``.

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
        """Check that the directions fit the inputs ``X`` (n, dx); all else is ignored.

        Returns
        -------
        self
        """
        values = check_first_inputs(self, X)
        check_weight(sample_weight, len(values))
        components = check_directions(self.components, values.shape[1])
        remember_inputs(self, X)
        self.components_ = components
        self._n_features_out = len(components)
        return self

    def transform(self, X: Any) -> Array:
        """The reduced inputs ``z = W x``, (m, dz)."""
        check_is_fitted(self)
        return np.asarray(check_inputs(self, X) @ self.components_.T)
