"""Two steps in one estimator: first a reducer, then a density."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from condensity import LSCDE, LSCE, SAVE, SIR, EpsilonKDE, FixedSubspace, Reduced
from condensity.datasets import toy_a, toy_b
from condensity.metrics import squared_loss, subspace_error

QUICK = EpsilonKDE(epsilon=0.5, bandwidth=0.4)


class Memory(TransformerMixin, BaseEstimator):
    """Remembers what it was fitted to, and gives it away for samples it knows."""

    fitted = []  # noqa: RUF012

    def __init__(self, n_components=1, cv=None, random_state=None):
        self.n_components, self.cv, self.random_state = n_components, cv, random_state

    def fit(self, X, y):
        self.X_, self.y_ = X, y
        Memory.fitted.append(self)
        return self

    def transform(self, X):
        known = {tuple(x): y for x, y in zip(self.X_, self.y_, strict=True)}
        z = np.array([known.get(tuple(x), x[0]) for x in X])
        return np.repeat(z[:, None], self.n_components, axis=1)


@pytest.fixture(autouse=True)
def forget():
    Memory.fitted.clear()


def test_it_is_the_density_of_what_the_reducer_makes_of_the_inputs():
    X, y = toy_b().sample(120, random_state=0)
    X_test, y_test = toy_b().sample(50, random_state=1)
    model = Reduced(SIR(2), LSCDE(random_state=3)).fit(X, y)
    sir = SIR(2).fit(X, y)
    lscde = LSCDE(random_state=3).fit(sir.transform(X), y)
    Z = sir.transform(X_test)
    np.testing.assert_allclose(model.transform(X_test), Z, rtol=1e-12)
    np.testing.assert_allclose(model.predict(X_test), lscde.predict(Z), rtol=1e-9)
    assert model.score(X_test, y_test) == pytest.approx(lscde.score(Z, y_test), rel=1e-9)
    pdf = model.predict_dist(X_test).pdf(y_test)
    np.testing.assert_allclose(pdf, lscde.predict_dist(Z).pdf(y_test), rtol=1e-9)
    np.testing.assert_allclose(model.predict_dist_reduced(Z).pdf(y_test), pdf, rtol=1e-9)
    np.testing.assert_array_equal(model.components_, sir.components_)
    assert model.n_components_ == 2


def test_the_steps_are_cloned_and_their_parameters_are_nested():
    X, y = toy_b().sample(60, random_state=0)
    reducer, density = SIR(), EpsilonKDE(epsilon=0.5)
    model = Reduced(reducer, density).set_params(reducer__n_slices=4, density__bandwidth=0.3)
    model.fit(X, y)
    assert model.reducer_.n_slices_ == [4]
    assert (model.density_.epsilon_, model.density_.bandwidth_) == (0.5, 0.3)
    assert not hasattr(reducer, "components_")
    assert not hasattr(density, "epsilon_")
    grid = GridSearchCV(model, {"density__epsilon": [0.3, np.inf]}, cv=3).fit(X, y)
    assert grid.best_params_ == {"density__epsilon": 0.3}


def test_by_default_it_is_sir_and_lscde():
    X, y = toy_b().sample(60, random_state=0)
    model = Reduced(random_state=0).fit(X, y)
    assert isinstance(model.reducer_, SIR)
    assert isinstance(model.density_, LSCDE)
    assert np.isnan(model.cv_results_["mean_test_score"]).all()
    assert model.cv_results_["param_n_components"].tolist() == [1]


def test_the_true_subspace_helps():
    for problem in (toy_a(), toy_b()):
        X, y = problem.sample(200, random_state=0)
        X_test, y_test = problem.sample(1000, random_state=1)
        for density in (EpsilonKDE(random_state=0), LSCDE(random_state=0)):
            true = Reduced(FixedSubspace(problem.components), density).fit(X, y)
            none = Reduced(FixedSubspace(), density).fit(X, y)
            assert true.score(X_test, y_test) > 1.5 * none.score(X_test, y_test)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_both_steps_refitted_without_the_fold(weighted):
    X, y = toy_a().sample(90, random_state=2)
    weight = np.random.default_rng(0).uniform(0.5, 2, 90) if weighted else np.ones(90)
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    model = Reduced(SAVE(), QUICK, n_components="auto", cv=folds).fit(X, y, weight)
    assert model.cv_results_["param_n_components"].tolist() == [1, 2, 3, 4, 5]
    for d in range(1, 6):
        for k, (train, test) in enumerate(folds):
            save = SAVE(d).fit(X[train], y[train], weight[train])
            density = EpsilonKDE(epsilon=0.5, bandwidth=0.4)
            density.fit(save.transform(X[train]), y[train], weight[train])
            dist = density.predict_dist(save.transform(X[test]))
            loss = np.average(0.5 * dist.squared_norm() - dist.pdf(y[test]), weights=weight[test])
            score = model.cv_results_[f"split{k}_test_score"][d - 1]
            assert score == pytest.approx(-loss, rel=1e-9)
    best = 1 + int(np.argmax(model.cv_results_["mean_test_score"]))
    assert model.n_components_ == best == len(model.components_)
    assert model.transform(X).shape == (90, best)


def test_auto_finds_the_number_of_directions():
    X, y = toy_a().sample(300, random_state=0)
    model = Reduced(SAVE(), EpsilonKDE(), n_components="auto", random_state=0).fit(X, y)
    assert model.n_components_ == 2
    assert subspace_error(model.components_, toy_a().components) < 0.4


def test_nothing_of_a_fold_is_known_to_the_steps_that_it_judges():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.standard_normal(60)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    model = Reduced(Memory(), QUICK, n_components=[1, 2], cv=folds).fit(X, y)
    assert len(Memory.fitted) == 2 * 4 + 1
    for k, reducer in enumerate(Memory.fitted[:-1]):
        np.testing.assert_array_equal(reducer.X_, X[folds[k % 4][0]])
        np.testing.assert_array_equal(reducer.y_, y[folds[k % 4][0]])
    # A reducer that gives away what it knows makes the density certain, and wrong on new samples.
    assert model.score(X, y) > 0.2
    assert model.cv_results_["mean_test_score"].max() < 0.1


def test_integers_and_sequences_are_the_numbers_to_try():
    X, y = toy_b().sample(60, random_state=0)
    assert Reduced(SIR(), QUICK, n_components=3).fit(X, y).n_components_ == 3
    model = Reduced(SIR(), QUICK, n_components=np.array([4, 2]), random_state=0).fit(X, y)
    assert model.cv_results_["param_n_components"].tolist() == [4, 2]
    assert model.n_components_ in (2, 4)
    assert Reduced(SIR(4), QUICK).fit(X, y).n_components_ == 4


def test_auto_tries_no_more_than_inputs_and_samples_allow():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((12, 30)), rng.standard_normal(12)
    model = Reduced(PCA(), QUICK, n_components="auto", cv=3, random_state=0).fit(X, y)
    assert model.cv_results_["param_n_components"].tolist() == list(range(1, 9))
    X = np.column_stack([np.ones(40), rng.standard_normal((40, 2))])
    model = Reduced(PCA(), QUICK, n_components="auto", random_state=0).fit(X, X[:, 1] ** 2)
    assert model.cv_results_["param_n_components"].tolist() == [1, 2]


def test_given_folds_become_those_of_the_steps():
    X, y = toy_b().sample(60, random_state=0)
    groups = np.repeat(np.arange(20), 3)
    folds = list(GroupKFold(5).split(X, y, groups))
    model = Reduced(Memory(), LSCDE(), n_components=[1, 2], cv=folds, random_state=0).fit(X, y)
    for k, reducer in enumerate(Memory.fitted[:-1]):
        kept = groups[folds[k % 5][0]]
        assert len(reducer.cv) == 4
        for train, test in reducer.cv:
            assert not set(kept[train]) & set(kept[test])
    for steps in (model.reducer_, model.density_):
        held = [test.tolist() for _, test in steps.cv]
        assert held == [np.sort(test).tolist() for _, test in folds]
    own = Reduced(Memory(cv=7), LSCDE(cv=3), n_components=[1, 2], random_state=0).fit(X, y)
    assert (own.reducer_.cv, own.density_.cv) == (7, 3)


def test_weights_of_zero_are_as_if_the_samples_were_not_there():
    X, y = toy_b().sample(60, random_state=0)
    weight = (np.arange(60) % 3 > 0).astype(float)
    folds = list(KFold(4).split(X))
    model = Reduced(Memory(), LSCDE(), n_components=[1, 2], cv=folds, random_state=0)
    model.fit(X, y, weight)
    np.testing.assert_array_equal(model.reducer_.y_, y[weight > 0])
    for k, reducer in enumerate(Memory.fitted[:-1]):
        train = folds[k % 4][0]
        np.testing.assert_array_equal(reducer.y_, y[train][weight[train] > 0])
    assert sorted(np.concatenate([test for _, test in model.density_.cv])) == list(range(40))


def test_unequal_weights_need_steps_that_take_them():
    X, y = toy_b().sample(60, random_state=0)
    weight = np.linspace(1, 2, 60)
    remedy = "PCA does not accept sample_weight, which unequal weights need: choose one that"
    with pytest.raises(ValueError, match=remedy):
        Reduced(PCA(1), QUICK).fit(X, y, weight)
    Reduced(PCA(1), QUICK).fit(X, y, np.full(60, 3.0))


def test_equal_inputs_stay_equal_for_the_density():
    rng = np.random.default_rng(2)

    class Rounding(FixedSubspace):
        """Adds noise below what matters, another for every row."""

        def transform(self, X):
            return super().transform(X) * (1 + 1e-15 * rng.standard_normal((len(X), 1)))

    X, y = toy_b().sample(40, random_state=0)
    rows = np.repeat(np.arange(40), 2)
    model = Reduced(Rounding(), EpsilonKDE(random_state=0)).fit(X[rows], y[rows])
    assert model.density_._width == 40


def test_seeds_are_drawn_for_steps_that_have_none():
    X, y = toy_b().sample(60, random_state=0)
    model = Reduced(Memory(), LSCDE(random_state=7), n_components=[1, 2], random_state=0).fit(X, y)
    assert len({reducer.random_state for reducer in Memory.fitted}) == 1
    assert isinstance(model.reducer_.random_state, int)
    assert model.density_.random_state == 7
    again = Reduced(Memory(), LSCDE(), random_state=0).fit(X, y)
    other = Reduced(Memory(), LSCDE(), random_state=1).fit(X, y)
    assert again.reducer_.random_state == model.reducer_.random_state
    assert again.density_.random_state != other.density_.random_state


@pytest.mark.parametrize(
    "reducer",
    [
        PCA(2),
        PLSRegression(2),
        make_pipeline(StandardScaler(), PCA(2)),
        LSCE.as_published(2).set_params(n_starts=1),
    ],
    ids=lambda reducer: type(reducer).__name__,
)
def test_any_transformer_will_do(reducer):
    X, y = toy_b().sample(60, random_state=0)
    model = Reduced(reducer, EpsilonKDE(), random_state=0).fit(X, y)
    assert model.transform(X).shape == (60, 2)
    assert np.isfinite(model.score(X, y))
    assert hasattr(model, "components_") == hasattr(model.reducer_, "components_")
    assert Reduced(reducer, QUICK, n_components=1, random_state=0).fit(X, y).n_components_ == 1


def test_two_outputs():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 4))
    Y = X[:, [0, 2]] + 0.1 * rng.standard_normal((150, 2))
    model = Reduced(SIR(), EpsilonKDE(), n_components="auto", random_state=0).fit(X, Y)
    assert model.n_components_ == 2
    assert model.predict(X).shape == (150, 2)
    assert model.score(X, Y) > 0


def test_frames_keep_their_names_on_the_way_to_the_reducer():
    X, y = toy_b().sample(60, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    chosen = make_column_transformer(("passthrough", ["b", "c"]))
    model = Reduced(chosen, EpsilonKDE(), random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.transform(frame), X[:, 1:3])
    assert model.get_feature_names_out().tolist() == ["reduced0", "reduced1"]
    Z = Reduced(SIR(2), QUICK).set_output(transform="pandas").fit(frame, y).transform(frame)
    assert Z.columns.tolist() == ["reduced0", "reduced1"]


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"reducer": LinearRegression()}, "reducer must be a transformer with fit and transform"),
        ({"reducer": SIR}, "got <class"),
        ({"reducer": "SIR"}, "got 'SIR'"),
        ({"density": KMeans()}, "an estimator of conditional densities with fit and predict_dist"),
        ({"density": make_pipeline(LSCDE())}, "got Pipeline"),
        ({"n_components": 0}, "n_components must be None .* 'auto', an integer >= 1 or .* got 0"),
        ({"n_components": "all"}, "got 'all'"),
        ({"n_components": True}, "got True"),
        ({"n_components": 1.5}, "got 1.5"),
        ({"n_components": []}, r"got \[\]"),
        ({"n_components": [1, 1]}, r"a sequence of different integers >= 1, got \[1, 1\]"),
        ({"n_components": [1, "2"]}, r"got \[1, '2'\]"),
        (
            {"reducer": FixedSubspace(), "n_components": 1},
            "has 0: set the number on the reducer and leave",
        ),
        (
            {"reducer": make_pipeline(PCA(), SIR()), "n_components": 1},
            "one parameter of that name, Pipeline.* has 2: set the number on the reducer",
        ),
        ({"n_components": "auto", "cv": 1}, r"cv must be an integer >= 2 \(folds\), got 1"),
        (
            {"n_components": [1, 2], "cv": 50},
            "Reduced cannot split n_samples=40 .* fix n_components",
        ),
        ({"random_state": -1}, "random_state must be an integer >= 0"),
        ({"n_components": 6}, "between 1 and 5, the number of varying inputs, got 6"),
        (
            {"n_components": [1, 6]},
            "n_components=6 cannot be tried on 32 of the samples .*pass a sequence of numbers",
        ),
    ],
)
def test_what_is_refused(parameters, match):
    X, y = toy_b().sample(40, random_state=0)
    model = Reduced(**{"density": QUICK, **parameters})
    with pytest.raises(ValueError, match=match):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_reduced_inputs_must_have_the_columns_of_z():
    X, y = toy_b().sample(40, random_state=0)
    model = Reduced(SIR(2), QUICK)
    with pytest.raises(NotFittedError):
        model.predict_dist_reduced(np.zeros((1, 2)))
    with pytest.raises(NotFittedError):
        model.transform(X)
    with pytest.raises(ValueError, match="Z has 5 columns but n_components_ is 2: pass 2 columns"):
        model.fit(X, y).predict_dist_reduced(X)


def test_the_squared_loss_decides_whatever_the_density_says_of_itself():
    class Boastful(EpsilonKDE):
        def score(self, X, y, sample_weight=None):
            return 1e9 * X.shape[1]

    X, y = toy_b().sample(80, random_state=0)
    fixed = {"epsilon": 0.5, "bandwidth": 0.4}
    models = [
        Reduced(SIR(), density(**fixed), n_components="auto", random_state=0).fit(X, y)
        for density in (EpsilonKDE, Boastful)
    ]
    assert models[0].n_components_ == models[1].n_components_
    held_out = -models[1].cv_results_["mean_test_score"].max()
    assert held_out == pytest.approx(squared_loss(models[1].predict_dist(X), y), abs=0.3)


def test_two_folds_leave_one_to_the_steps():
    X, y = toy_b().sample(40, random_state=0)
    half = np.arange(40) % 2
    folds = [(np.flatnonzero(half != j), np.flatnonzero(half == j)) for j in (0, 1)]
    model = Reduced(SIR(), LSCDE(), [1, 2], cv=folds, random_state=0)
    with pytest.raises(ValueError, match="a cv of three folds or more, or a single n_components"):
        model.fit(X, y)
    model.set_params(n_components=1).fit(X, y)  # nothing to choose: both folds are for the steps
    # Steps that choose nothing need no folds.
    model.set_params(n_components=[1, 2], density=LSCDE(bandwidth=0.5, penalty=0.1)).fit(X, y)
