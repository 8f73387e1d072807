"""Derivatives in closed form against extrapolated differences of the answers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from condensity import LSCDE, LSCE, SIR, Reduced
from condensity._utils import numerics
from condensity.fitting.gaussian_process import SmoothFunction
from condensity.fitting.trees import TreeSum
from condensity.inspection import moving_gaussians, slopes
from condensity.locations.extrapolation import LocationRange
from condensity.locations.location import Constant, Plane, ReducedFunction

PROPERTIES = ["mean", "spread", ("quantile", 0.9), ("quantile", 0.02), ("above", 1.2)]
QUICK = {"n_starts": 1, "max_iter": 4, "random_state": 0}


def samples(n=90):
    """A skewed positive output whose mean, spread and shape depend on three of four inputs."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4)) * [1.0, 5.0, 0.2, 1.0] + [0.0, 3.0, 0.0, -1.0]
    noise = (0.2 + 0.1 * (X[:, 2] > 0)) * rng.standard_normal(n)
    return X, np.exp(0.5 * X[:, 0] + 0.3 * np.sin(X[:, 1] / 5) + noise)


MODELS = {
    "LSCDE": LSCDE(random_state=0),
    "published": LSCE.as_published(1, random_state=0).set_params(n_starts=1),
    "linear": LSCE(2, location="linear", bounds=None, **QUICK),
    "reduced": LSCE(2, location="reduced", bounds=None, **QUICK),
    "smooth": LSCE(location="smooth", bounds=None, **QUICK),
    "lower bound": LSCE(2, location="linear", bounds=(0, None), **QUICK),
    "upper bound": LSCE(2, location="none", bounds=(None, 20), **QUICK),
    "one member": LSCE(1, n_members=1, bounds=None, **QUICK),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param].fit(*samples())


def answer(dist, of):
    """A property, asked of the distribution itself."""
    name, number = of if isinstance(of, tuple) else (of, None)
    if name == "above":
        return dist.prob(number, np.inf)
    return {"mean": dist.mean, "spread": dist.std, "quantile": lambda: dist.quantile(number)}[
        name
    ]()


def extrapolated(model, X, of, h=2e-3):
    """Central differences with an error of the order of h^4, in units of standard deviations."""
    out, sd = np.empty(X.shape), np.std(samples()[0], axis=0)
    for j in range(X.shape[1]):
        move = np.zeros(X.shape[1])
        move[j] = h * sd[j]
        f = {k: answer(model.predict_dist(X + k * move), of) for k in (-2, -1, 1, 2)}
        out[:, j] = (8 * (f[1] - f[-1]) - (f[2] - f[-2])) / (12 * h * sd[j])
    return out


@pytest.mark.parametrize("of", PROPERTIES, ids=str)
def test_closed_forms_are_limits_of_differences(model, of):
    X = np.vstack([samples()[0][:4], samples()[0][:1] * 3])
    found = slopes(model, X, of)
    assert found.method == "exact"
    expected = extrapolated(model, X, of)
    np.testing.assert_allclose(found.values, expected, rtol=1e-6, atol=1e-8 * abs(expected).max())


def test_widths_are_stretched_in_one_of_the_models():
    factors = [MODELS[name].fit(*samples()).stretch_ for name in ("linear", "reduced", "smooth")]
    assert np.any(np.array(factors) != 1.0)


def test_every_smooth_location_is_met():
    kinds = {
        type(part.location)
        for name in ("linear", "reduced", "smooth", "upper bound")
        for _, part in MODELS[name].fit(*samples())._density.parts
    }
    assert kinds >= {Constant, Plane, ReducedFunction, SmoothFunction}


