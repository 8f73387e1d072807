"""A damaged file is refused, or read as a model with densities of mass one, at a small cost."""

import tracemalloc

import numpy as np
import pytest

import condensity
from condensity import LSCDE, LSCE, EpsilonKDE
from condensity.io.container import DamagedFileError, pack, unpack
from damaged_files import damaged, outcome, packed, valid_files, with_checksum


@pytest.fixture(scope="module")
def files():
    return valid_files()


def test_valid_files_are_read_as_models(files, tmp_path):
    for name, file in files.items():
        (tmp_path / "m.cdn").write_bytes(file)
        assert outcome(tmp_path / "m.cdn") == "a model", name


@pytest.mark.parametrize("seed", range(8))
def test_random_damage_is_refused_or_leaves_a_model(seed, files, tmp_path):
    rng = np.random.default_rng(seed)
    for _ in range(6):
        for name, file in files.items():
            (tmp_path / "m.cdn").write_bytes(damaged(file, rng))
            assert outcome(tmp_path / "m.cdn") in ("refused", "a model"), name


def test_an_axis_cannot_be_longer_than_the_file():
    """An array without columns takes no bytes: its rows would cost memory all the same."""
    entry = {"dtype": "<f8", "shape": [200_000_000, 0], "offset": 0}
    with pytest.raises(DamagedFileError, match="header is invalid"):
        unpack(packed(None, [np.empty((1, 0))], [entry]))
    for shape in ([0, 3], [5, 0]):
        _, arrays = unpack(pack(None, [np.empty(shape), np.zeros(3)]))
        assert arrays[0].shape == tuple(shape)


def large(n, kind):
    """A file of a model with n centres, made from a small one."""
    X, y = np.random.default_rng(0).normal(size=(2, 30))
    model = {"LSCDE": LSCDE, "EpsilonKDE": EpsilonKDE}[kind](random_state=0).fit(X[:, None], y)
    density, size = model._density, (n, 1)
    rng = np.random.default_rng(1)
    if kind == "LSCDE":
        changes = {"U": rng.normal(size=size), "V": rng.normal(size=size), "log_alpha": np.zeros(n)}
        target = density
    else:
        changes = {"X": rng.normal(size=size), "Y": rng.normal(size=size)}
        changes["weight"] = np.full(n, 1 / n)
        target = density.sample
    for name, value in changes.items():
        object.__setattr__(target, name, value)
    return model


@pytest.mark.parametrize("kind", ["LSCDE", "EpsilonKDE"])
def test_the_cost_of_reading_is_proportional_to_the_file(kind, tmp_path):
    """The squared norm of half a million Gaussians would take hours."""
    path = tmp_path / "m.cdn"
    condensity.save(large(500_000, kind), path)
    tracemalloc.start()
    condensity.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * path.stat().st_size


def test_parts_that_share_their_coefficients_are_limited(tmp_path):
    """They multiply the memory of an answer, but not the size of the file."""
    X, y = np.random.default_rng(0).normal(size=(2, 30))
    model = LSCE(1, n_members=1, n_starts=1, max_iter=3, random_state=0, location="none")
    condensity.save(model.fit(X[:, None], y), tmp_path / "m.cdn")
    content, arrays = unpack((tmp_path / "m.cdn").read_bytes())
    ensemble = content["state"]["_density"]["fields"]
    (part,) = ensemble["parts"]["list"]
    for count, read in ((2, True), (1000, False)):
        part["tuple"][0] = 1 / count
        ensemble["parts"]["list"] = [part] * count
        (tmp_path / "m.cdn").write_bytes(pack(content, arrays))
        if read:
            condensity.load(tmp_path / "m.cdn")
        else:
            with pytest.raises(ValueError, match="share their coefficients"):
                condensity.load(tmp_path / "m.cdn")


def test_the_program_uses_right_checksums(files):
    file = next(iter(files.values()))
    assert with_checksum(file[:-32]) == file
    content, arrays = unpack(file)
    assert unpack(packed(content, arrays))[0] == content


def ensemble_of(content):
    return content["state"]["_density"]["fields"]


def part_of(content):
    return ensemble_of(content)["parts"]["list"][0]["tuple"][1]["fields"]


def array_at(fields, name, arrays):
    return arrays[fields[name]["array"]]


#: The kind of model, a damage to it, and what the error says.
DAMAGE = [
    ("LSCE", lambda c, a: ensemble_of(c)["parts"]["list"][0]["tuple"].__setitem__(0, 0.5), "sum"),
    ("LSCE", lambda c, a: array_at(part_of(c), "factor", a).fill(-1.0), "positive diagonal"),
    (
        "LSCE",
        lambda c, a: array_at(part_of(c)["components"]["fields"], "widths", a)[:1].fill(0.5),
        "kernels of equal width",
    ),
    ("LSCE", lambda c, a: c["state"].update(n_components_=2), "number of directions"),
    ("LSCE", lambda c, a: c["state"].update(_n_outputs=True), "positive whole number"),
    ("LSCE", lambda c, a: c["state"].update(_y_axes=3), "number of axes"),
    (
        "EpsilonKDE",
        lambda c, a: array_at(ensemble_of(c)["sample"]["fields"], "weight", a)[:1].fill(-1),
        "weights of the samples",
    ),
    ("EpsilonKDE", lambda c, a: ensemble_of(c).update(epsilon=-1.0), "epsilon"),
    ("LSCDE", lambda c, a: ensemble_of(c).update(sigma_y=1e-300), "bandwidth of y"),
    ("LSCDE", lambda c, a: array_at(ensemble_of(c), "log_alpha", a).fill(1e19), "logarithms"),
    (
        "one bound",
        lambda c, a: array_at(ensemble_of(c)["bounds"]["fields"], "upper", a).fill(-1.0),
        "not below its upper bound",
    ),
    (
        "two bounds",
        lambda c, a: array_at(ensemble_of(c)["y_scaling"]["fields"], "sd", a).fill(1e20),
        "width of a free coordinate",
    ),
    (
        "two bounds",
        lambda c, a: array_at(ensemble_of(c)["y_scaling"]["fields"], "mean", a).fill(1e20),
        "mean of a free coordinate",
    ),
    (
        "one bound",
        lambda c, a: ensemble_of(c).update(stretch={"tuple": [1e-20]}),
        "stretch of a density",
    ),
    (
        "LSCE",
        lambda c, a: array_at(part_of(c)["limits"]["fields"], "below", a).fill(0.0),
        "range of a location",
    ),
    (
        "LSCE",
        lambda c, a: array_at(part_of(c)["limits"]["fields"], "above", a).fill(0.0),
        "range of a location",
    ),
    (
        "LSCDE",
        lambda c, a: array_at(c["state"], "input_range_", a).fill(np.nan),
        "input_range_ contains",
    ),
    ("Reduced", lambda c, a: c["state"].update(n_components_=2), "do not fit together"),
]


@pytest.mark.parametrize(("name", "damage", "says"), DAMAGE, ids=[d[2] for d in DAMAGE])
def test_a_wrong_value_is_refused_by_its_name(name, damage, says, files, tmp_path):
    content, arrays = unpack(files[name])
    damage(content, arrays)
    (tmp_path / "m.cdn").write_bytes(pack(content, arrays))
    with pytest.raises(ValueError, match=says):
        condensity.load(tmp_path / "m.cdn")
