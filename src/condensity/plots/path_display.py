"""How a model was searched for: its starts, or the numbers of directions it tried."""

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
class Path:
    """One line of the picture."""

    x: Array  # (k,)
    y: Array  # (k,) what is minimised
    name: str = ""
    filled: Any = (
        True  # bool or (k,): whether a point counts in the answer, or a search came to rest
    )


class PathDisplay:
    """What a fitted estimator knows of its search, the lower the better.

    For ``LSCE.as_published()`` and ``LSMI`` the value after each step from every start, and the
    start that won; a hollow end was still moving.  The value may jump where bandwidths were
    selected anew.  For ``LSCE`` and ``Reduced`` the cross-validated loss of each number of
    directions, by location; hollow points have no weight in the average.

    Parameters
    ----------
    paths : sequence of Path
    chosen : (int, int)
        The path, and the point on it, that the model is.
    x_name, y_name : str
        What the axes are called.
    points : bool
        Whether every point is a model of its own, or only the last of each path.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last drawing.
    lines_ : list of Line2D
        One for each path.
    chosen_ : Line2D
        The mark of what was chosen.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> from condensity import LSMI
    >>> from condensity.datasets import toy_b
    >>> from condensity.plots import PathDisplay
    >>> X, y = toy_b().sample(60, random_state=0)
    >>> model = LSMI(1, n_starts=3, bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y)
    >>> len(PathDisplay.from_estimator(model).paths)
    3
    """

    def __init__(
        self,
        paths: Sequence[Path],
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
        estimator : fitted LSCE, PublishedLSCE, LSMI or Reduced
        n_components : int, optional
            Show the starts with so many directions; those of the model when None.  Only for models
            that keep their starts.
        ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        PathDisplay
        """
        check_is_fitted(estimator)
        if hasattr(estimator, "history_"):
            return cls._of_starts(estimator, n_components).plot(ax=ax, **kwargs)
        if "param_n_components" not in getattr(estimator, "cv_results_", {}):
            raise TypeError(
                f"{type(estimator).__name__} keeps nothing of a search: "
                "pass a fitted LSCE, LSMI or Reduced"
            )
        if n_components is not None:
            raise ValueError(
                f"{type(estimator).__name__} keeps no starts, so n_components={n_components} "
                "cannot be shown by itself: leave it out"
            )
        return cls._of_dimensions(estimator).plot(ax=ax, **kwargs)

    @classmethod
    def _of_starts(cls, estimator: Any, n_components: int | None) -> Self:
        wanted = estimator.n_components_ if n_components is None else n_components
        tried = sorted({start.n_components for start in estimator.history_})
        if wanted not in tried:
            check_count("n_components", wanted, low=tried[0], high=tried[-1], why=" that was tried")
        starts = [start for start in estimator.history_ if start.n_components == wanted]
        paths = [
            Path(np.arange(len(s.values), dtype=float), s.values, filled=s.stop == "converged")
            for s in starts
        ]
        best = int(np.argmin([start.value for start in starts]))
        value = "SCE" if hasattr(estimator, "sce_") else "−1/2 − SMI"
        chosen, x_name = (best, len(paths[best].x) - 1), "steps of the search"
        return cls(paths, chosen, x_name=x_name, y_name=value, points=False)

    @classmethod
    def _of_dimensions(cls, estimator: Any) -> Self:
        table = estimator.cv_results_
        loss = -np.asarray(table["mean_test_score"], dtype=float)
        if not np.isfinite(loss).any():
            raise ValueError(
                f"{type(estimator).__name__} had nothing to choose, so no loss was measured: "
                "fit with n_components='auto'"
            )
        dz = np.asarray(table["param_n_components"])
        location = np.asarray(table.get("param_location", np.full(len(dz), "")))
        counts = np.asarray(table.get("weight", np.ones(len(dz)))) > 0
        paths = []
        for name in dict.fromkeys(location.tolist()):
            rows = np.flatnonzero(location == name)
            rows = rows[np.argsort(dz[rows], kind="stable")]
            paths.append(Path(dz[rows], loss[rows], name, counts[rows]))
        best = int(np.argmax(table.get("is_best", dz == estimator.n_components_)))
        line = next(k for k, path in enumerate(paths) if path.name == location[best])
        point = int(np.flatnonzero(paths[line].x == dz[best])[0])
        y_name = "loss at samples held out"
        return cls(paths, (line, point), x_name="number of directions", y_name=y_name)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
        **kwargs
            For the lines.

        Returns
        -------
        self
        """
        ax = single_axes(ax)
        line, point = self.chosen
        self.lines_ = []
        for k, path in enumerate(self.paths):
            ink = COLORS[k % len(COLORS)] if self.points else COLORS[0] if k == line else PALE
            front = 3 if k == line else 2
            label = f"location {path.name}" if path.name else None
            look = {"color": ink, "lw": 1.2, "zorder": front, "label": label} | kwargs
            self.lines_ += ax.plot(path.x, path.y, **look)
            self._mark(ax, path, str(look["color"]), front + 0.5)
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

    def _mark(self, ax: Any, path: Path, ink: str, zorder: float) -> None:
        """Points that are models, hollow where they do not count."""
        shown = slice(None) if self.points else slice(-1, None)
        faces = np.where(np.broadcast_to(path.filled, path.x.shape)[shown], ink, "white")
        x, y = path.x[shown], path.y[shown]
        ax.scatter(x, y, s=28, c=faces, edgecolor=ink, zorder=zorder)
