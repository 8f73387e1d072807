"""Helpers of all displays: axes, colours, indices, names of outputs."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity._utils.extras import require
from condensity._utils.names import output_names
from condensity._utils.validation import check_targets

#: Okabe and Ito's colours for readers with any colour vision, without the pale yellow.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
INK, PALE = "#222222", "#8c8c8c"
#: A colour map that shows high and low values by lightness alone.
INTENSITY = "BuPu"


def single_axes(ax: Any) -> Any:
    """``ax``, or the axes of a new figure."""
    plt = require("matplotlib.pyplot", "plots")
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def grid_of_axes(ax: Any, rows: int, columns: int, size: tuple[float, float]) -> Any:
    """Axes (rows, columns) in a new figure, or in place of ``ax``; ``size`` of one panel."""
    plt = require("matplotlib.pyplot", "plots")
    if ax is None:
        figsize = (size[0] * columns, size[1] * rows)
        return plt.subplots(rows, columns, figsize=figsize, layout="constrained", squeeze=False)[1]
    ax.set_axis_off()
    grid = ax.get_subplotspec().subgridspec(rows, columns)
    return grid.subplots(squeeze=False)


def check_index(name: str, index: Any, count: int) -> int:
    """An index from 0 to ``count - 1``; negative indices count from the end."""
    if not isinstance(index, Integral) or not -count <= int(index) < count:
        raise ValueError(f"{name} must be an integer from {-count} to {count - 1}, got {index!r}")
    return int(index) % count


def output_name(y: Any, output: int, n_outputs: int) -> str:
    """The name of an output in ``y``; for unnamed outputs y, or y1, y2, ..."""
    if hasattr(y, "columns"):
        return str(list(y.columns)[output])
    if isinstance(getattr(y, "name", None), str) and y.name:
        return str(y.name)
    return output_names(n_outputs)[output]


def one_column(y: Any, output: int, n_outputs: int | None = None) -> tuple[Array, str]:
    """Values (n,) and name of one output of ``y``."""
    Y, _ = check_targets(y, n_outputs=n_outputs)
    index = check_index("output", output, Y.shape[1])
    return Y[:, index], output_name(y, index, Y.shape[1])


def robust_range(values: Array, margin: float = 0.08) -> tuple[float, float]:
    """Range of the values without the most extreme 1 %, widened by a relative ``margin``."""
    low, high = np.nanquantile(values, [0.005, 0.995])
    room = margin * float(high - low)
    return float(low) - room, float(high) + room


def draw_samples(ax: Any, x: Array | None, y: Array | None) -> None:
    """Draw samples as small transparent dots."""
    if x is not None and y is not None:
        ax.plot(x, y, ".", ms=3, color=INK, alpha=0.45)
