"""``bounds="auto"``: the lower bound 0 for positive outputs that it describes better."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from condensity import LSCE, FixedSubspace, Reduced, load, save
from condensity.data.bounded_targets import coarse_near_zero, skewness
from condensity.estimators import automatic_bounds
from condensity.fitting.scores import SCORES
from condensity.tables import compare_with_baselines

FAST = {"n_components": 1, "n_starts": 1, "max_iter": 5, "n_members": 2, "cv": 2, "random_state": 0}


def multiplied(n=120, seed=0):
    """An output that varies by factors."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.exp(X[:, 0] + 0.5 * rng.standard_normal(n))


def added(n=120, seed=0):
    """A positive, skewed output whose spread does not depend on x."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(1.0, 1.0, n)
    return np.column_stack([x, rng.standard_normal(n)]), 1.0 + x + 0.2 * rng.uniform(-1, 1, n)


@pytest.mark.parametrize(
    ("problem", "bounds", "known"),
    [(multiplied, (0, None), [(0.0, None)]), (added, None, None)],
)
def test_the_model_is_the_one_with_the_bounds_that_are_chosen(problem, bounds, known):
    X, y = problem()
    model, given = LSCE(**FAST).fit(X, y), LSCE(bounds=bounds, **FAST).fit(X, y)
    assert model.bounds_ == given.bounds_ == known
    dist, same = model.predict_dist(X), given.predict_dist(X)
    np.testing.assert_array_equal(dist.log_pdf(y), same.log_pdf(y))
    np.testing.assert_array_equal(model.cv_score_, given.cv_score_)


def test_a_generator_of_the_caller_is_drawn_from_as_if_the_bounds_were_given():
    X, y = multiplied()
    rngs = [np.random.default_rng(3), np.random.default_rng(3)]
    settings = [
        FAST | {"bounds": b, "random_state": r}
        for b, r in zip(("auto", (0, None)), rngs, strict=True)
    ]
    models = [LSCE(**s).fit(X, y) for s in settings]
    np.testing.assert_array_equal(*(m.predict(X) for m in models))
    assert rngs[0].integers(2**60) == rngs[1].integers(2**60)


def test_outliers_are_those_of_the_output_as_it_is_described():
    X, y = multiplied(300)
    y[np.argmax(y)] *= 30.0
    with pytest.warns(UserWarning, match="left out"):
        LSCE(bounds=None, **FAST).fit(X, y)
    model = LSCE(**FAST).fit(X, y)  # without a warning
    assert model.bounds_ == [(0.0, None)]


def decided(monkeypatch):
    """A list to which every decision adds its losses."""
    losses, compute = [], automatic_bounds.cheap_loss
    monkeypatch.setattr(
        automatic_bounds, "cheap_loss", lambda *a: losses.append(compute(*a)) or losses[-1]
    )
    return losses


@pytest.mark.parametrize(
    ("parameters", "change"),
    [
        ({}, lambda y: y - 1.0001 * y.min()),  # one value is not positive
        ({}, lambda y: -y),
        ({}, lambda y: np.ceil(40 * y)),  # counts
        ({}, lambda y: 100.0 + np.log(y)),  # not skewed
        ({"location": "none"}, lambda y: np.column_stack([y, y[::-1]])),
        ({"min_bandwidth": 0.1}, lambda y: y),
        ({"n_members": 1, "bandwidth": 0.5, "penalty": 0.1, "location": "none"}, lambda y: y),
        ({"bounds": None}, lambda y: y),
    ],
)
def test_nothing_is_compared_where_the_bound_is_not_an_option(monkeypatch, parameters, change):
    losses = decided(monkeypatch)
    X, y = multiplied()
    assert LSCE(**(FAST | parameters)).fit(X, change(y)).bounds_ is None
    assert not losses


def test_folds_that_can_be_read_only_once_leave_y_as_it_is():
    X, y = multiplied()
    splits = KFold(2).split(X)
    assert LSCE(**(FAST | {"cv": splits})).fit(X, y).bounds_ is None
    assert LSCE(**(FAST | {"cv": KFold(2)})).fit(X, y).bounds_ == [(0.0, None)]


def test_samples_that_are_not_in_the_subsample_must_be_positive_too():
    X, y = multiplied(300)
    model = LSCE(subsample=100, **FAST)
    assert model.fit(X, y).bounds_ == [(0.0, None)]
    for row in (3, 150, 299):
        with_zero = np.where(np.arange(300) == row, 0.0, y)
        assert model.fit(X, with_zero).bounds_ is None


def test_dask_collections_are_described_as_they_are():
    da = pytest.importorskip("dask.array")
    X, y = (da.from_array(values, chunks=60) for values in multiplied(120))
    assert LSCE(**(FAST | {"cv": 2})).fit(X, y).bounds_ is None


@pytest.mark.parametrize("score", SCORES)
def test_the_losses_that_decide_are_in_the_units_of_y(monkeypatch, score):
    losses = decided(monkeypatch)
    X, y = multiplied()
    models = [LSCE(scoring=score, **FAST).fit(X, unit * y) for unit in (1.0, 1000.0)]
    assert all(m.bounds_ == [(0.0, None)] for m in models)
    small, large = np.reshape(losses, (2, 2))
    expected = small + np.log(1000.0) if score == "log" else small / 1000.0
    np.testing.assert_allclose(large, expected, rtol=1e-6)
    assert small[0] < small[1]  # with the bound first


def test_a_given_location_decides():
    X, y = multiplied()
    assert LSCE(**(FAST | {"n_components": 2}), location="trees").fit(X, y).bounds_ == [(0.0, None)]


def test_the_skewness_is_that_of_a_weighted_sample():
    y, counts = np.array([1.0, 2.0, 7.0]), np.array([3, 2, 1])
    full = np.repeat(y, counts)
    expected = np.mean((full - full.mean()) ** 3) / full.std() ** 3
    assert skewness(y, counts / 6) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("low", "coarse"),
    [
        ([1, 1, 2, 3, 4], True),
        ([1, 1, 1, 1, 1], True),  # a single value
        ([100, 101, 101, 103, 104], False),  # steps of one per cent
        ([100, 106, 106, 112, 118], True),
        ([1, 1.5, 2, 3, 4], False),  # no value repeats: not rounded
    ],
)
def test_values_are_coarse_if_their_steps_are_large_beside_the_smallest_ones(low, coarse):
    rest = np.repeat(1000.0 + np.arange(15), 3)
    y = np.random.default_rng(0).permutation(np.r_[low, rest])
    assert coarse_near_zero(y) is coarse


def test_the_bounds_of_a_model_survive_its_file(tmp_path):
    X, y = multiplied()
    model = LSCE(**FAST).fit(X, y)
    save(model, tmp_path / "m.cdn")
    loaded = load(tmp_path / "m.cdn")
    assert loaded.bounds == clone(model).bounds == "auto"
    assert loaded.bounds_ == [(0.0, None)]
    assert not hasattr(clone(model), "bounds_")


def test_baselines_have_the_bounds_of_the_model(monkeypatch):
    X, y = multiplied(120)
    train, test = (X[:80], y[:80]), (X[80:], y[80:])
    for estimator in (LSCE(**FAST), Reduced(FixedSubspace([[1.0, 0.0]]), LSCE(**FAST))):
        model = estimator.fit(*train)
        losses = decided(monkeypatch)
        compare_with_baselines(model, train, test)
        assert not losses


def test_the_samples_of_both_fits_are_the_same():
    X, y = multiplied()
    model, rng = LSCE(**FAST), np.random.default_rng(0)
    data = model._prepare(X, y, None, rng, scored=True, n_members=2)
    mapped = automatic_bounds.with_lower_bound(data)
    np.testing.assert_allclose(mapped.sample.Y, np.log(data.sample.Y))
    np.testing.assert_allclose(mapped.y_scaling.sd, mapped.sample.Y.std(axis=0))
    assert mapped.partitions is data.partitions
