"""Evaluation of a model on rows that it was not fitted to, with baselines."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from condensity._typing import Array, Mask
from condensity._utils.validation import check_same_length, check_targets
from condensity.distributions import Distribution
from condensity.estimators import Reduced
from condensity.metrics import squared_loss_by_row
from condensity.targets import WithAtoms

#: Probability of the central intervals whose coverage is measured.
INTERVAL_LEVEL = 0.9
#: Rows that are evaluated at a time.
EVALUATED_ROWS = 256


#: Function that is given the number of rows that are done, or None.
RowReport = Callable[[int], None] | None
#: Fields with a number for each output, besides the coverage; older files do not have them.
BY_OUTPUT = (
    "median_error",
    "interval_width",
    "crps",
    "median_error_without_inputs",
    "interval_width_without_inputs",
    "crps_without_inputs",
    "crps_inputs_se",
)


@dataclass(frozen=True)
class Evaluation:
    """Losses and coverage of a model on rows that it was not fitted to.

    Standard errors are those of a mean over rows, ``std(ddof=1) / sqrt(rows)``.  Those of the
    baselines are of the difference in loss between baseline and model, row by row.

    Parameters
    ----------
    rows : int
        Number of rows.
    error : float
        Mean squared loss.  Lower is better.
    error_se : float
        Standard error of ``error``.
    log_loss : float
        Mean log loss.  Lower is better.
    log_loss_se : float
        Standard error of ``log_loss``.
    coverage : tuple of float
        For each output, the share of its values in the central intervals of probability 0.9.
    error_without_reduction : None or float, default=None
        Mean squared loss of the same estimator with a direction for each input.
    error_without_inputs : None or float, default=None
        Mean squared loss of the same estimator with one random input that is independent of y.
    reduction_se : None or float, default=None
        Standard error of ``error_without_reduction - error``.
    inputs_se : None or float, default=None
        Standard error of ``error_without_inputs - error``.
    median_error : None or tuple of float, default=None
        For each output, the mean absolute difference between its values and the medians, in its
        unit.
    interval_width : None or tuple of float, default=None
        For each output, the mean width of the central intervals of probability 0.9.
    crps : None or tuple of float, default=None
        For each output, the mean CRPS, in its unit.  Lower is better.
    median_error_without_inputs : None or tuple of float, default=None
        ``median_error`` of the same estimator with one random input that is independent of y.
    interval_width_without_inputs : None or tuple of float, default=None
        Its ``interval_width``.
    crps_without_inputs : None or tuple of float, default=None
        Its ``crps``.
    crps_inputs_se : None or tuple of float, default=None
        Standard errors of ``crps_without_inputs - crps``.

    See Also
    --------
    evaluate_model : Evaluation of a model on new rows.
    compare_with_baselines : Evaluation with baselines.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.tables import evaluate_model
    >>> model = LSCDE(random_state=0).fit(*toy_b().sample(100, random_state=0))
    >>> evaluation = evaluate_model(model, *toy_b().sample(50, random_state=1))
    >>> evaluation.rows, len(evaluation.coverage)
    (50, 1)
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
    median_error: tuple[float, ...] | None = None
    interval_width: tuple[float, ...] | None = None
    crps: tuple[float, ...] | None = None
    median_error_without_inputs: tuple[float, ...] | None = None
    interval_width_without_inputs: tuple[float, ...] | None = None
    crps_without_inputs: tuple[float, ...] | None = None
    crps_inputs_se: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            value, optional = getattr(self, item.name), item.default is None
            if optional and value is None:
                continue
            if item.name == "coverage" or item.name in BY_OUTPUT:
                values = value
                if not isinstance(value, tuple) or len(value) != len(self.coverage):
                    raise ValueError(
                        f"{item.name} of an evaluation must have a number for each output, got "
                        f"{value!r}"
                    )
            else:
                values = (value,)
            for number in values:
                if not isinstance(number, int | float):
                    raise ValueError(
                        f"{item.name} of an evaluation must be a number, got {number!r}"
                    )


