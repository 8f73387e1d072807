"""The sufficient summary plot: y against the reduced inputs z."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Self

import numpy as np

from condensity._typing import Array
from condensity._utils.names import direction_names
from condensity._utils.validation import check_same_length
from condensity.plots.canvas import INK, grid_of_axes, one_column, single_axes


class SufficientSummaryDisplay:
    """Sufficient summary plot: y against one direction z, or pairs of directions coloured by y.

    If p(y|x) = p(y|z), the plot shows the whole dependence of y on x.

    Parameters
    ----------
    Z : ndarray of shape (n, dz)
        Reduced inputs.
    y : ndarray of shape (n,)
        Output.
    names : sequence of dz str, default=None
        Names of the directions.  None: z, or z1, z2, ...
    output_name : str, default="y"
        Name of the output.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of them
        Axes of the last drawing; with three or more directions, one for each pair.
    figure_ : matplotlib Figure
        Figure of the last drawing.
    artists_ : list of PathCollection
        One scatter plot for each panel.

    See Also
    --------
    LoadingsDisplay : The weights of the inputs in each direction.
    ConditionalDensityDisplay : The density p(y|z).

    References
    ----------
    .. [1] K.-C. Li, "Sliced inverse regression for dimension reduction," Journal of the American
       Statistical Association 86(414), 1991.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> from condensity import SIR
    >>> from condensity.datasets import toy_b
    >>> from condensity.plots import SufficientSummaryDisplay
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> display = SufficientSummaryDisplay.from_estimator(SIR().fit(X, y), X, y)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('z', 'y')
    """

    def __init__(
        self, Z: Array, y: Array, *, names: list[str] | None = None, output_name: str = "y"
    ) -> None:
        self.Z = Z
        self.y = y
        self.names = names
        self.output_name = output_name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, output: int = 0, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw y against the inputs as a fitted transformer reduces them.

        Parameters
        ----------
        estimator : transformer
            Fitted transformer, such as LSCE, LSMI or SIR, or a pipeline or search that ends in one.
        X : array-like of shape (n, dx)
            Inputs of the samples.
        y : array-like of shape (n,) or (n, dy)
            Outputs of the samples.
        output : int, default=0
            Index of the output to draw, from 0.
        ax : matplotlib Axes, default=None
            Axes to draw on; with three or more directions, the panels take its place.  None: a new
            figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``scatter``.

        Returns
        -------
        display : SufficientSummaryDisplay
            The drawn display.

        See Also
        --------
        plot : Draw the same samples again.
        """
        if not hasattr(estimator, "transform"):
            raise TypeError(
                f"{type(estimator).__name__} has no transform, so there is no z to draw: "
                "pass a transformer such as LSCE or SIR"
            )
        Z = np.asarray(estimator.transform(X), dtype=float)
        values, name = one_column(y, output)
        check_same_length(Z, values)
        return cls(Z, values, output_name=name).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the samples.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; with three or more directions, the panels take its place.  None: a new
            figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``scatter``.

        Returns
        -------
        self : SufficientSummaryDisplay
            The display.

        See Also
        --------
        from_estimator : Draw the samples as a fitted transformer reduces them.
        """
        dz = self.Z.shape[1]
        names = self.names or direction_names(dz)
        if dz == 1:
            ax = single_axes(ax)
            style = {"s": 12, "color": INK, "alpha": 0.6, "lw": 0} | kwargs
            self.artists_ = [ax.scatter(self.Z[:, 0], self.y, **style)]
            ax.set(xlabel=names[0], ylabel=self.output_name)
            self.ax_, self.figure_ = ax, ax.figure
        else:
            self._draw_pairs(ax, names, kwargs)
        return self

    def _draw_pairs(self, ax: Any, names: list[str], kwargs: dict[str, Any]) -> None:
        dz = len(names)
        if dz == 2:
            axes = np.array([[single_axes(ax)]])
        else:
            axes = grid_of_axes(ax, dz - 1, dz - 1, (2.6, 2.4))
        low, high = np.quantile(self.y, [0.01, 0.99])
        style = {"s": 12, "cmap": "viridis", "vmin": low, "vmax": high, "lw": 0} | kwargs
        panels = [(axes[j - 1, i], i, j) for i, j in combinations(range(dz), 2)]
        self.artists_ = []
        for panel, i, j in panels:
            self.artists_.append(panel.scatter(self.Z[:, i], self.Z[:, j], c=self.y, **style))
            panel.set(xlabel=names[i] if j == dz - 1 else "", ylabel=names[j] if i == 0 else "")
        used = [panel for panel, _, _ in panels]
        for panel in set(axes.ravel()) - set(used):
            panel.set_axis_off()
        figure = used[0].figure
        figure.colorbar(self.artists_[0], ax=used, label=self.output_name, extend="both")
        self.ax_, self.figure_ = (used[0] if dz == 2 else np.array(used)), figure
