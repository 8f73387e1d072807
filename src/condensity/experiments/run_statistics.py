"""Results of the same splits: their mean and error, differences, which of them are best."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.stats import ttest_rel

from condensity._typing import Array

#: Results by seed.
Runs = dict[int, float]

LEVEL = 0.05
LARGE, RAISED = 1e5, str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def comparable(columns: Iterable[Runs]) -> list[bool]:
    """Whether each column has the best mean, or one that a paired t-test does not tell from it.

    Only columns with as many runs as the fullest compete: the mean of the splits that a method
    got through is not that of all splits.
    """
    columns = list(columns)
    seeds = max((runs.keys() for runs in columns), key=len, default={}.keys())
    values = [
        np.array([runs[seed] for seed in sorted(seeds)])
        if runs.keys() == seeds and np.isfinite(list(runs.values())).all()
        else None
        for runs in columns
    ]
    complete = [own for own in values if own is not None and len(own)]
    if not complete:
        return [False] * len(columns)
    best = min(complete, key=lambda own: float(own.mean()))
    return [own is not None and (own is best or not _worse(own, best)) for own in values]


def _worse(ours: Array, best: Array) -> bool:
    """Whether the mean of ``ours`` is above that of the best, by a paired t-test."""
    gap = ours - best
    if np.ptp(gap) <= 1e-12 * np.abs(gap).max():  # no spread: the test has nothing to divide by
        return bool(gap.any())
    return len(ours) < 2 or bool(ttest_rel(ours, best).pvalue < LEVEL)


def mean_and_error(runs: Runs) -> tuple[float, float]:
    """The mean and its standard error, NaN of a single run."""
    values = np.array(list(runs.values()))
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def less(ours: Runs, theirs: Runs) -> Runs:
    """The differences of runs of the same seed."""
    return {seed: ours[seed] - theirs[seed] for seed in ours.keys() & theirs.keys()}


def text(runs: Runs, of: int = 0) -> str:
    """Mean (standard error), and of how many runs where there are more ``of`` others."""
    if not runs:
        return ""
    return figure(*mean_and_error(runs)) + (f", {len(runs)} runs" if len(runs) < of else "")


def figure(mean: float, error: float) -> str:
    """Mean (standard error), to two digits of the error; of large ones a power of ten is told."""
    if abs(mean) >= LARGE:
        power = int(np.log10(abs(mean)))
        return f"{figure(mean / 10**power, error / 10**power)} ·10{str(power).translate(RAISED)}"
    places = 3 if abs(mean) < 1 else 2
    if np.isnan(error):
        return f"{mean:.{places}f}"
    if error > 0:
        places = int(np.clip(1 - np.floor(np.log10(error)), 0, 3))
    return f"{mean:.{places}f} ({error:.{places}f})"


def printed(mean: float, error: float) -> str:
    """The same with the places that the paper prints."""
    places = max(len(str(value).partition(".")[2]) for value in (mean, error))
    return f"{mean:.{places}f} ({error:.{places}f})"
