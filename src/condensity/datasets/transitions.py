"""Transitions of a world: state and action in, next state out, in episodes that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Indices
from condensity._utils.parameters import check_count, check_rng
from condensity.datasets.paper_tables import Split, Table


@dataclass(frozen=True, eq=False)
class Transitions(Table):
    """A table of (state, action) and next states; rows of one episode are not independent.

    Parameters
    ----------
    name, X, Y, feature_names, target_names, n_train, source
        As in ``Table``.
    episodes : array of int (n,)
        Which episode, or stroke, a row is of.
    """

    episodes: Indices

    def __repr__(self) -> str:
        count = len(np.unique(self.episodes))
        return f"<Transitions {self.name!r}: X {self.X.shape}, Y {self.Y.shape}, {count} episodes>"

    def split_episodes(
        self, random_state: Any = None, *, n_train: int | None = None, max_test: int = 1000
    ) -> Split:
        """As ``split``, but no episode has rows on both sides.

        Whole episodes are drawn until there are ``n_train`` rows; what the last one has beyond
        that is left out.  Parameters and result are those of ``split``.
        """
        rng = check_rng(random_state)
        names, place = np.unique(self.episodes, return_inverse=True)
        rank = rng.permutation(len(names))[place]
        smallest = int((rank < rank.max()).sum())  # one episode at least is left to test with
        n = self.n_train if n_train is None else n_train
        why = " (whole episodes are kept for the test)"
        n = check_count("n_train", n, low=1, high=smallest, why=why)
        most = check_count("max_test", max_test, low=1)
        order = np.lexsort((rng.permutation(len(rank)), rank))
        train, rest = order[:n], order[n:]
        test = rest[rank[rest] > rank[train[-1]]][:most]
        return Split(self.X[train], self.Y[train], self.X[test], self.Y[test], self.unit)
