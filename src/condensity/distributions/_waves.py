"""Answers of one-dimensional mixtures from their characteristic functions.

``phi_i(w) = E exp(i w (Y - o_i))`` is one product of the weights and a table of the centres for
each block; the shift of a row is only a phase factor.  A Gaussian of width s has no frequencies
beyond 9 / s, and a density that vanishes outside an interval of length P is a Fourier series with
the frequencies ``2 pi j / P``.  So a few dozen numbers for each row replace thousands of Gaussians:

    p(o + t) = (1 + 2 sum_j Re[phi_j exp(-i w_j t)]) / P
    F(o + t) = S(t) - S(end),  S(t) = t / P - sum_j Im[phi_j exp(-i w_j t)] / (pi j)
    int p^2 dy = (1 + 2 sum_j |phi_j|^2) / P
    E|Y - Y'| = P / 6 + 2 Var[Y] / P - P / pi^2 sum_j |phi_j|^2 / j^2
    E sign(A - B) = 4 / pi sum over odd j of Im[phi^A_j conj(phi^B_j)] / j,  frequencies pi j / P

where (in the last line) A - B lies within (-P, P).  The errors of the sums are rounding errors:
about 1e-14 of the height of the narrowest Gaussian.  Rows that need too many frequencies, because
their Gaussians are narrow or far apart, are left to other methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from condensity._typing import Array, Indices, Mask
from condensity._utils.numerics import log_sum_exp, row_blocks
from condensity.distributions._univariate import ROOT_2PI
from condensity.distributions.block import Block

#: A Gaussian is negligible beyond this number of standard deviations: ``exp(-40)`` of its height.
#: This holds for its density and for its characteristic function.
END = 9.0
#: Beyond this number of standard deviations the density of a Gaussian is zero in floating point.
ZERO = 40.0
#: Values of a density below this part of its unit are not taken from a series: its error, about
#: 1e-14, would be more than 1e-7 of them.
FAINT = 1e-7
#: Exponent that lifts the tails of a density, in units of its widest Gaussian; number of values in
#: the tails of a row for which this is worth while; largest exponent, which limits rounding errors.
STEEP, MANY, MOST_STEEP = 8.0, 16, 1e4
#: Largest distance of a point from the middle of a grid, in periods, for which a series is used.
FAR = 8.0
#: A grid of G points needs G K exponentials of K Gaussians or J (G + K) products of J frequencies.
#: Up to this ratio of the second number to the first one, the series takes less time.
WAVES_A_TERM = 4.0
#: Frequencies for each Gaussian, up to which the series takes less time than all pairs.
WAVES_A_CENTER = 20
#: Steps of Halley's method from the middle of a cell, which is a third of a standard deviation.
STARTING_STEPS = 3
#: Phase factors are products of two factors; this many powers are in the first one.
POWERS = 16


def possible(blocks: Sequence[Block]) -> bool:
    """Whether the blocks have one output, and widths that do not depend on the row."""
    return all(block.n_outputs == 1 and block.scale is None for block in blocks)


def ends(blocks: Sequence[Block], reach: float = END) -> tuple[Array, Array]:
    """The interval that holds all Gaussians up to ``reach`` standard deviations: (m,) and (m,)."""
    lower, upper = np.full(len(blocks[0]), np.inf), np.full(len(blocks[0]), -np.inf)
    for block in blocks:
        shift, sd = moved(block), float(block.factor[0, 0])
        np.minimum(lower, shift + (block.centers.min() - reach * sd), out=lower)
        np.maximum(upper, shift + (block.centers.max() + reach * sd), out=upper)
    return lower, upper


def counts(blocks: Sequence[Block], length: Array) -> Array:
    """Number of frequencies that a series of period ``length`` (m,) needs: (m,)."""
    with np.errstate(over="ignore"):
        count: Array = 1 + np.ceil(END * length / (2 * np.pi * narrowest(blocks)))
    return count


def _difference_counts(blocks: Sequence[Block], length: Array) -> Array:
    """The same for the difference of two outputs, whose Gaussians are wider: (m,)."""
    count: Array = np.ceil(counts(blocks, length) / np.sqrt(2))
    return count


def _most(blocks: Sequence[Block]) -> float:
    """Number of frequencies up to which a series is faster than all pairs of Gaussians."""
    width = sum(len(block.centers) for block in blocks)
    shared = all(block.same_frame(blocks[0]) for block in blocks)
    return width / 4 if shared else WAVES_A_CENTER * width


def _most_on(blocks: Sequence[Block], points: Array) -> float:
    """Number of frequencies up to which a series is faster than all Gaussians at ``points``."""
    width = sum(len(block.centers) for block in blocks)
    return WAVES_A_TERM * width * len(points) / (width + len(points))


def narrowest(blocks: Sequence[Block]) -> float:
    """The smallest standard deviation of a Gaussian."""
    return min(float(block.factor[0, 0]) for block in blocks)


def moved(block: Block) -> Array:
    """Shift of each row, for one output: (m,)."""
    return np.zeros(len(block)) if block.shift is None else block.shift[:, 0]


def series(
    blocks: Sequence[Block], origin: Array, spacing: float, numbers: Indices, width: int = 0
) -> Iterator[tuple[slice, slice, NDArray[np.complex128]]]:
    """``E exp(i spacing j (Y - origin_i))`` for the equally spaced ``numbers`` j.

    Yields slices of rows and of numbers with a table (rows, numbers), in pieces of bounded size:
    for ``width`` Gaussians, if there are no more in the blocks.
    """
    width = max(width, sum(len(block.centers) for block in blocks))
    for part in row_blocks(len(numbers), 2 * width):
        j = numbers[part]
        tables = [_table(block, spacing, j) for block in blocks]
        for rows in row_blocks(len(origin), 8 * len(j)):
            phi = np.zeros((rows.stop - rows.start, len(j)), dtype=complex)
            for block, table in zip(blocks, tables, strict=True):
                own = block.take(rows)
                sums = own.weights @ table
                term = sums[:, : len(j)] + 1j * sums[:, len(j) :]
                term *= _phases(spacing * (moved(own) - origin[rows]), j)
                phi += term
            yield rows, part, phi


def _table(block: Block, spacing: float, j: Indices) -> Array:
    """``cos(w c_k)`` and ``sin(w c_k)``, times the characteristic function of N(0, s^2)."""
    table = _phases(spacing * block.centers[:, 0], j)
    table *= np.exp(-0.5 * (block.factor[0, 0] * spacing * j) ** 2)
    return np.concatenate([table.real, table.imag], axis=1)


def _phases(angle: Array, j: Indices) -> NDArray[np.complex128]:
    """``exp(i angle_r j)`` for equally spaced j, as products of few exponentials: (r, j)."""
    step = j[1] - j[0] if len(j) > 1 else 1
    fine = np.exp(1j * angle[:, None] * (step * np.arange(POWERS)))
    coarse = np.exp(1j * angle[:, None] * j[::POWERS])
    table = coarse[:, :, None] * fine[:, None, :]
    phases: NDArray[np.complex128] = table.reshape(len(angle), -1)[:, : len(j)]
    return phases


def groups(need: Array, most: float) -> tuple[list[Indices], Indices]:
    """Rows that share a series, because they ``need`` similar numbers of frequencies; the rest.

    The rest needs more than ``most`` frequencies.
    """
    few = need <= most
    least = need[few].min(initial=np.inf)
    level = np.floor(0.5 * np.log2(np.where(few, need, least) / least)) if few.any() else need
    rows = [np.flatnonzero(few & (level == value)) for value in np.unique(level[few])]
    return rows, np.flatnonzero(~few)


def take(blocks: Sequence[Block], rows: Indices) -> Sequence[Block]:
    """Blocks of some rows; they are not copied if these are all rows."""
    return blocks if len(rows) == len(blocks[0]) else [block.take(rows) for block in blocks]


def pdf_on(blocks: Sequence[Block], y: Array, faint: float = FAINT) -> tuple[Array, Mask]:
    """Densities at the points ``y`` (G,): (m, G); and where they are unknown.

    The known values have a relative error below 1e-6.  Values up to ``faint``, in units of the
    height of the Gaussians, are unknown, and so are those of rows that need too many frequencies.
    With a smaller ``faint`` their relative error is 1e-13 over their height.
    """
    out = np.zeros((len(blocks[0]), len(y)))
    lower, upper = ends(blocks)
    length, middle = upper - lower, 0.5 * (y.min() + y.max())
    # Phases have few correct digits where points or Gaussians are many periods apart.
    apart = np.maximum(np.abs(y - middle).max(), np.maximum(upper - middle, middle - lower))
    need = np.where(apart <= FAR * length, counts(blocks, length), np.inf)
    for rows in groups(need, _most_on(blocks, y))[0]:
        own, period = take(blocks, rows), float(length[rows].max())
        spacing, j = 2 * np.pi / period, np.arange(1, int(need[rows].max()) + 1)
        values = np.full((len(rows), len(y)), 1 / period)
        for piece, part, phi in series(own, np.full(len(rows), middle), spacing, j):
            angles = (spacing * j[part])[:, None] * (y - middle)
            table = np.concatenate([np.cos(angles), np.sin(angles)])
            values[piece] += np.concatenate([phi.real, phi.imag], axis=1) @ (2 / period * table)
        unit = sum(block.weights.sum(axis=1) / (ROOT_2PI * block.factor[0, 0]) for block in own)
        values[values <= faint * np.asarray(unit)[:, None]] = 0.0
        out[rows] = values
    out[(y < lower[:, None]) | (y > upper[:, None])] = 0.0
    return out, out == 0


def density_on(blocks: Sequence[Block], y: Array, needed: Mask | None = None) -> Array:
    """Densities at the points ``y`` (G,), with a relative error below 1e-6: (m, G).

    In the tails, where the series of p has no correct digits, that of ``p(y) exp(c y)`` has some.
    What remains are sums of Gaussians.  Small values are computed where they are ``needed``; None:
    wherever they are not zero.
    """
    out, faint = pdf_on(blocks, y)
    faint &= nonzero(blocks, y) if needed is None else needed
    steep = STEEP / max(float(block.factor[0, 0]) for block in blocks)
    for power in (steep, -steep):
        rows = np.flatnonzero(faint.sum(axis=1) >= MANY)
        if len(rows) and steep * np.abs(y).max() < MOST_STEEP:
            log_mass, tilted = _tilted([block.take(rows) for block in blocks], power)
            values, unknown = pdf_on(tilted, y)
            with np.errstate(over="ignore", invalid="ignore"):  # not where p is faint
                values *= np.exp(log_mass[:, None] - power * y)
            out[rows] = np.where(faint[rows], values, out[rows])
            faint[rows] &= unknown
    row, point = np.nonzero(faint)
    for part in row_blocks(len(row), sum(len(block.centers) for block in blocks)):
        r, g = row[part], point[part]
        out[r, g] = sum(block.take(r).pdf(y[g, None]) for block in blocks)
    return out


def _tilted(blocks: Sequence[Block], power: float) -> tuple[Array, Sequence[Block]]:
    """``log E exp(power Y)`` (m,), and the blocks of the normalised ``p(y) exp(power y)``."""
    tilted = [block.tilt(np.array([power])) for block in blocks]
    log_mass = log_sum_exp(np.concatenate([block.log_weights for block in tilted], axis=1))
    logs = [block.log_weights - log_mass[:, None] for block in tilted]
    return log_mass, [block.weighted(log) for block, log in zip(tilted, logs, strict=True)]


def nonzero(blocks: Sequence[Block], y: Array) -> Mask:
    """Where the densities at the points ``y`` (G,) are not zero in floating point: (m, G)."""
    first, last = ends(blocks, ZERO)
    inside: Mask = (y >= first[:, None]) & (y <= last[:, None])
    return inside


def squared_norms(blocks: Sequence[Block]) -> tuple[Array, Indices]:
    """``int p^2 dy``: (m,); and the rows that are left to other methods."""
    out = np.zeros(len(blocks[0]))
    lower, upper = ends(blocks)
    need = _difference_counts(blocks, upper - lower)
    shared, rest = groups(need, _most(blocks))
    for rows in shared:
        period, count = float((upper - lower)[rows].max()), int(need[rows].max())
        total, j = np.ones(len(rows)), np.arange(1, count + 1)
        for piece, _, phi in series(take(blocks, rows), lower[rows], 2 * np.pi / period, j):
            total[piece] += 2 * (phi.real**2 + phi.imag**2).sum(axis=1)
        out[rows] = total / period
    return out, rest


def overlaps(a: Block, b: Block) -> tuple[Array, Indices]:
    """``int p_a p_b dy`` of two blocks: (m,); and the rows that are left to other methods."""
    out = np.zeros(len(a))
    lower, upper = ends([a, b])
    width, sd = len(a.centers) + len(b.centers), float(np.hypot(a.factor[0, 0], b.factor[0, 0]))
    with np.errstate(over="ignore"):
        need = 1 + np.ceil(END * (upper - lower) / (2 * np.pi * sd))
    shared, rest = groups(need, width)
    for rows in shared:
        period, j = float((upper - lower)[rows].max()), np.arange(1, int(need[rows].max()) + 1)
        own = [take([block], rows) for block in (a, b)]
        total = np.prod([block.weights.sum(axis=1) for (block,) in own], axis=0)
        both = [series(block, lower[rows], 2 * np.pi / period, j, width) for block in own]
        for (piece, _, ours), (_, _, theirs) in zip(*both, strict=True):
            total[piece] += 2 * np.einsum("rj,rj->r", ours, theirs.conj()).real
        out[rows] = np.maximum(total / period, 0.0)
    return out, rest


def mean_differences(
    blocks: Sequence[Block], variances: Callable[[Indices], Array]
) -> tuple[Array, Indices]:
    """``E|Y - Y'|``: (m,); and the rows that are left.  ``variances`` gives those of some rows."""
    out = np.zeros(len(blocks[0]))
    lower, upper = ends(blocks)
    need = _difference_counts(blocks, upper - lower)
    shared, rest = groups(need, _most(blocks))
    for rows in shared:
        period, count = float((upper - lower)[rows].max()), int(need[rows].max())
        total, j = np.zeros(len(rows)), np.arange(1, count + 1)
        own = take(blocks, rows)
        for piece, part, phi in series(own, lower[rows], 2 * np.pi / period, j):
            total[piece] += (phi.real**2 + phi.imag**2) @ (1.0 / j[part] ** 2)
        out[rows] = period / 6 + 2 / period * variances(rows) - period / np.pi**2 * total
    return out, rest


