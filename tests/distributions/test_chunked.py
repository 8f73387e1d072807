"""Densities made part by part answer what they answer all at once."""

import pickle

import numpy as np
import pytest

from condensity.distributions import chunked as chunked_module
from condensity.distributions.block import Block
from condensity.distributions.bounded import BoundedMixture, Bounds
from condensity.distributions.chunked import ChunkedDistribution, in_chunks
from condensity.distributions.mixture import Mixture
from mixtures import random_mixture

M = 23


def whole(n_outputs=1, bounded=False):
    mixture = random_mixture(5, m=M, dy=n_outputs)
    if not bounded:
        return mixture
    return BoundedMixture(mixture, Bounds(np.zeros(n_outputs), np.full(n_outputs, np.inf)))


@pytest.fixture(params=[(1, False), (1, True), (2, False)], ids=["one", "bounded", "two"])
def both(request, monkeypatch):
    """All densities at once, and the same in parts of five rows and a rest."""
    dist = whole(*request.param)
    width = getattr(dist, "free", dist).width
    monkeypatch.setattr(chunked_module, "CHUNK", 5 * width)
    rows = np.arange(M)[:, None]
    return dist, ChunkedDistribution(rows, lambda own: dist[own[:, 0]], width, dist.n_outputs)


def points(dist):
    return dist.sample(1, random_state=0).reshape(M, dist.n_outputs)


@pytest.mark.parametrize("question", ["pdf", "log_pdf", "cdf", "crps", "hpd_level"])
def test_points_meet_their_own_row(both, question):
    dist = both[0]
    if dist.n_outputs > 1 and question in ("cdf", "crps", "hpd_level"):
        pytest.skip("of one output, or by drawing")
    Y = points(dist)
    ask = [getattr(d, question)(Y) for d in both]
    np.testing.assert_allclose(ask[1], ask[0], rtol=1e-12)


@pytest.mark.parametrize(
    "question",
    [
        lambda d: d.mean(),
        lambda d: d.var(),
        lambda d: d.std(),
        lambda d: d.cov(),
        lambda d: d.squared_norm(),
        lambda d: d.pdf_on(np.full((3, d.n_outputs), 0.7)),
        lambda d: d.marginal(0).quantile([0.1, 0.9]),
        lambda d: d.marginal(0).interval(0.8),
        lambda d: d.marginal(0).prob(0.1, np.linspace(0.2, 2.0, M)),
        lambda d: np.concatenate(d.marginal(0).hdr(0.5)),
        lambda d: np.concatenate(d.modes()),
    ],
)
def test_questions_without_points(both, question):
    dist, parts = both
    np.testing.assert_allclose(question(parts), question(dist), rtol=1e-10)


def test_rows_can_be_picked_and_brought_into_memory(both):
    dist, parts = both
    for index in (3, slice(2, 9), [4, 1], np.arange(M) % 2 == 0):
        np.testing.assert_array_equal(parts[index].mean(), dist[index].mean())
    assert type(parts.compute()) is type(dist)
    np.testing.assert_array_equal(parts.compute().mean(), dist.mean())
    assert len(parts) == M
    assert f"m={M}" in repr(parts)


def test_draws_are_of_their_rows(both):
    _, parts = both
    drawn = parts.sample(400, random_state=0).reshape(M, 400, -1)
    error = np.sqrt(np.asarray(parts.var()).reshape(M, -1) / 400)
    assert (np.abs(drawn.mean(axis=1) - parts.mean().reshape(M, -1)) < 5 * error).all()
    np.testing.assert_array_equal(parts.sample(2, random_state=1), parts.sample(2, random_state=1))


def test_answers_stay_when_the_caller_s_inputs_change(monkeypatch):
    dist, rows = whole(), np.arange(M, dtype=float)[:, None]
    monkeypatch.setattr(chunked_module, "BLOCK", 1)
    parts = in_chunks(rows, lambda own: dist[own[:, 0].astype(int)], dist.width, 1)
    rows[:] = 0
    np.testing.assert_array_equal(parts.mean(), dist.mean())


def test_what_is_in_parts_twice_still_comes_into_memory(both):
    dist, parts = both
    nested = ChunkedDistribution(
        parts.X, lambda own: ChunkedDistribution(own, parts.at, 1, 1), 1, parts.n_outputs
    )
    assert type(nested.compute()) is type(dist)
    np.testing.assert_array_equal(nested.compute().mean(), dist.mean())


def test_there_is_one_axis_to_pick_from(both):
    for d in both:
        with pytest.raises(IndexError, match="indexed by row, got an index with 2 axes"):
            d[np.zeros((2, 2), int)]


def test_chunked_densities_can_be_pickled():
    parts = ChunkedDistribution(np.arange(3.0)[:, None], shifted, 1, 1)
    there = pickle.loads(pickle.dumps(parts.marginal(0)))
    np.testing.assert_array_equal(there.mean(), [0.0, 1.0, 2.0])


def shifted(own):
    zeros = np.zeros((len(own), 1))
    return Mixture([Block(zeros, np.zeros((1, 1)), np.eye(1), shift=own)])


def test_few_rows_stay_in_memory_and_many_do_not(monkeypatch):
    dist = whole()
    rows = np.arange(M)[:, None]

    def at(own):
        return dist[own[:, 0]]

    assert isinstance(in_chunks(rows, at, dist.width, 1), Mixture)
    monkeypatch.setattr(chunked_module, "BLOCK", M * dist.width - 1)
    assert isinstance(in_chunks(rows, at, dist.width, 1), ChunkedDistribution)


def test_no_rows_give_empty_answers():
    none = ChunkedDistribution(np.empty((0, 1)), shifted, 1, 1)
    assert none.mean().shape == (0,)
    assert none.quantile([0.1, 0.5]).shape == (0, 2)
    assert none.hdr(0.5) == none.modes() == []
