"""Learning a subspace together with a location that is a function of z."""

import numpy as np

from condensity.data.sample import Sample
from condensity.locations.location import constant_location
from condensity.lsce.learning import learn_subspace, learn_with_location, noise_shape
from condensity.members.member import MemberView
from condensity.subspaces.grassmann import projector_gap


def view_of(X, Y, labels=None):
    sample = Sample(X, Y, np.full(len(X), 1 / len(X)))
    centers = np.arange(len(X))
    return MemberView.of(sample, np.zeros(len(X)), centers, constant_location, labels=labels)


def curved(seed, n=150, dx=5):
    """A mean that oscillates along the first two inputs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dx))
    mean = np.cos(2 * X[:, 0]) + np.sin(2 * X[:, 1])
    return X, (mean + 0.1 * rng.standard_normal(n))[:, None]


def test_a_curved_mean_is_followed_more_closely():
    errors = []
    for seed in range(3):
        view = view_of(*curved(seed))
        truth = np.eye(5)[:2]
        near = np.linalg.qr((truth + 0.3 * np.eye(5)[2:4]).T)[0].T
        alone = learn_subspace(50, (view, [near])).W
        joint = learn_with_location(50, (view, near)).W
        errors.append([projector_gap(W, truth) for W in (alone, joint)])
    alone, joint = np.mean(errors, axis=0)
    assert joint < 0.6 * alone


def test_directions_of_the_spread_are_kept():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    Y = (X[:, 0] + np.exp(X[:, 1]) * rng.standard_normal(300))[:, None]
    truth = np.eye(4)[:2]
    view = view_of(X, Y)
    assert projector_gap(learn_with_location(50, (view, truth)).W, truth) < 0.35


def test_the_whole_space_needs_no_search():
    X, Y = curved(0, dx=2)
    end = learn_with_location(50, (view_of(X, Y), np.eye(2)))
    np.testing.assert_array_equal(end.W, np.eye(2))


def test_the_shape_of_the_noise_follows_the_spread():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (400, 3))
    Y = (np.sin(X[:, 0]) + np.exp(0.7 * X[:, 0]) * rng.standard_normal(400))[:, None]
    view = view_of(X, Y)
    shape = noise_shape(view, np.eye(3)[:1], view.sample.Y)
    assert np.corrcoef(np.log(shape), X[:, 0])[0, 1] > 0.95
    # Small residuals are raised, so the slope is a little below the true one, 1.4.
    slope = np.polyfit(X[:, 0], np.log(shape), 1)[0]
    assert 0.9 < slope < 1.5