def sign_means(a: Sequence[Block], b: Sequence[Block]) -> tuple[Array, Indices]:
    """``E sign(A - B)`` for independent A ~ a_i and B ~ b_i: (m,); and the rows that are left."""
    out = np.zeros(len(a[0]))
    lower, upper = ends([*a, *b])
    need = _difference_counts([*a, *b], upper - lower)
    shared, rest = groups(need, _most(a))
    width = max(sum(len(block.centers) for block in blocks) for blocks in (a, b))
    for rows in shared:
        period, count = float((upper - lower)[rows].max()), int(need[rows].max())
        total, j = np.zeros(len(rows)), np.arange(1, 2 * count + 2, 2)
        both = [
            series(take(blocks, rows), lower[rows], np.pi / period, j, width) for blocks in (a, b)
        ]
        for (piece, part, ours), (_, _, theirs) in zip(*both, strict=True):
            total[piece] += (ours * theirs.conj()).imag @ (4 / (np.pi * j[part]))
        out[rows] = total
    return out, rest


def cdf_around(blocks: Sequence[Block], u: Array, x: Array) -> tuple[Array, Indices]:
    """``F_i(u_i + x_n)`` for points ``u`` (m,) and offsets ``x`` (N,): (m, N); and the rest."""
    place, out = u[:, None] + x, np.zeros((len(u), len(x)))
    lower, upper = ends(blocks)
    need = counts(blocks, upper - lower)
    shared, rest = groups(need, _most_on(blocks, x))
    for rows in shared:
        own, period = take(blocks, rows), float((upper - lower)[rows].max())
        spacing, j = 2 * np.pi / period, np.arange(1, int(need[rows].max()) + 1)
        values = (place[rows] - lower[rows, None]) / period
        for piece, part, phi in series(own, lower[rows], spacing, j):
            omega, share = spacing * j[part], 1 / (np.pi * j[part])
            values[piece] += (phi.imag @ share)[:, None]
            phi *= _phases(spacing * (lower - u)[rows][piece], j[part])
            table = share[:, None] * np.exp(1j * omega[:, None] * x)
            values[piece] += phi.real @ table.imag - phi.imag @ table.real
        out[rows] = np.clip(values, 0.0, 1.0)  # one period further, F has grown by one
    return out, rest


