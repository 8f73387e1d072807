import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_info, threadpool_limits

from condensity import LSCDE, LSCE
from condensity.datasets import toy_a, toy_b
from condensity.metrics import crps, log_loss, pit, squared_loss, subspace_error

QUICK = {"n_starts": 2, "n_members": 5, "random_state": 0}


@pytest.fixture(scope="module")
def fitted():
    X, y = toy_b().sample(150, random_state=0)
    return LSCE(random_state=0, n_jobs=2).fit(X[:, :4], y), X[:, :4], y


def test_the_defaults_find_the_subspace_of_toy_b(fitted):
    model, _, _ = fitted
    assert model.n_components_ == 1
    assert subspace_error(model.components_, toy_b().components[:, :4]) < 0.1
    table = pd.DataFrame(model.cv_results_)
    strict = table[table.param_location != "flexible"]
    best = strict.loc[strict.mean_test_score.idxmax()]
    assert best.param_location != "linear"  # a line helps little with a cubic
    assert model.subspace_agreement_[0] > 0.95
    assert model.subspace_agreement_.sum() == pytest.approx(1)


def test_two_directions_of_toy_a_are_found():
    X, y = toy_a().sample(300, random_state=0)
    model = LSCE(2, n_centers=100, random_state=0, n_jobs=2).fit(X, y)
    assert subspace_error(model.components_, toy_a().components) < 0.2


def test_the_average_is_better_than_no_reduction_on_new_samples(fitted):
    model, X, y = fitted
    X_test, y_test = toy_b().sample(1000, random_state=1)
    X_test = X_test[:, :4]
    assert model.score(X_test, y_test) > 2 * LSCDE(random_state=0).fit(X, y).score(X_test, y_test)


def test_the_cross_fitted_score_tells_what_happens_on_new_samples(fitted):
    model, _, _ = fitted
    X_test, y_test = toy_b().sample(1000, random_state=1)
    told = max(model.cv_results_["mean_test_score"])
    # It is that of single members, on four fifths of the samples: the average does better.
    assert 0.7 < told / model.score(X_test[:, :4], y_test) < 1.1


def test_the_score_of_averages_is_nearer_to_it(fitted):
    model, _, _ = fitted
    X_test, y_test = toy_b().sample(1000, random_state=1)
    assert 0.8 < model.cv_score_ / model.score(X_test[:, :4], y_test) < 1.2
    # The average is better than each configuration, but the score to expect is less optimistic.
    assert model.cv_score_ >= 0.95 * max(model.cv_results_["mean_test_score"])


def test_densities_are_stretched_until_they_are_calibrated():
    X, y = toy_b().sample(150, random_state=0)
    model = LSCE(1, location="none", **QUICK).fit(X[:, :4], y)
    X_test, y_test = toy_b().sample(1000, random_state=1)
    assert model.stretch_.shape == (1,)
    assert model.stretch_ != 1
    dist = model.predict_dist(X_test[:, :4])
    bare = replace(model._density, stretch=None).at(X_test[:, :4])
    widths = [np.ptp(d.quantile([0.25, 0.75]), axis=1) for d in (dist, bare)]
    # But for the background, which stays as it is.
    assert np.median(widths[0] / widths[1]) == pytest.approx(model.stretch_[0], abs=0.01)
    miss = [abs(np.mean((pit(d, y_test) - 0.5) ** 2) - 1 / 12) for d in (dist, bare)]
    assert miss[0] < miss[1]


def test_a_bandwidth_that_is_given_is_not_stretched():
    X, y = toy_b().sample(60, random_state=0)
    model = LSCE(1, bandwidth=(0.3, 0.8), n_members=5, location="none", random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.stretch_, [1.0])


@pytest.mark.filterwarnings("ignore:y equals")
@pytest.mark.parametrize("seed", range(3))
def test_cells_of_a_table_keep_the_direction_of_y(seed):
    """A row stands for a cell with many samples: without its own kernel, y would look wrong."""
    rng, n = np.random.default_rng(seed), 600
    X = np.column_stack([rng.integers(0, 3, n), rng.uniform(size=(n, 2)) < 0.1]).astype(float)
    y = (rng.uniform(size=n) < 0.1 + 0.4 * X[:, 0]) + (rng.uniform(size=n) < 0.3).astype(float)
    model = LSCE(1, location="none", random_state=0).fit(X, y)
    assert abs(model.components_[0, 0]) > 0.95


