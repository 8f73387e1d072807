"""Conditional densities as distributions of PyTorch.

Gaussian mixtures become a ``MixtureSameFamily``.  Outputs with bounds are functions of a Gaussian
mixture, so they become a ``TransformedDistribution`` of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._utils.extras import require
from condensity.adapters.components import components_of


def as_torch(dist: Any, dtype: Any = None, device: Any = None) -> Any:
    """Conditional densities as a distribution of PyTorch with m rows.

    Parameters
    ----------
    dist : Distribution
        Gaussian mixtures, with or without bounds.
    dtype : torch.dtype, default=None
        Type of the numbers; None: ``torch.float64``.
    device : torch.device or str, default=None
        Where the numbers are kept; None: the default device of PyTorch.

    Returns
    -------
    torch.distributions.Distribution
        A ``MixtureSameFamily``, or a ``TransformedDistribution`` of one.

    Raises
    ------
    ModuleNotFoundError
        If PyTorch is not installed.
    TypeError
        If the densities have atoms, or are recalibrated.
    """
    torch = require("torch", "torch")
    laws, parts = require("torch.distributions", "torch"), components_of(dist, "to_torch")
    options = {"dtype": torch.float64 if dtype is None else dtype, "device": device}
    logits, means, factors = (
        torch.as_tensor(a, **options) for a in (parts.log_weights, parts.means, parts.factors)
    )
    gaussians = (
        laws.Normal(means[..., 0], factors[..., 0, 0])
        if means.shape[-1] == 1
        else laws.MultivariateNormal(means, scale_tril=factors)
    )
    mixture = laws.MixtureSameFamily(laws.Categorical(logits=logits), gaussians)
    if parts.bounds is None:
        return mixture
    ends = zip(parts.bounds.lower.tolist(), parts.bounds.upper.tolist(), strict=True)
    maps = [_from_free_coordinate(laws.transforms, *pair) for pair in ends]
    whole = maps[0] if len(maps) == 1 else laws.transforms.CatTransform(maps, dim=-1)
    return laws.TransformedDistribution(mixture, [whole])


def _from_free_coordinate(transforms: Any, lower: float, upper: float) -> Any:
    """The map of the free coordinate u to an output: the one of ``Bounds``, in PyTorch."""
    exp, affine = transforms.ExpTransform(), transforms.AffineTransform
    if np.isfinite(lower) and np.isfinite(upper):
        steps = [transforms.SigmoidTransform(), affine(lower, upper - lower)]
    elif np.isfinite(lower):
        steps = [exp, affine(lower, 1.0)]
    elif np.isfinite(upper):
        steps = [affine(0.0, -1.0), exp, affine(upper, -1.0)]
    else:
        steps = []
    return transforms.ComposeTransform(steps)
