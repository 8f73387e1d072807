"""Fit of a density estimator to a table, with an evaluation on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from inspect import signature
from typing import Any, cast

import numpy as np
from sklearn.base import clone

from condensity._typing import Indices
from condensity._utils.parameters import (
    check_count,
    check_option,
    check_part,
    check_rng,
    check_verbose,
)
from condensity.estimators import LSCE
from condensity.lsce.configurations import Configuration
from condensity.tables.column_selection import ColumnSelection, DateOrders, Names, select_columns
from condensity.tables.columns import POLICIES
from condensity.tables.errors import TableWarning
from condensity.tables.evaluate import Evaluation, compare_with_baselines
from condensity.tables.model import TableModel
from condensity.tables.row_hashes import TrainingRowHashes
from condensity.tables.split import SplitTable, split_table
from condensity.tables.training import TrainingTable
from condensity.targets import WithAtoms

#: Training rows that a model keeps, by default.
KEPT_ROWS = 500


def fit_table(
    frame: Mapping[str, Any],
    target: str | Sequence[str],
    *,
    features: Names = None,
    exclude: Names = None,
    categorical: Names = None,
    dates: DateOrders = None,
    missing: str = "error",
    atoms: Any = None,
    estimator: Any = None,
    test_size: float = 0.2,
    keep_rows: int = KEPT_ROWS,
    random_state: Any = 0,
    verbose: int | Callable[[str], None] = 0,
    **parameters: Any,
) -> TableModel:
    """Fit a conditional density to a table, and evaluate it on held-out rows.

    The rows are split at random into training rows and held-out rows.  Column kinds, categories,
    medians and the density are learned from the training rows only.  The model is then compared,
    on the held-out rows, with two baselines: the same estimator without dimension reduction and
    the same estimator without inputs.

    Parameters
    ----------
    frame : data frame or dict of columns
        Table with named columns: a pandas or polars data frame, or a dict of sequences.
    target : str or sequence of str
        Column to predict, or several columns to predict jointly.
    features : None, str or sequence of str, default=None
        Input columns.  None: all columns that are neither targets nor excluded.
    exclude : None, str or sequence of str, default=None
        Columns to leave out.
    categorical : None, str or sequence of str, default=None
        Columns of numbers that are categories.  Columns of text are always categories.
    dates : None, str, sequence of str or dict of str to str, default=None
        Columns of dates.  Columns of text in which most values are dates need not be named.  A dict
        gives the order of year, month and day for each column, "ymd", "dmy" or "mdy", which is
        needed only if it cannot be recognised.  A date becomes the year, the month, the weekday,
        the hour and the days since the first date of the training rows.
    missing : {"error", "drop", "impute"}, default="error"
        Treatment of missing values: raise an error, leave their rows out, or fill inputs in
        (numbers and flags with the median of the training rows, categories with zeros).  Rows
        without a target are never filled in.
    atoms : None, "auto" or sequence of float, default=None
        Values of a single target with a probability of their own, such as 0: the estimator is then
        ``WithAtoms(LSCE(...), atoms)``.  None: no such values.
    estimator : None or estimator, default=None
        Density estimator of this library, which is cloned.  None:
        ``LSCE(random_state=random_state, **parameters)``.
    test_size : float, default=0.2
        Share of the rows that are held out, from 0 to 0.9.  0: all rows are training rows, without
        an evaluation.
    keep_rows : int, default=500
        Maximum number of training rows that the model keeps, for reports; the same number of
        held-out rows is kept too.  The model also keeps hashes of all training rows, by which it
        recognises them in other tables.  0: no rows and no hashes.
    random_state : None, int, RandomState or Generator, default=0
        Source of the split, of the rows to keep, and of the default estimator.
    verbose : int or callable, default=0
        1 prints a line for each step and each configuration of the default estimator.  A callable
        is given these lines instead.
    **parameters : dict
        Parameters of the default estimator, such as ``n_components``, ``n_members``,
        ``min_bandwidth``, ``bounds`` and ``n_jobs``.  Not allowed with ``estimator``.

    Returns
    -------
    TableModel
        The fitted model.  ``model.evaluation`` is the evaluation on the held-out rows.

    Raises
    ------
    TableError
        If the table or an option cannot be used.  The message lists all problems of the columns,
        with the remedies.

    Warns
    -----
    TableWarning
        About rows that are left out, values that are filled in, constant inputs, columns that may
        be identifiers, columns of dates, a column without a name, held-out rows with unknown
        categories, and held-out copies of training rows.

    See Also
    --------
    TableModel : The returned model.
    condensity.LSCE : The default estimator.
    condensity.WithAtoms : The estimator for ``atoms``.
    condensity.save : Write the model to a file.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.tables import fit_table
    >>> rng = np.random.default_rng(0)
    >>> size, colour = rng.normal(size=100), rng.choice(["red", "blue"], 100)
    >>> price = np.exp(size + (colour == "red") + 0.2 * rng.normal(size=100))
    >>> table = {"size": size, "colour": colour, "price": price}
    >>> model = fit_table(table, target="price", n_components=1, n_members=1, bounds=(0, None))
    >>> model
    TableModel(price given size, colour; LSCE)
    >>> model.rows, model.evaluation.rows
    (80, 20)
    >>> model.evaluation.error < model.evaluation.error_without_inputs
    True
    >>> model.predict_dist({"size": [0.0], "colour": ["red"]}).prob(0, 10).round(1)
    array([1.])
    """
    check_option("missing", missing, POLICIES)
    check_count("keep_rows", keep_rows, low=0)
    report = _progress_callback(verbose)
    density = _new_density(estimator, atoms, random_state, parameters)
    columns = select_columns(frame, target, features, exclude, categorical, dates)
    split = split_table(
        frame, columns, density, missing=missing, test_size=test_size, random_state=random_state
    )
    for note in split.notes:
        parts = (note,) if isinstance(note, str) else note
        warnings.warn(TableWarning(*parts), stacklevel=2)
    _fit_density(density, split.training, None if estimator is not None else report)
    evaluation = _evaluate(density, split, report)
    return _table_model(density, columns, split, missing, keep_rows, random_state, evaluation)


def _table_model(
    density: Any,
    columns: ColumnSelection,
    split: SplitTable,
    missing: str,
    keep_rows: int,
    random_state: Any,
    evaluation: Evaluation | None,
) -> TableModel:
    """The fitted density with its columns, and the rows that it keeps."""
    X, Y = split.training.X, split.training.Y
    known: dict[str, Any] = {"missing": missing, "rows": len(X), "evaluation": evaluation}
    kept: dict[str, Any] = {}
    if keep_rows:
        rows = rows_to_keep(len(X), keep_rows, random_state)
        kept = {"X": X[rows], "Y": Y[rows], "row_hashes": TrainingRowHashes.of(X, Y)}
        if split.held_out is not None:
            X_test, Y_test = split.held_out
            rows = rows_to_keep(len(X_test), keep_rows, random_state)
            kept |= {"X_test": X_test[rows], "Y_test": Y_test[rows]}
    return TableModel(density, split.training.columns, tuple(columns.targets), **known, **kept)


def _progress_callback(verbose: Any) -> Callable[[str], None]:
    """Function that is given the lines of progress."""
    check_verbose(verbose)
    if callable(verbose):
        return cast(Callable[[str], None], verbose)
    return print if verbose else lambda line: None


def _new_density(estimator: Any, atoms: Any, random_state: Any, parameters: dict[str, Any]) -> Any:
    """An estimator that is not fitted: a clone of the one given, or LSCE, with atoms if given."""
    if estimator is None:
        unknown = sorted(parameters.keys() - signature(LSCE).parameters.keys())
        if unknown:
            options = [*signature(fit_table).parameters, *signature(LSCE).parameters]
            near = get_close_matches(unknown[0], options, n=1)
            remedy = f"did you mean {near[0]!r}?" if near else "see help(condensity.LSCE)"
            raise TypeError(f"fit_table has no option {unknown[0]!r}: {remedy}")
        density = LSCE(random_state=random_state, **parameters)
        return density if atoms is None else WithAtoms(density, atoms, random_state=random_state)
    if atoms is not None:
        parameters = {"atoms": atoms} | parameters
    if parameters:
        raise TypeError(
            f"{', '.join(sorted(parameters))} cannot be combined with estimator: set the "
            "parameters of that estimator instead"
        )
    return clone(check_part("estimator", estimator, "predict_dist", "a density estimator"))


def _fit_density(
    density: Any, training: TrainingTable, report: Callable[[str], None] | None
) -> None:
    """Fit to the training rows; ``report`` is given the configurations of LSCE."""
    shown = density.density if isinstance(density, WithAtoms) else density
    if report is not None:
        shown.set_params(verbose=lambda tried: report(_configuration_line(tried)))
    with warnings.catch_warnings():
        # A TableWarning has named the constant inputs.
        warnings.filterwarnings("ignore", message="X does not vary in column")
        density.fit(training.X, training.Y[:, 0] if training.Y.shape[1] == 1 else training.Y)
    if report is not None:
        shown.set_params(verbose=0)
        if shown is not density:  # the fitted density is a clone
            density.density_.set_params(verbose=0)


def _configuration_line(tried: Configuration) -> str:
    """Line of progress; the loss is that of standardised y, or of y if it has bounds."""
    return (
        f"fitting: location {tried.location}, n_components {tried.n_components}, "
        f"held-out loss {tried.loss:.4g}"
    )


def _evaluate(density: Any, split: SplitTable, report: Callable[[str], None]) -> Evaluation | None:
    """Evaluation on the held-out rows, or None without such rows."""
    if split.held_out is None:
        return None
    report("evaluating")
    return compare_with_baselines(density, (split.training.X, split.training.Y), split.held_out)


def rows_to_keep(n: int, most: int, random_state: Any) -> Indices:
    """At most ``most`` of ``n`` rows, drawn at random, in increasing order."""
    if n <= most:
        return np.arange(n)
    return np.sort(check_rng(random_state).choice(n, most, replace=False))
