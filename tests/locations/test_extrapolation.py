"""Locations are limited to a box around their values at the training samples."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import condensity
from condensity import LSCE
from condensity.locations.extrapolation import LEAST_HALF, REACH, LocationRange

QUICK = {"n_starts": 1, "max_iter": 3, "n_members": 2, "random_state": 0}
LOCATIONS = ["none", "linear", "smooth", "trees", "flexible", "reduced", LinearRegression()]


def limited_by_loops(values, box):
    rows = []
    for row in values:
        ratio = 1.0
        for v, c, below, above in zip(row, box.middle, box.below, box.above, strict=True):
            ratio = max(ratio, (v - c) / above if v > c else (c - v) / below)
        rows.append([c + (v - c) / ratio for v, c in zip(row, box.middle, strict=True)])
    return rows


def a_box():
    middle, below, above = [1.0, -2.0, 0.5], [3.0, 0.5, 1.0], [1.0, 0.6, 4.0]
    return LocationRange(np.array(middle), np.array(below), np.array(above))


def test_values_are_moved_towards_the_middle_until_they_are_in_the_box():
    rng = np.random.default_rng(0)
    box = a_box()
    low, high = box.middle - box.below, box.middle + box.above
    values = box.middle + rng.normal(size=(200, 3)) * [4.0, 0.3, 1.0]
    found = box.limit(values)
    np.testing.assert_allclose(found, limited_by_loops(values, box), rtol=1e-12)
    assert ((found >= low - 1e-12) & (found <= high + 1e-12)).all()
    inside = ((values >= low) & (values <= high)).all(axis=1)
    assert 20 < inside.sum() < 180
    np.testing.assert_array_equal(found[inside], values[inside])


def test_the_gradient_of_limited_values_is_a_complex_step():
    """Beside the faces the limited value is analytic, if the nearest face is known."""
    rng = np.random.default_rng(0)
    box, axis = a_box(), rng.normal(size=3)
    values = box.middle + rng.normal(size=(100, 3)) * [4.0, 0.3, 1.0]
    found = box.gradient(values, axis)
    for row, gradient in zip(values, found, strict=True):
        offset = row - box.middle
        faces = np.where(offset > 0, box.above, -box.below)
        j = np.argmax(offset / faces)
        for k in range(3):
            moved = offset + 1e-30j * np.eye(3)[k]
            ratio = moved[j] / faces[j] if offset[j] / faces[j] > 1 else 1.0
            expected = (axis @ (moved / ratio)).imag / 1e-30
            np.testing.assert_allclose(gradient[k], expected, rtol=1e-12, atol=1e-13)


def test_one_output_at_its_limit_does_not_change():
    box = LocationRange(np.array([0.1]), np.array([0.7]), np.array([1.3]))
    found = box.gradient(np.array([[9.0], [-9.0], [1.0], [np.nan]]), np.array([3.0]))
    np.testing.assert_array_equal(found, [[0.0], [0.0], [3.0], [3.0]])


def test_values_that_are_no_numbers_stay_to_be_refused_later():
    box = LocationRange(np.zeros(2), np.ones(2), np.ones(2))
    values = np.array([[np.nan, 5.0], [np.inf, 0.0], [5.0, 1.0]])
    np.testing.assert_array_equal(box.limit(values), [*values[:2], [1.0, 0.2]])


def test_the_box_is_the_range_at_the_samples_and_its_length_on_both_sides():
    X = np.array([[-1.0], [0.0], [3.0]])
    box = LocationRange.of(lambda x: np.hstack([2 * x, 0 * x, 5 - x]), X)
    centre, reach = np.array([2.0, 0.0, 4.0]), REACH * np.array([4.0, LEAST_HALF, 2.0])
    np.testing.assert_allclose(box.middle, [4 / 3, 0.0, 13 / 3])
    np.testing.assert_allclose(box.middle - box.below, centre - reach)
    np.testing.assert_allclose(box.middle + box.above, centre + reach)


def test_relations_between_three_outputs_hold_for_limited_values():
    """The centre of the ranges does not satisfy ``m3 = m1 + m2 + 1``; the mean does."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.2, 0.2]])

    def function(x):
        return np.column_stack([x[:, 0], x[:, 1], x.sum(axis=1) + 1.0])

    box = LocationRange.of(function, X)
    far = function(np.array([[50.0, 0.0], [0.0, -90.0], [7.0, 8.0]]))
    limited = box.limit(far)
    assert (np.abs(limited - far).max(axis=1) > 1.0).all()
    np.testing.assert_allclose(limited[:, 2], limited[:, 0] + limited[:, 1] + 1.0, rtol=1e-12)


