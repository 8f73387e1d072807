"""Quantile bands: where y lies with given probabilities."""

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
    """Central intervals of several levels around the median, as a fan over positions.

    Parameters
    ----------
    positions : (g,)
        Increasing.
    median : (g,)
    bands : (k, g, 2)
        Lower and upper ends of the intervals.
    levels : (k,)
        Probabilities of the intervals.
    along, y : (n,), optional
        Samples to draw over them.
    position_name, output_name : str
        What the axes are called.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last drawing.
    bands_ : list of PolyCollection
        The widest band first.
    median_ : Line2D

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
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the bands over one direction of a fitted reducer, or over one feature.

        Parameters
        ----------
        estimator, X, y, component, feature, at, output, n_positions
            As in ``ConditionalDensityDisplay.from_estimator``.
        levels : sequence of float, default=(0.5, 0.8, 0.95)
            Probabilities of the central intervals.
        ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        FanDisplay
        """
        n = check_count("n_positions", n_positions, low=2)
        options = {"component": component, "feature": feature, "at": at, "output": output}
        found = scan(estimator, X, y, n_positions=n, **options)
        return cls._of(found, levels).plot(ax=ax, **kwargs)

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
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the bands of densities that were predicted, in the order of ``x`` or of the rows.

        Parameters
        ----------
        y : array-like (m,) or (m, dy), or None
            Samples to draw over the bands.
        dist : m densities, as ``predict_dist`` gives them
        x : array-like (m,), optional
            What to order the rows by; its name is that of the axis, or else ``x_name``.
        output, levels, ax, **kwargs
            As in :meth:`from_estimator`.
        """
        return cls._of(rows_in_order(y, dist, x, x_name, output), levels).plot(ax=ax, **kwargs)

    @classmethod
    def _of(cls, found: Scan, levels: Sequence[float]) -> Self:
        wanted = np.sort([probability(level) for level in np.atleast_1d(levels)])
        tails = (1 - wanted) / 2
        ends = found.dist.quantile(np.concatenate([[0.5], tails, 1 - tails]))
        bands = np.stack([ends[:, 1 : len(wanted) + 1].T, ends[:, len(wanted) + 1 :].T], axis=-1)
        names = {"position_name": found.position_name, "output_name": found.output_name}
        along, y = found.along, found.y
        return cls(found.positions, ends[:, 0], bands, wanted, along=along, y=y, **names)

    def plot(self, ax: Any = None, *, legend: bool = True, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
        legend : bool, default=True
            Say which band holds how much.
        **kwargs
            For matplotlib's ``fill_between``.

        Returns
        -------
        self
        """
        ax = single_axes(ax)
        color = kwargs.pop("color", COLORS[0])
        # Bands lie on one another, so that each only has to add the same ink.
        shade = 1 - 0.35 ** (1 / len(self.levels))
        self.bands_ = [
            ax.fill_between(
                self.positions,
                *self.bands[k].T,
                **{"color": color, "alpha": shade, "lw": 0, "label": f"{self.levels[k]:.4g}"}
                | kwargs,
            )
            for k in np.argsort(-np.asarray(self.levels))
        ]
        (self.median_,) = ax.plot(self.positions, self.median, color=color, lw=1.5, label="median")
        draw_samples(ax, self.along, self.y)
        ax.set(xlabel=self.position_name, ylabel=self.output_name)
        ax.margins(x=0)
        if legend:
            patch = require("matplotlib.patches", "plots").Patch
            handles, labels = ax.get_legend_handles_labels()
            for i, band in enumerate(self.bands_):  # in the ink of all that lie on one another
                ink = {"alpha": 1 - (1 - shade) ** (i + 1), "lw": 0}
                handles[handles.index(band)] = patch(color=band.get_facecolor()[0, :3], **ink)
            ax.legend(handles, labels, title="probability", frameon=False, fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