def test_cells_of_a_table_do_not_lead_the_subspace_astray():
    """All samples of a cell left out at once would make ignoring x look best."""
    rng = np.random.default_rng(0)
    level, rare = rng.integers(0, 6, 2000), rng.random(2000) < 0.05
    y = np.where(rng.random(2000) < 0.9, level % 2, 1 - level % 2)
    model = LSCE(1, random_state=0, min_bandwidth=0.1).fit(np.column_stack([level, rare]), y)
    assert abs(model.components_[0, 0]) > 0.98
    assert model.subspace_agreement_[0] > 0.98


def test_cv_results_hold_every_configuration_and_the_winner_on_top(fitted):
    model, _, _ = fitted
    table = pd.DataFrame(model.cv_results_)
    assert set(table.param_location) == {"none", "linear", "reduced", "flexible"}
    assert table.weight.sum() == pytest.approx(1)
    assert table.groupby("param_location").weight.sum().idxmax() == model.location_
    # The number of directions is that of the best density that depends on x through directions.
    strict = table[table.param_location != "flexible"]
    best = strict.loc[strict.rank_test_score.idxmin()]
    assert best.param_n_components == model.n_components_
    # What is best for an average lies near what is best for its members.
    ratio = np.array(model.bandwidth_) / [best.param_sigma_z, best.param_sigma_y]
    assert (np.abs(np.log2(ratio)) <= 2).all()


def test_a_straight_line_with_even_noise_gives_back_its_direction():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 6))
    y = 3 * X[:, 0] + 0.5 * rng.standard_normal(150)
    model = LSCE(n_members=5, random_state=0).fit(X, y)
    table = pd.DataFrame(model.cv_results_)
    # A smooth function of the direction describes a straight line as well.
    strict = table[~table.param_location.isin(["flexible", "reduced"])]
    assert strict.loc[strict.mean_test_score.idxmax()].param_location == "linear"
    assert model.n_components_ == 1
    assert subspace_error(model.components_, np.eye(6)[:1]) < 0.1
    X_test = rng.standard_normal((2000, 6))
    y_test = 3 * X_test[:, 0] + 0.5 * rng.standard_normal(2000)
    best = 0.25 / (0.5 * np.sqrt(np.pi))  # of the true density
    assert model.score(X_test, y_test) == pytest.approx(best, rel=0.12)
    # It is a little better to know that the mean is a plane.
    linear = LSCE(n_members=5, location="linear", random_state=0).fit(X, y)
    assert linear.score(X_test, y_test) == pytest.approx(best, rel=0.08)


def test_noise_is_not_reduced_to_something_that_explains_it():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 6)), rng.standard_normal(100)
    model = LSCE(**QUICK).fit(X, y)
    unconditional = 0.25 / np.sqrt(np.pi)  # of the standard normal density
    assert max(model.cv_results_["mean_test_score"]) < 1.1 * unconditional
    new = rng.standard_normal((1000, 6)), rng.standard_normal(1000)
    assert model.score(*new) > 0.9 * unconditional


def test_a_single_model_is_a_function_of_z_alone():
    X, y = toy_a().sample(80, random_state=0)
    model = LSCE(2, **QUICK | {"n_members": 1}).fit(X, y)
    assert model.n_members_ == 1
    assert len(model.predict_dist(X).blocks) == 2  # kernels and background
    by_z = model.predict_dist_reduced(model.transform(X)).pdf(y)
    np.testing.assert_allclose(by_z, model.predict_dist(X).pdf(y), rtol=1e-8)
    with pytest.raises(ValueError, match="Z has 3 columns but n_components_ is 2: pass 2 columns"):
        model.predict_dist_reduced(np.zeros((1, 3)))


@pytest.mark.parametrize("n_members", [1, 5])
def test_z_holds_the_location(n_members):
    X, y = toy_b().sample(80, random_state=0)
    model = LSCE(2, location="linear", **QUICK | {"n_members": n_members}).fit(X, y)
    line = LinearRegression().fit(X, y).coef_ * X.std(axis=0)
    line /= np.linalg.norm(line)
    W = model.components_
    assert np.linalg.norm(W.T @ W @ line - line) < 0.05


