"""A table is fitted from Python as from the command line, and evaluated without leakage."""

import ast
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import condensity
from commands import columns, run, write
from condensity import LSCDE, LSCE, SIR, Reduced, WithAtoms, tables
from condensity.cli.flags import FLAGS
from condensity.tables import (
    TableError,
    TableModel,
    TableWarning,
    compare_with_baselines,
    evaluate_model,
    fit_table,
)

QUICK = {"n_components": 1, "n_members": 1}
FIXED = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)
NEW = {"a": [0.2, -1.0], "b, of two": [0.1, 0.4], "colour": ["red", "blue"]}


def same_file(model, path, tmp_path):
    condensity.save(model, tmp_path / "ours.cdn")
    return (tmp_path / "ours.cdn").read_bytes() == Path(path).read_bytes()


def gaps():
    """The table of the commands with missing values in an input, a category and a target."""
    table = {name: column.astype(object) for name, column in columns(n=70).items()}
    table["a"][[3, 30]] = None
    table["colour"][7] = None
    table["y2"][11] = None
    table["code"] = np.arange(70) % 3
    return table


@pytest.mark.parametrize("make", [dict, pd.DataFrame], ids=["dict", "pandas"])
@pytest.mark.parametrize("missing", ["drop", "impute"])
def test_the_command_and_the_function_write_the_same_file(make, missing, tmp_path):
    table = gaps()
    table["y"] = np.exp(table["y"].astype(float))
    path = write(tmp_path / "t.csv", {k: ["" if v is None else v for v in table[k]] for k in table})
    fit = ["fit", path, "--target", "y", "--target", "y2", "--categorical", "code", "--seed", 3]
    fit += ["--bounds", "0,", "--bounds", ",", "--missing", missing, "--components", 2]
    fit += ["--members", 1, "--jobs", 1, "--test-share", 0.3, "--out", tmp_path / "m.cdn", "--json"]
    printed = json.loads(run(*fit).stdout)
    with pytest.warns(TableWarning, match=r"missing values in 'a' \(2\), 'colour' \(1\), 'y2'"):
        model = fit_table(
            make(table),
            target=["y", "y2"],
            categorical="code",
            missing=missing,
            test_size=0.3,
            random_state=3,
            bounds=[(0.0, None), (None, None)],
            n_components=2,
            n_members=1,
            n_jobs=1,
        )
    assert same_file(model, tmp_path / "m.cdn", tmp_path)
    assert printed["evaluation"]["error"] == model.evaluation.error
    assert printed["evaluation"]["inputs_se"] == model.evaluation.inputs_se


def test_frames_of_all_kinds_give_the_same_model(tmp_path):
    ours = fit_table(columns(), "y", exclude="y2", **QUICK)
    for make in (pd.DataFrame, pl.DataFrame):
        condensity.save(
            fit_table(make(columns()), "y", exclude=["y2"], **QUICK), tmp_path / "f.cdn"
        )
        assert same_file(ours, tmp_path / "f.cdn", tmp_path)


def losses(model, X, y):
    """Squared loss, log loss and whether y is in the 90 % interval, row by row, by quadrature."""
    dist = model.predict_dist(X)
    grid = np.linspace(y.min() - 15, y.max() + 15, 20_001)
    p = dist.pdf_on(grid)
    squared_norm = (p[:, 1:] ** 2 + p[:, :-1] ** 2).sum(axis=1) / 2 * (grid[1] - grid[0])
    here = dist.pdf(y)
    return 0.5 * squared_norm - here, -np.log(here), np.abs(dist.cdf(y) - 0.5) <= 0.45


def standard_error(values):
    n = len(values)
    return np.sqrt(((values - values.sum() / n) ** 2).sum() / (n - 1) / n)


