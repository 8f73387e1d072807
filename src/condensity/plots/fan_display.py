"""Central intervals of y for several probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from condensity._typing import Array
from condensity._utils.extras import require
from condensity._utils.parameters import check_count
from condensity.distributions._checks import probability
from condensity.distributions.base import Distribution
from condensity.plots.canvas import COLORS, draw_samples, single_axes
from condensity.plots.scan import Scan, rows_in_order, scan


class FanDisplay:
    """Fan chart: central intervals of several probabilities around the median.

    The central interval of probability c lies between the quantiles (1 - c)/2 and (1 + c)/2.

    Parameters
    ----------
    positions : ndarray of shape (g,)
        Horizontal positions, increasing.
    median : ndarray of shape (g,)
        Medians of y.
    bands : ndarray of shape (k, g, 2)
        Lower and upper ends of the intervals.
    levels : ndarray of shape (k,)
        Probabilities of the intervals.
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
    bands_ : list of PolyCollection
        The bands, the widest first.
    median_ : Line2D
        The line of the medians.

    See Also
    --------
    ConditionalDensityDisplay : The densities themselves, which show several modes.
    CalibrationDisplay : How often central intervals contain new samples.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> from condensity.datasets import toy_b
    >>> from condensity.plots import FanDisplay
    >>> X, y = toy_b().sample(60, random_state=0)
    >>> display = FanDisplay.from_predictions(y, toy_b().conditional(X), x=X[:, 1])
    >>> display.bands.shape
    (3, 60, 2)
    """

    def __init__(
        self,
        positions: Array,
        median: Array,
        bands: Array,
        levels: Array,
        *,
        along: Array | None = None,
        y: Array | None = None,
        position_name: str = "z",
        output_name: str = "y",
    ) -> None:
        self.positions = positions
        self.median = median
        self.bands = bands
        self.levels = levels
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
        levels: Sequence[float] = (0.5, 0.8, 0.95),
        n_positions: int = 200,
        legend: bool = True,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the intervals along one direction of a fitted reducer, or along one feature.

        Parameters
        ----------
        estimator : estimator
            Fitted estimator of densities, or a pipeline or search that ends in one.
        X : array-like of shape (n, dx)
            Samples.  The plot covers their range without the most extreme 1 %.
        y : array-like of shape (n,) or (n, dy), default=None
            Outputs of the samples, drawn over the intervals.  None: no samples are drawn.
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
            Index of the output, from 0.  With several outputs, the intervals are those of its
            marginal density.
        levels : sequence of float, default=(0.5, 0.8, 0.95)
            Probabilities of the central intervals.
        n_positions : int, default=200
            Number of positions along the horizontal axis.
        legend : bool, default=True
            Whether to draw a legend with the probabilities.
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``fill_between``.

        Returns
        -------
        display : FanDisplay
            The drawn display.

        See Also
        --------
        from_predictions : Draw the intervals of predicted densities.

        Examples
        --------
        >>> import matplotlib as mpl
        >>> mpl.use("Agg")
        >>> from condensity import LSCDE
        >>> from condensity.datasets import toy_b
        >>> from condensity.plots import FanDisplay
        >>> X, y = toy_b().sample(100, random_state=0)
        >>> model = LSCDE(bandwidth=0.4, penalty=0.01, random_state=0).fit(X[:60], y[:60])
        >>> display = FanDisplay.from_estimator(model, X, y, feature=1, levels=[0.9])
        >>> display.bands.shape
        (1, 200, 2)
        """
        n = check_count("n_positions", n_positions, low=2)
        options = {"component": component, "feature": feature, "at": at, "output": output}
        display = cls._from_scan(scan(estimator, X, y, n_positions=n, **options), levels)
        return display.plot(ax=ax, legend=legend, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        dist: Distribution,
        *,
        x: Any = None,
        x_name: str = "x",
        output: int = 0,
        levels: Sequence[float] = (0.5, 0.8, 0.95),
        legend: bool = True,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the intervals of predicted densities in the order of ``x``, or of the rows.

        Parameters
        ----------
        y : array-like of shape (m,) or (m, dy), or None
            Samples to draw over the intervals.  None: no samples are drawn.
        dist : Distribution
            Densities of m rows, as returned by ``predict_dist``.
        x : array-like of shape (m,), default=None
            Horizontal positions of the densities.  None: the numbers of the rows.
        x_name : str, default="x"
            Label of the horizontal axis if ``x`` has no name.
        output : int, default=0
            Index of the output, from 0.  With several outputs, the intervals are those of its
            marginal density.
        levels : sequence of float, default=(0.5, 0.8, 0.95)
            Probabilities of the central intervals.
        legend : bool, default=True
            Whether to draw a legend with the probabilities.
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``fill_between``.

        Returns
        -------
        display : FanDisplay
            The drawn display.

        See Also
        --------
        from_estimator : Draw the intervals of an estimator along a direction or a feature.
        """
        display = cls._from_scan(rows_in_order(y, dist, x, x_name, output), levels)
        return display.plot(ax=ax, legend=legend, **kwargs)

    @classmethod
    def _from_scan(cls, line: Scan, levels: Sequence[float]) -> Self:
        probabilities = np.sort([probability(level) for level in np.atleast_1d(levels)])
        k, tails = len(probabilities), (1 - probabilities) / 2
        quantiles = line.dist.quantile(np.concatenate([[0.5], tails, 1 - tails]))
        bands = np.stack([quantiles[:, 1 : k + 1].T, quantiles[:, k + 1 :].T], axis=-1)
        names = {"position_name": line.position_name, "output_name": line.output_name}
        median, along, y = quantiles[:, 0], line.along, line.y
        return cls(line.positions, median, bands, probabilities, along=along, y=y, **names)

    def plot(self, ax: Any = None, *, legend: bool = True, **kwargs: Any) -> Self:
        """Draw the intervals, the median and the samples.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        legend : bool, default=True
            Whether to draw a legend with the probabilities.
        **kwargs : dict
            Keyword arguments of matplotlib's ``fill_between``.

        Returns
        -------
        self : FanDisplay
            The display.

        See Also
        --------
        from_estimator : Compute and draw intervals along a direction or a feature.
        from_predictions : Draw the intervals of predicted densities.
        """
        ax = single_axes(ax)
        color = kwargs.pop("color", COLORS[0])
        # The bands overlap, so equal opacities add up to darker inner bands.
        opacity = 1 - 0.35 ** (1 / len(self.levels))
        self.bands_ = [
            ax.fill_between(
                self.positions,
                *self.bands[k].T,
                **{"color": color, "alpha": opacity, "lw": 0, "label": f"{self.levels[k]:.4g}"}
                | kwargs,
            )
            for k in np.argsort(-np.asarray(self.levels))
        ]
        (self.median_,) = ax.plot(self.positions, self.median, color=color, lw=1.5, label="median")
        draw_samples(ax, self.along, self.y)
        ax.set(xlabel=self.position_name, ylabel=self.output_name)
        ax.margins(x=0)
        if legend:
            self._legend(ax, opacity)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _legend(self, ax: Any, opacity: float) -> None:
        """Draw a legend whose patches have the opacity of the overlapping bands."""
        patch = require("matplotlib.patches", "plots").Patch
        handles, labels = ax.get_legend_handles_labels()
        for i, band in enumerate(self.bands_):
            total = 1 - (1 - opacity) ** (i + 1)
            color = band.get_facecolor()[0, :3]
            handles[handles.index(band)] = patch(color=color, alpha=total, lw=0)
        ax.legend(handles, labels, title="probability", frameon=False, fontsize="small")
