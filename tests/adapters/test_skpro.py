"""Adapter to skpro, compared with our densities; skipped if skpro is not installed."""

import pickle
import sys

import numpy as np
import pytest
from scipy.integrate import quad

import condensity.adapters.skpro  # noqa: F401  imported before a test hides skpro
from condensity import metrics
from condensity.distributions.bounded import BoundedMixture, Bounds
from mixtures import gaussians, random_mixture


def test_without_skpro_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skpro.distributions.base", None)
    with pytest.raises(ModuleNotFoundError, match="pip install 'skpro>="):
        random_mixture(0).to_skpro()


pd = pytest.importorskip("pandas")


@pytest.fixture
def skpro():
    return pytest.importorskip("skpro", reason="skpro is not installed: condensity[skpro]")


@pytest.fixture(params=["free", "bounded"])
def law(request, skpro):
    """Densities of three rows and two correlated outputs, and their adapter with names."""
    dist = random_mixture(0, dy=2)
    if request.param == "bounded":
        dist = BoundedMixture(dist, Bounds(np.array([0.0, -np.inf]), np.full(2, np.inf)))
    return dist, dist.to_skpro(index=[3, 1, 7], columns=["a", "b"])


Y = np.array([[0.5, -1.0], [2.0, 0.0], [0.1, 3.0]])


def test_every_entry_is_the_marginal_of_its_row_and_output(law):
    dist, theirs = law
    assert theirs.shape == (3, 2)
    for method in ("pdf", "log_pdf", "cdf"):
        table = getattr(theirs, method)(Y)
        assert list(table.index) == [3, 1, 7]
        assert list(table.columns) == ["a", "b"]
        for j, name in enumerate("ab"):
            ours = getattr(dist.marginal(j), method)(Y[:, j])
            np.testing.assert_allclose(table[name], ours, rtol=1e-12)
    np.testing.assert_allclose(theirs.mean(), dist.mean())
    np.testing.assert_allclose(theirs.var(), dist.var())
    np.testing.assert_allclose(theirs.surv(Y) + theirs.cdf(Y), 1)
    norms = np.column_stack([dist.marginal(j).squared_norm() for j in range(2)])
    np.testing.assert_allclose(theirs.pdfnorm(), norms)


def test_quantiles_invert_the_distribution_function(law):
    _, theirs = law
    levels = np.array([[0.1, 0.2], [0.1, 0.5], [0.9, 0.999]])
    np.testing.assert_allclose(theirs.cdf(theirs.ppf(levels)), levels, rtol=1e-9)
    table = theirs.quantile([0.1, 0.5])
    np.testing.assert_allclose(table[("b", 0.5)], theirs.ppf(0.5)["b"])


def test_frames_are_aligned_by_their_names(law):
    _, theirs = law
    shuffled = pd.DataFrame(Y[::-1, ::-1], index=[7, 1, 3], columns=["b", "a"])
    expected = theirs.cdf(Y).loc[[7, 1, 3], ["b", "a"]]
    pd.testing.assert_frame_equal(theirs.cdf(shuffled), expected)


def test_parts_are_taken_by_name_and_by_position(law):
    dist, theirs = law
    part = theirs.loc[[7, 3], ["b"]]
    np.testing.assert_allclose(part.mean()["b"], dist.mean()[[2, 0], 1])
    np.testing.assert_allclose(theirs.iloc[1:, :].mean(), dist.mean()[1:])
    np.testing.assert_allclose(theirs.iloc[[True, False, True], :].mean(), dist.mean()[[0, 2]])
    scalar = theirs.iat[1, 0]
    assert scalar.shape == ()
    own = dist[1].marginal(0)
    assert scalar.mean() == pytest.approx(own.mean()[0])
    assert scalar.ppf(0.3) == pytest.approx(own.quantile(0.3)[0])
    assert scalar.cdf(0.7) == pytest.approx(own.cdf(0.7)[0])
    assert scalar.energy(0.7) - scalar.energy() / 2 == pytest.approx(own.crps(0.7)[0])
    assert isinstance(scalar.sample(), float)
    assert scalar.sample(4).shape == (4, 1)


def test_crps_from_energies_equals_ours(law):
    dist, theirs = law
    ours = sum(dist.marginal(j).crps(Y[:, j]) for j in range(2))
    crps = theirs.energy(Y) - theirs.energy() / 2
    np.testing.assert_allclose(crps["energy"], ours, rtol=1e-10)


