"""Block of a mixture: Gaussians with a common covariance, and a shift and a scale for each row.

In row i the k-th Gaussian is the distribution of ``y = shift_i + scale_i (c_k + L e)`` with
e ~ N(0, I).  Distances are computed after y is whitened: the shift and the scale of the row are
removed, and the result is multiplied by ``L^-1``.
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

    In row i, Gaussian k is ``y = shift_i + scale_i (c_k + L e)`` with e ~ N(0, I), and it has the
    weight ``w_ik``.  The weights of a row sum to one over all blocks of the mixture.

    Parameters
    ----------
    given : ndarray of shape (m, b)
        Logarithms of the weights, ``log w_ik``, -inf allowed; or the weights ``w_ik`` if ``plain``.
    centers : ndarray of shape (b, dy)
        Centres c_k of the Gaussians.
    factor : ndarray of shape (dy, dy)
        Lower Cholesky factor L of their covariance.
    shift : None or ndarray of shape (m, dy), default=None
        Shift of each row; None: no shift.
    scale : None or ndarray of shape (m,), default=None
        Positive scale of each row; None: no scale.
    plain : bool, default=False
        Whether ``given`` contains weights instead of their logarithms.
    background : bool, default=False
        Whether the block is the background of a model, which calibration leaves unchanged.

    See Also
    --------
    Mixture : Conditional densities as mixtures of blocks.

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
        """The same Gaussians with other weights.

        Parameters
        ----------
        log_weights : ndarray of shape (m, b)
            Logarithms of the weights.

        Returns
        -------
        Block
            A block with these weights.
        """
        return replace(self, given=log_weights, plain=False)

    @property
    def n_outputs(self) -> int:
        """Number of outputs, dy."""
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
        """Scales ``scale_i``, (m,); ones if there is no scale."""
        return np.ones(len(self)) if self.scale is None else self.scale

    def take(self, rows: Any) -> Block:
        """The block of some rows.

        Parameters
        ----------
        rows : slice or array of int
            Rows to keep.

        Returns
        -------
        Block
            A block with these rows.
        """
        shift = None if self.shift is None else self.shift[rows]
        scale = None if self.scale is None else self.scale[rows]
        return replace(self, given=self.given[rows], shift=shift, scale=scale)

    def spread(self, rows: Indices, total: int) -> Block:
        """The block among other rows, where its Gaussians have no weight.

        Parameters
        ----------
        rows : ndarray of int of shape (m,)
            Places of its rows.
        total : int
            Number of all rows.

        Returns
        -------
        Block
            A block with ``total`` rows.
        """
        given = np.full((total, len(self.centers)), 0.0 if self.plain else -np.inf)
        given[rows] = self.given
        shift, scale = None, None
        if self.shift is not None:
            shift = np.zeros((total, self.n_outputs))
            shift[rows] = self.shift
        if self.scale is not None:
            scale = np.ones(total)
            scale[rows] = self.scale
        return replace(self, given=given, shift=shift, scale=scale)

    def same_frame(self, other: Block) -> bool:
        """Whether both blocks have the same shift and scale in every row.

        Parameters
        ----------
        other : Block
            A block with as many rows.

        Returns
        -------
        bool
            True if they are equal.
        """
        pairs = ((self.shift, other.shift), (self.scale, other.scale))
        return all(
            a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in pairs
        )

    def tilt(self, power: Array) -> Block:
        """The block multiplied by ``exp(power . y)``, which is a block again.

        ``N(y; m, S) exp(c y) = exp(c m + c S c / 2) N(y; m + S c, S)``.

        Parameters
        ----------
        power : ndarray of shape (dy,)
            Exponents of the outputs.

        Returns
        -------
        Block
            Gaussians with shifted means and other weights.
        """
        along = self.covariance @ power
        gain = self.means() @ power + 0.5 * self.scales[:, None] ** 2 * float(power @ along)
        tilted = self.weighted(self.log_weights + gain)
        if self.scale is None:
            return replace(tilted, centers=self.centers + along)
        shift = self.scale[:, None] ** 2 * along
        return replace(tilted, shift=shift if self.shift is None else self.shift + shift)

    def moved(self, step: Array) -> Block:
        """The block of ``y + step``.

        Parameters
        ----------
        step : ndarray of shape (m, dy)
            One vector for each row.

        Returns
        -------
        Block
            The same Gaussians at other places.
        """
        return replace(self, shift=step if self.shift is None else self.shift + step)

    def stretch(self, factors: Array, about: Array) -> Block:
        """The block of ``about_i + factors (y - about_i)``.

        Parameters
        ----------
        factors : ndarray of shape (dy,)
            Positive factors, one for each output.
        about : ndarray of shape (m, dy)
            Points that stay fixed, one for each row.

        Returns
        -------
        Block
            Stretched Gaussians with the same weights.
        """
        shift = (1.0 - factors) * about
        shift = shift if self.shift is None else shift + factors * self.shift
        return replace(
            self,
            centers=factors * self.centers,
            factor=factors[:, None] * self.factor,
            shift=shift,
        )

    def means(self) -> Array:
        """Means ``shift_i + scale_i c_k`` of the Gaussians.

        Returns
        -------
        ndarray of shape (m, b, dy) or (1, b, dy)
            The means; one row if all rows share them.
        """
        if self.fixed:
            return self.centers[None]
        means = self.scales[:, None, None] * self.centers
        return means if self.shift is None else means + self.shift[:, None, :]

    def whiten(self, Y: Array) -> Array:
        """Whitened outputs, ``L^-1 (y_i - shift_i) / scale_i``.

        Parameters
        ----------
        Y : ndarray of shape (m, dy)
            One point for each row.

        Returns
        -------
        ndarray of shape (m, dy)
            The whitened points.
        """
        Z = Y if self.shift is None else Y - self.shift
        Z = Z if self.scale is None else Z / self.scale[:, None]
        white = self._undo_factor(Z)
        # Forward substitution turns infinity into NaN.  An infinite y is far from every centre.
        return np.where(np.isfinite(Z).all(axis=1, keepdims=True), white, np.inf)

    def log_kernels(self, Y: Array) -> Array:
        """Logarithms of the Gaussians, ``log N(y_i; shift_i + scale_i c_k, scale_i^2 L L')``.

        Parameters
        ----------
        Y : ndarray of shape (m, dy)
            One point for each row.

        Returns
        -------
        ndarray of shape (m, b)
            Log densities without the weights.
        """
        out = self._squared(Y)
        out *= -0.5
        out -= self._log_volumes()[:, None]
        return out

    def _squared(self, Y: Array) -> Array:
        """Squared distances of the whitened ``Y`` (m, dy) to the whitened centres: (m, b)."""
        return squared_differences(self.whiten(Y), self._undo_factor(self.centers))

    def _undo_factor(self, Y: Array) -> Array:
        """``L^-1 y`` for the rows of ``Y`` (m, dy)."""
        if self.n_outputs == 1:
            with np.errstate(over="ignore"):
                return np.asarray(Y / self.factor)
        white: Array = solve_triangular(self.factor, Y.T, lower=True, check_finite=False).T
        return white

    def _log_volumes(self) -> Array:
        """Negative logarithm of the largest density of a Gaussian, (m,)."""
        log_volume = float(np.log(ROOT_2PI * np.diagonal(self.factor)).sum())
        return log_volume + self.n_outputs * np.log(self.scales)

    def marginal(self, columns: Indices) -> Block:
        """The block of some of the outputs.

        Parameters
        ----------
        columns : ndarray of int
            Outputs to keep.

        Returns
        -------
        Block
            Gaussians of these outputs.
        """
        shift = None if self.shift is None else self.shift[:, columns]
        factor: Any = np.linalg.cholesky(self.covariance[np.ix_(columns, columns)])
        return replace(self, centers=self.centers[:, columns], factor=factor, shift=shift)

    def condition(self, given: Indices, rest: Indices, values: Array) -> Block:
        """The block of some outputs given the others, without the normalisation of the weights.

        ``N(y; mu, S) = N(y_g; mu_g, S_gg) N(y_r; mu_r + B (y_g - mu_g), S_rr - B S_gr)`` with ``B =
        S_rg S_gg^-1``.

        Parameters
        ----------
        given : ndarray of int
            Outputs that are given.
        rest : ndarray of int
            The other outputs.
        values : ndarray of shape (m, len(given))
            Values of the given outputs, one row for each density.

        Returns
        -------
        Block
            Gaussians of the other outputs; their weights sum to the density at ``values``.
        """
        cov, part = self.covariance, self.marginal(given)
        slope = np.linalg.solve(cov[np.ix_(given, given)], cov[np.ix_(given, rest)]).T
        moved = values if self.shift is None else values - self.shift[:, given]
        step = moved @ slope.T
        spread: Any = np.linalg.cholesky(cov[np.ix_(rest, rest)] - slope @ cov[np.ix_(given, rest)])
        return replace(
            self.weighted(part.log_weights + part.log_kernels(values)),
            centers=self.centers[:, rest] - self.centers[:, given] @ slope.T,
            factor=spread,
            shift=step if self.shift is None else step + self.shift[:, rest],
        )

    def place(self, row: Indices, k: Indices, noise: Array) -> Array:
        """Points ``shift_i + scale_i (c_k + L e)``.

        Parameters
        ----------
        row : ndarray of int of shape (n,)
            Rows i.
        k : ndarray of int of shape (n,)
            Gaussians k.
        noise : ndarray of shape (n, dy)
            Standard normal draws e.

        Returns
        -------
        ndarray of shape (n, dy)
            Draws from these Gaussians.
        """
        y = self.scales[row, None] * (self.centers[k] + noise @ self.factor.T)
        return y if self.shift is None else y + self.shift[row]

    def pdf(self, Y: Array) -> Array:
        """Weighted sum of the Gaussians at one point for each row.

        Parameters
        ----------
        Y : ndarray of shape (m, dy)
            One point for each row.

        Returns
        -------
        ndarray of shape (m,)
            The part of the density that comes from this block.
        """
        out = np.empty(len(self))
        for rows in row_blocks(len(self), len(self.centers), CACHED):
            part = self.take(rows)
            kernels = part._squared(Y[rows])
            kernels *= -0.5 * LOG2_E
            if not self.plain:
                kernels += LOG2_E * part.given
            np.exp2(kernels, out=kernels)
            sums = np.einsum("rk,rk->r", kernels, part.given) if self.plain else kernels.sum(axis=1)
            out[rows] = divided(sums, part._log_volumes())
        return out

    def pdf_on(self, points: Array) -> Array:
        """Weighted sum of the Gaussians of all rows at the same points.

        Parameters
        ----------
        points : ndarray of shape (G, dy)
            Points.

        Returns
        -------
        ndarray of shape (m, G)
            The part of the densities that comes from this block.
        """
        return self._pdf_on_fixed(points) if self.fixed else self._pdf_on_moved(points)

    def _pdf_on_fixed(self, points: Array) -> Array:
        """Densities on a grid if all rows have the same Gaussians: one table of kernels."""
        out, weights = np.empty((len(self), len(points))), self.weights
        for part in row_blocks(len(points), len(self.centers)):
            probe = self.weighted(np.empty((part.stop - part.start, 0)))
            out[:, part] = weights @ np.exp(-0.5 * probe._squared(points[part])).T
        return divided(out, self._log_volumes()[:1])

    def _pdf_on_moved(self, points: Array) -> Array:
        """Densities on a grid if each row has its own shift or scale."""
        out = np.empty((len(self), len(points)))
        for rows, part in tiles(len(self), len(points), 4 * len(self.centers)):
            grid, index = points[part], np.arange(len(self))[rows]
            repeated = self.take(np.repeat(index, len(grid)))
            terms = repeated.log_weights + repeated.log_kernels(np.tile(grid, (len(index), 1)))
            with np.errstate(over="ignore"):
                out[rows, part] = np.exp(terms).sum(axis=1).reshape(len(index), -1)
        return out


def draw_from_blocks(blocks: Sequence[Block], n: int, rng: np.random.Generator) -> Array:
    """Independent draws from each row of a mixture, ``n`` for each row: (m, n, dy)."""
    rows, dy = len(blocks[0]), blocks[0].n_outputs
    weights = np.concatenate([block.weights for block in blocks], axis=1)
    cumulative = np.cumsum(weights, axis=1, out=weights)
    cumulative /= cumulative[:, -1:]
    uniform = rng.random((rows, n))
    pairs = zip(cumulative, uniform, strict=True)
    pick = [np.searchsorted(c, u, side="right") for c, u in pairs]
    component = np.array(pick, dtype=np.intp).reshape(rows, n)
    out = rng.standard_normal((rows, n, dy))
    for block in blocks:
        at = np.nonzero((component >= 0) & (component < len(block.centers)))
        out[at] = block.place(at[0], component[at], out[at])
        component -= len(block.centers)
    return out


def divided(sums: Array, log_volume: Array) -> Array:
    """``sums / exp(log_volume)``; infinite where this overflows, also if the volume is zero."""
    with np.errstate(divide="ignore", over="ignore"):
        quotient: Array = np.exp(np.log(sums) - log_volume)
    return quotient


def without_common_frame(blocks: Sequence[Block]) -> tuple[Sequence[Block], Array, Array]:
    """Blocks without the shift of the first one; these shifts (m, dy), and the scales (m,).

    If all blocks have the same shift and scale, both are removed, so that all rows have the same
    centres and one table of kernels serves them all; else the scales are ones.  In both cases no
    digits are lost for a y with a large shift.
    """
    first, none = blocks[0], np.zeros((len(blocks[0]), blocks[0].n_outputs))
    shift = none if first.shift is None else first.shift
    if all(first.same_frame(block) for block in blocks):
        return [replace(block, shift=None, scale=None) for block in blocks], shift, first.scales
    moved = blocks if first.shift is None else [block.moved(-shift) for block in blocks]
    return moved, shift, np.ones(len(none))
