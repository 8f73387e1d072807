"""Training data: validated, subsampled, standardised, with folds and centres drawn.

Model selection uses at most ``subsample`` samples.  The remaining ones are kept in chunks; the
final fit sums over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import ceil
from typing import Any

import numpy as np

from condensity._typing import Array, Indices, Mask
from condensity._utils.dask_collections import empty_header, is_dask
from condensity._utils.parallel import Mapper
from condensity._utils.parameters import check_count, check_option
from condensity._utils.validation import (
    check_enough,
    check_usable,
    check_varies,
    column_names,
)
from condensity.data.bounded_targets import check_bounds
from condensity.data.chunks import (
    Extent,
    RemainingSamples,
    StandardisedChunks,
)
from condensity.data.folds import (
    FoldedSample,
    draw_centers,
    draw_folds,
    fold_weights,
    is_contingency_table,
)
from condensity.data.outliers import Outliers
from condensity.data.sample import UNITS, Sample, Scaling, canonical
from condensity.data.validated_rows import ValidatedRows, read_rows, without_outliers
from condensity.distributions.bounded import Bounds


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Samples for model selection with their folds and centres, and the remaining samples."""

    sample: Sample  # distinct rows in the units of the data
    centers: Indices  # the rows that carry a centre
    partitions: Sequence[Array]  # weights of the rows within folds, (folds, n); empty without cv
    labels: Indices | None  # (n,) folds given by the caller: rows of one fold belong together
    x_scaling: Scaling
    y_scaling: Scaling
    remaining: RemainingSamples | None  # outputs standardised
    bounds: Bounds | None  # of y; the sample then holds y in its unbounded coordinate
    y_axes: int  # 1 or 2, as y was given
    header: Any  # an object with the names and the number of the inputs
    n_given: int  # number of samples that were given
    outliers: Outliers | None  # samples that are left out
    auto_centers: bool = False  # whether the number of centres may follow that of the samples

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return int(self.sample.Y.shape[1])

    @property
    def active(self) -> Mask:
        """The inputs that vary, (dx,)."""
        return self.x_scaling.varies

    @property
    def folds(self) -> Array:
        """Weights within the folds of the first partition, (folds, n); one fold without cv."""
        if self.partitions:
            return self.partitions[0]
        return np.asarray(self.sample.weight[None] / self.sample.weight.sum())

    @property
    def by_cells(self) -> bool:
        """Whether equal samples lie in different folds: the rows are the cells of a table."""
        return bool(((self.folds > 0).sum(axis=0) > 1).any())

    def input_range(self) -> Array:
        """The smallest and the largest value of each input over all samples, (2, dx)."""
        extent = Extent.of(self.sample)
        if self.remaining is not None:
            (rest,) = self.remaining.rows.total(lambda chunk: [Extent.of(chunk)])
            extent = extent + rest
        return np.stack([extent.low, extent.high])

    @cached_property
    def standardised(self) -> Sample:
        """The sample with standardised inputs and outputs."""
        X, Y = self.x_scaling.apply(self.sample.X), self.y_scaling.apply(self.sample.Y)
        return Sample(X, Y, self.sample.weight)

    @cached_property
    def y_standardised(self) -> Sample:
        """The sample with standardised outputs; its inputs are in the units of the data."""
        return replace(self.sample, Y=self.standardised.Y)

    @cached_property
    def folded(self) -> FoldedSample:
        """The standardised sample, ordered by the folds of the first partition."""
        return FoldedSample.cut(self.standardised, self.folds, self.centers)


