"""Statistics of runs on the same splits: means, standard errors, differences, the best methods."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.stats import ttest_rel

from condensity._typing import Array

#: Results of one method by seed.
Runs = dict[int, float]

#: Level of the paired t-test.
SIGNIFICANCE = 0.05
#: Means from LARGE on are printed with a power of ten, whose exponent uses RAISED digits.
LARGE, RAISED = 1e5, str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def best_columns(columns: Iterable[Runs]) -> list[bool]:
    """For each column, whether it has the best mean or does not differ from it significantly.

    The test is a paired t-test.  Only columns with the maximum number of runs are compared, because
    the mean over some of the splits is not comparable with the mean over all of them.
    """
    columns = list(columns)
    seeds = max((runs.keys() for runs in columns), key=len, default={}.keys())
    values = [
        np.array([runs[seed] for seed in sorted(seeds)])
        if runs.keys() == seeds and np.isfinite(list(runs.values())).all()
        else None
        for runs in columns
    ]
    complete = [column for column in values if column is not None and len(column)]
    if not complete:
        return [False] * len(columns)
    best = min(complete, key=lambda column: float(column.mean()))
    return [
        column is not None and (column is best or not _worse(column, best)) for column in values
    ]


def _worse(column: Array, best: Array) -> bool:
    """Whether the mean of ``column`` differs from the best by a paired t-test."""
    gap = column - best
    if np.ptp(gap) <= 1e-12 * np.abs(gap).max():  # without spread the test is undefined
        return bool(gap.any())
    return len(column) < 2 or bool(ttest_rel(column, best).pvalue < SIGNIFICANCE)


def mean_and_error(runs: Runs) -> tuple[float, float]:
    """Mean and its standard error, which is NaN for a single run."""
    values = np.array(list(runs.values()))
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def differences(first: Runs, second: Runs) -> Runs:
    """First minus second, for the seeds of both."""
    return {seed: first[seed] - second[seed] for seed in first.keys() & second.keys()}


def summary_text(runs: Runs, expected: int = 0) -> str:
    """Mean (standard error), with the number of runs if it is below ``expected``."""
    if not runs:
        return ""
    count = f", {len(runs)} runs" if len(runs) < expected else ""
    return mean_text(*mean_and_error(runs)) + count


def mean_text(mean: float, error: float) -> str:
    """Mean (standard error), with two digits of the error; large means with a power of ten."""
    if abs(mean) >= LARGE:
        power = int(np.log10(abs(mean)))
        return f"{mean_text(mean / 10**power, error / 10**power)} ·10{str(power).translate(RAISED)}"
    places = 3 if abs(mean) < 1 else 2
    if np.isnan(error):
        return f"{mean:.{places}f}"
    if error > 0:
        places = int(np.clip(1 - np.floor(np.log10(error)), 0, 3))
    return f"{mean:.{places}f} ({error:.{places}f})"


def printed_text(mean: float, error: float) -> str:
    """Mean (standard error), with the decimal places that the paper prints."""
    places = max(len(str(value).partition(".")[2]) for value in (mean, error))
    return f"{mean:.{places}f} ({error:.{places}f})"
