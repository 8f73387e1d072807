"""Training data as the algorithms receive them."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from condensity import LSCDE
from condensity.data.prepare import prepare


def samples(n=90):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    return X, X[:, 0] + 0.1 * rng.standard_normal(n), np.arange(n) % 15


def prepared(X, y, cv, **options):
    rng = np.random.default_rng(1)
    return prepare(LSCDE(), X, y, None, rng, cv=cv, to_fix="", **options)


@pytest.mark.parametrize("subsample", [None, 40])
def test_groups_stay_in_one_fold_also_in_a_subsample(subsample):
    X, y, groups = samples()
    splits = list(GroupKFold(3).split(X, y, groups))
    fold_of = np.empty(len(X), dtype=int)
    for fold, (_, held_out) in enumerate(splits):
        fold_of[held_out] = fold
    data = prepared(X, y, splits, subsample=subsample)
    assert len(data.sample) == (subsample or len(X))
    for x, label in zip(data.sample.X, data.labels, strict=True):
        (row,) = np.flatnonzero((x == X).all(axis=1))
        assert label == fold_of[row]


def test_the_remaining_samples_are_all_others():
    X, y, _ = samples()
    data = prepared(X, y, 3, subsample=40)
    (count, total) = data.remaining.rows.total(lambda part: [len(part), part.X.sum(axis=0)])
    assert count == 50
    np.testing.assert_allclose(total + data.sample.X.sum(axis=0), X.sum(axis=0))
    assert data.remaining.share == pytest.approx(40 / 90)
