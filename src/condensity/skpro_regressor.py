"""Estimators of densities as regressors of skpro (the extra ``skpro``)."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import clone

from condensity._utils.composites import predict_dist
from condensity._utils.extras import require
from condensity.estimators import LSCDE, LSCE

try:
    from skpro.regression.base import BaseProbaRegressor
except ModuleNotFoundError:  # the constructor raises the error with the remedy
    BaseProbaRegressor = object


class SkproRegressor(BaseProbaRegressor):
    """An estimator of conditional densities as a probabilistic regressor of skpro.

    ``predict_proba`` returns the densities as distributions of skpro; quantiles, intervals,
    variances, tuning and benchmarking of skpro use them.

    Parameters
    ----------
    estimator : estimator, default=None
        Estimator with ``predict_dist``, or a pipeline or a search that ends in one; None: ``LSCE``.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.

    See Also
    --------
    condensity.distributions.Distribution.to_skpro : The conversion of the densities.

    Examples
    --------
    >>> model = SkproRegressor(LSCE(n_components=1)).fit(X, y)  # doctest: +SKIP
    >>> model.predict_proba(X_new).quantile([0.1, 0.9])  # doctest: +SKIP
    """

    _tags: ClassVar[dict[str, Any]] = {
        "capability:multioutput": True,
        "capability:missing": False,
        "X_inner_mtype": "pd_DataFrame_Table",
        "y_inner_mtype": "pd_DataFrame_Table",
    }

    def __init__(self, estimator: Any = None) -> None:
        require("skpro.regression.base", "skpro")
        self.estimator = estimator
        super().__init__()

    def _fit(self, X: Any, y: Any) -> SkproRegressor:
        self._y_columns = y.columns
        values = y.to_numpy()
        target = values[:, 0] if values.shape[1] == 1 else values
        model = LSCE() if self.estimator is None else clone(self.estimator)
        self.estimator_ = model.fit(self._named(X), target)
        return self

    def _predict_proba(self, X: Any) -> Any:
        dist = predict_dist(self.estimator_, self._named(X))
        return dist.to_skpro(index=X.index, columns=self._y_columns)

    def _named(self, X: Any) -> Any:
        """Inputs whose names are text, as scikit-learn wants them."""
        return X.set_axis([str(name) for name in X.columns], axis=1)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Parameters for the tests of skpro.

        Parameters
        ----------
        parameter_set : str, default="default"
            Not used.

        Returns
        -------
        list of dict
            Parameters of regressors that are fitted fast.
        """
        penalties = (0.1, 0.01)
        return [{"estimator": LSCDE(bandwidth=0.5, penalty=penalty)} for penalty in penalties]
