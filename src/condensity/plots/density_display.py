"""p(y|z) or p(y|x_j) as a heat map or as ridgelines."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from condensity._typing import Array
from condensity._utils.parameters import check_count, check_option
from condensity.distributions.base import Distribution
from condensity.plots.canvas import COLORS, INTENSITY, almost_all, draw_samples, single_axes
from condensity.plots.scan import Scan, rows_in_order, scan


class ConditionalDensityDisplay:
    """Conditional densities side by side: how all of p(y|·) moves, not only its mean.

    Parameters
    ----------
    positions : (g,)
        Where on the abscissa each density belongs, increasing.
    grid : (G,)
        Values of y.
    density : (g, G)
        Densities at the values of y.
    along, y : (n,), optional
        Samples to draw over them.
    position_name, output_name : str
        What the axes are called.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last drawing.
    artists_ : QuadMesh, or list of PolyCollection
        The heat map, or the ridges.

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
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw p(y|z) over one direction of a fitted reducer, or p(y|x) over one feature.

        Parameters
        ----------
        estimator : fitted estimator of densities, or a pipeline or search that ends in one
        X : array-like (n, dx)
            Samples, which say where to draw.
        y : array-like (n,) or (n, dy), optional
            Drawn over the densities.
        component : int, optional
            Direction of z to draw over, the others at their mean.  When None and there are
            several, it is the direction of z along which the conditional mean changes most.
        feature : int or str, optional
            Column of X to draw over instead.
        at : None, mapping or array-like (dx,)
            Values of the other features, for some by index or name, or for all; else medians.
        output : int, default=0
            Which of several outputs: its marginal density is drawn.
        n_positions, n_grid : int
            Fineness of the picture.
        kind, ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        ConditionalDensityDisplay
        """
        n = check_count("n_positions", n_positions, low=2)
        options = {"component": component, "feature": feature, "at": at, "output": output}
        found = scan(estimator, X, y, n_positions=n, **options)
        return cls._of(found, n_grid).plot(ax=ax, kind=kind, **kwargs)

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
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw densities that were predicted, in the order of ``x`` (m,) or of the rows.

        Densities that share their x are averaged.  ``y`` are the samples or None; all else is as
        in :meth:`from_estimator`.
        """
        found = rows_in_order(y, dist, x, x_name, output)
        return cls._of(found, n_grid).plot(ax=ax, kind=kind, **kwargs)

    @classmethod
    def _of(cls, found: Scan, n_grid: int) -> Self:
        ends = found.dist.quantile([0.005, 0.995]).ravel() if found.y is None else found.y
        grid = np.linspace(*almost_all(ends), check_count("n_grid", n_grid, low=2))
        positions, which = np.unique(found.positions, return_inverse=True)
        heights = np.zeros((len(positions), len(grid)))
        np.add.at(heights, which, found.dist.pdf_on(grid))
        density = heights / np.bincount(which)[:, None]
        names = {"position_name": found.position_name, "output_name": found.output_name}
        return cls(positions, grid, density, along=found.along, y=found.y, **names)

    def plot(
        self, ax: Any = None, *, kind: str = "heatmap", n_ridges: int = 9, **kwargs: Any
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
        kind : {"heatmap", "ridgelines"}, default="heatmap"
        n_ridges : int, default=9
            Number of ridges, each a density drawn to the right of where it belongs.
        **kwargs
            For matplotlib's ``pcolormesh`` or ``fill_betweenx``.

        Returns
        -------
        self
        """
        check_option("kind", kind, ("heatmap", "ridgelines"))
        ax = single_axes(ax)
        if kind == "heatmap":
            # A few sharp peaks must not make all the rest look empty.
            top = np.quantile(self.density.max(axis=1), 0.9)
            look = {"vmin": 0, "vmax": top, "cmap": INTENSITY, "rasterized": True} | kwargs
            self.artists_ = ax.pcolormesh(self.positions, self.grid, self.density.T, **look)
        else:
            self.artists_ = self._ridges(ax, check_count("n_ridges", n_ridges, low=1), kwargs)
        draw_samples(ax, self.along, self.y)
        room = 0.0 if kind == "heatmap" else self._step(n_ridges)
        ax.set(
            xlabel=self.position_name,
            ylabel=self.output_name,
            xlim=(self.positions[0], self.positions[-1] + room),
            ylim=(self.grid[0], self.grid[-1]),
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _step(self, n_ridges: int) -> float:
        """Room for one ridge."""
        return float(self.positions[-1] - self.positions[0]) / max(n_ridges - 1, 1) or 1.0

    def _ridges(self, ax: Any, n_ridges: int, kwargs: dict[str, Any]) -> list[Any]:
        chosen = np.unique(np.linspace(0, len(self.positions) - 1, n_ridges).round().astype(int))
        widest = self.density[chosen].max()
        look = {"color": COLORS[0], "alpha": 0.35, "lw": 0} | kwargs
        ridges = []
        for i in chosen:
            foot, height = self.positions[i], self.density[i] / widest
            edge = foot + 0.9 * self._step(n_ridges) * height
            ridges.append(ax.fill_betweenx(self.grid, foot, edge, **look))
            outline = np.where(height > 0.01, edge, np.nan)  # no line where there is nothing
            ax.plot(outline, self.grid, color=look["color"], lw=1)
        return ridges


def plot_density(model: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """Draw p(y|z) as a heat map under the samples: a short ``ConditionalDensityDisplay``.

    Parameters
    ----------
    model : fitted LSCE, or another estimator of densities that finds directions
    X, y : samples to draw
    ax : matplotlib axes, optional

    Returns
    -------
    ax
    """
    return ConditionalDensityDisplay.from_estimator(model, X, y, ax=ax).ax_
