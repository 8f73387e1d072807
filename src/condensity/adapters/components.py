"""Weights, means and Cholesky factors of all Gaussians of a mixture, for other packages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array


@dataclass(frozen=True, eq=False)
class Components:
    """The K Gaussians of each of m rows, and the bounds of the outputs or None."""

    log_weights: Array  # (m, K)
    means: Array  # (m, K, dy)
    factors: Array  # (m, K, dy, dy) lower Cholesky factors of the covariances
    bounds: Any


def components_of(dist: Any, method: str) -> Components:
    """The Gaussians of a distribution.

    Parameters
    ----------
    dist : Distribution
        Gaussian mixtures, with or without bounds.
    method : str
        Name of the method that needs them, for the error.

    Returns
    -------
    Components
        Arrays of all Gaussians.

    Raises
    ------
    TypeError
        If the distribution is not a Gaussian mixture, with or without bounds.
    """
    whole = dist.compute()
    mixture = getattr(whole, "free", whole)
    if not hasattr(mixture, "blocks"):
        raise TypeError(
            f"{method} needs Gaussian mixtures, and a {type(whole).__name__} is not one: convert "
            "the density beside atoms (dist.continuous), the density before recalibration "
            "(dist.dist), or rows of a single model (dist[index])"
        )
    m, dy = len(mixture), mixture.n_outputs
    means, factors = [], []
    for block in mixture.blocks:
        shape = (m, len(block.centers), dy)
        means.append(np.broadcast_to(block.means(), shape))
        scaled = block.scales[:, None, None, None] * block.factor
        factors.append(np.broadcast_to(scaled, (*shape, dy)))
    return Components(
        mixture.log_weights,
        np.concatenate(means, axis=1),
        np.concatenate(factors, axis=1),
        getattr(whole, "bounds", None),
    )
