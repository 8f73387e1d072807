"""What the directions are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array
from condensity._utils.names import direction_names, input_names
from condensity._utils.parameters import check_count
from condensity._utils.validation import check_inputs
from condensity.estimators.reducer import Reducer
from condensity.estimators.sliced import SlicedReducer
from condensity.plots.canvas import COLORS, single_axes

PER_SD, PER_UNIT = "weight per standard deviation", "weight per unit of the input"


class LoadingsDisplay:
    """The weights of the inputs in each direction, as bars with the signs of ``components_``.

    LSCE, LSMI, SIR and SAVE choose the signs of ``components_`` so that z grows with the first
    output.

    Parameters
    ----------
    loadings : (dz, dx)
    feature_names : sequence of dx str
    unit : str
        What a weight is counted in.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last drawing.
    bars_ : list of BarContainer
        One for each direction.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> from condensity import SIR
    >>> from condensity.datasets import toy_b
    >>> from condensity.plots import LoadingsDisplay
    >>> X, y = toy_b().sample(200, random_state=0)
    >>> display = LoadingsDisplay.from_estimator(SIR().fit(X, y))
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][0]
    'x2'
    """

    def __init__(
        self, loadings: Array, feature_names: Sequence[str], *, unit: str = PER_SD
    ) -> None:
        self.loadings = loadings
        self.feature_names = feature_names
        self.unit = unit

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw ``components_`` of a fitted model.

        Those of LSCE, LSMI, SIR and SAVE act on standardised inputs: a weight tells how far z moves
        with one standard deviation of the input.  Others (FixedSubspace, PCA) act on the inputs as
        they are, and are brought to that unit if ``X`` is given.

        Parameters
        ----------
        estimator : fitted model with ``components_``, or a pipeline or search that ends in one
        X : array-like (n, dx), optional
            Inputs of the last step, for their standard deviations.
        ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        LoadingsDisplay
        """
        model, names = _model_and_names(estimator)
        if not hasattr(model, "components_"):
            raise TypeError(
                f"{type(model).__name__} has no components_ to draw: pass a fitted model that "
                "finds directions, such as LSCE or SIR"
            )
        loadings, unit = np.array(model.components_, dtype=float), PER_SD
        if not _acts_on_standardised(model):
            unit = PER_UNIT
            if X is not None:
                loadings, unit = loadings * check_inputs(model, X).std(axis=0), PER_SD
        names = names or input_names(loadings.shape[1])
        return cls(loadings, names, unit=unit).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, max_features: int = 20, **kwargs: Any) -> Self:
        """Draw, the features with the largest weights at the top.

        Parameters
        ----------
        ax : matplotlib axes, optional
        max_features : int, default=20
            The rest is left out, and said to be.
        **kwargs
            For matplotlib's ``barh``.

        Returns
        -------
        self
        """
        ax = single_axes(ax)
        dz, dx = self.loadings.shape
        order = np.argsort(-np.linalg.norm(self.loadings, axis=0), kind="stable")
        shown = order[: check_count("max_features", max_features, low=1)]
        places, height = np.arange(len(shown)), 0.8 / dz
        self.bars_ = [
            ax.barh(
                places + (k - (dz - 1) / 2) * height,
                self.loadings[k, shown],
                **{
                    "height": height,
                    "color": COLORS[k % len(COLORS)],
                    "label": name,
                }
                | kwargs,
            )
            for k, name in enumerate(direction_names(dz))
        ]
        ax.set_yticks(places, [self.feature_names[j] for j in shown])
        ax.invert_yaxis()
        ax.axvline(0, color="black", lw=0.8)
        rest = f" ({dx - len(shown)} smaller ones not shown)" if len(shown) < dx else ""
        ax.set_xlabel(self.unit + rest)
        if dz > 1:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _model_and_names(estimator: Any) -> tuple[Any, list[str] | None]:
    """The model that has the directions, and the names of its inputs if they are known."""
    check_is_fitted(estimator)
    if hasattr(estimator, "best_estimator_"):
        return _model_and_names(estimator.best_estimator_)
    if isinstance(estimator, Pipeline):
        model, names = _model_and_names(estimator[-1])
        if names is None and len(estimator) > 1:
            names = _names_after_transforms(estimator)
        return model, names
    names = getattr(estimator, "feature_names_in_", None)
    return estimator, None if names is None else [str(name) for name in names]


def _names_after_transforms(pipeline: Pipeline) -> list[str] | None:
    """Names of the inputs of the last step; None if a step does not name its outputs."""
    unnamed = not hasattr(pipeline, "feature_names_in_") and hasattr(pipeline, "n_features_in_")
    # Without this, scikit-learn would number unnamed inputs from x0.
    first = input_names(pipeline.n_features_in_) if unnamed else None
    try:
        return [str(name) for name in pipeline[:-1].get_feature_names_out(first)]
    except (AttributeError, ValueError):
        return None


def _acts_on_standardised(model: Any) -> bool:
    """Whether the directions are those of inputs with unit variance."""
    if hasattr(model, "reducer_"):
        return _acts_on_standardised(model.reducer_)
    return isinstance(model, Reducer | SlicedReducer)
