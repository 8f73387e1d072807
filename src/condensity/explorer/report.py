"""Reports: a fitted model and, optionally, its data as one web page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from condensity import __version__
from condensity._typing import Array
from condensity._utils.names import input_names, output_names
from condensity._utils.parameters import check_count, check_rng
from condensity._utils.validation import (
    check_inputs,
    check_same_length,
    check_targets,
    column_names,
)
from condensity.explorer.calibration_panel import calibration, calibration_steps
from condensity.explorer.content import content
from condensity.explorer.controls import Control, check_categories, controls_of
from condensity.explorer.exported_model import ExportedModel
from condensity.explorer.facts import facts
from condensity.explorer.page import render_page
from condensity.explorer.ranges import Samples
from condensity.io.atomic import write_atomically


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    y: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    feature_names: Sequence[str] | None = None,
    categories: Mapping[str, Mapping[str, str | int]] | None = None,
    target_names: Sequence[str] | str | None = None,
    title: str | None = None,
    n_points: int = 400,
    n_train: int | None = None,
    input_ranges: Any = None,
    random_state: Any = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write a fitted model as one self-contained web page for exploring it.

    The page contains the model.  The reader moves the inputs and sees p(y|x) change; the numbers
    are those that Python computes.  The page needs a browser and no network.

    Parameters
    ----------
    model : estimator
        Fitted LSCE, LSCDE or EpsilonKDE, or Reduced with a linear reducer.
    path : str or path-like
        File to write.  An existing file is replaced, completely or not at all.
    X : array-like of shape (n, dx), default=None
        Training inputs.  They give the sliders their ranges.
    y : array-like of shape (n,) or (n, dy), default=None
        Training outputs.  Together with ``X`` they give the samples of the summary plot.
    X_test : array-like of shape (m, dx), default=None
        Inputs of test samples, which the model was not fitted to.
    y_test : array-like of shape (m,) or (m, dy), default=None
        Outputs of the test samples.  Together with ``X_test`` they give the calibration plots.
    feature_names : sequence of str, default=None
        Names of the inputs.  None: the names at the fit, or the columns of ``X`` or ``X_test``, or
        x1, x2, ...
    categories : mapping, default=None
        Columns of categories that are encoded as several inputs of zeros and ones.  Each column
        maps its categories to inputs, by name, ``{"colour": {"red": "colour=red", "blue":
        "colour=blue"}}``, or by index from 0, ``{"colour": {"red": 3, "blue": 4}}``.  Use indices
        if two inputs have the same name.  The page shows each column as one list.
    target_names : str or sequence of str, default=None
        Names of the outputs.  None: the names in ``y`` or ``y_test``, or y, or y1, y2, ...
    title : str, default=None
        Title of the page.  None: the names of the outputs and the number of inputs.
    n_points : int, default=400
        Maximum number of training samples in the page, drawn at random.  0 stores no samples, for
        a page that is shared without the data.  Some models consist of samples: ``EpsilonKDE``, and
        an ``LSCE`` with a smooth or flexible location, which contains training inputs.  A reduced
        location contains only their z.
    n_train : int, default=None
        Number of training samples to show, if ``X`` contains only some of them.
    input_ranges : array-like of shape (2, dx), default=None
        Smallest and largest value of each input in the training samples, if ``X`` contains only
        some of them, or is not given.
    random_state : None, int, RandomState or Generator, default=0
        Source of randomness for drawing these samples.
    progress : None or callable, default=None
        Function that is given the number of finished steps and that of all steps.

    Returns
    -------
    Path
        Path of the page.

    Raises
    ------
    TypeError
        If the page cannot run the model: its location is a regressor, its reducer is not linear, or
        it is not an estimator of densities.
    ValueError
        If the data or the names do not match the model.

    See Also
    --------
    condensity.plots.CalibrationDisplay : The calibration as a figure.
    condensity.plots.SufficientSummaryDisplay : The summary plot as a figure.

    References
    ----------
    .. [1] R. J. Hyndman, "Computing and graphing highest density regions," The American
       Statistician 50(2), 1996.
    .. [2] T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation,"
       Journal of the American Statistical Association 102(477), 2007.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.explorer import write_report
    >>> X, y = toy_b().sample(60, random_state=0)
    >>> model = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     write_report(model, f"{folder}/report.html", X=X, y=y).name
    'report.html'
    """
    exported, rng = ExportedModel.of(model), check_rng(random_state)
    n_points = check_count("n_points", n_points, low=0)
    dy = len(exported.density.y_scaling.mean)
    samples = _samples(model, X, y, "", dy)
    test = _samples(model, X_test, y_test, "_test", dy)
    if test is not None and test.Y is None:
        raise ValueError("X_test was passed without y_test: calibration needs both")
    inputs = _feature_names(model, X if X is not None else X_test, feature_names)
    outputs = _target_names(y if y is not None else y_test, target_names, dy)
    controls = controls_of(inputs, categories or {})
    if samples is not None:
        check_categories(controls, samples.X)
    step = _counted(exported, len(controls), test, progress)
    data = content(
        exported,
        samples,
        inputs=inputs,
        controls=controls,
        outputs=outputs,
        n_points=n_points,
        rng=rng,
        ends=_ends(input_ranges, len(inputs)),
        step=step,
    )
    data["calibration"] = None
    if test is not None and test.Y is not None:
        data["calibration"] = calibration(exported, test.X, test.Y, rng, step)
    data["title"] = str(title) if title else f"{', '.join(outputs)} given {_summary(controls)}"
    if n_train is None and samples is not None:
        n_train = len(samples.X)
    data["facts"] = facts(
        model, exported, n_inputs=len(controls), n_train=n_train, version=__version__
    )
    return write_atomically(Path(path), render_page(data).encode())


