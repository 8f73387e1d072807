"""What every distribution promises, whatever class it has and whichever estimator made it.

The oracles are quadrature of ``pdf_on``, draws, and the definitions; no law uses the code that it
checks.
"""

import copy
import inspect
import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest

from condensity import LSCDE, LSCE, SIR, EpsilonKDE, Reduced
from condensity.distributions import (
    BoundedMixture,
    Bounds,
    ChunkedDistribution,
    ConcatenatedDistribution,
    Distribution,
    LazyDistribution,
    Mixture,
    concatenate_rows,
    mixture_of,
)
from condensity.distributions import chunked as chunked_module
from condensity.targets import MixedDistribution, rounded
from mixtures import random_mixture

M = 3
FIXED = {"bandwidth": (0.6, 0.4), "penalty": 0.05, "random_state": 0}


def bounds(*pairs):
    return Bounds(*(np.array(ends, dtype=float) for ends in zip(*pairs, strict=True)))


def samples(dy):
    """Positive outputs, so that every estimator can be fitted with and without bounds."""
    rng = np.random.default_rng(dy)
    X = rng.standard_normal((60, 2))
    Y = np.exp(0.5 * X[:, :1] + 0.3 * rng.standard_normal((60, dy)))
    return X, Y[:, 0] if dy == 1 else Y


class Model:
    """Densities of rows by their number: what a lazy distribution needs of an estimator."""

    def __init__(self, dist):
        self.dist = dist

    def predict_dist(self, X):
        assert len(X), "estimators refuse inputs without rows"
        return self.dist[np.asarray(X)[:, 0].astype(int)]


def lazy(dist):
    da = pytest.importorskip("dask.array", reason="dask comes with condensity[dask]")
    rows = da.from_array(np.arange(M, dtype=float)[:, None], chunks=(2, 1))
    return LazyDistribution(Model(dist), rows, dist.n_outputs)


def lazy_frame():
    """Densities for a Dask data frame that has a chunk without rows."""
    dd = pytest.importorskip("dask.dataframe", reason="dask comes with condensity[dask]")
    dist = random_mixture(0)
    frame = pd.DataFrame({"row": np.arange(-2.0, M)})
    parts = dd.from_pandas(frame, npartitions=3)
    return LazyDistribution(Model(dist), parts[parts["row"] >= 0], 1)


def chunked(dist):
    rows = np.arange(M)
    return ChunkedDistribution(rows, lambda own: dist[own], 10**5, dist.n_outputs)


def concatenated(first, second):
    """Rows 0 and 2 of one distribution, and row 1 of another one."""
    return concatenate_rows([first[[2, 0]], second[[1]]], [[2, 0], [1]])


def answer(estimator, dy=1):
    X, y = samples(dy)
    return estimator.fit(X, y).predict_dist(X[:M])


def narrow(free):
    """Densities whose exponentials have no tail that quadrature would miss."""
    return free.stretch(np.full(free.n_outputs, 0.3))


def positive():
    return BoundedMixture(narrow(random_mixture(1)), bounds((0, np.inf)))


def pair():
    return random_mixture(3, dy=2, frames=((False, False), (True, False)))


def bounded_pair():
    free = narrow(random_mixture(4, dy=2, frames=((False, False),)))
    return BoundedMixture(free, bounds((0, np.inf), (-np.inf, np.inf)))


def with_atoms(beside, *atoms):
    masses = np.random.default_rng(9).dirichlet(np.ones(len(atoms) + 1), M)[:, :-1]
    masses[0, 0] = 0.0  # in one row, an atom has no probability
    return MixedDistribution(atoms, masses, beside)


