"""p(y|z) or p(y|x_j) as a heat map or as ridgelines."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from condensity._typing import Array
from condensity._utils.parameters import check_count, check_option
from condensity.distributions.base import Distribution
from condensity.plots.canvas import COLORS, INTENSITY, draw_samples, robust_range, single_axes
from condensity.plots.scan import Scan, rows_in_order, scan


class ConditionalDensityDisplay:
    """Conditional densities p(y|z) or p(y|x_j) side by side.

    The plot shows how the whole density of y changes, not only its mean.

    Parameters
    ----------
    positions : ndarray of shape (g,)
        Horizontal positions of the densities, increasing.
    grid : ndarray of shape (G,)
        Values of y.
    density : ndarray of shape (g, G)
        Densities at the values of y.
    along : ndarray of shape (n,), default=None
        Horizontal positions of samples.  None: no samples are drawn.
    y : ndarray of shape (n,), default=None
        Outputs of the samples.  None: no samples are drawn.
    position_name : str, default="z"
        Label of the horizontal axis.
    output_name : str, default="y"
        Label of the vertical axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.
    artists_ : QuadMesh or list of PolyCollection
        The heat map, or the ridges.

    See Also
    --------
    FanDisplay : Central intervals instead of densities.
    plot_density : A heat map of p(y|z) in one call.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.plots import ConditionalDensityDisplay
    >>> X, y = toy_b().sample(60, random_state=0)
    >>> model = LSCDE(bandwidth=0.4, penalty=0.01, random_state=0).fit(X, y)
    >>> display = ConditionalDensityDisplay.from_estimator(model, X, y, feature=1)
    >>> display.density.shape, display.ax_.get_xlabel()
    ((200, 300), 'x2 (others at their medians)')
    """

    def __init__(
        self,
        positions: Array,
        grid: Array,
        density: Array,
        *,
        along: Array | None = None,
        y: Array | None = None,
        position_name: str = "z",
        output_name: str = "y",
    ) -> None:
        self.positions = positions
        self.grid = grid
        self.density = density
        self.along = along
        self.y = y
        self.position_name = position_name
        self.output_name = output_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        component: int | None = None,
        feature: int | str | None = None,
        at: Any = None,
        output: int = 0,
        n_positions: int = 200,
        n_grid: int = 300,
        kind: str = "heatmap",
        n_ridges: int = 9,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw p(y|z) along one direction of a fitted reducer, or p(y|x) along one feature.

        Parameters
        ----------
        estimator : estimator
            Fitted estimator of densities, or a pipeline or search that ends in one.
        X : array-like of shape (n, dx)
            Samples.  The plot covers their range without the most extreme 1 %.
        y : array-like of shape (n,) or (n, dy), default=None
            Outputs of the samples, drawn over the densities.  None: no samples are drawn.
        component : int, default=None
            Index of the direction z to draw along, from 0; the other directions have their means.
            None with several directions: the direction in the space of z along which the
            conditional mean changes most.
        feature : int or str, default=None
            Column of X to draw along instead, by index from 0 or by name.
        at : mapping or array-like of shape (dx,), default=None
            Values of the other features: a mapping from some of them, by index or name, or all
            values.  Features without a value have their medians.
        output : int, default=0
            Index of the output, from 0.  With several outputs, its marginal density is drawn.
        n_positions : int, default=200
            Number of densities along the horizontal axis.
        n_grid : int, default=300
            Number of values of y.
        kind : {"heatmap", "ridgelines"}, default="heatmap"
            Heat map of the density, or some densities as curves.
        n_ridges : int, default=9
            Number of curves for ``kind="ridgelines"``.
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``pcolormesh`` (heat map) or ``fill_betweenx``
            (ridgelines).

        Returns
        -------
        display : ConditionalDensityDisplay
            The drawn display.

        See Also
        --------
        from_predictions : Draw predicted densities.
        """
        n = check_count("n_positions", n_positions, low=2)
        options = {"component": component, "feature": feature, "at": at, "output": output}
        display = cls._from_scan(scan(estimator, X, y, n_positions=n, **options), n_grid)
        return display.plot(ax=ax, kind=kind, n_ridges=n_ridges, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        dist: Distribution,
        *,
        x: Any = None,
        x_name: str = "x",
        output: int = 0,
        n_grid: int = 300,
        kind: str = "heatmap",
        n_ridges: int = 9,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw predicted densities in the order of ``x``, or in the order of the rows.

        Densities with the same value of ``x`` are averaged.

        Parameters
        ----------
        y : array-like of shape (m,) or (m, dy), or None
            Samples to draw over the densities.  None: no samples are drawn.
        dist : Distribution
            Densities of m rows, as returned by ``predict_dist``.
        x : array-like of shape (m,), default=None
            Horizontal positions of the densities.  None: the numbers of the rows.
        x_name : str, default="x"
            Label of the horizontal axis if ``x`` has no name.
        output : int, default=0
            Index of the output, from 0.  With several outputs, its marginal density is drawn.
        n_grid : int, default=300
            Number of values of y.
        kind : {"heatmap", "ridgelines"}, default="heatmap"
            Heat map of the density, or some densities as curves.
        n_ridges : int, default=9
            Number of curves for ``kind="ridgelines"``.
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``pcolormesh`` (heat map) or ``fill_betweenx``
            (ridgelines).

        Returns
        -------
        display : ConditionalDensityDisplay
            The drawn display.

        See Also
        --------
        from_estimator : Draw the densities of an estimator along a direction or a feature.

        Examples
        --------
        >>> import matplotlib as mpl
        >>> mpl.use("Agg")
        >>> from condensity import LSCDE
        >>> from condensity.datasets import toy_b
        >>> from condensity.plots import ConditionalDensityDisplay
        >>> X, y = toy_b().sample(100, random_state=0)
        >>> model = LSCDE(bandwidth=0.4, penalty=0.01, random_state=0).fit(X[:60], y[:60])
        >>> dist, x2 = model.predict_dist(X[60:]), X[60:, 1]
        >>> display = ConditionalDensityDisplay.from_predictions(y[60:], dist, x=x2)
        >>> display.density.shape
        (40, 300)
        """
        display = cls._from_scan(rows_in_order(y, dist, x, x_name, output), n_grid)
        return display.plot(ax=ax, kind=kind, n_ridges=n_ridges, **kwargs)

    @classmethod
    def _from_scan(cls, line: Scan, n_grid: int) -> Self:
        values = line.dist.quantile([0.005, 0.995]).ravel() if line.y is None else line.y
        grid = np.linspace(*robust_range(values), check_count("n_grid", n_grid, low=2))
        positions, which = np.unique(line.positions, return_inverse=True)
        heights = np.zeros((len(positions), len(grid)))
        np.add.at(heights, which, line.dist.pdf_on(grid))
        density = heights / np.bincount(which)[:, None]
        names = {"position_name": line.position_name, "output_name": line.output_name}
        return cls(positions, grid, density, along=line.along, y=line.y, **names)

    def plot(
        self, ax: Any = None, *, kind: str = "heatmap", n_ridges: int = 9, **kwargs: Any
    ) -> Self:
        """Draw the densities and the samples.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        kind : {"heatmap", "ridgelines"}, default="heatmap"
            Heat map of the density, or some densities as curves.
        n_ridges : int, default=9
            Number of curves for ``kind="ridgelines"``.  Each is drawn to the right of its position.
        **kwargs : dict
            Keyword arguments of matplotlib's ``pcolormesh`` (heat map) or ``fill_betweenx``
            (ridgelines).

        Returns
        -------
        self : ConditionalDensityDisplay
            The display.

        See Also
        --------
        from_estimator : Compute and draw densities along a direction or a feature.
        from_predictions : Draw predicted densities.
        """
        check_option("kind", kind, ("heatmap", "ridgelines"))
        ax = single_axes(ax)
        if kind == "heatmap":
            # A few sharp peaks must not make all other densities look empty.
            top = np.quantile(self.density.max(axis=1), 0.9)
            style = {"vmin": 0, "vmax": top, "cmap": INTENSITY, "rasterized": True} | kwargs
            self.artists_ = ax.pcolormesh(self.positions, self.grid, self.density.T, **style)
        else:
            self.artists_ = self._ridges(ax, check_count("n_ridges", n_ridges, low=1), kwargs)
        draw_samples(ax, self.along, self.y)
        room = 0.0 if kind == "heatmap" else self._ridge_width(n_ridges)
        ax.set(
            xlabel=self.position_name,
            ylabel=self.output_name,
            xlim=(self.positions[0], self.positions[-1] + room),
            ylim=(self.grid[0], self.grid[-1]),
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _ridge_width(self, n_ridges: int) -> float:
        """Horizontal space for one ridge."""
        return float(self.positions[-1] - self.positions[0]) / max(n_ridges - 1, 1) or 1.0

    def _ridges(self, ax: Any, n_ridges: int, kwargs: dict[str, Any]) -> list[Any]:
        chosen = np.unique(np.linspace(0, len(self.positions) - 1, n_ridges).round().astype(int))
        highest = self.density[chosen].max()
        style = {"color": COLORS[0], "alpha": 0.35, "lw": 0} | kwargs
        ridges = []
        for i in chosen:
            foot, height = self.positions[i], self.density[i] / highest
            edge = foot + 0.9 * self._ridge_width(n_ridges) * height
            ridges.append(ax.fill_betweenx(self.grid, foot, edge, **style))
            outline = np.where(height > 0.01, edge, np.nan)  # no line where the density vanishes
            ax.plot(outline, self.grid, color=style["color"], lw=1)
        return ridges


def plot_density(model: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """Draw p(y|z) as a heat map under the samples.

    Short for ``ConditionalDensityDisplay.from_estimator(model, X, y, ax=ax).ax_``.

    Parameters
    ----------
    model : estimator
        Fitted LSCE, or another fitted estimator of densities that finds directions z.
    X : array-like of shape (n, dx)
        Inputs of the samples.
    y : array-like of shape (n,) or (n, dy)
        Outputs of the samples.  With several outputs, the first one is drawn.
    ax : matplotlib Axes, default=None
        Axes to draw on.  None: the axes of a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot.

    See Also
    --------
    ConditionalDensityDisplay : The same plot with all options.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> from condensity import LSCDE, SIR, Reduced
    >>> from condensity.datasets import toy_b
    >>> from condensity.plots import plot_density
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = Reduced(SIR(), LSCDE(bandwidth=0.4, penalty=0.01, random_state=0)).fit(X, y)
    >>> plot_density(model, X, y).get_xlabel()
    'z'
    """
    return ConditionalDensityDisplay.from_estimator(model, X, y, ax=ax).ax_