def _counted(
    model: ExportedModel,
    n_controls: int,
    test: Samples | None,
    progress: Callable[[int, int], None] | None,
) -> Callable[[], None]:
    """Function that counts steps, and gives their number to ``progress``."""
    if progress is None:
        return lambda: None
    total = n_controls + (0 if test is None else calibration_steps(model, len(test.X)))
    steps = count(1)
    return lambda: progress(next(steps), total)


def _ends(input_ranges: Any, dx: int) -> Array | None:
    if input_ranges is None:
        return None
    ends = np.asarray(input_ranges, dtype=float)
    if ends.shape != (2, dx) or not (np.isfinite(ends).all() and (ends[0] <= ends[1]).all()):
        raise ValueError(
            f"input_ranges must be finite numbers of shape (2, {dx}), the smallest and the largest "
            f"of each input, got shape {ends.shape}"
        )
    return ends


def _samples(model: Any, X: Any, y: Any, suffix: str, dy: int) -> Samples | None:
    if X is None:
        if y is not None:
            raise ValueError(f"y{suffix} was passed without X{suffix}: pass both")
        return None
    values = check_inputs(model, X)
    if y is None:
        return Samples(values, None)
    Y, _ = check_targets(y, n_outputs=dy)
    check_same_length(values, Y)
    return Samples(values, Y)


def _feature_names(model: Any, X: Any, names: Sequence[str] | None) -> list[str]:
    n = int(model.n_features_in_)
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = column_names(X) or input_names(n)
    return _checked("feature_names", names, n, "inputs")


def _target_names(y: Any, names: Sequence[str] | str | None, dy: int) -> list[str]:
    if names is None:
        name = getattr(y, "name", None)
        names = column_names(y) or ([str(name)] if isinstance(name, str) and name else None)
    if names is None:
        names = output_names(dy)
    return _checked("target_names", [names] if isinstance(names, str) else names, dy, "outputs")


def _checked(parameter: str, names: Sequence[str], n: int, what: str) -> list[str]:
    names = [str(name) for name in names]
    if len(names) != n:
        raise ValueError(f"{parameter} has {len(names)} names for {n} {what}: pass one for each")
    return names


def _summary(controls: Sequence[Control]) -> str:
    return controls[0].name if len(controls) == 1 else f"{len(controls)} inputs"
