"""Locations in model files: read to the last bit, and refused if a number is damaged."""

import numpy as np
import pytest

import condensity
from condensity import LSCE, FixedSubspace, Reduced
from condensity.io.container import pack, unpack
from condensity.locations.location import ReducedFunction

QUICK = {"n_starts": 1, "n_members": 2, "cv": 2, "max_iter": 3, "random_state": 0}
FIXED = {"bandwidth": (0.6, 0.4), "penalty": 0.1}
LOCATIONS = ["none", "linear", "smooth", "trees", "flexible"]


def data(dy):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 3))
    wave = 2 * (X[:, :1] > 0.3) + np.sin(3 * X[:, 1:2])
    Y = wave + 0.5 * X[:, :dy] + 0.3 * rng.standard_normal((80, dy))
    return X, Y[:, 0] if dy == 1 else Y


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("dy", [1, 2])
def test_every_location_is_read_to_the_last_bit(location, dy, tmp_path):
    X, y = data(dy)
    model = LSCE(2, location=location, **QUICK, **FIXED).fit(X, y)
    condensity.save(model, tmp_path / "m.cdn")
    found = condensity.load(tmp_path / "m.cdn")
    np.testing.assert_array_equal(found.predict(X), model.predict(X))
    np.testing.assert_array_equal(found.predict_dist(X).pdf(y), model.predict_dist(X).pdf(y))
    condensity.save(found, tmp_path / "again.cdn")
    assert (tmp_path / "again.cdn").read_bytes() == (tmp_path / "m.cdn").read_bytes()
    assert found.location_ == location


@pytest.mark.parametrize("dy", [1, 2])
@pytest.mark.parametrize("n_members", [1, 2])
def test_a_location_on_the_directions_is_read_to_the_last_bit(n_members, dy, tmp_path):
    X, y = data(dy)
    options = QUICK | FIXED | {"n_members": n_members}
    model = LSCE(2, location="reduced", **options).fit(X, y)
    assert any(isinstance(p.location, ReducedFunction) for _, p in model._density.parts)
    condensity.save(model, tmp_path / "m.cdn")
    found = condensity.load(tmp_path / "m.cdn")
    np.testing.assert_array_equal(found.predict(X), model.predict(X))
    np.testing.assert_array_equal(found.predict_dist(X).pdf(y), model.predict_dist(X).pdf(y))
    condensity.save(found, tmp_path / "again.cdn")
    assert (tmp_path / "again.cdn").read_bytes() == (tmp_path / "m.cdn").read_bytes()
    assert found.location_weights_ == model.location_weights_