CASES = {
    "mixture": lambda: random_mixture(0),
    "mixture, one block": lambda: random_mixture(5, frames=((True, False),)),
    "bounded below": positive,
    "bounded above": lambda: BoundedMixture(narrow(random_mixture(2)), bounds((-np.inf, 2))),
    "bounded twice": lambda: BoundedMixture(random_mixture(2), bounds((-1, 3))),
    "chunked": lambda: chunked(random_mixture(0)),
    "chunked, bounded": lambda: chunked(positive()),
    "lazy": lambda: lazy(random_mixture(0)),
    "lazy, bounded": lambda: lazy(positive()),
    "two outputs": pair,
    "two outputs, bounded": bounded_pair,
    "two outputs, chunked": lambda: chunked(pair()),
    "two outputs, lazy": lambda: lazy(pair()),
    "two of three outputs, lazy": lambda: lazy(random_mixture(6, dy=3)).marginal([2, 0]),
    "frame with an empty chunk": lambda: lazy_frame(),
    "concatenated": lambda: concatenated(
        random_mixture(0), random_mixture(5, frames=((True, False),))
    ),
    "concatenated, bounded": lambda: concatenated(
        positive(), BoundedMixture(narrow(random_mixture(2)), bounds((0, np.inf)))
    ),
    "concatenated, chunked": lambda: concatenated(chunked(random_mixture(0)), random_mixture(5)),
    "two outputs, concatenated": lambda: concatenated(pair(), random_mixture(7, dy=2)),
    "two outputs, concatenated, bounded": lambda: concatenated(bounded_pair(), bounded_pair()),
    "LSCE": lambda: answer(LSCE(1, n_starts=1, max_iter=5, random_state=0)),
    "LSCE, bounds": lambda: answer(
        LSCE(1, n_starts=1, n_members=1, max_iter=5, bounds=(0, None), random_state=0)
    ),
    "LSCE, two outputs": lambda: answer(LSCE(1, location="none", n_members=1, **FIXED), dy=2),
    "published": lambda: answer(LSCE.as_published(1, random_state=0).set_params(n_starts=1)),
    "LSCDE": lambda: answer(LSCDE(**FIXED)),
    "LSCDE, two outputs": lambda: answer(LSCDE(**FIXED), dy=2),
    "EpsilonKDE": lambda: answer(EpsilonKDE(1.0, 0.4, random_state=0)),
    "Reduced": lambda: answer(Reduced(SIR(), LSCDE(**FIXED), random_state=0)),
    "atoms": lambda: with_atoms(random_mixture(0), -1.0, 0.5),
    "atoms, bounded below": lambda: with_atoms(positive(), 0.0, 1.0),
    "atoms, bounded above": lambda: with_atoms(
        BoundedMixture(narrow(random_mixture(2)), bounds((-np.inf, 2))), 0.0, 2.0
    ),
    "atoms, chunked": lambda: chunked(with_atoms(random_mixture(0), -1.0, 0.5)),
    "atoms, lazy": lambda: lazy(with_atoms(random_mixture(0), 0.0)),
    "atoms, concatenated": lambda: concatenated(
        with_atoms(random_mixture(0), -1.0, 0.5), with_atoms(random_mixture(5), -1.0, 0.5)
    ),
    "atoms alone": lambda: rounded(random_mixture(0), np.arange(-3.0, 4.0)),
}
MIXED = [name for name in CASES if "atoms" in name]
ONE = [name for name in CASES if ("two" not in name or "twice" in name) and name not in MIXED]
TWO = [name for name in CASES if name not in ONE + MIXED]


@cache
def dist_of(name):
    return CASES[name]()


@pytest.fixture(params=CASES)
def dist(request):
    return dist_of(request.param)


@pytest.fixture(params=ONE + TWO)
def smooth(request):
    """Densities without atoms."""
    return dist_of(request.param)


@pytest.fixture(params=ONE)
def one(request):
    """Densities of one output."""
    return dist_of(request.param)


@pytest.fixture(params=MIXED)
def mixed(request):
    """Distributions with atoms."""
    return dist_of(request.param)


@pytest.fixture(params=ONE + MIXED)
def any_one(request):
    """Distributions of one output, with or without atoms."""
    return dist_of(request.param)


@pytest.fixture(params=TWO)
def two(request):
    """Densities of two outputs."""
    return dist_of(request.param)


@pytest.fixture(autouse=True)
def chunks_of_two_rows(monkeypatch):
    monkeypatch.setattr(chunked_module, "CHUNK", 2 * 10**5)


def value(answer):
    """An answer in memory: a lazy distribution answers with Dask arrays."""
    return answer.compute() if hasattr(answer, "compute") else answer


def at_each(f, y):
    """``f`` at one point for each row, in the form that a distribution takes."""
    if isinstance(f.__self__, LazyDistribution):
        y = in_chunks_of(f.__self__.X, np.asarray(y, dtype=float))
    return value(f(y))


def in_chunks_of(X, y):
    """Points as a Dask array in the chunks of the inputs."""
    import dask.array as da

    sizes = X.chunks[0] if hasattr(X, "chunks") else tuple(X.map_partitions(len).compute())
    return da.from_array(y, chunks=(sizes, *np.shape(y)[1:]))


def tails():
    small = np.logspace(-13, -1.2, 40)
    return np.concatenate([small, np.linspace(0.07, 0.93, 40), 1 - small[::-1]])


def rule(dist, i, *cuts):
    """Nodes and weights of a composite Gauss-Legendre rule over almost all of row i.

    Panels end at ``cuts``.  Quantiles say no more than where the panels are.
    """
    x, w = np.polynomial.legendre.leggauss(30)
    row = dist.compute()[i]
    beside = row.continuous if isinstance(row, MixedDistribution) else row
    if beside is None:
        return np.zeros(0), np.zeros(0)
    edges = np.unique([*value(beside.quantile(tails()))[0], *cuts])
    half = np.diff(edges) / 2
    nodes = edges[:-1, None] + half[:, None] * (1 + x)
    return nodes.ravel(), (half[:, None] * w).ravel()


def integral(dist, i, f):
    """``int f(y, p(y)) dy`` for row i, plus ``sum_k f(a_k, w_k)`` over its atoms."""
    y, w = rule(dist, i)
    atoms, masses = atoms_of(dist, i)
    return float(w @ f(y, value(dist.pdf_on(y))[i]) + np.sum(f(atoms, masses)))


def atoms_of(dist, i):
    """The atoms of row i and their probabilities."""
    row = dist.compute()[i]
    if not isinstance(row, MixedDistribution):
        return np.zeros(0), np.zeros(0)
    return row.atoms, row.masses[0]


def grid_of_two(dist, i, n=400):
    """A tensor grid over almost all of row i, and the weight of its nodes."""
    axes, steps = [], []
    for marginal in dist.compute()[i].marginals():
        low, high = marginal.quantile([1e-10, 1 - 1e-10])[0]
        axes.append(np.linspace(low, high, n))
        steps.append(axes[-1][1] - axes[-1][0])
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    return axes, points, float(np.prod(steps))


