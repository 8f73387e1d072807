"""The answer of every estimator: one Gaussian mixture a row, all rows sharing their centres.

``p(y | x_i) = sum_blocks sum_k w_ik N(y; shift_i + scale_i c_k, scale_i^2 L L')``, with weights
kept as logarithms.  A model is one block, an average of models several; every functional below
is written once for blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condensity._typing import Array
from condensity._utils.numerics import CACHED, log_sum_exp, row_blocks
from condensity._utils.parameters import check_count, check_rng
from condensity.distributions import _checks as checks
from condensity.distributions import _levelsets as levelsets
from condensity.distributions import _sampling as draws
from condensity.distributions import _univariate as univariate
from condensity.distributions._modes import climb_to_modes as climb_to_modes
from condensity.distributions._overlap import mean_difference_of_blocks, overlap
from condensity.distributions._quantiles import quantile
from condensity.distributions._univariate import UnivariateMixtures
from condensity.distributions.base import Views
from condensity.distributions.block import Block, unframed

__all__ = ["Block", "ConditionalMixture"]


class ConditionalMixture(Views):
    """The densities ``p(y | x_i)``, i = 1..m, each a Gaussian mixture.

    Parameters
    ----------
    blocks : sequence of Block
        Their log weights need not be normalised; each row must hold one that is finite.

    Attributes
    ----------
    blocks : tuple of Block
        Normalised: ``sum exp(log_weights) = 1`` over all blocks, in every row.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions.mixture import Block, ConditionalMixture
    >>> mix = ConditionalMixture([Block(np.log([[3.0, 1.0]]), np.array([[0.0], [4.0]]), np.eye(1))])
    >>> mix
    ConditionalMixture(m=1, dy=1, components=2)
    >>> mix.mean(), mix.interval(0.9).round(2)
    (array([1.]), array([[-1.5 ,  4.84]]))
    """

    blocks: tuple[Block, ...]

    def __init__(self, blocks: Sequence[Block]) -> None:
        blocks = checks.checked_blocks(blocks)
        total = log_sum_exp(np.concatenate([block.log_weights for block in blocks], axis=1))
        if not np.isfinite(total).all():
            row = int(np.argmin(np.isfinite(total)))
            raise ValueError(
                f"log_weights of row {row} hold NaN, +inf or nothing but -inf: "
                "each row needs at least one finite log weight"
            )
        self.blocks = tuple(block.weighted(block.log_weights - total[:, None]) for block in blocks)

    @classmethod
    def of_normalised(cls, blocks: Sequence[Block]) -> ConditionalMixture:
        """From blocks that are normalised already, bit for bit."""
        out = cls.__new__(cls)
        out.blocks = tuple(blocks)
        return out

    @classmethod
    def average(
        cls, mixtures: Sequence[ConditionalMixture], weights: ArrayLike | None = None
    ) -> ConditionalMixture:
        """``sum_j weights_j p_j(y | x_i)``: the mixture of mixtures, equal weights when None."""
        with np.errstate(divide="ignore"):
            logs = np.log(checks.mixing_weights(weights, len(mixtures)))
        return cls.blend(mixtures, list(logs))

    @classmethod
    def blend(
        cls, mixtures: Sequence[ConditionalMixture], log_masses: Sequence[Any]
    ) -> ConditionalMixture:
        """Densities proportional to ``sum_j exp(log_mass_j) p_j``, masses numbers or (m,)."""
        return cls(
            [
                block.weighted(block.log_weights + np.reshape(log, (-1, 1)))
                for mixture, log in zip(mixtures, log_masses, strict=True)
                for block in mixture.blocks
            ]
        )

    def tilt(self, power: Array) -> tuple[Array, ConditionalMixture]:
        """``log E exp(power . Y)`` (m,), and the densities proportional to p(y) exp(power . y)."""
        blocks = [block.tilt(power) for block in self.blocks]
        log_mass = log_sum_exp(np.concatenate([block.log_weights for block in blocks], axis=1))
        return log_mass, ConditionalMixture(blocks)

    def stretch(self, factors: Array, every: int = 1) -> ConditionalMixture:
        """The densities of ``mean + factors (Y - mean)``, or only each ``every``-th block so."""
        mean, blocks = self._mean(), enumerate(self.blocks)
        return self.of_normalised([b if i % every else b.stretch(factors, mean) for i, b in blocks])

    def __len__(self) -> int:
        return len(self.blocks[0])

    def __repr__(self) -> str:
        sizes = "+".join(str(len(block.centers)) for block in self.blocks)
        return f"ConditionalMixture(m={len(self)}, dy={self.n_outputs}, components={sizes})"

    def __getitem__(self, index: Any) -> ConditionalMixture:
        """Densities of ``index`` only: an integer (one row), slice, index array or mask."""
        rows = checks.rows_at(index, len(self))
        return self.of_normalised([block.take(rows) for block in self.blocks])

    @property
    def n_outputs(self) -> int:
        """Dimension ``dy`` of y."""
        return self.blocks[0].n_outputs

    @property
    def width(self) -> int:
        """Number of components."""
        return sum(len(block.centers) for block in self.blocks)

    @property
    def log_weights(self) -> Array:
        """``log w_ik``, all blocks side by side: (m, K), rows of ``exp`` sum to one."""
        return np.concatenate([block.log_weights for block in self.blocks], axis=1)

    def log_pdf(self, Y: ArrayLike) -> Array:
        """``log p(y_i | x_i)``, finite however far y_i lies.

        Parameters
        ----------
        Y : array_like of shape (m, dy)
            Row i is evaluated under density i; (m,) or a scalar will do when dy = 1.

        Returns
        -------
        ndarray of shape (m,)
        """
        Y = checks.rows_of(Y, len(self), self.n_outputs)
        out = np.empty(len(self))
        for rows in row_blocks(len(self), self.width, CACHED):
            own = [block.take(rows) for block in self.blocks]
            terms = [block.log_weights + block.log_kernels(Y[rows]) for block in own]
            out[rows] = log_sum_exp(np.concatenate(terms, axis=1))
        return out

    def pdf(self, Y: ArrayLike) -> Array:
        """``p(y_i | x_i)``; shapes as in :meth:`log_pdf`."""
        Y = checks.rows_of(Y, len(self), self.n_outputs)
        return sum((block.pdf(Y) for block in self.blocks), np.zeros(len(self)))

    def pdf_on(self, grid: ArrayLike) -> Array:
        """``p(y_g | x_i)`` for all densities at all points: ``grid`` (G,) or (G, dy) to (m, G)."""
        points = checks.grid_of(grid, self.n_outputs)
        return sum((block.pdf_on(points) for block in self.blocks), np.zeros(1))

    def squared_norm(self) -> Array:
        """``integral p(y | x_i)^2 dy``, in closed form: (m,)."""
        total = np.zeros(len(self))
        for j, block in enumerate(self.blocks):
            total += overlap(block, block)
            for other in self.blocks[:j]:
                total += 2 * overlap(block, other)
        return total

    def cdf(self, Y: ArrayLike) -> Array:
        """``P(Y <= y_i | x_i)``, one output only; ``Y`` as in :meth:`log_pdf`: (m,)."""
        c, shift, scale = self.in_frame("cdf")
        y = checks.rows_of(Y, len(self), 1)[:, 0]
        return univariate.map_rows(univariate.cdf, c, None, (y - shift) / scale)

    def prob(self, lower: ArrayLike, upper: ArrayLike) -> Array:
        """``P(lower_i < Y <= upper_i | x_i)``, precise in both tails: (m,).

        One output only.  Bounds are numbers or (m,), infinities included.
        """
        c, shift, scale = self.in_frame("prob")
        a, b = ((end - shift) / scale for end in checks.ordered_bounds(lower, upper, len(self)))
        return univariate.map_rows(univariate.prob, c, None, a, b)

    def quantile(self, q: ArrayLike) -> Array:
        """``y`` with ``P(Y <= y | x_i) = q``, one output only.

        A number ``q`` in [0, 1] gives (m,), an array (k,) gives (m, k).
        """
        levels = np.asarray(q, dtype=float)
        if levels.ndim > 1:
            raise ValueError(f"q must be a number or one-dimensional, got shape {levels.shape}")
        c, shift, scale = self.in_frame("quantile")
        out = shift[:, None] + scale[:, None] * quantile(c, np.atleast_1d(levels))
        return out if levels.ndim else out[:, 0]

    def interval(self, level: float) -> Array:
        """Central interval, ``(1 - level) / 2`` beyond either end, one output only: (m, 2)."""
        checks.one_output(self.n_outputs, "interval")
        tail = (1 - checks.probability(level)) / 2
        return self.quantile([tail, 1 - tail])

    def crps(self, Y: ArrayLike) -> Array:
        """``E|Y - y_i| - E|Y - Y'| / 2``: continuous ranked probability score, one output: (m,)."""
        c, shift, scale = self.in_frame("crps")
        y = checks.rows_of(Y, len(self), 1)[:, 0]
        return scale * (
            univariate.distance(c, (y - shift) / scale)
            - 0.5 * mean_difference_of_blocks(self.blocks, c)
        )

    def hdr(self, level: float) -> list[Array]:
        """Highest-density region of probability ``level``, the smallest there is; one output.

        Row i gets its disjoint intervals in increasing order, an array of shape (k_i, 2).
        """
        return levelsets.hdr(self.components("hdr"), level)

    def in_frame(self, what: str) -> tuple[UnivariateMixtures, Array, Array]:
        """Components in the frame that all blocks have in common: its shifts and scales, (m,)."""
        checks.one_output(self.n_outputs, what)
        blocks, shift, scale = unframed(self.blocks)
        return self.of_normalised(blocks).components(what), shift[:, 0], scale

    def components(self, what: str) -> UnivariateMixtures:
        """Weights, means and widths of one output's components, for ``what`` needs them."""
        checks.one_output(self.n_outputs, what)
        rows = 1 if all(block.fixed for block in self.blocks) else len(self)
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

    def modes(self) -> list[Array]:
        """Local maxima of each density, highest first: m arrays, (k_i,) or (k_i, dy)."""
        if self.n_outputs == 1:
            return levelsets.modes(self.components("modes"))
        return climb_to_modes(self.blocks)

    def hpd_level(self, Y: ArrayLike, n_draws: int = 1000, random_state: Any = None) -> Array:
        """``P(p(Y | x_i) >= p(y_i | x_i))``: level of the smallest region that holds y_i, (m,).

        Uniform on [0, 1] if the densities are right.  Exact for one output.  For more it is the
        share of ``n_draws`` draws that are as dense as y_i: the one Monte Carlo method here.
        """
        Y = checks.rows_of(Y, len(self), self.n_outputs)
        if self.n_outputs == 1:
            return levelsets.hpd_level(self.components("hpd_level"), Y[:, 0])
        return draws.hpd_level_by_sampling(self, Y, n_draws, self.width, random_state)

    def mean(self) -> Array:
        """``E[Y | x_i]``: (m,) for one output, else (m, dy)."""
        return self._drop_axis(self._mean())

    def var(self) -> Array:
        """``Var[Y_j | x_i]``: (m,) for one output, else (m, dy)."""
        return self._drop_axis(np.diagonal(self.cov(), axis1=1, axis2=2).copy())

    def std(self) -> Array:
        """Square root of :meth:`var`."""
        return np.sqrt(self.var())

    def cov(self) -> Array:
        """``sum_k w_ik (scale_i^2 L L' + d_ik d_ik')``, d_ik from the mean: (m, dy, dy)."""
        mean, dy = self._mean(), self.n_outputs
        out = np.zeros((len(self), dy, dy))
        for block in self.blocks:
            for rows in row_blocks(len(self), 4 * block.centers.size):
                own = block.take(rows)
                w = own.weights
                d = own.means() - mean[rows, None, :]
                out[rows] += np.matmul(np.swapaxes(d * w[:, :, None], 1, 2), d)
                out[rows] += (w.sum(axis=1) * own.scales**2)[:, None, None] * own.covariance
        return out

    def marginal(self, columns: int | Sequence[int]) -> ConditionalMixture:
        """``integral p dy_rest``: the densities of the outputs ``columns`` alone, in that order."""
        keep = checks.columns_of(columns, self.n_outputs)
        return self.of_normalised([block.marginal(keep) for block in self.blocks])

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """``n`` independent draws from each density: (m, n) for one output, else (m, n, dy)."""
        n = check_count("n", n, low=0)
        return self._drop_axis(draws.draw_from_blocks(self.blocks, n, check_rng(random_state)))

    def _mean(self) -> Array:
        out = np.zeros((len(self), self.n_outputs))
        for block in self.blocks:
            w = block.weights
            out += block.scales[:, None] * (w @ block.centers)
            if block.shift is not None:
                out += w.sum(axis=1, keepdims=True) * block.shift
        return out

    def _drop_axis(self, values: Array) -> Array:
        return values[..., 0] if self.n_outputs == 1 else values
