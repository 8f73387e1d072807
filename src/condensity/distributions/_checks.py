"""What a conditional mixture accepts, and the words in which it refuses the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from condensity._typing import Array, Indices
from condensity.distributions.block import Block


def as_numbers(values: ArrayLike, name: str) -> Array:
    """``values`` as floats, none of them NaN."""
    out = np.asarray(values, dtype=float)
    if np.isnan(out).any():
        raise ValueError(f"{name} contains NaN: drop or impute the rows concerned")
    return out


def rows_of(Y: ArrayLike, rows: int, columns: int) -> Array:
    """One point for each density: (m, dy), where dy = 1 also takes (m,) and a scalar."""
    out = as_numbers(Y, "Y")
    if columns == 1 and out.ndim < 2:
        out = np.broadcast_to(out, (rows,))[:, None] if out.ndim == 0 else out[:, None]
    if out.shape != (rows, columns):
        raise ValueError(
            f"Y must have shape ({rows}, {columns}), one row for each density and one column for "
            f"each output, got {np.shape(Y)}: pass one point a density, or use pdf_on(grid) for "
            "all densities at the same points"
        )
    return out


def rows_at(index: Any, rows: int) -> Indices:
    """The numbers of the rows that ``index`` stands for: an integer, slice, array or mask."""
    out = np.atleast_1d(np.arange(rows)[index])
    if out.ndim != 1:
        raise IndexError("a mixture has one axis, its rows: index it with at most one array")
    return out


def grid_of(grid: ArrayLike, columns: int) -> Array:
    """Points (G, dy) shared by all densities; (G,) will do when dy = 1."""
    out = as_numbers(grid, "grid")
    out = out[:, None] if columns == 1 and out.ndim == 1 else out
    if out.ndim != 2 or out.shape[1] != columns:
        raise ValueError(
            f"grid must have shape (G, {columns}), one column for each output, "
            f"got {np.shape(grid)}: stack the coordinates with np.column_stack"
        )
    return out


def row_bound(bound: ArrayLike, rows: int, name: str) -> Array:
    """Scalar or (m,) bound as (m,), infinities included."""
    out = as_numbers(bound, name)
    if out.shape not in ((), (rows,), (rows, 1)):
        raise ValueError(
            f"{name} must be a number or have shape ({rows},), one for each density, "
            f"got shape {out.shape}: select densities with mixture[index] first"
        )
    return np.broadcast_to(out.reshape(-1), (rows,))


def ordered_bounds(lower: ArrayLike, upper: ArrayLike, rows: int) -> tuple[Array, Array]:
    """Both bounds as (m,), the lower nowhere above the upper."""
    a, b = row_bound(lower, rows, "lower"), row_bound(upper, rows, "upper")
    if (a > b).any():
        i = int(np.argmax(a > b))
        raise ValueError(f"lower exceeds upper in row {i} ({a[i]} > {b[i]}): swap the bounds")
    return a, b


def probability(level: float) -> float:
    """``level`` strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(
            f"level must lie strictly between 0 and 1, got {level}: pass a probability such as 0.9"
        )
    return float(level)


def one_output(columns: int, what: str) -> None:
    """Refuse ``what`` unless dy = 1."""
    if columns != 1:
        raise ValueError(
            f"{what} is defined for one output, this mixture has {columns}: "
            "take one of them first, mixture.marginal(j)"
        )


def columns_of(columns: int | Sequence[int], total: int) -> NDArray[np.intp]:
    """Distinct output indices in [0, total), negative ones counted from the end."""
    out = np.atleast_1d(np.asarray(columns))
    inside = out.ndim == 1 and out.size > 0 and np.issubdtype(out.dtype, np.integer)
    if not inside or (out < -total).any() or (out >= total).any():
        raise ValueError(
            f"columns must be integers from {-total} to {total - 1}, got {columns!r}: "
            f"this mixture has {total} outputs"
        )
    out = out % total
    if len(np.unique(out)) < len(out):
        raise ValueError(f"columns name an output twice, got {columns!r}: list each output once")
    return out


def mixing_weights(weights: ArrayLike | None, count: int) -> Array:
    """``count`` weights >= 0 that sum to one; equal when None."""
    out = np.ones(count) if weights is None else np.asarray(weights, dtype=float)
    if out.shape != (count,) or not (np.isfinite(out) & (out >= 0)).all() or not out.sum() > 0:
        raise ValueError(
            f"weights must be {count} finite numbers >= 0, not all 0, one for each mixture, "
            f"got {weights!r}: leave them out for equal weights"
        )
    shares: Array = out / out.sum()
    return shares


def checked_blocks(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Blocks as float arrays whose shapes agree within each and between them."""
    out = tuple(_as_arrays(block) for block in blocks)
    if not out:
        raise ValueError("a mixture needs at least one block, got none: pass [Block(...)]")
    for block in out:
        _check_shapes(block, len(out[0].given), out[0].centers.shape[1:])
    return out


def _as_arrays(block: Block) -> Block:
    weights, centers, factor = (
        np.asarray(a, dtype=float) for a in (block.log_weights, block.centers, block.factor)
    )
    shift, scale = (
        None if a is None else np.asarray(a, dtype=float) for a in (block.shift, block.scale)
    )
    return Block(weights, centers, factor, shift, scale, background=block.background)


def _check_shapes(block: Block, m: int, outputs: tuple[int, ...]) -> None:
    if block.log_weights.ndim != 2 or block.centers.ndim != 2 or block.centers.size == 0:
        raise ValueError(
            "a block needs log_weights of shape (m, b) and centers of shape (b, dy), b and dy > 0, "
            f"got {block.log_weights.shape} and {block.centers.shape}: reshape(-1, 1) one output"
        )
    b, dy = len(block.centers), outputs[0] if outputs else -1
    expected = {
        "log_weights": (m, b),
        "centers": (b, dy),
        "factor": (dy, dy),
        "shift": (m, dy),
        "scale": (m,),
    }
    for name, shape in expected.items():
        value = getattr(block, name)
        if value is not None and value.shape != shape:
            raise ValueError(
                f"{name} of a block must have shape {shape}, got {value.shape}: "
                "all blocks of a mixture share their rows and outputs"
            )
    _check_values(block)


def _check_values(block: Block) -> None:
    fields = (block.centers, block.factor, block.shift, block.scale)
    if not all(np.isfinite(a).all() for a in fields if a is not None):
        raise ValueError("centers, factor, shift and scale of a block must be finite numbers")
    if not (np.diagonal(block.factor) > 0).all() or np.triu(block.factor, 1).any():
        raise ValueError(
            "factor must be lower triangular with a positive diagonal: "
            "pass np.linalg.cholesky(covariance)"
        )
    if block.scale is not None and not (block.scale > 0).all():
        raise ValueError(f"scale must be > 0 in every row, got {block.scale.min()}")