def some_points(dist):
    """A point for each row, amid its density: (m,) or (m, dy)."""
    return value(dist.mean()) + 0.3 * value(dist.std())


def test_it_is_a_distribution_of_so_many_rows_and_outputs(dist):
    assert isinstance(dist, Distribution)
    assert len(dist) == M
    assert dist.n_outputs in (1, 2)
    assert len(dist.marginals()) == dist.n_outputs


def test_no_question_is_left_unanswered():
    for kind in (
        Mixture,
        BoundedMixture,
        ChunkedDistribution,
        ConcatenatedDistribution,
        LazyDistribution,
        MixedDistribution,
    ):
        assert not inspect.isabstract(kind)


@pytest.mark.parametrize("written_once", ["std", "interval", "marginals", "frozen"])
def test_what_follows_from_other_answers_is_written_once(written_once):
    for kind in (
        Mixture,
        BoundedMixture,
        ChunkedDistribution,
        ConcatenatedDistribution,
        LazyDistribution,
    ):
        assert written_once not in vars(kind)


def test_shapes_and_dtypes(dist):
    dy = dist.n_outputs
    outputs, y = (() if dy == 1 else (dy,)), some_points(dist)
    shapes = {
        "pdf": (at_each(dist.pdf, y), (M,)),
        "log_pdf": (at_each(dist.log_pdf, y), (M,)),
        "pdf_on": (value(dist.pdf_on(y[:2])), (M, 2)),
        "squared_norm": (value(dist.squared_norm()), (M,)),
        "entropy": (value(dist.entropy(n_draws=10, random_state=0)), (M,)),
        "hpd_level": (at_each(dist.hpd_level, y), (M,)),
        "mean": (value(dist.mean()), (M, *outputs)),
        "var": (value(dist.var()), (M, *outputs)),
        "std": (value(dist.std()), (M, *outputs)),
        "cov": (value(dist.cov()), (M, dy, dy)),
        "sample": (value(dist.sample(4, random_state=0)), (M, 4, *outputs)),
    }
    for name, (found, shape) in shapes.items():
        assert (name, found.shape, found.dtype) == (name, shape, np.dtype(float))
    assert len(dist.modes()) == M
    assert all(peaks.shape[1:] == outputs for peaks in dist.modes())


def test_shapes_for_one_output(any_one):
    y = some_points(any_one)
    assert at_each(any_one.cdf, y).shape == at_each(any_one.crps, y).shape == (M,)
    assert value(any_one.prob(0.0, 1.0)).shape == value(any_one.quantile(0.5)).shape == (M,)
    assert value(any_one.quantile([0.1, 0.2])).shape == value(any_one.interval(0.9)).shape == (M, 2)
    assert all(region.ndim == 2 and region.shape[1] == 2 for region in any_one.hdr(0.5))


def test_shapes_of_tails(one):
    y = some_points(one)
    assert value(one.partial_moment(0.0)).shape == value(one.expectile(0.5)).shape == (M,)
    assert value(one.expected_shortfall([0.1, 0.2])).shape == (M, 2)
    assert value(one.expectile([0.1, 0.2])).shape == (M, 2)
    assert at_each(lambda_of(one, "twcrps", threshold=0.0), y).shape == (M,)


def test_the_mass_is_one(any_one):
    for i in range(M):
        assert integral(any_one, i, lambda y, p: p) == pytest.approx(1.0, abs=1e-8)


def test_the_mass_of_two_outputs_is_one(two):
    _, points, step = grid_of_two(two, 0)
    assert value(two.pdf_on(points))[0].sum() * step == pytest.approx(1.0, abs=1e-5)


def test_the_density_at_a_point_is_that_on_a_grid(dist):
    y = some_points(dist)
    on_grid = np.diagonal(value(dist.pdf_on(y)))
    np.testing.assert_allclose(at_each(dist.pdf, y), on_grid, rtol=1e-10)
    np.testing.assert_allclose(np.exp(at_each(dist.log_pdf, y)), on_grid, rtol=1e-10)


def test_moments_are_integrals(any_one):
    for i in range(M):
        mean = integral(any_one, i, lambda y, p: y * p)
        assert value(any_one.mean())[i] == pytest.approx(mean, rel=1e-6, abs=1e-7)
        var = integral(any_one, i, lambda y, p, mean=mean: (y - mean) ** 2 * p)
        assert value(any_one.var())[i] == pytest.approx(var, rel=1e-4)
    np.testing.assert_allclose(value(any_one.cov())[:, 0, 0], value(any_one.var()), rtol=1e-7)


def test_standard_deviations_are_roots_of_variances(dist):
    np.testing.assert_allclose(value(dist.std()) ** 2, value(dist.var()), rtol=1e-12)


def test_covariances_are_integrals(two):
    _, points, step = grid_of_two(two, 0)
    mass = value(two.pdf_on(points))[0] * step
    mean = mass @ points
    np.testing.assert_allclose(value(two.mean())[0], mean, rtol=1e-4, atol=1e-5)
    expected = (points - mean).T @ ((points - mean) * mass[:, None])
    np.testing.assert_allclose(value(two.cov())[0], expected, rtol=2e-3, atol=1e-5)
    diagonal = np.diagonal(value(two.cov()), axis1=1, axis2=2)
    np.testing.assert_allclose(value(two.var()), diagonal, rtol=1e-7)


