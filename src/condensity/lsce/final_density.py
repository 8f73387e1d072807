"""The final density: the configurations in the average, their weights, and the stretch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity._typing import Array
from condensity.data.chunks import RemainingSamples
from condensity.lsce.calibration import best_stretch
from condensity.lsce.configurations import Configuration
from condensity.lsce.full_data import PendingFit, fit_coefficients
from condensity.members.averaged import AveragedMembers
from condensity.members.member import MemberView, OutputKernels
from condensity.members.settings import EnsembleOptions, Setting


@dataclass(frozen=True, eq=False)
class FinalDensity:
    """The average over configurations, fitted to all samples."""

    weights: Array  # of the configurations in the average; some may be zero
    settings: Sequence[Setting]  # of the same
    parts: Sequence[tuple[float, AveragedMembers]]  # those with a positive weight
    stretch: Array  # (dy,) factor of the kernels, about the means; not of the background
    loss: float  # held-out, of the average before it is stretched; NaN without folds


def average_of(
    options: EnsembleOptions,
    configurations: Sequence[Configuration],
    views: Sequence[MemberView],
    subspaces: Sequence[Sequence[Array]],
    remaining: RemainingSamples | None,
) -> list[AveragedMembers]:
    """Fit the coefficients of all configurations to all samples.

    ``views`` are those of all samples, ``subspaces`` those of the members in the average.
    """
    pending = [
        _pending(options, c, view, Ws)
        for c, view, Ws in zip(configurations, views, subspaces, strict=True)
    ]
    return fit_coefficients(pending, remaining)


def _pending(
    options: EnsembleOptions, c: Configuration, view: MemberView, Ws: Sequence[Array]
) -> PendingFit:
    setting = c.setting
    if c.start is not None and options.search.sigma_y is None:
        # The location follows the final directions, so its residuals and their floor have changed.
        least = min(1.0, options.search_space(view).least_sigma_y)
        setting = replace(setting, sigma_y=max(setting.sigma_y, least))
    return PendingFit(OutputKernels.build(view, setting.sigma_y), setting, Ws)


def stretch_of(
    options: EnsembleOptions,
    configurations: Sequence[Configuration],
    views: Sequence[MemberView],
    weights: Array,
    n_outputs: int,
) -> Array:
    """Factors by which densities are stretched, (dy,); 1 if the caller has fixed sigma_y.

    No kernel becomes narrower than its floor.
    """
    if options.search.sigma_y is not None:
        return np.ones(n_outputs)
    floors = [options.search_space(view).least_sigma_y for view in views]
    least = max(floor / c.setting.sigma_y for floor, c in zip(floors, configurations, strict=True))
    factor = best_stretch([c.evaluate() for c in configurations], weights, least)
    return np.full(n_outputs, factor)
