"""What bad input gets: one sentence with the remedy, and nothing half-fitted."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.validation import check_is_fitted

from condensity import LSCDE, LSCE, EpsilonKDE, Reduced

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((40, 3)), RNG.standard_normal(40)
DATES = np.datetime64("2024-01-01") + np.arange(40)
PENALISED = [LSCDE(), LSCE(n_components=1, n_starts=1, n_members=1, location="none")]
BOTH = pytest.mark.parametrize("estimator", PENALISED)
EVERY = pytest.mark.parametrize(
    "estimator", [*PENALISED, EpsilonKDE(), Reduced(), Reduced(density=EpsilonKDE())]
)


def with_value(array, value):
    spoilt = array.copy()
    spoilt.flat[4] = value
    return spoilt


def assert_refused(estimator, match, *args, **kwargs):
    with pytest.raises(ValueError, match=match):
        estimator.fit(*args, **kwargs)
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)


@EVERY
@pytest.mark.parametrize(
    ("x", "y", "match"),
    [
        (
            with_value(X, np.nan),
            Y,
            "X contains NaN in 1 of 40 rows, first at row 1, column 1: drop",
        ),
        (with_value(X, np.inf), Y, "X contains infinity .* drop these rows or impute them"),
        (X, with_value(Y, np.nan), "y contains NaN in 1 of 40 rows, first at row 4"),
        (X, with_value(Y, -np.inf), "y contains infinity"),
        (X, Y[:-1], "X has 40 rows but y has 39 .* one target for each row"),
        (X, None, "requires y to be passed.* call fit"),
        (X, np.full(40, 2.5), "y does not vary in column 0: .* drop this column"),
        (np.ones((40, 3)), Y, "X does not vary in any column: pass at least one input"),
        (X.astype(complex), Y, "X is complex; pass real and imaginary parts"),
        (X, Y + 1j, "y is complex; pass real and imaginary parts"),
        (np.full((40, 1), "red"), Y, "X contains text: pass numbers; .*OneHotEncoder"),
        (X, np.full(40, "red"), "y contains text: pass numbers"),
        (X.astype(str), Y, "X contains text"),
        (X, Y.astype(str).astype(object), "y contains text"),
        (DATES[:, None] + np.arange(3), Y, "X contains dates or times: .* days since the first"),
        (with_value(X.astype(object), date(2024, 2, 1)), Y, "X contains dates or times"),
        (pd.DataFrame({"a": X[:, 0], "t": pd.to_datetime(DATES)}), Y, "X in column 't'"),
        (pd.DataFrame({"t": pd.to_datetime(DATES, utc=True)}), Y, "X in column 't'"),
        (pl.DataFrame({"a": X[:, 0], "t": DATES}), Y, "X in column 't'"),
        (X, DATES, "y contains dates or times"),
        (X, DATES - DATES[0], "y contains dates or times"),
        (X, with_value(DATES, np.datetime64("NaT")), "y contains dates or times"),
        (np.ma.masked_greater(X, 1), Y, r"X is a masked array with \d+ masked .*: drop these rows"),
        (X, np.ma.masked_greater(Y, 1), "y is a masked array"),
        ({"a": X[:, 0], "b": X[:, 1]}, Y, r"X is a dict: pass pandas.DataFrame\(X\)"),
        (X, {"y": Y}, "y is a dict"),
        (with_value(X.astype(object), []), Y, "X contains values that are not numbers"),
        ((X + 1j).astype(object), Y, "X is complex; pass real and imaginary parts"),
        (X * 1e200, Y, "X contains values as large as .*: rescale X to values near 1"),
        (X, Y * 1e200, "y contains values as large as .*: rescale y to values near 1"),
        (X, Y * 1e-200, "y has a standard deviation of only .*e-20[01]: rescale y to"),
        (X[:1], Y[:1], "at least 2 distinct samples .* n_samples=1: pass more data"),
        (X[:4], Y[:4], "n_samples=4 .* into cv=5 folds: pass cv=4 or less"),
        (np.repeat(X[:1], 40, 0), np.repeat(Y[:1], 40), "at least 2 distinct samples"),
    ],
)
def test_data(estimator, x, y, match):
    assert_refused(estimator, match, x, y)


@EVERY
@pytest.mark.parametrize(
    ("weight", "match"),
    [
        (with_value(np.ones(40), -0.5), "must be >= 0, got -0.5 at row 4: .* weight 0"),
        ("balanced", "sample_weight must contain one number for each sample, got 'balanced'"),
        (np.zeros(40), "zero for every sample: at least two"),
        (np.ones(39), r"shape \(40,\), one weight for each sample, got \(39,\)"),
        (with_value(np.ones(40), np.nan), "sample_weight contains NaN"),
        (np.arange(40) == 3, "at least 2 distinct samples with positive weight, got n_samples=1"),
    ],
)
def test_weights(estimator, weight, match):
    assert_refused(estimator, match, X, Y, sample_weight=weight)


@BOTH
@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        (
            {"bandwidth": -1.0},
            "None .selected by cross-validation., a number between 1e-6 .* got -1.0",
        ),
        ({"bandwidth": (0.5, 0.0)}, r"got \(0.5, 0.0\)"),
        ({"bandwidth": (0.5, 0.1, 0.2)}, "a pair .sigma_z, sigma_y."),
        ({"bandwidth": "wide"}, "got 'wide'"),
        ({"bandwidth": np.inf}, "got inf"),
        (
            {"penalty": -0.1},
            "penalty, .* must be None .selected .* or a finite number >= 0, got -0.1",
        ),
        ({"penalty": "big"}, "got 'big'"),
        ({"cv": 1}, r"cv must be an integer >= 2 \(folds\), got 1"),
        ({"cv": 2.5}, "cv must be a number of folds, a splitter or a list .* got 2.5"),
        ({"cv": "many"}, "got 'many'"),
        ({"cv": [1, 2, 3]}, "a list of .train, test. row numbers for the 40 samples"),
        ({"cv": [([0], np.arange(20, 60))]}, "row numbers for the 40 samples"),
        ({"cv": ShuffleSplit(3, random_state=0)}, "exactly once, like KFold and GroupKFold"),
        ({"cv": TimeSeriesSplit(3)}, "got row 0 in 0 of 3 test folds"),
        ({"cv": RepeatedKFold(n_splits=2, n_repeats=2)}, "got row 0 in 2 of 4 test folds"),
        ({"cv": [([], np.arange(40))]}, "fewer than two folds with a positive weight"),
        ({"bandwidth": True}, "got True"),
        ({"bandwidth": 1e-170}, "a number between 1e-6 and 1e6"),
        ({"n_centers": 41}, "n_centers must be an integer between 2 and 40, .* got 41"),
        ({"n_centers": 1}, "got 1"),
        ({"n_centers": "many"}, "or 'auto', got 'many'"),
        ({"random_state": -1}, "random_state must be an integer >= 0, None, .* got -1"),
        ({"random_state": "seed"}, "got 'seed'"),
    ],
)
def test_parameters(estimator, parameters, match):
    assert_refused(type(estimator)(**parameters), match, X, Y)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"n_components": 0}, "n_components must be an integer between 1 and 3, .* got 0"),
        ({"n_components": 4}, "the number of varying inputs, or 'auto', got 4"),
        ({"n_components": True}, "got True"),
        ({"n_components": "all"}, "got 'all'"),
        ({"n_starts": 0}, "n_starts must be an integer >= 1, got 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"verbose": "loud"}, "verbose must be 0, 1 or a callable, .* got 'loud'"),
        ({"scoring": "r2"}, "scoring must be one of 'squared', 'crps', 'log', got 'r2'"),
        ({"n_members": 0}, "n_members must be an integer >= 1, got 0"),
        (
            {"location": "middle"},
            "location must be 'auto', 'reduced', .*'flexible' or a regressor",
        ),
        ({"location": KMeans()}, r"a regressor with fit and predict, got KMeans\(\)"),
        ({"min_bandwidth": -1}, "min_bandwidth must be None .* a number >= 0 .* got -1"),
        ({"min_bandwidth": [0.1, 0.1]}, r"one number for each of the 1 outputs, got \[0.1, 0.1\]"),
        ({"min_bandwidth": "fine"}, "got 'fine'"),
    ],
)
def test_parameters_of_lsce(parameters, match):
    assert_refused(LSCE(**parameters), match, X, Y)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"epsilon": -0.1}, "epsilon must be None .selected .* or a number >= 0, .* got -0.1"),
        ({"epsilon": np.nan}, "got nan"),
        ({"epsilon": "near"}, "got 'near'"),
        ({"epsilon": True}, "got True"),
        (
            {"bandwidth": 0.0},
            "None .selected by cross-validation. or a number between 1e-6 .* got 0.0",
        ),
        ({"bandwidth": (0.5, 0.5)}, r"got \(0.5, 0.5\)"),
        ({"bandwidth": np.inf}, "got inf"),
        ({"cv": 1}, r"cv must be an integer >= 2 \(folds\), got 1"),
        ({"random_state": -1}, "random_state must be an integer >= 0"),
    ],
)
def test_parameters_of_epsilon_kde(parameters, match):
    assert_refused(EpsilonKDE(**parameters), match, X, Y)


def test_the_remedy_for_too_few_samples_of_epsilon_kde():
    remedy = (
        "EpsilonKDE cannot split n_samples=4 .* cv=4 or less, or fix both epsilon and bandwidth"
    )
    assert_refused(EpsilonKDE(epsilon=1.0), remedy, X[:4], Y[:4])
    EpsilonKDE(epsilon=1.0, bandwidth=0.5).fit(X[:4], Y[:4])


@EVERY
def test_folds_must_leave_something_to_fit(estimator):
    halves = clone(estimator).set_params(cv=KFold(2))
    weight = (np.arange(40) < 20).astype(float)
    assert_refused(halves, "fewer than two folds with a positive weight", X, Y, weight)


@BOTH
def test_a_fold_that_holds_every_centre_is_refused(estimator):
    X2 = np.vstack([X[:2], np.repeat(X[2:3], 38, 0)])
    weight = np.r_[1e6, 1e6, np.ones(38)]  # the two centres are almost surely rows 0 and 1
    Y2 = np.r_[Y[:2], np.repeat(Y[2], 38)]
    cv = PredefinedSplit(np.r_[0, 0, np.ones(38, int)])
    few = estimator.__class__(**estimator.get_params() | {"n_centers": 2, "cv": cv})
    assert_refused(few, "fold 0 contains all 2 centres.* raise n_centers", X2, Y2, weight)


def test_the_remedy_for_too_few_samples_names_all_that_is_selected():
    fixed = LSCE(bandwidth=0.5, penalty=0.1)
    remedy = "or fix bandwidth, penalty, n_components and location, with n_members=1"
    assert_refused(fixed, remedy, X[:3], Y[:3])


def test_column_names_that_cannot_be_kept_are_refused_before_the_work():
    frame = pd.DataFrame(X, columns=["age", 1, 2.5])
    with pytest.raises(TypeError, match="only supported if all input features have string names"):
        LSCDE().fit(frame, with_value(Y, np.nan))  # the names come first


@BOTH
def test_small_samples_are_fine_when_nothing_is_to_be_selected(estimator):
    fixed = estimator.__class__(**estimator.get_params() | {"bandwidth": 1.0, "penalty": 0.1})
    assert np.isfinite(fixed.fit(X[:3], Y[:3]).predict(X)).all()


@pytest.mark.parametrize(("seed", "location"), [(3, "auto"), (15, "auto"), (4, "linear")])
def test_few_samples_of_several_outputs_can_be_fitted(seed, location):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(5, 1)), rng.normal(size=(5, 3))
    if location == "linear":
        X, Y = rng.normal(size=(5, 1)), rng.normal(size=(5, 3))
    model = LSCE(n_starts=1, max_iter=3, random_state=0, location=location).fit(X, Y)
    assert np.isfinite(model.predict_dist(X).log_pdf(Y)).all()


@EVERY
def test_a_column_is_named_when_it_has_a_name(estimator):
    frame = pd.DataFrame(X.copy(), columns=["age", "bmi", "dose"])
    frame.loc[7, "bmi"] = np.nan
    assert_refused(estimator.__class__(), "first at row 7, column 'bmi'", frame, Y)
    frame["bmi"] = 1.0
    with pytest.warns(UserWarning, match="column bmi: it has no effect on the result; drop it"):
        clone(estimator).fit(frame, Y)


@EVERY
def test_predict_before_fit_and_with_the_wrong_columns(estimator):
    fresh = clone(estimator)
    for method in ("predict", "predict_dist"):
        with pytest.raises(NotFittedError, match="Call 'fit' with appropriate arguments"):
            getattr(fresh, method)(X)
    fresh.fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        fresh.predict(X[:, :2])
    with pytest.raises(ValueError, match="X has 40 rows but y has 39"):
        fresh.score(X, Y[:-1])
    with pytest.raises(ValueError, match="y has 2 columns but the density has 1 outputs"):
        fresh.score(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="X contains NaN"):
        fresh.predict(with_value(X, np.nan))


def test_transform_before_fit():
    with pytest.raises(NotFittedError):
        LSCE().transform(X)


@EVERY
def test_a_failed_refit_leaves_the_old_fit_in_place(estimator):
    model = clone(estimator).set_params(random_state=0).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="y contains NaN"):
        model.fit(X[:, :3] + 1, with_value(Y, np.nan))
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_score_for_one_output_is_not_for_two():
    two = np.column_stack([Y, Y**2])
    assert_refused(LSCE(scoring="crps"), "for one output, got 2: use 'squared' or 'log'", X, two)


def test_a_location_must_fit_into_the_components():
    two = np.column_stack([Y, Y**2])
    remedy = "needs n_components >= 2, got 1: raise n_components"
    assert_refused(LSCE(1, location="linear"), remedy, X, two)
    settled = LSCE(1, location="linear", bandwidth=0.5, penalty=0.1, n_members=1)
    assert_refused(settled, remedy, X, two)


def test_a_skipped_location_is_named_in_a_warning():
    two = np.column_stack([Y, Y**2])
    quick = {"n_starts": 1, "max_iter": 2, "random_state": 0}
    message = (
        "linear location skipped: it needs n_components >= 2, got 1; .* much wider where the mean "
        "of y depends on x; .* use 'auto', or pass location='none' to silence this"
    )
    with pytest.warns(UserWarning, match=message):
        LSCE(1, **quick).fit(X, two)
    for meant in (LSCE(1, location="none", **quick), LSCE(2, **quick)):
        meant.fit(X, two)  # a warning would be an error here


def test_a_regressor_that_cannot_be_fitted_is_named_with_the_remedy():
    two = np.column_stack([Y, Y**2])
    refused = LSCE(1, location=GradientBoostingRegressor(), n_members=1)
    assert_refused(
        refused,
        "samples of 2 outputs .*wrap it in sklearn.multioutput.MultiOutputRegressor",
        X,
        two,
    )
    assert_refused(LSCE(location=GradientBoostingRegressor), "or a regressor with fit", X, Y)


def test_a_regressor_that_knows_no_weights_is_refused_with_weights():
    weight = np.linspace(1, 2, 40)
    refused = LSCE(1, location=KNeighborsRegressor(), n_members=1)
    assert_refused(refused, "KNeighborsRegressor does not accept sample_weight", X, Y, weight)