def test_moments_are_those_of_draws(dist):
    draws = value(dist.sample(20_000, random_state=0))
    error = 6 * value(dist.std()) / np.sqrt(20_000)
    assert np.all(np.abs(draws.mean(axis=1) - value(dist.mean())) < error)


def test_squared_norms_are_integrals(any_one):
    for i in range(M):
        assert value(any_one.squared_norm())[i] == pytest.approx(
            integral(any_one, i, lambda y, p: p**2), rel=1e-6
        )


def test_squared_norms_of_two_outputs_are_integrals(two):
    _, points, step = grid_of_two(two, 0)
    expected = np.sum(value(two.pdf_on(points))[0] ** 2) * step
    assert value(two.squared_norm())[0] == pytest.approx(expected, rel=1e-5)


def test_the_distribution_function_rises_and_quantiles_invert_it(one):
    levels = np.linspace(0.02, 0.98, 25)
    points = value(one.quantile(levels))
    assert (np.diff(points, axis=1) > 0).all()
    for j, level in enumerate(levels):
        np.testing.assert_allclose(at_each(one.cdf, points[:, j]), level, rtol=1e-9)


def test_probabilities_are_integrals(any_one):
    low, high = np.array([-0.4, 0.7]) * value(any_one.std())[1] + value(any_one.mean())[1]
    y, w = rule(any_one, 1, low, high)
    atoms, masses = atoms_of(any_one, 1)
    mass = np.append(w * value(any_one.pdf_on(y))[1], masses)
    y = np.append(y, atoms)
    below, between = mass[y <= high].sum(), mass[(y > low) & (y <= high)].sum()
    assert at_each(any_one.cdf, np.full(M, high))[1] == pytest.approx(below, abs=1e-8)
    assert value(any_one.prob(-np.inf, high))[1] == pytest.approx(below, abs=1e-8)
    assert value(any_one.prob(low, high))[1] == pytest.approx(between, abs=1e-8)
    assert value(any_one.prob(high, np.inf))[1] == pytest.approx(mass[y > high].sum(), abs=1e-8)


def test_an_interval_holds_its_level(one):
    ends = value(one.interval(0.8))
    below, above = (at_each(one.cdf, end) for end in ends.T)
    np.testing.assert_allclose(above - below, 0.8, rtol=1e-9)
    np.testing.assert_allclose(below, 0.1, rtol=1e-8)


def test_a_region_of_highest_density_holds_its_level_and_ends_at_one_height(one):
    for i, region in enumerate(one.hdr(0.7)):
        y, w = rule(one, i, *region.ravel())
        density = value(one.pdf_on(y))[i]
        inside = np.any([(low < y) & (y < high) for low, high in region], axis=0)
        assert w[inside] @ density[inside] == pytest.approx(0.7, abs=1e-8)
        heights = value(one.pdf_on(region.ravel()))[i]
        np.testing.assert_allclose(heights, heights[0], rtol=1e-6)
        assert density[inside].min() >= heights.max() * (1 - 1e-6)
        assert density[~inside].max() <= heights.min() * (1 + 1e-6)


def test_a_mode_is_higher_than_what_is_beside_it(smooth):
    for i, peaks in enumerate(smooth.modes()):
        row = smooth.compute()[i]
        step = 1e-4 * np.atleast_1d(row.std()[0])
        for peak in np.reshape(peaks, (len(peaks), -1)):
            beside = np.vstack([peak, peak + np.diag(step), peak - np.diag(step)])
            assert row.pdf_on(beside if smooth.n_outputs > 1 else beside[:, 0])[0].argmax() == 0


def test_the_score_is_that_of_draws(any_one):
    y, draws = some_points(any_one), value(any_one.sample(20_000, random_state=1))
    spread = np.abs(draws[:, ::2] - draws[:, 1::2]).mean(axis=1)
    expected = np.abs(draws - y[:, None]).mean(axis=1) - spread / 2
    np.testing.assert_allclose(
        at_each(any_one.crps, y), expected, atol=0.03 * value(any_one.std()).max()
    )


def a_threshold(one):
    """A number amid all densities, and not their mean."""
    return float(value(one.mean()).mean() + 0.2 * value(one.std()).mean())


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_partial_moments_are_integrals(one, order):
    t = a_threshold(one)
    found = {tail: value(one.partial_moment(t, order, tail)) for tail in ("lower", "upper")}
    for i in range(M):
        y, w = rule(one, i, t)
        mass = w * value(one.pdf_on(y))[i]
        above = mass[y > t] @ (y[y > t] - t) ** order
        below = mass[y < t] @ (t - y[y < t]) ** order
        assert found["upper"][i] == pytest.approx(above, rel=1e-6, abs=1e-9)
        assert found["lower"][i] == pytest.approx(below, rel=1e-6, abs=1e-9)


def test_a_threshold_far_away_leaves_one_tail(one):
    mean, far = value(one.mean()), 1e3
    np.testing.assert_allclose(value(one.partial_moment(far, 1, "lower")), far - mean, rtol=1e-9)
    np.testing.assert_allclose(value(one.partial_moment(-far)), far + mean, rtol=1e-9)
    for t, tail in ((far, "upper"), (-far, "lower")):
        np.testing.assert_allclose(value(one.partial_moment(t, 2, tail)), 0, atol=1e-12)


