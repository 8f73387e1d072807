import pickle

import numpy as np
import pytest
from sklearn.base import clone

from condensity import LSCE
from condensity.data.bounded_targets import take_off_bounds
from condensity.distributions.bounded import BoundedMixture
from condensity.metrics import pit, squared_loss

FAST = {"n_starts": 1, "max_iter": 10, "random_state": 0}


def skewed(n, seed=0):
    """Log-normal around exp(x0): positive, its tail longer where it is larger."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, np.exp(X[:, 0] + 0.5 * rng.standard_normal(n))


@pytest.fixture(scope="module")
def positive():
    return LSCE(bounds=(0, None), **FAST).fit(*skewed(150))


def test_nothing_is_predicted_beyond_the_bounds(positive):
    X, _ = skewed(20, seed=1)
    dist = positive.predict_dist(X)
    assert isinstance(dist, BoundedMixture)
    np.testing.assert_array_equal(dist.cdf(np.zeros(20)), 0)
    assert (dist.sample(200, random_state=0) > 0).all()
    assert (positive.predict(X) > 0).all()
    assert positive.predict_dist_reduced(positive.transform(X)).quantile(0.001).min() > 0


def test_bounds_pay_where_y_is_skewed(positive):
    X, y = skewed(1500, seed=2)
    free = LSCE(bounds=None, **FAST).fit(*skewed(150))
    # Without bounds, a location that is a function of z makes up for a part of the difference.
    assert positive.score(X, y) > 1.03 * free.score(X, y)
    u = pit(positive.predict_dist(X), y)
    assert 0.84 < np.mean((u > 0.05) & (u < 0.95)) < 0.94


def test_the_score_is_in_the_units_of_y(positive):
    X, y = skewed(50, seed=3)
    assert positive.score(X, y) == -squared_loss(positive.predict_dist(X), y)


def test_the_scores_of_cross_validation_are_in_the_units_of_y():
    X, y = skewed(150)
    settings = {"bandwidth": (0.5, 0.5), "penalty": 0.1, "location": "none"} | FAST
    small = LSCE(1, bounds=(0, None), **settings).fit(X, y)
    large = LSCE(1, bounds=(0, None), **settings).fit(X, 1000 * y)
    assert large.cv_score_ == pytest.approx(small.cv_score_ / 1000, rel=1e-6)
    scores = [m.cv_results_["mean_test_score"] for m in (small, large)]
    np.testing.assert_allclose(scores[1], scores[0] / 1000, rtol=1e-6)


def test_two_outputs_have_bounds_of_their_own():
    X, y = skewed(80)
    Y = np.column_stack([y, 1 / (1 + np.exp(-X[:, 1]))])
    model = LSCE(2, bounds=[(0, None), (0, 1)], n_members=1, **FAST).fit(X, Y)
    draws = model.predict_dist(X[:5]).sample(100, random_state=0)
    assert draws.shape == (5, 100, 2)
    assert (draws > 0).all()
    assert (draws[..., 1] < 1).all()
    assert model.predict(X[:5]).shape == (5, 2)


def free(value, *columns, weight=None):
    """Targets without their bounds."""
    Y = np.column_stack(columns)
    return take_off_bounds(value, Y, np.ones(len(Y)) if weight is None else np.array(weight))


def test_without_bounds_targets_go_on_as_they_came():
    Y = np.array([[1.0], [2.0]])
    assert take_off_bounds(None, Y, np.ones(2)) == (Y, None)


@pytest.mark.parametrize("value", [(None, None), [(None, None)], (-np.inf, None)])
def test_no_bound_is_no_map(value):
    U, bounds = free(value, [-1.0, 2.0])
    np.testing.assert_array_equal(U[:, 0], [-1.0, 2.0])
    assert bounds.exponential(0) == 0


def test_samples_of_no_weight_may_lie_at_a_bound():
    U, _ = free((0, None), [0.0, 1.0], weight=[0.0, 1.0])
    assert np.isfinite(U).all()


def test_a_missing_target_is_left_to_the_gate():
    with pytest.raises(ValueError, match="requires y to be passed"):
        LSCE(bounds=(0, None)).fit(np.ones((5, 2)), None)


def test_an_atom_is_named_in_the_units_of_y():
    X, y = skewed(60)
    y[:20] = 0.25
    with pytest.warns(UserWarning, match=r"y equals 0.25 in 33% .* coordinate without bounds"):
        LSCE(1, bounds=(0, None), n_members=1, **FAST).fit(X, y)


def test_a_model_with_bounds_survives_cloning_and_pickling(positive):
    X, _ = skewed(5, seed=1)
    again = pickle.loads(pickle.dumps(positive))
    np.testing.assert_array_equal(again.predict(X), positive.predict(X))
    assert clone(positive).bounds == (0, None)


@pytest.mark.parametrize(
    "value", [(0,), 3.0, "ab", "01", b"01", ("0", 1), (0, 1, 2), [(0, 1), (0, 1)], (0, "x")]
)
def test_what_is_no_pair_is_refused(value):
    with pytest.raises(ValueError, match=r"bounds must be None, a pair \(lower, upper\)"):
        free(value, [0.5, 0.7])


def test_bounds_must_be_in_order():
    with pytest.raises(ValueError, match="lower < upper"):
        free((1, 0), [0.5])


def test_an_output_without_bounds_may_be_none():
    U, bounds = free([(0, None), None], [1.0, np.e], [-1.0, 2.0])
    np.testing.assert_allclose(U, [[0.0, -1.0], [1.0, 2.0]], atol=1e-15)
    assert bounds.lower.tolist() == [0.0, -np.inf]


def test_a_target_at_a_bound_is_named_with_the_remedy():
    with pytest.raises(ValueError, match=r"1 of 3 targets do not lie .* is 0 in row 1; widen"):
        free((0, None), [0.5, 0.0, 2.0])
    with pytest.raises(ValueError, match="targets in column 1"):
        free((0, 1), [0.5, 0.3], [0.2, 1.0])
