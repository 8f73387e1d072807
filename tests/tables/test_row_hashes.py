"""A model recognises its training rows, and does not contain them."""

import hashlib
import struct

import numpy as np
import pytest

import condensity
from commands import columns
from condensity import LSCDE
from condensity.tables import TableWarning, fit_table
from condensity.tables.row_hashes import TrainingRowHashes

FIXED = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)


def test_hashes_are_those_of_the_format():
    """Bytes, key and digest as docs/format.md describes them."""
    X, Y = np.array([[1.5, -0.0], [2.0, 3.0], [1.5, 0.0]]), np.array([[7.0], [8.0], [7.0]])
    found = TrainingRowHashes.of(X, Y)
    key = bytes.fromhex(found.salt)
    rows = [struct.pack("<ddd", *row) for row in ((1.5, 0.0, 7.0), (2.0, 3.0, 8.0))]
    digests = [hashlib.blake2b(row, digest_size=4, key=key).digest() for row in rows]
    numbers = sorted(int.from_bytes(digest, "little") for digest in digests)
    assert found.words.tolist() == [struct.unpack("<q", struct.pack("<II", *numbers))[0]]
    odd = TrainingRowHashes.of(X[:1], Y[:1])
    assert len(odd.words) == 1
    np.testing.assert_array_equal(odd.contain(X, Y), [True, False, True])


def test_rows_are_recognised_whatever_their_order():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(501, 3)), rng.normal(size=(501, 2))
    hashes = TrainingRowHashes.of(X[:400], Y[:400])
    order = rng.permutation(501)
    np.testing.assert_array_equal(hashes.contain(X[order], Y[order]), order < 400)
    assert hashes.words.nbytes == 4 * 400
    again = TrainingRowHashes.of(X[:400], Y[:400])
    assert again.salt == hashes.salt
    other = TrainingRowHashes.of(X[:399], Y[:399])
    assert other.salt != hashes.salt
    assert len(set(other.words.tolist()) & set(hashes.words.tolist())) == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"salt": "ab"},
        {"salt": "x" * 32},
        {"salt": 5},
        {"words": np.zeros(3)},
        {"words": [1, 2]},
        {"words": np.zeros((2, 2), dtype=int)},
    ],
)
def test_damaged_hashes_are_refused(fields):
    with pytest.raises(ValueError, match=r"the salt must be|row hashes must be"):
        TrainingRowHashes(**({"salt": "0" * 32, "words": np.zeros(2, dtype=int)} | fields))


def test_a_table_model_knows_its_rows(tmp_path):
    table = columns(n=60)
    model = fit_table(table, "y", estimator=FIXED)
    condensity.save(model, tmp_path / "m.cdn")
    again = condensity.load(tmp_path / "m.cdn")
    held_out = np.random.default_rng(0).permutation(60)[:12]
    expected = ~np.isin(np.arange(60), held_out)
    np.testing.assert_array_equal(again.used_in_fit(table), expected)
    with pytest.warns(TableWarning, match="48 of 60 rows were used in the fit and are left out"):
        found = again.evaluate(table)
    assert found.rows == 12
    assert found.error == pytest.approx(model.evaluation.error, rel=1e-12)
    train = {name: column[expected] for name, column in table.items()}
    with pytest.warns(TableWarning, match="48 of 48 rows were used in the fit: the losses are"):
        assert again.evaluate(train).rows == 48
    np.testing.assert_array_equal(again.Y_test[:, 0], table["y"][np.sort(held_out)])
    bare = fit_table(table, "y", estimator=FIXED, keep_rows=0)
    assert (bare.row_hashes, bare.X_test) == (None, None)
    with pytest.raises(ValueError, match="fit it again with keep_rows > 0"):
        bare.used_in_fit(table)
    assert bare.evaluate(train).rows == 48