def quantile_starts(blocks: Sequence[Block], q: Array) -> Array:
    """Quantiles of the levels ``q`` (k,), nearly to rounding error: (m, k); NaN for other rows.

    Each is found in a table of F, and then by Halley's method in a cell of this table.
    """
    out, (lower, upper) = np.full((len(blocks[0]), len(q)), np.nan), ends(blocks)
    need = counts(blocks, upper - lower)
    for rows in groups(need, sum(len(block.centers) for block in blocks) / 4)[0]:
        period, j = float((upper - lower)[rows].max()), np.arange(1, int(need[rows].max()) + 1)
        spacing, phi = 2 * np.pi / period, np.empty((len(rows), len(j)), dtype=complex)
        for piece, part, values in series(take(blocks, rows), lower[rows], spacing, j):
            phi[piece, part] = values
        x = np.linspace(0.0, period, 2 * len(j) + 1)
        base, table = phi.imag @ (1 / (np.pi * j)), np.exp(1j * np.outer(spacing * j, x))
        table *= (1 / (np.pi * j))[:, None]
        F = x / period + base[:, None] + phi.real @ table.imag - phi.imag @ table.real
        for level, found in zip(q, out.T, strict=True):
            cell = np.clip((level > F).sum(axis=1), 1, len(x) - 1)
            t, ends_of_cell = 0.5 * (x[cell - 1] + x[cell]), (x[cell - 1], x[cell])
            for _ in range(STARTING_STEPS):
                z = phi * _phases(-spacing * t, j)
                f = t / period + base - z.imag @ (1 / (np.pi * j)) - level
                density = (1 + 2 * z.real.sum(axis=1)) / period
                slope = 2 / period * (z.imag @ (spacing * j))
                with np.errstate(all="ignore"):  # the density may be zero
                    step = f * density / (density**2 - 0.5 * f * slope)
                t = np.clip(np.where(np.isfinite(step), t - step, t), *ends_of_cell)
            found[rows] = lower[rows] + t
    return out
