"""The tables of the paper's Table 1, and two more with one input each.

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
    """Training and test samples.

    It is a named tuple: ``X, Y, X_test, Y_test, unit = table.split(0)``.

    Parameters
    ----------
    X : ndarray of shape (n, dx)
        Inputs of the training samples.
    Y : ndarray of shape (n, dy)
        Outputs of the training samples.
    X_test : ndarray of shape (m, dx)
        Inputs of the test samples.
    Y_test : ndarray of shape (m, dy)
        Outputs of the test samples.
    unit : float
        Factor that converts squared losses to those of outputs scaled to [0, 1], as in the paper.

    See Also
    --------
    Table.split : Random split of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.datasets import Table
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> table = Table("Example", X, X[:, :1], ("a", "b"), ("y",), None, "made up")
    >>> split = table.split(0, n_train=6)
    >>> split.X.shape, split.X_test.shape, split.unit
    ((6, 2), (4, 2), 18.0)
    """

    X: Array
    Y: Array
    X_test: Array
    Y_test: Array
    unit: float


@dataclass(frozen=True, eq=False)
class Table:
    """Samples of inputs and outputs with the names of their columns.

    ``X, y = table`` unpacks the samples.

    Parameters
    ----------
    name : str
        Name of the table.
    X : ndarray of shape (n, dx)
        Inputs.
    Y : ndarray of shape (n, dy)
        Outputs.
    feature_names : tuple of str
        Names of the columns of X.
    target_names : tuple of str
        Names of the columns of Y.
    n_train : None or int
        Number of training samples in the paper; None if the paper does not use the table.
    source : str
        Citation and licence.

    See Also
    --------
    load : Load one of the paper's tables.
    Transitions : Table whose rows belong to episodes.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.datasets import Table
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> table = Table("Example", X, X[:, :1], ("a", "b"), ("y",), None, "made up")
    >>> table
    <Table 'Example': X (10, 2), Y (10, 1)>
    >>> X, y = table
    >>> y.shape
    (10,)
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
        """Outputs as estimators take them: (n,) for one output, (n, dy) for several."""
        return self.Y[:, 0] if self.Y.shape[1] == 1 else self.Y

    @property
    def unit(self) -> float:
        """Factor that converts squared losses to those of outputs scaled to [0, 1]."""
        return float(np.prod(np.ptp(self.Y, axis=0)))

    def __iter__(self) -> Iterator[Array]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        return f"<Table {self.name!r}: X {self.X.shape}, Y {self.Y.shape}>"

    def split(
        self, random_state: Any = None, *, n_train: int | None = None, max_test: int = 1000
    ) -> Split:
        """Random split into training and test samples.

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
            If ``n_train`` is None for a table that the paper does not use, or if no sample is left
            for the test.
        """
        n_train = self.n_train if n_train is None else n_train
        why = " (the paper does not use this table)" if n_train is None else ""
        n = check_count("n_train", n_train, low=1, high=len(self.X) - 1, why=why)
        n_test = check_count("max_test", max_test, low=1)
        order = check_rng(random_state).permutation(len(self.X))
        train, test = order[:n], order[n : n + n_test]
        return Split(self.X[train], self.Y[train], self.X[test], self.Y[test], self.unit)


def names() -> tuple[str, ...]:
    """Names of the tables that ``load`` accepts.

    Returns
    -------
    tuple of str
        Eleven tables of the paper, then two with one input each.

    See Also
    --------
    load : Load one of these tables.

    Examples
    --------
    >>> from condensity.datasets import names
    >>> len(names()), names()[-1]
    (13, 'Old Faithful')
    """
    return tuple(CATALOGUE)


def load(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    base_url: str | None = None,
    progress: bool = True,
) -> Table:
    """Load one of the paper's tables: ``X, y = load("Housing")``.

    The file is read from a folder, or from the cache of earlier downloads, or is downloaded.  Its
    sha256 is checked in all three cases.  Categories are coded 1, 2, ... and rows with missing
    values are dropped.

    Parameters
    ----------
    name : str
        One of ``names()``.
    folder : str or path-like, default=None
        Folder with the files.  None takes the environment variable ``CONDENSITY_DATA``.
    base_url : str, default=None
        Address of a folder with the files, to download them.  None takes the environment variable
        ``CONDENSITY_DATA_URL``.  Downloads need ``condensity[data]``.
    progress : bool, default=True
        Whether to print a progress bar during a download, if the standard error is a terminal.

    Returns
    -------
    Table
        ``X`` (n, dx), ``Y`` (n, dy), ``y``, names, the paper's training size and the source.

    Raises
    ------
    ValueError
        If the name is unknown, or the file has another sha256.
    OSError
        If the file is not found or cannot be downloaded.

    See Also
    --------
    names : Names of all tables.
    robot : Transitions of a simulated robot.
    brush : Transitions of a simulated brush.

    Notes
    -----
    "Bone Mineral Density" (age, change of density) contains several rows of most children, which
    are not independent.  "Old Faithful" contains the waiting time after an eruption of known
    duration.

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

    Examples
    --------
    >>> from condensity.datasets import load
    >>> X, y = load("Housing")  # doctest: +SKIP
    >>> X.shape, y.shape  # doctest: +SKIP
    ((506, 13), (506,))
    """
    entry = CATALOGUE[_check_name(name)]
    return _parse(name, entry, contents(entry, folder=folder, base_url=base_url, progress=progress))


def _check_name(name: Any) -> str:
    """The name, if there is such a table; the error suggests a similar name."""
    try:
        return check_option("name", name, names())
    except ValueError as error:
        by_lower = {valid.lower(): valid for valid in names()}
        close = get_close_matches(str(name).lower(), by_lower, n=1, cutoff=0.5)
        hint = f": did you mean {by_lower[close[0]]!r}?" if close else ""
        raise ValueError(f"{error}{hint}") from None


def _parse(name: str, entry: Entry, content: bytes) -> Table:
    """The table in the bytes of a CSV file, which may be compressed."""
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
        X=X.copy(),  # not views of one array: a caller may change X and keep Y
        Y=Y.copy(),
        feature_names=features,
        target_names=entry.targets,
        n_train=entry.n_train,
        source=entry.source,
    )
