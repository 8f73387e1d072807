"""A fitted estimator together with the columns of its table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity.distributions import Distribution
from condensity.tables.errors import TableError, TableWarning
from condensity.tables.evaluate import Evaluation, evaluate_model
from condensity.tables.frames import (
    NUMBER,
    POLICIES,
    Column,
    cells,
    column_of,
    encode,
    target_numbers,
)


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted estimator together with the columns of its table.

    Its methods take tables: pandas or polars data frames, or dicts of columns.  ``fit_table`` and
    ``condensity fit`` make such models; ``condensity.save`` and ``condensity.load`` write and read
    them.

    Parameters
    ----------
    model : estimator
        The fitted density estimator.  Its inputs are the arrays that ``encode`` returns.
    columns : tuple of Column
        Input columns, with categories and medians.
    targets : tuple of str
        Names of the outputs.
    missing : {"error", "drop", "impute"}, default="error"
        Treatment of missing values in the fit.
    X : None or ndarray of shape (k, dx), default=None
        Inputs of some of the training rows.
    Y : None or ndarray of shape (k, dy), default=None
        Outputs of these rows.
    rows : None or int, default=None
        Number of training rows.
    evaluation : None or Evaluation, default=None
        Evaluation on held-out rows.

    Attributes
    ----------
    model, columns, targets, missing, X, Y, rows, evaluation
        The parameters.

    See Also
    --------
    fit_table : Fit an estimator to a table.
    condensity.save : Write a model to a file.
    condensity.load : Read a model from a file.

    Examples
    --------
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.tables import fit_table
    >>> X, y = toy_b().sample(60, random_state=0)
    >>> table = {"a": X[:, 1], "kind": ["one", "two"] * 30, "y": y}
    >>> model = fit_table(table, target="y", estimator=LSCDE(random_state=0))
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
    evaluation: Evaluation | None = None

    def __post_init__(self) -> None:
        dx, dy = len(self.feature_names), len(self.targets)
        if not all(isinstance(name, str) for name in self.targets):
            raise ValueError(f"targets must be strings, got {self.targets!r}")
        if self.missing not in POLICIES:
            raise ValueError(
                f"missing must be one of {', '.join(map(repr, POLICIES))}, got {self.missing!r}"
            )
        if (dx, dy) != (self.model.n_features_in_, self.model._n_outputs):
            raise ValueError(
                f"the columns give {dx} inputs and {dy} targets, the model expects "
                f"{self.model.n_features_in_} and {self.model._n_outputs}"
            )
        if self.evaluation is not None and len(self.evaluation.coverage) != dy:
            raise ValueError(
                f"the evaluation is of {len(self.evaluation.coverage)} outputs, the model has {dy}"
            )
        if not isinstance(self.rows, int | None):
            raise ValueError(f"rows must be None or an integer, got {self.rows!r}")
        self._check_training_rows(dx, dy)

    def _check_training_rows(self, dx: int, dy: int) -> None:
        for name, values, width in (("X", self.X, dx), ("Y", self.Y, dy)):
            if values is None:
                continue
            if values.ndim != 2 or values.shape[1] != width or not np.isfinite(values).all():
                raise ValueError(
                    f"{name} must be a finite array with {width} columns, got shape {values.shape}"
                )
        if self.X is not None and self.Y is not None and len(self.X) != len(self.Y):
            raise ValueError(
                f"X has {len(self.X)} rows and Y has {len(self.Y)}: pass equal numbers"
            )

    def __repr__(self) -> str:
        inputs = ", ".join(column.name for column in self.columns)
        return f"TableModel({', '.join(self.targets)} given {inputs}; {type(self.model).__name__})"

    @classmethod
    def of(cls, model: Any) -> TableModel:
        """Table model for a fitted estimator.

        Parameters
        ----------
        model : estimator or TableModel
            An estimator that was fitted to a data frame with columns of numbers.  A ``TableModel``
            is returned unchanged.

        Returns
        -------
        TableModel
            The model.  Its targets are named y, or y1, y2, ...

        Raises
        ------
        ValueError
            If the estimator has no densities, or was fitted without column names.
        """
        if isinstance(model, cls):
            return model
        if not hasattr(model, "predict_dist"):
            raise ValueError(
                f"the model is {type(model).__name__}, which does not estimate a density: "
                "fit an estimator such as LSCE"
            )
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                "the model has no column names: fit it to a data frame, with "
                "condensity.tables.fit_table or with condensity fit"
            )
        dy = model._n_outputs
        targets = ("y",) if dy == 1 else tuple(f"y{j + 1}" for j in range(dy))
        return cls(model, tuple(Column(str(name), NUMBER) for name in names), targets)

    @property
    def feature_names(self) -> list[str]:
        """Names of the inputs, such as ``colour=red`` for a category."""
        return [name for column in self.columns for name in column.names]

    @property
    def categories(self) -> dict[str, dict[str, int]]:
        """For each column of categories, the index of the input of each category."""
        indices, start = {}, 0
        for column in self.columns:
            if column.categories:
                indices[column.name] = {c: start + k for k, c in enumerate(column.categories)}
            start += len(column.names)
        return indices

    def encode(self, table: Mapping[str, Any]) -> Array:
        """Encode the rows of a table as inputs of the model.

        A category that did not occur in the training rows is zero in all its inputs.  Missing
        values are filled in if the model was fitted with ``missing="impute"``.  A ``TableWarning``
        reports both.

        Parameters
        ----------
        table : data frame or dict of columns
            Rows with all input columns.

        Returns
        -------
        ndarray of shape (m, dx)
            Inputs.

        Raises
        ------
        TableError
            If a column is absent, a value is missing and not filled in, or a number is text.
        """
        return self._inputs(table)

    def _inputs(self, table: Mapping[str, Any]) -> Array:
        encoded = encode(self.columns, table)
        names = [column.name for column in self.columns]
        if self.missing != "impute":
            encoded.refuse_missing(names, remedy="leave the row out, or fill the value in")
        for mask, fact in (
            (encoded.unseen, "unknown categories, encoded as zeros"),
            (encoded.missing, "missing values, filled in"),
        ):
            counts = zip(names, mask.sum(axis=0), strict=True)
            listed = [f"{name!r} ({n})" for name, n in counts if n]
            if listed:
                warnings.warn(f"{fact}: {', '.join(listed)}", TableWarning, stacklevel=3)
        return encoded.X

    def predict_dist(self, table: Mapping[str, Any]) -> Distribution:
        """Conditional densities p(y|x), one for each row of a table.

        Parameters
        ----------
        table : data frame or dict of columns
            Rows with all input columns.

        Returns
        -------
        Distribution
            Densities.

        See Also
        --------
        encode : Treatment of missing values and unknown categories.
        """
        dist: Distribution = self.model.predict_dist(self._inputs(table))
        return dist

    def predict(self, table: Mapping[str, Any]) -> Array:
        """Conditional means E[y|x], one for each row of a table.

        Parameters
        ----------
        table : data frame or dict of columns
            Rows with all input columns.

        Returns
        -------
        ndarray of shape (m,) or (m, dy)
            Means.

        See Also
        --------
        encode : Treatment of missing values and unknown categories.
        """
        means: Array = self.model.predict(self._inputs(table))
        return means

    def score(self, table: Mapping[str, Any]) -> float:
        """Compute minus the mean squared loss on rows with known targets; higher is better.

        Parameters
        ----------
        table : data frame or dict of columns
            Rows with all input columns and targets.

        Returns
        -------
        float
            The score.

        See Also
        --------
        evaluate : More losses, with standard errors.
        """
        Y = self._outputs(table)
        return float(self.model.score(self._inputs(table), Y[:, 0] if Y.shape[1] == 1 else Y))

    def evaluate(self, table: Mapping[str, Any]) -> Evaluation:
        """Evaluate the model on rows with known targets.

        Parameters
        ----------
        table : data frame or dict of columns
            Rows with all input columns and targets, which the model was not fitted to.

        Returns
        -------
        Evaluation
            The evaluation, without baselines.
        """
        return evaluate_model(self.model, self._inputs(table), self._outputs(table))

    def _outputs(self, table: Mapping[str, Any]) -> Array:
        """Targets of a table, (m, dy)."""
        columns = []
        for name in self.targets:
            values = target_numbers(name, cells(column_of(table, name)))
            if np.isnan(values).any():
                row = int(np.isnan(values).argmax()) + 1
                raise TableError(f"target {name!r} has no value in row {row}: leave the row out")
            columns.append(values)
        return np.column_stack(columns)