def test_energy_is_the_mean_distance_by_quadrature(skpro):
    dist = random_mixture(1)
    theirs = dist.to_skpro()
    for i, law in enumerate(map(dist.frozen, range(3))):
        far = quad(lambda y, law=law: abs(y - 0.5) * law.pdf(y), -30, 30, points=[0.5])[0]
        # E|Y - Y'| = 2 int F (1 - F)
        spread = 2 * quad(lambda y, law=law: law.cdf(y) * law.sf(y), -30, 30)[0]
        assert theirs.energy(np.full((3, 1), 0.5)).iloc[i, 0] == pytest.approx(far, rel=1e-6)
        assert theirs.energy().iloc[i, 0] == pytest.approx(spread, rel=1e-6)


def test_samples_keep_outputs_together_and_use_the_seed_of_numpy(skpro):
    dist = random_mixture(0, dy=2)
    theirs = dist.to_skpro(index=[3, 1, 7], columns=["a", "b"])
    np.random.seed(0)  # noqa: NPY002
    draws = theirs.sample(4000)
    assert draws.index.nlevels == 2
    assert list(draws.index[:4]) == [(0, 3), (0, 1), (0, 7), (1, 3)]
    for i, name in enumerate([3, 1, 7]):
        own = draws.xs(name, level=1)
        np.testing.assert_allclose(own.mean(), dist.mean()[i], atol=0.15)
        np.testing.assert_allclose(np.cov(own.T), dist.cov()[i], atol=0.35)
    np.random.seed(0)  # noqa: NPY002
    pd.testing.assert_frame_equal(theirs.sample(4000), draws)
    single = theirs.sample()
    assert list(single.index) == [3, 1, 7]
    assert theirs.sample(0).shape == (0, 2)
    deep = dist.to_skpro(index=pd.MultiIndex.from_product([["u"], [0, 1, 2]])).sample(2)
    assert list(deep.index[2:4]) == [(0, "u", 2), (1, "u", 0)]


def test_normal_mixture_of_skpro_gives_the_same_values(skpro):
    from skpro.distributions.normal_mixture import NormalMixture

    dist = random_mixture(2)
    rows = [gaussians(dist, i) for i in range(3)]
    pi = np.array([[w for w, _, _ in row] for row in rows])
    mu = np.array([[m[0] for _, m, _ in row] for row in rows])
    sigma = np.array([[np.sqrt(c[0, 0]) for _, _, c in row] for row in rows])
    other, ours, y = NormalMixture(pi, mu, sigma), dist.to_skpro(), np.array([[0.3], [-2.0], [1.0]])
    for method in ("pdf", "log_pdf", "cdf"):
        np.testing.assert_allclose(getattr(ours, method)(y), getattr(other, method)(y), rtol=1e-10)
    np.testing.assert_allclose(ours.ppf(0.2), other.ppf(0.2), rtol=1e-8)
    np.testing.assert_allclose(ours.mean(), other.mean())
    np.testing.assert_allclose(ours.var(), other.var())


def test_metrics_of_skpro_equal_ours(skpro):
    from skpro.metrics import CRPS, LogLoss, SquaredDistrLoss

    dist, y = random_mixture(0), np.array([0.3, -2.0, 1.0])
    theirs, frame = dist.to_skpro(), pd.DataFrame(y)
    assert CRPS()(frame, theirs) == pytest.approx(metrics.crps(dist, y))
    assert LogLoss()(frame, theirs) == pytest.approx(metrics.log_loss(dist, y))
    assert SquaredDistrLoss()(frame, theirs) == pytest.approx(2 * metrics.squared_loss(dist, y))


def test_adapter_can_be_pickled_and_cloned(skpro):
    theirs = random_mixture(0).to_skpro(index=[3, 1, 7])
    for copy in (pickle.loads(pickle.dumps(theirs)), theirs.clone()):
        pd.testing.assert_frame_equal(copy.mean(), theirs.mean())


@pytest.mark.filterwarnings("ignore")  # warnings of skpro itself
def test_adapter_passes_check_estimator_of_skpro(skpro):
    from skpro.utils import check_estimator

    from condensity.adapters.skpro import SkproMixture

    class Tried(SkproMixture):
        """Adapter with parameters for the test suite.

        >>> 1
        1
        """

        @classmethod
        def get_test_params(cls, parameter_set="default"):
            dist = random_mixture(0, dy=2)
            table = {"dist": dist, "index": [1, 2, 5], "columns": ["a", "b"]}
            return [table, {"dist": dist[0].marginal(0)}]

    results = check_estimator(Tried, raise_exceptions=False, verbose=False)
    assert len(results) > 50
    failed = {name: result for name, result in results.items() if result != "PASSED"}
    assert not failed


def test_wrong_numbers_of_names_are_refused(skpro):
    with pytest.raises(ValueError, match=r"index must have 3 names .* got 2"):
        random_mixture(0).to_skpro(index=[1, 2])
    with pytest.raises(ValueError, match=r"columns must have 1 names .* got 2"):
        random_mixture(0).to_skpro(columns=["a", "b"])
