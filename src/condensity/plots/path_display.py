"""The search of a fitted model: its starts, or the numbers of directions that it tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array
from condensity._utils.parameters import check_count
from condensity.plots.canvas import COLORS, PALE, single_axes


@dataclass(frozen=True, eq=False)
class SearchPath:
    """One line of the plot.

    Parameters
    ----------
    x : ndarray of shape (k,)
        Steps of a search, or numbers of directions.
    y : ndarray of shape (k,)
        The minimised values.
    name : str, default=""
        Name in the legend.
    filled : bool or ndarray of shape (k,), default=True
        Whether markers are filled: the search converged, or the point has a weight in the average.

    See Also
    --------
    PathDisplay : The plot of all paths.
    """

    x: Array
    y: Array
    name: str = ""
    filled: Any = True


class PathDisplay:
    """Search of a fitted estimator: the minimised value along its paths.

    For ``LSCE.as_published()`` and ``LSMI``, each path is one start of the search and shows the
    value after each step.  A hollow end means that the search had not converged.  The value may
    jump where bandwidths were selected again.  For ``LSCE`` and ``Reduced``, a path shows the
    cross-validated loss for each number of directions, one path for each location.  Hollow points
    have no weight in the average.  A circle marks the selected start or point.

    Parameters
    ----------
    paths : sequence of SearchPath
        Lines to draw.
    chosen : tuple of (int, int)
        Index of the selected path, and of the selected point on it.
    x_name : str
        Label of the horizontal axis.
    y_name : str
        Label of the vertical axis.
    points : bool, default=True
        Whether to mark every point of a path, or only the last one.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.
    lines_ : list of Line2D
        One line for each path.
    chosen_ : Line2D
        The circle around the selected point.

    See Also
    --------
    LoadingsDisplay : The directions at the end of the search.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.
    .. [2] T. Suzuki, M. Sugiyama, "Sufficient dimension reduction via squared-loss mutual
       information estimation," Neural Computation 25(3), 2013.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> from condensity import LSMI
    >>> from condensity.datasets import toy_b
    >>> from condensity.plots import PathDisplay
    >>> X, y = toy_b().sample(60, random_state=0)
    >>> model = LSMI(1, n_starts=3, bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y)
    >>> len(PathDisplay.from_estimator(model).paths)  # three random starts and four others
    7
    """

    def __init__(
        self,
        paths: Sequence[SearchPath],
        chosen: tuple[int, int],
        *,
        x_name: str,
        y_name: str,
        points: bool = True,
    ) -> None:
        self.paths = paths
        self.chosen = chosen
        self.x_name = x_name
        self.y_name = y_name
        self.points = points

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_components: int | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the search of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            Fitted LSCE, LSCE.as_published(), LSMI or Reduced.
        n_components : int, default=None
            Number of directions whose starts are drawn.  None: that of the model.  Only for
            LSCE.as_published() and LSMI.
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``plot`` for the lines.

        Returns
        -------
        display : PathDisplay
            The drawn display.

        See Also
        --------
        plot : Draw the same paths again.
        """
        check_is_fitted(estimator)
        if hasattr(estimator, "history_"):
            return cls._from_starts(estimator, n_components).plot(ax=ax, **kwargs)
        if "param_n_components" not in getattr(estimator, "cv_results_", {}):
            raise TypeError(
                f"{type(estimator).__name__} stores no search to draw: "
                "pass a fitted LSCE, LSMI or Reduced"
            )
        if n_components is not None:
            raise ValueError(
                f"{type(estimator).__name__} does not store its starts, so "
                f"n_components={n_components} cannot be selected: leave n_components out"
            )
        return cls._from_dimensions(estimator).plot(ax=ax, **kwargs)

    @classmethod
    def _from_starts(cls, estimator: Any, n_components: int | None) -> Self:
        dz = estimator.n_components_ if n_components is None else n_components
        tried = sorted({start.n_components for start in estimator.history_})
        if dz not in tried:
            check_count("n_components", dz, low=tried[0], high=tried[-1], why=" that was tried")
        starts = [start for start in estimator.history_ if start.n_components == dz]
        paths = [
            SearchPath(
                np.arange(len(s.values), dtype=float), s.values, filled=s.stop == "converged"
            )
            for s in starts
        ]
        # Files of older versions do not say which start was chosen.
        best = min(range(len(starts)), key=lambda k: (not starts[k].chosen, starts[k].value))
        value = "SCE" if hasattr(estimator, "sce_") else "−1/2 − SMI"
        chosen, x_name = (best, len(paths[best].x) - 1), "steps of the search"
        return cls(paths, chosen, x_name=x_name, y_name=value, points=False)

    @classmethod
    def _from_dimensions(cls, estimator: Any) -> Self:
        table = estimator.cv_results_
        loss = -np.asarray(table["mean_test_score"], dtype=float)
        if not np.isfinite(loss).any():
            raise ValueError(
                f"{type(estimator).__name__} was fitted with a single candidate, so it has no "
                "cross-validated loss: fit it with n_components='auto'"
            )
        dz = np.asarray(table["param_n_components"])
        location = np.asarray(table.get("param_location", np.full(len(dz), "")))
        has_weight = np.asarray(table.get("weight", np.ones(len(dz)))) > 0
        paths = []
        for name in dict.fromkeys(location.tolist()):
            rows = np.flatnonzero(location == name)
            rows = rows[np.argsort(dz[rows], kind="stable")]
            paths.append(SearchPath(dz[rows], loss[rows], name, has_weight[rows]))
        best = int(np.argmax(table.get("is_best", dz == estimator.n_components_)))
        line = next(k for k, path in enumerate(paths) if path.name == location[best])
        point = int(np.flatnonzero(paths[line].x == dz[best])[0])
        return cls(paths, (line, point), x_name="number of directions", y_name="held-out loss")

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the paths and mark the selected point.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on.  None: the axes of a new figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``plot`` for the lines.

        Returns
        -------
        self : PathDisplay
            The display.

        See Also
        --------
        from_estimator : Draw the search of a fitted estimator.
        """
        ax = single_axes(ax)
        line, point = self.chosen
        self.lines_ = []
        for k, path in enumerate(self.paths):
            color = COLORS[k % len(COLORS)] if self.points else COLORS[0] if k == line else PALE
            zorder = 3 if k == line else 2
            label = f"location {path.name}" if path.name else None
            style = {"color": color, "lw": 1.2, "zorder": zorder, "label": label} | kwargs
            self.lines_ += ax.plot(path.x, path.y, **style)
            self._draw_markers(ax, path, str(style["color"]), zorder + 0.5)
        best = self.paths[line]
        (self.chosen_,) = ax.plot(
            best.x[point], best.y[point], "o", ms=13, mfc="none", mec=COLORS[-1], label="chosen"
        )
        ax.set(xlabel=self.x_name, ylabel=self.y_name)
        ax.xaxis.get_major_locator().set_params(integer=True)
        x = np.concatenate([path.x for path in self.paths])
        if np.ptp(x) < 1:
            ax.set_xticks(np.unique(x))
        ax.legend(frameon=False, fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_markers(self, ax: Any, path: SearchPath, color: str, zorder: float) -> None:
        """Draw the markers of a path, hollow where ``filled`` is false."""
        shown = slice(None) if self.points else slice(-1, None)
        faces = np.where(np.broadcast_to(path.filled, path.x.shape)[shown], color, "white")
        x, y = path.x[shown], path.y[shown]
        ax.scatter(x, y, s=28, c=faces, edgecolor=color, zorder=zorder)
