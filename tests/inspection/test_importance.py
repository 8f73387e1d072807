"""Permutation importance against loops, known truths and moves along directions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from condensity import LSCDE, LSCE, SIR, Reduced
from condensity.distributions import Block, Mixture
from condensity.inspection import importance
from condensity.inspection.permutations import REST, PermutedDirections, lift_of

SLOPE, TREND = np.array([2.0, 0.5, 0.0]), np.array([0.3, 0.0, -0.5])


class Truth:
    """The true density of ``y = SLOPE . x + e`` with ``e ~ N(0, 1)``."""

    def predict_dist(self, X):
        mean = np.asarray(X, dtype=float) @ SLOPE
        return Mixture([Block(np.zeros((len(X), 1)), np.zeros((1, 1)), np.eye(1), mean[:, None])])


class Uneven(Truth):
    """The density whose standard deviation also depends on the inputs, ``exp(x . TREND)``."""

    def predict_dist(self, X):
        X = np.asarray(X, dtype=float)
        block = Truth().predict_dist(X).blocks[0]
        return Mixture([replace(block, scale=np.exp(X @ TREND))])


def samples(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, X @ SLOPE + rng.standard_normal(n)


def test_the_importance_of_the_mean_is_twice_the_variance_that_an_input_explains():
    X, y = samples()
    found = importance(Truth(), X, y, "mean", random_state=0)
    expected = 2 * SLOPE**2 * X.var(axis=0)
    assert np.all(np.abs(found.increase - expected) < 4 * found.std_error + 1e-12)
    assert found.loss == pytest.approx(np.mean((y - X @ SLOPE) ** 2))
    assert found.names == ["x1", "x2", "x3"]
    assert found.ranking() == ["x1", "x2", "x3"]
    assert found.unit == "y^2"


def losses(of, y, mean, sd, fixed):
    """The losses of a normal distribution, written down for each property."""
    if of == "density":
        return -norm.logpdf(y, mean, sd)
    if of == "mean":
        return (y - mean) ** 2
    if of == "spread":
        return np.log(sd) + (y - fixed) ** 2 / (2 * sd**2)
    name, number = of
    if name == "quantile":
        t = norm.ppf(number, mean, sd)
        return np.where(y < t, (1 - number) * (t - y), number * (y - t))
    return ((y > number) - norm.sf(number, mean, sd)) ** 2


PROPERTIES = ["density", "mean", "spread", ("quantile", 0.8), ("above", 1.0)]


@pytest.mark.parametrize("of", PROPERTIES, ids=str)
def test_one_permutation_is_a_loop(of):
    X, y = samples(60)
    order = np.random.default_rng(3).permutation(60)
    found = importance(Uneven(), X, y, of, n_repeats=1, random_state=3)
    fixed, sd = X @ SLOPE, np.exp(X @ TREND)
    for j in range(3):
        moved = X.copy()
        moved[:, j] = X[order, j]
        after = losses(of, y, moved @ SLOPE, np.exp(moved @ TREND), fixed)
        change = after - losses(of, y, fixed, sd, fixed)
        assert found.increase[j] == pytest.approx(change.mean(), abs=1e-12)
        assert found.std_error[j] == pytest.approx(change.std(ddof=1) / np.sqrt(60), abs=1e-12)


def test_only_the_spread_counts_for_the_spread():
    X, y = samples(200)
    found = importance(Truth(), X, y, "spread", random_state=0)
    np.testing.assert_allclose(found.increase, 0.0, atol=1e-12)


def test_repeated_samples_are_weights():
    X, y = samples(50)
    counts = np.random.default_rng(0).integers(0, 3, 50)
    weighted = importance(Truth(), X, y, "mean", sample_weight=counts, n_repeats=2, random_state=0)
    rng = np.random.default_rng(0)
    change = 0.0
    for _ in range(2):
        moved = X.copy()
        moved[:, 0] = X[rng.permutation(50), 0]
        change = change + (y - moved @ SLOPE) ** 2 / 2
    change = change - (y - X @ SLOPE) ** 2
    assert weighted.increase[0] == pytest.approx(counts @ change / counts.sum())


def test_groups_move_together():
    X, y = samples(300)
    frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(300)[::-1])
    found = importance(
        Truth(), frame, y, "mean", groups={"ab": ["a", 1], "c": ["c"]}, n_repeats=1, random_state=1
    )
    order = np.random.default_rng(1).permutation(300)
    moved = X.copy()
    moved[:, :2] = X[order, :2]
    expected = np.mean((y - moved @ SLOPE) ** 2 - (y - X @ SLOPE) ** 2)
    assert found.names == ["ab", "c"]
    assert found.increase[0] == pytest.approx(expected)
    assert found.increase[1] == pytest.approx(0.0, abs=1e-12)


def test_frames_and_arrays_have_the_same_importance():
    X, y = samples(100)
    frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(100)[::-1])
    pipe = make_pipeline(StandardScaler(), LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)).fit(
        frame, y
    )
    named = importance(pipe, frame, y, random_state=0)
    with pytest.warns(UserWarning, match="feature names"):
        unnamed = importance(pipe, X, y, random_state=0)
    assert named.names == list("abc")
    np.testing.assert_allclose(named.increase, unnamed.increase)


def test_other_frames_and_lists_are_inputs_too():
    X, y = samples(40)
    plain = importance(Truth(), X, y, "mean", random_state=0)
    frame = pl.DataFrame(dict(zip("abc", X.T, strict=True)))
    for inputs in (frame, X.tolist()):
        found = importance(Truth(), inputs, y, "mean", random_state=0)
        np.testing.assert_allclose(found.increase, plain.increase)
    with pytest.raises(ValueError, match="two axes"):
        importance(Truth(), X[:, 0], y)


def fitted(**options):
    X, y = samples(120)
    quick = {"n_starts": 1, "max_iter": 4, "random_state": 0}
    return LSCE(**({"n_components": 2} | quick | options)).fit(X * [1, 4, 9], y), X * [1, 4, 9], y


def test_a_moved_direction_leaves_the_others_where_they_are():
    model, X, _ = fitted()
    source = PermutedDirections.of(model, X)
    order = np.random.default_rng(0).permutation(len(X))
    Z, moves = model.transform(X), (source.Z[order] - source.Z) @ np.diag([1.0, 0.0]) @ source.lift
    moved = model.transform(X + moves)
    np.testing.assert_allclose(moved[:, 0], Z[order, 0], atol=1e-10)
    np.testing.assert_allclose(moved[:, 1], Z[:, 1], atol=1e-10)
    expected = model.predict(X + moves)
    np.testing.assert_allclose(source.variants()["z1"](order).mean(), expected, rtol=1e-9)
    rest = model.transform(X[order] + (source.Z - source.Z[order]) @ source.lift)
    np.testing.assert_allclose(rest, Z, atol=1e-10)


def test_the_lift_of_standardised_directions_is_their_transpose():
    model, X, _ = fitted()
    lift = lift_of(model.transform, X)
    np.testing.assert_allclose(lift, model.components_ * X.std(axis=0), rtol=1e-8)


def test_what_a_model_of_directions_alone_does_not_use_is_unimportant():
    model, X, y = fitted(location="none", n_members=1, n_components=1)
    found = importance(model, X, y, directions=True, random_state=0)
    assert found.names == ["z", REST]
    assert found.increase[0] > 1.0
    assert abs(found.increase[1]) < 1e-10


def test_what_other_locations_use_is_not_in_the_directions():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + np.abs(X[:, 2]) + 0.1 * rng.standard_normal(150)
    model = LSCE(1, location="none", n_starts=2, max_iter=5, random_state=0).fit(X, y)
    several = LSCE(location="smooth", n_starts=2, max_iter=5, random_state=0).fit(X, y)
    assert len(several.components_) == 3  # they span all inputs: nothing is left
    assert REST not in importance(several, X, y, directions=True, n_repeats=1).names
    assert REST in importance(model, X, y, directions=True, n_repeats=1).names


def test_reduced_inputs_are_permuted_themselves():
    X, y = samples(200)
    model = Reduced(SIR(2), LSCDE(bandwidth=0.5, penalty=0.1, random_state=0), random_state=0).fit(
        X, y
    )
    found = importance(model, X, y, "mean", directions=True, n_repeats=1, random_state=5)
    order = np.random.default_rng(5).permutation(200)
    Z = model.transform(X)
    moved = np.column_stack([Z[order, 0], Z[:, 1]])
    change = (y - model.predict_dist_reduced(moved).mean()) ** 2 - (y - model.predict(X)) ** 2
    assert found.names == ["z1", "z2"]
    assert found.increase[0] == pytest.approx(change.mean())


def test_a_property_of_one_of_several_outputs():
    X, y = samples(100)
    model = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(X, np.column_stack([X[:, 2], y]))
    Y = np.column_stack([X[:, 2], y])
    assert importance(model, X, Y, "mean", output=0, random_state=0).ranking()[0] == "x3"
    assert importance(model, X, Y, "mean", output=1, random_state=0).ranking()[0] == "x1"
    assert importance(model, X, Y, random_state=0).increase.shape == (3,)
    with pytest.raises(ValueError, match="output=0"):
        importance(model, X, Y, "mean")


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"groups": {"a": ["z"]}}, ValueError, "'z', which X does not have"),
        ({"groups": {"a": [3]}}, ValueError, "numbers from 0 to 2"),
        ({"groups": {"a": [0]}, "directions": True}, ValueError, "groups belong to inputs"),
        ({"directions": True}, TypeError, "has no directions"),
        ({"n_repeats": 0}, ValueError, "n_repeats"),
        ({"of": ("above", np.inf)}, ValueError, "threshold"),
    ],
)
def test_what_cannot_be_answered_is_refused(options, kind, message):
    X, y = samples(20)
    with pytest.raises(kind, match=message):
        importance(Truth(), X, y, **options)
