"""Density estimators inside pipelines and hyperparameter searches."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


def last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Last estimator of a fitted composite, and ``X`` transformed by the steps before it.

    For a hyperparameter search this is its best estimator.  An estimator that is not a composite is
    returned unchanged.
    """
    from sklearn.pipeline import Pipeline  # imported here because it imports rich if installed

    if isinstance(estimator, Pipeline):
        check_is_fitted(estimator)
        inputs = estimator[:-1].transform(X) if len(estimator) > 1 else X
        return last_step(estimator[-1], inputs)
    if hasattr(estimator, "refit"):  # a hyperparameter search
        check_is_fitted(estimator)
    if hasattr(estimator, "best_estimator_"):
        return last_step(estimator.best_estimator_, X)
    return estimator, X


def density_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Like :func:`last_step`, but the last estimator must be a density estimator."""
    last, inputs = last_step(estimator, X)
    if not hasattr(last, "predict_dist"):
        name, end = type(estimator).__name__, type(last).__name__
        what = name if last is estimator else f"{end} at the end of {name}"
        raise TypeError(
            f"{what} has no predict_dist: pass an estimator of densities such as LSCE, a pipeline "
            "that ends in one, or a search over one with refit=True"
        )
    return last, inputs


def predict_dist(estimator: Any, X: Any) -> Any:
    """Predict the conditional densities p(y|x) of an estimator, a pipeline or a search.

    Pipelines and hyperparameter searches of scikit-learn pass on ``predict``, but not
    ``predict_dist``.  This function transforms the inputs by the first steps of a pipeline and asks
    its last step; of a search it asks the best estimator.

    Parameters
    ----------
    estimator : fitted estimator
        Estimator with ``predict_dist``, a pipeline that ends in one, or a hyperparameter search
        over one with ``refit=True``; also one within the other.
    X : array-like of shape (m, dx)
        Inputs, as the composite takes them.

    Returns
    -------
    Distribution
        One density for each row, as ``predict_dist`` of the last estimator returns it.

    Raises
    ------
    TypeError
        If the last estimator has no ``predict_dist``.

    See Also
    --------
    cross_val_predict_dist : Densities of samples by models that have not seen them.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from condensity import LSCDE, predict_dist
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = make_pipeline(StandardScaler(), LSCDE(bandwidth=0.5, penalty=0.01)).fit(X, y)
    >>> predict_dist(model, X[:3]).mean().shape
    (3,)
    """
    last, inputs = density_step(estimator, X)
    return last.predict_dist(inputs)