def test_components_are_orthonormal_and_transform_applies_them(fitted):
    model, X, y = fitted
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(1), atol=1e-12)
    Z = (X - X.mean(0)) / X.std(0) @ model.components_.T
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-12)
    assert np.cov(Z[:, 0], y)[0, 1] > 0


def test_nothing_is_held_out_when_nothing_is_chosen():
    X, y = toy_b().sample(40, random_state=0)
    settled = {"bandwidth": (0.5, 0.3), "penalty": 0.1, "location": "none", "n_members": 1}
    model = LSCE(1, cv="whatever", random_state=0, **settled).fit(X, y)
    assert np.isnan(model.cv_results_["mean_test_score"]).all()
    assert subspace_error(model.components_, toy_b().components) < 0.5


def test_members_come_in_whole_rounds_of_folds_and_one_more():
    X, y = toy_b().sample(60, random_state=0)
    model = LSCE(1, n_members=7, n_starts=1, cv=4, random_state=0).fit(X, y)
    assert model.n_members_ == 9
    assert len(pd.DataFrame(model.cv_results_).filter(like="split").columns) == 4


def test_directions_are_those_of_a_regression_that_finds_them_well():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 8))
    y = X @ np.ones(8) + 3.0 * rng.standard_normal(60)
    auto, linear = (LSCE(1, location=m, random_state=0).fit(X, y) for m in ("auto", "linear"))
    errors = [subspace_error(m.components_, np.full((1, 8), 8**-0.5)) for m in (auto, linear)]
    assert errors[0] < errors[1] + 0.02


def test_members_add_no_components_of_y():
    X, y = toy_b().sample(60, random_state=0)
    model = LSCE(1, location="none", **QUICK).fit(X, y)
    sizes = [len(block.centers) for block in model.predict_dist(X).blocks]
    assert len(sizes) == 2 * np.count_nonzero(model.cv_results_["weight"])
    for kernels, background in zip(sizes[::2], sizes[1::2], strict=True):
        assert 20 < kernels <= 60  # those with weight, of one centre a sample
        assert background == 1


@pytest.mark.parametrize(
    ("scoring", "metric"), [("squared", squared_loss), ("log", log_loss), ("crps", crps)]
)
def test_scores_are_told_in_the_units_of_y(scoring, metric):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1120, 4))
    y = 10 * np.sin(3 * X[:, 0]) + 2 * rng.standard_normal(1120)
    (X, X_test), (y, y_test) = np.split(X, [120]), np.split(y, [120])
    model = LSCE(1, scoring=scoring, **QUICK).fit(X, y)
    held_out = metric(model.predict_dist(X_test), y_test)
    told = -max(model.cv_results_["mean_test_score"])
    assert told == pytest.approx(held_out, rel=0.25)
    none = metric(LSCDE(random_state=0).fit(X, y).predict_dist(X_test), y_test)
    assert held_out < none


def test_a_regressor_may_be_the_location_and_then_all_inputs_matter():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (200, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(200)
    forest = RandomForestRegressor(50, random_state=0)
    model = LSCE(1, location=forest, **QUICK).fit(X, y)
    assert model.location_ == "RandomForestRegressor"
    assert model.n_components_ == 3
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-10)
    X_test = rng.uniform(-2, 2, (500, 3))
    y_test = np.sin(3 * X_test[:, 0]) + X_test[:, 1] ** 2 + 0.1 * rng.standard_normal(500)
    inside = pit(model.predict_dist(X_test), y_test)
    assert 0.8 < np.mean((inside > 0.05) & (inside < 0.95)) < 0.97  # no overconfidence


def test_rows_may_repeat_if_the_location_is_a_regressor_without_weights():
    X, y = toy_b().sample(60, random_state=0)
    counts = np.random.default_rng(0).integers(1, 4, 60)
    model = LSCE(1, location=KNeighborsRegressor(), **QUICK)
    repeated = model.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).predict(X)
    np.testing.assert_array_equal(model.fit(X, y, counts).predict(X), repeated)


def test_integer_scores_get_a_smooth_density_and_a_warning():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    y = np.rint(5 + X[:, 0] + 0.5 * rng.standard_normal(150))
    with pytest.warns(UserWarning, match=r"y equals \d in \d\d% of the sample, .* min_bandwidth"):
        model = LSCE(1, location="none", **QUICK).fit(X, y)
    grid = np.linspace(2, 8, 601)
    p = model.predict_dist(np.zeros((1, 3))).pdf_on(grid)[0]
    peaks = np.sum((p[1:-1] > p[:-2]) & (p[1:-1] > p[2:]))
    assert peaks == 1