def test_a_shortfall_is_the_mean_beyond_a_quantile(one):
    q = 0.2
    lower, upper = (value(one.expected_shortfall(q, tail)) for tail in ("lower", "upper"))
    for i in range(M):
        end = float(value(one.compute()[i].quantile(q))[0])
        y, w = rule(one, i, end)
        mass = w * value(one.pdf_on(y))[i]
        assert lower[i] == pytest.approx(mass[y < end] @ y[y < end] / q, rel=1e-6)
        assert upper[i] == pytest.approx(mass[y > end] @ y[y > end] / (1 - q), rel=1e-6)
    both = value(one.expected_shortfall([0.01, q]))
    np.testing.assert_allclose(both[:, 1], lower, rtol=1e-12)
    assert (both[:, 0] < lower).all()


def test_an_expectile_balances_both_sides(one):
    q, found = 0.15, value(one.expectile(0.15))
    for i in range(M):
        y, w = rule(one, i, found[i])
        mass = w * value(one.pdf_on(y))[i] * (y - found[i])
        above, below = mass[y > found[i]].sum(), -mass[y < found[i]].sum()
        assert q * above == pytest.approx((1 - q) * below, rel=1e-6)
    means = value(one.expectile([0.15, 0.5]))
    np.testing.assert_allclose(means, np.column_stack([found, value(one.mean())]), rtol=1e-9)


@pytest.mark.parametrize("tail", ["lower", "upper"])
def test_a_threshold_weighted_score_is_an_integral_of_one_side(one, tail):
    points, t = some_points(one), a_threshold(one)
    found = at_each(lambda_of(one, "twcrps", threshold=t, tail=tail), points)
    for i in range(M):
        y, w = rule(one, i, t, points[i])
        F = value(one.compute()[np.full(len(y), i)].cdf(y))
        side = y > t if tail == "upper" else y < t
        expected = w[side] @ (F[side] - (y[side] > points[i])) ** 2
        assert found[i] == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_both_threshold_weighted_scores_are_the_score(one):
    y = some_points(one)
    for t in (a_threshold(one), 50.0, -50.0):
        asked = [lambda_of(one, "twcrps", threshold=t, tail=tail) for tail in ("lower", "upper")]
        both = [at_each(question, y) for question in asked]
        np.testing.assert_allclose(sum(both), at_each(one.crps, y), rtol=1e-7, atol=1e-8)


def test_entropies_are_integrals(one):
    for i in range(M):
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = integral(one, i, lambda y, p: np.where(p > 0, -p * np.log(p), 0.0))
        assert value(one.entropy())[i] == pytest.approx(expected, abs=1e-5)


def test_entropies_of_two_outputs_are_integrals(two):
    _, points, step = grid_of_two(two, 0)
    p = value(two.pdf_on(points))[0]
    expected = -step * np.sum(p * np.log(np.maximum(p, 1e-300)))
    found = value(two.entropy(n_draws=20_000, random_state=0))[0]
    assert found == pytest.approx(expected, abs=0.04)


def others(dist):
    """Densities in other rows: of the same kind, but different."""
    return (dist.compute() if isinstance(dist, LazyDistribution) else dist), dist.compute()[::-1]


def test_divergences_are_integrals(one):
    p, q = others(one)
    found = p.kl(q)
    for i in range(M):
        y, w = rule(one, i)
        logs = [d.compute()[np.full(len(y), i)].log_pdf(y) for d in (p, q)]
        assert found[i] == pytest.approx(
            w @ (np.exp(logs[0]) * (logs[0] - logs[1])), rel=1e-6, abs=1e-5
        )
    np.testing.assert_allclose(p.kl(p), 0, atol=1e-6)


def test_distances_are_integrals(one):
    p, q = others(one)
    found = p.l2_distance(q)
    for i in range(M):
        cuts = q[i].quantile(tails())[0]  # the panels follow both densities
        nodes, w = rule(one, i, *cuts)
        gap = p.compute().pdf_on(nodes)[i] - q.pdf_on(nodes)[i]
        assert found[i] ** 2 == pytest.approx(w @ gap**2, rel=1e-6, abs=1e-7)
    np.testing.assert_allclose(p.l2_distance(p), 0, atol=1e-6 * p.squared_norm().max() ** 0.5)


def test_divergences_and_distances_of_two_outputs_are_integrals(two):
    p, q = others(two)
    _, points, step = grid_of_two(two, 0)
    ours, theirs = p.compute().pdf_on(points)[0], q.pdf_on(points)[0]
    missed = 1 - step * theirs.sum()  # the grid follows p
    squares = step * np.sum((ours - theirs) ** 2)
    if missed < 1e-3:
        assert p.l2_distance(q)[0] ** 2 == pytest.approx(squares, rel=1e-2)
    ratio = np.log(np.maximum(ours, 1e-300) / np.maximum(theirs, 1e-300))
    found = p.kl(q, n_draws=20_000, random_state=0)[0]
    assert found == pytest.approx(step * np.sum(ours * ratio), rel=0.05)
    assert p.kl(q, n_draws=50, random_state=1)[1] == p.kl(q, n_draws=50, random_state=1)[1]


def test_lazy_densities_are_compared_in_memory(dist):
    if not isinstance(dist, LazyDistribution):
        pytest.skip("these densities are compared as they are")
    pairs = (lambda q: mixture_of([dist, q])), (lambda q: concatenate_rows([dist, q]))
    for question in (dist.kl, dist.l2_distance, *pairs):
        with pytest.raises(TypeError, match=r"compute\(\) them first"):
            question(dist.compute())


