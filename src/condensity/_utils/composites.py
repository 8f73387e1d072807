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
    """Conditional densities p(y|x) of an estimator, a pipeline or a hyperparameter search."""
    last, inputs = density_step(estimator, X)
    return last.predict_dist(inputs)
