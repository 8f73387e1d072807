"""What is written is read again to the last bit; all else is refused, and not run."""

import hashlib
import json
import warnings
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

import condensity
from condensity import LSCDE, LSCE, LSMI, SIR, EpsilonKDE, FixedSubspace, Reduced, WithAtoms
from condensity.io import persistence
from condensity.io.container import CHECKSUM, MAGIC, DamagedFileError, pack, unpack
from condensity.targets.atom_samples import class_of
from condensity.targets.class_probabilities import (
    LabelledSample,
    fit_logistic,
    fit_trees,
)

FIXED = {"bandwidth": 0.5, "penalty": 0.1, "random_state": 0}


def data(dy=1):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    Y = np.exp(X[:, :dy] + 0.3 * rng.standard_normal((60, dy)))
    return X, Y[:, 0] if dy == 1 else Y


MODELS = {
    "LSCE": LSCE(1, n_starts=1, n_members=5, max_iter=5, random_state=0),
    "LSCE, bounds": LSCE(1, n_starts=1, n_members=2, max_iter=5, bounds=(0, None), random_state=0),
    "LSCE, linear": LSCE(1, location="linear", n_members=1, n_starts=1, **FIXED),
    "published": LSCE.as_published(1, random_state=0).set_params(n_starts=2),
    "LSCDE": LSCDE(random_state=0),
    "EpsilonKDE": EpsilonKDE(random_state=0),
    "Reduced": Reduced(SIR(), LSCDE(**FIXED), random_state=0),
    "WithAtoms, none": WithAtoms(LSCDE(**FIXED), atoms=[], random_state=0),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_that_is_read_is_the_one_that_was_written(model, tmp_path):
    X, y = data()
    names = pd.DataFrame(X, columns=["a", "<b>", "ü"])
    model.fit(names, y)
    condensity.save(model, tmp_path / "m.cdn")
    found = condensity.load(tmp_path / "m.cdn")
    assert type(found) is type(model)
    assert str(found.get_params()) == str(model.get_params())
    ours, theirs = model.predict_dist(names), found.predict_dist(names)
    np.testing.assert_array_equal(ours.pdf(y), theirs.pdf(y))
    np.testing.assert_array_equal(ours.quantile(0.3), theirs.quantile(0.3))
    np.testing.assert_array_equal(model.predict(names), found.predict(names))
    assert list(found.feature_names_in_) == ["a", "<b>", "ü"]
    for name in vars(model):
        if name.endswith("_") and isinstance(getattr(model, name), int | float | tuple | str):
            np.testing.assert_equal(getattr(found, name), getattr(model, name))
    for key, column in model.cv_results_.items() if hasattr(model, "cv_results_") else ():
        np.testing.assert_array_equal(found.cv_results_[key], column)
    assert [p.name for p in tmp_path.iterdir()] == ["m.cdn"]


@pytest.mark.parametrize("n_atoms", [1, 2])
def test_atoms_and_the_models_of_their_probabilities_are_stored(n_atoms, tmp_path):
    X, y = data()
    y[:20], y[20:25] = 0.0, (0.0, 3.0)[n_atoms - 1]
    atoms = [0.0, 3.0][:n_atoms]
    model = WithAtoms(LSCDE(**FIXED), atoms=atoms, random_state=0).fit(X, y)
    # All kinds of models, whatever their weights are.
    sample = LabelledSample(X, class_of(y, model.atoms_), np.ones(60), n_atoms + 1)
    parts = (fit_logistic(sample, 1.0), fit_trees(sample, 5, 0))
    model._probabilities = replace(model._probabilities, weights=(0.2, 0.3, 0.5), models=parts)
    condensity.save(model, tmp_path / "m.cdn")
    found = condensity.load(tmp_path / "m.cdn")
    ours, theirs = model.predict_dist(X), found.predict_dist(X)
    np.testing.assert_array_equal(ours.masses, theirs.masses)
    np.testing.assert_array_equal(ours.crps(y), theirs.crps(y))
    assert found.model_weights_ == model.model_weights_
    assert found.cv_losses_ == model.cv_losses_
    assert str(found.get_params()) == str(model.get_params())


@pytest.mark.parametrize(
    "model", [LSMI(1, n_starts=1, **FIXED), SIR(2), FixedSubspace(np.eye(2, 3))]
)
def test_transformers_are_stored_too(model, tmp_path):
    X, y = data()
    condensity.save(model.fit(X, y), tmp_path / "m.cdn")
    found = condensity.load(tmp_path / "m.cdn")
    np.testing.assert_array_equal(found.transform(X), model.transform(X))


def test_several_outputs_keep_their_shape(tmp_path):
    X, Y = data(2)
    model = LSCDE(**FIXED).fit(X, Y)
    condensity.save(model, tmp_path / "m.cdn")
    assert condensity.load(str(tmp_path / "m.cdn")).predict(X[:4]).shape == (4, 2)


def test_what_cannot_be_stored_is_said(tmp_path):
    X, y = data()
    with pytest.raises(NotFittedError):
        condensity.save(LSCDE(), tmp_path / "m.cdn")
    with pytest.raises(
        TypeError, match="expects a fitted estimator of this library, got LinearRegression"
    ):
        condensity.save(LinearRegression().fit(X, y), tmp_path / "m.cdn")
    forest = LSCE(1, location=RandomForestRegressor(5), n_members=1, n_starts=1, **FIXED).fit(X, y)
    with pytest.raises(TypeError, match="its density contains a location by RandomForestRegressor"):
        condensity.save(forest, tmp_path / "m.cdn")  # and no warning: nothing is stored at all
    model = LSCDE(cv=KFold(3), random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match=r"cv=KFold.* is not stored: .* the default"):
        condensity.save(model, tmp_path / "m.cdn")
    assert condensity.load(tmp_path / "m.cdn").cv == 5


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.cdn"
    condensity.save(LSCE(1, n_members=1, n_starts=1, location="linear", **FIXED).fit(*data()), path)
    return path.read_bytes()


def assert_refused(data, tmp_path, match=""):
    path = tmp_path / "bad.cdn"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf"bad\.cdn is not a readable model file: .*{match}"):
        condensity.load(path)


