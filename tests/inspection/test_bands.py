"""Bands over members and bootstrap fits against loops over the fits."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from condensity import LSCDE, LSCE, SIR, EpsilonKDE
from condensity.datasets import toy_b
from condensity.inspection import bootstrap, member_band
from condensity.inspection.density_bands import members_of, quantiles_over_fits
from condensity.inspection.resampling import aligned

GRID = np.linspace(-2, 2, 9)


def samples(n=100):
    return toy_b().sample(n, random_state=0)


def fitted():
    X, y = samples()
    return LSCE(n_starts=1, max_iter=4, random_state=0).fit(X, y), X


def test_the_average_of_the_members_is_the_model():
    X, y = samples()
    model = LSCE(1, location="linear", n_starts=1, max_iter=4, random_state=0).fit(X, y)
    model._density = with_stretch(model._density, 1.0)  # a stretch depends on the mean of the whole
    expected = model.predict_dist(X[:4]).pdf_on(GRID)
    found = sum(w * member.at(X[:4]).pdf_on(GRID) for w, member in members_of(model._density))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)
    assert sum(w for w, _ in members_of(model._density)) == pytest.approx(1.0)


def with_stretch(density, factor):
    return replace(density, stretch=np.array([factor]))


def test_a_band_of_members_contains_the_share_that_it_says():
    model, X = fitted()
    band = member_band(model, X[:3], GRID, level=0.8)
    curves = np.array([member.at(X[:3]).pdf_on(GRID) for _, member in members_of(model._density)])
    shares = np.array([share for share, _ in members_of(model._density)])
    inside = (curves >= band.lower) & (curves <= band.upper)
    assert np.tensordot(shares, inside, axes=1).min() >= 0.8 - 1e-9
    np.testing.assert_allclose(band.pdf, model.predict_dist(X[:3]).pdf_on(GRID))
    assert band.source == "members"


def test_weighted_quantiles_are_those_of_repeated_curves():
    rng = np.random.default_rng(0)
    curves, counts = rng.standard_normal((6, 4)), np.array([1, 3, 2, 1, 1, 2])
    low, high = quantiles_over_fits(curves, counts / 10, 0.7)
    repeated = np.repeat(curves, counts, axis=0)
    np.testing.assert_array_equal([low, high], central(repeated, 0.15))


def central(answers, tail):
    """Ends of equal rank from both sides."""
    low, high = (np.quantile(s * answers, tail, axis=0, method="inverted_cdf") for s in (1, -1))
    return low, -high


def test_both_ends_of_a_band_have_the_same_rank_from_their_side():
    curves = np.random.default_rng(0).standard_normal((40, 5))
    low, high = quantiles_over_fits(curves, np.full(40, 1 / 40), 0.9)
    np.testing.assert_array_equal([low, high], np.sort(curves, axis=0)[[1, -2]])
    ends = quantiles_over_fits(curves, np.full(40, 1 / 40), 1 - 1e-13)
    np.testing.assert_array_equal(ends, [curves.min(axis=0), curves.max(axis=0)])


def test_a_band_of_members_needs_members():
    X, y = samples()
    with pytest.raises(TypeError, match="use bootstrap"):
        member_band(LSCDE(random_state=0).fit(X, y), X[:1], GRID)


def test_bootstrap_fits_are_fits_to_repeated_samples():
    X, y = samples()
    model = LSCDE(bandwidth=0.4, penalty=0.01, random_state=0).fit(X, y)
    fits = bootstrap(model, X, y, n_resamples=3, random_state=5)
    rng = np.random.default_rng(5)
    for fit in fits.models:
        rows = rng.integers(len(X), size=len(X))
        again = LSCDE(bandwidth=0.4, penalty=0.01, random_state=0).fit(X[rows], y[rows])
        np.testing.assert_allclose(fit.predict(X), again.predict(X), rtol=1e-9)


def test_estimators_without_weights_get_repeated_rows():
    X, y = samples()
    pipe = make_pipeline(StandardScaler(), EpsilonKDE(1.0, 0.4, random_state=0)).fit(X, y)
    fits = bootstrap(pipe, X, y, n_resamples=2, random_state=5)
    rows = np.sort(np.random.default_rng(5).integers(len(X), size=len(X)))
    np.testing.assert_allclose(fits.models[0][0].mean_, X[rows].mean(axis=0))


def test_groups_are_drawn_whole():
    X, y = samples()
    groups = np.repeat(np.arange(20), 5)
    model = make_pipeline(StandardScaler(), EpsilonKDE(1.0, 0.4, random_state=0)).fit(X, y)
    fit = bootstrap(model, X, y, n_resamples=2, groups=groups, random_state=0).models[0]
    counts = np.bincount(np.random.default_rng(0).integers(20, size=20), minlength=20)
    np.testing.assert_allclose(fit[0].mean_, counts[groups] @ X / counts[groups].sum())


def test_bands_and_intervals_are_percentiles_of_the_fits():
    X, y = samples()
    model = LSCDE(bandwidth=0.4, penalty=0.01, random_state=0).fit(X, y)
    fits = bootstrap(model, X, y, n_resamples=20, random_state=0)
    band = fits.density_band(X[:2], GRID, level=0.8)
    curves = np.array([fit.predict_dist(X[:2]).pdf_on(GRID) for fit in fits.models])
    tails = central(curves, 0.1)
    np.testing.assert_allclose([band.lower, band.upper], tails)
    assert (band.level, band.source) == (0.8, "bootstrap")
    low, high = fits.intervals(X[:2], ("quantile", 0.9), level=0.8)
    answers = [fit.predict_dist(X[:2]).quantile(0.9) for fit in fits.models]
    tails = central(np.array(answers), 0.1)
    np.testing.assert_allclose([low, high], tails)


def test_the_number_of_workers_does_not_matter():
    X, y = samples()
    model = LSCDE(bandwidth=0.4, penalty=0.01, random_state=0).fit(X, y)
    one, two = (bootstrap(model, X, y, n_resamples=3, random_state=0, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.intervals(X), two.intervals(X))


def test_aligned_directions_are_as_close_as_any_rotation():
    rng = np.random.default_rng(0)
    W = np.linalg.qr(rng.standard_normal((5, 2)))[0].T
    target = np.linalg.qr(rng.standard_normal((5, 2)))[0].T
    best = np.linalg.norm(aligned(W, target) - target)
    for angle in np.linspace(0, 2 * np.pi, 721):
        for flip in (1.0, -1.0):
            c, s = np.cos(angle), np.sin(angle)
            rotation = np.array([[c, -s], [flip * s, flip * c]])
            assert np.linalg.norm(rotation @ W - target) >= best - 1e-9
    np.testing.assert_allclose(aligned(-W, W), W, atol=1e-12)


def test_loadings_of_a_known_direction_lie_in_their_intervals():
    X, y = samples(300)
    model = SIR().fit(X, y)
    low, high = bootstrap(model, X, y, n_resamples=60, random_state=0).loading_intervals(0.95)
    assert low.shape == high.shape == (1, 5)
    truth = np.sign(model.components_[0, 1]) * np.array([0, 1.0, 0, 0, 0])
    assert np.all((low[0] <= truth + 1e-2) & (high[0] >= truth - 1e-2))
    assert low[0, 1] > 0 or high[0, 1] < 0


def test_density_is_not_a_property_with_an_interval():
    X, y = samples()
    model = LSCDE(bandwidth=0.4, penalty=0.01, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="a curve"):
        bootstrap(model, X, y, n_resamples=2, random_state=0).intervals(X, "density")
