"""Densities with bands that show how sure they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from condensity.inspection import Bootstrap, DensityBand, member_band
from condensity.plots.canvas import COLORS, single_axes

#: The fits that a band is taken over, in words.
FITS = {"members": "members", "bootstrap": "bootstrap fits"}
#: Most densities in one picture.
MOST_ROWS = 7


class DensityBandDisplay:
    """Densities of a few rows with pointwise bands.

    Parameters
    ----------
    band : DensityBand
        The densities and their bands.
    names : sequence of str, default=None
        Names of the rows in the legend.
    output_name : str, default="y"
        Name of the output.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.
    lines_ : list of Line2D
        The densities.
    bands_ : list of PolyCollection
        The bands.

    See Also
    --------
    condensity.inspection.member_band : Bands over the members of a model.
    condensity.inspection.Bootstrap.density_band : Bands over fits to resampled data.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> import numpy as np
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.inspection import bootstrap
    >>> from condensity.plots import DensityBandDisplay
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = LSCDE(bandwidth=0.3, penalty=0.01, random_state=0).fit(X, y)
    >>> fits = bootstrap(model, X, y, n_resamples=20, random_state=0)
    >>> display = DensityBandDisplay.from_estimator(fits, X[:2], np.linspace(-2, 2, 50))
    >>> len(display.bands_)
    2
    """

    def __init__(
        self, band: DensityBand, *, names: Sequence[str] | None = None, output_name: str = "y"
    ) -> None:
        self.band = band
        self.names = names
        self.output_name = output_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        grid: ArrayLike,
        *,
        level: float = 0.9,
        output: int = 0,
        names: Sequence[str] | None = None,
        output_name: str = "y",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Compute the bands of a model or of bootstrap fits and draw them.

        Parameters
        ----------
        estimator : Bootstrap or estimator
            Fits to resampled data, or a fitted ``LSCE``, whose members give the bands.
        X : array-like of shape (m, dx)
            Inputs, at most seven rows.
        grid : array-like of shape (G,)
            Values of y.
        level : float, default=0.9
            Share of the fits in the band, at every point.
        output : int, default=0
            Index of the output.
        names : sequence of str, default=None
            Names of the rows in the legend.
        output_name : str, default="y"
            Name of the output.
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``plot``.

        Returns
        -------
        display : DensityBandDisplay
            The drawn display.

        See Also
        --------
        plot : Draw the same bands again.
        """
        of = estimator.density_band if isinstance(estimator, Bootstrap) else None
        options: dict[str, Any] = {"level": level, "output": output}
        band = member_band(estimator, X, grid, **options) if of is None else of(X, grid, **options)
        return cls(band, names=names, output_name=output_name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the densities and their bands.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``plot``.

        Returns
        -------
        self : DensityBandDisplay
            The display.

        See Also
        --------
        from_estimator : Compute and draw bands.
        """
        band = self.band
        if len(band.pdf) > MOST_ROWS:
            raise ValueError(
                f"at most {MOST_ROWS} densities can be told apart in one picture, got "
                f"{len(band.pdf)}: pass fewer rows of X"
            )
        ax = single_axes(ax)
        order = np.argsort(band.grid, kind="stable")
        self.lines_, self.bands_ = [], []
        for i, (pdf, lower, upper) in enumerate(zip(band.pdf, band.lower, band.upper, strict=True)):
            color = COLORS[i]
            name = None if self.names is None else self.names[i]
            style = {"color": color, "label": name} | kwargs
            ends = lower[order], upper[order]
            self.bands_.append(
                ax.fill_between(band.grid[order], *ends, color=color, alpha=0.2, lw=0)
            )
            self.lines_ += ax.plot(band.grid[order], pdf[order], **style)
        ax.set(
            xlabel=self.output_name,
            ylabel=f"p({self.output_name} | x)",
            ylim=(0, None),
            title=f"{band.level:.0%} of the {FITS[band.source]}",
        )
        if self.names is not None:
            ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
