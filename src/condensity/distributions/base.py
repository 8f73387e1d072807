"""The common type of all answers: conditional densities of several rows.

Every question that can be asked of a density is documented here, once.  ``Mixture``,
``BoundedMixture``, ``ChunkedDistribution`` and ``LazyDistribution`` implement them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condensity._typing import Array, Indices
from condensity._utils.numerics import row_blocks
from condensity._utils.parameters import check_count, check_rng
from condensity.distributions import _checks as checks
from condensity.distributions import _quadrature as quadrature
from condensity.distributions._overlap import inner_product
from condensity.distributions.frozen import Frozen

#: Maximum number of steps of Newton's method for expectiles, and length of the last one relative to
#: the partial moment; the error that remains is of the order of its square.
MOST_STEPS, NEAR = 200, 1e-7


class Distribution(ABC):
    """Conditional densities p(y | x_i) of m rows, each over dy outputs.

    This is what ``predict_dist`` returns.  Row i is the density of y given the inputs x_i.  Every
    method answers for all rows at once.

    See Also
    --------
    Mixture : Gaussian mixtures in memory, the usual answer.
    BoundedMixture : Densities of outputs with bounds.
    ChunkedDistribution : Densities of very many rows, computed chunk by chunk.
    LazyDistribution : Densities for Dask collections.

    Notes
    -----
    In the shapes below, m is the number of rows and dy the number of outputs.  Where dy = 1, the
    axis of the outputs is left out: the mean has the shape (m,) and not (m, 1).  The methods
    ``cdf``, ``prob``, ``quantile``, ``interval``, ``partial_moment``, ``expected_shortfall``,
    ``expectile``, ``crps``, ``twcrps``, ``hdr`` and ``frozen`` are defined for one output; for
    several outputs, ask the marginals.  A ``LazyDistribution`` answers with Dask
    arrays of the same shapes.

    Only these methods are common to all answers.  The class depends on the number of rows; call
    ``compute()`` first to use attributes of one class, such as ``blocks`` of a ``Mixture``.

    Examples
    --------
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = LSCDE(bandwidth=0.3, penalty=0.01, random_state=0).fit(X[:, 1:2], y)
    >>> dist = model.predict_dist([[0.0], [0.5], [1.0]])
    >>> len(dist), dist.n_outputs
    (3, 1)
    >>> dist.mean().shape, dist.interval(0.9).shape
    ((3,), (3, 2))
    >>> dist[1:].quantile([0.1, 0.5, 0.9]).shape
    (2, 3)
    """

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of outputs dy."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: Any) -> Distribution:
        """Densities of some rows.

        Parameters
        ----------
        index : int, slice, array of int or mask
            Rows to keep.  An integer keeps one row.

        Returns
        -------
        Distribution
            The densities of these rows.
        """

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise TypeError(
            f"a {type(self).__name__} is not an array of numbers: ask for the numbers that you "
            "need, for instance dist.mean(), dist.quantile(0.5) or dist.pdf_on(grid)"
        )

    @abstractmethod
    def log_pdf(self, Y: ArrayLike) -> Array:
        """Logarithm of the density at one point for each row, ``log p(y_i | x_i)``.

        Parameters
        ----------
        Y : array-like of shape (m, dy)
            Row i is evaluated under density i.  For one output, (m,) or a number will do.

        Returns
        -------
        ndarray of shape (m,)
            Finite however far y_i lies from the samples; -inf at and beyond a bound.
        """

    def pdf(self, Y: ArrayLike) -> Array:
        """Density at one point for each row, ``p(y_i | x_i)``.

        Parameters
        ----------
        Y : array-like of shape (m, dy)
            Row i is evaluated under density i.  For one output, (m,) or a number will do.

        Returns
        -------
        ndarray of shape (m,)
            Densities, in units of one over the product of the units of the outputs.
        """
        with np.errstate(over="ignore"):
            return np.exp(self.log_pdf(Y))

    @abstractmethod
    def pdf_on(self, grid: ArrayLike) -> Array:
        """Densities of all rows at the same points, ``p(y_g | x_i)``.

        Parameters
        ----------
        grid : array-like of shape (G, dy)
            Points.  For one output, (G,) will do.

        Returns
        -------
        ndarray of shape (m, G)
            Row i holds density i at all points.
        """

    @abstractmethod
    def squared_norm(self) -> Array:
        """Integral of the squared density, ``int p(y | x_i)^2 dy``, in closed form.

        Returns
        -------
        ndarray of shape (m,)
            The squared norms.
        """

    @abstractmethod
    def cdf(self, Y: ArrayLike) -> Array:
        """Distribution function at one point for each row, ``P(Y <= y_i | x_i)``.

        One output only.

        Parameters
        ----------
        Y : array-like of shape (m,)
            Row i is evaluated under density i.

        Returns
        -------
        ndarray of shape (m,)
            Probabilities.
        """

    @abstractmethod
    def prob(self, lower: ArrayLike, upper: ArrayLike) -> Array:
        """Probability of an interval, ``P(lower_i < Y <= upper_i | x_i)``.

        One output only.  All digits are correct in both tails.

        Parameters
        ----------
        lower, upper : float or array-like of shape (m,)
            Ends of the intervals; infinities are allowed.

        Returns
        -------
        ndarray of shape (m,)
            Probabilities.
        """

    @abstractmethod
    def quantile(self, q: ArrayLike) -> Array:
        """Quantiles: the y with ``P(Y <= y | x_i) = q``.

        One output only.

        Parameters
        ----------
        q : float or array-like of shape (k,)
            Probabilities in [0, 1].

        Returns
        -------
        ndarray of shape (m,) or (m, k)
            Quantiles, correct to rounding error.
        """

    def interval(self, level: float = 0.9) -> Array:
        """Central interval: y lies below it and above it with probability ``(1 - level) / 2``.

        One output only.

        Parameters
        ----------
        level : float, default=0.9
            Probability of the interval, strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (m, 2)
            Lower and upper ends.
        """
        checks.one_output(self.n_outputs, "interval")
        tail = (1 - checks.probability(level)) / 2
        return self.quantile([tail, 1 - tail])

    @abstractmethod
    def partial_moment(self, threshold: ArrayLike, order: int = 1, tail: str = "upper") -> Array:
        """Partial moment of a tail, ``E max(Y - t, 0)^k`` or ``E max(t - Y, 0)^k``.

        One output only.  Order 0 is the probability of the tail, order 1 the expected excess or
        shortfall, and the lower moment of order 2 the semivariance about t.

        Parameters
        ----------
        threshold : float or array-like of shape (m,)
            Thresholds t.
        order : int, default=1
            Exponent k, from 0 to 8.
        tail : {"upper", "lower"}, default="upper"
            Which side of the threshold.

        Returns
        -------
        ndarray of shape (m,)
            Partial moments, in the unit of y to the power k.

        See Also
        --------
        expected_shortfall : The mean beyond a quantile.

        Notes
        -----
        Without bounds the answer is in closed form and has twelve correct digits in both tails.
        With one bound it is in closed form too; for orders above 1, rounding errors are relative to
        ``max(|t - bound|, std)^k`` times the probability of the tail.  With two bounds it is an
        integral by quadrature, with an error of 1e-8 times their distance to the power k.
        """

    def expected_shortfall(self, q: ArrayLike, tail: str = "lower") -> Array:
        """Expected shortfall: the mean beyond a quantile, also called conditional value at risk.

        One output only.  ``E[Y | Y <= Q(q)]`` for the lower tail and ``E[Y | Y >= Q(q)]`` for the
        upper one, where Q is the quantile function.  For losses, ask for the upper tail with q such
        as 0.95; for returns, for the lower tail with q such as 0.05.

        Parameters
        ----------
        q : float or array-like of shape (k,)
            Probabilities below the quantile, strictly between 0 and 1, for both tails.
        tail : {"lower", "upper"}, default="lower"
            Which side of the quantile.

        Returns
        -------
        ndarray of shape (m,) or (m, k)
            Means of the tails, in the unit of y.

        See Also
        --------
        quantile : The quantile itself, also called value at risk.
        partial_moment : Moments beyond a threshold.

        Notes
        -----
        It is as accurate as ``partial_moment``, divided by the probability of the tail.
        """
        checks.one_output(self.n_outputs, "expected_shortfall")
        levels, side = checks.levels_of(q), checks.side_of(tail)
        columns = []
        for level in np.atleast_1d(levels):
            end, mass = self.quantile(level), level if side < 0 else 1 - level
            columns.append(end + side * self.partial_moment(end, 1, tail) / mass)
        return np.stack(columns, axis=1) if levels.ndim else columns[0]

    def expectile(self, q: ArrayLike) -> Array:
        """Expectiles: the e with ``q E max(Y - e, 0) = (1 - q) E max(e - Y, 0)``.

        One output only.  The expectile of level 0.5 is the mean.

        Parameters
        ----------
        q : float or array-like of shape (k,)
            Levels, strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (m,) or (m, k)
            Expectiles, as accurate as ``partial_moment``.
        """
        checks.one_output(self.n_outputs, "expectile")
        levels = checks.levels_of(q)
        columns = [self._expectile(float(level)) for level in np.atleast_1d(levels)]
        return np.stack(columns, axis=1) if levels.ndim else columns[0]

    def _expectile(self, q: float) -> Array:
        """Newton's method from the mean: the equation is convex or concave, so it is monotone.

        With ``E max(Y - e, 0) - E max(e - Y, 0) = mean - e`` only the moment of one tail is needed.
        """
        e = mean = self.mean()
        share, tail = min(q, 1 - q), "upper" if q > 0.5 else "lower"
        for _ in range(MOST_STEPS):
            moment, below = self.partial_moment(e, 1, tail), self.cdf(e)
            with np.errstate(invalid="ignore"):  # the mean may be infinite
                balance = share * (mean - e) - (1 - 2 * q) * moment
                step = balance / (q + (1 - 2 * q) * below)
            e = e + np.where(np.isfinite(step), step, 0.0)
            if not (np.abs(step) > NEAR * moment).any():
                break
        return np.asarray(e)

    def twcrps(self, Y: ArrayLike, threshold: ArrayLike, tail: str = "upper") -> Array:
        """Threshold-weighted CRPS: the part of the CRPS that comes from one side of a threshold.

        One output only.  ``int (F(y) - 1[y_i <= y])^2 dy`` over ``y >= threshold`` for the upper
        tail, and over ``y <= threshold`` for the lower one [1]_.  Both together are the CRPS.  A
        lower score is better; the unit is that of y.

        Parameters
        ----------
        Y : array-like of shape (m,)
            Observed values, one for each row.
        threshold : float or array-like of shape (m,)
            Thresholds.
        tail : {"upper", "lower"}, default="upper"
            Which side of the threshold.

        Returns
        -------
        ndarray of shape (m,)
            Scores, by quadrature: the error is about 1e-8 of the standard deviation.

        See Also
        --------
        crps : The score of the whole density.

        References
        ----------
        .. [1] T. Gneiting, R. Ranjan, "Comparing density forecasts using threshold- and
           quantile-weighted scoring rules," Journal of Business & Economic Statistics 29(3), 2011.
        """
        checks.one_output(self.n_outputs, "twcrps")
        y = checks.rows_of(Y, len(self), 1)[:, 0]
        t, side = checks.row_bound(threshold, len(self), "threshold"), checks.side_of(tail)
        free, bounds = self._free_coordinate()
        scale = np.ones(len(self))
        if bounds is None:
            free, shift, scale = free.without_frame()
            y, t = (y - shift) / scale, (t - shift) / scale
        return scale * quadrature.threshold_weighted_crps(free, bounds, y, t, side)

    def entropy(self, n_draws: int = 1000, random_state: Any = None) -> Array:
        """Differential entropy, ``-E log p(Y | x_i)``, in nats.

        Parameters
        ----------
        n_draws : int, default=1000
            Number of draws from each density.  Used for several outputs only.
        random_state : None, int, RandomState or Generator, default=None
            Source of these draws.

        Returns
        -------
        ndarray of shape (m,)
            Entropies.  For one output by quadrature, with an error below 1e-5.  For several
            outputs the mean over draws, with a standard error of about ``sqrt(dy / 2 / n_draws)``.
        """
        if self.n_outputs > 1:
            return -self._mean_of_draws(
                lambda rows, Y: self[rows].log_pdf(Y), n_draws, random_state
            )
        free, bounds = self._free_coordinate()
        scale = np.ones(len(self))
        if bounds is None:
            free, _, scale = free.without_frame()
        entropy: Array = np.log(scale) - quadrature.mean_log(free, bounds, None)
        return entropy

    def kl(self, other: Distribution, n_draws: int = 1000, random_state: Any = None) -> Array:
        """Kullback-Leibler divergence from other densities, ``E log p(Y | x_i) / q(Y | x_i)``.

        Parameters
        ----------
        other : Distribution
            Densities q, with as many rows and outputs and the same bounds.
        n_draws : int, default=1000
            Number of draws from each density.  Used for several outputs only.
        random_state : None, int, RandomState or Generator, default=None
            Source of these draws.

        Returns
        -------
        ndarray of shape (m,)
            Divergences in nats.  For one output by quadrature, with an error below 1e-4 of the
            larger one of it and 1.  For several outputs the mean over draws, whose standard error
            is about ``sqrt(2 kl / n_draws)`` for densities that are close.

        See Also
        --------
        l2_distance : A distance that tails influence little.
        """
        checks.same_kind("kl", self, other)
        if hasattr(other, "ask"):  # chunk by chunk
            rng = check_rng(random_state)
            return np.asarray(other.ask(lambda q, p: p.kl(q, n_draws, rng), self))
        if self.n_outputs > 1:
            return self._mean_of_draws(
                lambda rows, Y: self[rows].log_pdf(Y) - other[rows].log_pdf(Y),
                n_draws,
                random_state,
            )
        ours, theirs = (dist._free_coordinate() for dist in (self, other))
        return np.maximum(quadrature.mean_log(*ours, theirs[0]), 0.0)

    def l2_distance(self, other: Distribution) -> Array:
        """Distance from other densities, ``sqrt(int (p - q)^2 dy)``, in closed form.

        Parameters
        ----------
        other : Distribution
            Densities q, with as many rows and outputs and the same bounds.

        Returns
        -------
        ndarray of shape (m,)
            Distances.  The error of their square is about 1e-14 of the squared norms.

        See Also
        --------
        squared_norm : The squared distance from zero.
        kl : A divergence that tails influence more.
        """
        checks.same_kind("l2_distance", self, other)
        if hasattr(other, "ask"):  # chunk by chunk
            return np.asarray(other.ask(lambda q, p: p.l2_distance(q), self))
        squares = self.squared_norm() + other.squared_norm() - 2 * self._inner_product(other)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def _inner_product(self, other: Distribution) -> Array:
        """``int p q dy`` of densities with the same bounds: (m,)."""
        (ours, bounds), (theirs, _) = (dist._free_coordinate() for dist in (self, other))
        if bounds is None:
            return inner_product(ours.blocks, theirs.blocks)
        total = np.zeros(len(self))
        for factor, power in bounds.volume_terms():
            (log_p, p), (log_q, q) = (free.tilt(power / 2) for free in (ours, theirs))
            with np.errstate(over="ignore", divide="ignore"):
                product = np.log(inner_product(p.blocks, q.blocks))
                total += np.exp(np.log(factor) + log_p + log_q + product)
        return total

    def _free_coordinate(self) -> tuple[Any, Any]:
        """The Gaussian mixtures, and the bounds of their outputs or None."""
        return getattr(self, "free", self), getattr(self, "bounds", None)

    def _mean_of_draws(self, f: Callable[..., Array], n_draws: int, random_state: Any) -> Array:
        """Mean of ``f(rows, points)`` over draws from each of several outputs: (m,)."""
        n_draws, m = check_count("n_draws", n_draws, low=1), len(self)
        draws, total = self.sample(n_draws, random_state), np.zeros(m)
        for part in row_blocks(n_draws, max(1, m) * self._free_coordinate()[0].width):
            points = draws[:, part].reshape(-1, self.n_outputs)
            rows = np.repeat(np.arange(m), part.stop - part.start)
            total += f(rows, points).reshape(m, -1).sum(axis=1)
        return total / n_draws

    @abstractmethod
    def crps(self, Y: ArrayLike) -> Array:
        """Continuous ranked probability score, ``E|Y - y_i| - E|Y - Y'| / 2``.

        One output only.  Lower is better; the unit is that of y.

        Parameters
        ----------
        Y : array-like of shape (m,)
            Observed values, one for each row.

        Returns
        -------
        ndarray of shape (m,)
            Scores.
        """

    @abstractmethod
    def hdr(self, level: float) -> list[Array]:
        """Highest-density region: the smallest set of y with probability ``level``.

        One output only.

        Parameters
        ----------
        level : float
            Probability of the region, strictly between 0 and 1.

        Returns
        -------
        list of m ndarrays of shape (k_i, 2)
            For each row, the ends of its disjoint intervals in increasing order.
        """

    @abstractmethod
    def modes(self) -> list[Array]:
        """Local maxima of each density, the highest first.

        Returns
        -------
        list of m ndarrays of shape (k_i,) or (k_i, dy)
            For each row, the points where its density has a local maximum.
        """

    @abstractmethod
    def hpd_level(self, Y: ArrayLike, n_draws: int = 1000, random_state: Any = None) -> Array:
        """Probability of the highest-density region that ends at y_i.

        ``P(p(Y | x_i) >= p(y_i | x_i))``.  It is uniform on [0, 1] if the densities are right.

        Parameters
        ----------
        Y : array-like of shape (m, dy)
            Observed values, one row for each density.  For one output, (m,) will do.
        n_draws : int, default=1000
            Number of draws from each density.  Used for several outputs only; one output is exact.
        random_state : None, int, RandomState or Generator, default=None
            Source of these draws.

        Returns
        -------
        ndarray of shape (m,)
            Probabilities.
        """

    @abstractmethod
    def mean(self) -> Array:
        """Conditional mean, ``E[Y | x_i]``.

        Returns
        -------
        ndarray of shape (m,) or (m, dy)
            Means.
        """

    @abstractmethod
    def var(self) -> Array:
        """Conditional variance of each output, ``Var[Y_j | x_i]``.

        Returns
        -------
        ndarray of shape (m,) or (m, dy)
            Variances.
        """

    def std(self) -> Array:
        """Conditional standard deviation of each output, the square root of ``var``.

        Returns
        -------
        ndarray of shape (m,) or (m, dy)
            Standard deviations.
        """
        return np.sqrt(self.var())

    @abstractmethod
    def cov(self) -> Array:
        """Conditional covariance of the outputs, ``Cov[Y | x_i]``.

        Returns
        -------
        ndarray of shape (m, dy, dy)
            Covariance matrices, also for one output.
        """

    @abstractmethod
    def marginal(self, columns: int | Sequence[int]) -> Distribution:
        """Densities of some of the outputs, the others integrated out.

        Parameters
        ----------
        columns : int or sequence of int
            Outputs to keep, in this order.  Negative numbers count from the end.

        Returns
        -------
        Distribution
            Densities of these outputs.
        """

    def marginals(self) -> list[Distribution]:
        """Densities of each output by itself.

        Returns
        -------
        list of dy Distributions
            One for each output, each with all rows.
        """
        if self.n_outputs == 1:
            return [self]
        return [self.marginal(j) for j in range(self.n_outputs)]

    @abstractmethod
    def condition(self, columns: int | Sequence[int], values: ArrayLike) -> Distribution:
        """Densities of the other outputs given some of them, ``p(y_rest | y_columns, x_i)``.

        Exact: a Gaussian mixture given some of its outputs is a Gaussian mixture.

        Parameters
        ----------
        columns : int or sequence of int
            Outputs that are given.  Negative numbers count from the end.
        values : array-like of shape (m, len(columns)) or (len(columns),)
            Their values, for each row or for all rows.  For one column, (m,) or a number will do.

        Returns
        -------
        Distribution
            Densities of the other outputs, in their order.

        See Also
        --------
        marginal : The other outputs integrated out instead.
        """

    @abstractmethod
    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """Independent draws from each density.

        Parameters
        ----------
        n : int, default=1
            Number of draws from each density.
        random_state : None, int, RandomState or Generator, default=None
            Source of randomness.

        Returns
        -------
        ndarray of shape (m, n) or (m, n, dy)
            Draws.
        """

    def compute(self) -> Distribution:
        """All densities in memory.

        Returns
        -------
        Distribution
            A ``Mixture``, or a ``BoundedMixture`` for outputs with bounds.
        """
        return self

    @classmethod
    def _join(cls, dists: Sequence[Any], rows: Sequence[Indices]) -> Distribution | None:
        """The rows of densities of this class as one of them; None if that is not possible."""
        return None

    def frozen(self, row: int = 0) -> Frozen:
        """One density with the methods of a frozen distribution of ``scipy.stats``.

        One output only.

        Parameters
        ----------
        row : int, default=0
            Which density.

        Returns
        -------
        Frozen
            With ``pdf``, ``logpdf``, ``cdf``, ``ppf``, ``sf``, ``isf``, ``mean``, ``var``, ``std``,
            ``median``, ``interval``, ``expect``, ``support`` and ``rvs``.
        """
        return Frozen(self[int(row)].compute())

    def to_skpro(self, index: Any = None, columns: Any = None) -> Any:
        """The densities as a distribution of skpro (the extra ``skpro``).

        Parameters
        ----------
        index, columns : pandas index or sequence, default=None
            Names of the rows and of the outputs; 0, 1, ... when None.

        Returns
        -------
        skpro.distributions.base.BaseDistribution
            A distribution of shape (m, dy).  As everywhere in skpro, all methods except ``sample``
            treat each output by itself.
        """
        from condensity.adapters.skpro import adapt

        return adapt(self, index, columns)

    def to_frame(
        self,
        quantiles: ArrayLike = (0.05, 0.25, 0.5, 0.75, 0.95),
        *,
        index: Any = None,
        outputs: Sequence[str] | None = None,
    ) -> Any:
        """Means, standard deviations and quantiles as a data frame (the extra ``pandas``).

        Parameters
        ----------
        quantiles : array-like of shape (k,), default=(0.05, 0.25, 0.5, 0.75, 0.95)
            Levels of the quantiles; empty for none.
        index : pandas.Index or sequence of length m, default=None
            Names of the rows, for instance ``X.index``; 0, 1, ... when None.
        outputs : sequence of str of length dy, default=None
            Names of the outputs.  The columns of output ``price`` are ``price_mean``, ``price_std``
            and ``price_q0.05``, as in the output of ``condensity predict``.  None: y1, y2, ..., and
            no name for a single output.

        Returns
        -------
        pandas.DataFrame
            One row for each density.  For several outputs the quantiles are those of each output by
            itself.

        See Also
        --------
        quantile : The quantiles as an array.

        Notes
        -----
        ``dist.to_frame().to_parquet("densities.parquet")`` writes them to a file.
        """
        from condensity.adapters.frame import as_frame

        return as_frame(self, quantiles, index, outputs)

    def to_torch(self, dtype: Any = None, device: Any = None) -> Any:
        """The densities as a distribution of PyTorch (the extra ``torch``).

        Parameters
        ----------
        dtype : torch.dtype, default=None
            Type of the numbers; ``torch.float64`` when None.
        device : torch.device or str, default=None
            Where the numbers are kept; the default device of PyTorch when None.

        Returns
        -------
        torch.distributions.Distribution
            A ``MixtureSameFamily`` of ``Normal`` or ``MultivariateNormal`` distributions with batch
            shape (m,) and event shape () or (dy,).  For outputs with bounds, it is a
            ``TransformedDistribution`` of one.

        Raises
        ------
        TypeError
            If the densities have atoms, or are recalibrated.

        See Also
        --------
        condensity.inspection.slopes : Derivatives with respect to the inputs.

        Notes
        -----
        ``log_prob`` can be differentiated with respect to y, but the densities are constants: there
        are no gradients with respect to x or the model.  All Gaussians are written out, which takes
        ``m K dy (1 + dy)`` numbers for K Gaussians in each density.  PyTorch refuses a y outside
        the bounds, where ``log_pdf`` is -inf.
        """
        from condensity.adapters.torch_mixture import as_torch

        return as_torch(self, dtype, device)

    def to_qp(self, ancil: Any = None) -> Any:
        """The densities as an ensemble of the package qp (the extra ``qp``).

        One output only, without bounds.

        Parameters
        ----------
        ancil : dict, default=None
            Values that belong to the rows, with m entries each, for instance identifiers.

        Returns
        -------
        qp.Ensemble
            Gaussian mixtures with the parametrisation ``qp.mixmod``, without loss.

        Raises
        ------
        TypeError
            If the densities have bounds or atoms, or are recalibrated.

        See Also
        --------
        to_torch : The same for PyTorch, also for several outputs and for bounds.
        """
        from condensity.adapters.qp_ensemble import as_qp

        return as_qp(self, ancil)
