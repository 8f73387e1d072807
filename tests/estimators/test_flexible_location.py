"""LSCE with locations that depend on all inputs."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from condensity import LSCE
from condensity.lsce import fit as ensemble
from condensity.lsce import stacking
from condensity.lsce.full_data import refit_location
from condensity.metrics import subspace_error

DX = 3
FLEXIBLE = ("smooth", "trees", "flexible")


def curved(n, dy=1, seed=0, dx=DX):
    """Outputs that no plane describes, and that depend on three inputs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dx))
    first = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)
    second = np.cos(X[:, 1]) + 0.3 * rng.standard_normal(n)
    return (X, first) if dy == 1 else (X, np.column_stack([first, second]))


def quick(n_components="auto", **options):
    """Few starts and centres."""
    options = {"n_starts": 4, "n_centers": 40, "max_iter": 15, "random_state": 0} | options
    return LSCE(n_components, **options)


def masses(dist, dy):
    """The integrals of the densities, by the trapezoidal rule."""
    axis = np.linspace(-15, 15, 601)
    grid = axis if dy == 1 else np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return dist.pdf_on(grid).sum(axis=1) * (axis[1] - axis[0]) ** dy


@pytest.mark.parametrize("location", FLEXIBLE)
@pytest.mark.parametrize("dy", [1, 2])
@pytest.mark.parametrize("n_components", ["auto", 2])
def test_every_flexible_location_gives_a_density(location, dy, n_components):
    X, Y = curved(60, dy)
    model = quick(n_components, location=location).fit(X, Y)
    np.testing.assert_allclose(masses(model.predict_dist(X[:2]), dy), 1.0, rtol=1e-3)
    assert model.location_ == location
    assert set(model.cv_results_["param_location"]) == {location}
    # Such a density depends on all inputs, so all directions are reported.
    assert model.components_.shape == (DX, DX)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(DX), atol=1e-10)
    assert model.n_components_ == DX
    assert model.subspace_agreement_.shape == (DX,)
    assert model.transform(X).shape == (60, DX)
    tried = model.cv_results_["param_n_components"]
    # The value of the location is one of the inputs of the density.
    assert tried.max() == (DX + 1 if n_components == "auto" else 2)


def test_a_single_component_is_the_value_of_the_location():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, DX))
    # The spread follows the mean, so the density depends on the value of the location.
    y = 3 * X[:, 0] + np.exp(1.5 * X[:, 0]) * rng.standard_normal(120)
    model = quick(1, location="smooth").fit(X, y)
    assert model.components_.shape == (DX, DX)
    np.testing.assert_array_equal(model.subspace_agreement_, np.zeros(DX))
    *_, (_, part) = model._density.parts  # the first one may have no components
    for member in part.members:
        np.testing.assert_allclose(np.abs(member.W), [[0, 0, 0, 1]], atol=1e-12)


def test_directions_are_those_of_a_density_that_depends_on_x_through_directions():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(150)
    model = quick(n_starts=10).fit(X, y)
    table = model.cv_results_
    assert set(table["param_location"]) == {"none", "linear", "reduced", "flexible"}
    assert table["weight"][table["param_location"] == "flexible"].sum() > 0
    strict = table["param_location"] != "flexible"
    assert model.n_components_ in table["param_n_components"][strict]
    assert model.n_components_ < 4
    # The only direction that matters is among them.
    assert np.linalg.norm(model.components_[:, 0]) > 0.97


@pytest.mark.parametrize("options", [{"n_components": 2}, {"n_members": 1}])
def test_reduction_is_strict_if_it_was_asked_for(options):
    X, y = curved(60)
    model = quick(**options).fit(X, y)
    assert set(model.cv_results_["param_location"]) == {"none", "linear", "reduced"}


def test_the_density_of_a_single_model_depends_on_x_through_z_alone():
    X, y = curved(80)
    model = quick(2, n_members=1).fit(X, y)
    W = model.components_
    assert W.shape == (2, DX)
    across = np.linalg.svd(W)[2][2] * X.std(axis=0)  # moves x, but not z
    moved = X + np.outer(np.linspace(-3, 3, 80), across)
    np.testing.assert_allclose(model.transform(moved), model.transform(X), atol=1e-10)
    np.testing.assert_allclose(
        model.predict_dist(moved).pdf(y), model.predict_dist(X).pdf(y), rtol=1e-7
    )


