"""A fitted estimator together with the columns of the table it was fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity.tables.frames import (
    NUMBER,
    POLICIES,
    Column,
    cells,
    column_of,
    encode,
    target_numbers,
)


@dataclass(frozen=True)
class Verdict:
    """How a model did at rows it had not seen; standard errors are those of means over rows.

    Parameters
    ----------
    rows : int
        Number of these rows.
    error, error_se : float
        Squared loss, lower is better, and its standard error.
    log_loss, log_loss_se : float
        Log loss, lower is better, and its standard error.
    coverage : tuple of float
        For each output, the share of its values within the intervals of probability 0.9.
    error_without_reduction, error_without_inputs : None or float, default=None
        Squared loss of the same estimator with as many directions as inputs, and of the density
        of y alone.
    reduction_se, inputs_se : None or float, default=None
        Standard errors of what these losses are more than ``error``, row by row.
    """

    rows: int
    error: float
    error_se: float
    log_loss: float
    log_loss_se: float
    coverage: tuple[float, ...]
    error_without_reduction: float | None = None
    error_without_inputs: float | None = None
    reduction_se: float | None = None
    inputs_se: float | None = None

    def __post_init__(self) -> None:
        told = (self.error, self.error_se, self.log_loss, self.log_loss_se, *self.coverage)
        others = (
            self.error_without_reduction,
            self.error_without_inputs,
            self.reduction_se,
            self.inputs_se,
        )
        numbers = (self.rows, *told, *(value for value in others if value is not None))
        if not all(isinstance(value, int | float) for value in numbers):
            raise ValueError("its evaluation is no numbers")


@dataclass(frozen=True, eq=False)
class TableModel:
    """What ``condensity fit`` writes: a model that is asked with tables.

    Attributes
    ----------
    model : the fitted estimator, which takes the arrays that ``encode`` gives
    columns : the inputs by their names, with categories and medians
    targets : names of the outputs
    missing : "error", "drop" or "impute", as missing values were treated in the fit
    X, Y : some of the training rows, encoded, or None
    rows : number of training rows
    verdict : how it did at rows held out, or None

    Examples
    --------
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.tables.model import TableModel
    >>> from condensity.tables.training import learn
    >>> X, y = toy_b().sample(60, random_state=0)
    >>> table = {"a": X[:, 1], "kind": ["one", "two"] * 30, "y": y}
    >>> learned = learn(table, ["a", "kind"], ["y"])
    >>> fitted = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(learned.X, learned.Y[:, 0])
    >>> model = TableModel(fitted, learned.columns, ("y",))
    >>> model
    TableModel(y given a, kind; LSCDE)
    >>> model.feature_names
    ['a', 'kind=one', 'kind=two']
    >>> model.predict_dist({"a": [0.0, 1.0], "kind": ["one", "two"]}).mean().shape
    (2,)
    """

    model: Any
    columns: tuple[Column, ...]
    targets: tuple[str, ...]
    missing: str = "error"
    X: Array | None = None
    Y: Array | None = None
    rows: int | None = None
    verdict: Verdict | None = None

    def __post_init__(self) -> None:
        width, dy = len(self.feature_names), len(self.targets)
        plain = all(isinstance(name, str) for name in self.targets) and self.missing in POLICIES
        fits = width == self.model.n_features_in_ and dy == self.model._n_outputs
        judged = self.verdict is None or len(self.verdict.coverage) == dy
        if not (plain and fits and judged and isinstance(self.rows, int | None)):
            raise ValueError("its columns are not those of its model")
        for values, columns in ((self.X, width), (self.Y, dy)):
            if values is not None and not (
                values.ndim == 2 and values.shape[1] == columns and np.isfinite(values).all()
            ):
                raise ValueError("its training rows are not those of its model")
        if self.X is not None and self.Y is not None and len(self.X) != len(self.Y):
            raise ValueError("its training rows are not those of its model")

    def __repr__(self) -> str:
        given = ", ".join(column.name for column in self.columns)
        return f"TableModel({', '.join(self.targets)} given {given}; {type(self.model).__name__})"

    @classmethod
    def of(cls, model: Any) -> TableModel:
        """A model that was saved with names of columns, or one that is a TableModel already."""
        if isinstance(model, cls):
            return model
        if not hasattr(model, "predict_dist"):
            raise ValueError(f"it holds {type(model).__name__}, which estimates no density")
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                "it does not know the names of its columns: fit it to a data frame, or with "
                "condensity fit"
            )
        dy = model._n_outputs
        targets = ("y",) if dy == 1 else tuple(f"y{j + 1}" for j in range(dy))
        return cls(model, tuple(Column(str(name), NUMBER) for name in names), targets)

    @property
    def feature_names(self) -> list[str]:
        """Names of the inputs that the columns become."""
        return [name for column in self.columns for name in column.names]

    @property
    def categories(self) -> dict[str, dict[str, int]]:
        """For each column of categories, these and the places of their inputs."""
        found, place = {}, 0
        for column in self.columns:
            if column.categories:
                found[column.name] = {c: place + k for k, c in enumerate(column.categories)}
            place += len(column.names)
        return found

    def encode(self, table: Mapping[str, Any]) -> Array:
        """The rows of a table as the model's inputs, (m, dx).

        Categories that the fit did not know have no category.  Missing values are filled in if
        those of the fit were (impute), and refused otherwise.  A warning tells of either.
        """
        if isinstance(table, np.ndarray):
            raise TypeError("table must be a data frame or a dict of columns, got an array")
        found = encode(self.columns, table)
        names = [column.name for column in self.columns]
        if self.missing != "impute":
            found.refuse_missing(names, remedy="leave the row out or fill it in")
        for mask, what in (
            (found.unseen, "unknown to the fit, taken as no category"),
            (found.missing, "missing, filled in"),
        ):
            told = [f"{name!r} ({n})" for name, n in zip(names, mask.sum(axis=0), strict=True) if n]
            if told:
                warnings.warn(f"values {what}: {', '.join(told)}", stacklevel=3)
        return found.X

    def predict_dist(self, table: Mapping[str, Any]) -> Any:
        """Conditional densities p(y|x), one for each row of a frame or a dict of columns."""
        return self.model.predict_dist(self.encode(table))

    def predict(self, table: Mapping[str, Any]) -> Any:
        """Conditional mean E[y|x] for each row of a frame or a dict of columns."""
        return self.model.predict(self.encode(table))

    def score(self, table: Mapping[str, Any]) -> float:
        """Minus the squared loss of the densities at rows with their targets; greater is better."""
        Y = np.column_stack(
            [target_numbers(name, cells(column_of(table, name))) for name in self.targets]
        )
        return float(self.model.score(self.encode(table), Y[:, 0] if Y.shape[1] == 1 else Y))
