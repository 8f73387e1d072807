import numpy as np
import pandas as pd
import pytest
from scipy.stats import gaussian_kde, norm
from sklearn.model_selection import GroupKFold, KFold

import oracles
from condensity import EpsilonKDE
from condensity.datasets import illustrative, toy_b
from condensity.fitting.selection import BANDWIDTHS
from condensity.metrics import squared_loss


def test_the_density_is_the_mean_of_the_neighbours_kernels_term_by_term():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 2)) * [2.0, 0.1] + [5.0, -3.0]
    Y = np.column_stack([X[:, 0] ** 2, X[:, 1]]) + 0.1 * rng.standard_normal((25, 2))
    weight = rng.uniform(0.1, 1, 25)
    model = EpsilonKDE(epsilon=0.9, bandwidth=0.4).fit(X, Y, weight)
    assert (model.epsilon_, model.bandwidth_) == (0.9, 0.4)

    def standardise(values, sample):
        mean = np.average(sample, axis=0, weights=weight)
        return (values - mean) / np.sqrt(np.average((sample - mean) ** 2, axis=0, weights=weight))

    x_new, y_new = X[:6] + 0.3 * X.std(0), Y[:6] - 0.2 * Y.std(0)
    unit = np.prod(1 / (standardise(Y[0] + 1, Y) - standardise(Y[0], Y)))
    by_hand = [
        oracles.neighbor_density(
            standardise(y, Y),
            standardise(x, X),
            standardise(X, X),
            standardise(Y, Y),
            weight,
            0.9,
            0.4,
        )
        / unit
        for x, y in zip(x_new, y_new, strict=True)
    ]
    np.testing.assert_allclose(model.predict_dist(x_new).pdf(y_new), by_hand, rtol=1e-9)


def test_densities_integrate_to_one():
    X, y = illustrative("skewed").sample(60, random_state=0)
    grid, step = np.linspace(y.min() - 5, y.max() + 5, 4001, retstep=True)
    dist = EpsilonKDE(random_state=0).fit(X, y).predict_dist(np.r_[X, 100 * X])
    np.testing.assert_allclose(dist.pdf_on(grid).sum(axis=1) * step, 1, rtol=1e-6)


def test_an_infinite_radius_is_the_kernel_density_of_y_alone():
    X, y = illustrative().sample(50, random_state=1)
    dist = EpsilonKDE(epsilon=np.inf, bandwidth=0.3).fit(X, y).predict_dist(X[:2])
    factor = 0.3 * y.std() / y.std(ddof=1)  # scipy scales by the unbiased standard deviation
    grid = np.linspace(y.min(), y.max(), 40)
    for row in dist.pdf_on(grid):
        np.testing.assert_allclose(row, gaussian_kde(y, factor)(grid), rtol=1e-9)


def test_a_radius_of_zero_is_the_nearest_neighbour():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    X_new = rng.standard_normal((10, 3))
    model = EpsilonKDE(epsilon=0, bandwidth=0.5).fit(X, y)
    Z, Z_new = X / X.std(0), X_new / X.std(0)
    nearest = [int(np.argmin(((Z - z) ** 2).sum(axis=1))) for z in Z_new]
    np.testing.assert_allclose(model.predict(X_new), y[nearest], rtol=1e-12)
    np.testing.assert_allclose(model.predict_dist(X_new).std(), 0.5 * y.std())


def test_scores_are_those_of_refits_without_the_fold():
    X, y = illustrative("skewed").sample(40, random_state=3)
    X, folds = X[:, :2], list(KFold(4, shuffle=True, random_state=1).split(X))
    model = EpsilonKDE(cv=folds).fit(X, y)
    table = pd.DataFrame(model.cv_results_)
    assert len(table) == 15 * len(BANDWIDTHS)
    Z, v = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    grid = np.arange(-30, 30, 0.01)
    for _, row in table.iloc[::13].iterrows():
        for k, (train, test) in enumerate(folds):
            d = np.sqrt(((Z[test, None] - Z[train]) ** 2).sum(axis=-1))
            reach = np.maximum(row.param_epsilon, d.min(axis=1, keepdims=True)) + 1e-9
            w = (d <= reach) / (d <= reach).sum(axis=1, keepdims=True)
            kernel = norm(v[train, None], row.param_bandwidth)
            half_norm = 0.5 * ((w @ kernel.pdf(grid)) ** 2).sum(axis=1) * 0.01
            at_y = (w * kernel.pdf(v[test]).T).sum(axis=1)
            loss = np.mean(half_norm - at_y) / y.std()
            assert row[f"split{k}_test_score"] == pytest.approx(-loss, rel=1e-7)