def test_half_zero_targets_get_a_floor_that_can_be_lifted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = np.where(rng.random(120) < 0.5, 0.0, rng.exponential(size=120))
    with pytest.warns(UserWarning, match="y equals 0 in"):
        smooth = LSCE(1, location="none", **QUICK).fit(X, y)
    lifted = LSCE(1, location="none", min_bandwidth=0.0, **QUICK).fit(X, y)  # and no warning
    assert smooth.bandwidth_[1] > 0.05
    assert lifted.bandwidth_[1] < 0.02


def test_the_floor_is_in_the_units_of_y():
    X, y = toy_b().sample(80, random_state=0)
    model = LSCE(1, min_bandwidth=30.0, **QUICK).fit(X, 100 * y)
    widths = [block.factor[0, 0] for block in model.predict_dist(X).blocks]
    assert min(widths) >= 30 * (1 - 1e-9)


def test_the_floor_holds_where_the_location_leaves_less_than_it():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = 100 * X[:, 0] + 10 * rng.standard_normal(80)
    for location in ("none", "linear"):
        model = LSCE(1, location=location, min_bandwidth=30.0, **QUICK).fit(X, y)
        widths = [block.factor[0, 0] for block in model.predict_dist(X).blocks]
        assert min(widths) >= 30 * (1 - 1e-9)


@pytest.mark.filterwarnings("ignore:y equals:UserWarning")
def test_folds_without_spread_in_y_do_not_decide_everything():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = np.where(np.arange(60) < 30, 0.0, 1 + rng.random(60))
    halves = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    model = LSCE(1, cv=halves, **QUICK).fit(X, y)
    assert np.abs(model.cv_results_["mean_test_score"]).max() < 100


def test_agreement_on_the_line_of_pure_noise_is_not_taken_for_granted():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 8)), rng.standard_normal(40)
    for n_members in (1, 5):
        model = LSCE(1, location="linear", **QUICK | {"n_members": n_members}).fit(X, y)
        assert model.subspace_agreement_[0] < 0.98
        assert model.subspace_agreement_.sum() == pytest.approx(1)


def test_inputs_that_hardly_ever_vary_and_weights_that_hardly_count():
    X, y = toy_b().sample(60, random_state=0)
    X[:, 2:] = 0.0
    X[3, 2:] = 1.0
    assert np.isfinite(LSCE(**QUICK).fit(X, y).predict(X)).all()
    weight = np.r_[np.ones(20), np.full(40, 1e-14)]
    X, y = toy_b().sample(60, random_state=0)
    assert np.isfinite(LSCE(1, **QUICK).fit(X, y, weight).predict(X)).all()


def test_far_away_the_density_is_the_marginal_and_no_spike():
    X, y = toy_b().sample(150, random_state=0)
    # An average may contain the density that ignores x; its moments differ a little.
    model = LSCE(1, location="none", **QUICK | {"n_members": 1}).fit(X, y)
    far = model.predict_dist(np.full((1, 5), 1e3))
    np.testing.assert_allclose(far.mean(), y.mean(), atol=1e-6)
    np.testing.assert_allclose(far.var(), y.var(), rtol=1e-4)


def test_samples_repeated_as_often_as_there_are_folds_are_still_the_same_samples():
    X, y = toy_b().sample(40, random_state=2)
    once = LSCE(1, location="none", **QUICK).fit(X, y)
    often = LSCE(1, location="none", **QUICK).fit(np.repeat(X, 5, axis=0), np.repeat(y, 5))
    np.testing.assert_array_equal(often.predict(X), once.predict(X))


def test_correlated_outputs_keep_their_correlation():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4))
    noise = rng.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], 150)
    Y = np.column_stack([X[:, 0], X[:, 0] + X[:, 1]]) + 0.3 * noise
    model = LSCE(**QUICK).fit(X, Y)
    cov = model.predict_dist(X).cov().mean(axis=0)
    assert cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1]) > 0.8