def test_slopes_of_each_of_several_outputs_are_those_of_its_marginal():
    X, y = samples()
    Y = np.column_stack([y, X[:, 1] - y])
    model = LSCE(2, location="linear", n_members=1, **QUICK).fit(X, Y)
    for j in range(2):
        h = 1e-5
        step = np.array([h, 0, 0, 0])
        up, down = (model.predict_dist(X[:5] + s * step).marginal(j) for s in (1, -1))
        expected = (up.quantile(0.3) - down.quantile(0.3)) / (2 * h)
        found = slopes(model, X[:5], ("quantile", 0.3), output=j).values[:, 0]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def located(location, dy, n=150):
    """Samples with one or two outputs, and a model of them with this location."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    Y = np.column_stack([X[:, 0], X[:, 1] - 0.5 * X[:, 0]]) + 0.3 * rng.normal(size=(n, 2))
    n_components = dy if location == "linear" else 1
    options = QUICK | {"n_members": 1, "bandwidth": (0.6, 0.4), "penalty": 0.1}
    return X, LSCE(n_components, location=location, **options).fit(X, Y[:, :dy])


def check_limited_slopes(model, X, dy, limited):
    """Slopes of the mean against differences; ``limited`` rows or more are beyond the limits."""
    for _, part in model._density.parts:
        moved = part.frame.inputs(X)[1] != part.location(part.scaling.apply(X))
        assert moved.any(axis=1).sum() >= limited
    for j in range(dy):
        found = slopes(model, X, "mean", method="exact", output=j).values
        for i, step in enumerate(1e-5 * np.eye(2)):
            up, down = (model.predict(X + s * step).reshape(-1, dy)[:, j] for s in (1, -1))
            np.testing.assert_allclose(found[:, i], (up - down) / 2e-5, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("location", ["linear", "smooth"])
@pytest.mark.parametrize("dy", [1, 2])
def test_slopes_ten_standard_deviations_away_are_those_of_the_limited_location(location, dy):
    _, model = located(location, dy)
    far = np.array([[10.0, 0.0], [3.0, 10.0], [-10.0, 6.0], [0.5, -10.0]])
    check_limited_slopes(model, far, dy, 2)


@pytest.mark.parametrize("location", ["linear", "smooth", "reduced"])
@pytest.mark.parametrize("dy", [1, 2])
def test_slopes_follow_limits_where_the_weights_change_too(location, dy):
    """Limits that are narrower than the samples, so that many kernels have weight."""
    X, model = located(location, dy)
    parts = []
    for share, part in model._density.parts:
        values = part.location(part.scaling.apply(X))
        middle, half = values.mean(axis=0), 0.5 * values.std(axis=0)
        limits = LocationRange(middle, 0.9 * half, 1.2 * half)
        parts.append((share, replace(part, limits=limits)))
    model._density = replace(model._density, parts=parts)
    check_limited_slopes(model, X[:20], dy, 8)


def test_blocks_of_rows_do_not_change_the_slopes(model, monkeypatch):
    X = samples()[0][:7]
    whole = slopes(model, X, "spread").values
    monkeypatch.setattr(numerics, "BLOCK", 1)
    found = slopes(model, X, "spread").values
    np.testing.assert_allclose(found, whole, atol=1e-11 * abs(whole).max())  # rounding errors


def test_a_constant_input_has_no_slope():
    X, y = samples()
    X[:, 1] = 3.0
    with pytest.warns(UserWarning, match="does not vary"):
        model = LSCE(1, location="linear", bounds=None, **QUICK).fit(X, y)
    assert (slopes(model, X[:3], "mean").values[:, 1] == 0).all()


def test_slopes_beyond_a_bound_are_zero():
    model = MODELS["lower bound"].fit(*samples())
    found = slopes(model, samples()[0][:3], ("above", -1.0)).values
    np.testing.assert_allclose(found, 0.0, atol=1e-14)


def with_trees():
    return LSCE(location="trees", bounds=None, **QUICK).fit(*samples())


def test_trees_have_no_closed_form_and_their_steps_are_in_the_differences():
    model = with_trees()
    assert any(isinstance(part.location, TreeSum) for _, part in model._density.parts)
    X = samples()[0]
    with pytest.raises(ValueError, match=r"boosted trees.*method='difference'"):
        slopes(model, X, method="exact")
    found = slopes(model, X)
    assert found.method == "difference"
    h = 0.25 * X[:, 0].std()
    step = np.array([h, 0, 0, 0])
    expected = (model.predict(X + step) - model.predict(X - step)) / (2 * h)
    np.testing.assert_allclose(found.values[:, 0], expected, rtol=1e-10)


def test_a_regressor_of_another_library_has_no_closed_form():
    model = LSCE(location=LinearRegression(), bounds=None, **QUICK).fit(*samples())
    with pytest.raises(ValueError, match="FittedRegressor"):
        slopes(model, samples()[0], method="exact")


def test_moments_with_two_bounds_are_differences_and_probabilities_exact():
    X, y = samples()
    model = LSCE(1, location="linear", bounds=(0, 30), **QUICK).fit(X, y)
    assert slopes(model, X[:3], "mean", step=1e-3).method == "difference"
    found = slopes(model, X[:3], ("above", 2.0))
    assert found.method == "exact"
    expected = extrapolated(model, X[:3], ("above", 2.0))
    np.testing.assert_allclose(found.values, expected, rtol=1e-6, atol=1e-9)


def test_pipelines_have_slopes_per_unit_of_their_own_inputs():
    X, y = samples()
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipe = make_pipeline(StandardScaler(), LSCDE(random_state=0)).fit(frame, y)
    found = slopes(pipe, frame[:5], "mean", step=1e-4 * X.std(axis=0))
    assert found.names == list("abcd")
    inner = slopes(pipe[-1], pipe[:-1].transform(frame[:5]), "mean")
    np.testing.assert_allclose(found.values, inner.values / X.std(axis=0), rtol=1e-5, atol=1e-8)


def test_two_steps_have_differences():
    X, y = samples()
    model = Reduced(SIR(), LSCDE(random_state=0), random_state=0).fit(X, y)
    assert slopes(model, X, "mean").method == "difference"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"of": "density"}, "a curve"),
        ({"of": ("quantile", 1.0)}, "strictly between 0 and 1"),
        ({"of": "median"}, "must be 'density', 'mean'"),
        ({"method": "differences"}, "method"),
        ({"method": "difference", "step": 0.0}, "step must be > 0"),
    ],
)
def test_what_cannot_be_answered_is_refused(options, message):
    X, y = samples()
    model = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        slopes(model, X, **options)


def test_one_row_does_not_give_a_step():
    X, y = samples()
    model = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="pass step"):
        slopes(model, X[:1], method="difference")


def test_unknown_locations_are_refused_by_name():
    with pytest.raises(moving_gaussians.SteepLocationError, match="ndarray"):
        moving_gaussians.location_slope(np.zeros(2), np.zeros((1, 2)), np.ones((1, 1)))
