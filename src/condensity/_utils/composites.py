"""From pipelines and searches to the estimator of densities within."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


def last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The estimator that ends a fitted composite, and ``X`` as the steps before hand it over.

    A search stands for its best estimator.  What is no composite is its own last step.
    """
    from sklearn.pipeline import Pipeline  # not above: it imports rich where that is installed

    if isinstance(estimator, Pipeline):
        check_is_fitted(estimator)
        inputs = estimator[:-1].transform(X) if len(estimator) > 1 else X
        return last_step(estimator[-1], inputs)
    if hasattr(estimator, "refit"):  # a search
        check_is_fitted(estimator)
    if hasattr(estimator, "best_estimator_"):
        return last_step(estimator.best_estimator_, X)
    return estimator, X


def density_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """As ``last_step``, for composites that end in an estimator of densities."""
    last, inputs = last_step(estimator, X)
    if not hasattr(last, "predict_dist"):
        name, end = type(estimator).__name__, type(last).__name__
        what = name if last is estimator else f"{end} at the end of {name}"
        raise TypeError(
            f"{what} has no predict_dist: pass an estimator of densities such as LSCE, or a "
            "pipeline or search that ends in one and was refitted"
        )
    return last, inputs


def predict_dist(estimator: Any, X: Any) -> Any:
    """Conditional densities p(y|x) from an estimator, a pipeline or a search."""
    last, inputs = density_step(estimator, X)
    return last.predict_dist(inputs)
