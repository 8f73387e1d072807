"""What every estimator promises: scikit-learn's contract, and the laws of densities."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from condensity import (
    LSCDE,
    LSCE,
    LSMI,
    OPG,
    SAVE,
    SIR,
    DirectionalRegression,
    EpsilonKDE,
    FixedSubspace,
    Reduced,
)
from condensity.datasets import toy_b
from condensity.distributions import chunked as chunked_module
from condensity.estimators.kernel_estimator import KernelEstimator
from condensity.estimators.published_lsce import PublishedLSCE
from condensity.fitting.selection import BANDWIDTHS, PENALTIES

ESTIMATORS = {
    "LSCDE": LSCDE(random_state=0),
    "LSCE": LSCE(2, n_starts=1, n_members=5, max_iter=10, random_state=0),
    "LSCE single": LSCE(1, n_starts=1, n_members=1, location="none", random_state=0),
    "published": LSCE.as_published(2, random_state=0).set_params(n_starts=2),
    "EpsilonKDE": EpsilonKDE(random_state=0),
    "two steps": Reduced(SAVE(), LSCDE(), n_components=[1, 2], random_state=0),
    "two steps, neighbours": Reduced(SIR(), EpsilonKDE(), n_components="auto", random_state=0),
}
#: Estimators whose kernels have bandwidths for z and y, and a penalty on their coefficients.
PENALISED = {name: ESTIMATORS[name] for name in ("LSCDE", "LSCE", "LSCE single", "published")}
BY_CANDIDATE = [ESTIMATORS["LSCDE"], ESTIMATORS["published"]]


def each_estimator():
    return pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)


def each_penalised():
    return pytest.mark.parametrize("estimator", PENALISED.values(), ids=PENALISED)


def fixed(estimator, sigma_y):
    """Settings that leave nothing to be selected."""
    if isinstance(estimator, Reduced):
        settled = fixed(estimator.density, sigma_y)
        return {f"density__{name}": value for name, value in settled.items()} | {"n_components": 1}
    if isinstance(estimator, EpsilonKDE):
        return {"epsilon": 0.8, "bandwidth": sigma_y}
    return {"bandwidth": (0.6, sigma_y), "penalty": 0.02}


def width_of(model):
    """The width of the kernels in y."""
    if isinstance(model, Reduced):
        return width_of(model.density_)
    return model.bandwidth_ if isinstance(model, EpsilonKDE) else model.bandwidth_[1]


def data(n=80, dy=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    signal = np.column_stack([np.sin(X[:, 0]), np.cos(X[:, 1])])
    return X, signal[:, :dy] + 0.2 * rng.standard_normal((n, dy))


@parametrize_with_checks(
    [
        LSCDE(),
        LSCE(n_components=1, n_starts=1, n_members=2, max_iter=5),
        LSCE(n_starts=1, n_members=1, bandwidth=1.0, penalty=0.1, max_iter=5),
        LSCE.as_published(n_components=1).set_params(n_starts=2, max_iter=200),
        EpsilonKDE(),
        Reduced(),
        Reduced(SAVE(), EpsilonKDE(epsilon=1.0, bandwidth=0.5), n_components="auto"),
        SIR(),
        SAVE(),
        DirectionalRegression(),
        OPG(),
        FixedSubspace(),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:y equals:UserWarning")
@pytest.mark.filterwarnings("ignore:y in column:UserWarning")
@pytest.mark.filterwarnings("ignore:linear location skipped:UserWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@each_estimator()
def test_same_seed_same_answer_for_any_number_of_workers(estimator):
    X, Y = data()
    one = clone(estimator).set_params(n_jobs=1).fit(X, Y)
    two = clone(estimator).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(one.predict_dist(X).pdf(Y), two.predict_dist(X).pdf(Y))


@each_estimator()
def test_the_order_of_samples_is_irrelevant(estimator):
    X, Y = data()
    rows = np.random.default_rng(1).permutation(len(X))
    a, b = clone(estimator).fit(X, Y), clone(estimator).fit(X[rows], Y[rows])
    np.testing.assert_array_equal(a.predict(X), b.predict(X))


@each_estimator()
def test_integer_weights_are_repetitions_with_everything_fixed(estimator):
    X, Y = data(40)
    weight = np.arange(40) % 4
    rows = np.repeat(np.arange(40), weight)
    settled = clone(estimator).set_params(**fixed(estimator, 0.4))
    weighted, repeated = clone(settled).fit(X, Y, weight), clone(settled).fit(X[rows], Y[rows])
    # every sample is a centre
    density = getattr(weighted, "density_", weighted)
    assert getattr(density, "n_centers_", density._width) == np.count_nonzero(weight)
    densities = [model.predict_dist(X).pdf(Y) for model in (weighted, repeated)]
    np.testing.assert_allclose(*densities, rtol=1e-10)


@each_estimator()
def test_integer_weights_are_repetitions_when_everything_is_selected(estimator):
    X, Y = data(60)
    weight = np.arange(60) % 4
    rows = np.repeat(np.arange(60), weight)
    weighted, repeated = clone(estimator).fit(X, Y, weight), clone(estimator).fit(X[rows], Y[rows])
    assert width_of(weighted) == width_of(repeated)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


@each_estimator()
def test_a_bootstrap_sample_does_not_drive_the_bandwidth_to_its_floor(estimator):
    X, Y = data(100)
    rows = np.random.default_rng(0).integers(0, 100, 100)
    model = clone(estimator).fit(X[rows], Y[rows])
    X_test, Y_test = data(500, seed=1)
    floor = BANDWIDTHS[0] if isinstance(model, PublishedLSCE) else 0.1 - 1e-9
    assert width_of(model) > floor
    assert model.score(X_test, Y_test) > 0


@each_estimator()
def test_weights_move_the_answer_and_only_their_ratios_count(estimator):
    X, Y = data()
    weight = np.exp(Y[:, 0])
    plain = clone(estimator).fit(X, Y).predict(X)
    heavy = clone(estimator).fit(X, Y, weight).predict(X)
    assert heavy.mean() > plain.mean() + 0.01
    fourfold = clone(estimator).fit(X, Y, 4 * weight).predict(X)
    np.testing.assert_array_equal(fourfold, heavy)


@each_estimator()
@pytest.mark.parametrize("dy", [1, 2])
def test_changing_the_units_changes_the_density_by_its_jacobian(estimator, dy):
    X, Y = data(dy=dy)
    plain = clone(estimator).fit(X, Y)
    other = clone(estimator).fit(X * 8 - 1, Y * 4 + 3)  # powers of two: no rounding differs
    ratio = plain.predict_dist(X).pdf(Y) / other.predict_dist(X * 8 - 1).pdf(Y * 4 + 3)
    np.testing.assert_allclose(ratio, 4.0**dy, rtol=1e-8)


@each_estimator()
def test_far_from_the_data_densities_are_finite_and_normalised(estimator):
    X, Y = data()
    model = clone(estimator).fit(X, Y)
    far = model.predict_dist(np.array([[1e6, -1e6, 1e6], [1e3, 0, 0], [-1e6, 0, 1e6]]))
    levels = np.array([0.01, 0.3, 0.9])
    ends = far.quantile(levels)  # a linear location is far away too
    for row in range(3):
        np.testing.assert_allclose(far[[row] * 3].cdf(ends[row]), levels, rtol=1e-6)
    np.testing.assert_allclose(np.exp(far.log_weights).sum(axis=1), 1, rtol=1e-12)
    assert np.isfinite(far.log_pdf(np.zeros(3))).all()
    assert np.isfinite(far.mean()).all()


@each_estimator()
def test_the_caller_s_arrays_are_not_changed(estimator):
    X, Y = data()
    weight = np.ones(len(X))
    kept = [a.copy() for a in (X, Y, weight)]
    model = clone(estimator).fit(X, Y, weight)
    model.predict_dist(X).pdf(Y)
    model.score(X, Y, weight)
    for array, before in zip((X, Y, weight), kept, strict=True):
        np.testing.assert_array_equal(array, before)


@each_estimator()
def test_predict_keeps_the_shape_of_the_target(estimator):
    X, Y = data()
    assert clone(estimator).fit(X, Y[:, 0]).predict(X).shape == (80,)
    assert clone(estimator).fit(X, Y).predict(X).shape == (80, 1)
    X, Y = data(dy=2)
    model = clone(estimator).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), model.predict_dist(X).mean())


@each_estimator()
def test_score_is_minus_the_squared_loss_in_the_units_of_y(estimator):
    X, Y = data()
    model = clone(estimator).fit(X, 10 * Y)
    dist = model.predict_dist(X)
    by_hand = np.mean(0.5 * dist.squared_norm() - dist.pdf(10 * Y))
    assert model.score(X, 10 * Y) == pytest.approx(-by_hand)
    weight = np.arange(80) % 2
    assert model.score(X, 10 * Y, weight) == pytest.approx(model.score(X[1::2], 10 * Y[1::2]))


@pytest.mark.parametrize("dy", [1, 2])
@each_estimator()
def test_held_out_scores_are_in_the_units_of_y(estimator, dy):
    """A factor of two changes no digit."""
    X, Y = data(60, dy)
    if isinstance(estimator, PublishedLSCE):
        estimator = clone(estimator).set_params(n_components="auto", n_starts=1, max_iter=200)
    model, doubled = clone(estimator).fit(X, Y), clone(estimator).fit(X, 2 * Y)
    for name in ("mean_test_score", "split0_test_score"):
        scores = model.cv_results_[name]
        np.testing.assert_allclose(doubled.cv_results_[name], scores / 2**dy, rtol=1e-9)
    if hasattr(model, "dimension_scores_"):
        np.testing.assert_allclose(
            doubled.dimension_scores_, model.dimension_scores_ / 2**dy, rtol=1e-9
        )
    # The score of the best candidate is about that of new samples.
    X, Y = data(200, dy, seed=1)
    assert model.cv_results_["mean_test_score"].max() == pytest.approx(model.score(X, Y), rel=0.5)


@each_estimator()
def test_many_rows_are_answered_a_few_at_a_time(estimator, monkeypatch):
    X, Y = data()
    model = clone(estimator).fit(X, Y)
    whole = model.predict(X), model.score(X, Y, np.arange(80))
    sizes, answer = [], type(model)._at
    monkeypatch.setattr(chunked_module, "BLOCK", 10 * model._width)
    monkeypatch.setattr(chunked_module, "CHUNK", 10 * model._width)
    monkeypatch.setattr(
        type(model), "_at", lambda self, inputs: sizes.append(len(inputs)) or answer(self, inputs)
    )
    np.testing.assert_allclose(model.predict(X), whole[0], rtol=1e-9)
    assert model.score(X, Y, np.arange(80)) == pytest.approx(whole[1], rel=1e-9)
    assert sizes == [10] * 16


@each_estimator()
def test_pickling_keeps_the_model(estimator):
    X, Y = data()
    model = clone(estimator).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@each_estimator()
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_understood_and_names_kept(estimator, frame):
    X, Y = data()
    names = ["age", "bmi", "dose"]
    table = frame(dict(zip(names, X.T, strict=True)))
    target = frame({"out": Y[:, 0]})["out"]
    model = clone(estimator).fit(table, target)
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.predict(table), clone(estimator).fit(X, Y[:, 0]).predict(X))


@each_estimator()
def test_works_in_pipelines_grid_search_and_cross_validation(estimator):
    X, y = toy_b().sample(80, random_state=0)
    X = X[:, 1:3]
    pipeline = make_pipeline(StandardScaler(), clone(estimator))
    assert np.isfinite(cross_val_score(pipeline, X, y, cv=3)).all()
    grid = [{k: [v] for k, v in fixed(estimator, s).items()} for s in (0.3, 30.0)]
    search = GridSearchCV(clone(estimator), grid, cv=3).fit(X, y)
    assert width_of(search.best_estimator_) == 0.3
    assert search.best_estimator_.predict_dist(X[:2]).pdf(y[:2]).shape == (2,)


@each_penalised()
def test_fixed_settings_are_used_as_they_are(estimator):
    X, Y = data()
    model = clone(estimator).set_params(bandwidth=(0.7, 0.3), penalty=0.5).fit(X, Y)
    assert model.bandwidth_ == (0.7, 0.3)
    assert model.penalty_ == 0.5
    assert clone(estimator).set_params(bandwidth=0.9).fit(X, Y).bandwidth_ == (0.9, 0.9)


@pytest.mark.parametrize("estimator", BY_CANDIDATE, ids=["LSCDE", "published"])
def test_cv_results_hold_every_candidate_and_the_winner_on_top(estimator):
    X, Y = data()
    # With standard deviations as units, the published procedure has fewer candidates.
    model = clone(estimator).set_params(scaling="range").fit(X, Y)
    table = pd.DataFrame(model.cv_results_)
    assert len(table) == len(BANDWIDTHS) * len(PENALTIES)
    best = table.loc[table.rank_test_score.idxmin()]
    assert (best.param_sigma_z, best.param_sigma_y) == model.bandwidth_
    assert best.param_penalty == model.penalty_
    splits = table[[f"split{k}_test_score" for k in range(5)]]
    np.testing.assert_allclose(splits.mean(axis=1), table.mean_test_score)


@each_estimator()
def test_folds_may_be_given(estimator):
    X, Y = data()
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    a = clone(estimator).set_params(cv=splits).fit(X, Y)
    b = clone(estimator).set_params(cv=KFold(4, shuffle=True, random_state=0)).fit(X, Y)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    assert "split3_test_score" in a.cv_results_
    assert "split4_test_score" not in a.cv_results_


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_random_state_may_be_a_generator_of_either_kind(make):
    X, Y = data()
    a, b, other = (
        LSCE(1, n_members=1, n_starts=1, random_state=make(s)).fit(X, Y).predict(X)
        for s in (3, 3, 4)
    )
    np.testing.assert_array_equal(a, b)
    assert (a != other).any()


def test_only_kernel_fits_have_the_parameters_of_kernel_fits():
    names = {"n_centers", "bandwidth", "penalty", "cv", "n_jobs"}
    for estimator in (*ESTIMATORS.values(), LSMI()):
        assert isinstance(estimator, KernelEstimator) == (names <= set(estimator.get_params()))


#: Estimators, each with its last computation before attributes are set.
LAST_COMPUTATIONS = {
    "LSCE": (
        LSCE(2, n_starts=1, n_members=1, max_iter=3, random_state=0),
        "condensity.estimators.lsce.configuration_table",
    ),
    "published": (
        LSCE.as_published(2, random_state=0).set_params(n_starts=1, max_iter=5),
        "condensity.estimators.published_lsce.kernel_density",
    ),
    "LSMI": (
        LSMI(2, n_starts=1, max_iter=5, random_state=0),
        "condensity.estimators.subspace_search.Start.of",
    ),
    "LSCDE": (LSCDE(random_state=0), "condensity.estimators.lscde.candidate_table"),
    "EpsilonKDE": (EpsilonKDE(random_state=0), "condensity.estimators.epsilon_kde.neighbor_table"),
    "Reduced": (Reduced(random_state=0), "condensity.estimators.reduced.score_columns"),
    "SIR": (SIR(), "condensity.estimators.spectral.sliced_directions"),
    "SAVE": (SAVE(), "condensity.estimators.spectral.sliced_directions"),
    "DirectionalRegression": (
        DirectionalRegression(),
        "condensity.estimators.spectral.sliced_directions",
    ),
    "OPG": (OPG(), "condensity.estimators.spectral.gradient_directions"),
    "FixedSubspace": (FixedSubspace(), "condensity.estimators.fixed_subspace.check_directions"),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("at_the_end", [False, True], ids=["last computation", "input names"])
@pytest.mark.parametrize("case", LAST_COMPUTATIONS)
def test_a_fit_that_fails_late_keeps_the_earlier_fit(case, at_the_end, monkeypatch):
    estimator, last = LAST_COMPUTATIONS[case]
    X, y = data(60)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = clone(estimator).fit(frame, y[:, 0])
    methods = [getattr(model, name) for name in ("transform", "predict") if hasattr(model, name)]
    before, answers = dict(vars(model)), [method(frame) for method in methods]

    def fail(*args, **kwargs):
        raise RuntimeError("late")

    def fail_for_the_model(estimator, *args, reset=True, **kwargs):
        if estimator is model and reset:
            fail()
        return validate_data(estimator, *args, reset=reset, **kwargs)

    with monkeypatch.context() as patch:
        if at_the_end:
            patch.setattr("condensity._utils.validation.validate_data", fail_for_the_model)
        else:
            patch.setattr(last, fail)
        with pytest.raises(RuntimeError, match="late"):
            model.fit(np.hstack([X, X**2]), np.column_stack([y, y**2]))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    for method, answer in zip(methods, answers, strict=True):
        np.testing.assert_array_equal(method(frame), answer)