def test_conditional_densities_are_joint_over_marginal(two):
    given = value(two.mean())[:, 1].mean() + 0.1
    rest = two.condition(1, given)
    assert (len(rest), rest.n_outputs) == (M, 1)
    y = value(two.mean())[:, 0] + 0.2 * value(two.std())[:, 0]
    joint = two.compute().log_pdf(np.column_stack([y, np.full(M, given)]))
    marginal = two.compute().marginal(1).log_pdf(given)
    np.testing.assert_allclose(at_each(rest.log_pdf, y), joint - marginal, rtol=1e-9, atol=1e-10)


def test_conditioning_on_the_first_output_leaves_the_second(two):
    values = value(two.mean())[:, :1] + 0.1
    p = others(two)[0]
    rest = p.condition([0], values)
    y = value(two.mean())[:, 1]
    joint = two.compute().log_pdf(np.column_stack([values, y]))
    expected = joint - two.compute().marginal(0).log_pdf(values)
    np.testing.assert_allclose(value(rest.log_pdf(y)), expected, rtol=1e-9, atol=1e-10)
    if isinstance(two, LazyDistribution):
        with pytest.raises(TypeError, match="the same for all rows"):
            two.condition(0, values)


def test_all_outputs_cannot_be_given(dist):
    with pytest.raises(ValueError, match="none is left"):
        dist.condition(list(range(dist.n_outputs)), np.ones(dist.n_outputs))


def test_a_mixture_of_densities_is_their_weighted_sum(smooth):
    p, q = others(smooth)
    y, weights = some_points(smooth), np.array([[1.0, 3.0], [0.0, 2.0], [1.0, 0.0]])
    for w in (weights, weights[0], None):
        shares = np.broadcast_to(np.ones(2) if w is None else w, (M, 2))
        shares = shares / shares.sum(axis=1, keepdims=True)
        expected = shares[:, 0] * p.compute().pdf(y) + shares[:, 1] * q.pdf(y)
        mixed = mixture_of([p, q], w)
        assert isinstance(mixed, ChunkedDistribution) == isinstance(p, ChunkedDistribution)
        np.testing.assert_allclose(mixed.pdf(y), expected, rtol=1e-12)


def test_levels_of_regions_are_integrals(one):
    y, found = some_points(one), at_each(one.hpd_level, some_points(one))
    for i in range(M):
        height = value(one.pdf_on(y))[i, i]
        ends = one.compute()[i]
        # Where the density crosses the height, by bisection between points of a fine grid.
        cuts = crossings(lambda t, ends=ends, height=height: ends.pdf_on(t)[0] - height, one, i)
        nodes, w = rule(one, i, *cuts)
        density = value(one.pdf_on(nodes))[i]
        assert found[i] == pytest.approx(
            w[density >= height] @ density[density >= height], abs=1e-7
        )


def crossings(f, dist, i):
    """Zeros of ``f`` over almost all of row i."""
    grid = np.linspace(*dist.compute()[i].quantile([1e-12, 1 - 1e-12])[0], 20_001)
    signs = f(grid) > 0
    at = np.flatnonzero(signs[1:] != signs[:-1])
    low, high = grid[at], grid[at + 1]
    for _ in range(60):
        middle = (low + high) / 2
        same = (f(middle) > 0) == signs[at] if len(at) else np.zeros(0, dtype=bool)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return low


def test_levels_of_regions_are_shares_of_draws(smooth):
    y = some_points(smooth)
    found = at_each(lambda_of(smooth, "hpd_level", random_state=0), y)
    rows, height = smooth.compute(), at_each(smooth.pdf, y)
    for i in range(M):
        draws = np.reshape(rows[i].sample(4000, random_state=2), (4000, -1))
        denser = rows[i].pdf_on(draws if smooth.n_outputs > 1 else draws[:, 0])[0] >= height[i]
        assert found[i] == pytest.approx(denser.mean(), abs=0.08)


def lambda_of(dist, name, **options):
    """A bound method with some of its arguments, which ``at_each`` can ask."""

    class Asked:
        __self__ = dist

        def __call__(self, y):
            return getattr(dist, name)(y, **options)

    return Asked()


def test_a_marginal_is_the_other_output_integrated_out(two):
    axes, points, _ = grid_of_two(two, 0)
    joint = value(two.pdf_on(points))[0].reshape(len(axes[0]), -1)
    expected = joint.sum(axis=1) * (axes[1][1] - axes[1][0])
    found = value(two.marginal(0).pdf_on(axes[0]))[0]
    np.testing.assert_allclose(found, expected, atol=2e-4 * expected.max())
    swapped = two.marginal([1, 0])
    np.testing.assert_allclose(value(swapped.mean()), value(two.mean())[:, ::-1], rtol=1e-9)


def test_rows_are_what_an_index_selects(dist):
    y = some_points(dist)
    whole = at_each(dist.pdf, y)
    for index in (1, [2, 0], slice(1, None), np.array([True, False, True])):
        rows = np.atleast_1d(np.arange(M)[index])
        some = dist[index]
        assert isinstance(some, Distribution)
        assert len(some) == len(rows)
        own = some.compute().pdf(y[rows])
        np.testing.assert_allclose(own, whole[rows], rtol=1e-12)


