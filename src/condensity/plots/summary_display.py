"""The sufficient summary plot: what y looks like once x has been reduced to z."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Self

import numpy as np

from condensity._typing import Array
from condensity._utils.names import direction_names
from condensity._utils.validation import check_same_length
from condensity.plots.canvas import INK, grid_of_axes, one_column, single_axes


class SufficientSummaryDisplay:
    """z against y; with several directions, pairs of them coloured by y.

    Parameters
    ----------
    Z : (n, dz)
        Reduced inputs.
    y : (n,)
    names : sequence of dz str, optional
        What the directions are called.
    output_name : str

    Attributes
    ----------
    ax_ : axes, or array of the axes of all pairs
    figure_
    artists_ : list of PathCollection
        One scatter for each panel.

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
        """Draw what a fitted transformer makes of X.

        Parameters
        ----------
        estimator : fitted transformer, such as LSCE, LSMI or SIR, or a composite that ends in one
        X : array-like (n, dx)
        y : array-like (n,) or (n, dy)
        output : int, default=0
            Which of several outputs.
        ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        SufficientSummaryDisplay
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
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            With three directions and more, the panels take its place.
        **kwargs
            For matplotlib's ``scatter``.

        Returns
        -------
        self
        """
        dz = self.Z.shape[1]
        names = self.names or direction_names(dz)
        if dz == 1:
            ax = single_axes(ax)
            look = {"s": 12, "color": INK, "alpha": 0.6, "lw": 0} | kwargs
            self.artists_ = [ax.scatter(self.Z[:, 0], self.y, **look)]
            ax.set(xlabel=names[0], ylabel=self.output_name)
            self.ax_, self.figure_ = ax, ax.figure
        else:
            self._pairs(ax, names, kwargs)
        return self

    def _pairs(self, ax: Any, names: list[str], kwargs: dict[str, Any]) -> None:
        dz = len(names)
        if dz == 2:
            axes = np.array([[single_axes(ax)]])
        else:
            axes = grid_of_axes(ax, dz - 1, dz - 1, (2.6, 2.4))
        low, high = np.quantile(self.y, [0.01, 0.99])
        look = {"s": 12, "cmap": "viridis", "vmin": low, "vmax": high, "lw": 0} | kwargs
        panels = [(axes[j - 1, i], i, j) for i, j in combinations(range(dz), 2)]
        self.artists_ = []
        for panel, i, j in panels:
            self.artists_.append(panel.scatter(self.Z[:, i], self.Z[:, j], c=self.y, **look))
            panel.set(xlabel=names[i] if j == dz - 1 else "", ylabel=names[j] if i == 0 else "")
        used = [panel for panel, _, _ in panels]
        for panel in set(axes.ravel()) - set(used):
            panel.set_axis_off()
        figure = used[0].figure
        figure.colorbar(self.artists_[0], ax=used, label=self.output_name, extend="both")
        self.ax_, self.figure_ = (used[0] if dz == 2 else np.array(used)), figure
