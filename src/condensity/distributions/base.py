"""The common type of all answers: conditional densities of several rows.

Every question that can be asked of a density is documented here, once.  ``Mixture``,
``BoundedMixture``, ``ChunkedDistribution`` and ``LazyDistribution`` implement them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condensity._typing import Array
from condensity.distributions import _checks as checks
from condensity.distributions.frozen import Frozen


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
    ``cdf``, ``prob``, ``quantile``, ``interval``, ``crps``, ``hdr`` and ``frozen`` are defined for
    one output; for several outputs, ask the marginals.  A ``LazyDistribution`` answers with Dask
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
        from condensity.distributions.skpro import adapt

        return adapt(self, index, columns)