def test_evaluation_and_baselines_are_those_of_plain_formulas():
    table = columns(n=90, seed=1) | {"same": np.full(90, 4.0)}
    with pytest.warns(TableWarning, match="input 'same' is constant in the training rows"):
        model = fit_table(table, "y", features=["a", "colour", "same"], **QUICK)
    rows = np.random.default_rng(0).permutation(90)
    test, train = np.sort(rows[:18]), np.sort(rows[18:])
    colours = [table["colour"] == colour for colour in ("blue", "green", "red")]
    X, y = np.column_stack([table["a"], *colours, table["same"]]).astype(float), table["y"]
    found = model.evaluation
    assert (found.rows, model.rows) == (18, 72)

    def fitted(inputs, **settings):
        estimator = LSCE(**({"n_components": 1, "n_members": 1, "random_state": 0} | settings))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a constant input
            return estimator.fit(inputs, y[train])

    squared, log, inside = losses(fitted(X[train]), X[test], y[test])
    assert found.error == pytest.approx(squared.mean(), rel=1e-6)
    assert found.error_se == pytest.approx(standard_error(squared), rel=1e-6)
    assert found.log_loss == pytest.approx(log.mean(), rel=1e-9)
    assert found.log_loss_se == pytest.approx(standard_error(log), rel=1e-9)
    assert found.coverage == (inside.mean(),)

    # Four of the five inputs vary.
    without_reduction, _, _ = losses(fitted(X[train], n_components=4), X[test], y[test])
    assert found.error_without_reduction == pytest.approx(without_reduction.mean(), rel=1e-6)
    difference = without_reduction - squared
    assert found.reduction_se == pytest.approx(standard_error(difference), rel=1e-6)

    noise, noise_test = (
        np.random.default_rng(0).permutation([i % 2 for i in range(n)]).astype(float)[:, None]
        for n in (72, 18)
    )
    without_inputs, _, _ = losses(fitted(noise, location="none"), noise_test, y[test])
    assert found.error_without_inputs == pytest.approx(without_inputs.mean(), rel=1e-6)
    assert found.inputs_se == pytest.approx(standard_error(without_inputs - squared), rel=1e-6)


def test_held_out_rows_have_no_influence_on_the_model():
    table = {name: column.astype(object) for name, column in columns().items()}
    table["a"][np.random.default_rng(0).permutation(60)[20]] = None  # the median fills it in
    options = {"exclude": "y2", "missing": "impute"} | QUICK
    with pytest.warns(TableWarning, match="missing"):
        before = fit_table(table, "y", **options)
    held_out = np.random.default_rng(0).permutation(60)[:12]
    changed = {name: column.copy() for name, column in table.items()}
    changed["a"][held_out] = 1000.0
    changed["colour"][held_out[:3]] = "mauve"
    changed["y"][held_out] = -50.0
    with (
        pytest.warns(TableWarning, match="missing"),
        pytest.warns(TableWarning, match="column 'colour' has categories in 3 held-out rows"),
    ):
        after = fit_table(changed, "y", **options)
    assert after.columns == before.columns
    assert after.columns[2].categories == ("blue", "green", "red")
    np.testing.assert_array_equal(after.X, before.X)
    np.testing.assert_array_equal(after.Y, before.Y)
    for level in (0.05, 0.5):
        ours, theirs = (m.predict_dist(NEW).quantile(level) for m in (after, before))
        np.testing.assert_array_equal(ours, theirs)
    assert after.evaluation != before.evaluation
    table["a"] = [3.0 if v is None else v for v in table["a"]]  # a training row has influence
    assert fit_table(table, "y", **options).columns != before.columns


