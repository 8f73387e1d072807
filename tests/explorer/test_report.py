"""What is written, without a browser: the numbers, the checks, the file."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import condensity
import explored
from condensity import LSCDE, LSCE, LSMI, FixedSubspace, Reduced
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture
from condensity.explorer import write_report
from condensity.explorer.calibration_panel import LEVELS, MAX_TEST_SAMPLES, calibration
from condensity.explorer.exported_model import ExportedModel
from condensity.explorer.influence import Move, influence
from condensity.explorer.page import escaped_json

DENSITY = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)


def page_data(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="content">(.*?)</', text)[1])


def fact(path, name):
    return dict(page_data(path)["facts"])[name]


def test_ranges_quantiles_and_names_are_those_of_the_data(report, tmp_path):
    content = page_data(report("two outputs"))
    for j, page_input in enumerate(content["inputs"]):
        column = explored.X[:, j]
        assert (page_input["low"], page_input["high"]) == (column.min(), column.max())
        np.testing.assert_allclose(page_input["quantiles"][2], np.median(column))
        assert page_input["name"] == f"x{j + 1}"
    assert [output["name"] for output in content["outputs"]] == ["y1", "y2"]
    assert content["title"] == "y1, y2 given 4 inputs"
    frame = pd.DataFrame(explored.X, columns=list("abcd"))
    y = pd.Series(explored.FORK, name="fork")
    path = write_report(
        LSCDE(**DENSITY.get_params()).fit(frame, y), tmp_path / "r.html", X=frame, y=y
    )
    assert page_data(path)["title"] == "fork given 4 inputs"
    assert [one["name"] for one in page_data(path)["inputs"]] == list("abcd")


def test_without_data_the_model_knows_where_its_inputs_lie(tmp_path):
    model, _ = explored.fitted("several members")
    content = page_data(write_report(model, tmp_path / "r.html"))
    mean, sd = explored.X.mean(axis=0), explored.X.std(axis=0)
    lows = [one["low"] for one in content["inputs"]]
    np.testing.assert_allclose(lows, mean - 3 * sd, rtol=1e-9)
    assert content["points"] is None
    assert content["calibration"] is None


def test_the_true_ranges_may_be_given(tmp_path):
    model = LSCDE(**DENSITY.get_params()).fit(explored.X, explored.FORK)
    ends = np.array([explored.X.min(axis=0) - 1, explored.X.max(axis=0) + 2])
    for given in ({}, {"X": explored.X[:9], "y": explored.FORK[:9]}):
        path = write_report(model, tmp_path / "r.html", input_ranges=ends, **given)
        inputs = page_data(path)["inputs"]
        assert [[one["low"], one["high"]] for one in inputs] == ends.T.tolist()
        assert all(one["known"] for one in inputs)
    unknown = page_data(write_report(model, tmp_path / "r.html"))["inputs"]
    assert not any(one["known"] for one in unknown)
    for wrong in (ends[:, :2], ends[::-1], ends * np.nan):
        with pytest.raises(ValueError, match=r"input_ranges must be finite numbers of shape"):
            write_report(model, tmp_path / "r.html", input_ranges=wrong)


def test_the_steps_of_a_page_are_counted(tmp_path):
    model, steps = LSCDE(**DENSITY.get_params()).fit(explored.X, explored.FORK), []
    test = {"X_test": explored.X[:30], "y_test": explored.FORK[:30]}
    path = tmp_path / "r.html"
    write_report(model, path, **test, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(k + 1, len(steps)) for k in range(len(steps))]
    assert len(steps) > explored.X.shape[1]


def test_samples_are_thinned_or_left_out(report, tmp_path):
    model, y = explored.fitted("several members")
    data = {"X": explored.X, "y": y}
    assert (
        page_data(write_report(model, tmp_path / "a.html", **data, n_points=7))["points"]["n"] == 7
    )
    bare = write_report(model, tmp_path / "b.html", **data, n_points=0)
    assert page_data(bare)["points"] is None
    assert page_data(bare)["inputs"][0]["high"] == explored.X[:, 0].max()
    one, two = (write_report(model, tmp_path / n, **data, n_points=9) for n in ("c", "d"))
    assert one.read_bytes() == two.read_bytes()
    some = write_report(model, tmp_path / "f.html", **data, n_train=12345)
    assert fact(some, "Training samples") == "12345"
    only_inputs = page_data(write_report(model, tmp_path / "e.html", X=explored.X))
    assert only_inputs["points"]["Y"] is None


def test_what_the_model_is(report):
    path = report("several members")
    model, _ = explored.fitted("several members")
    assert fact(path, "Members") == "7"
    assert fact(path, "Directions, d_z") == "2"
    assert fact(path, "Cross-validated score") == f"{model.cv_score_:.4g}"
    assert fact(path, "condensity") == condensity.__version__
    assert fact(path, "Training samples") == "100"
    assert fact(report("Reduced"), "Steps") == "SIR, LSCDE"
    n_parts = len(explored.fitted("several locations")[0]._density.parts)
    assert n_parts > 1
    members = fact(report("several locations"), "Members")
    assert members.endswith(f" in {n_parts} configurations")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("several members", "none (a constant)"),
        ("two outputs", "linear"),
        ("reduced location", "smooth function of the directions"),
        ("smooth location", "smooth (Gaussian process)"),
        ("tree location", "boosted trees"),
        ("flexible location", "flexible (linear, smooth, trees)"),
    ],
)
def test_the_location_is_described_in_words(kind, words, report):
    assert fact(report(kind), "Location") == words


def test_a_model_that_was_read_gives_the_same_page(report, tmp_path):
    model, y = explored.fitted("two bounds")
    condensity.save(model, tmp_path / "m.cdn")
    read = condensity.load(tmp_path / "m.cdn")
    pages = [
        write_report(m, tmp_path / "r.html", X=explored.X, y=y).read_text() for m in (model, read)
    ]
    assert pages[0] == pages[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.cdn", "r.html"]


def test_influence_is_the_mass_that_moves():
    def at(X):  # y ~ N(x_1 + 3 x_2, 1), whatever x_3
        means = (X[:, 0] + 3 * X[:, 1])[:, None]
        return Mixture([Block(np.zeros((len(X), 1)), np.zeros((1, 1)), np.eye(1), shift=means)])

    half = np.array([0.5])
    moves = [[Move([0], -half, half)], [Move([1], -half, half)], [Move([2], half, half)]]
    one, other = np.eye(2)
    moves += [[Move([0, 1], one, one), Move([0, 1], one, other)], []]
    found = influence(at, np.zeros((2, 3)), moves, np.array([[-9.0, 9.0]]), width=1)
    # Two normals d apart share all but 2 Phi(d / 2) - 1.
    expected = [2 * stats.norm.cdf(d / 2) - 1 for d in (1, 3, 0, 2, 0)]
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_calibration_counts(monkeypatch):
    model, y = explored.fitted("two outputs")
    exported = ExportedModel.of(model)
    found = calibration(exported, explored.X, y, np.random.default_rng(0))
    dist = model.predict_dist(explored.X)
    for j, output in enumerate(found["outputs"]):
        pit = np.array([dist[i].marginal(j).cdf(y[i, j])[0] for i in range(100)])
        level = dist.marginal(j).hpd_level(y[:, j])
        counts = np.histogram(pit, 8, (0, 1))[0]
        np.testing.assert_allclose(output["histogram"], counts / 12.5, atol=1e-12)
        for q, central, highest in zip(LEVELS, output["central"], output["highest"], strict=True):
            assert central == np.mean((pit >= (1 - q) / 2) & (pit <= (1 + q) / 2))
            assert highest == np.mean(level <= q)
    assert found["log_score"] == pytest.approx(dist.log_pdf(y).mean())
    low, high = found["band"]
    counts = np.arange(101)
    inside = (counts / 12.5 >= low) & (counts / 12.5 <= high)
    assert 0.95 <= stats.binom.pmf(counts, 100, 1 / 8)[inside].sum() < 0.99
    many = np.tile(explored.X, (30, 1))
    thinned = calibration(exported, many, np.tile(y, (30, 1)), np.random.default_rng(0))
    assert thinned["n"] == MAX_TEST_SAMPLES


def test_a_constant_input_is_said_to_be_one(tmp_path):
    X = np.column_stack([explored.X[:, 0], np.full(100, 3.0), np.arange(100)])
    with pytest.warns(UserWarning, match="does not vary in column 1"):
        model = LSCDE(**DENSITY.get_params()).fit(X, explored.FORK)
    content = page_data(write_report(model, tmp_path / "r.html", X=X))
    controls = content["controls"]
    assert {one["name"]: one["constant"] for one in controls} == {"x1": 0, "x2": 1, "x3": 0}
    assert [one["whole"] for one in content["inputs"]] == [False, True, True]
    assert controls[-1]["inputs"] == [1]
    assert controls[-1]["influence"] == 0


def test_a_column_of_categories_is_one_control(tmp_path):
    model, X, y = explored.with_categories()
    content = page_data(
        write_report(model, tmp_path / "r.html", X=X, y=y, categories=explored.CATEGORIES)
    )
    controls = {one["name"]: one for one in content["controls"]}
    assert sorted(controls) == ["kind", "x1", "x2"]
    assert controls["kind"]["inputs"] == [2, 3, 4]
    assert controls["kind"]["labels"] == ["a", "b", "c"]
    np.testing.assert_allclose(controls["kind"]["shares"], X[:, 2:].mean(axis=0))
    assert [controls[name]["flag"] for name in ("x1", "x2", "kind")] == [False, True, False]
    assert content["title"] == "y given 3 inputs"
    assert ["Inputs", "3, as 5 numbers"] in content["facts"]
    # It opens at the medians, and the most frequent category.
    np.testing.assert_allclose(content["typical"], [np.median(X[:, 0]), 0, 0, 1, 0], atol=5e-3)
    # From b to a, y moves by two standard deviations or more.
    assert 0.5 < controls["kind"]["influence"] < 0.9
    assert content["controls"][0]["name"] == "kind"
    bare = page_data(write_report(model, tmp_path / "r.html", categories=explored.CATEGORIES))
    np.testing.assert_allclose(bare["typical"][2:], [0, 1, 0])


def test_categories_are_found_by_place_where_names_are_not_enough(tmp_path):
    model, X, _ = explored.with_categories()
    names = ["x1", "x2", "a", "a", "a"]
    with pytest.raises(ValueError, match="'kind' refer to 'a', which matches 3 inputs"):
        write_report(model, tmp_path / "r.html", feature_names=names, categories={"kind": {1: "a"}})
    places = {"kind": {"a": np.int64(2), 2: 3, "__proto__": 4}}
    path = write_report(model, tmp_path / "r.html", X=X, feature_names=names, categories=places)
    (kind,) = (one for one in page_data(path)["controls"] if one["labels"])
    assert kind["inputs"] == [2, 3, 4]
    assert kind["labels"] == ["a", "2", "__proto__"]


def test_the_page_opens_where_a_sample_could_be(tmp_path):
    rng = np.random.default_rng(0)
    most = np.arange(101) < 51  # ones, by a single sample
    half, count = np.arange(100) % 2, np.repeat([1, 2, 7, 9], 25)
    X = np.column_stack([rng.normal(size=100), half, most[:100], count])
    content = page_data(write_report(explored.quick(X, explored.FORK), tmp_path / "r.html", X=X))
    number, one, other, whole = content["typical"]
    assert number == pytest.approx(np.median(X[:, 0]), abs=5e-3)
    assert one in (0, 1)
    assert other == 1
    assert whole in (2, 7)
    assert {c["name"]: c["flag"] for c in content["controls"]} == {
        "x1": False,
        "x2": True,
        "x3": True,
        "x4": False,
    }


def test_without_data_only_what_is_known_is_told(tmp_path):
    rng = np.random.default_rng(0)
    flag, unit = rng.random(100) < 0.7, rng.random(100)
    X = np.column_stack([rng.normal(size=100), flag, unit, 2.0 * flag])
    content = page_data(write_report(explored.quick(X, explored.FORK), tmp_path / "r.html"))
    assert [one["quantiles"] for one in content["inputs"]] == [None] * 4
    flags = {one["name"]: one["flag"] for one in content["controls"]}
    assert flags == {"x1": False, "x2": True, "x3": False, "x4": False}
    assert (content["inputs"][1]["low"], content["inputs"][1]["high"]) == (0, 1)
    means = [X[:, 0].mean(), 1, unit.mean(), 2 * flag.mean()]
    np.testing.assert_allclose(content["typical"], means, atol=5e-3)


def test_shares_are_those_of_all_training_samples(tmp_path):
    model, X, _ = explored.with_categories()
    some = X[X[:, 2] == 0]
    path = write_report(model, tmp_path / "r.html", X=some, categories=explored.CATEGORIES)
    (kind,) = (one for one in page_data(path)["controls"] if one["labels"])
    np.testing.assert_allclose(kind["shares"], X[:, 2:].mean(axis=0))
    assert not kind["constant"]


def test_whole_numbers_open_at_one_that_occurs(tmp_path):
    X = np.column_stack([explored.X[:, 0], np.arange(100) * 2503 + 1])
    content = page_data(write_report(explored.quick(X, explored.FORK), tmp_path / "r.html", X=X))
    assert content["typical"][1] in X[:, 1]


def test_categories_that_are_none_are_refused(tmp_path):
    model, X, y = explored.with_categories()
    for words, categories in [
        ("'kind' refer to 'x9', which matches 0 inputs", {"kind": {"a": "x9"}}),
        ("'kind' refer to 5, which matches 0 inputs .* 0 to 4", {"kind": {"a": 5}}),
        ("'kind' refer to -1, which matches 0 inputs", {"kind": {"a": -1}}),
        ("categories of 'kind' are empty", {"kind": {}}),
        ("'kind' use an input twice", {"kind": {"a": "x3", "b": "x3"}}),
        ("'other' use an input twice", {"kind": {"a": "x3"}, "other": {"b": "x3"}}),
        ("of 'kind' must be 0, with at most one that is 1", {"kind": {"a": "x2", "b": "x3"}}),
        ("of 'kind' must be 0, with at most one that is 1", {"kind": {"a": "x1"}}),
    ]:
        with pytest.raises(ValueError, match=words):
            write_report(model, tmp_path / "r.html", X=X, y=y, categories=categories)


@pytest.mark.parametrize(
    "reducer",
    [make_pipeline(StandardScaler(), PCA(2)), FixedSubspace(np.eye(2, 4)), LSMI(1, n_starts=1)],
    ids=["pipeline", "FixedSubspace", "LSMI"],
)
def test_linear_reducers_are_found_by_asking(reducer):
    if isinstance(reducer, LSMI):
        reducer.set_params(bandwidth=0.5, penalty=0.1, random_state=0)
    model = Reduced(reducer, DENSITY).fit(explored.X, explored.FORK)
    exported = ExportedModel.of(model)
    ours, theirs = exported.at(explored.X), model.predict_dist(explored.X)
    np.testing.assert_allclose(ours.pdf(explored.FORK), theirs.pdf(explored.FORK), rtol=1e-8)
    np.testing.assert_allclose(
        exported.summary.apply(explored.X), model.transform(explored.X), atol=1e-9
    )


def test_what_no_page_can_show_is_refused_with_the_reason(tmp_path):
    X, y, path = explored.X, explored.FORK, tmp_path / "r.html"
    model, _ = explored.fitted("several members")
    forest = LSCE(1, **(explored.ONE | {"location": RandomForestRegressor(5)}))
    bent = Reduced(make_pipeline(PolynomialFeatures(2), PCA(1)), DENSITY)
    fixed = Reduced(FixedSubspace(np.eye(1, 4)), DENSITY)
    nested = Reduced(FixedSubspace(), Reduced(FixedSubspace(), DENSITY))
    cases = [
        (TypeError, "got PCA", PCA(1).fit(X), {}),
        (TypeError, "for a pipeline, pass its last step", make_pipeline(PCA(1)).fit(X), {}),
        (NotFittedError, "not fitted", LSCE(), {}),
        (TypeError, "location of this model is a regressor", forest.fit(X, y), {}),
        (TypeError, "Pipeline is not linear", bent.fit(X, y), {}),
        (TypeError, "Reduced has no density that a report can contain", nested.fit(X, y), {}),
        (ValueError, "pass its training samples as X", fixed.fit(X, y), {}),
        (ValueError, "y was passed without X", model, {"y": y}),
        (ValueError, "X_test was passed without y_test", model, {"X_test": X}),
        (
            ValueError,
            "y has 2 columns but the density has 1 outputs",
            model,
            {"X": X, "y": explored.BOTH},
        ),
        (ValueError, "100", model, {"X": X, "y": y[:3]}),
        (
            ValueError,
            "feature_names has 2 names for 4 inputs",
            model,
            {"feature_names": ["a", "b"]},
        ),
        (ValueError, "target_names has 2 names for 1", model, {"target_names": ["a", "b"]}),
        (ValueError, "n_points", model, {"n_points": -1}),
    ]
    for error, words, refused, options in cases:
        with pytest.raises(error, match=words):
            write_report(refused, path, **options)
    assert not path.exists()


def test_no_value_ends_the_script_it_stands_in():
    hostile = {"</script><!--<script>": ["&amp;", "\u2028", "]]>", 'a"b\\']}
    text = escaped_json(hostile)
    assert not set("<>&") & set(text)
    assert text.isascii()
    assert json.loads(text) == hostile
    with pytest.raises(ValueError, match="not JSON compliant"):
        escaped_json(float("nan"))