@pytest.mark.parametrize("location", ["linear", RandomForestRegressor(20, random_state=0)])
def test_groups_given_as_folds_keep_the_density_from_overconfidence(location):
    rng = np.random.default_rng(0)

    def grouped(n_groups):
        X = np.repeat(rng.standard_normal((n_groups, 8)), 6, axis=0)
        effect = np.repeat(rng.standard_normal(n_groups), 6)
        groups = np.repeat(np.arange(n_groups), 6)
        X += 0.01 * rng.standard_normal(X.shape)
        return X, X[:, 0] + effect + 0.1 * rng.standard_normal(len(X)), groups

    X, y, groups = grouped(30)
    cv = list(GroupKFold(5).split(X, y, groups))
    model = LSCE(1, location=location, cv=cv, **QUICK).fit(X, y)
    X_test, y_test, _ = grouped(200)
    u = pit(model.predict_dist(X_test), y_test)
    assert np.mean((u > 0.05) & (u < 0.95)) > 0.8


def test_output_names_and_frames():
    X, y = toy_b().sample(60, random_state=5)
    model = LSCE(n_components=2, **QUICK).set_output(transform="pandas")
    Z = model.fit_transform(X, y)
    assert Z.columns.tolist() == ["lsce0", "lsce1"]
    np.testing.assert_allclose(Z, model.set_output(transform="default").transform(X))


def test_a_constant_input_gets_no_weight_whatever_it_is_later():
    X, y = toy_b().sample(80, random_state=6)
    X[:, 3] = 0.1
    with pytest.warns(UserWarning, match="does not vary in column 3: it has no effect"):
        model = LSCE(n_components=2, **QUICK).fit(X, y)
    np.testing.assert_allclose(model.components_[:, 3], 0, atol=1e-12)
    moved = X.copy()
    moved[:, 3] = 77.0
    np.testing.assert_array_equal(model.predict(moved), model.predict(X))


def test_verbose_prints_a_line_for_every_configuration(capsys):
    X, y = toy_b().sample(50, random_state=8)
    LSCE(n_components=1, **QUICK, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5  # two locations, without components and with one, and a reduced one
    told = r"\[LSCE\] location linear, n_components=1: held-out loss -\d+\.\d{4} "
    assert re.match(told, lines[3])


def test_a_callable_hears_of_every_configuration_instead(capsys):
    X, y = toy_b().sample(50, random_state=8)
    heard = []
    model = LSCE(n_components=1, **QUICK, verbose=heard.append).fit(X, y)
    assert [c.location for c in heard] == model.cv_results_["param_location"].tolist()
    assert capsys.readouterr().out == ""


def test_all_is_chosen_with_some_of_the_samples_and_fitted_to_all():
    """If the caller gave folds: settings then do not follow the number of samples."""
    X, y = toy_b().sample(1500, random_state=3)
    # With this penalty all centres have a positive coefficient, so none is dropped.
    settings = QUICK | {"location": "none", "penalty": 10.0}
    labels = np.arange(1500) % 5

    def folds(rows):
        return [
            (np.flatnonzero(labels[rows] != j), np.flatnonzero(labels[rows] == j)) for j in range(5)
        ]

    model = LSCE(1, subsample=80, cv=folds(slice(None)), **settings).fit(X, y)
    part = model._density.parts[-1][1]
    member = part.members[0]
    drawn = np.abs(part.scaling.apply(X) @ member.W.T - member.U.T).min(axis=1) < 1e-9
    assert len(member.W) == 1
    assert len(member.U) == 80  # all of them are centres
    assert drawn.sum() == 80
    alone = LSCE(1, subsample=None, cv=folds(drawn), **settings).fit(X[drawn], y[drawn])
    assert alone.bandwidth_ == model.bandwidth_
    np.testing.assert_array_equal(alone.cv_results_["weight"], model.cv_results_["weight"])
    assert alone.cv_score_ == model.cv_score_
    X_test, y_test = toy_b().sample(1000, random_state=4)
    assert model.score(X_test, y_test) > alone.score(X_test, y_test) + 0.01


def test_more_samples_than_all_is_chosen_with_may_come_in_any_order():
    X, y = toy_b().sample(120, random_state=3)
    weight = np.random.default_rng(0).integers(0, 3, 120)
    order = np.random.default_rng(1).permutation(120)
    fits = [
        LSCE(1, subsample=40, location="none", **QUICK).fit(*sample)
        for sample in (
            (X, y, weight),
            (X[order], y[order], weight[order]),
            (np.repeat(X, weight, axis=0), np.repeat(y, weight)),
        )
    ]
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.predict(X), fits[0].predict(X), rtol=1e-9, atol=1e-12)