def notes_of(table, target="y", **options):
    """The table warnings of a fit, which must point at the caller."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit_table(table, target, estimator=FIXED, **options)
    assert {w.category for w in caught} <= {TableWarning}
    assert {w.filename for w in caught} <= {__file__}
    return [str(w.message) for w in caught]


def test_notes_for_the_user_are_warnings():
    table = columns()
    assert notes_of(table) == []
    assert notes_of({"": np.arange(60)} | table, test_size=0) == [
        "the column without a name is left out; it may hold row numbers"
    ]
    assert notes_of(table | {"same": [3] * 60}) == [
        "input 'same' is constant in the training rows and has no effect"
    ]
    missing = "missing values in 'a' (2), 'colour' (1), 'y2' (1)"
    assert notes_of(gaps(), ["y", "y2"], missing="drop", test_size=0) == [
        f"{missing}: 4 rows left out, 66 rows used"
    ]
    assert notes_of(gaps(), ["y", "y2"], missing="impute", test_size=0) == [
        f"{missing}: 1 row without a target left out, 69 rows used; missing numbers are replaced "
        "by medians, missing categories by zeros"
    ]
    held_out = np.random.default_rng(0).permutation(60)[:12]
    colour = table["colour"].astype(object)
    colour[held_out[0]] = "mauve"
    assert notes_of(table | {"colour": colour}) == [
        "column 'colour' has categories in 1 held-out row that do not occur in the training rows; "
        "they are encoded as zeros"
    ]
    copied = {name: column.copy() for name, column in table.items()}
    for column in copied.values():
        column[held_out[:2]] = column[np.setdiff1d(np.arange(60), held_out)[:2]]
    assert notes_of(copied) == [
        "2 of 12 held-out rows equal training rows; if the table has duplicates, the evaluation is "
        "too good"
    ]


TABLE = columns()
REFUSED = {
    "target": (TABLE, {"target": "z"}, r"target names 'z', which is not a column: choose among"),
    "targets in one string": (
        TABLE,
        {"target": "y,y2"},
        r"target names 'y,y2', which is not a column: pass target=\['y', 'y2'\]$",
    ),
    "no target": (TABLE, {"target": []}, "target is empty: name at least one column"),
    "a target twice": (TABLE, {"target": ["y", "y"]}, "target names 'y' twice: name it once"),
    "a target as feature": (
        TABLE,
        {"features": ["a", "y"]},
        "column 'y' is a target: remove it from features",
    ),
    "features": (TABLE, {"features": "q"}, "features names 'q', which is not a column"),
    "exclude": (TABLE, {"exclude": ["q"]}, "exclude names 'q', which is not a column"),
    "categorical": (TABLE, {"categorical": "q"}, "categorical names 'q', which is not a column"),
    "all excluded": (
        TABLE,
        {"features": "a", "exclude": "a"},
        "no input column is left: name one in features, or remove one from exclude",
    ),
    "missing": (TABLE, {"missing": "guess"}, "missing must be one of 'error', 'drop', 'impute'"),
    "missing values": (
        TABLE | {"a": [None, *TABLE["a"][1:]]},
        {},
        r"missing in 'a' \(1\): choose missing='drop' .* or missing='impute' ",
    ),
    "test_size": (TABLE, {"test_size": 1}, "test_size must be a number from 0 to 0.9, got 1"),
    "keep_rows": (TABLE, {"keep_rows": -1}, "keep_rows must be an integer >= 0, got -1"),
    "few rows": (
        {"a": np.arange(11.0), "y": np.arange(11.0)},
        {},
        "9 complete rows are left for training, which is too few: give at least 10, "
        "choose missing='impute', or hold no rows out with test_size=0$",
    ),
    "bounds": (
        TABLE | {"y": [*[2.0] * 40, -1.5, *[3.0] * 19]},
        {"bounds": (0, None)},
        r"1 of 60 values of 'y' are not strictly between 0 and inf \(bounds\), the first is -1.5 "
        "in row 41: widen the bounds",
    ),
    "bounds that are none": (TABLE, {"bounds": 3}, r"bounds must be None, a pair \(lower, upper\)"),
    "n_components": (
        TABLE,
        {"n_components": 9},
        "n_components=9 is more than the 6 inputs that the columns give: choose at most 6",
    ),
    "a number for a name": ({0: [1.0], "y": [1.0]}, {}, "column names must be strings, got 0"),
    "unequal lengths": ({"a": [1, 2], "y": [1]}, {}, "got 1 values in 'y' and 2 in 'a'"),
    "a scalar": ({"a": 1, "y": [1]}, {}, r"column 'a' must be one-dimensional, got shape \(\)"),
    "no rows": ({"a": [], "y": []}, {}, "the table has no rows"),
    "a word": (
        TABLE | {"a": ["many", *TABLE["a"][1:]]},
        {},
        "column 'a' must hold numbers, got 'many' in row 1: correct the value, or name the column "
        "in exclude or categorical",
    ),
}


@pytest.mark.parametrize(("table", "options", "says"), REFUSED.values(), ids=REFUSED)
def test_wrong_tables_and_options_are_refused_with_the_remedy(table, options, says):
    options = {"target": "y", "test_size": 0.2} | options
    with pytest.raises(ValueError, match=says) as refused:
        fit_table(table, **options)
    assert "--" not in str(refused.value)


def test_a_column_name_twice_and_arrays_are_refused():
    twice = pd.DataFrame(np.ones((20, 3)), columns=["a", "a", "y"])
    with pytest.raises(TableError, match="several columns are named 'a': rename all but one"):
        fit_table(twice, "y")
    with pytest.raises(TypeError, match="a data frame or a dict of columns, got an array"):
        fit_table(np.ones((20, 3)), "y")
    with pytest.raises(TypeError, match="a data frame or a dict of columns, got int"):
        fit_table(3, "y")
    with pytest.raises(TypeError, match="a data frame or a dict of columns, got str"):
        fit_table("mine.csv", "y")


def test_library_code_names_parameters_and_the_command_line_has_an_option_for_each():
    parameters = set()
    for path in Path(tables.__file__).parent.glob("*.py"):
        source = path.read_text()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ParameterValue":
                parameters |= (
                    {node.args[0].value} if isinstance(node.args[0], ast.Constant) else set()
                )
        flags = set(re.findall(r"--[a-z]\w*", source))
        assert flags <= ({"--missing"} if path.name == "errors.py" else set())  # its docstring
    assert {"missing", "exclude", "test_size", "bounds"} <= parameters <= FLAGS.keys()


def test_an_estimator_is_cloned_and_excludes_parameters():
    given = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)
    model = fit_table(TABLE, "y", estimator=given)
    assert not hasattr(given, "_density")
    assert model.model is not given
    assert model.evaluation.error_without_reduction is None
    assert model.evaluation.inputs_se > 0
    with pytest.raises(TypeError, match="bounds, n_components cannot be combined with estimator"):
        fit_table(TABLE, "y", estimator=given, n_components=1, bounds=(0, None))
    with pytest.raises(ValueError, match="estimator must be a density estimator with fit and"):
        fit_table(TABLE, "y", estimator=SIR(1))
    with pytest.raises(TypeError, match="no option 'colour': see help"):
        fit_table(TABLE, "y", colour="red")
    with pytest.raises(TypeError, match="no option 'mising': did you mean 'missing'"):
        fit_table(TABLE, "y", mising="drop")


def test_without_reduction_a_reduced_density_is_its_density_on_all_inputs():
    model = fit_table(TABLE, "y", estimator=Reduced(SIR(), FIXED, n_components=1))
    plain = fit_table(TABLE, "y", estimator=FIXED)
    assert model.evaluation.error_without_reduction == plain.evaluation.error
    assert model.evaluation.error_without_inputs == plain.evaluation.error_without_inputs


def test_an_input_that_is_constant_in_the_subsample_does_not_stop_the_evaluation():
    table = columns(n=100)
    rare = np.zeros(100)
    rare[np.sort(np.random.default_rng(0).permutation(100)[20:])[5]] = 1.0
    options = {"features": ["a", "rare"], "subsample": 20} | QUICK
    for seed in range(10):
        train = np.random.default_rng(seed).permutation(100)[20:]
        if not rare[train].any():
            continue
        model = fit_table(table | {"rare": rare}, "y", random_state=seed, **options)
        if not model.model._density.x_scaling.varies.all():
            assert model.evaluation.error_without_reduction is None  # one input is left
            return
    pytest.fail("every subsample held the rare value")


def test_progress_is_given_as_lines(capsys):
    lines = []
    model = fit_table(TABLE, "y", verbose=lines.append, **QUICK)
    assert len(lines) == len(model.model.cv_results_["weight"]) + 1
    assert all(line.startswith("fitting: location ") for line in lines[:-1])
    assert lines[-1] == "evaluating"
    assert model.model.verbose == 0
    assert capsys.readouterr().out == ""
    fit_table(TABLE, "y", verbose=1, test_size=0, **QUICK)
    assert capsys.readouterr().out.splitlines() == lines_without_evaluation(model)
    with pytest.raises(ValueError, match="verbose"):
        fit_table(TABLE, "y", verbose="loud")


def lines_without_evaluation(model):
    lines = []
    fit_table(TABLE, "y", verbose=lines.append, test_size=0, **QUICK)
    assert len(lines) == len(model.model.cv_results_["weight"])
    return lines


def test_some_training_rows_are_kept():
    model = fit_table(TABLE, "y", features="a", keep_rows=7, estimator=FIXED, test_size=0)
    pairs = set(zip(TABLE["a"], TABLE["y"], strict=True))
    assert {(x, y) for x, y in zip(model.X[:, 0], model.Y[:, 0], strict=True)} <= pairs
    assert (len(model.X), model.rows, model.evaluation) == (7, 60, None)
    none = fit_table(TABLE, "y", keep_rows=0, estimator=FIXED, test_size=0)
    assert (none.X, none.Y, none.rows) == (None, None, 60)


def test_a_model_is_evaluated_on_other_tables():
    model = fit_table(TABLE, "y", exclude="y2", **QUICK)
    new = pd.DataFrame(columns(n=30, seed=1))
    found = model.evaluate(new)
    assert found == evaluate_model(model.model, model.encode(new), new["y"])
    assert found.error == pytest.approx(-model.score(new), rel=1e-12)
    assert found.error_without_inputs is None
    train = model.X, model.Y[:, 0]
    compared = compare_with_baselines(model.model, train, (model.encode(new), new["y"]))
    assert (compared.error, compared.error_se) == (found.error, found.error_se)
    assert compared.error_without_inputs > found.error
    new.loc[4, "y"] = np.nan
    with pytest.raises(TableError, match="target 'y' has no value in row 5: leave the row out"):
        model.evaluate(new)


def test_warnings_of_predictions_point_at_the_caller():
    model = fit_table(TABLE, "y", exclude="y2", estimator=FIXED)
    for method in (model.encode, model.predict, model.predict_dist):
        with pytest.warns(TableWarning, match="unknown categories, .* 'colour' ") as caught:
            method(NEW | {"colour": ["red", "mauve"]})
        assert caught[0].filename == __file__


WRONG = {
    "targets": {"targets": (3,)},
    "missing must be one of": {"missing": "guess"},
    "the columns give 6 inputs and 2 targets, the model expects 6 and 1": {"targets": ("y", "z")},
    "rows must be None or an integer, got 'many'": {"rows": "many"},
    "X must be a finite array with 6 columns": {"X": np.ones((3, 2))},
    "X has 2 rows and Y has 3": {"X": np.ones((2, 6)), "Y": np.ones((3, 1))},
}


@pytest.mark.parametrize(("says", "fields"), WRONG.items(), ids=WRONG)
def test_models_that_do_not_fit_their_columns_are_refused(says, fields):
    model = fit_table(TABLE, "y", estimator=FIXED, test_size=0)
    with pytest.raises(ValueError, match=says):
        TableModel(**({"model": model.model, "columns": model.columns, "targets": ("y",)} | fields))


def test_baselines_do_not_report_progress():
    heard = []
    given = LSCE(1, n_starts=1, n_members=1, max_iter=3, random_state=0, verbose=heard.append)
    fit_table(TABLE, "y", estimator=given, test_size=0)
    alone = len(heard)
    fit_table(TABLE, "y", estimator=given)
    assert len(heard) == 2 * alone > 0


@pytest.mark.parametrize("parameter", ["features", "exclude", "categorical"])
def test_a_target_cannot_be_anything_else(parameter):
    with pytest.raises(TableError, match=f"'y' is a target: remove it from {parameter}"):
        fit_table(TABLE, "y", **{parameter: "y"})


def test_targets_of_another_number_are_refused():
    model = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(np.eye(3), np.arange(3.0))
    with pytest.raises(ValueError, match="y has 2 columns but the density has 1 output"):
        evaluate_model(model, np.eye(3), np.ones((3, 2)))


def test_atoms_are_those_of_the_default_estimator():
    rng = np.random.default_rng(0)
    a = rng.standard_normal(80)
    table = {"a": a, "rain": np.where(rng.random(80) < 0.5, 0.0, np.exp(a))}
    quick = {"n_components": 1, "n_members": 1, "n_starts": 1, "max_iter": 3}
    lines = []
    model = fit_table(table, "rain", atoms=(0,), verbose=lines.append, **quick)
    assert isinstance(model.model, WithAtoms)
    assert model.model.atoms_.tolist() == [0.0]
    assert model.model.density_.get_params()["n_starts"] == 1
    assert any(line.startswith("fitting") for line in lines)
    assert model.model.density.verbose == model.model.density_.verbose == 0
    assert model.evaluation.error_without_inputs is not None
    with pytest.raises(TypeError, match="atoms cannot be combined with estimator"):
        fit_table(table, "rain", atoms=(0,), estimator=LSCE())