@pytest.mark.parametrize("location", FLEXIBLE)
def test_the_fit_does_not_depend_on_workers_or_on_the_order_of_rows(location):
    X, y = curved(50)
    rows = np.random.default_rng(1).permutation(50)
    plain = quick(2, location=location).fit(X, y)
    exact = plain.predict_dist(X).pdf(y)
    np.testing.assert_array_equal(
        quick(2, location=location, n_jobs=2).fit(X, y).predict_dist(X).pdf(y), exact
    )
    shuffled = quick(2, location=location).fit(X[rows], y[rows])
    np.testing.assert_array_equal(shuffled.predict_dist(X).pdf(y), exact)


@pytest.mark.parametrize("location", FLEXIBLE)
def test_integer_weights_are_repeated_samples(location):
    X, y = curved(50)
    weight = np.random.default_rng(2).integers(0, 4, 50)
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(50), weight))
    model = quick(2, location=location)
    weighted = model.fit(X, y, sample_weight=weight).predict_dist(X).pdf(y)
    repeated = model.fit(X[rows], y[rows]).predict_dist(X).pdf(y)
    np.testing.assert_array_equal(weighted, repeated)


def test_a_curved_mean_is_described_better_than_by_a_plane():
    X, y = curved(150)
    new = curved(1000, seed=1)
    linear = quick(location="linear", n_centers="auto").fit(X, y).score(*new)
    for location in ("auto", "flexible"):
        found = quick(location=location, n_centers="auto").fit(X, y).score(*new)
        assert found > 1.2 * linear


def test_all_samples_but_a_few_may_be_used_for_model_selection():
    # Most chunks of samples then have none that remain for the final fit.
    X, y = curved(1100)
    options = {"n_members": 1, "bandwidth": 0.5, "penalty": 0.1, "n_centers": 20, "max_iter": 3}
    model = quick(2, location="trees", subsample=1099, **options).fit(X, y)
    everything = quick(2, location="trees", subsample=None, **options).fit(X, y)
    assert model.score(X, y) == pytest.approx(everything.score(X, y), rel=0.2)


def test_directions_without_weight_in_the_average_are_learned_from_all_samples(monkeypatch):
    refitted = []

    def only_flexible(evaluations, optimism):
        names = [e.crossfit.location for e in evaluations]
        weights = np.array([name == "flexible" for name in names]) / names.count("flexible")
        return weights, -1.0

    def recorded(view, *args):
        refitted.append(view.location.shrinkage is not None)
        return refit_location(view, *args)

    monkeypatch.setattr(stacking, "stack", only_flexible)
    monkeypatch.setattr(ensemble, "refit_location", recorded)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, DX))
    y = X @ [1.0, 1.0, 0.0] + 2 * rng.standard_normal(1500)
    model = quick(subsample=100).fit(X, y)  # the other samples are drawn in addition
    assert model.location_ == "flexible"
    assert model.n_components_ == 1
    assert refitted  # also the view whose direction is shown
    truth = np.array([[0.5**0.5, 0.5**0.5, 0.0]])
    assert subspace_error(model.components_, truth) < 0.2


@pytest.mark.filterwarnings("ignore:X does not vary")
@pytest.mark.parametrize("location", FLEXIBLE)
def test_an_input_that_does_not_vary_plays_no_part(location):
    X, y = curved(50)
    X[:, 1] = 3.0
    model = quick(location=location).fit(X, y)
    np.testing.assert_allclose(model.components_[:, 1], 0.0, atol=1e-12)
    assert model.components_.shape == (2, DX)
    moved = X + 5.0 * np.eye(DX)[1]
    np.testing.assert_allclose(
        model.predict_dist(moved).pdf(y), model.predict_dist(X).pdf(y), rtol=1e-10
    )


@pytest.mark.parametrize("location", FLEXIBLE)
def test_far_from_all_samples_the_density_stays_finite(location):
    X, y = curved(50)
    model = quick(2, location=location).fit(X, y)
    far = 1e6 * np.array([[1.0, -1.0, 1.0]])
    assert np.isfinite(model.predict(far)).all()
    assert np.isfinite(model.predict_dist(far).pdf(model.predict(far))).all()


@pytest.mark.parametrize("location", FLEXIBLE)
def test_samples_of_a_group_are_left_out_together(location):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(15), 4)
    X = np.repeat(rng.standard_normal((15, DX)), 4, axis=0) + 1e-3 * rng.standard_normal((60, DX))
    y = np.repeat(rng.standard_normal(15), 4) + 0.1 * rng.standard_normal(60)
    folds = list(GroupKFold(5).split(X, y, groups))
    model = quick(2, location=location, cv=folds).fit(X, y)
    together = model.predict_dist(X).std()
    alone = quick(2, location=location).fit(X, y).predict_dist(X).std()
    # The other groups do not tell the mean of a group.  Samples of the same group do.
    assert np.median(together) > 2 * np.median(alone)