def prepare(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    rng: np.random.Generator,
    *,
    cv: Any,
    to_fix: str,
    n_centers: int | str | None = None,
    auto_centers: int = 0,
    n_members: int = 1,
    subsample: int | None = None,
    bounds: Any = None,
    scaling: str = "variance",
    omit_outliers: bool = False,
    mapper: Mapper = map,
) -> TrainingData:
    """Validate the samples of a caller and draw centres and folds.

    Parameters
    ----------
    estimator : estimator
        Its class name appears in error messages.
    X, y, sample_weight : array-like or Dask collections
        The samples as they were passed to ``fit``.
    rng : Generator
        Draws the subsample, the centres and the folds from streams of their own.
    cv : None, int, splitter or iterable of splits
        None: no fold is held out.
    to_fix : str
        The parameters that make cross-validation unnecessary, for error messages.
    n_centers : None, int or "auto"
        Number of centres; None takes every sample.
    auto_centers : int
        Largest number of centres that "auto" takes.
    n_members : int
        Number of members that need a fold of their own; folds are drawn repeatedly.
    subsample : None or int
        Largest number of samples for model selection; None takes all.
    bounds : None, pair or one pair for each output
        Bounds of y.
    scaling : str
        The unit of length of inputs and outputs, one of ``UNITS``.
    omit_outliers : bool
        Whether samples with a value far from all others are left out.
    mapper : callable
        Maps over the chunks of the remaining samples.

    Returns
    -------
    TrainingData
        The samples as all algorithms use them.
    """
    unit = check_option("scaling", scaling, UNITS)
    center_rng, fold_rng, row_rng = rng.spawn(3)
    seed = int(row_rng.integers(2**63))
    rows = read_rows(estimator, X, y, sample_weight, cv, bounds, subsample, seed, mapper)
    header = empty_header(X) if is_dask(X, y, sample_weight) else X
    count = _count_centers(n_centers, auto_centers, rows, subsample)
    rows, outliers = without_outliers(rows) if omit_outliers else (rows, None)
    sample, origin, group = canonical(rows.sample.X, rows.sample.Y, rows.sample.weight)
    n_folds = rows.folds if isinstance(rows.folds, int) else None
    check_enough(type(estimator).__name__, len(origin), len(sample), n_folds=n_folds, fix=to_fix)
    drawn = None if rows.remaining is None else len(sample)
    x_scaling, y_scaling = (Scaling.of(a, sample.weight) for a in (sample.X, sample.Y))
    check_varies(x_scaling.sd, y_scaling.sd, column_names(X), subsample=drawn)
    x_scaling, y_scaling = x_scaling.in_unit(unit, sample.X), y_scaling.in_unit(unit, sample.Y)
    centers = draw_centers(sample.weight, min(count, len(sample)), center_rng)
    partitions = _partitions(rows, sample, origin, group, centers, n_members, fold_rng)
    return TrainingData(
        sample,
        centers,
        partitions,
        partitions[0].argmax(axis=0) if isinstance(rows.folds, np.ndarray) else None,
        x_scaling,
        y_scaling,
        _standardised_chunks(rows, y_scaling),
        None if bounds is None else check_bounds(bounds, sample.Y.shape[1]),
        rows.y_axes,
        header,
        rows.n_total,
        outliers,
        isinstance(n_centers, str),
    )


def _standardised_chunks(rows: ValidatedRows, y_scaling: Scaling) -> RemainingSamples | None:
    """The samples that remain, with standardised outputs."""
    if rows.remaining is None:
        return None
    return RemainingSamples(StandardisedChunks(rows.remaining, y_scaling), rows.share)


def _count_centers(
    n_centers: int | str | None, auto_centers: int, rows: ValidatedRows, subsample: int | None
) -> int:
    """The number of centres to draw."""
    n = rows.n_total
    if n_centers is None:
        return n
    if isinstance(n_centers, str) and n_centers == "auto":
        return min(n, auto_centers)
    why = ", the number of samples, or 'auto'"
    count = check_count("n_centers", n_centers, low=2, high=n, why=why)
    if rows.remaining is not None and count > (subsample or 0):
        raise ValueError(
            f"n_centers={count} is more than subsample={subsample}, from which centres are drawn: "
            "raise subsample"
        )
    return count


def _partitions(
    rows: ValidatedRows,
    sample: Sample,
    origin: Indices,
    group: Indices,
    centers: Indices,
    n_members: int,
    rng: np.random.Generator,
) -> list[Array]:
    """For each partition the share of the distinct rows within its folds, (folds, n)."""
    folds, weight = rows.folds, rows.sample.weight[origin]
    if folds is None:
        return []
    if isinstance(folds, int):
        table = is_contingency_table(sample)
        draw = partial(draw_folds, weight, group, folds, centers=centers, rng=rng, table=table)
        first = draw()
        partitions = [first, *(draw() for _ in range(ceil(n_members / len(first)) - 1))]
    else:
        mass = fold_weights(weight, group, folds[origin])
        if len(mass) < 2:
            raise ValueError(
                f"the {len(sample)} samples of the subsample are all in one fold of cv: "
                "raise subsample"
            )
        partitions = [mass] * ceil(n_members / len(mass))
    for mass in partitions:
        check_usable(mass.sum(axis=0)[centers] > mass[:, centers])
    return [mass / mass.sum() for mass in partitions]
