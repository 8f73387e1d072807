"""Derivatives of a property of the density with respect to the inputs, one dot for each sample."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from condensity._typing import Array
from condensity._utils.parameters import check_count
from condensity.inspection import Slopes, slopes
from condensity.plots.canvas import INK, single_axes

#: Rows of dots are this high, relative to the distance between them.
HEIGHT = 0.7
#: Colour map of the values of the inputs, from low to high.
LOW_TO_HIGH = "viridis"


class SlopesDisplay:
    """Derivatives of one property of the density with respect to every input.

    Every dot is a sample.  Its colour shows the value of the input, dark for low and light for high
    values.  Dots on both sides of zero mean that the input acts in both directions.  With ``scale``
    the derivatives are per standard deviation of the input, so that inputs can be compared.

    Parameters
    ----------
    slopes : Slopes
        The derivatives.
    X : ndarray of shape (m, dx)
        The inputs, which give the colours.
    scale : None or ndarray of shape (dx,), default=None
        Factors of the derivatives, such as the standard deviations of the inputs.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.
    dots_ : list of PathCollection
        The dots of each input.

    See Also
    --------
    condensity.inspection.slopes : Computes derivatives.
    ImportanceDisplay : How much every input matters, by held-out losses.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.plots import SlopesDisplay
    >>> X, y = toy_b().sample(200, random_state=0)
    >>> model = LSCDE(random_state=0).fit(X, y)
    >>> display = SlopesDisplay.from_estimator(model, X[:50], "spread")
    >>> display.ax_.get_yticklabels()[0].get_text()
    'x2'
    """

    def __init__(self, slopes: Slopes, X: Array, *, scale: Array | None = None) -> None:
        self.slopes = slopes
        self.X = X
        self.scale = scale

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        of: Any = "mean",
        *,
        max_features: int = 12,
        ax: Any = None,
        scatter_kw: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Compute the derivatives of a fitted estimator and draw them.

        Parameters
        ----------
        estimator : estimator
            Fitted density estimator, or a pipeline or search that ends in one.
        X : array-like of shape (m, dx)
            Inputs.
        of : property, default="mean"
            What is explained, see ``condensity.inspection.slopes``.
        max_features : int, default=12
            Maximum number of inputs to draw: those with the largest mean absolute derivatives.
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        scatter_kw : dict, default=None
            Keyword arguments of matplotlib's ``scatter``.
        **kwargs : dict
            Keyword arguments of ``condensity.inspection.slopes``.

        Returns
        -------
        display : SlopesDisplay
            The drawn display.  Derivatives are per standard deviation of the inputs in X.

        See Also
        --------
        plot : Draw the same derivatives again.
        """
        values = np.asarray(X, dtype=float)
        display = cls(slopes(estimator, X, of, **kwargs), values, scale=values.std(axis=0))
        return display.plot(ax, max_features=max_features, **(scatter_kw or {}))

    def plot(self, ax: Any = None, *, max_features: int = 12, **kwargs: Any) -> Self:
        """Draw the dots, with the inputs of the largest derivatives at the top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        max_features : int, default=12
            Maximum number of inputs to draw.
        **kwargs : dict
            Keyword arguments of matplotlib's ``scatter``.

        Returns
        -------
        self : SlopesDisplay
            The display.

        See Also
        --------
        from_estimator : Compute and draw the derivatives of a fitted estimator.
        """
        ax = single_axes(ax)
        scaled = self.slopes.values * (1.0 if self.scale is None else self.scale)
        most = check_count("max_features", max_features, low=1)
        order = np.argsort(-np.abs(scaled).mean(axis=0), kind="stable")[:most]
        style = {"s": 9, "cmap": LOW_TO_HIGH, "alpha": 0.8, "linewidths": 0} | kwargs
        self.dots_ = [
            ax.scatter(
                scaled[:, j], place + _spread_out(scaled[:, j]), c=_ranks(self.X[:, j]), **style
            )
            for place, j in enumerate(order)
        ]
        ax.set_yticks(np.arange(len(order)), [self.slopes.names[j] for j in order])
        ax.invert_yaxis()
        ax.axvline(0, color=INK, lw=0.8)
        unit = "unit" if self.scale is None else "standard deviation of the input"
        how = "" if self.slopes.method == "exact" else " (differences)"
        ax.set(xlabel=f"slope per {unit}{how}", title=self.slopes.of)
        bar = ax.figure.colorbar(self.dots_[0], ax=ax, ticks=[0, 1], shrink=0.6, label="input")
        bar.ax.set_yticklabels(["low", "high"])
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _ranks(values: Array) -> Array:
    """Ranks from 0 to 1; equal values have equal ranks."""
    distinct, place = np.unique(values, return_inverse=True)
    return np.asarray(place / max(len(distinct) - 1, 1))


def _spread_out(values: Array) -> Array:
    """Heights (m,) for dots at ``values``, higher and lower where the dots are many."""
    span = float(np.ptp(values)) or 1.0
    cell = np.floor(40 * (values - values.min()) / span)
    height = np.zeros(len(values))
    for number in np.unique(cell):
        rows = np.flatnonzero(cell == number)
        height[rows] = np.arange(len(rows)) - 0.5 * (len(rows) - 1)
    return np.asarray(height * HEIGHT / max(float(np.ptp(height)), 10.0))
