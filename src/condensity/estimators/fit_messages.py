"""Messages of a fit: progress, warnings, and directions as text."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from condensity._typing import Array
from condensity._utils.parameters import check_verbose
from condensity._utils.validation import column_names
from condensity.data.prepare import TrainingData
from condensity.data.resolution import RecordedValues
from condensity.distributions.bounded import Bounds
from condensity.lsce.configurations import Configuration


def progress_callback(verbose: Any, show: Callable[[Any], None]) -> Callable[[Any], None]:
    """The callback that ``verbose`` asks for: its own, ``show``, or one that does nothing."""
    if callable(check_verbose(verbose)):
        return cast(Callable[[Any], None], verbose)
    return show if verbose else lambda progress: None


def print_configuration(configuration: Configuration) -> None:
    """Print one line about a configuration."""
    s = configuration.setting
    print(
        f"[LSCE] location {configuration.location}, n_components={configuration.n_components}: "
        f"held-out loss {configuration.loss:.4f} (standardised y), "
        f"sigma {s.sigma_z:.3g} and {s.sigma_y:.3g}, penalty {s.penalty:g}",
        flush=True,
    )


def direction_in_words(weights: Array, names: Sequence[str], most: int = 5) -> str:
    """The ``most`` heaviest terms of a direction, by decreasing weight."""
    heaviest = np.argsort(-np.abs(weights), kind="stable")[:most]
    terms = " ".join(f"{weights[j]:+.2f} {names[j]}" for j in heaviest)
    return terms if len(names) <= most else f"{terms} ..."


def warn_of_atoms(recorded: Sequence[RecordedValues], bounds: Bounds | None) -> None:
    """Warn of single values that hold a large share of the sample."""
    for j, output in enumerate(recorded):
        if output.atom is not None:
            value, share = output.atom
            unit = ""
            if bounds is not None:
                value = float(bounds.take(np.array([j])).bounded(np.array([value]))[0])
                unit = " (in the coordinate without bounds)"
            where = "" if len(recorded) == 1 else f" in column {j}"
            remedy = (
                "for the probability of a value ask for that of an interval around it "
                "(dist.prob), or use a classifier"
                if output.discrete
                else "model that value separately (a classifier for it, a density for the rest)"
            )
            warnings.warn(
                f"y{where} equals {value + 0.0:g} in {share:.0%} of the sample, which a density "
                f"cannot represent: kernels are at least {output.least_bandwidth:.3g} wide{unit}; "
                f"{remedy}, or set min_bandwidth (0 allows narrow kernels on repeated values)",
                UserWarning,
                stacklevel=4,
            )


def warn_of_outliers(data: TrainingData, most: int = 3) -> None:
    """Warn of samples that are left out, with the values of at most ``most`` columns."""
    if data.outliers is None:
        return
    found = data.outliers
    columns = np.flatnonzero(found.counts).tolist()
    described = [_outlying_values(data, j) for j in columns[:most]]
    if len(columns) > most:
        described.append(f"and values of {len(columns) - most} more columns")
    warnings.warn(
        f"left out of the fit: {found.n} of {data.n_given} samples, with values so far from all "
        f"others that they would determine it: {'; '.join(described)}. Correct or drop these rows; "
        "if the values are genuine, transform the column, for instance to its logarithm, or pass "
        "outliers='keep' (on the command line --keep-outliers)",
        UserWarning,
        stacklevel=3,
    )


def _outlying_values(data: TrainingData, j: int) -> str:
    """The values beyond the limits in one column; inputs are counted first, then outputs."""
    assert data.outliers is not None
    found, dx, names = data.outliers, data.sample.X.shape[1], column_names(data.header)
    row, value = found.first.get(j, (None, np.nan))
    numbers = np.array([value, found.limits.low[j], found.limits.high[j]])
    if j < dx:
        name = f"X in column {j if names is None else repr(names[j])}"
    else:
        name = "y" if data.n_outputs == 1 else f"y in column {j - dx}"
        if data.bounds is not None:
            numbers = data.bounds.take(np.array([j - dx])).bounded(numbers[:, None])[:, 0]
    value, low, high = numbers.tolist()
    if row is None:
        return f"{name} is not between {low:.3g} and {high:.3g} in {_rows(found.counts[j])}"
    others = f" and {found.counts[j] - 1} more" if found.counts[j] > 1 else ""
    return f"{name} is {value:g} in row {row}{others} (not between {low:.3g} and {high:.3g})"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def warn_of_skipped_location(
    n_components: int, needed: int, locations: Iterable[str], tried: Iterable[str]
) -> None:
    """Warn of a location that was skipped because it needs more components than were given."""
    skipped = [name for name in locations if name not in set(tried)]
    if skipped:
        warnings.warn(
            f"{skipped[0]} location skipped: it needs n_components >= {needed}, got "
            f"{n_components}; without it the densities are much wider where the mean of y depends "
            f"on x; raise n_components or use 'auto', or pass location='none' to silence this",
            UserWarning,
            stacklevel=3,
        )
