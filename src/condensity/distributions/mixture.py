"""Gaussian mixtures, one for each row: the usual answer of an estimator.

``p(y | x_i) = sum_blocks sum_k w_ik N(y; shift_i + scale_i c_k, scale_i^2 L L')``, with weights
kept as logarithms.  A single model is one block, an average of models several.  Every method is
written once for blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condensity._typing import Array
from condensity._utils.numerics import CACHED, log_sum_exp, row_blocks
from condensity._utils.parameters import check_count, check_rng
from condensity.distributions import _checks as checks
from condensity.distributions import _levelsets as levelsets
from condensity.distributions import _univariate as univariate
from condensity.distributions import _waves as waves
from condensity.distributions._modes import climb_to_modes
from condensity.distributions._overlap import mean_difference_of_blocks, squared_norm_by_pairs
from condensity.distributions._quantiles import quantile
from condensity.distributions._univariate import UnivariateMixtures
from condensity.distributions.base import Distribution
from condensity.distributions.block import Block, draw_from_blocks, without_common_frame

#: Width of a mixture below which it does not limit the number of points of a grid in one piece.
LEAST_WIDTH = 1024


class Mixture(Distribution):
    """Conditional densities p(y | x_i) of m rows, each a Gaussian mixture.

    ``p(y | x_i) = sum_k w_ik N(y; mu_ik, C_i)``.  All answers are in closed form or correct to
    rounding error.  The name ``ConditionalMixture`` stands for the same class.

    Parameters
    ----------
    blocks : sequence of Block
        Gaussians with their log weights.  The weights need not be normalised; each row must have
        at least one finite log weight.

    Attributes
    ----------
    blocks : tuple of Block
        The blocks with normalised weights: they sum to one over all blocks, in every row.

    See Also
    --------
    Distribution : The methods, documented.
    BoundedMixture : Densities of outputs with bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions import Block, Mixture
    >>> weights, centers = np.array([[0.75, 0.25]]), np.array([[0.0], [4.0]])
    >>> dist = Mixture([Block(np.log(weights), centers, np.eye(1))])
    >>> dist
    Mixture(m=1, dy=1, components=2)
    >>> dist.mean(), dist.interval(0.9).round(2)
    (array([1.]), array([[-1.5 ,  4.84]]))
    """

    blocks: tuple[Block, ...]

    def __init__(self, blocks: Sequence[Block]) -> None:
        blocks = checks.checked_blocks(blocks)
        logs = np.concatenate([block.log_weights for block in blocks], axis=1)
        top = logs.max(axis=1)
        # Subtracted first: next to a large number, the logarithm of a sum has no digits.
        logs -= np.where(np.isfinite(top), top, 0.0)[:, None]
        total = log_sum_exp(logs)
        if not (np.isfinite(total) & np.isfinite(top)).all():
            row = int(np.argmin(np.isfinite(total) & np.isfinite(top)))
            raise ValueError(
                f"log_weights of row {row} contain NaN or +inf, or are all -inf: "
                "each row needs at least one finite log weight"
            )
        logs -= total[:, None]
        parts = np.split(logs, np.cumsum([len(block.centers) for block in blocks])[:-1], axis=1)
        self.blocks = tuple(b.weighted(own) for b, own in zip(blocks, parts, strict=True))

    @classmethod
    def of_normalised(cls, blocks: Sequence[Block]) -> Mixture:
        """A mixture of blocks whose weights are normalised already; they are kept bit for bit.

        Parameters
        ----------
        blocks : sequence of Block
            Blocks whose weights sum to one in every row.

        Returns
        -------
        Mixture
            The mixture of these blocks.
        """
        out = cls.__new__(cls)
        out.blocks = tuple(blocks)
        return out

    @classmethod
    def average(cls, mixtures: Sequence[Mixture], weights: ArrayLike | None = None) -> Mixture:
        """The average of several mixtures, ``sum_j weights_j p_j(y | x_i)``.

        Parameters
        ----------
        mixtures : sequence of Mixture
            Mixtures with the same number of rows and outputs.
        weights : array-like of shape (n_mixtures,), default=None
            Non-negative weights; equal weights when None.

        Returns
        -------
        Mixture
            The average, with the blocks of all mixtures.
        """
        with np.errstate(divide="ignore"):
            logs = np.log(checks.mixing_weights(weights, len(mixtures)))
        return cls.blend(mixtures, list(logs))

    @classmethod
    def blend(cls, mixtures: Sequence[Mixture], log_masses: Sequence[Any]) -> Mixture:
        """Densities proportional to ``sum_j exp(log_mass_j) p_j``.

        Parameters
        ----------
        mixtures : sequence of Mixture
            Mixtures with the same number of rows and outputs.
        log_masses : sequence of float or ndarray of shape (m,)
            Logarithm of the mass of each mixture.

        Returns
        -------
        Mixture
            The normalised sum.
        """
        return cls(
            [
                block.weighted(block.log_weights + np.reshape(log, (-1, 1)))
                for mixture, log in zip(mixtures, log_masses, strict=True)
                for block in mixture.blocks
            ]
        )

    def tilt(self, power: Array) -> tuple[Array, Mixture]:
        """The densities proportional to ``p(y) exp(power . y)``.

        Parameters
        ----------
        power : ndarray of shape (dy,)
            Exponents of the outputs.

        Returns
        -------
        log_mass : ndarray of shape (m,)
            ``log E exp(power . Y)``.
        tilted : Mixture
            The normalised densities.
        """
        blocks = [block.tilt(power) for block in self.blocks]
        log_mass = log_sum_exp(np.concatenate([block.log_weights for block in blocks], axis=1))
        return log_mass, Mixture(blocks)

    def moved(self, step: Array) -> Mixture:
        """The densities of ``Y + step``.

        Parameters
        ----------
        step : ndarray of shape (m, dy)
            One vector for each row.

        Returns
        -------
        Mixture
            The same densities at other places.
        """
        return self.of_normalised([block.moved(step) for block in self.blocks])

    def stretch(self, factors: Array, *, background: bool = True) -> Mixture:
        """The densities of ``mean + factors (Y - mean)``.

        Parameters
        ----------
        factors : ndarray of shape (dy,)
            Positive factors, one for each output.
        background : bool, default=True
            Whether background blocks are stretched too.

        Returns
        -------
        Mixture
            Densities that are wider (factors above 1) or narrower.
        """
        mean = self._mean()
        blocks = [
            b.stretch(factors, mean) if background or not b.background else b for b in self.blocks
        ]
        return self.of_normalised(blocks)

    def __len__(self) -> int:
        return len(self.blocks[0])

    def __repr__(self) -> str:
        sizes = "+".join(str(len(block.centers)) for block in self.blocks)
        return f"Mixture(m={len(self)}, dy={self.n_outputs}, components={sizes})"

    def __getitem__(self, index: Any) -> Mixture:
        rows = checks.rows_at(index, len(self))
        return self.of_normalised([block.take(rows) for block in self.blocks])

    @property
    def n_outputs(self) -> int:
        return self.blocks[0].n_outputs

    @property
    def width(self) -> int:
        """Number of Gaussians in each density."""
        return sum(len(block.centers) for block in self.blocks)

    @property
    def log_weights(self) -> Array:
        """Log weights of all Gaussians, (m, K); their exponentials sum to one in each row."""
        return np.concatenate([block.log_weights for block in self.blocks], axis=1)

    def log_pdf(self, Y: ArrayLike) -> Array:
        Y = checks.rows_of(Y, len(self), self.n_outputs)
        out = np.empty(len(self))
        for rows in row_blocks(len(self), self.width, CACHED):
            own = [block.take(rows) for block in self.blocks]
            terms = [block.log_weights + block.log_kernels(Y[rows]) for block in own]
            out[rows] = log_sum_exp(np.concatenate(terms, axis=1))
        return out

    def pdf(self, Y: ArrayLike) -> Array:
        Y = checks.rows_of(Y, len(self), self.n_outputs)
        return sum((block.pdf(Y) for block in self.blocks), np.zeros(len(self)))

    def pdf_on(self, grid: ArrayLike) -> Array:
        points = checks.grid_of(grid, self.n_outputs)
        in_series = waves.possible(self.blocks) and len(self) > 0 and points.size > 0
        if in_series and not self._fixed and np.isfinite(points).all():
            parts = row_blocks(len(points), max(LEAST_WIDTH, 4 * self.width))
            return np.concatenate(
                [waves.density_on(self.blocks, points[p, 0]) for p in parts], axis=1
            )
        return sum((block.pdf_on(points) for block in self.blocks), np.zeros(1))

    def squared_norm(self) -> Array:
        blocks, _, scale = without_common_frame(self.blocks)
        if not waves.possible(blocks):
            return squared_norm_by_pairs(self.blocks)
        out, rest = waves.squared_norms(blocks)
        if len(rest):
            out[rest] = squared_norm_by_pairs([block.take(rest) for block in blocks])
        return out / scale

    def cdf(self, Y: ArrayLike) -> Array:
        c, shift, scale = self.in_frame("cdf")
        y = checks.rows_of(Y, len(self), 1)[:, 0]
        return univariate.map_rows(univariate.cdf, c, None, (y - shift) / scale)

    def cdf_around(self, y: Array, offsets: Array) -> Array:
        """Distribution function of one output at several points around one point for each row.

        Parameters
        ----------
        y : ndarray of shape (m,)
            One point for each row.
        offsets : ndarray of shape (n,)
            Differences of the points from ``y``.

        Returns
        -------
        ndarray of shape (m, n)
            ``P(Y <= y_i + offset_j | x_i)``, with an absolute error of about 1e-14.
        """
        checks.one_output(self.n_outputs, "cdf_around")
        out, rest = np.empty((len(self), len(offsets))), np.arange(len(self))
        if waves.possible(self.blocks):
            blocks, shift, _ = without_common_frame(self.blocks)
            out, rest = waves.cdf_around(blocks, y - shift[:, 0], offsets)
        if len(rest):
            own = self[rest]
            out[rest] = np.column_stack([own.cdf(y[rest] + offset) for offset in offsets])
        return out

    def sign_mean(self, other: Mixture) -> Array:
        """``E sign(Y - Y')`` for independent outputs Y of this and Y' of another mixture.

        Parameters
        ----------
        other : Mixture
            A mixture with as many rows, of one output.

        Returns
        -------
        ndarray of shape (m,)
            ``P(Y > Y') - P(Y < Y')``.
        """
        checks.one_output(self.n_outputs, "sign_mean")
        out, rest = np.empty(len(self)), np.arange(len(self))
        if waves.possible([*self.blocks, *other.blocks]):
            both = without_common_frame([*self.blocks, *other.blocks])[0]
            count = len(self.blocks)
            out, rest = waves.sign_means(both[:count], both[count:])
        if len(rest):
            pair = (mixture[rest].components("sign_mean") for mixture in (self, other))
            out[rest] = univariate.sign_mean(*pair)
        return out

    def prob(self, lower: ArrayLike, upper: ArrayLike) -> Array:
        c, shift, scale = self.in_frame("prob")
        a, b = ((end - shift) / scale for end in checks.ordered_bounds(lower, upper, len(self)))
        return univariate.map_rows(univariate.prob, c, None, a, b)

    def quantile(self, q: ArrayLike) -> Array:
        levels = np.asarray(q, dtype=float)
        if levels.ndim > 1:
            raise ValueError(f"q must be a number or one-dimensional, got shape {levels.shape}")
        c, shift, scale = self.in_frame("quantile")
        blocks, q = without_common_frame(self.blocks)[0], np.atleast_1d(levels)
        starts = waves.quantile_starts(blocks, q) if waves.possible(blocks) else None
        out = shift[:, None] + scale[:, None] * quantile(c, q, starts)
        return out if levels.ndim else out[:, 0]

    def crps(self, Y: ArrayLike) -> Array:
        c, shift, scale = self.in_frame("crps")
        y = checks.rows_of(Y, len(self), 1)[:, 0]
        spread = mean_difference_of_blocks(without_common_frame(self.blocks)[0], c)
        return scale * (univariate.distance(c, (y - shift) / scale) - 0.5 * spread)

    def hdr(self, level: float) -> list[Array]:
        c, shift, scale = self.in_frame("hdr")
        regions = zip(levelsets.hdr(c, level), shift, scale, strict=True)
        return [a + s * region for region, a, s in regions]

    def in_frame(self, what: str) -> tuple[UnivariateMixtures, Array, Array]:
        """Gaussians of one output in the frame of the first block, and its shift and scale.

        Parameters
        ----------
        what : str
            The question, named in the error for several outputs.

        Returns
        -------
        components : UnivariateMixtures
            Weights, means and standard deviations.
        shift, scale : ndarray of shape (m,)
            ``y = shift + scale u`` for the outputs u of the components, (m,) each.
        """
        checks.one_output(self.n_outputs, what)
        mixture, shift, scale = self.without_frame()
        return mixture.components(what), shift, scale

    def without_frame(self) -> tuple[Mixture, Array, Array]:
        """The mixture of one output in the frame of the first block, and its shift and scale.

        Returns
        -------
        mixture : Mixture
            Densities of u.
        shift, scale : ndarray of shape (m,)
            ``y = shift + scale u``, (m,) each.
        """
        blocks, shift, scale = without_common_frame(self.blocks)
        return self.of_normalised(blocks), shift[:, 0], scale

    def components(self, what: str) -> UnivariateMixtures:
        """Weights, means and standard deviations of the Gaussians of one output.

        Parameters
        ----------
        what : str
            The question, named in the error for several outputs.

        Returns
        -------
        UnivariateMixtures
            One mixture for each row.
        """
        checks.one_output(self.n_outputs, what)
        rows = 1 if self._fixed else len(self)
        means, sds = [], []
        for block in self.blocks:
            shape = (rows, len(block.centers))
            means.append(np.broadcast_to(block.means()[:, :, 0], shape))
            scales = np.ones(1) if block.fixed else block.scales
            sds.append(np.broadcast_to(block.factor[0, 0] * scales[:, None], shape))
        weights = np.concatenate([block.weights for block in self.blocks], axis=1)
        return UnivariateMixtures(
            weights, np.concatenate(means, axis=1), np.concatenate(sds, axis=1)
        )

    def partial_moment(self, threshold: ArrayLike, order: int = 1, tail: str = "upper") -> Array:
        c, shift, scale = self.in_frame("partial_moment")
        t, order, side = checks.tail_question(threshold, order, tail, len(self))
        moment = partial(univariate.mixture_partial_moment, order, side)
        return scale**order * univariate.map_rows(moment, c, None, (t - shift) / scale)

    def modes(self) -> list[Array]:
        if self.n_outputs == 1:
            c, shift, scale = self.in_frame("modes")
            return [a + s * y for y, a, s in zip(levelsets.modes(c), shift, scale, strict=True)]
        return climb_to_modes(self.blocks)

    def hpd_level(self, Y: ArrayLike, n_draws: int = 1000, random_state: Any = None) -> Array:
        Y = checks.rows_of(Y, len(self), self.n_outputs)
        if self.n_outputs == 1:
            c, shift, scale = self.in_frame("hpd_level")
            return levelsets.hpd_level(c, (Y[:, 0] - shift) / scale)
        return levelsets.hpd_level_by_sampling(self, Y, n_draws, self.width, random_state)

    def mean(self) -> Array:
        return self._drop_axis(self._mean())

    def var(self) -> Array:
        return self._drop_axis(np.diagonal(self.cov(), axis1=1, axis2=2).copy())

    def cov(self) -> Array:
        first, dy = self.blocks[0], self.n_outputs
        near = self if first.shift is None else self.moved(-first.shift)
        mean, out = near._mean(), np.zeros((len(self), dy, dy))
        for block in near.blocks:
            for rows in row_blocks(len(self), 4 * block.centers.size):
                own = block.take(rows)
                w = own.weights
                d = own.means() - mean[rows, None, :]
                out[rows] += np.matmul(np.swapaxes(d * w[:, :, None], 1, 2), d)
                out[rows] += (w.sum(axis=1) * own.scales**2)[:, None, None] * own.covariance
        return out

    def marginal(self, columns: int | Sequence[int]) -> Mixture:
        keep = checks.columns_of(columns, self.n_outputs)
        return self.of_normalised([block.marginal(keep) for block in self.blocks])

    def condition(self, columns: int | Sequence[int], values: ArrayLike) -> Mixture:
        parts = checks.given_and_rest(columns, values, len(self), self.n_outputs)
        return Mixture([block.condition(*parts) for block in self.blocks])

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        n = check_count("n", n, low=0)
        return self._drop_axis(draw_from_blocks(self.blocks, n, check_rng(random_state)))

    def _mean(self) -> Array:
        out = np.zeros((len(self), self.n_outputs))
        for block in self.blocks:
            w = block.weights
            out += block.scales[:, None] * (w @ block.centers)
            if block.shift is not None:
                out += w.sum(axis=1, keepdims=True) * block.shift
        return out

    @property
    def _fixed(self) -> bool:
        """Whether all rows have the same Gaussians."""
        return all(block.fixed for block in self.blocks)

    def _drop_axis(self, values: Array) -> Array:
        return values[..., 0] if self.n_outputs == 1 else values
