"""Laws of conditional mixtures, each against an oracle that shares no code with them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import simpson

from condensity.distributions import _modes as meanshift
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture
from mixtures import gaussians, loop_pdf, random_block, random_mixture

quick = settings(max_examples=8, deadline=None, derandomize=True)
seeds = st.integers(0, 10_000)
FRAMES = [
    ((False, False),),
    ((True, False), (False, True)),
    ((True, True), (False, False), (True, True)),
]


# Sums over these are exact to rounding: the trapezoidal rule converges exponentially here.
LINE = np.linspace(-40, 40, 16_001)
AXIS = np.linspace(-20, 20, 401)
PLANE = np.stack(np.meshgrid(AXIS, AXIS, indexing="ij"), axis=-1)
STEP, AREA = LINE[1] - LINE[0], (AXIS[1] - AXIS[0]) ** 2


def two_peaks(gap=4.0, weights=(0.75, 0.25)):
    return Mixture([Block(np.log([weights]), np.array([[0.0], [gap]]), np.eye(1))])


def same(a, b, **tolerance):
    """Two mixtures give the same densities on a cloud of points."""
    grid = np.random.default_rng(0).normal(size=(40, a.n_outputs)) * 2
    np.testing.assert_allclose(a.pdf_on(grid), b.pdf_on(grid), **(tolerance or {"rtol": 1e-10}))


# -- densities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dy", [1, 2, 3])
@pytest.mark.parametrize("frames", FRAMES)
def test_pdf_is_the_loop_over_its_gaussians(dy, frames):
    mix = random_mixture(1, m=4, dy=dy, frames=frames)
    Y = np.random.default_rng(2).normal(size=(4, dy))
    expected = [loop_pdf(mix, i, Y[i]) for i in range(4)]
    np.testing.assert_allclose(mix.pdf(Y), expected, rtol=1e-10)
    np.testing.assert_allclose(mix.log_pdf(Y), np.log(expected), atol=1e-10)


@pytest.mark.parametrize("dy", [1, 2])
@pytest.mark.parametrize("frames", FRAMES)
def test_pdf_on_gives_every_row_at_every_point(dy, frames, monkeypatch):
    mix = random_mixture(3, m=4, dy=dy, frames=frames)
    grid = np.random.default_rng(4).normal(size=(7, dy)) * 2
    expected = np.array([[loop_pdf(mix, i, y) for y in grid] for i in range(4)])
    np.testing.assert_allclose(mix.pdf_on(grid), expected, rtol=1e-10)
    monkeypatch.setattr("condensity._utils.numerics.BLOCK", 40)
    np.testing.assert_allclose(mix.pdf_on(grid), expected, rtol=1e-10)


@pytest.mark.parametrize("dy", [1, 2])
def test_weights_may_be_given_as_they_are_or_as_logarithms(dy):
    logs = random_mixture(11, dy=dy)
    plain = Mixture.of_normalised(
        [replace(block, given=block.weights, plain=True) for block in logs.blocks]
    )
    Y = np.random.default_rng(0).normal(size=(len(logs), dy))
    questions = [
        lambda m: m.pdf(Y),
        lambda m: m.log_pdf(Y),
        lambda m: m.pdf_on(Y),
        lambda m: m.squared_norm(),
        lambda m: m.cov(),
        lambda m: m.sample(3, random_state=0),
        lambda m: m[1:].mean(),
        lambda m: m.tilt(np.full(dy, 0.3))[1].mean(),
        lambda m: Mixture.average([m, m[::-1]]).mean(),
    ]
    if dy == 1:
        questions += [lambda m: m.quantile([0.1, 0.9]), lambda m: m.crps(Y)]
    for question in questions:
        np.testing.assert_allclose(question(plain), question(logs), rtol=1e-12)
    nothing = replace(plain.blocks[0], given=np.zeros_like(plain.blocks[0].given))
    assert (nothing.log_weights == -np.inf).all()


def test_pdf_integrates_to_one():
    line, plane = random_mixture(5), random_mixture(5, dy=2)
    np.testing.assert_allclose(line.pdf_on(LINE).sum(axis=1) * STEP, 1.0, rtol=1e-12)
    values = plane.pdf_on(PLANE.reshape(-1, 2))
    assert (values >= 0).all()
    np.testing.assert_allclose(values.sum(axis=1) * AREA, 1.0, rtol=1e-10)


def test_one_output_takes_columns_vectors_and_scalars():
    mix = random_mixture(6)
    y = np.array([0.5, 0.5, 0.5])
    for Y in (0.5, [0.5, 0.5, 0.5], y, y[:, None]):
        np.testing.assert_array_equal(mix.pdf(Y), mix.pdf(y))


def test_log_pdf_is_finite_in_far_tails():
    far = random_mixture(7).log_pdf(1e6)
    assert np.isfinite(far).all()
    mix = two_peaks()
    np.testing.assert_allclose(
        mix.log_pdf(1e6), np.log(0.25) - 0.5 * np.log(2 * np.pi) - (1e6 - 4) ** 2 / 2, rtol=1e-15
    )
    assert random_mixture(7, dy=2).log_pdf(np.full((3, 2), np.inf)).tolist() == [-np.inf] * 3


def test_an_outlying_center_keeps_its_digits():
    mix = Mixture([Block(np.zeros((1, 2)), np.array([[0.0], [1e7]]), np.eye(1))])
    np.testing.assert_allclose(mix.pdf(1e7 + 1), 0.5 * stats.norm.pdf(1.0), rtol=1e-12)


def test_log_weights_of_any_size_are_normalised():
    block = random_block(np.random.default_rng(8), 3, 4, 1)
    mix = Mixture([block])
    np.testing.assert_allclose(np.exp(mix.log_weights).sum(axis=1), 1.0, rtol=1e-15)
    low = Block(np.array([[-1e14, -1e14 - 800.0, -np.inf]]), np.zeros((3, 1)), np.eye(1))
    np.testing.assert_allclose(np.exp(Mixture([low]).log_weights), [[1, 0, 0]])


def test_weights_sum_to_one_over_all_blocks_together():
    mix = random_mixture(9)
    assert len(mix.blocks) == 2
    np.testing.assert_allclose(np.exp(mix.log_weights).sum(axis=1), 1.0, rtol=1e-14)


@quick
@given(seeds, st.sampled_from([1, 2]))
def test_shift_and_scale_equal_gaussians_moved_by_hand(seed, dy):
    mix = random_mixture(seed, dy=dy)
    for i in range(3):
        by_hand = [
            Block(np.log([[w]]), mean[None], np.linalg.cholesky(cov))
            for w, mean, cov in gaussians(mix, i)
        ]
        other = Mixture(by_hand)
        same(mix[i], other)
        np.testing.assert_allclose(mix[i].squared_norm(), other.squared_norm(), rtol=1e-10)
        np.testing.assert_allclose(mix[i].cov(), other.cov(), rtol=1e-10)


@pytest.mark.parametrize("dy", [1, 2])
def test_rescaling_y_divides_the_pdf(dy):
    mix, c = random_mixture(10, dy=dy), 1e-3
    small = Mixture(
        [
            Block(
                b.log_weights,
                c * b.centers,
                c * b.factor,
                None if b.shift is None else c * b.shift,
                b.scale,
            )
            for b in mix.blocks
        ]
    )
    Y = np.random.default_rng(0).normal(size=(3, dy))
    np.testing.assert_allclose(small.pdf(c * Y), mix.pdf(Y) / c**dy, rtol=1e-10)
    np.testing.assert_allclose(small.squared_norm(), mix.squared_norm() / c**dy, rtol=1e-10)
    np.testing.assert_allclose(small.std(), c * mix.std(), rtol=1e-10)


# -- squared norm --------------------------------------------------------------------------------


@pytest.mark.parametrize("frames", FRAMES)
def test_squared_norm_is_the_integral_of_the_squared_pdf(frames, monkeypatch):
    mix = random_mixture(11, frames=frames)
    expected = [(loop_pdf(mix, i, LINE) ** 2).sum() * STEP for i in range(3)]
    np.testing.assert_allclose(mix.squared_norm(), expected, rtol=1e-8)
    monkeypatch.setattr("condensity._utils.numerics.BLOCK", 8)
    np.testing.assert_allclose(mix.squared_norm(), expected, rtol=1e-8)


@pytest.mark.parametrize("frames", FRAMES)
def test_squared_norm_in_the_plane(frames):
    mix = random_mixture(12, m=2, dy=2, frames=frames)
    for i in range(2):
        expected = (loop_pdf(mix, i, PLANE) ** 2).sum() * AREA
        np.testing.assert_allclose(mix[i].squared_norm(), expected, rtol=1e-8)


# -- moments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dy", [1, 2, 3])
def test_mean_and_covariance_are_the_loop_over_gaussians(dy):
    mix = random_mixture(13, dy=dy)
    mean = np.array([sum(w * mu for w, mu, _ in gaussians(mix, i)) for i in range(3)])
    second = np.array(
        [sum(w * (S + np.outer(mu, mu)) for w, mu, S in gaussians(mix, i)) for i in range(3)]
    )
    cov = second - mean[:, :, None] * mean[:, None, :]
    var = np.diagonal(cov, axis1=1, axis2=2)
    shape = (3,) if dy == 1 else (3, dy)
    np.testing.assert_allclose(mix.mean(), mean.reshape(shape), atol=1e-12)
    np.testing.assert_allclose(mix.cov(), cov, atol=1e-11)
    np.testing.assert_allclose(mix.var(), var.reshape(shape), atol=1e-11)
    np.testing.assert_allclose(mix.std() ** 2, mix.var(), rtol=1e-14)


def test_variance_survives_a_distant_origin():
    shift = np.full((1, 1), 1e9)
    block = Block(np.log([[0.5, 0.5]]), np.array([[-1.0], [1.0]]), np.eye(1), shift)
    np.testing.assert_allclose(Mixture([block]).var(), 2.0, rtol=1e-12)


@pytest.mark.parametrize("dy", [1, 2])
def test_sample_moments_match_within_five_standard_errors(dy):
    mix, n = random_mixture(14, dy=dy), 40_000
    draws = mix.sample(n, random_state=0)
    assert draws.shape == ((3, n) if dy == 1 else (3, n, dy))
    error = mix.std() / np.sqrt(n)
    assert (np.abs(draws.mean(axis=1) - mix.mean()) < 5 * error).all()
    for i in range(3):
        cov = np.cov(draws[i].T)
        np.testing.assert_allclose(
            cov, mix.cov()[i].reshape(cov.shape), atol=0.05 * mix.var().max()
        )


def test_samples_follow_the_cdf():
    mix = random_mixture(15)
    draws = mix.sample(3000, random_state=1)
    for i in range(3):
        assert stats.kstest(draws[i], lambda y, i=i: mix[[i] * len(y)].cdf(y)).pvalue > 0.01


def test_sample_never_draws_a_weightless_component():
    lw = np.array([[-np.inf, 0.0, -np.inf]])
    mix = Mixture([Block(lw, np.array([[-99.0], [0.0], [99.0]]), np.eye(1))])
    assert np.abs(mix.sample(10_000, random_state=0)).max() < 10


def test_random_state_decides_the_sample():
    mix = random_mixture(16)
    np.testing.assert_array_equal(mix.sample(5, 3), mix.sample(5, np.random.default_rng(3)))
    legacy = np.random.RandomState(3)
    first, second = mix.sample(5, legacy), mix.sample(5, legacy)
    np.testing.assert_array_equal(first, mix.sample(5, np.random.RandomState(3)))
    assert (first != second).all()


# -- one output ----------------------------------------------------------------------------------


@quick
@given(seeds)
def test_quantile_inverts_cdf_and_interval_is_central(seed):
    mix = random_mixture(seed)
    np.testing.assert_allclose(mix.cdf(mix.quantile(0.3)), 0.3, rtol=1e-12)
    levels = np.array([1e-12, 0.5, 1 - 1e-12])
    np.testing.assert_allclose(mix.cdf(mix.quantile(levels)[:, 0]), 1e-12, rtol=1e-10)
    lower, upper = mix.interval(0.8).T
    np.testing.assert_allclose([mix.cdf(lower), 1 - mix.cdf(upper)], 0.1, rtol=1e-12)


def test_cdf_integrates_the_pdf():
    mix = random_mixture(17)
    for i, y in enumerate([-1.0, 0.0, 2.0]):
        t = np.linspace(-40, y, 20_001)
        np.testing.assert_allclose(mix[i].cdf(y), simpson(loop_pdf(mix, i, t), x=t), atol=1e-9)


def test_prob_measures_intervals():
    mix = random_mixture(18)
    np.testing.assert_allclose(mix.prob(-np.inf, np.inf), 1.0, rtol=1e-14)
    upper = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(mix.prob(-1.0, upper), mix.cdf(upper) - mix.cdf(-1.0), atol=1e-14)
    np.testing.assert_allclose(two_peaks().prob(14, np.inf), 0.25 * stats.norm.sf(10), rtol=1e-12)


@pytest.mark.parametrize("frames", [((True, True), (True, True)), ((False, False), (True, True))])
def test_crps_integrates_the_squared_error_of_the_cdf(frames):
    rng = np.random.default_rng(19)
    blocks = [random_block(rng, 3, 3, 1, shift=a, scale=b) for a, b in frames]
    if all(block.shift is not None for block in blocks):  # one frame for all blocks
        first = blocks[0]
        blocks = [
            Block(b.log_weights, b.centers, b.factor, first.shift, first.scale) for b in blocks
        ]
    mix, y = Mixture(blocks), np.array([-2.0, 0.0, 3.0])
    for i in range(3):
        below, above = np.linspace(-40, y[i], 20_001), np.linspace(y[i], 40, 20_001)
        loss = [
            simpson((mix[[i] * len(t)].cdf(t) - hit) ** 2, x=t)
            for t, hit in ((below, 0), (above, 1))
        ]
        np.testing.assert_allclose(mix.crps(y)[i], sum(loss), rtol=1e-9)


def test_hdr_and_hpd_level_agree():
    mix = random_mixture(20)
    for i, region in enumerate(mix.hdr(0.7)):
        ends = region.ravel()
        np.testing.assert_allclose(mix[[i] * len(ends)].hpd_level(ends), 0.7, atol=1e-11)
        np.testing.assert_allclose(
            mix[[i] * len(region)].prob(region[:, 0], region[:, 1]).sum(), 0.7, atol=1e-12
        )


def test_two_peaks_have_two_modes_and_two_intervals():
    mix = two_peaks(gap=8.0)
    np.testing.assert_allclose(mix.modes()[0], [0.0, 8.0], atol=1e-10)
    assert mix.hdr(0.9)[0].shape == (2, 2)


# -- several outputs -----------------------------------------------------------------------------


def grid_maxima(mix, i):
    """Local maxima of row i on a fine grid of the plane, highest first."""
    p = loop_pdf(mix, i, PLANE)
    core = p[1:-1, 1:-1]
    near = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    top = np.all([core > p[1 + a : 400 + a, 1 + b : 400 + b] for a, b in near], axis=0)
    found = PLANE[1:-1, 1:-1][top]
    return found[np.argsort(-core[top])]


@pytest.mark.parametrize("seed", range(4))
def test_modes_in_the_plane_are_the_maxima_of_a_grid(seed):
    mix = random_mixture(seed, m=2, dy=2)
    for i, found in enumerate(mix.modes()):
        expected = grid_maxima(mix, i)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, atol=0.1)


@pytest.mark.parametrize(("gap", "count"), [(1.9, 1), (2.1, 2), (30.0, 2)])
def test_two_equal_gaussians_in_the_plane_are_bimodal_beyond_two_sds(gap, count):
    centers = 1e-4 * np.array([[0.0, 0.0], [0.6 * gap, 0.8 * gap]])
    (found,) = Mixture([Block(np.zeros((1, 2)), centers, 1e-4 * np.eye(2))]).modes()
    assert found.shape == (count, 2)


def test_modes_in_the_plane_are_stationary(monkeypatch):
    mix = random_mixture(21, m=3, dy=2)
    found = mix.modes()
    monkeypatch.setattr("condensity._utils.numerics.BLOCK", 300)
    for i, (top, again) in enumerate(zip(found, mix.modes(), strict=True)):
        np.testing.assert_allclose(top, again, atol=1e-8)
        slope = meanshift._slopes(mix.blocks, np.full(len(top), i), top).gradient
        assert np.abs(slope).max() < 1e-6
        for j, h in enumerate(1e-5 * np.eye(2)):
            rise = np.log(loop_pdf(mix, i, top + h)) - np.log(loop_pdf(mix, i, top - h))
            np.testing.assert_allclose(rise / 2e-5, 0, atol=1e-5, err_msg=str(j))


def test_a_saddle_is_no_mode():
    log_weights = np.array([[0.0, 0.0, -13.0]])
    centers = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 0.0]])
    (found,) = Mixture([Block(log_weights, centers, np.eye(2))]).modes()
    np.testing.assert_allclose(np.sort(found[:, 0]), [-3.0, 3.0], atol=1e-2)


def test_slopes_are_the_differences_of_log_pdf():
    mix, h = random_mixture(33, m=1, dy=2), 1e-4
    y = np.array([[0.3, -0.8]])
    slope = meanshift._slopes(mix.blocks, np.zeros(1, dtype=int), y)

    def f(*steps):
        return np.log(loop_pdf(mix, 0, y[0] + h * np.sum(steps, axis=0)))

    a, b = np.eye(2)
    gradient = [(f(e) - f(-e)) / (2 * h) for e in (a, b)]
    hessian = [
        [(f(u, v) - f(u, -v) - f(-u, v) + f(-u, -v)) / (4 * h * h) for u in (a, b)] for v in (a, b)
    ]
    precision = sum(
        w * stats.multivariate_normal(mu, S).pdf(y[0]) * np.linalg.inv(S)
        for w, mu, S in gaussians(mix, 0)
    )
    np.testing.assert_allclose(slope.height[0], f(), rtol=1e-10)
    np.testing.assert_allclose(slope.gradient[0], gradient, rtol=1e-5)
    np.testing.assert_allclose(slope.hessian[0], hessian, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(slope.precision[0], precision / loop_pdf(mix, 0, y[0]), rtol=1e-10)


@pytest.mark.parametrize("columns", [0, -1, [1], [2, 0], [-1, 0]])
def test_marginal_of_gaussians_drops_rows_and_columns(columns):
    mix = random_mixture(22, dy=3)
    keep = np.atleast_1d(columns)
    Y = np.random.default_rng(0).normal(size=(3, len(keep)))
    expected = [
        sum(
            w * stats.multivariate_normal(mu[keep], S[np.ix_(keep, keep)]).pdf(Y[i])
            for w, mu, S in gaussians(mix, i)
        )
        for i in range(3)
    ]
    np.testing.assert_allclose(mix.marginal(columns).pdf(Y), expected, rtol=1e-10)


def test_marginal_integrates_the_rest_out():
    mix = random_mixture(23, m=1, dy=2)
    points = np.column_stack([np.full(len(LINE), 0.4), LINE])
    expected = loop_pdf(mix, 0, points).sum() * STEP
    np.testing.assert_allclose(mix.marginal(0).pdf(0.4), expected, rtol=1e-12)


def test_hpd_level_in_the_plane_is_the_mass_that_is_denser():
    mix = random_mixture(24, m=2, dy=2)
    Y = mix.sample(1, 0)[:, 0]
    p = mix.pdf_on(PLANE.reshape(-1, 2))
    exact = np.where(p >= mix.pdf(Y)[:, None], p, 0).sum(axis=1) * AREA
    sampled = mix.hpd_level(Y, n_draws=4000, random_state=0)
    assert (np.abs(sampled - exact) < 5 * np.sqrt(0.25 / 4000)).all()


# -- rows and averages ---------------------------------------------------------------------------


def test_rows_are_selected_as_in_an_array():
    mix = random_mixture(26, m=4)
    y = np.arange(4.0)
    p = mix.pdf(y)
    for index in (slice(1, 3), [2, 0, 2], np.array([True, False, True, False]), -1, 0):
        rows = np.atleast_1d(np.arange(4)[index])
        assert len(mix[index]) == len(rows)
        np.testing.assert_allclose(mix[index].pdf(y[rows]), p[rows], rtol=1e-14)
    assert len(mix[[]]) == 0
    assert len(list(mix)) == 4


@pytest.mark.parametrize("index", [4, -5, [0, 9], [[0, 1]]])
def test_rows_out_of_range_are_an_index_error(index):
    with pytest.raises(IndexError):
        random_mixture(26, m=4)[index]


def test_no_rows_give_empty_answers():
    none = random_mixture(26)[[]]
    empty = np.empty(0)
    for value in (none.mean(), none.pdf(empty), none.cdf(empty), none.quantile(0.5)):
        assert value.shape == (0,)
    assert none.modes() == none.hdr(0.5) == random_mixture(1, dy=2)[[]].modes() == []
    assert none.sample(3).shape == (0, 3)


@pytest.mark.parametrize(
    "frames",
    [[(False, False)], [(True, True)], [(False, False), (True, True)]],
    ids=["none", "one in common", "two"],
)
def test_no_rows_give_empty_answers_in_any_frame(frames):
    none, empty = random_mixture(26, frames=frames)[[]], np.empty(0)
    asked = (none.cdf(empty), none.quantile(0.5), none.crps(empty), none.prob(empty, empty))
    assert all(value.shape == (0,) for value in asked)
    assert none.interval(0.9).shape == (0, 2)


def test_far_from_the_origin_answers_keep_the_digits_of_their_frame():
    far = Mixture(
        [Block(np.log([[0.5, 0.5]]), np.array([[0.1], [0.73]]), 0.3 * np.eye(1), np.array([[1e9]]))]
    )
    z = (0.25 - np.array([0.1, 0.73])) / 0.3
    share = stats.norm.cdf(z).mean()
    y = 1e9 + 0.25
    assert far.cdf(y)[0] == pytest.approx(share, rel=1e-14)
    assert far.prob(-np.inf, y)[0] == pytest.approx(share, rel=1e-14)
    assert far.frozen(0).sf(y) == pytest.approx(1 - share, rel=1e-14)
    assert far.quantile(share)[0] == far.frozen(0).ppf(share) == pytest.approx(y, rel=1e-16)


@pytest.mark.parametrize("y", [1e155, 1e200, -1e308])
def test_a_density_far_beyond_all_numbers_is_nothing(y):
    mix = random_mixture(26, frames=[(False, False)])
    ys = np.full(len(mix), y)
    np.testing.assert_array_equal(mix.pdf(ys), 0.0)
    np.testing.assert_array_equal(mix.log_pdf(ys), -np.inf)
    np.testing.assert_array_equal(mix.pdf_on([y])[:, 0], 0.0)


@pytest.mark.parametrize("weights", [None, [1.0, 3.0], [0.0, 2.0]])
def test_average_mixes_densities(weights):
    pair = [random_mixture(27), random_mixture(28, frames=((False, False),))]
    w = np.array([0.5, 0.5] if weights is None else weights) / (
        1 if weights is None else sum(weights)
    )
    grid = np.linspace(-6, 6, 50)
    expected = w[0] * pair[0].pdf_on(grid) + w[1] * pair[1].pdf_on(grid)
    np.testing.assert_allclose(Mixture.average(pair, weights).pdf_on(grid), expected, rtol=1e-12)


def test_repr_tells_the_size():
    text = repr(random_mixture(29, m=5, dy=2))
    assert text == "Mixture(m=5, dy=2, components=3+4)"


def test_inputs_are_left_untouched():
    block = random_block(np.random.default_rng(30), 3, 4, 2, shift=True, scale=True)
    before = {k: np.array(v) for k, v in vars(block).items()}
    Y = np.zeros((3, 2))
    mix = Mixture([block])
    for result in (mix.pdf(Y), mix.cov(), mix.sample(2, 0), mix.modes(), mix.squared_norm()):
        assert len(result) == 3
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(block, name), value)
    assert not Y.any()


# -- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda m: m.pdf(np.nan), "Y contains NaN: drop or impute"),
        (
            lambda m: m.log_pdf(np.zeros(5)),
            r"shape \(3, 1\).*got \(5,\): pass one",
        ),
        (
            lambda m: m.crps(np.zeros((3, 2))),
            r"got \(3, 2\): pass one point for each density",
        ),
        (lambda m: m.pdf_on(np.zeros((4, 2))), r"\(G, 1\).*got \(4, 2\): stack"),
        (lambda m: m.pdf_on([0.0, np.nan]), "grid contains NaN"),
        (lambda m: m.quantile(1.2), "pass probabilities"),
        (lambda m: m.quantile([[0.5]]), "one-dimensional"),
        (lambda m: m.interval(95), r"pass a probability such as 0\.9"),
        (lambda m: m.hdr(1.0), r"pass a probability such as 0\.9"),
        (lambda m: m.prob(1, 0), "swap the bounds"),
        (lambda m: m.prob([0.0, 1.0], 2.0), r"lower must .*\(3,\).*dist\[index\]"),
        (lambda m: m.prob(0.0, np.nan), "upper contains NaN"),
        (lambda m: m.marginal(1), "integers from -1 to 0.*1 outputs"),
        (lambda m: m.marginal(0.5), "columns must be integers"),
        (lambda m: m.marginal([0, -1]), "list each output once"),
        (lambda m: Mixture.average([m, m], [1.0]), "pass None for equal"),
        (lambda m: Mixture.average([m, m], [1.0, -1.0]), "pass None for equal"),
        (lambda m: Mixture.average([m, m[:2]]), "have the same rows and outputs"),
    ],
)
def test_bad_arguments_are_refused_with_a_remedy(call, remedy):
    with pytest.raises(ValueError, match=remedy):
        call(random_mixture(31))


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.cdf(np.zeros((3, 2))),
        lambda m: m.quantile(0.5),
        lambda m: m.interval(0.9),
        lambda m: m.prob(0, 1),
        lambda m: m.crps(np.zeros((3, 2))),
        lambda m: m.hdr(0.9),
    ],
)
def test_functions_of_one_output_point_to_the_marginal(call):
    with pytest.raises(ValueError, match=r"the densities have 2: .*dist\.marginal\(j\)"):
        call(random_mixture(32, dy=2))


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        ({"given": np.zeros(2)}, r"reshape\(-1, 1\)"),
        ({"centers": np.zeros(2)}, r"reshape\(-1, 1\)"),
        ({"given": np.zeros((3, 5))}, r"log_weights .* shape \(3, 2\), got \(3, 5\)"),
        ({"factor": np.eye(2)}, r"factor .* shape \(1, 1\)"),
        ({"shift": np.zeros((2, 1))}, r"shift .* shape \(3, 1\)"),
        ({"scale": np.ones((3, 1))}, r"scale .* shape \(3,\)"),
        ({"scale": np.array([1.0, 0.0, 1.0])}, "scale must be > 0 in every row, got 0"),
        ({"factor": -np.eye(1)}, r"np\.linalg\.cholesky\(covariance\)"),
        ({"centers": np.full((2, 1), np.nan)}, "must be finite"),
        ({"given": np.full((3, 2), -np.inf)}, "row 0 .*at least one finite log weight"),
        ({"given": np.array([[0, 0], [0, np.nan], [0, 0]])}, "row 1 .*at least one finite"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(change, remedy):
    good = {"given": np.zeros((3, 2)), "centers": np.zeros((2, 1)), "factor": np.eye(1)}
    Mixture([Block(**good)])
    with pytest.raises(ValueError, match=remedy):
        Mixture([Block(**(good | change))])


def test_a_mixture_needs_a_block():
    with pytest.raises(ValueError, match=r"pass \[Block"):
        Mixture([])
    upper = Block(np.zeros((1, 1)), np.zeros((1, 2)), np.array([[1.0, 0.5], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="lower triangular"):
        Mixture([upper])


def with_background():
    kernels, background = random_mixture(3, frames=((True, False), (False, False))).blocks
    return Mixture([kernels, replace(background, background=True)])


def test_stretching_multiplies_standard_deviations_and_keeps_means():
    dist = with_background()
    wider = dist.stretch(np.array([1.7]))
    np.testing.assert_allclose(wider.mean(), dist.mean(), rtol=1e-12)
    np.testing.assert_allclose(wider.std(), 1.7 * dist.std(), rtol=1e-12)


def test_the_background_can_be_left_as_it_is():
    dist = with_background()
    kernels, background = dist.stretch(np.array([1.7]), background=False).blocks
    assert background is dist.blocks[1]
    np.testing.assert_allclose(kernels.factor, 1.7 * dist.blocks[0].factor)
    assert [block.background for block in dist.blocks] == [False, True]


@pytest.mark.parametrize("dy", [2, 3, 4])
def test_a_maximum_between_all_centres_is_found(dy):
    """In the middle of a simplex of equal Gaussians, for widths in a narrow range."""
    corners = np.linalg.svd(np.eye(dy + 1) - 1 / (dy + 1))[0][:, :dy]
    corners /= np.linalg.norm(corners[0])
    width = 1.003 / np.sqrt(dy)
    dist = Mixture([Block(np.zeros((2, dy + 1)), corners, width * np.eye(dy))])
    for modes in dist.modes():
        distances = np.sort(np.linalg.norm(modes, axis=1))
        assert len(distances) == dy + 2
        assert distances[0] < 1e-6
        assert distances[1] > 0.5