def test_what_is_computed_answers_the_same(dist):
    in_memory = dist.compute()
    assert isinstance(in_memory, Mixture | BoundedMixture | MixedDistribution)
    np.testing.assert_allclose(in_memory.mean(), value(dist.mean()), rtol=1e-12)


def test_copies_and_pickles_answer_the_same(dist):
    for again in (copy.deepcopy(dist), pickle.loads(pickle.dumps(picklable(dist)))):
        np.testing.assert_allclose(value(again.mean()), value(dist.mean()), rtol=1e-14)


def picklable(dist):
    """Without the local functions of this module, which no pickle holds."""
    return dist.compute() if isinstance(dist, ChunkedDistribution) else dist


def test_a_frozen_row_is_that_row(one):
    law = one.frozen(2)
    assert law.mean() == pytest.approx(float(value(one.mean())[2]), rel=1e-12)
    assert law.ppf(0.3) == pytest.approx(float(value(one.quantile(0.3))[2]), rel=1e-10)


def test_draws_depend_on_the_seed_alone(dist):
    first, again, other = (value(dist.sample(3, random_state=s)) for s in (7, 7, 8))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_levels_of_regions_depend_on_the_seed_alone(dist):
    y = some_points(dist)
    asked = [lambda_of(dist, "hpd_level", n_draws=50, random_state=7) for _ in range(2)]
    first, again = (at_each(one, y) for one in asked)
    np.testing.assert_array_equal(first, again)
    if dist.n_outputs > 1:  # shares of fifty draws
        np.testing.assert_allclose(50 * first, np.round(50 * first), atol=1e-9)


ONE_OUTPUT = {
    "cdf": lambda dist: dist.cdf(0.0),
    "prob": lambda dist: dist.prob(0.0, 1.0),
    "quantile": lambda dist: dist.quantile(0.5),
    "interval": lambda dist: dist.interval(0.9),
    "crps": lambda dist: dist.crps(0.0),
    "hdr": lambda dist: dist.hdr(0.9),
    "partial_moment": lambda dist: dist.partial_moment(0.0),
    "expected_shortfall": lambda dist: dist.expected_shortfall(0.1),
    "expectile": lambda dist: dist.expectile(0.1),
    "twcrps": lambda dist: dist.twcrps(0.0, 0.0),
    "frozen": lambda dist: dist.frozen(0),
}


@pytest.mark.parametrize("question", ONE_OUTPUT.values(), ids=ONE_OUTPUT)
def test_questions_for_one_output_are_refused_for_two(two, question):
    with pytest.raises(ValueError, match="one output"):
        value(question(two))


@pytest.mark.parametrize("level", [0.0, 1.0, 90])
def test_a_level_is_a_probability(any_one, level):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        any_one.interval(level)


def test_columns_are_outputs(dist):
    with pytest.raises(ValueError, match="columns must be integers from"):
        dist.marginal(dist.n_outputs)


def test_the_probability_of_an_atom_is_the_jump_of_the_distribution_function(mixed):
    for i in range(M):
        atoms, masses = atoms_of(mixed, i)
        for atom, mass in zip(atoms, masses, strict=True):
            at, before = np.full(M, atom), np.full(M, np.nextafter(atom, -np.inf))
            jump = at_each(mixed.cdf, at)[i] - at_each(mixed.cdf, before)[i]
            assert jump == pytest.approx(mass, abs=1e-12)
            low, high = float(before[0]), float(at[0])
            assert value(mixed.prob(low, high))[i] == pytest.approx(mass, abs=1e-12)
            above = value(mixed.prob(high, np.inf))[i]
            assert above + at_each(mixed.cdf, at)[i] == pytest.approx(1)
            if mass > 0:
                assert at_each(mixed.pdf, at)[i] == pytest.approx(mass)


def test_quantiles_are_the_first_values_that_reach_their_level(mixed):
    levels = np.linspace(0.013, 0.987, 40)
    points = value(mixed.quantile(levels))
    assert (np.diff(points, axis=1) >= 0).all()
    for j, level in enumerate(levels):
        assert (at_each(mixed.cdf, points[:, j]) >= level - 1e-9).all()
        before = points[:, j] - 1e-7
        assert (at_each(mixed.cdf, before) < level).all()


def test_the_score_is_the_integral_of_the_squared_error_of_the_distribution_function(mixed):
    row = mixed.compute()[1]
    y = float(row.mean()[0]) + 0.3
    beside = row if row.continuous is None else row.continuous
    ends = beside.quantile([1e-13, 1 - 1e-13])[0]
    cuts = np.unique([*np.linspace(*ends, 200), *row.atoms, y, ends.min() - 1, ends.max() + 1])
    x, w = np.polynomial.legendre.leggauss(20)
    half = np.diff(cuts)[:, None] / 2
    nodes, weights = (cuts[:-1, None] + half * (x + 1)).ravel(), (half * w).ravel()
    below = row[np.zeros(len(nodes), dtype=int)].cdf(nodes)
    total = float(weights @ (below - (nodes >= y)) ** 2)
    assert row.crps(y)[0] == pytest.approx(total, abs=1e-7)
    assert at_each(mixed.crps, np.full(M, y))[1] == pytest.approx(total, abs=1e-7)