def test_cv_results_hold_every_candidate_and_the_winner_on_top():
    X, y = illustrative().sample(80, random_state=4)
    model = EpsilonKDE(random_state=0).fit(X, y)
    table = pd.DataFrame(model.cv_results_)
    assert table.param_epsilon.nunique() == 15
    assert sorted(table.param_bandwidth.unique()) == pytest.approx(BANDWIDTHS)
    best = table.loc[table.rank_test_score.idxmin()]
    assert (best.param_epsilon, best.param_bandwidth) == (model.epsilon_, model.bandwidth_)
    assert np.isnan(EpsilonKDE(1.0, 0.5).fit(X, y).cv_results_["mean_test_score"]).all()


def test_what_is_given_is_kept_and_the_rest_selected():
    X, y = illustrative().sample(80, random_state=5)
    given = EpsilonKDE(epsilon=0.77, random_state=0).fit(X, y)
    assert given.epsilon_ == 0.77
    assert given.bandwidth_ in BANDWIDTHS
    assert EpsilonKDE(bandwidth=0.123, random_state=0).fit(X, y).bandwidth_ == 0.123


def test_noise_is_best_described_without_looking_at_x():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((150, 3)), rng.standard_normal(150)
    model = EpsilonKDE(random_state=0).fit(X, y)
    assert model.epsilon_ > 3
    assert model.bandwidth_ > 0.2


def test_more_samples_bring_it_closer_to_the_truth():
    problem = illustrative("skewed")
    X_test, y_test = problem.sample(2000, random_state=1)
    floor = squared_loss(problem.conditional(X_test), y_test)
    excess = []
    for n in (50, 800):
        X, y = problem.sample(n, random_state=2)
        model = EpsilonKDE(random_state=0).fit(X[:, :1], y)
        excess.append(-model.score(X_test[:, :1], y_test) - floor)
    assert 0 < excess[1] < 0.4 * excess[0]


def test_samples_that_folds_keep_together_do_not_explain_one_another():
    rng = np.random.default_rng(7)
    X, y = toy_b().sample(60, random_state=7)
    rows = np.repeat(np.arange(60), 4)
    X4 = X[rows] + 1e-3 * rng.standard_normal((240, 5))
    y4 = y[rows] + 1e-3 * rng.standard_normal(240)
    groups = list(GroupKFold(5).split(X4, y4, rows))
    loose, kept = (EpsilonKDE(cv=cv, random_state=0).fit(X4, y4) for cv in (5, groups))
    assert loose.bandwidth_ == BANDWIDTHS[0]  # four near copies explain one another
    assert kept.bandwidth_ > 0.1
    X_test, y_test = toy_b().sample(500, random_state=8)
    assert kept.score(X_test, y_test) > loose.score(X_test, y_test)


def test_inputs_on_a_grid_have_all_their_neighbours_whatever_the_units():
    rng = np.random.default_rng(9)
    X = np.repeat(np.arange(1990.0, 2020.0), 4)[:, None]
    y = rng.standard_normal(120)
    one = 1 / X.std()  # a year in standard deviations
    for unit, origin in ((1.0, 0.0), (0.1, 7.0), (1 / 3, -0.7)):
        model = EpsilonKDE(epsilon=one, bandwidth=0.5).fit(unit * X + origin, y)
        mean = model.predict(unit * np.array([[2000.0]]) + origin)
        near = np.abs(X[:, 0] - 2000) <= 1
        assert mean[0] == pytest.approx(y[near].mean())


def test_a_constant_input_does_not_count():
    X, y = toy_b().sample(80, random_state=6)
    X[:, 3] = 0.1
    with pytest.warns(UserWarning, match="does not vary in column 3: it has no effect"):
        model = EpsilonKDE(random_state=0).fit(X, y)
    moved = X.copy()
    moved[:, 3] = 77.0
    np.testing.assert_array_equal(model.predict(moved), model.predict(X))


def test_random_state_draws_the_folds():
    X, y = toy_b().sample(60, random_state=10)
    tables = [EpsilonKDE(random_state=s).fit(X, y).cv_results_["split0_test_score"] for s in (0, 1)]
    assert (tables[0] != tables[1]).any()