def with_checksum(body):
    return body + hashlib.sha256(body).digest()


def edited(written, edit):
    """The file with its content changed and a checksum that fits."""
    content, arrays = unpack(written)
    edit(content, arrays)
    return pack(content, arrays)


@pytest.mark.parametrize("length", [0, 5, 12, 19, 40, 200, -40, -1])
def test_a_truncated_file_is_refused(written, length, tmp_path):
    assert_refused(written[:length], tmp_path)


@given(place=st.integers(0, 10**6), value=st.integers(1, 255))
@settings(max_examples=60, deadline=None)
def test_a_byte_that_was_changed_is_noticed(written, place, value):
    damaged = bytearray(written)
    damaged[place % len(damaged)] ^= value
    with pytest.raises(DamagedFileError):
        unpack(bytes(damaged))


def test_files_of_other_kinds_and_formats_are_refused(written, tmp_path):
    assert_refused(b"PK\x03\x04 a zip file, perhaps" * 10, tmp_path, "does not begin")
    other = with_checksum(MAGIC[:-1] + b"\x07" + written[len(MAGIC) : -CHECKSUM])
    assert_refused(other, tmp_path, "it has format 7, this version reads format 1")


HOSTILE = {
    "another class": lambda c, a: c.update(model="os.system"),
    "a value of another class": lambda c, a: c["state"]["_density"].update(value="Popen"),
    "fields that it has not": lambda c, a: c["state"]["_density"]["fields"].update(x=1),
    "missing fields": lambda c, a: c["state"]["_density"]["fields"].pop("W"),
    "no density": lambda c, a: c["state"].pop("_density"),
    "a parameter that it has not": lambda c, a: c["parameters"].update(x=1),
    "a method replaced": lambda c, a: c["state"].update(predict_dist=1),
    "a class replaced": lambda c, a: c["state"].update(__class__="x"),
    "no identifier": lambda c, a: c["state"].update({"a b": 1}),
    "an array beyond the last": lambda c, a: c["state"].update(components_={"array": 999}),
    "an array before the first": lambda c, a: c["state"].update(components_={"array": -1}),
    "a list that is none": lambda c, a: c["state"].update(components_={"list": 3}),
    "arrays that do not fit": lambda c, a: a.__setitem__(slice(None), [x[..., :1] for x in a]),
    "numbers that are none": lambda c, a: [x.fill(np.nan) for x in a if x.dtype.kind == "f"],
    "a scaling of NaN": lambda c, a: c["state"]["_density"]["fields"]["x_scaling"]["fields"].update(
        sd={"tuple": [float("nan")] * 3}
    ),
    "directions that are a number": lambda c, a: c["state"].update(components_=5),
    "directions of unequal length": lambda c, a: c["state"].update(
        components_={"list": [{"list": [1.0]}, {"list": [1.0, 2.0]}]}
    ),
    "directions that are names": lambda c, a: c["state"].update(components_={"names": ["a"]}),
    "directions of other inputs": lambda c, a: c["state"].update(components_={"array": 0}),
    "names that are a number": lambda c, a: c["state"].update(feature_names_in_=5),
    "fewer names": lambda c, a: c["state"].update(feature_names_in_={"names": ["a"]}),
    "a location that is none": lambda c, a: c["state"].update(location_={"dict": {}}),
    "an agreement that is none": lambda c, a: c["state"].update(subspace_agreement_=3),
    "more inputs than it has": lambda c, a: c["state"].update(n_features_in_=5 * 10**7),
    "more outputs than it has": lambda c, a: c["state"].update(_n_outputs=7),
    "no model at all": lambda c, a: (c.clear(), c.update(dict={})),
}


