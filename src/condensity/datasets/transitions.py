"""Transitions of a simulated world: states and actions as inputs, next states as outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Indices
from condensity._utils.parameters import check_count, check_rng
from condensity.datasets.paper_tables import Split, Table


@dataclass(frozen=True, eq=False)
class Transitions(Table):
    """Table of states and actions (inputs) and next states (outputs), in episodes.

    Rows of one episode are not independent.

    Parameters
    ----------
    name : str
        Name of the table.
    X : ndarray of shape (n, dx)
        States and actions.
    Y : ndarray of shape (n, dy)
        Next states.
    feature_names : tuple of str
        Names of the columns of X.
    target_names : tuple of str
        Names of the columns of Y.
    n_train : None or int
        Number of training samples in the paper.
    source : str
        Citation and licence.
    episodes : ndarray of int of shape (n,)
        The episode, or stroke, that each row belongs to.

    See Also
    --------
    robot : Transitions of a simulated robot.
    brush : Transitions of a simulated brush.
    Table : Table whose rows are independent.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.datasets import Transitions
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> episodes = np.arange(10) // 2
    >>> walk = Transitions("Walk", X, X[:, :1] + 1, ("s", "a"), ("next s",), 4, "made up", episodes)
    >>> walk
    <Transitions 'Walk': X (10, 2), Y (10, 1), 5 episodes>
    >>> walk.split_episodes(0).X.shape
    (4, 2)
    """

    episodes: Indices

    def __repr__(self) -> str:
        count = len(np.unique(self.episodes))
        return f"<Transitions {self.name!r}: X {self.X.shape}, Y {self.Y.shape}, {count} episodes>"

    def split_episodes(
        self, random_state: Any = None, *, n_train: int | None = None, max_test: int = 1000
    ) -> Split:
        """Random split into training and test samples that keeps episodes together.

        No episode has rows in both parts.  Whole episodes are drawn until there are ``n_train``
        rows.  The remaining rows of the last of these episodes are dropped.

        Parameters
        ----------
        random_state : None, int, RandomState or Generator, default=None
            Source of randomness.
        n_train : int, default=None
            Number of training samples.  None takes the number in the paper.
        max_test : int, default=1000
            Maximum number of test samples.

        Returns
        -------
        Split
            ``X`` (n_train, dx), ``Y`` (n_train, dy), ``X_test``, ``Y_test`` and ``unit``.

        Raises
        ------
        ValueError
            If no whole episode is left for the test.

        See Also
        --------
        split : Random split of single rows.
        """
        rng = check_rng(random_state)
        names, place = np.unique(self.episodes, return_inverse=True)
        rank = rng.permutation(len(names))[place]
        largest = int((rank < rank.max()).sum())  # leaves at least one episode for the test
        n = self.n_train if n_train is None else n_train
        why = " (whole episodes are kept for the test)"
        n = check_count("n_train", n, low=1, high=largest, why=why)
        n_test = check_count("max_test", max_test, low=1)
        order = np.lexsort((rng.permutation(len(rank)), rank))
        train, rest = order[:n], order[n:]
        test = rest[rank[rest] > rank[train[-1]]][:n_test]
        return Split(self.X[train], self.Y[train], self.X[test], self.Y[test], self.unit)
