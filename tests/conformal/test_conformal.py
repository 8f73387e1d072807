"""Conformal regions: ranks by plain loops, regions that agree with p-values, and coverage."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from condensity import LSCDE, LSCE, SIR, Reduced, WithAtoms
from condensity.conformal import Conformal
from condensity.conformal.calibration_scores import CalibrationScores
from condensity.distributions import Block, Mixture

BASE = LSCDE(bandwidth=(0.6, 0.4), penalty=0.05, random_state=0)

POSITIVE = LSCE(
    1,
    n_members=1,
    location="none",
    bandwidth=(0.6, 0.4),
    penalty=0.05,
    bounds=(0, None),
    n_starts=1,
    max_iter=5,
    random_state=0,
)


def data(n=120, dy=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    Y = np.sin(2 * X[:, :1]) + rng.choice([-0.8, 0.8], (n, 1)) + 0.2 * rng.standard_normal((n, dy))
    return X, Y[:, 0] if dy == 1 else Y


class WrongNormal(RegressorMixin, BaseEstimator):
    """Not one of ours, and wrong: N(5, 0.01) for every x."""

    def fit(self, X, y):
        self.n_outputs_ = np.asarray(y).reshape(len(y), -1).shape[1]
        return self

    def predict_dist(self, X):
        dy = self.n_outputs_
        return Mixture([Block(np.zeros((len(X), 1)), np.full((1, dy), 5.0), 0.1 * np.eye(dy))])


def loop_p_value(scores, weights, groups, score, weight, group):
    same = [(s, w) for s, w, g in zip(scores, weights, groups, strict=True) if g == group]
    above = sum(w for s, w in same if s >= score)
    return (above + weight) / (sum(w for _, w in same) + weight)


def test_masses_and_thresholds_are_those_of_loops():
    rng = np.random.default_rng(0)
    scores, weights = rng.integers(0, 12, 60) / 11, rng.integers(1, 5, 60) / 2
    groups, new = rng.integers(0, 3, 60), rng.integers(0, 4, 30)
    own = CalibrationScores.of(scores, weights, groups)
    at = rng.integers(0, 12, 30) / 11
    needed = rng.uniform(-1, 15, 30)
    masses, thresholds = own.mass_above(at, new), own.thresholds(needed, new)
    for i, g in enumerate(new):
        mine = scores[groups == g]

        def mass(s, g=g):
            return weights[(groups == g) & (scores >= s)].sum()

        assert masses[i] == pytest.approx(mass(at[i]))
        allowed = [s for s in mine if mass(s) > needed[i]]
        expected = np.inf if needed[i] < 0 or not len(mine) else max(allowed, default=mine.min())
        assert thresholds[i] == expected
        assert own.totals(new)[i] == pytest.approx(weights[groups == g].sum())
        assert own.counts(new)[i] == (groups == g).sum()


@pytest.mark.parametrize("options", [{}, {"cv": 4}, {"by": lambda X: X[:, 0] > 0}])
def test_p_values_are_those_of_loops(options):
    X, y = data()
    ratio = {"likelihood_ratio": lambda X: 1.5 + X[:, 1]}
    model = Conformal(BASE, random_state=0, **options, **ratio).fit(X, y)
    X_new, y_new = data(15, seed=1)
    found = model.predict_regions(X_new).p_value(y_new)
    for i in range(15):
        above = total = 1.5 + X_new[i, 1]
        for part, estimator in zip(model.calibration_, model.estimators_, strict=True):
            score = estimator.predict_dist(X_new[i : i + 1]).hpd_level(y_new[i])[0]
            group = X_new[i, 0] > 0 if "by" in options else 0
            own = part.groups == group
            above += part.weights[own & (part.scores >= score)].sum()
            total += part.weights[own].sum()
        assert found[i] == pytest.approx(above / total)


def test_the_p_value_of_an_exchangeable_score_is_uniform():
    rng = np.random.default_rng(0)
    n, one = 19, np.ones(1)
    p = []
    for _ in range(4000):
        scores = CalibrationScores.of(rng.random(n), np.ones(n), np.zeros(n))
        p.append((scores.mass_above(rng.random(1), np.zeros(1)) + one)[0] / (n + 1))
    for alpha in (0.05, 0.1, 0.5):
        assert np.mean(np.array(p) <= alpha + 1e-12) == pytest.approx(alpha, abs=0.03)


@pytest.mark.parametrize("method", ["hpd", "quantile"])
@pytest.mark.parametrize("dy", [1, 3])
@pytest.mark.parametrize("cv", ["split", 3])
def test_coverage_holds_for_a_wrong_model(method, dy, cv):
    if dy > 1 and method == "quantile":
        pytest.skip("central intervals are for one output")
    hits, level = [], 0.8
    for run in range(60):
        X, y = data(40, dy, seed=run)
        model = Conformal(WrongNormal(), method, cv, n_draws=50, random_state=run)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # ties far outside the density
            model.fit(X, y)
        X_new, y_new = data(100, dy, seed=1000 + run)
        hits.append(model.predict_regions(X_new).contains(y_new, level).mean())
    error = np.std(hits) / np.sqrt(len(hits))
    assert np.mean(hits) > level - 3 * error - 1e-9


def test_coverage_of_a_good_model_is_the_level():
    hits = []
    for run in range(60):
        X, y = data(100, seed=run)
        model = Conformal(BASE, "quantile", random_state=run).fit(X, y)
        hits.append(
            model.predict_regions(data(200, seed=2000 + run)[0])
            .contains(data(200, seed=2000 + run)[1], 0.8)
            .mean()
        )
    assert np.mean(hits) == pytest.approx(0.8, abs=0.03)


def inside(regions, y):
    return np.array(
        [np.any((r[:, 0] <= v) & (v <= r[:, 1])) for r, v in zip(regions, y, strict=True)]
    )


@pytest.mark.parametrize("method", ["hpd", "quantile"])
@pytest.mark.parametrize("bounds", [None, (0, None)])
def test_a_region_holds_what_it_contains(method, bounds):
    X, y = data()
    X_new, y_new = data(300, seed=7)
    base = BASE
    if bounds is not None:
        base, y, y_new = POSITIVE, np.exp(y), np.exp(y_new)
    X, y, model = X_new, y_new, Conformal(base, method, random_state=0).fit(X, y)
    regions = model.predict_regions(X)
    for level in (0.3, 0.8, 0.95):
        np.testing.assert_array_equal(inside(regions.region(level), y), regions.contains(y, level))
        ends = regions.interval(level)
        np.testing.assert_array_equal(ends[:, 0], [r[0, 0] for r in regions.region(level)])
        lengths = [np.sum(r[:, 1] - r[:, 0]) for r in regions.region(level)]
        np.testing.assert_allclose(regions.size(level), lengths)


@pytest.mark.parametrize("sign", [-1, 1])
def test_central_intervals_hold_frequent_values_that_they_contain(sign):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 1))
    y = sign * np.where(rng.random(400) < 0.4 + 0.3 * X[:, 0], 0.0, np.exp(rng.normal(size=400)))
    base = WithAtoms(LSCDE(bandwidth=0.5, penalty=0.1, random_state=0), random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*scores are equal")  # those of the frequent value
        model = Conformal(base, method="quantile", random_state=0).fit(X[:200], y[:200])
    regions, y = model.predict_regions(X[200:]), y[200:]
    for level in (0.2, 0.5, 0.8):
        hit = regions.contains(y, level)
        np.testing.assert_array_equal(inside(regions.region(level), y), hit)
        assert hit.mean() > level - 0.1
    assert model.calibration_[0].scores[0] == 0  # where the frequent value is the median


def test_regions_of_two_branches_are_two_intervals():
    X, y = data(600)
    sharp = clone(BASE).set_params(bandwidth=(0.4, 0.2), penalty=0.01)
    regions = Conformal(sharp, random_state=0).fit(X, y)
    found = regions.predict_regions([[0.0, 0.0]]).region(0.5)[0]
    assert found.shape == (2, 2)
    assert found[0, 1] < 0 < found[1, 0]


@pytest.mark.parametrize("method", ["hpd", "quantile"])
def test_regions_of_folds_hold_what_they_contain(method):
    X, y = data()
    model = Conformal(BASE, method, 3, random_state=0).fit(X, y)
    assert model.n_calibration_ == len(y)
    X_new, y_new = data(300, seed=5)
    regions = model.predict_regions(X_new)
    hit, level = regions.contains(y_new, 0.8), 0.8
    held = inside(regions.region(level), y_new)
    assert held[hit].all()
    assert (held & ~hit).sum() <= (60 if method == "hpd" else 3)
    if method == "quantile":  # the ends are where the p-value falls to the level
        low, high = regions.interval(level).T
        for end, sign in ((low, -1), (high, 1)):
            assert not regions.contains(end + sign * 1e-6, level).any()
            assert regions.contains(end - sign * 1e-6, level).mean() > 0.9


def test_higher_levels_give_larger_regions_and_need_no_new_fit():
    X, y = data()
    regions = Conformal(BASE, random_state=0).fit(X, y).predict_regions(X[:20])
    sizes = [regions.size(level) for level in (0.2, 0.5, 0.8, 0.95)]
    assert (np.diff(sizes, axis=0) >= 0).all()


@pytest.mark.parametrize("dy", [1, 3])
def test_the_density_threshold_is_the_end_of_the_region(dy):
    X, y = data(200, dy)
    model = Conformal(BASE, random_state=0).fit(X, y)
    X_new, y_new = data(150, dy, seed=3)
    regions, dist = model.predict_regions(X_new), model.predict_dist(X_new)
    for level in (0.4, 0.9):
        dense = dist.pdf(y_new) > regions.density_threshold(level)
        np.testing.assert_array_equal(dense, regions.contains(y_new, level))


def test_the_volume_of_several_outputs_is_that_of_a_grid():
    X, y = data(200, 2)
    model = Conformal(BASE, random_state=0).fit(X, y)
    regions = model.predict_regions(X[:1])
    axis = np.linspace(-4, 4, 400)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    dense = model.predict_dist(X[:1]).pdf_on(grid)[0] > regions.density_threshold(0.8)[0]
    expected = dense.sum() * (axis[1] - axis[0]) ** 2
    assert regions.size(0.8, 4000, random_state=0)[0] == pytest.approx(expected, rel=0.15)
    with pytest.raises(ValueError, match="not intervals: use contains"):
        regions.region(0.8)


def test_a_level_out_of_reach_is_unlimited_with_a_warning():
    X, y = data(20)
    model = Conformal(BASE, calibration_size=9, random_state=0).fit(X, y)
    regions = model.predict_regions(X)
    assert np.isfinite(regions.interval(0.9)).all()  # nine samples reach 0.9
    match = r"level 0.95 is out of reach for 20 of 20 rows.*9 calibration samples.*at least 19"
    with pytest.warns(UserWarning, match=match):
        ends = regions.interval(0.95)
    assert np.isneginf(ends[:, 0]).all()
    assert np.isposinf(ends[:, 1]).all()
    assert regions.contains(np.full(20, 1e6), 0.95).all()


def test_an_unlimited_region_of_a_bounded_output_ends_at_its_bounds():
    X, y = data(20)
    base = POSITIVE
    for method in ("hpd", "quantile"):
        model = Conformal(base, method, calibration_size=4, random_state=0).fit(X, np.exp(y))
        with pytest.warns(UserWarning, match="out of reach"):
            ends = model.predict_regions(X).interval(0.9)
        np.testing.assert_array_equal(ends, [[0, np.inf]] * 20)


def test_equal_scores_are_announced():
    X, y = data(40)
    with pytest.warns(UserWarning, match="% of the calibration scores are equal"):
        Conformal(BASE, random_state=0).fit(np.repeat(X, 5, axis=0), np.repeat(y, 5))


def test_groups_are_calibrated_by_themselves():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1000, 1))
    label = np.where(X[:, 0] > 0, "noisy", "quiet")
    y = np.where(X[:, 0] > 0, 2.0, 0.2) * rng.standard_normal(1000)
    whole = Conformal(WrongWidth(), "quantile", random_state=0).fit(X[:500], y[:500])
    by_label = clone(whole).fit(X[:500], y[:500], groups=label[:500])
    by_function = clone(whole).set_params(by=lambda X: X[:, 0] > 0).fit(X[:500], y[:500])
    hits = {
        "whole": whole.predict_regions(X[500:]).contains(y[500:], 0.8),
        "label": by_label.predict_regions(X[500:], label[500:]).contains(y[500:], 0.8),
        "function": by_function.predict_regions(X[500:]).contains(y[500:], 0.8),
    }
    quiet = label[500:] == "quiet"
    assert hits["whole"][quiet].mean() > 0.95
    assert hits["whole"][~quiet].mean() < 0.7
    for group in (quiet, ~quiet):
        assert hits["label"][group].mean() == pytest.approx(0.8, abs=0.08)
    np.testing.assert_array_equal(hits["label"], hits["function"])


class WrongWidth(WrongNormal):
    """One width for every x."""

    def predict_dist(self, X):
        return Mixture([Block(np.zeros((len(X), 1)), np.zeros((1, 1)), np.eye(1))])


def test_bins_of_the_first_direction_are_groups():
    X, y = data(300)
    base = Reduced(SIR(), BASE, n_components=1, random_state=0)
    for cv in ("split", 3):
        model = Conformal(base, cv=cv, by="z", n_bins=3, random_state=0).fit(X, y)
        assert set(np.unique(model.calibration_[0].groups)) == {0, 1, 2}
        estimator = model.estimators_[0]
        z = estimator.transform(X)[:, 0]
        groups = model.predict_regions(X).groups[0]
        assert z[groups == 0].max() < z[groups == 2].min()
    with pytest.raises(ValueError, match="LSCDE has none: pass a function of X"):
        Conformal(BASE, by="z").fit(X, y)
    with pytest.raises(ValueError, match="cv='prefit' has none"):
        Conformal(base.fit(X, y), cv="prefit", by="z").fit(X, y)


def test_a_group_without_samples_is_unlimited():
    X, y = data(60)
    model = Conformal(BASE, by=lambda X: X[:, 0] > 5, random_state=0).fit(X, y)
    far = model.predict_regions([[6.0, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(far.p_value([50.0, 50.0]) == 1, [True, False])
    with pytest.warns(UserWarning, match="1 of 2 rows.*0 calibration samples"):
        assert np.isinf(far.interval(0.8)).all(axis=1).tolist() == [True, False]


def test_weights_correct_a_covariate_shift():
    rng = np.random.default_rng(0)
    X, X_new = rng.uniform(-1, 1, (4000, 1)), 2 * np.sqrt(rng.random((2000, 1))) - 1
    y, y_new = ((1.2 + x[:, 0]) * rng.standard_normal(len(x)) for x in (X, X_new))
    plain = Conformal(WrongWidth(), "quantile", random_state=0).fit(X, y)
    weighted = clone(plain).set_params(likelihood_ratio=lambda X: 1 + X[:, 0]).fit(X, y)
    assert plain.predict_regions(X_new).contains(y_new, 0.8).mean() < 0.75
    hit = weighted.predict_regions(X_new).contains(y_new, 0.8)
    assert hit.mean() == pytest.approx(0.8, abs=0.03)


def test_the_guarantee_is_the_level_except_with_folds():
    X, y = data(100)
    assert Conformal(BASE, random_state=0).fit(X, y).guarantee(0.9) == 0.9
    folds = Conformal(BASE, cv=5, random_state=0).fit(X, y)
    assert folds.guarantee(0.9) == pytest.approx(1 - 0.2 - 2 * (1 - 1 / 5) / (100 / 5 + 1))
    assert folds.guarantee(0.3) == 0.0


def test_the_guarantee_of_folds_and_groups_is_that_of_the_smallest_group():
    X, y = data(100)
    few = np.arange(100) < 30
    expected = 1 - 0.2 - 2 * (1 - 1 / 5) / (30 / 5 + 1)
    splits = list(KFold(5, shuffle=True, random_state=0).split(X))
    labels = Conformal(BASE, cv=splits).fit(X, y, groups=few)
    assert labels.guarantee(0.9) == pytest.approx(expected)
    random = Conformal(BASE, cv=5, random_state=0).fit(X, y, groups=few)  # without a warning
    assert random.guarantee(0.9) == pytest.approx(expected)
    threshold = np.sort(X[:, 0])[30]
    function = Conformal(BASE, cv=5, by=lambda X: X[:, 0] < threshold, random_state=0).fit(X, y)
    assert function.guarantee(0.9) == pytest.approx(expected)


def test_nothing_is_proved_for_folds_with_bins_of_their_own_or_weights():
    X, y = data(100)
    base = Reduced(SIR(), BASE, n_components=1, random_state=0)
    for options in ({"by": "z", "n_bins": 2}, {"likelihood_ratio": lambda X: 1.5 + X[:, 0]}):
        model = Conformal(base, random_state=0, **options)
        assert model.fit(X, y).guarantee(0.9) == 0.9
        assert model.set_params(cv=3).fit(X, y).guarantee(0.9) == 0.0


def test_prefit_models_are_calibrated_with_all_samples():
    X, y = data()
    fitted = make_pipeline(StandardScaler(), clone(BASE)).fit(X, y)
    model = Conformal(fitted, cv="prefit").fit(X[:50], y[:50])
    assert model.estimators_[0] is fitted
    assert model.n_calibration_ == 50
    np.testing.assert_array_equal(model.predict(X), fitted.predict(X))


def test_splitters_hold_out_every_sample_once():
    X, y = data(60)
    groups = np.arange(60) // 6
    model = Conformal(BASE, cv=GroupKFold(3)).fit(X, y, groups)
    assert [len(part.scores) for part in model.calibration_] == [18, 18, 24] or (
        sum(len(part.scores) for part in model.calibration_) == 60
    )
    twice = [(np.arange(30), np.arange(30, 60)), (np.arange(30), np.arange(30, 60))]
    with pytest.raises(ValueError, match="every sample exactly once"):
        Conformal(BASE, cv=twice).fit(X, y)
    rows = np.arange(60)
    seen = [(rows[30:], rows[:30]), (rows[29:], rows[30:])]
    with pytest.raises(ValueError, match="30 of the held-out rows of split 1 are also in its"):
        Conformal(BASE, cv=seen).fit(X, y)
    masks = [(rows >= 30, rows[:30]), (rows < 31, rows[30:])]
    with pytest.raises(ValueError, match="1 of the held-out rows of split 1"):
        Conformal(BASE, cv=masks).fit(X, y)


def test_same_seed_same_answer_for_any_number_of_workers():
    X, y = data(90, 2)
    answers = [
        Conformal(LSCDE(), cv=3, random_state=0, n_jobs=jobs)
        .fit(X, y)
        .predict_regions(X)
        .p_value(y)
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*answers)


def test_regions_of_several_outputs_are_the_same_at_every_call():
    X, y = data(90, 2)
    model = Conformal(BASE, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    first = model.predict_regions(X).p_value(y)
    for other in (model, again):
        np.testing.assert_array_equal(other.predict_regions(X).p_value(y), first)


def test_frames_are_understood_and_names_kept():
    X, y = data()
    frame = pd.DataFrame(X, columns=["age", "dose"])
    model = Conformal(BASE, random_state=0).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["age", "dose"]
    assert model.estimators_[0].feature_names_in_.tolist() == ["age", "dose"]
    plain = Conformal(BASE, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        model.predict_regions(frame).p_value(y), plain.predict_regions(X).p_value(y)
    )


def test_the_default_estimator_is_lsce():
    X, y = data(60)
    model = Conformal(LSCE(1, n_members=1, n_starts=1, random_state=0)).fit(X, y)
    assert model.predict(X).shape == (60,)
    assert Conformal().estimator is None


@parametrize_with_checks([Conformal(BASE), Conformal(BASE, "quantile", cv=3)])
@pytest.mark.filterwarnings("ignore:.*calibration scores are equal:UserWarning")
@pytest.mark.filterwarnings("ignore:y equals:UserWarning")
@pytest.mark.filterwarnings("ignore:y in column:UserWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


WRONG = {
    "method": ({"method": "density"}, "method must be one of 'hpd', 'quantile'"),
    "cv": ({"cv": "loo"}, "cv must be one of 'split', 'prefit'"),
    "one fold": ({"cv": 1}, "cv must be an integer >= 2"),
    "folds": ({"cv": 121}, "cannot split n_samples=120 into cv=121 folds"),
    "size": ({"calibration_size": 1.0}, "share strictly between 0 and 1"),
    "count": ({"calibration_size": 120}, "below n_samples=120"),
    "by": ({"by": "x"}, "by must be one of 'z'"),
    "labels": ({"by": lambda X: X}, "must be one-dimensional"),
    "ratio": ({"likelihood_ratio": lambda X: X}, "likelihood_ratio must return 120"),
    "estimator": ({"estimator": StandardScaler()}, "estimator of densities"),
}


@pytest.mark.parametrize(("options", "match"), WRONG.values(), ids=WRONG)
def test_wrong_parameters_are_refused(options, match):
    X, y = data()
    with pytest.raises(ValueError, match=match):
        Conformal(BASE).set_params(**options).fit(X, y)


def test_wrong_questions_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match="one output, but y has 2"):
        Conformal(BASE, "quantile").fit(X, data(dy=2)[1])
    model = Conformal(BASE, "quantile", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="do not end at one density"):
        model.predict_regions(X).density_threshold(0.9)
    with pytest.raises(ValueError, match="fit was called without groups"):
        model.predict_regions(X, groups=np.zeros(len(X)))
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        model.predict_regions(X).interval(90)
    folds = Conformal(BASE, cv=KFold(3)).fit(X, y).predict_regions(X)
    with pytest.raises(ValueError, match="not a level set of one density"):
        folds.density_threshold(0.9)
