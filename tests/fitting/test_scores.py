import numpy as np
import pytest
from scipy.stats import norm

from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture
from condensity.fitting.scores import SCORES, Gaussians

W = np.array([0.5, 0.2, 0.3])


def components(dy=1):
    rng = np.random.default_rng(dy)
    return Gaussians(rng.standard_normal((3, dy)), np.array([0.3, 0.3, 1.0]))


def mixture(parts, factor):
    """The same components after ``v -> L v``, through the library's mixtures."""
    blocks = [
        Block(np.log(W[None, [k]]), parts.centers[[k]] @ factor.T, s * factor)
        for k, s in enumerate(parts.widths)
    ]
    return Mixture(blocks)


@pytest.mark.parametrize("dy", [1, 2])
@pytest.mark.parametrize("name", ["squared", "crps", "log"])
def test_losses_from_tables_equal_those_of_the_mixture(name, dy):
    if name == "crps" and dy > 1:
        pytest.skip("the CRPS is for one output")
    score, parts = SCORES[name], components(dy)
    factor = np.tril(np.random.default_rng(7).uniform(0.5, 2.0, (dy, dy)))
    V = np.random.default_rng(8).standard_normal((1, dy))
    a, A = score.match(V, parts)[0], score.pair(parts, parts)
    plain = score.sign * (0.5 * W @ A @ W - W @ a) if score.sign else -np.log(W @ a)
    dist, y = mixture(parts, factor), V @ factor.T
    exact = {
        "squared": lambda: 0.5 * dist.squared_norm() - dist.pdf(y),
        "crps": lambda: dist.crps(y[:, 0]),
        "log": lambda: -dist.log_pdf(y),
    }[name]()
    assert score.in_units(plain, factor) == pytest.approx(exact[0], rel=1e-9)


def test_mean_distances_agree_with_quadrature():
    score, parts = SCORES["crps"], components()
    grid = np.linspace(-12, 12, 200_001)
    step = grid[1] - grid[0]
    for k, (c, s) in enumerate(zip(parts.centers[:, 0], parts.widths, strict=True)):
        exact = np.sum(np.abs(grid - 0.4) * norm(c, s).pdf(grid)) * step
        assert score.match(np.array([[0.4]]), parts)[0, k] == pytest.approx(exact, rel=1e-7)


def test_a_tolerance_is_a_share_of_the_loss_but_absolute_for_the_log_loss():
    """The log loss has no zero: its unit adds a constant."""
    assert SCORES["squared"].worth(-0.4, 0.01) == pytest.approx(0.004)
    assert SCORES["crps"].worth(3.0, 0.01) == pytest.approx(0.03)
    for loss in (-7.0, 0.0, 7.0):
        assert SCORES["log"].worth(loss, 0.01) == 0.01
