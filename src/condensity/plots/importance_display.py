"""Importance of inputs or directions, as bars with error bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from condensity._utils.parameters import check_count
from condensity.inspection import Importance, importance
from condensity.plots.canvas import COLORS, INK, grid_of_axes

#: Half the length of error bars, in standard errors.
ERROR_BARS = 2.0


class ImportanceDisplay:
    """Importance of every input or direction for one or several properties of the density.

    Each property has its own panel, because the units of the losses differ.  The error bars are two
    standard errors long on each side.

    Parameters
    ----------
    importances : sequence of Importance
        One for each panel, all of the same inputs or directions.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes
        Axes of the last drawing, one for each property.
    figure_ : matplotlib Figure
        Figure of the last drawing.
    bars_ : list of BarContainer
        The bars of each panel.

    See Also
    --------
    condensity.inspection.importance : Computes importances.
    SlopesDisplay : In which direction every input acts.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.plots import ImportanceDisplay
    >>> X, y = toy_b().sample(300, random_state=0)
    >>> model = LSCDE(random_state=0).fit(X[:200], y[:200])
    >>> display = ImportanceDisplay.from_estimator(
    ...     model, X[200:], y[200:], of=("mean", ("quantile", 0.9)), random_state=0
    ... )
    >>> [ax.get_title() for ax in display.ax_]
    ['mean', '0.9 quantile']
    """

    def __init__(self, importances: Sequence[Importance]) -> None:
        self.importances = importances

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        of: Any = ("density", "mean", "spread"),
        max_features: int = 20,
        ax: Any = None,
        bar_kw: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Compute the importances of a fitted estimator at new samples and draw them.

        Parameters
        ----------
        estimator : estimator
            Fitted density estimator, or a pipeline or search that ends in one.
        X : array-like of shape (m, dx)
            Inputs of samples that the estimator was not fitted to.
        y : array-like of shape (m,) or (m, dy)
            Outputs of these samples.
        of : property or sequence of properties, default=("density", "mean", "spread")
            What is explained, see ``condensity.inspection.importance``.
        max_features : int, default=20
            Maximum number of inputs to draw.
        ax : matplotlib Axes, default=None
            Axes whose place the panels take.  None: a new figure.
        bar_kw : dict, default=None
            Keyword arguments of matplotlib's ``barh``.
        **kwargs : dict
            Keyword arguments of ``condensity.inspection.importance``.

        Returns
        -------
        display : ImportanceDisplay
            The drawn display.

        See Also
        --------
        plot : Draw the same importances again.
        """
        single = isinstance(of, str) or (len(of) == 2 and not isinstance(of[1], str | tuple | list))
        asked = [of] if single else list(of)
        display = cls([importance(estimator, X, y, what, **kwargs) for what in asked])
        return display.plot(ax, max_features=max_features, **(bar_kw or {}))

    def plot(self, ax: Any = None, *, max_features: int = 20, **kwargs: Any) -> Self:
        """Draw the bars, in the order of the first property.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes whose place the panels take.  None: a new figure.
        max_features : int, default=20
            Maximum number of inputs to draw.
        **kwargs : dict
            Keyword arguments of matplotlib's ``barh``.

        Returns
        -------
        self : ImportanceDisplay
            The display.

        See Also
        --------
        from_estimator : Compute and draw the importances of a fitted estimator.
        """
        most = check_count("max_features", max_features, low=1)
        order = np.argsort(-self.importances[0].increase, kind="stable")[:most]
        names = [self.importances[0].names[j] for j in order]
        size = (3.2, 0.9 + 0.28 * max(len(order), 4))
        panels = grid_of_axes(ax, 1, len(self.importances), size)[0]
        self.bars_ = []
        for k, (panel, found) in enumerate(zip(panels, self.importances, strict=True)):
            style = {
                "color": COLORS[k % len(COLORS)],
                "xerr": ERROR_BARS * found.std_error[order],
                "error_kw": {"ecolor": INK, "elinewidth": 1},
            } | kwargs
            self.bars_.append(panel.barh(np.arange(len(order)), found.increase[order], **style))
            panel.set_yticks(np.arange(len(order)), names if k == 0 else [])
            panel.invert_yaxis()
            panel.axvline(0, color=INK, lw=0.8)
            panel.set(title=found.of, xlabel=f"increase of the loss ({found.unit})")
        self.ax_, self.figure_ = panels, panels[0].figure
        return self
