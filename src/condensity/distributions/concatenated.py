"""Rows of several densities, which may have different Gaussians, bounds or atoms, in one object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condensity._typing import Array, Indices
from condensity.distributions import _checks as checks
from condensity.distributions.base import Distribution
from condensity.distributions.bounded import BoundedMixture
from condensity.distributions.chunked import ChunkedDistribution
from condensity.distributions.lazy import LazyDistribution
from condensity.distributions.mixture import Mixture


class ConcatenatedDistribution(ChunkedDistribution):
    """Conditional densities whose rows come from several distributions.

    Every question is answered by the distribution of the row, so nothing is copied.  Draws differ
    from those of a single distribution with the same rows.  ``compute`` gives a single ``Mixture``,
    ``BoundedMixture`` or ``MixedDistribution`` if the bounds and atoms of all rows are the same.

    Parameters
    ----------
    dists : sequence of Distribution
        Densities of the same outputs, in memory or computed chunk by chunk.
    rows : sequence of ndarray of int
        For each distribution, the places of its rows: together every number from 0 to m - 1 once.

    See Also
    --------
    concatenate_rows : The function that makes it from any sequences.
    Distribution : The methods, documented.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions import Block, ConcatenatedDistribution, Mixture
    >>> near = Mixture([Block(np.zeros((1, 1)), np.array([[0.0]]), np.eye(1))])
    >>> far = Mixture([Block(np.zeros((1, 1)), np.array([[4.0]]), np.eye(1))])
    >>> ConcatenatedDistribution([near, far], [np.array([1]), np.array([0])]).mean()
    array([4., 0.])
    """

    def __init__(self, dists: Sequence[Distribution], rows: Sequence[Indices]) -> None:
        self.dists, self.rows = tuple(dists), tuple(rows)
        order = np.arange(float(sum(len(own) for own in self.rows)))
        width = sum(_width(dist) for dist in self.dists)
        at = partial(_rows_in_memory, self.dists, self.rows)
        super().__init__(order, at, width, self.dists[0].n_outputs)

    def __repr__(self) -> str:
        parts = ", ".join(repr(dist) for dist in self.dists)
        return f"ConcatenatedDistribution(m={len(self)}, dy={self.n_outputs}, [{parts}])"

    def __getitem__(self, index: Any) -> Distribution:
        return _rows_of(self.dists, self.rows, checks.rows_at(index, len(self)))

    def compute(self) -> Distribution:
        return self.at(self.X)

    def marginal(self, columns: int | Sequence[int]) -> ConcatenatedDistribution:
        return ConcatenatedDistribution([d.marginal(columns) for d in self.dists], self.rows)

    def condition(
        self, columns: int | Sequence[int], values: ArrayLike
    ) -> ConcatenatedDistribution:
        given, _, V = checks.given_and_rest(columns, values, len(self), self.n_outputs)
        parts = zip(self.dists, self.rows, strict=True)
        return ConcatenatedDistribution(
            [dist.condition(given.tolist(), V[own]) for dist, own in parts], self.rows
        )

    def _free_coordinate(self) -> tuple[Any, Any]:
        kinds = [dist[:1].compute()._free_coordinate()[1] for dist in self.dists]
        if not all(_same_bounds(kinds[0], kind) for kind in kinds):
            raise ValueError(
                "these rows come from densities with different bounds, so they cannot be mixed or "
                "compared with others: fit all models with the same bounds, for instance "
                "LSCE(bounds=(0, None))"
            )
        return super()._free_coordinate()

    def _slices(self) -> list[Any]:
        return list(self.rows)

    def _chunks(self) -> Iterator[Distribution]:
        return iter(self.dists)


def concatenate_rows(
    dists: Sequence[Distribution], rows: Sequence[ArrayLike] | None = None
) -> Distribution:
    """Rows of several densities as one distribution.

    Parameters
    ----------
    dists : sequence of Distribution
        Densities of the same outputs, for instance of several models for different inputs.  Their
        Gaussians, bounds and atoms may differ.
    rows : sequence of array-like of int, default=None
        For each of ``dists``, the places of its rows in the result: together every number from 0 to
        m - 1 once.  None: one after the other.

    Returns
    -------
    Distribution
        The densities of all m rows; a single one of ``dists`` is returned if its rows are in order.

    See Also
    --------
    mixture_of : A weighted sum of densities of the same rows.
    condensity.cross_val_predict_dist : Densities of rows that the models have not seen.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.distributions import Block, Mixture, concatenate_rows
    >>> near = Mixture([Block(np.zeros((1, 1)), np.array([[0.0]]), np.eye(1))])
    >>> far = Mixture([Block(np.zeros((1, 1)), np.array([[4.0]]), np.eye(1))])
    >>> concatenate_rows([near, far]).mean(), concatenate_rows([near, far], [[1], [0]]).mean()
    (array([0., 4.]), array([4., 0.]))
    """
    parts = list(dists)
    _check_outputs(parts)
    if any(isinstance(dist, LazyDistribution) for dist in parts):
        raise TypeError(
            "densities of Dask collections are concatenated in memory: compute() them first"
        )
    sizes = [len(dist) for dist in parts]
    places: list[Any]
    if rows is None:
        places = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    else:
        places = _places_of(rows, sizes)
    if len(parts) == 1 and np.array_equal(places[0], np.arange(sizes[0])):
        return parts[0]
    return ConcatenatedDistribution(parts, places)


def _rows_of(
    dists: Sequence[Distribution], rows: Sequence[Indices], index: Indices
) -> Distribution:
    """The densities of the rows ``index``, of those distributions only that have one of them."""
    total = sum(len(own) for own in rows)
    part, place = np.empty(total, dtype=np.intp), np.empty(total, dtype=np.intp)
    for j, own in enumerate(rows):
        part[own], place[own] = j, np.arange(len(own))
    chosen = part[index]
    used = np.unique(chosen) if len(index) else np.zeros(1, dtype=np.intp)
    places = [np.flatnonzero(chosen == j) for j in used]
    found = [dists[j][place[index[own]]] for j, own in zip(used, places, strict=True)]
    return found[0] if len(found) == 1 else ConcatenatedDistribution(found, places)


def _rows_in_memory(
    dists: Sequence[Distribution], rows: Sequence[Indices], index: Array
) -> Distribution:
    """The densities of the rows ``index`` in memory, as a single distribution if possible."""
    chosen = _rows_of(dists, rows, index.astype(np.intp))
    if not isinstance(chosen, ConcatenatedDistribution):
        return chosen.compute()
    parts: list[Any] = [dist.compute() for dist in chosen.dists]
    whole: Distribution | None = None
    if all(type(dist) is type(parts[0]) for dist in parts):
        whole = _in_one(parts, chosen.rows)
    return ConcatenatedDistribution(parts, chosen.rows) if whole is None else whole


def _in_one(parts: Sequence[Any], rows: Sequence[Indices]) -> Distribution | None:
    """The rows of densities of one class as one of them; None if that is not possible."""
    first = parts[0]
    if isinstance(first, BoundedMixture):
        if not all(first.bounds.equals(dist.bounds) for dist in parts):
            return None
        return BoundedMixture(_in_one_mixture([dist.free for dist in parts], rows), first.bounds)
    return _in_one_mixture(parts, rows) if isinstance(first, Mixture) else first._join(parts, rows)


def _in_one_mixture(parts: Sequence[Mixture], rows: Sequence[Indices]) -> Mixture:
    """A mixture with the Gaussians of all parts, which have no weight in the rows of the others."""
    total = sum(len(own) for own in rows)
    pairs = zip(parts, rows, strict=True)
    return Mixture.of_normalised([b.spread(own, total) for dist, own in pairs for b in dist.blocks])


def _check_outputs(dists: Sequence[Any]) -> None:
    """Raise an error unless the rows of all densities can be put together."""
    if not dists:
        raise ValueError("dists is empty: pass at least one Distribution")
    for dist in dists:
        if not hasattr(dist, "log_pdf"):
            raise TypeError(
                "dists must contain Distributions, as predict_dist returns them, got "
                f"{type(dist).__name__}"
            )
        if dist.n_outputs != dists[0].n_outputs:
            raise ValueError(
                f"dists must have the same outputs, got {dists[0].n_outputs} and {dist.n_outputs}: "
                "select outputs first, with dist.marginal(columns)"
            )


def _places_of(rows: Sequence[ArrayLike], sizes: Sequence[int]) -> list[Indices]:
    """Places of the rows of each density: every number from 0 to the number of rows once."""
    places = [np.asarray(own, dtype=np.intp) for own in rows]
    lengths, total = [len(own) for own in places], sum(sizes)
    if lengths != list(sizes):
        raise ValueError(
            f"rows must have one place for each row of each density, {list(sizes)}, got {lengths}"
        )
    if not np.array_equal(np.sort(np.concatenate(places)), np.arange(total)):
        raise ValueError(
            f"rows must contain every number from 0 to {total - 1} once: pass the places of all "
            "rows in the result"
        )
    return places


def _width(dist: Any) -> int:
    """Number of Gaussians in each density; 1 if there are none."""
    for name in ("free", "continuous", "dist"):
        inner = getattr(dist, name, None)
        if inner is not None:
            return _width(inner)
    return int(getattr(dist, "width", 1))


def _same_bounds(ours: Any, theirs: Any) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return bool(ours.equals(theirs))
