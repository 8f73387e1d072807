"""Calibration: the PIT histogram, and the coverage of central intervals."""

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

#: Nominal probabilities of the central intervals.
LEVELS = np.linspace(0.05, 0.95, 19)


class CalibrationDisplay:
    """PIT histogram and coverage of central intervals, with bands for random variation.

    The probability integral transform (PIT) is ``u_i = F_i(y_i)``.  If the densities are right, it
    is uniform.  A histogram in the shape of a U means that the densities are too narrow, a hump
    that they are too wide, a slope that they are shifted to one side.  The central interval of
    probability c contains y_i if and only if ``|2 u_i - 1| <= c``.

    Parameters
    ----------
    counts : ndarray of shape (n_bins,)
        Number of samples in each bin of u; the bins have equal widths.
    levels : ndarray of shape (k,)
        Nominal probabilities of the central intervals.
    coverage : ndarray of shape (k,)
        Shares of the samples inside these intervals.
    output_name : str, default="y"
        Name of the output in the label of the histogram.

    Attributes
    ----------
    ax_ : ndarray of two matplotlib Axes
        Axes of the last drawing: the histogram, the coverage.
    figure_ : matplotlib Figure
        Figure of the last drawing.
    bars_ : BarContainer
        The histogram, scaled to a density.
    band_ : matplotlib Patch
        The band of the histogram.
    coverage_ : Line2D
        The line of the coverage.

    See Also
    --------
    condensity.metrics.pit : The values u_i.
    FanDisplay : The central intervals themselves.

    References
    ----------
    .. [1] T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation,"
       Journal of the American Statistical Association 102(477), 2007.

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
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        output: int = 0,
        n_bins: int = 10,
        confidence: float = 0.95,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the calibration of a fitted estimator at new samples.

        Parameters
        ----------
        estimator : estimator
            Fitted estimator of densities, or a pipeline or search that ends in one.
        X : array-like of shape (m, dx)
            Inputs of samples that the estimator was not fitted to.
        y : array-like of shape (m,) or (m, dy)
            Outputs of these samples.
        output : int, default=0
            Index of the output, from 0.  With several outputs, its marginal densities are
            evaluated.
        n_bins : int, default=10
            Number of bins of the histogram.
        confidence : float, default=0.95
            Probability of the pointwise binomial bands.
        ax : matplotlib Axes or two of them, default=None
            Two axes to draw on, or one whose place the two panels take.  None: a new figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``bar``.

        Returns
        -------
        display : CalibrationDisplay
            The drawn display.

        See Also
        --------
        from_predictions : Draw the calibration of predicted densities.

        Examples
        --------
        >>> import matplotlib as mpl
        >>> mpl.use("Agg")
        >>> from condensity import LSCDE
        >>> from condensity.datasets import toy_b
        >>> from condensity.plots import CalibrationDisplay
        >>> X, y = toy_b().sample(100, random_state=0)
        >>> model = LSCDE(bandwidth=0.4, penalty=0.01, random_state=0).fit(X[:60], y[:60])
        >>> display = CalibrationDisplay.from_estimator(model, X[60:], y[60:])
        >>> int(display.counts.sum())
        40
        """
        options = {"output": output, "n_bins": n_bins, "confidence": confidence, "ax": ax}
        return cls.from_predictions(y, predict_dist(estimator, X), **(options | kwargs))

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        dist: Distribution,
        *,
        output: int = 0,
        n_bins: int = 10,
        confidence: float = 0.95,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the calibration of predicted densities.

        Parameters
        ----------
        y : array-like of shape (m,) or (m, dy)
            Samples that the densities were not fitted to.
        dist : Distribution
            Densities of m rows, as returned by ``predict_dist``.
        output : int, default=0
            Index of the output, from 0.  With several outputs, its marginal densities are
            evaluated.
        n_bins : int, default=10
            Number of bins of the histogram.
        confidence : float, default=0.95
            Probability of the pointwise binomial bands.
        ax : matplotlib Axes or two of them, default=None
            Two axes to draw on, or one whose place the two panels take.  None: a new figure.
        **kwargs : dict
            Keyword arguments of matplotlib's ``bar``.

        Returns
        -------
        display : CalibrationDisplay
            The drawn display.

        See Also
        --------
        from_estimator : Draw the calibration of a fitted estimator.
        """
        values, name = one_column(y, output, dist.n_outputs)
        check_same_length(dist, values)
        u = pit(dist.marginal(output), values)
        bins = check_count("n_bins", n_bins, low=1)
        counts = np.histogram(u, bins=bins, range=(0, 1))[0].astype(float)
        # The tolerance keeps samples on the edge of an interval inside, despite rounding.
        coverage = np.mean(abs(2 * u - 1) <= LEVELS[:, None] + 1e-12, axis=1)
        display = cls(counts, LEVELS, coverage, output_name=name)
        return display.plot(ax=ax, confidence=confidence, **kwargs)

    def band(self, shares: Array, confidence: float) -> Array:
        """Pointwise binomial bands of observed shares, if the true shares are ``shares``.

        Parameters
        ----------
        shares : array-like of shape (k,)
            True shares of the samples.
        confidence : float
            Probability of each band.

        Returns
        -------
        ndarray of shape (k, 2)
            Lower and upper ends of the bands.

        See Also
        --------
        plot : Draw the bands.
        """
        n = self.counts.sum()
        tail = (1 - probability(confidence)) / 2
        ends = [binom.ppf(level, n, shares) for level in (tail, 1 - tail)]
        return np.asarray(np.stack(ends, axis=-1) / n)

    def plot(self, ax: Any = None, *, confidence: float = 0.95, **kwargs: Any) -> Self:
        """Draw the histogram and the coverage in two panels.

        Parameters
        ----------
        ax : matplotlib Axes or two of them, default=None
            Two axes to draw on, or one whose place the two panels take.  None: a new figure.
        confidence : float, default=0.95
            Probability of the pointwise binomial bands.  If the densities are right, each bar and
            each point lies within its band with this probability.
        **kwargs : dict
            Keyword arguments of matplotlib's ``bar``.

        Returns
        -------
        self : CalibrationDisplay
            The display.

        See Also
        --------
        from_estimator : Compute and draw the calibration of a fitted estimator.
        from_predictions : Compute and draw the calibration of predicted densities.
        """
        pair = np.ravel(ax) if np.size(ax) == 2 else grid_of_axes(ax, 1, 2, (4.2, 3.6))[0]
        self._draw_histogram(pair[0], confidence, kwargs)
        self._draw_coverage(pair[1], confidence)
        self.ax_, self.figure_ = pair, pair[0].figure
        return self

    def _draw_histogram(self, ax: Any, confidence: float, kwargs: dict[str, Any]) -> None:
        n_bins = len(self.counts)
        edges = np.arange(n_bins + 1) / n_bins
        low, high = self.band(np.array([1 / n_bins]), confidence)[0] * n_bins
        style = {"color": COLORS[0], "alpha": 0.65, "edgecolor": "white"} | kwargs
        heights = self.counts / self.counts.sum() * n_bins
        self.bars_ = ax.bar(edges[:-1], heights, width=1 / n_bins, align="edge", **style)
        self.band_ = ax.axhspan(low, high, color=PALE, alpha=0.3, lw=0)
        ax.axhline(1, color=INK, lw=1, ls="--")
        name = self.output_name
        ax.set(xlabel=f"F({name} | x)", ylabel="density", xlim=(0, 1), title="PIT")

    def _draw_coverage(self, ax: Any, confidence: float) -> None:
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
            ylabel="share of samples inside",
            title="central intervals",
            xlim=(0, 1),
            ylim=(0, 1),
            aspect="equal",
        )
        ax.legend(frameon=False, fontsize="small", loc="upper left")