def test_an_array_that_several_parts_share_is_stored_once(tmp_path):
    X, y = data(1)
    model = LSCE(location="smooth", **QUICK).fit(X, y)
    condensity.save(model, tmp_path / "m.cdn")
    content, arrays = unpack((tmp_path / "m.cdn").read_bytes())
    parts = content["state"]["_density"]["fields"]["parts"]["list"]
    places = {
        part["tuple"][1]["fields"]["location"]["fields"]["centers"]["array"] for part in parts
    }
    assert len(parts) > 1
    assert len(places) == 1
    assert arrays[places.pop()].shape == X.shape


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The bytes of a model with each location; "nested" is a flexible one within ``Reduced``."""
    single = QUICK | FIXED | {"n_members": 1}  # its location is certainly the reduced one
    folder, X, y = tmp_path_factory.mktemp("models"), *data(2)
    models = {name: LSCE(2, location=name, **QUICK, **FIXED) for name in LOCATIONS}
    models["reduced"] = LSCE(2, location="reduced", **single)
    models["nested"] = Reduced(FixedSubspace(np.eye(3)), models["flexible"], random_state=0)
    for name, model in models.items():
        condensity.save(model.fit(X, y), folder / name)
    return {name: (folder / name).read_bytes() for name in models}


def part_of(content):
    state = content["state"]
    density = state["density_"]["state"] if "density_" in state else state
    _, part = density["_density"]["fields"]["parts"]["list"][-1]["tuple"]
    return part["fields"]


def location_of(content, kind):
    """The fields of the location, or of the term of this kind in a weighted sum."""
    location = part_of(content)["location"]
    if location["value"] == "WeightedFunctions" != kind:
        terms = location["fields"]["functions"]["tuple"]
        (location,) = (term for term in terms if term["value"] == kind)
    if location["value"] == "ReducedFunction" != kind:
        location = location["fields"]["function"]
    assert location["value"] == kind
    return location["fields"]


def changed(field, change):
    """Replace the array of a field by a changed copy."""

    def edit(fields, arrays):
        arrays.append(change(arrays[fields[field]["array"]].copy()))
        fields[field] = {"array": len(arrays) - 1}

    return edit


def at(index, value):
    """Set one number of an array."""

    def change(array):
        array.flat[index] = value
        return array

    return change


def replaced(**values):
    return lambda fields, arrays: fields.update(values)


def cycle(fields, arrays):
    """The first leaf sends rows back to the first node."""
    below = arrays[fields["below"]["array"]]
    below[np.flatnonzero(below == np.arange(len(below)))[0]] = 0


def constant_function(fields, arrays):
    """A function that has no inputs, so that the query alone does not refuse it."""
    mean = fields["function"]["fields"]["mean"]
    fields["function"] = {"value": "Constant", "fields": {"mean": mean}}


DAMAGED_TREES = {
    "a node after the last": changed("below", at(-1, 10**6)),
    "a node before the first": changed("above", at(-1, -1)),
    # The first node is a root.
    "a lower branch to the end": changed("below", at(0, -1)),
    "an upper branch to the end": changed("above", at(0, -1)),
    "a root after the last node": changed("roots", at(-1, 10**6)),
    "a root before the first node": changed("roots", at(0, -5)),
    "an input after the last": changed("feature", at(-1, 3)),
    "an input before the first": changed("feature", at(-1, -1)),
    "a threshold that is none": changed("threshold", at(-1, np.nan)),
    "an infinite threshold": changed("threshold", at(-1, np.inf)),
    "a value that is none": changed("value", at(-1, np.nan)),
    "an intercept that is none": changed("intercept", at(0, np.inf)),
    "indices that are fractions": changed("below", lambda a: a + 0.5),
    "indices that are numbers": changed("feature", lambda a: a.astype(float)),
    "a cycle": cycle,
    "paths that are too long": replaced(depth=1),
    "a negative depth": replaced(depth=-1),
    "an endless depth": replaced(depth=10**9),
    "a depth that is none": replaced(depth=float("nan")),
    "a depth that is a fraction": replaced(depth=4.5),
    "fewer thresholds": changed("threshold", lambda a: a[:-1]),
    "more values": changed("value", lambda a: np.append(a, 0.0)),
    "trees of one output": changed("roots", lambda a: a[:, :1]),
    "roots without outputs": changed("roots", np.ravel),
    "an intercept of one output": changed("intercept", lambda a: a[:1]),
    "no trees": changed("roots", lambda a: a[:0]),
    "a missing field": lambda fields, arrays: fields.pop("above"),
}
DAMAGED_SMOOTH = {
    "a centre that is none": changed("centers", at(-1, np.nan)),
    "an infinite centre": changed("centers", at(-1, np.inf)),
    "a coefficient that is none": changed("coefficients", at(-1, np.nan)),
    "a mean that is none": changed("mean", at(0, np.nan)),
    "a length of zero": changed("lengths", at(-1, 0.0)),
    "a negative length": changed("lengths", at(-1, -1.0)),
    "an infinite length": changed("lengths", at(-1, np.inf)),
    "a slope that is none": replaced(slope=float("nan")),
    "a slope that is a name": replaced(slope="steep"),
    "fewer coefficients": changed("coefficients", lambda a: a[:-1]),
    "centres with fewer inputs": changed("centers", lambda a: a[:, :1]),
    "one length": changed("lengths", lambda a: a[:1]),
    "a mean of one output": changed("mean", lambda a: a[:1]),
    "coefficients of one output": changed("coefficients", lambda a: a[:, :1]),
    "no centres": lambda fields, arrays: [
        changed(name, lambda a: a[:0])(fields, arrays) for name in ("centers", "coefficients")
    ],
}
DAMAGED_DIRECTIONS = {
    "a direction that is none": changed("W", at(0, np.nan)),
    "an infinite direction": changed("W", at(-1, np.inf)),
    "directions of fewer inputs": changed("W", lambda a: a[:, :2]),
    "directions without inputs": changed("W", np.ravel),
    "a function of another kind": constant_function,
}
DAMAGED_SUMS = {
    "no functions": replaced(weights={"tuple": []}, functions={"tuple": []}),
    "a weight that is none": replaced(weights={"tuple": [0.5, float("nan")]}),
    "one weight": replaced(weights={"tuple": [1.0]}),
    "functions that are none": replaced(functions={"tuple": [1, 2]}),
}
DAMAGED_INPUTS = {
    "an axis that is none": changed("axis", at(0, np.nan)),
    "an axis of one output": changed("axis", lambda a: a[:1]),
    "no spread": replaced(sd=0.0),
    "a negative spread": replaced(sd=-1.0),
    "an infinite spread": replaced(sd=float("inf")),
    "a mean that is none": replaced(mean=float("nan")),
}
DAMAGED = [
    *(("trees", "TreeSum", name, edit) for name, edit in DAMAGED_TREES.items()),
    *(("smooth", "SmoothFunction", name, edit) for name, edit in DAMAGED_SMOOTH.items()),
    *(("reduced", "SmoothFunction", name, edit) for name, edit in DAMAGED_SMOOTH.items()),
    *(("flexible", "WeightedFunctions", name, edit) for name, edit in DAMAGED_SUMS.items()),
    ("flexible", "TreeSum", "a node after the last", DAMAGED_TREES["a node after the last"]),
    ("nested", "TreeSum", "a node after the last", DAMAGED_TREES["a node after the last"]),
    ("nested", "SmoothFunction", "a negative length", DAMAGED_SMOOTH["a negative length"]),
]


def assert_refused(stored, path):
    path.write_bytes(stored)
    with pytest.raises(ValueError, match=r"bad\.cdn is not a readable model file"):
        condensity.load(path)


@pytest.mark.parametrize(
    ("location", "kind", "name", "edit"), DAMAGED, ids=[f"{case[0]}, {case[2]}" for case in DAMAGED]
)
def test_a_damaged_location_is_refused(location, kind, name, edit, written, tmp_path):
    content, arrays = unpack(written[location])
    edit(location_of(content, kind), arrays)
    assert_refused(pack(content, arrays), tmp_path / "bad.cdn")


@pytest.mark.parametrize("edit", DAMAGED_DIRECTIONS.values(), ids=DAMAGED_DIRECTIONS)
def test_damaged_directions_of_a_reduced_location_are_refused(edit, written, tmp_path):
    content, arrays = unpack(written["reduced"])
    edit(location_of(content, "ReducedFunction"), arrays)
    (tmp_path / "bad.cdn").write_bytes(pack(content, arrays))
    with pytest.raises(ValueError, match="reduced location"):
        condensity.load(tmp_path / "bad.cdn")


@pytest.mark.parametrize("edit", DAMAGED_INPUTS.values(), ids=DAMAGED_INPUTS)
def test_a_damaged_value_of_the_location_as_input_is_refused(edit, written, tmp_path):
    content, arrays = unpack(written["smooth"])
    edit(part_of(content)["predicted"]["fields"], arrays)
    assert_refused(pack(content, arrays), tmp_path / "bad.cdn")


def test_files_of_older_versions_have_no_such_input(written, tmp_path):
    """The field was added later: where it is missing it is null."""
    content, arrays = unpack(written["linear"])
    assert part_of(content).pop("predicted") is None
    (tmp_path / "old.cdn").write_bytes(pack(content, arrays))
    assert condensity.load(tmp_path / "old.cdn").location_ == "linear"
    content, arrays = unpack(written["smooth"])
    part_of(content).pop("predicted")  # the members have one more input than is left
    assert_refused(pack(content, arrays), tmp_path / "bad.cdn")
