import numpy as np
import pytest
from scipy.stats import kstest, norm

from condensity.datasets import illustrative, toy_a, toy_b
from condensity.metrics import pit

PROBLEMS = [toy_a(), toy_b(), *(illustrative(noise) for noise in ("gaussian", "bimodal", "skewed"))]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
def test_samples_follow_the_stated_truth(problem):
    X, y = problem.sample(4000, random_state=0)
    assert X.shape == (4000, 5)
    assert y.shape == (4000,)
    assert kstest(pit(problem.conditional(X), y), "uniform").pvalue > 0.01


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
def test_the_truth_depends_on_the_stated_subspace_alone(problem):
    X, y = problem.sample(50, random_state=1)
    W = problem.components
    elsewhere = X + np.random.default_rng(2).standard_normal(X.shape) @ (np.eye(5) - W.T @ W)
    same = problem.conditional(elsewhere).pdf(y)
    np.testing.assert_allclose(same, problem.conditional(X).pdf(y), rtol=1e-9)
    within = problem.conditional(X + 0.1 * W.sum(axis=0)).pdf(y)
    assert not np.allclose(within, problem.conditional(X).pdf(y), rtol=1e-3)


@pytest.mark.parametrize(
    ("problem", "mean"),
    [
        (toy_a(), lambda X: X[:, 0] ** 2 + X[:, 1] ** 2),
        (toy_b(), lambda X: X[:, 1] + X[:, 1] ** 2 + X[:, 1] ** 3),
    ],
)
def test_the_paper_s_densities(problem, mean):
    X, y = problem.sample(20, random_state=3)
    np.testing.assert_allclose(problem.conditional(X).pdf(y), norm(mean(X), 0.25).pdf(y))


def test_illustrative_noise_grows_to_the_left_around_a_sinc():
    X = np.zeros((3, 5))
    X[:, 0] = [-0.75, 0.0, 0.75]
    dist = illustrative("gaussian").conditional(X)
    np.testing.assert_allclose(dist.std(), np.exp(1 - X[:, 0]) / 8)
    by_hand = [np.sin(2 * np.pi * x) / (2 * np.pi * x) if x else 1.0 for x in X[:, 0]]
    np.testing.assert_allclose(dist.mean(), by_hand)


def test_the_same_seed_gives_the_same_sample_and_another_does_not():
    first, again, other = (toy_a().sample(10, random_state=s)[1] for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


def test_unknown_noise_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="'gaussian', 'bimodal', 'skewed', got 'pink'"):
        illustrative("pink")


def test_sample_size_must_be_positive():
    with pytest.raises(ValueError, match="n_samples must be an integer >= 1, got 0"):
        toy_a().sample(0)


@pytest.mark.parametrize("problem", [toy_a(), toy_b()], ids=lambda p: p.name)
def test_inputs_of_the_paper_s_toys_are_standard_normal(problem):
    X, _ = problem.sample(4000, random_state=0)
    for column in X.T:
        assert kstest(column, "norm").pvalue > 1e-3
    np.testing.assert_allclose(np.corrcoef(X.T), np.eye(5), atol=0.06)


def test_inputs_of_the_illustrative_set_are_one_uniform_and_four_normal():
    X, _ = illustrative().sample(4000, random_state=0)
    assert kstest((X[:, 0] + 1) / 2, "uniform").pvalue > 1e-3
    assert all(kstest(column, "norm").pvalue > 1e-3 for column in X[:, 1:].T)


@pytest.mark.parametrize(
    ("noise", "density"),
    [
        ("gaussian", lambda e: norm.pdf(e)),
        ("bimodal", lambda e: 0.5 * norm.pdf(e, -1, 2 / 3) + 0.5 * norm.pdf(e, 1, 2 / 3)),
        ("skewed", lambda e: 0.75 * norm.pdf(e) + 0.25 * norm.pdf(e, 1.5, 1 / 3)),
    ],
)
def test_the_three_noises(noise, density):
    x = np.zeros((1, 5))  # here y = 1 + e * exp(1) / 8
    e = np.linspace(-3, 3, 13)
    ours = illustrative(noise).conditional(x).pdf_on(1 + e * np.e / 8)[0]
    np.testing.assert_allclose(ours, density(e) / (np.e / 8), rtol=1e-12)


def test_conditional_refuses_rows_of_the_wrong_length():
    with pytest.raises(ValueError, match="must have 5 columns, got shape"):
        toy_a().conditional(np.zeros((3, 2)))
