"""More samples than the subsample: no sample is lost, counted twice or out of reach."""

import numpy as np
import pytest

from condensity.data import chunks
from condensity.data.growth import enlarge
from condensity.data.prepare import prepare

N, SUBSAMPLE = 400, 60


class Estimator:
    """Its name is what ``prepare`` needs."""


def training_data(seed=0, order=None):
    rng = np.random.default_rng(5)
    X, y, weight = rng.normal(size=(N, 3)), rng.normal(size=N), rng.uniform(0.5, 2.0, N)
    order = np.arange(N) if order is None else order
    data = prepare(
        Estimator(),
        X[order],
        y[order],
        weight[order],
        np.random.default_rng(seed),
        cv=3,
        to_fix="",
        n_centers="auto",
        auto_centers=20,
        subsample=SUBSAMPLE,
    )
    return data, np.column_stack([X, y, weight / weight.sum()])


def everything(chunk):
    return [[(chunk.X, chunk.Y, chunk.weight)]]


def rows_of(remaining, scaling, total):
    """All samples of ``remaining`` in the units of the data: x, y, share of the total weight."""
    (parts,) = remaining.rows.total(everything)
    X, Y, w = (np.concatenate(column) for column in zip(*parts, strict=True))
    return np.column_stack([X, scaling.mean + scaling.sd * Y, w / w.sum() * total])


def sorted_rows(table):
    return table[np.lexsort(table.T[::-1])]


@pytest.mark.parametrize("most", [100, 10**6])
def test_every_sample_is_in_one_place_with_its_weight(most, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 64)
    data, table = training_data()
    larger = enlarge(data, most, 50, np.random.default_rng(1))
    s, rest = larger.data.sample, larger.data.remaining
    inside = 1.0 if rest is None else rest.share
    found = np.column_stack([s.X, s.Y, inside * s.weight])
    if rest is None:
        assert most > N
    else:
        assert len(s) == SUBSAMPLE + 100
        found = np.vstack([found, rows_of(rest, data.y_scaling, 1.0 - inside)])
    np.testing.assert_allclose(sorted_rows(found), sorted_rows(table), rtol=1e-9)


def test_the_samples_of_the_subsample_are_held_out():
    data, _ = training_data()
    larger = enlarge(data, 100, 50, np.random.default_rng(1))
    own = {tuple(row) for row in np.round(np.column_stack([data.sample.X, data.sample.Y]), 9)}
    s, held = larger.data.sample, larger.held
    rows = [tuple(row) for row in np.round(np.column_stack([s.X, s.Y]), 9)]
    np.testing.assert_array_equal(held > 0, [row in own for row in rows])
    np.testing.assert_array_equal(held[held > 0], s.weight[held > 0])
    np.testing.assert_allclose(larger.data.folds.sum(axis=0), s.weight)
    assert len(larger.data.centers) == 50


def test_the_drawn_samples_know_the_share_of_the_subsample():
    data, table = training_data()
    larger = enlarge(data, 100, 50, np.random.default_rng(1))
    (parts,) = larger.drawn.rows.total(everything)
    drawn = np.concatenate([X for X, _, _ in parts])
    own = np.isin(table[:, 0], data.sample.X[:, 0])
    taken = np.isin(table[:, 0], drawn[:, 0])
    assert not (own & taken).any()
    exact = table[own, -1].sum() / table[own | taken, -1].sum()
    assert larger.drawn.share == pytest.approx(exact, rel=1e-9)


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_the_rows(monkeypatch):
    data, _ = training_data()
    plain = enlarge(data, 100, 50, np.random.default_rng(1)).data.sample
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 7)
    data, _ = training_data(order=np.random.default_rng(2).permutation(N))
    shuffled = enlarge(data, 100, 50, np.random.default_rng(1)).data.sample
    np.testing.assert_array_equal(shuffled.X, plain.X)
    np.testing.assert_allclose(shuffled.weight, plain.weight, rtol=1e-12)
    other = enlarge(data, 100, 50, np.random.default_rng(3)).data.sample
    assert len(other) != len(plain) or (other.X != plain.X).any()


def test_repeated_rows_weights_and_rows_of_weight_zero_give_the_same_draw():
    rng = np.random.default_rng(5)
    X, y, times = rng.normal(size=(N, 3)), rng.normal(size=N), rng.integers(1, 9, N)
    nothing = rng.normal(size=(5000, 3)), rng.normal(size=5000), np.zeros(5000)
    samples = [
        (X, y, times.astype(float)),
        (np.repeat(X, times, axis=0), np.repeat(y, times), None),
        (np.r_[X, nothing[0]], np.r_[y, nothing[1]], np.r_[times, nothing[2]]),
    ]
    found = []
    for sample in samples:
        options = {"cv": 3, "to_fix": "", "n_centers": "auto", "auto_centers": 20}
        data = prepare(
            Estimator(), *sample, np.random.default_rng(0), subsample=SUBSAMPLE, **options
        )
        found.append(enlarge(data, 100, 50, np.random.default_rng(1)))
    for other in found[1:]:
        np.testing.assert_array_equal(other.data.sample.X, found[0].data.sample.X)
        np.testing.assert_allclose(other.data.sample.weight, found[0].data.sample.weight)
        assert other.drawn.share == pytest.approx(found[0].drawn.share)
        assert other.data.remaining.share == pytest.approx(found[0].data.remaining.share)


def test_few_distinct_rows_that_are_repeated_often_are_all_drawn():
    rng = np.random.default_rng(5)
    X = np.repeat(rng.normal(size=(90, 3)), 300, axis=0)
    y = np.repeat(rng.normal(size=90), 300)
    options = {"cv": 3, "to_fix": "", "n_centers": "auto", "auto_centers": 20}
    data = prepare(
        Estimator(), X, y, None, np.random.default_rng(0), subsample=SUBSAMPLE, **options
    )
    larger = enlarge(data, 900, 50, np.random.default_rng(1)).data
    assert len(larger.sample) == 90
    assert larger.remaining is None