@pytest.mark.parametrize("edit", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_with_a_good_checksum_is_refused(written, edit, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert_refused(edited(written, edit), tmp_path)


def header(**parts):
    told = json.dumps({"content": None, "arrays": []} | parts).encode()
    return MAGIC + len(told).to_bytes(8, "little") + told


@pytest.mark.parametrize(
    "body",
    [
        MAGIC + (2**63).to_bytes(8, "little") + b"{}",
        MAGIC + (2).to_bytes(8, "little") + b"[]",
        MAGIC + (2).to_bytes(8, "little") + b"{]",
        header(arrays=[{"dtype": "<f8", "shape": [10**12, 10**12], "offset": 0}]),
        header(arrays=[{"dtype": "<f8", "shape": [-1], "offset": 0}]),
        header(arrays=[{"dtype": "<f8", "shape": [float("inf")], "offset": 0}]),
        header(arrays=[{"dtype": "|O", "shape": [1], "offset": 0}]) + bytes(8),
        header(arrays=[{"dtype": "<f8", "shape": [1], "offset": 8}]) + bytes(16),
        header(arrays=[{"dtype": "<f8", "shape": [1], "offset": 0}]) + bytes(9),
        header(arrays=[{"dtype": "<f8", "shape": "x", "offset": 0}]),
        MAGIC + (40000).to_bytes(8, "little") + b"[" * 20000 + b"]" * 20000,
    ],
)
def test_headers_that_lie_are_refused(body):
    with pytest.raises(DamagedFileError):
        unpack(with_checksum(body))


def test_arrays_come_back_as_they_were():
    arrays = [
        np.array([[1.5, -0.0], [np.inf, 5e-324]]),
        np.arange(6, dtype=np.int32)[::2],
        np.array([True, False]),
        np.empty((0, 3)),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    ]
    content, found = unpack(pack({"ü": [1, None]}, arrays))
    assert content == {"ü": [1, None]}
    for ours, theirs in zip(arrays, found, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert theirs.flags.writeable
    with pytest.raises(TypeError, match="array of object"):
        pack(None, [np.array([object()])])


def test_files_of_older_versions_are_read():
    """This file was written when the format was new; it must be read for ever."""
    model = condensity.load(Path(__file__).parents[1] / "model_files" / "lsce-1.cdn")
    found = model.predict([[0.5, -1.0], [2.0, 0.0]])
    np.testing.assert_allclose(found, [0.7930614329201137, 1.9658644423023517], rtol=1e-9)
    density = model.predict_dist([[0.5, -1.0]]).pdf([0.3])
    np.testing.assert_allclose(density, 0.30168928498996905, rtol=1e-9)


#: The file format: keys of values in files, and the names of their fields.
STORED_FIELDS = {
    "Averaged": ["scaling", "location", "factor", "components", "members", "predicted", "limits"],
    "Bounds": ["lower", "upper"],
    "ClassProbabilities": ["frequencies", "weights", "models"],
    "Coefficients": ["W", "U", "sigma_z", "alphas"],
    "Column": [
        "name",
        "kind",
        "categories",
        "fill",
        "order",
        "first",
        "parts",
        "low",
        "high",
    ],
    "Components": ["centers", "widths"],
    "Constant": ["mean"],
    "Density": ["x_scaling", "y_scaling", "W", "U", "V", "log_alpha", "sigma_z", "sigma_y"],
    "Ensemble": ["parts", "y_scaling", "x_scaling", "W", "stretch", "bounds"],
    "LogisticModel": ["scaling", "intercept", "slope"],
    "LocationRange": ["middle", "below", "above"],
    "NeighborDensity": ["x_scaling", "y_scaling", "sample", "epsilon", "sigma_y"],
    "Plane": ["intercept", "slope"],
    "PredictedInput": ["axis", "mean", "sd"],
    "ReducedFunction": ["W", "function"],
    "RowHashes": ["salt", "words"],
    "Sample": ["X", "Y", "weight"],
    "Scaling": ["mean", "sd"],
    "SmoothFunction": ["centers", "coefficients", "mean", "lengths", "slope"],
    "Start": ["n_components", "values", "stop", "value", "loss", "n_centers", "chosen"],
    "TableModel": [
        "model",
        "columns",
        "targets",
        "missing",
        "X",
        "Y",
        "rows",
        "verdict",
        "X_test",
        "Y_test",
        "row_hashes",
    ],
    "TreeModel": ["scaling", "trees"],
    "TreeSum": [
        "intercept",
        "roots",
        "depth",
        "feature",
        "threshold",
        "below",
        "above",
        "value",
    ],
    "Verdict": [
        "rows",
        "error",
        "error_se",
        "log_loss",
        "log_loss_se",
        "coverage",
        "error_without_reduction",
        "error_without_inputs",
        "reduction_se",
        "inputs_se",
        "median_error",
        "interval_width",
        "crps",
        "median_error_without_inputs",
        "interval_width_without_inputs",
        "crps_without_inputs",
        "crps_inputs_se",
    ],
    "WeightedFunctions": ["weights", "functions"],
}
STORED_MODELS = [
    "DirectionalRegression",
    "EpsilonKDE",
    "FixedSubspace",
    "LSCDE",
    "LSCE",
    "LSMI",
    "OPG",
    "PublishedLSCE",
    "Reduced",
    "SAVE",
    "SIR",
    "WithAtoms",
]


def test_keys_and_fields_of_the_file_format_do_not_change():
    """A renamed class keeps its key, a renamed field breaks old files: change the format first."""
    found = {
        key: [persistence.FIELD_KEYS.get((kind, f.name), f.name) for f in fields(kind)]
        for key, kind in persistence.VALUES.items()
    }
    assert found == STORED_FIELDS
    assert sorted(persistence.MODELS) == STORED_MODELS


def test_a_written_file_uses_only_these_keys(written):
    """What ``save`` writes names classes by their keys, not by their names in the code."""
    content, _ = unpack(written)
    keys = set()

    def visit(item):
        if isinstance(item, dict):
            if "value" in item and "fields" in item:
                keys.add(item["value"])
                assert list(item["fields"]) == STORED_FIELDS[item["value"]]
            for value in item.values():
                visit(value)
        elif isinstance(item, list):
            for value in item:
                visit(value)

    visit(content)
    assert content["model"] == "LSCE"
    names = "Averaged Coefficients Components Ensemble LocationRange Plane Scaling"
    assert keys == set(names.split())


def test_swapped_arguments_are_named(tmp_path):
    with pytest.raises(
        TypeError, match=r"model must be a fitted model, .* call save\(model, path\)"
    ):
        condensity.save(str(tmp_path / "m.cdn"), SIR())


#: Attributes of fitted estimators in files.
COMMON = "n_features_in_"
ANSWER = f"{COMMON} _density _n_outputs _y_axes cv_results_ input_range_ bandwidth_"
KERNELS = f"{ANSWER} n_centers_ penalty_"
DIRECTIONS = f"{COMMON} _n_features_out components_"
SEARCH = (
    f"{DIRECTIONS} n_components_ n_iter_ subspaces_ history_ cv_results_ bandwidth_ penalty_ "
    "dimension_scores_"
)
STORED_ATTRIBUTES = {
    LSCE(1, n_starts=1, n_members=1, max_iter=3, random_state=0): f"{KERNELS} {DIRECTIONS} "
    "n_components_ n_iter_ cv_score_ location_ location_weights_ n_members_ stretch_ "
    "subspace_agreement_",
    LSCE.as_published(1).set_params(n_starts=1, **FIXED): f"{KERNELS} {SEARCH} sce_",
    LSCDE(**FIXED): f"{KERNELS} sce_",
    EpsilonKDE(1.0, 0.5, random_state=0): f"{ANSWER} epsilon_",
    LSMI(1, n_starts=1, **FIXED): f"{SEARCH} _x_scaling n_centers_ smi_",
    SIR(): f"{DIRECTIONS} _x_scaling eigenvalues_ n_slices_",
    FixedSubspace(): DIRECTIONS,
    Reduced(SIR(), LSCDE(**FIXED), random_state=0): f"{COMMON} _n_features_out _n_outputs _y_axes "
    "cv_results_ density_ input_range_ n_components_ reducer_",
}


@pytest.mark.parametrize(
    ("model", "names"), STORED_ATTRIBUTES.items(), ids=lambda value: type(value).__name__
)
def test_attributes_of_fitted_models_do_not_change(model, names):
    """They are stored by their names: add an alias for reading before one is renamed."""
    fitted = vars(model.fit(*data())).keys() - model.get_params(deep=False).keys()
    assert fitted == set(names.split())
