"""The way in: a fitted model and perhaps its data, out comes one page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from condensity import __version__
from condensity._utils.names import input_names, output_names
from condensity._utils.parameters import check_count, check_rng
from condensity._utils.validation import (
    check_inputs,
    check_same_length,
    check_targets,
    column_names,
)
from condensity.explorer.calibration_panel import calibration
from condensity.explorer.content import content
from condensity.explorer.controls import Control, check_categories, controls_of
from condensity.explorer.exported_model import Readable
from condensity.explorer.facts import facts
from condensity.explorer.page import page
from condensity.explorer.ranges import Samples
from condensity.io.atomic import write_at_once


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
    random_state: Any = 0,
) -> Path:
    """Write a fitted model as one self-contained page in which it can be explored.

    The page holds the model itself: move the inputs and p(y|x) follows, with the numbers that
    Python would give.  It needs a browser and no network.

    Parameters
    ----------
    model : fitted LSCE, LSCDE, EpsilonKDE, or Reduced with a linear reducer
    path : where to; an existing file is replaced, at once or not at all
    X, y : training data, optional
        X gives the sliders their ranges, both together the summary plot.
    X_test, y_test : samples new to the model, optional
        They show whether the densities are calibrated.
    feature_names : sequence of str, optional
        Names of the inputs; those of the fit, or of the columns of ``X``, when None.
    categories : mapping, optional
        Columns of categories that are several inputs of zeros and ones: for each column, its
        categories and the names of their inputs, such as
        ``{"colour": {"red": "colour=red", "blue": "colour=blue"}}``, or their places among the
        inputs, ``{"colour": {"red": 3, "blue": 4}}``, where names may occur twice.  The page
        shows each column as one choice.
    target_names : str or sequence of str, optional
        Names of the outputs; those of ``y`` or ``y_test`` when None.
    title : str, optional
    n_points : int, default=400
        Training samples kept in the page, drawn at random if there are more; 0 keeps none, for a
        page that is to be shared where the data are not.
    n_train : int, optional
        Number of training samples, where ``X`` is only some of them.
    random_state : None, int, RandomState or Generator, default=0
        Draws these samples.

    Returns
    -------
    Path
        Where the page is.

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
    readable, rng = Readable.of(model), check_rng(random_state)
    n_points = check_count("n_points", n_points, low=0)
    dy = len(readable.density.y_scaling.mean)
    samples = _samples(model, X, y, "", dy)
    test = _samples(model, X_test, y_test, "_test", dy)
    if test is not None and test.Y is None:
        raise ValueError("X_test comes without y_test: calibration needs both")
    inputs = _feature_names(model, X if X is not None else X_test, feature_names)
    outputs = _target_names(y if y is not None else y_test, target_names, dy)
    controls = controls_of(inputs, categories or {})
    if samples is not None:
        check_categories(controls, samples.X)
    told = content(
        readable,
        samples,
        inputs=inputs,
        controls=controls,
        outputs=outputs,
        n_points=n_points,
        rng=rng,
    )
    told["calibration"] = None
    if test is not None and test.Y is not None:
        told["calibration"] = calibration(readable, test.X, test.Y, rng)
    told["title"] = str(title) if title else f"{', '.join(outputs)} given {_given(controls)}"
    if n_train is None and samples is not None:
        n_train = len(samples.X)
    told["facts"] = facts(
        model, readable, n_inputs=len(controls), n_train=n_train, version=__version__
    )
    return write_at_once(Path(path), page(told).encode())


def _samples(model: Any, X: Any, y: Any, suffix: str, dy: int) -> Samples | None:
    if X is None:
        if y is not None:
            raise ValueError(f"y{suffix} comes without X{suffix}: pass the inputs too")
        return None
    values = check_inputs(model, X)
    if y is None:
        return Samples(values, None)
    Y, _ = check_targets(y, n_outputs=dy)
    check_same_length(values, Y)
    return Samples(values, Y)


def _feature_names(model: Any, X: Any, given: Sequence[str] | None) -> list[str]:
    n = int(model.n_features_in_)
    if given is None:
        given = getattr(model, "feature_names_in_", None)
    if given is None:
        given = column_names(X) or input_names(n)
    return _checked("feature_names", given, n, "inputs")


def _target_names(y: Any, given: Sequence[str] | str | None, dy: int) -> list[str]:
    if given is None:
        name = getattr(y, "name", None)
        given = column_names(y) or ([str(name)] if isinstance(name, str) and name else None)
    if given is None:
        given = output_names(dy)
    return _checked("target_names", [given] if isinstance(given, str) else given, dy, "outputs")


def _checked(parameter: str, names: Sequence[str], n: int, what: str) -> list[str]:
    names = [str(name) for name in names]
    if len(names) != n:
        raise ValueError(f"{parameter} has {len(names)} names for {n} {what}: pass one for each")
    return names


def _given(controls: Sequence[Control]) -> str:
    return controls[0].name if len(controls) == 1 else f"{len(controls)} inputs"