def test_samples_that_belong_together_do_not_judge_one_another_beyond_the_subsample(monkeypatch):
    from condensity.lsce import consensus as ensemble

    asked = []

    def refuse(*arguments, **options):
        asked.append(1)
        return refine(*arguments, **options)

    refine = ensemble.refine_with_all
    monkeypatch.setattr(ensemble, "refine_with_all", refuse)
    X, y = toy_b().sample(90, random_state=3)
    settings = QUICK | {"location": "none", "subsample": 40}
    labels = np.arange(90) % 3
    folds = [(np.flatnonzero(labels != j), np.flatnonzero(labels == j)) for j in range(3)]
    LSCE(1, **settings, cv=folds).fit(X, y)
    assert not asked
    LSCE(1, **settings, cv=3).fit(X, y)
    assert asked


def test_a_linear_location_is_learned_from_all_samples():
    rng = np.random.default_rng(0)
    slope = rng.standard_normal(10)
    X = rng.standard_normal((3000, 10))
    y = X @ slope + rng.standard_normal(3000)
    model = LSCE(1, location="linear", subsample=50, **QUICK).fit(X, y)
    X_test = rng.standard_normal((500, 10))
    off = np.mean((model.predict(X_test) - X_test @ slope) ** 2)
    assert off < 0.02  # from 50 samples it is about 10 / 50


def test_members_are_averaged_unless_most_samples_are_others():
    X, y = toy_b().sample(120, random_state=3)
    counts = [
        LSCE(1, location="none", subsample=m, **QUICK).fit(X, y).n_members_ for m in (119, 50)
    ]
    assert counts[0] > 5
    assert counts[1] == 1


def test_a_subsample_of_all_is_all():
    X, y = toy_b().sample(100, random_state=3)
    fits = [LSCE(1, subsample=n, **QUICK).fit(X, y) for n in (100, 2000, None)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.predict(X), fits[0].predict(X))
    linear = LSCE(2, subsample=50, location="linear", **QUICK).fit(X, y)
    assert np.isfinite(linear.score(X, y))
    assert linear.transform(X).shape == (100, 2)


def test_a_subsample_may_miss_a_fold_of_the_caller():
    X, y = toy_b().sample(60, random_state=3)
    labels = np.where(np.arange(60) < 2, 3, np.arange(60) % 3)
    folds = [(np.flatnonzero(labels != j), np.flatnonzero(labels == j)) for j in range(4)]
    settings = QUICK | {"n_members": 4, "location": "none"}
    for seed in range(3):
        model = LSCE(1, subsample=15, cv=folds, **settings | {"random_state": seed}).fit(X, y)
        assert np.isfinite(model.cv_results_["mean_test_score"]).all()
    with pytest.raises(ValueError, match="n_centers=50 is more than subsample=15"):
        LSCE(1, subsample=15, n_centers=50, **settings).fit(X, y)
    for wrong in (0, False, 2.5):
        with pytest.raises((ValueError, TypeError), match="subsample"):
            LSCE(1, subsample=wrong, **settings).fit(X, y)


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def test_all_of_a_fit_runs_on_one_blas_thread_and_leaves_the_number_as_it_was():
    X, y = toy_b().sample(60, random_state=3)
    seen = []
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        LSCE(1, verbose=lambda _: seen.append(blas_threads()), **QUICK).fit(X, y)
        assert blas_threads() == before
    assert seen
    assert all(threads == {1} for threads in seen)


def test_tables_of_one_location_are_not_kept_while_another_is_tried():
    X, y = toy_b().sample(60, random_state=3)
    found, kept = [], []

    def hear(configuration):
        kept.append([len(c.crossfit.cache) for c in found if c.location != configuration.location])
        found.append(configuration)

    LSCE(1, verbose=hear, **QUICK).fit(X, y)
    assert kept == [[], [], [0, 0], [0, 0], [0, 0, 0, 0]]
    # What is left is that of the settings that were chosen, for stacking.
    # At the end there are those of the two settings of a location.
    assert all(len(c.crossfit.cache) <= 2 * len(c.crossfit.views) for c in found)
