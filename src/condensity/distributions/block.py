"""Gaussians that share a covariance, shifted and scaled as a whole by each row.

In row i the k-th Gaussian is the law of ``y = shift_i + scale_i (c_k + L e)`` with e ~ N(0, I).
Distances are taken after the shift and the scale of the row are undone and y is whitened by
``L^-1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from condensity._typing import Array, Indices
from condensity._utils.numerics import CACHED, LOG2_E, row_blocks, squared_differences
from condensity.distributions._univariate import ROOT_2PI, tiles


@dataclass(frozen=True, eq=False)
class Block:
    """Weighted Gaussians with a common covariance, a part of a ``Mixture``.

    ``y = shift_i + scale_i (c_k + L e)``, e ~ N(0, I), with the weight ``w_ik``.  The weights of a
    mixture sum to one over all of its blocks together.

    Parameters
    ----------
    given : ndarray of shape (m, b)
        ``log w_ik``, -inf allowed, or ``w_ik`` itself if ``plain``.
    centers : ndarray of shape (b, dy)
        Centres c_k of the Gaussians.
    factor : ndarray of shape (dy, dy)
        L, the lower Cholesky factor of their covariance.
    shift : None or ndarray of shape (m, dy), default=None
        What row i adds.
    scale : None or ndarray of shape (m,), default=None
        What row i multiplies by, positive.
    plain : bool, default=False
        Whether ``given`` holds weights and not their logarithms.
    background : bool, default=False
        Whether the block is the background, which ``Mixture.stretch`` leaves as it is.

    See Also
    --------
    Mixture : Mixtures that are made of blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions import Block, Mixture
    >>> weights, centers = np.array([[0.75, 0.25]]), np.array([[0.0], [4.0]])
    >>> Mixture([Block(np.log(weights), centers, np.eye(1))]).mean()
    array([1.])
    """

    given: Array
    centers: Array
    factor: Array
    shift: Array | None = None
    scale: Array | None = None
    plain: bool = False
    background: bool = False

    def __len__(self) -> int:
        return len(self.given)

    @property
    def log_weights(self) -> Array:
        """Logarithms of the weights, ``log w_ik``, (m, b)."""
        if not self.plain:
            return self.given
        with np.errstate(divide="ignore"):
            return np.log(self.given)

    @property
    def weights(self) -> Array:
        """Weights ``w_ik``, (m, b)."""
        return self.given if self.plain else np.exp2(LOG2_E * self.given)

    def weighted(self, log_weights: Array) -> Block:
        """The same Gaussians with other weights."""
        return replace(self, given=log_weights, plain=False)

    @property
    def n_outputs(self) -> int:
        """Number of outputs dy."""
        return int(self.centers.shape[1])

    @property
    def fixed(self) -> bool:
        """Whether all rows have the same Gaussians: no shift and no scale."""
        return self.shift is None and self.scale is None

    @property
    def covariance(self) -> Array:
        """Covariance ``L L'`` before the scale of the row, (dy, dy)."""
        return self.factor @ self.factor.T

    @property
    def scales(self) -> Array:
        """Scales ``scale_i``, (m,), or ones."""
        return np.ones(len(self)) if self.scale is None else self.scale

    def take(self, rows: Any) -> Block:
        """The block of some rows: a slice or an index array."""
        shift = None if self.shift is None else self.shift[rows]
        scale = None if self.scale is None else self.scale[rows]
        return replace(self, given=self.given[rows], shift=shift, scale=scale)

    def same_frame(self, other: Block) -> bool:
        """Whether both blocks have the same shift and scale in every row."""
        pairs = ((self.shift, other.shift), (self.scale, other.scale))
        return all(
            a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in pairs
        )

    def tilt(self, power: Array) -> Block:
        """The Gaussians times ``exp(power . y)``, with ``power`` (dy,): Gaussians again.

        ``N(y; m, S) exp(c y) = exp(c m + c S c / 2) N(y; m + S c, S)``.
        """
        along = self.covariance @ power
        gain = self.means() @ power + 0.5 * self.scales[:, None] ** 2 * float(power @ along)
        tilted = self.weighted(self.log_weights + gain)
        if self.scale is None:
            return replace(tilted, centers=self.centers + along)
        shift = self.scale[:, None] ** 2 * along
        return replace(tilted, shift=shift if self.shift is None else self.shift + shift)

    def stretch(self, factors: Array, about: Array) -> Block:
        """The block of ``about_i + factors (y - about_i)``; ``about`` is (m, dy)."""
        shift = (1.0 - factors) * about
        shift = shift if self.shift is None else shift + factors * self.shift
        return replace(
            self,
            centers=factors * self.centers,
            factor=factors[:, None] * self.factor,
            shift=shift,
        )

    def means(self) -> Array:
        """Means ``shift_i + scale_i c_k``: (m, b, dy), or (1, b, dy) if all rows share them."""
        if self.fixed:
            return self.centers[None]
        means = self.scales[:, None, None] * self.centers
        return means if self.shift is None else means + self.shift[:, None, :]

    def whiten(self, Y: Array) -> Array:
        """``L^-1 (y_i - shift_i) / scale_i`` for ``Y`` (m, dy): (m, dy)."""
        Z = Y if self.shift is None else Y - self.shift
        Z = Z if self.scale is None else Z / self.scale[:, None]
        white = self._undo_factor(Z)
        # Substitution turns an infinite output into NaN.  Such a y is far from every centre.
        return np.where(np.isfinite(Z).all(axis=1, keepdims=True), white, np.inf)

    def log_kernels(self, Y: Array) -> Array:
        """``log N(y_i; shift_i + scale_i c_k, scale_i^2 L L')`` for ``Y`` (m, dy): (m, b)."""
        out = self._squared(Y)
        out *= -0.5
        out -= self._log_volumes()[:, None]
        return out

    def _squared(self, Y: Array) -> Array:
        """Squared distances of ``Y`` (m, dy) to the centres in units of the kernel: (m, b)."""
        return squared_differences(self.whiten(Y), self._undo_factor(self.centers))

    def _undo_factor(self, Y: Array) -> Array:
        """``L^-1 y`` for the rows of ``Y`` (m, dy)."""
        if self.n_outputs == 1:
            with np.errstate(over="ignore"):
                return np.asarray(Y / self.factor)
        white: Array = solve_triangular(self.factor, Y.T, lower=True, check_finite=False).T
        return white

    def _log_volumes(self) -> Array:
        """Logarithm of one over the height of the kernel, (m,)."""
        own = float(np.log(ROOT_2PI * np.diagonal(self.factor)).sum())
        return own + self.n_outputs * np.log(self.scales)

    def marginal(self, columns: Indices) -> Block:
        """The block of the outputs ``columns``: rows and columns of the covariance are dropped."""
        shift = None if self.shift is None else self.shift[:, columns]
        factor: Any = np.linalg.cholesky(self.covariance[np.ix_(columns, columns)])
        return replace(self, centers=self.centers[:, columns], factor=factor, shift=shift)

    def place(self, row: Indices, k: Indices, noise: Array) -> Array:
        """``shift_i + scale_i (c_k + L e)`` for n triples of row, component and ``e``: (n, dy)."""
        y = self.scales[row, None] * (self.centers[k] + noise @ self.factor.T)
        return y if self.shift is None else y + self.shift[row]

    def pdf(self, Y: Array) -> Array:
        """``sum_k w_ik N(y_i; ...)`` for ``Y`` (m, dy): (m,)."""
        out = np.empty(len(self))
        for rows in row_blocks(len(self), len(self.centers), CACHED):
            own = self.take(rows)
            kernels = own._squared(Y[rows])
            kernels *= -0.5 * LOG2_E
            if not self.plain:
                kernels += LOG2_E * own.given
            np.exp2(kernels, out=kernels)
            sums = np.einsum("rk,rk->r", kernels, own.given) if self.plain else kernels.sum(axis=1)
            out[rows] = sums * np.exp(-own._log_volumes())
        return out

    def pdf_on(self, points: Array) -> Array:
        """``sum_k w_ik N(y_g; ...)``, all rows at all ``points`` (G, dy): (m, G)."""
        return self._pdf_on_fixed(points) if self.fixed else self._pdf_on_moved(points)

    def _pdf_on_fixed(self, points: Array) -> Array:
        """Densities on a grid where one table of kernels serves all rows."""
        out, weights = np.empty((len(self), len(points))), self.weights
        for part in row_blocks(len(points), len(self.centers)):
            probe = self.weighted(np.empty((part.stop - part.start, 0)))
            out[:, part] = weights @ np.exp(probe.log_kernels(points[part])).T
        return out

    def _pdf_on_moved(self, points: Array) -> Array:
        """Densities on a grid where each row has its own shift and scale."""
        out = np.empty((len(self), len(points)))
        for rows, part in tiles(len(self), len(points), 4 * len(self.centers)):
            grid, index = points[part], np.arange(len(self))[rows]
            own = self.take(np.repeat(index, len(grid)))
            terms = own.log_weights + own.log_kernels(np.tile(grid, (len(index), 1)))
            out[rows, part] = np.exp(terms).sum(axis=1).reshape(len(index), -1)
        return out


def without_common_frame(blocks: Sequence[Block]) -> tuple[Sequence[Block], Array, Array]:
    """Blocks without their common shift and scale; these shifts (m, dy) and scales (m,).

    Without them all rows share their centres: one table of kernels serves all rows, and no digits
    are lost for a y that lies as far out as its shift.  Blocks with different shifts or scales are
    returned as they are.
    """
    first, none = blocks[0], np.zeros((len(blocks[0]), blocks[0].n_outputs))
    if not all(first.same_frame(block) for block in blocks):
        return blocks, none, np.ones(len(none))
    shift = none if first.shift is None else first.shift
    return [replace(block, shift=None, scale=None) for block in blocks], shift, first.scales
