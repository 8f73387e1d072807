"""Pictures of conditional densities, with matplotlib (``pip install 'condensity[plots]'``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._extras import require
from condensity._validation import check_same_length, check_targets
from condensity.core.kernels import Array
from condensity.estimators.reducer import DensityReducer


def plot_density(model: DensityReducer, X: Any, y: Any, *, ax: Any = None) -> Any:
    """Draw p(y|z) as a heat map under the samples, for one output.

    With one component the abscissa is z.  With several it is the direction of z along which the
    conditional mean changes most, and the heat map is the slice where the others are at their mean.

    Parameters
    ----------
    model : fitted LSCE
    X, y : samples to draw
    ax : matplotlib axes, optional

    Returns
    -------
    ax
    """
    plt = require("matplotlib.pyplot", "plots")
    ax = plt.subplots(layout="constrained")[1] if ax is None else ax
    if not isinstance(model, DensityReducer):
        raise TypeError(f"plot_density draws a fitted LSCE, got {type(model).__name__}")
    Y, _ = check_targets(y)
    if Y.shape[1] > 1 or model.predict_dist(X[:1]).n_outputs > 1:
        raise ValueError("plot_density draws one output: fit the model to a single column of y")
    check_same_length(X, Y)
    y = Y[:, 0]
    along, positions, Z = _scan(model, X)
    grid = np.linspace(*_stretch(y), 300)
    density = model.predict_dist_reduced(Z).pdf_on(grid)
    # A few sharp peaks must not make all the rest look empty.
    top = np.quantile(density.max(axis=1), 0.9)
    ax.pcolormesh(positions, grid, density.T, vmin=0, vmax=top, cmap="BuPu", rasterized=True)
    ax.plot(along, y, ".", ms=3, color="#222222", alpha=0.45)
    ax.set(
        xlabel="z" if model.n_components_ == 1 else "z, where the mean changes most",
        ylabel="y",
        xlim=(positions[0], positions[-1]),
        ylim=(grid[0], grid[-1]),
    )
    return ax


def _scan(model: DensityReducer, X: Any) -> tuple[Array, Array, Array]:
    """Where the samples lie along the abscissa, positions to draw at, and the z there."""
    Z = np.asarray(model.transform(X), dtype=float)
    direction = np.ones(1)
    if Z.shape[1] > 1:
        direction = np.linalg.lstsq(Z - Z.mean(axis=0), model.predict(X), rcond=None)[0].ravel()
        direction /= np.linalg.norm(direction)
    along = Z @ direction
    low, high = np.quantile(along, [0.005, 0.995])
    positions = np.linspace(low, high, 200)
    rest = Z.mean(axis=0) - (Z.mean(axis=0) @ direction) * direction
    return along, positions, positions[:, None] * direction + rest


def _stretch(values: Array) -> tuple[float, float]:
    """The range of almost all values: a single outlier must not squeeze the picture."""
    low, high = np.quantile(values, [0.005, 0.995])
    margin = 0.08 * float(high - low)
    return float(low) - margin, float(high) + margin
