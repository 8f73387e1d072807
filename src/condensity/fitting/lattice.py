"""Search on a lattice of settings: coarse to fine, never all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

GridIndex = tuple[int, ...]


def descend_grid(
    loss: Callable[[GridIndex], float],
    starts: Iterable[GridIndex],
    shape: Sequence[int],
    strides: Sequence[int],
) -> GridIndex:
    """From the best of ``starts``, follow single axes downhill by each of ``strides`` in turn.

    A step beyond the lattice ends at its edge.  ``loss`` is asked about some points again and
    again: it should remember its answers.
    """
    best = min(starts, key=loss)
    for stride in strides:
        moved = True
        while moved:
            moved = False
            for axis in range(len(shape)):
                for step in (stride, -stride):
                    there = _step(best, axis, step, shape)
                    while loss(there) < loss(best):
                        best, moved = there, True
                        there = _step(best, axis, step, shape)
    return best


def _step(index: GridIndex, axis: int, step: int, shape: Sequence[int]) -> GridIndex:
    moved = min(max(index[axis] + step, 0), shape[axis] - 1)
    return (*index[:axis], moved, *index[axis + 1 :])
