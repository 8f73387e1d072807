"""The weights of the inputs in the directions of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array, Indices
from condensity._utils.names import direction_names, input_names
from condensity._utils.parameters import check_count
from condensity._utils.validation import check_inputs
from condensity.estimators.reducer import Reducer
from condensity.estimators.spectral import SpectralReducer
from condensity.plots.canvas import COLORS, single_axes

PER_SD, PER_UNIT = "weight per standard deviation", "weight per unit of the input"


class LoadingsDisplay:
    """Weights of the inputs in each direction, as bars.

    The bars have the signs of ``components_``.  The estimators choose these signs so that
    z grows with the first output.

    Parameters
    ----------
    loadings : ndarray of shape (dz, dx)
        Weights, one row for each direction.
    feature_names : sequence of dx str
        Names of the inputs.
    unit : str, default="weight per standard deviation"
        Label of the horizontal axis: the unit of the weights.
    intervals : None or (ndarray, ndarray), default=None
        Lower and upper ends of intervals of the weights, each of shape (dz, dx), as
        ``condensity.inspection.Bootstrap.loading_intervals`` returns them.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.
    bars_ : list of BarContainer
        The bars of each direction.

    See Also
    --------
    SufficientSummaryDisplay : The samples in the space of the directions.
    condensity.metrics.subspace_error : Distance between two subspaces.

    Examples
    --------
    In this problem only the second input matters.

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
        self,
        loadings: Array,
        feature_names: Sequence[str],
        *,
        unit: str = PER_SD,
        intervals: tuple[Array, Array] | None = None,
    ) -> None:
        self.loadings = loadings
        self.feature_names = feature_names
        self.unit = unit
        self.intervals = intervals

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        max_features: int = 20,
        intervals: tuple[Array, Array] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw ``components_`` of a fitted model.

        The components of the estimators that learn directions act on standardised inputs: a weight
        is the change of z with one standard deviation of the input.  The components of other
        models, such as FixedSubspace and PCA, act on the inputs in their own units.  With ``X``
        they are converted to weights per standard deviation.

        Parameters
        ----------
        estimator : estimator
            Fitted model with ``components_``, or a pipeline or search that ends in one.
        X : array-like of shape (n, dx), default=None
            Inputs of the last step, for their standard deviations.
        max_features : int, default=20
            Maximum number of inputs to draw.  The label of the axis gives the number of the others.
        intervals : None or (ndarray, ndarray), default=None
            Intervals of ``components_``, drawn as lines: ``fits.loading_intervals()`` of
            ``fits = condensity.inspection.bootstrap(estimator, ...)``.
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``barh``.

        Returns
        -------
        display : LoadingsDisplay
            The drawn display.

        See Also
        --------
        plot : Draw the same weights again.
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
                factor, unit = check_inputs(model, X).std(axis=0), PER_SD
                loadings = loadings * factor
                intervals = None if intervals is None else tuple(e * factor for e in intervals)
        names = names or input_names(loadings.shape[1])
        display = cls(loadings, names, unit=unit, intervals=intervals)
        return display.plot(ax=ax, max_features=max_features, **kwargs)

    def plot(self, ax: Any = None, *, max_features: int = 20, **kwargs: Any) -> Self:
        """Draw the bars, with the inputs of the largest weights at the top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        max_features : int, default=20
            Maximum number of inputs to draw.  The label of the axis gives the number of the others.
        **kwargs : dict
            Keyword arguments of matplotlib's ``barh``.

        Returns
        -------
        self : LoadingsDisplay
            The display.

        See Also
        --------
        from_estimator : Draw the weights of a fitted model.
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
                xerr=self._error_bars(k, shown),
                **{"height": height, "color": COLORS[k % len(COLORS)], "label": name} | kwargs,
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

    def _error_bars(self, k: int, shown: Indices) -> Array | None:
        """Lengths of the interval of direction k below and above its weights, (2, shown)."""
        if self.intervals is None:
            return None
        lower, upper = (np.asarray(ends)[k, shown] for ends in self.intervals)
        weights = self.loadings[k, shown]
        # A percentile interval need not contain the weight itself.
        return np.maximum([weights - lower, upper - weights], 0.0)


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
    """Whether the components act on standardised inputs."""
    if hasattr(model, "reducer_"):
        return _acts_on_standardised(model.reducer_)
    return isinstance(model, Reducer | SpectralReducer)