@dataclass(frozen=True, eq=False)
class RowLosses:
    """Losses of a model, row by row."""

    squared: Array  # (n,)
    log: Array  # (n,)
    inside: Mask  # (n, dy) whether a value lies in its interval
    width: Array  # (n, dy) of these intervals
    absolute: Array  # (n, dy) distances of the values from their medians
    crps: Array  # (n, dy)

    @classmethod
    def of(cls, model: Any, X: Array, Y: Array, report: RowReport = None) -> RowLosses:
        """Losses at ``X`` (n, dx), ``Y`` (n, dy)."""
        parts = []
        for start in range(0, len(X), EVALUATED_ROWS):
            rows = slice(start, start + EVALUATED_ROWS)
            parts.append(_losses(model.predict_dist(X[rows]), Y[rows]))
            if report is not None:
                report(min(rows.stop, len(X)))
        return cls(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def evaluation(self) -> Evaluation:
        """Means and standard errors of the losses."""
        return Evaluation(
            rows=len(self.squared),
            error=float(self.squared.mean()),
            error_se=_standard_error(self.squared),
            log_loss=float(self.log.mean()),
            log_loss_se=_standard_error(self.log),
            coverage=_column_means(self.inside),
            median_error=_column_means(self.absolute),
            interval_width=_column_means(self.width),
            crps=_column_means(self.crps),
        )


def evaluate_model(model: Any, X: Any, Y: Any, *, report: RowReport = None) -> Evaluation:
    """Evaluate a model on new rows: losses and coverage.

    Parameters
    ----------
    model : estimator
        A fitted density estimator.  For a ``TableModel``, see its method ``evaluate``.
    X : array-like of shape (n, dx)
        Inputs.
    Y : array-like of shape (n,) or (n, dy)
        Outputs.
    report : None or callable, default=None
        Function that is given the number of rows that are done, block by block.

    Returns
    -------
    Evaluation
        The evaluation, without baselines.

    See Also
    --------
    compare_with_baselines : Evaluation with baselines.
    TableModel.evaluate : Evaluation on the rows of a table.

    Examples
    --------
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.tables import evaluate_model
    >>> model = LSCDE(random_state=0).fit(*toy_b().sample(100, random_state=0))
    >>> X, y = toy_b().sample(50, random_state=1)
    >>> evaluate_model(model, X, y).error == -model.score(X, y)
    True
    """
    X, Y = np.asarray(X), check_targets(Y, n_outputs=model._n_outputs)[0]
    check_same_length(X, Y)
    return RowLosses.of(model, X, Y, report).evaluation()


def compare_with_baselines(model: Any, train: tuple[Any, Any], test: tuple[Any, Any]) -> Evaluation:
    """Evaluation of a model, with the losses of two baselines.

    The baselines are the same estimator, fitted to the same rows: once with a direction for each
    input (without reduction), and once with a single random input that is independent of y
    (without inputs).  All other parameters, such as the bounds and the minimum bandwidth, are
    those of the model, because losses depend on them if values of y repeat.

    Parameters
    ----------
    model : estimator
        A fitted density estimator.
    train : tuple of array-like
        Inputs (n, dx) and outputs (n,) or (n, dy) that the model was fitted to.
    test : tuple of array-like
        Inputs and outputs of new rows.

    Returns
    -------
    Evaluation
        The evaluation.  An estimator without dimension reduction has no baseline without
        reduction, nor has one with a single varying input.

    See Also
    --------
    evaluate_model : Evaluation without baselines.
    fit_table : Fit to a table, with this evaluation on held-out rows.

    Examples
    --------
    >>> from condensity import LSCE
    >>> from condensity.datasets import toy_b
    >>> from condensity.tables import compare_with_baselines
    >>> train, test = (toy_b().sample(80, random_state=seed) for seed in (0, 1))
    >>> model = LSCE(1, n_members=1, n_starts=1, random_state=0).fit(*train)
    >>> evaluation = compare_with_baselines(model, train, test)
    >>> evaluation.error < evaluation.error_without_inputs
    True
    """
    (X, Y), (X_test, Y_test) = ((np.asarray(x), _as_matrix(y)) for x, y in (train, test))
    losses = RowLosses.of(model, X_test, Y_test)
    evaluation = losses.evaluation()
    full = _without_reduction(model)
    if full is not None:
        baseline = RowLosses.of(_fit(full, X, Y), X_test, Y_test).squared
        evaluation = replace(
            evaluation,
            error_without_reduction=float(baseline.mean()),
            reduction_se=_standard_error(baseline - losses.squared),
        )
    noise, noise_test = (_balanced_noise(len(y)) for y in (Y, Y_test))
    ignorant = RowLosses.of(_fit(_without_inputs(model), noise, Y), noise_test, Y_test)
    differences = (ignorant.crps - losses.crps).T
    return replace(
        evaluation,
        error_without_inputs=float(ignorant.squared.mean()),
        inputs_se=_standard_error(ignorant.squared - losses.squared),
        median_error_without_inputs=_column_means(ignorant.absolute),
        interval_width_without_inputs=_column_means(ignorant.width),
        crps_without_inputs=_column_means(ignorant.crps),
        crps_inputs_se=tuple(_standard_error(difference) for difference in differences),
    )


def _without_reduction(model: Any) -> Any:
    """An estimator like the model that uses all inputs, or None if the model does so already."""
    if isinstance(model, Reduced):
        return _like(model)
    if "n_components" not in model.get_params():
        return None
    # Constant inputs have no direction.
    n_varying = int(model._density.x_scaling.varies.sum())
    return _like(model).set_params(n_components=n_varying) if n_varying > 1 else None


def _like(model: Any) -> Any:
    """The density estimator of a model, not fitted, with the bounds that the model has."""
    fitted = model.density_ if isinstance(model, Reduced) else model
    given = model.density if isinstance(model, Reduced) else model
    estimator = clone(given)
    return estimator.set_params(bounds=fitted.bounds_) if hasattr(fitted, "bounds_") else estimator


def _without_inputs(model: Any) -> Any:
    """An estimator like the model for a single input that is independent of y."""
    estimator = _like(model)
    if isinstance(estimator, WithAtoms):
        return estimator.set_params(density=_without_inputs(model.density_), atoms=model.atoms_)
    known = estimator.get_params()
    settings = {"n_components": 1, "location": "none"}
    return estimator.set_params(**{k: v for k, v in settings.items() if k in known})


def _balanced_noise(n: int) -> Array:
    """Zeros and ones in equal numbers, in random order: (n, 1)."""
    return np.random.default_rng(0).permutation(np.arange(n) % 2.0)[:, None]


def _fit(estimator: Any, X: Array, Y: Array) -> Any:
    if "verbose" in estimator.get_params():
        estimator.set_params(verbose=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of the model has given the same warnings
        return estimator.fit(X, Y[:, 0] if Y.shape[1] == 1 else Y)


def _losses(dist: Distribution, Y: Array) -> tuple[Array, Array, Mask, Array, Array, Array]:
    """The fields of ``RowLosses`` for some rows."""
    levels = np.array([(1 - INTERVAL_LEVEL) / 2, 0.5, (1 + INTERVAL_LEVEL) / 2])
    marginals = list(dist.marginals())
    quantiles = np.stack([marginal.quantile(levels) for marginal in marginals], axis=1)
    low, median, high = np.moveaxis(quantiles, 2, 0)  # (m, dy) each
    crps = np.column_stack([m.crps(y) for m, y in zip(marginals, Y.T, strict=True)])
    inside = (low <= Y) & (high >= Y)
    squared, log = squared_loss_by_row(dist, Y), -dist.log_pdf(Y)
    return squared, log, inside, high - low, np.abs(Y - median), crps


def _column_means(values: Array | Mask) -> tuple[float, ...]:
    return tuple(float(mean) for mean in values.mean(axis=0))


def _as_matrix(Y: Any) -> Array:
    values = np.asarray(Y, dtype=float)
    return values.reshape(len(values), -1)


def _standard_error(values: Array) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
