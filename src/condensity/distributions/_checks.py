"""Argument validation for conditional densities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from condensity._typing import Array, Indices
from condensity._utils.parameters import check_count
from condensity.distributions.block import Block

#: Maximum number of terms in the slope of the map of several outputs with bounds.
MOST_TERMS = 3**6


def as_numbers(values: ArrayLike, name: str) -> Array:
    """``values`` as a float array without NaN."""
    out = np.asarray(values, dtype=float)
    if np.isnan(out).any():
        raise ValueError(f"{name} contains NaN: drop or impute these rows")
    return out


def rows_of(Y: ArrayLike, rows: int, columns: int) -> Array:
    """One point for each density: (m, dy).  With dy = 1, (m,) and a scalar are also allowed."""
    out = as_numbers(Y, "Y")
    if columns == 1 and out.ndim < 2:
        out = np.broadcast_to(out, (rows,))[:, None] if out.ndim == 0 else out[:, None]
    if out.shape != (rows, columns):
        raise ValueError(
            f"Y must have shape ({rows}, {columns}), one row for each density and one column for "
            f"each output, got {np.shape(Y)}: pass one point for each density, or use pdf_on(grid) "
            "for all densities at the same points"
        )
    return out


def rows_at(index: Any, rows: int) -> Indices:
    """Row numbers for ``index``: an integer, a slice, an array of integers or a mask."""
    out = np.atleast_1d(np.arange(rows)[index])
    if out.ndim != 1:
        raise IndexError(
            f"densities are indexed by row, got an index with {out.ndim} axes: pass an integer, a "
            "slice or a one-dimensional array"
        )
    return out


def grid_of(grid: ArrayLike, columns: int) -> Array:
    """Grid points (G, dy) for all densities.  With dy = 1, (G,) is also allowed."""
    out = as_numbers(grid, "grid")
    out = out[:, None] if columns == 1 and out.ndim == 1 else out
    if out.ndim != 2 or out.shape[1] != columns:
        raise ValueError(
            f"grid must have shape (G, {columns}), one column for each output, "
            f"got {np.shape(grid)}: stack the coordinates with np.column_stack"
        )
    return out


def row_bound(bound: ArrayLike, rows: int, name: str) -> Array:
    """Bound (m,) from a scalar or an array (m,); infinity is allowed."""
    out = as_numbers(bound, name)
    if out.shape not in ((), (rows,), (rows, 1)):
        raise ValueError(
            f"{name} must be a number or have shape ({rows},), one for each density, "
            f"got shape {out.shape}: select densities first, with dist[index]"
        )
    return np.broadcast_to(out.reshape(-1), (rows,))


def one_for_all(name: str, *values: Any) -> None:
    """Raise an error unless all ``values`` are numbers, the same for all rows."""
    if any(np.ndim(value) for value in values):
        raise TypeError(
            f"{name} must be {'numbers' if len(values) > 1 else 'a number'} for Dask collections: "
            "compute() the densities for values that differ by row"
        )


def ordered_bounds(lower: ArrayLike, upper: ArrayLike, rows: int) -> tuple[Array, Array]:
    """Bounds (m,) and (m,), with lower <= upper in every row."""
    a, b = row_bound(lower, rows, "lower"), row_bound(upper, rows, "upper")
    if (a > b).any():
        i = int(np.argmax(a > b))
        raise ValueError(f"lower exceeds upper in row {i} ({a[i]} > {b[i]}): swap the bounds")
    return a, b


def few_terms(count: int) -> None:
    """Raise an error if a sum over the slopes of several outputs has too many terms."""
    if count > MOST_TERMS:
        raise ValueError(
            f"squared_norm and modes of several outputs with two bounds each are sums of {count} "
            f"terms, three for each of these outputs in a product, and at most {MOST_TERMS} are "
            "computed: select fewer outputs, with dist.marginal([0, 1]), or use log_pdf"
        )


def probability(level: float) -> float:
    """Probability strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(
            f"level must lie strictly between 0 and 1, got {level}: pass a probability such as 0.9"
        )
    return float(level)


