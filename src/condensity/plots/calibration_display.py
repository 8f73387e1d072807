"""Whether densities are right: the PIT histogram, and coverage of central intervals."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.stats import binom

from condensity._typing import Array
from condensity._utils.composites import predict_dist
from condensity._utils.parameters import check_count
from condensity._utils.validation import check_same_length
from condensity.distributions._checks import probability
from condensity.distributions.base import Distribution
from condensity.metrics import pit
from condensity.plots.canvas import COLORS, INK, PALE, grid_of_axes, one_column

#: Nominal levels whose coverage is counted.
LEVELS = np.linspace(0.05, 0.95, 19)


class CalibrationDisplay:
    """PIT histogram and coverage, with what chance alone would do if the densities were right.

    ``u_i = F_i(y_i)`` is then uniform: a histogram in the shape of a U means densities that are too
    narrow, a hump that they are too wide, a slope that they lie to one side.  The central interval
    of probability c holds y_i exactly when ``|2 u_i - 1| <= c``.

    Parameters
    ----------
    counts : (n_bins,)
        Numbers of u in bins of equal width.
    levels, coverage : (k,)
        Nominal probabilities of central intervals, and the shares of samples within.
    output_name : str

    Attributes
    ----------
    ax_ : array of two axes
    figure_
    bars_ : BarContainer
        The histogram, as a density.
    coverage_ : Line2D

    Examples
    --------
    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> from condensity.datasets import toy_b
    >>> from condensity.plots import CalibrationDisplay
    >>> X, y = toy_b().sample(500, random_state=0)
    >>> display = CalibrationDisplay.from_predictions(y, toy_b().conditional(X), n_bins=5)
    >>> int(display.counts.sum())
    500
    """

    def __init__(
        self, counts: Array, levels: Array, coverage: Array, *, output_name: str = "y"
    ) -> None:
        self.counts = counts
        self.levels = levels
        self.coverage = coverage
        self.output_name = output_name

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **kwargs: Any) -> Self:
        """Draw for the densities of a fitted estimator, pipeline or search at new samples.

        Keywords are those of :meth:`from_predictions`.
        """
        return cls.from_predictions(y, predict_dist(estimator, X), **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        dist: Distribution,
        *,
        output: int = 0,
        n_bins: int = 10,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw for densities that were predicted.

        Parameters
        ----------
        y : array-like (m,) or (m, dy)
            Samples that the densities have not been fitted to.
        dist : m densities, as ``predict_dist`` gives them
        output : int, default=0
            Which of several outputs: its marginals are judged.
        n_bins : int, default=10
        ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        CalibrationDisplay
        """
        values, name = one_column(y, output, dist.n_outputs)
        check_same_length(dist, values)
        u = pit(dist.marginal(output), values)
        bins = check_count("n_bins", n_bins, low=1)
        counts = np.histogram(u, bins=bins, range=(0, 1))[0].astype(float)
        # Rounding must not put outside what lies on the edge.
        coverage = np.mean(abs(2 * u - 1) <= LEVELS[:, None] + 1e-12, axis=1)
        return cls(counts, LEVELS, coverage, output_name=name).plot(ax=ax, **kwargs)

    def band(self, shares: Array, confidence: float) -> Array:
        """Ends of the binomial interval of what is counted, as shares of the samples: (k, 2)."""
        n = self.counts.sum()
        tail = (1 - probability(confidence)) / 2
        ends = [binom.ppf(level, n, shares) for level in (tail, 1 - tail)]
        return np.asarray(np.stack(ends, axis=-1) / n)

    def plot(self, ax: Any = None, *, confidence: float = 0.95, **kwargs: Any) -> Self:
        """Draw two panels.

        Parameters
        ----------
        ax : two matplotlib axes, or one whose place they take, optional
        confidence : float, default=0.95
            Probability of the pointwise binomial bands: so often does each bin, and each level,
            stay within if the densities are right.
        **kwargs
            For matplotlib's ``bar``.

        Returns
        -------
        self
        """
        pair = np.ravel(ax) if np.size(ax) == 2 else grid_of_axes(ax, 1, 2, (4.2, 3.6))[0]
        self._histogram(pair[0], confidence, kwargs)
        self._coverage(pair[1], confidence)
        self.ax_, self.figure_ = pair, pair[0].figure
        return self

    def _histogram(self, ax: Any, confidence: float, kwargs: dict[str, Any]) -> None:
        n_bins = len(self.counts)
        edges = np.arange(n_bins + 1) / n_bins
        low, high = self.band(np.array([1 / n_bins]), confidence)[0] * n_bins
        look = {"color": COLORS[0], "alpha": 0.65, "edgecolor": "white"} | kwargs
        heights = self.counts / self.counts.sum() * n_bins
        self.bars_ = ax.bar(edges[:-1], heights, width=1 / n_bins, align="edge", **look)
        self.band_ = ax.axhspan(low, high, color=PALE, alpha=0.3, lw=0)
        ax.axhline(1, color=INK, lw=1, ls="--")
        name = self.output_name
        ax.set(xlabel=f"F({name} | x)", ylabel="density", xlim=(0, 1), title="PIT")

    def _coverage(self, ax: Any, confidence: float) -> None:
        band = self.band(self.levels, confidence)
        ax.fill_between(
            self.levels, *band.T, color=PALE, alpha=0.3, lw=0, label=f"{confidence:.0%} by chance"
        )
        ax.plot([0, 1], [0, 1], color=INK, lw=1, ls="--")
        (self.coverage_,) = ax.plot(
            self.levels, self.coverage, color=COLORS[1], marker="o", ms=3.5, label="observed"
        )
        ax.set(
            xlabel="nominal probability",
            ylabel="share of samples within",
            title="central intervals",
            xlim=(0, 1),
            ylim=(0, 1),
            aspect="equal",
        )
        ax.legend(frameon=False, fontsize="small", loc="upper left")
