import numpy as np
import pytest
from scipy.stats import norm
from sklearn.model_selection import KFold

import oracles
from condensity import LSCDE
from condensity.datasets import illustrative, toy_b
from condensity.distributions import chunked as chunked_module
from condensity.metrics import squared_loss


def test_the_density_is_the_paper_s_estimate_term_by_term():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 2)) * [2.0, 0.1] + [5.0, -3.0]
    Y = np.column_stack([X[:, 0] ** 2, X[:, 1]]) + 0.1 * rng.standard_normal((25, 2))
    sigma_z, sigma_y, penalty = 0.7, 0.4, 0.01
    model = LSCDE(n_centers=25, bandwidth=(sigma_z, sigma_y), penalty=penalty).fit(X, Y)

    x_mean, x_sd, y_mean, y_sd = X.mean(0), X.std(0), Y.mean(0), Y.std(0)
    Z, V = (X - x_mean) / x_sd, (Y - y_mean) / y_sd
    G, h = oracles.G_and_h(np.eye(2), Z, V, Z, V, sigma_z, sigma_y)
    alpha = np.linalg.solve(G + penalty * np.eye(25), h)
    assert (alpha < 0).any()  # or clipping would not be seen
    assert model.sce_ == pytest.approx(alpha @ G @ alpha / 2 - h @ alpha, rel=1e-10)
    x_new, y_new = X[:6] + 0.3 * x_sd, Y[:6] - 0.2 * y_sd
    by_hand = [
        oracles.conditional_density(
            (y - y_mean) / y_sd, (x - x_mean) / x_sd, Z, V, alpha, sigma_z, sigma_y
        )
        / np.prod(y_sd)
        for x, y in zip(x_new, y_new, strict=True)
    ]
    np.testing.assert_allclose(model.predict_dist(x_new).pdf(y_new), by_hand, rtol=1e-8)


def test_it_sees_two_modes_where_there_are_two():
    problem = illustrative("bimodal")
    X, y = problem.sample(1000, random_state=0)
    model = LSCDE(random_state=0).fit(X[:, :1], y)
    (modes,) = model.predict_dist([[-0.6]]).modes()
    truth = problem.conditional([[-0.6, 0, 0, 0, 0]]).modes()[0]
    assert len(truth) == 2
    for mode in truth:
        assert np.abs(modes - mode).min() < 0.2
    low, high = np.sort(truth)
    between = model.predict_dist([[-0.6]]).pdf_on(np.linspace(low, high, 101))
    assert between.min() < 0.75 * between[0, [0, -1]].min()


def test_more_samples_bring_it_closer_to_the_truth():
    problem = illustrative("skewed")
    X_test, y_test = problem.sample(2000, random_state=1)
    floor = squared_loss(problem.conditional(X_test), y_test)
    excess = []
    for n in (50, 800):
        X, y = problem.sample(n, random_state=2)
        model = LSCDE(random_state=0).fit(X[:, :1], y)
        excess.append(-model.score(X_test[:, :1], y_test) - floor)
    assert 0 < excess[1] < 0.4 * excess[0]


def test_centres_are_all_samples_up_to_200_and_no_more_than_asked():
    X, y = illustrative().sample(250, random_state=0)
    fixed = {"bandwidth": 0.5, "penalty": 0.1, "random_state": 0}
    assert LSCDE(**fixed).fit(X[:150], y[:150]).n_centers_ == 150
    assert LSCDE(**fixed).fit(X, y).n_centers_ == 200
    assert LSCDE(**fixed, n_centers=30).fit(X, y).n_centers_ == 30


def test_it_scores_what_it_ships_on_the_folds_it_is_given():
    X, y = illustrative("skewed").sample(40, random_state=3)
    X, folds = X[:, :1], list(KFold(4, shuffle=True, random_state=1).split(X))
    model = LSCDE(bandwidth=0.4, cv=folds, random_state=0).fit(X, y)
    Z, v = (X - X.mean()) / X.std(), (y - y.mean()) / y.std()
    grid = np.arange(-8, 8, 0.02)
    for j, penalty in enumerate(model.cv_results_["param_penalty"]):
        for k, (train, test) in enumerate(folds):
            G, h = oracles.G_and_h(
                np.eye(1), Z[train], v[train, None], Z[train], v[train, None], 0.4, 0.4
            )
            alpha = np.maximum(np.linalg.solve(G + penalty * np.eye(len(h)), h), 0)
            w = alpha * np.exp(-((Z[test] - Z[train].T) ** 2) / (2 * 0.4**2))
            w /= w.sum(axis=1, keepdims=True)
            p = w @ norm(v[train, None], 0.4).pdf(grid)
            at_y = (w * norm(v[train], 0.4).pdf(v[test, None])).sum(axis=1)
            loss = np.mean(0.5 * (p**2).sum(axis=1) * 0.02 - at_y)
            assert model.cv_results_[f"split{k}_test_score"][j] == pytest.approx(
                -loss / y.std(), rel=1e-6
            )


def test_repeated_measurements_are_not_held_out_together():
    # Four cells of a binary table: cross-validation must see each of them in training.
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 500).astype(float)
    y = np.where(rng.random(500) < 0.9, x, 1 - x)
    dist = LSCDE(random_state=0).fit(x[:, None], y).predict_dist([[0.0], [1.0]])
    np.testing.assert_allclose(dist.prob(0.5, np.inf), [0.1, 0.9], atol=0.05)


def test_weights_are_repetitions_in_the_oracle_too():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((12, 2)), rng.standard_normal(12)
    weight = np.arange(12) % 3 + 1
    model = LSCDE(bandwidth=(0.8, 0.5), penalty=0.05).fit(X, y, weight)
    rows = np.repeat(np.arange(12), weight)
    x_mean, x_sd, y_mean, y_sd = X[rows].mean(0), X[rows].std(0), y[rows].mean(), y[rows].std()
    Z, V = (X - x_mean) / x_sd, ((y - y_mean) / y_sd)[:, None]
    G, h = oracles.G_and_h(np.eye(2), Z[rows], V[rows], Z, V, 0.8, 0.5)
    alpha = np.linalg.solve(G + 0.05 * np.eye(12), h)
    assert model.sce_ == pytest.approx(alpha @ G @ alpha / 2 - h @ alpha, rel=1e-10)
    by_hand = oracles.conditional_density(V[3], Z[3], Z, V, alpha, 0.8, 0.5) / y_sd
    assert model.predict_dist(X[3:4]).pdf(y[3:4])[0] == pytest.approx(by_hand, rel=1e-9)


def test_densities_of_very_many_rows_are_made_part_by_part(monkeypatch):
    X, y = toy_b().sample(80, random_state=0)
    model = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y)
    whole, score, mean = model.predict_dist(X), model.score(X, y), model.predict(X)
    monkeypatch.setattr(chunked_module, "BLOCK", 10 * model.n_centers_)
    monkeypatch.setattr(chunked_module, "CHUNK", 7 * model.n_centers_)
    parts = model.predict_dist(X)
    assert isinstance(parts, chunked_module.ChunkedDistribution)
    np.testing.assert_allclose(parts.quantile([0.1, 0.5]), whole.quantile([0.1, 0.5]), rtol=1e-12)
    assert model.score(X, y) == pytest.approx(score, rel=1e-12)
    assert squared_loss(parts, y) == pytest.approx(-score, rel=1e-12)
    np.testing.assert_allclose(model.predict(X), mean, rtol=1e-12)
    model.fit(X, -y)  # what was answered stays answered
    np.testing.assert_allclose(parts.mean(), mean, rtol=1e-12)