def levels_of(q: ArrayLike, name: str = "q") -> Array:
    """Probabilities strictly between 0 and 1: a number or (k,)."""
    out = as_numbers(q, name)
    invalid = out[~((out > 0) & (out < 1))]
    if out.ndim > 1 or invalid.size:
        raise ValueError(
            f"{name} must be a number or a one-dimensional array of numbers strictly between 0 and "
            f"1, got {invalid[0] if invalid.size else f'shape {out.shape}'}: pass probabilities "
            "such as 0.95"
        )
    return out


def side_of(tail: str) -> float:
    """1 for the upper tail, -1 for the lower one."""
    if tail not in ("lower", "upper"):
        raise ValueError(f"tail must be 'lower' or 'upper', got {tail!r}")
    return 1.0 if tail == "upper" else -1.0


def tail_question(
    threshold: ArrayLike, order: Any, tail: str, rows: int
) -> tuple[Array, int, float]:
    """Thresholds (m,), the order of a partial moment, and its side: 1 or -1."""
    t = row_bound(threshold, rows, "threshold")
    return t, check_count("order", order, low=0, high=8), side_of(tail)


def given_and_rest(
    columns: int | Sequence[int], values: ArrayLike, rows: int, total: int
) -> tuple[Indices, Indices, Array]:
    """Outputs that are given, the others, and the values of the given ones, (m, given)."""
    given = columns_of(columns, total)
    if len(given) == total:
        raise ValueError(
            f"columns contains all {total} outputs, so none is left: give fewer columns, or use "
            "log_pdf for the density at a point"
        )
    out = as_numbers(values, "values")
    if out.ndim == 1 and len(given) == 1 and out.shape == (rows,):
        out = out[:, None]
    try:
        out = np.broadcast_to(out, (rows, len(given)))
    except ValueError:
        raise ValueError(
            f"values must have shape ({rows}, {len(given)}), one row for each density and one "
            f"column for each of columns, or ({len(given)},) for all densities, got {out.shape}"
        ) from None
    if not np.isfinite(out).all():
        raise ValueError("values contains infinity: a density can be conditioned on finite values")
    return given, np.setdiff1d(np.arange(total), given), out


def inside(free: Array, values: Array) -> None:
    """Raise an error unless all ``values`` lie between their bounds: ``free`` is finite there."""
    bad = ~np.isfinite(free)
    if bad.any():
        raise ValueError(
            f"values contains {values[bad][0]:g}, at or beyond a bound, where the density is zero: "
            "pass values strictly between the bounds"
        )


def same_kind(name: str, ours: Any, theirs: Any) -> None:
    """Raise an error unless two densities have the same rows, outputs and bounds."""
    if not hasattr(theirs, "log_pdf"):
        raise TypeError(
            f"other must be a Distribution, as predict_dist returns it, got {type(theirs).__name__}"
        )
    sizes = [(len(dist), dist.n_outputs) for dist in (ours, theirs)]
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"{name} needs densities with the same rows and outputs, got {sizes[0][0]} rows of "
            f"{sizes[0][1]} outputs and {sizes[1][0]} rows of {sizes[1][1]}: predict both for the "
            "same inputs"
        )
    ends = [dist._free_coordinate()[1] for dist in (ours, theirs)]  # refused for Dask collections
    if hasattr(ours, "ask") or hasattr(theirs, "ask"):
        return  # computed chunk by chunk, and checked there
    if not (ends[0] is ends[1] or (ends[0] and ends[1] and ends[0].equals(ends[1]))):
        raise ValueError(
            f"{name} needs densities with the same bounds: fit both estimators with the same bounds"
        )


def one_output(columns: int, what: str) -> None:
    """Raise an error unless dy = 1; ``what`` is the name of the method."""
    if columns != 1:
        raise ValueError(
            f"{what} is defined for one output, but the densities have {columns}: "
            "select one output first, with dist.marginal(j)"
        )


