import hashlib
import subprocess
import sys

import numpy as np
import pytest

from condensity.datasets import Table, load, names
from condensity.datasets.catalogue import CATALOGUE
from datafolder import FOLDER, needs_data

#: Samples, inputs, outputs, least and largest output, mean of the first output, first row.
KNOWN = {
    "Housing": (506, 13, 1, 5.0, 50.0, 22.5328, (0.00632, 24.0)),
    "Auto MPG": (392, 7, 1, 9.0, 46.6, 23.4459, (8.0, 18.0)),
    "Servo": (167, 4, 1, 0.13124992, 7.1001077, 1.3897, (5.0, 0.28125095)),
    "Yacht": (308, 6, 1, 0.01, 62.42, 10.4954, (-2.3, 0.11)),
    "Physicochem": (45730, 9, 1, 0.0, 20.999, 7.7485, (13558.3, 17.284)),
    "White Wine": (4898, 11, 1, 3.0, 9.0, 5.8779, (7.0, 6.0)),
    "Red Wine": (1599, 11, 1, 3.0, 8.0, 5.6360, (7.4, 5.0)),
    "Forest Fires": (517, 12, 1, 0.0, 1090.84, 12.8473, (7.0, 0.0)),
    "Concrete": (1030, 8, 1, 2.331807832, 82.5992248, 35.8178, (540.0, 79.98611076)),
    "Energy": (768, 8, 2, 6.01, 48.03, 22.3072, (0.98, 15.55)),
    "Stock": (536, 7, 2, -0.084715902, 0.100620694, 0.00162888, (-0.004679315, 0.035753708)),
    "Bone Mineral Density": (485, 1, 1, -0.06410256, 0.2199125, 0.0392516, (11.7, 0.01808067)),
    "Old Faithful": (272, 1, 1, 43.0, 96.0, 70.8971, (3.6, 79.0)),
}

#: sha256 (its beginning) of the splits with seeds 0, 1 and 7 that the benchmarks' records rest on.
SPLITS = {
    "Housing": "68cc355449f132d8",
    "Auto MPG": "ec80f85c49e7880c",
    "Servo": "e12b9bcb86c8163b",
    "Yacht": "60ed0489669faa88",
    "Physicochem": "eb2f06a6880bd436",
    "White Wine": "4e902f22e0bc0487",
    "Red Wine": "ee279e3669a04586",
    "Forest Fires": "54a365319e4b7ab0",
    "Concrete": "95d34ad5c34b2e8c",
    "Energy": "f771860926dda764",
    "Stock": "4e125a497b46034a",
}


@pytest.fixture
def small():
    X = np.arange(20.0).reshape(10, 2)
    return Table("Small", X, X[:, :1] * 3.0, ("a", "b"), ("c",), n_train=None, source="made up")


def test_every_name_is_known_here():
    assert names() == tuple(KNOWN)


@needs_data
@pytest.mark.parametrize("name", KNOWN)
def test_a_table_is_what_is_known_of_it(name):
    n, dx, dy, least, largest, mean, first = KNOWN[name]
    table = load(name, folder=FOLDER)
    assert table.X.shape == (n, dx)
    assert table.Y.shape == (n, dy)
    assert len(table.feature_names) == dx
    assert len(table.target_names) == dy
    assert np.isfinite(table.X).all()
    assert (table.Y.min(), table.Y.max()) == (least, largest)
    assert (table.X[0, 0], table.Y[0, 0]) == first
    np.testing.assert_allclose(table.Y[:, 0].mean(), mean, rtol=1e-5)


@needs_data
@pytest.mark.parametrize("name", KNOWN)
def test_the_catalogue_tells_the_size_of_the_file(name):
    assert (FOLDER / CATALOGUE[name].file).stat().st_size == CATALOGUE[name].size


@needs_data
@pytest.mark.parametrize("name", SPLITS)
def test_splits_stay_those_of_the_records(name):
    table, digest = load(name, folder=FOLDER), hashlib.sha256()
    for seed in (0, 1, 7):
        *arrays, unit = table.split(seed)
        for array in arrays:
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
        digest.update(repr(unit).encode())
    assert digest.hexdigest()[:16] == SPLITS[name]


@needs_data
def test_categories_are_coded_in_their_order():
    servo, fires = (load(name, folder=FOLDER) for name in ("Servo", "Forest Fires"))
    np.testing.assert_array_equal(servo.X[:2], [[5, 5, 5, 4], [2, 4, 6, 5]])  # E E and B D
    np.testing.assert_array_equal(fires.X[:2, 2:4], [[3, 5], [10, 2]])  # mar fri and oct tue


def test_a_table_unpacks_into_what_an_estimator_takes(small):
    X, y = small
    assert X is small.X
    assert y.shape == (10,)
    two = Table("Two", small.X, small.X, ("a", "b"), ("c", "d"), n_train=5, source="made up")
    assert two.y is two.Y
    assert repr(two) == "<Table 'Two': X (10, 2), Y (10, 2)>"


def test_a_split_parts_the_samples(small):
    X, Y, X_test, Y_test, unit = small.split(0, n_train=4)
    rows = np.concatenate([X, X_test])
    assert len(X) == 4
    np.testing.assert_array_equal(rows[np.argsort(rows[:, 0])], small.X)
    np.testing.assert_array_equal(np.concatenate([Y, Y_test])[:, 0], rows[:, 0] * 3.0)
    assert unit == 54.0
    assert len(small.split(0, n_train=4, max_test=2).X_test) == 2


def test_the_same_seed_splits_alike_and_another_does_not(small):
    first, again, other = (small.split(seed, n_train=4).X for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {},
            "n_train must be .* between 1 and 9 \\(the paper does not use this table\\), got None",
        ),
        ({"n_train": 0}, "n_train must be an integer between 1 and 9, got 0"),
        ({"n_train": 10}, "between 1 and 9, got 10"),
        ({"n_train": 4, "max_test": 0}, "max_test must be an integer >= 1, got 0"),
    ],
)
def test_impossible_splits_are_refused(small, settings, message):
    with pytest.raises(ValueError, match=message):
        small.split(0, **settings)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("housing", "got 'housing': did you mean 'Housing'"),
        ("HOUSING", "got 'HOUSING': did you mean 'Housing'"),
        ("Redwine", "got 'Redwine': did you mean 'Red Wine'"),
        ("old-faithful", "'Housing', 'Auto MPG', .*: did you mean 'Old Faithful'"),
        ("quux", "'Bone Mineral Density', 'Old Faithful', got 'quux'$"),
        (3, "got 3$"),
    ],
)
def test_unknown_names_are_refused_with_the_closest(name, message):
    with pytest.raises(ValueError, match=message):
        load(name)


@needs_data
def test_loading_from_a_folder_imports_no_pooch():
    code = (
        "import sys, condensity.datasets as d; "
        f"d.load('Servo', folder={str(FOLDER)!r}); print('pooch' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
