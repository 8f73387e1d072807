"""The tables of the paper's Table 1, and two more that are good to look at.

>>> from condensity.datasets import names
>>> names()[:3]
('Housing', 'Auto MPG', 'Servo')
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from condensity._typing import Array
from condensity._utils.parameters import check_count, check_option, check_rng
from condensity.datasets.catalogue import CATALOGUE, Entry
from condensity.datasets.downloads import contents


class Split(NamedTuple):
    """Training and test samples: ``X, Y, X_test, Y_test, unit = table.split(0)``.

    Parameters
    ----------
    X, Y : arrays (n, dx) and (n, dy)
        Training samples.
    X_test, Y_test : arrays (m, dx) and (m, dy)
        Test samples.
    unit : float
        Squared losses times this are those for outputs scaled to [0, 1], as in the paper.
    """

    X: Array
    Y: Array
    X_test: Array
    Y_test: Array
    unit: float


@dataclass(frozen=True, eq=False)
class Table:
    """Samples of inputs and outputs with their names: ``X, y = table`` unpacks the samples.

    Parameters
    ----------
    name : str
    X, Y : arrays (n, dx) and (n, dy)
    feature_names, target_names : tuple of str
        Names of the columns of X and of Y.
    n_train : None or int
        Number of training samples in the paper, None where the paper does not use the table.
    source : str
        Whom to cite, and the licence.
    """

    name: str
    X: Array
    Y: Array
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    n_train: int | None
    source: str

    @property
    def y(self) -> Array:
        """The outputs as estimators like them: (n,) if there is one, else (n, dy)."""
        return self.Y[:, 0] if self.Y.shape[1] == 1 else self.Y

    @property
    def unit(self) -> float:
        """What squared losses are multiplied by to be those for outputs scaled to [0, 1]."""
        return float(np.prod(np.ptp(self.Y, axis=0)))

    def __iter__(self) -> Iterator[Array]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        return f"<Table {self.name!r}: X {self.X.shape}, Y {self.Y.shape}>"

    def split(
        self, random_state: Any = None, *, n_train: int | None = None, max_test: int = 1000
    ) -> Split:
        """Random training samples, and at most ``max_test`` of the others to test with.

        Parameters
        ----------
        random_state : int, RandomState, Generator or None
            What decides the split.
        n_train : int, optional
            Number of training samples; that of the paper unless given.
        max_test : int, default 1000
            Largest number of test samples.

        Returns
        -------
        Split
            ``X`` (n_train, dx), ``Y`` (n_train, dy), ``X_test``, ``Y_test`` and ``unit``.
        """
        n_train = self.n_train if n_train is None else n_train
        why = ", given where the paper has no size" if n_train is None else ""
        n = check_count("n_train", n_train, low=1, high=len(self.X) - 1, why=why)
        most = check_count("max_test", max_test, low=1)
        order = check_rng(random_state).permutation(len(self.X))
        train, test = order[:n], order[n : n + most]
        return Split(self.X[train], self.Y[train], self.X[test], self.Y[test], self.unit)


def names() -> tuple[str, ...]:
    """The names that ``load`` knows: eleven tables of the paper, then two with one input each."""
    return tuple(CATALOGUE)


def load(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    base_url: str | None = None,
    progress: bool = True,
) -> Table:
    """A table by its name in the paper: ``X, y = load("Housing")``.

    The file is taken from a folder, else from the cache of earlier downloads, else downloaded; its
    sha256 is checked wherever it comes from.  Categories are coded 1, 2, ... and rows with missing
    values left out.

    Parameters
    ----------
    name : str
        One of ``names()``.
    folder : path, optional
        Folder with the files; the environment's ``CONDENSITY_DATA`` unless given.
    base_url : str, optional
        Address below which the files are served; the environment's ``CONDENSITY_DATA_URL`` unless
        given.  Downloading needs ``condensity[data]``.
    progress : bool, default True
        Draw a bar while downloading, if the standard error is a terminal.

    Returns
    -------
    Table
        ``X`` (n, dx), ``Y`` (n, dy), ``y``, names, the paper's training size and the source.

    Notes
    -----
    "Bone Mineral Density" (age, change of density) has several rows of most children, which are
    not independent; "Old Faithful" gives the waiting time after an eruption of known duration.
    """
    entry = CATALOGUE[_known(name)]
    return _parse(name, entry, contents(entry, folder=folder, base_url=base_url, progress=progress))


def _known(name: Any) -> str:
    try:
        return check_option("name", name, names())
    except ValueError as error:
        by_lower = {known.lower(): known for known in names()}
        close = get_close_matches(str(name).lower(), by_lower, n=1, cutoff=0.5)
        hint = f": did you mean {by_lower[close[0]]!r}?" if close else ""
        raise ValueError(f"{error}{hint}") from None


def _parse(name: str, entry: Entry, content: bytes) -> Table:
    packed = entry.file.endswith(".gz")
    text = (gzip.decompress(content) if packed else content).decode()
    header, *rows = (row for row in csv.reader(io.StringIO(text, newline="")) if row)
    features = tuple(c for c in header if c not in {*entry.targets, *entry.unused})
    places = [header.index(column) for column in features + entry.targets]
    codes = {
        header.index(column): {category: 1.0 + i for i, category in enumerate(categories)}
        for column, categories in entry.codes.items()
    }
    complete = [row for row in rows if all(row[j] for j in places)]
    values = [
        [codes[j][row[j]] if j in codes else float(row[j]) for j in places] for row in complete
    ]
    X, Y = np.split(np.array(values), [len(features)], axis=1)
    return Table(
        name,
        X=X.copy(),  # a caller may change one without the other
        Y=Y.copy(),
        feature_names=features,
        target_names=entry.targets,
        n_train=entry.n_train,
        source=entry.source,
    )