def prices(n=80):
    """Prices grow exponentially with the first input."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, size=(n, 3))
    return X, np.exp(2 * X[:, 0] + 0.3 * rng.normal(size=n))


FAR = np.array([[50.0, 2.0, 2.0], [1e6, 2.0, 2.0], [1e99, 0.0, 0.0], [-1e6, 1e6, -1e6]])


@pytest.mark.parametrize("location", LOCATIONS, ids=str)
@pytest.mark.parametrize("bounds", [(0, None), None, (0, 1000)])
def test_means_far_from_the_samples_are_bounded(location, bounds):
    X, y = prices()
    model = LSCE(1, location=location, bounds=bounds, **QUICK).fit(X, y)
    dist = model.predict_dist(FAR)
    free, factor = (np.log(y), np.exp(1.0)) if bounds == (0, None) else (y, np.ptp(y))
    length = np.ptp(free)
    highest = free.max() + 2 * length
    if bounds == (0, None):
        assert (dist.mean() < factor * np.exp(highest)).all()
        assert (dist.mean() > np.exp(free.min() - 2 * length)).all()
    else:
        assert (np.abs(dist.mean() - y.mean()) < 3 * length).all()
    assert np.isfinite(dist.std()).all()
    assert np.isfinite(dist.log_pdf(np.full(len(FAR), np.median(y)))).all()


@pytest.mark.parametrize("location", ["linear", "flexible", "reduced"])
def test_stored_models_have_the_same_limits(location, tmp_path):
    X, y = prices()
    model = LSCE(1, location=location, bounds=(0, None), **QUICK).fit(X, y)
    condensity.save(model, tmp_path / "m.cdn")
    loaded = condensity.load(tmp_path / "m.cdn")
    np.testing.assert_array_equal(loaded.predict(FAR), model.predict(FAR))
    assert any(part.limits is not None for _, part in loaded._density.parts)


def test_a_relation_between_outputs_holds_far_away():
    """The outputs are functions of one another, also where both are limited."""
    X, y = prices(60)
    Y = np.column_stack([np.log(y), 1.0 - 0.5 * np.log(y)])
    model = LSCE(1, location="linear", **QUICK).fit(X, Y)
    mean = model.predict(FAR[:2])
    np.testing.assert_allclose(mean[:, 1], 1.0 - 0.5 * mean[:, 0], atol=0.01)
    assert (np.abs(mean[:, 0]) < 20).all()


def test_nothing_changes_within_twice_the_range():
    """The plane is straight where an analyst expects it to be."""
    X, y = prices()
    model = LSCE(1, location="linear", n_members=1, random_state=0).fit(X, np.log(y))
    x = np.array([[t, 2.0, 2.0] for t in (2.0, 3.0, 4.0, 4.8)])
    mean = model.predict_dist(x).mean()
    np.testing.assert_allclose(mean, 2 * x[:, 0], atol=0.5)


def test_inputs_outside_their_range_are_told_by_their_columns():
    X, y = prices()
    for model in (LSCE(1, **QUICK), condensity.LSCDE(random_state=0)):
        model.fit(X, y)
        np.testing.assert_array_equal(model.input_range_, [X.min(axis=0), X.max(axis=0)])
        assert not model.outside_range(X).any()
        rows = np.vstack([X[0], X.max(axis=0) + np.eye(3)[1], X.min(axis=0) - [1e-9, 0, 5]])
        expected = [[False] * 3, [False, True, False], [True, False, True]]
        np.testing.assert_array_equal(model.outside_range(rows), expected)


def test_the_range_is_that_of_all_samples_not_of_the_subsample():
    X, y = prices(1500)
    model = condensity.LSCDE(bandwidth=0.5, penalty=0.1, subsample=50, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.input_range_, [X.min(axis=0), X.max(axis=0)])


def test_models_of_older_versions_do_not_know_their_range():
    X, y = prices(40)
    model = condensity.LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y)
    del model.input_range_
    with pytest.raises(AttributeError, match=r"fitted by an older version.*fit it again"):
        model.outside_range(X)
