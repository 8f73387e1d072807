"""Conditional densities of one output as an ensemble of the package qp."""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._utils.extras import require
from condensity.adapters.components import components_of


def as_qp(dist: Any, ancil: Any = None) -> Any:
    """Conditional densities of one output as a qp ensemble of Gaussian mixtures.

    Parameters
    ----------
    dist : Distribution
        Gaussian mixtures of one output without bounds.
    ancil : dict, default=None
        Values that belong to the rows, with m entries each, for instance identifiers.

    Returns
    -------
    qp.Ensemble
        An ensemble of m distributions with the parametrisation ``qp.mixmod``.

    Raises
    ------
    ModuleNotFoundError
        If qp is not installed.
    TypeError
        If the densities have bounds or atoms, or are recalibrated.
    ValueError
        If there are several outputs.
    """
    qp = require("qp", "qp")
    if dist.n_outputs != 1:
        raise ValueError(
            f"to_qp is defined for one output, but the densities have {dist.n_outputs}: select one "
            "output first, with dist.marginal(j)"
        )
    parts = components_of(dist, "to_qp")
    if parts.bounds is not None:
        raise TypeError(
            "to_qp converts Gaussian mixtures, and a density with bounds is not one: fit with "
            "bounds=None, or pass quantiles to qp, with qp.quant.create_ensemble(quants=levels, "
            "locs=dist.quantile(levels))"
        )
    weights, means = np.exp(parts.log_weights), parts.means[..., 0]
    return qp.mixmod.create_ensemble(
        means=means, stds=parts.factors[..., 0, 0], weights=weights, ancil=ancil
    )