def columns_of(columns: int | Sequence[int], total: int) -> NDArray[np.intp]:
    """Distinct output numbers in [0, total); negative numbers count from the end."""
    out = np.atleast_1d(np.asarray(columns))
    inside = out.ndim == 1 and out.size > 0 and np.issubdtype(out.dtype, np.integer)
    if not inside or (out < -total).any() or (out >= total).any():
        raise ValueError(
            f"columns must be integers from {-total} to {total - 1}, got {columns!r}: "
            f"the densities have {total} outputs"
        )
    out = out % total
    if len(np.unique(out)) < len(out):
        raise ValueError(
            f"columns contains an output twice, got {columns!r}: list each output once"
        )
    return out


def shares_of(weights: ArrayLike | None, rows: int, count: int) -> Array:
    """Weights (rows, count) with sums one, from (count,) or (rows, count)."""
    out = np.asarray(np.ones(count) if weights is None else weights, dtype=float)
    if out.ndim < 2:
        return np.broadcast_to(mixing_weights(out, count), (rows, count))
    valid = out.shape == (rows, count) and (np.isfinite(out) & (out >= 0)).all()
    if not valid or not (out.sum(axis=1) > 0).all():
        raise ValueError(
            f"weights must have shape ({count},) or ({rows}, {count}), with finite numbers >= 0 "
            f"that are not all 0 in a row, got shape {out.shape}"
        )
    shares: Array = out / out.sum(axis=1, keepdims=True)
    return shares


def mixing_weights(weights: ArrayLike | None, count: int) -> Array:
    """Weights (count,) with sum one; equal weights for None."""
    out = np.ones(count) if weights is None else np.asarray(weights, dtype=float)
    if out.shape != (count,) or not (np.isfinite(out) & (out >= 0)).all() or not out.sum() > 0:
        raise ValueError(
            f"weights must be {count} finite numbers >= 0, not all 0, one for each mixture, "
            f"got {weights!r}: pass None for equal weights"
        )
    shares: Array = out / out.sum()
    return shares


def checked_blocks(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Blocks with float arrays of matching shapes and valid values."""
    out = tuple(_as_arrays(block) for block in blocks)
    if not out:
        raise ValueError("a mixture needs at least one block, got none: pass [Block(...)]")
    for block in out:
        _check_shapes(block, len(out[0].given), out[0].centers.shape[1:])
    return out


def _as_arrays(block: Block) -> Block:
    """The block with all fields as float arrays."""
    weights, centers, factor = (
        np.asarray(a, dtype=float) for a in (block.log_weights, block.centers, block.factor)
    )
    shift, scale = (
        None if a is None else np.asarray(a, dtype=float) for a in (block.shift, block.scale)
    )
    return Block(weights, centers, factor, shift, scale, background=block.background)


def _check_shapes(block: Block, m: int, outputs: tuple[int, ...]) -> None:
    """Raise an error unless the block has m rows and the outputs of the other blocks."""
    if block.log_weights.ndim != 2 or block.centers.ndim != 2 or block.centers.size == 0:
        raise ValueError(
            "a block needs log_weights of shape (m, b) and centers of shape (b, dy), b and dy > 0, "
            f"got {block.log_weights.shape} and {block.centers.shape}: use centers.reshape(-1, 1) "
            "for one output"
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
                "all blocks of a mixture must have the same rows and outputs"
            )
    _check_values(block)


def _check_values(block: Block) -> None:
    """Raise an error unless all fields are finite, with a valid factor and positive scales."""
    fields = (block.centers, block.factor, block.shift, block.scale)
    if not all(np.isfinite(a).all() for a in fields if a is not None):
        raise ValueError(
            "centers, factor, shift and scale of a block must be finite: remove NaN and infinity"
        )
    if not (np.diagonal(block.factor) > 0).all() or np.triu(block.factor, 1).any():
        raise ValueError(
            "factor must be lower triangular with a positive diagonal: "
            "pass np.linalg.cholesky(covariance)"
        )
    if block.scale is not None and not (block.scale > 0).all():
        raise ValueError(
            f"scale must be > 0 in every row, got {block.scale.min()}: pass positive scales"
        )