def test_regions_take_the_atoms_first_and_hold_their_level(mixed):
    for level in (0.3, 0.95):
        for i, region in enumerate(mixed.hdr(level)):
            row = mixed.compute()[i]
            mass = np.zeros(len(region))
            for k, (low, high) in enumerate(region):
                mass[k] = row.pmf(low)[0] + row.prob(low, high)[0]
            assert (region[:, 0] <= region[:, 1]).all()
            assert (np.diff(region.ravel()) >= 0).all()
            if (region[:, 0] < region[:, 1]).any():
                assert mass.sum() == pytest.approx(level, abs=1e-8)
                inside = (row.atoms >= region[:, :1]) & (row.atoms <= region[:, 1:])
                assert inside.any(axis=0)[row.masses[0] > 0].all()
            else:  # the fewest of the largest atoms
                assert mass.sum() >= level - 1e-9
                assert mass.sum() - mass.min() < level
                assert mass.min() == np.sort(row.masses[0])[::-1][len(mass) - 1]


def test_levels_of_atoms_count_the_larger_atoms(mixed):
    row = mixed.compute()[1]
    atoms, masses = atoms_of(mixed, 1)
    for atom, mass in zip(atoms, masses, strict=True):
        assert row.hpd_level(atom)[0] == pytest.approx(masses[masses >= mass].sum())
    if row.continuous is not None:
        y = float(row.continuous.mean()[0])
        beside = (1 - masses.sum()) * row.continuous.hpd_level(y)[0]
        assert row.hpd_level(y)[0] == pytest.approx(masses.sum() + beside)


def test_the_first_modes_are_the_atoms(mixed):
    for i, peaks in enumerate(mixed.modes()):
        atoms, masses = atoms_of(mixed, i)
        order = np.argsort(-masses)[: np.sum(masses > 0)]
        np.testing.assert_array_equal(peaks[: len(order)], atoms[order])


def test_atoms_have_their_share_of_the_draws(mixed):
    draws = value(mixed.sample(20_000, random_state=0))
    for i in range(M):
        for atom, mass in zip(*atoms_of(mixed, i), strict=True):
            share, error = np.mean(draws[i] == atom), np.sqrt(mass * (1 - mass) / 20_000)
            assert abs(share - mass) <= 5 * error


@pytest.mark.parametrize("name", ["frozen", "to_skpro"])
def test_what_has_no_counterpart_elsewhere_is_refused(name):
    with pytest.raises(TypeError, match=r"dist\.continuous"):
        getattr(dist_of("atoms"), name)()


@pytest.mark.parametrize("q", [0.0, 1.0, [0.5, 95], np.nan])
def test_levels_of_tails_are_probabilities(one, q):
    for question in (one.expected_shortfall, one.expectile):
        with pytest.raises(ValueError, match=r"strictly between 0 and|contains NaN"):
            value(question(q))


def test_a_tail_is_lower_or_upper(one):
    with pytest.raises(ValueError, match="tail must be 'lower' or 'upper', got 'left'"):
        value(one.partial_moment(0.0, 1, "left"))
    with pytest.raises(ValueError, match="order must be an integer between 0 and 8, got -1"):
        value(one.partial_moment(0.0, -1))


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("tail", ["lower", "upper"])
def test_partial_moments_of_atoms_are_sums(mixed, order, tail):
    side = 1 if tail == "upper" else -1
    row = mixed.compute()
    for t in (float(row.atoms[0]), float(row.mean()[0])):
        found = value(mixed.partial_moment(t, order, tail))
        for i in range(M):
            expected = sum(
                mass * (side * (atom - t)) ** order
                for atom, mass in zip(row.atoms, row.masses[i], strict=True)
                if side * (atom - t) > 0
            )
            if row.continuous is not None:
                beside = row.continuous.partial_moment(t, order, tail)[i]
                expected += (1 - row.masses[i].sum()) * beside
            assert found[i] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_shortfalls_and_expectiles_of_atoms_are_those_of_draws(mixed):
    draws = np.sort(value(mixed.sample(40_000, random_state=0)), axis=1)
    scale = value(mixed.std()).max()
    lowest = draws[:, : len(draws[0]) // 5].mean(axis=1)
    found = value(mixed.expected_shortfall(0.2))
    np.testing.assert_allclose(found, lowest, atol=0.02 * scale)
    e = value(mixed.expectile(0.8))
    above = np.maximum(draws - e[:, None], 0).mean(axis=1)
    below = np.maximum(e[:, None] - draws, 0).mean(axis=1)
    np.testing.assert_allclose(0.8 * above, 0.2 * below, atol=0.01 * scale)


def test_the_entropy_of_atoms_is_that_of_their_density(mixed):
    row, found = mixed.compute(), value(mixed.entropy())
    for i in range(M):
        masses = row.masses[i][row.masses[i] > 0]
        expected = -sum(mass * np.log(mass) for mass in masses)
        rest = 1 - masses.sum()
        if row.continuous is not None and rest > 0:
            expected += rest * (row.continuous.entropy()[i] - np.log(rest))
        assert found[i] == pytest.approx(expected, abs=1e-5)


def test_questions_that_atoms_do_not_answer_name_another_one(mixed):
    row = mixed.compute()
    for ask in (
        lambda: row.kl(row),
        lambda: row.l2_distance(row),
        lambda: row.twcrps(0.0, 0.0),
        lambda: mixture_of([row, row]),
    ):
        with pytest.raises(TypeError, match=r"with atoms: ask dist\.continuous"):
            ask()
    with pytest.raises(ValueError, match="none is left"):
        row.condition(0, 1.0)
