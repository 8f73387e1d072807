"""A fitted estimator together with the columns of its table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Mask
from condensity.distributions import Distribution
from condensity.tables.cells import cells, target_numbers
from condensity.tables.columns import NUMBER, POLICIES, Column
from condensity.tables.errors import TableError, TableWarning, count_noun
from condensity.tables.evaluate import Evaluation, evaluate_model
from condensity.tables.frames import column_of, encode
from condensity.tables.row_hashes import TrainingRowHashes


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
    X_test : None or ndarray of shape (m, dx), default=None
        Inputs of some of the held-out rows.
    Y_test : None or ndarray of shape (m, dy), default=None
        Outputs of these rows.
    row_hashes : None or TrainingRowHashes, default=None
        Hashes of the training rows, by which ``used_in_fit`` recognises them.

    Attributes
    ----------
    model, columns, targets, missing, X, Y, rows, evaluation, X_test, Y_test, row_hashes
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
    X_test: Array | None = None
    Y_test: Array | None = None
    row_hashes: TrainingRowHashes | None = None

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
        if not isinstance(self.row_hashes, TrainingRowHashes | None):
            raise ValueError(
                f"row_hashes must be None or TrainingRowHashes, got {self.row_hashes!r:.40}"
            )
        self._check_stored_rows("", self.X, self.Y)
        self._check_stored_rows("_test", self.X_test, self.Y_test)

    def _check_stored_rows(self, suffix: str, X: Array | None, Y: Array | None) -> None:
        widths = (len(self.feature_names), len(self.targets))
        for name, values, width in zip(("X", "Y"), (X, Y), widths, strict=True):
            if values is None:
                continue
            if values.ndim != 2 or values.shape[1] != width or not np.isfinite(values).all():
                raise ValueError(
                    f"{name}{suffix} must be a finite array with {width} columns, got shape "
                    f"{values.shape}"
                )
        if X is not None and Y is not None and len(X) != len(Y):
            raise ValueError(
                f"X{suffix} has {len(X)} rows and Y{suffix} has {len(Y)}: pass equal numbers"
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

    @property
    def knows_ranges(self) -> bool:
        """Whether the ranges of the training rows are known; older files do not have them."""
        return all(column.low or column.categories for column in self.columns)

    @property
    def input_ranges(self) -> Array | None:
        """Smallest and largest value of each input in the training rows, (2, dx).

        None for models of older files, which do not have them.
        """
        if not self.knows_ranges:
            return None
        pairs = [
            ((0.0,) * len(c.names), (1.0,) * len(c.names)) if c.categories else (c.low, c.high)
            for c in self.columns
        ]
        return np.array([[v for pair in pairs for v in pair[end]] for end in (0, 1)])

    def used_in_fit(self, table: Mapping[str, Any]) -> Mask:
        """Mask of the rows of a table that equal a row that the model was fitted to.

        Parameters
        ----------
        table : data frame or dict of columns
            Rows with all input columns and targets.

        Returns
        -------
        ndarray of shape (m,)
            The mask.  Rows are compared by hashes, so a new row is in it by chance with a
            probability of about the number of training rows divided by four billion.

        Raises
        ------
        ValueError
            If the model does not store hashes of its rows.
        """
        if self.row_hashes is None:
            raise ValueError(
                "the model does not store hashes of its training rows: fit it again with "
                "keep_rows > 0"
            )
        return self.row_hashes.contain(self._inputs(table), self._outputs(table))

    def outside(self, table: Mapping[str, Any]) -> dict[str, Mask]:
        """For each column, the rows that lie outside the training rows.

        Parameters
        ----------
        table : data frame or dict of columns
            Rows with all input columns.

        Returns
        -------
        dict of str to ndarray of shape (m,)
            Masks of the numbers and dates below the smallest or above the largest value of the
            training rows, and of unknown categories.
        """
        encoded = encode(self.columns, table)
        masks = (encoded.outside | encoded.unseen).T
        return {column.name: mask for column, mask in zip(self.columns, masks, strict=True)}

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
            Rows with all input columns and targets.  Rows that the model was fitted to are left
            out, with a ``TableWarning``.  If there are no others, they are used, and the losses are
            too small.

        Returns
        -------
        Evaluation
            The evaluation, without baselines.
        """
        X, Y = self._inputs(table), self._outputs(table)
        if self.row_hashes is not None:
            used = self.row_hashes.contain(X, Y)
            if used.any():
                warnings.warn(TableWarning(used_rows_note(used)), stacklevel=2)
            if not used.all():
                X, Y = X[~used], Y[~used]
        return evaluate_model(self.model, X, Y)

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


def used_rows_note(used: Mask) -> str:
    """What happens to rows that were used in the fit, given their mask."""
    rows = f"{int(used.sum())} of {count_noun(len(used), 'row')} were used in the fit"
    if used.all():
        return f"{rows}: the losses are smaller than on new rows"
    return f"{rows} and are left out"
