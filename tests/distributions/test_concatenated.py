"""Rows of several distributions in one; the oracle is the distribution that each row comes from."""

import numpy as np
import pytest

from condensity.conformal import RecalibratedDistribution
from condensity.distributions import (
    BoundedMixture,
    Bounds,
    ChunkedDistribution,
    ConcatenatedDistribution,
    Mixture,
    concatenate_rows,
    mixture_of,
)
from condensity.targets import MixedDistribution
from mixtures import random_mixture

POSITIVE = Bounds(np.zeros(1), np.full(1, np.inf))
PLACES = [[4, 1], [0, 5, 3], [2]]


def parts_with(*kinds):
    return [kind(random_mixture(seed, m=len(PLACES[seed]))) for seed, kind in enumerate(kinds)]


def as_it_is(mixture):
    return mixture


def positive(mixture):
    return BoundedMixture(mixture.stretch(np.full(1, 0.3)), POSITIVE)


def above_minus_one(mixture):
    return BoundedMixture(mixture.stretch(np.full(1, 0.3)), Bounds(-np.ones(1), POSITIVE.upper))


def only_zero(mixture):
    return MixedDistribution([0.0], np.ones((len(mixture), 1)), None)


def atom_at(value):
    return lambda mixture: MixedDistribution([value], np.full((len(mixture), 1), 0.3), mixture)


def recalibrated(mixture):
    return RecalibratedDistribution(mixture, [0, 0.25, 0.75, 1], [0, 0.4, 0.6, 1])


def chunked(mixture):
    rows = np.arange(len(mixture))
    return ChunkedDistribution(rows, lambda own: mixture[own], mixture.width, 1)


FAMILIES = {
    "mixtures": (as_it_is, as_it_is, as_it_is),
    "with and without bounds": (as_it_is, positive, as_it_is),
    "other bounds": (positive, above_minus_one, positive),
    "atoms beside a density or alone": (atom_at(0.0), only_zero, atom_at(0.0)),
    "other atoms": (atom_at(0.0), atom_at(0.1), atom_at(0.2)),
    "with and without atoms": (atom_at(0.0), as_it_is, positive),
    "recalibrated": (recalibrated, recalibrated, as_it_is),
    "chunked": (chunked, as_it_is, chunked),
}


@pytest.fixture(params=FAMILIES)
def family(request):
    return parts_with(*FAMILIES[request.param])


QUESTIONS = {
    "mean": lambda dist, y: dist.mean(),
    "std": lambda dist, y: dist.std(),
    "quantile": lambda dist, y: dist.quantile([0.1, 0.7]),
    "log_pdf": lambda dist, y: dist.log_pdf(y),
    "cdf": lambda dist, y: dist.cdf(y),
    "crps": lambda dist, y: dist.crps(y),
    "prob": lambda dist, y: dist.prob(0.05, y + 1),
    "pdf_on": lambda dist, y: dist.pdf_on([0.1, 0.4]),
    "partial_moment": lambda dist, y: dist.partial_moment(y, 2),
    "entropy": lambda dist, y: dist.entropy(),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_every_row_is_answered_by_its_own_distribution(family, question):
    whole = concatenate_rows(family, PLACES)
    y = np.array([0.1, 0.4, 0.2, 1.3, 0.05, 0.7])
    found = question(whole, y)
    for dist, places in zip(family, PLACES, strict=True):
        np.testing.assert_allclose(found[places], question(dist, y[places]), rtol=1e-12)
    in_memory = question(whole.compute(), y)
    np.testing.assert_allclose(in_memory, found, rtol=1e-9, atol=1e-12)


def test_lists_come_in_the_order_of_rows():
    family = parts_with(as_it_is, as_it_is, as_it_is)
    whole = concatenate_rows(family, PLACES)
    for dist, places in zip(family, PLACES, strict=True):
        for i, place in enumerate(places):
            np.testing.assert_allclose(whole.modes()[place], dist.modes()[i], rtol=1e-12)
            np.testing.assert_allclose(whole.hdr(0.8)[place], dist.hdr(0.8)[i], rtol=1e-12)


def test_rows_are_selected_from_their_own_distribution(family):
    whole, mean = concatenate_rows(family, PLACES), concatenate_rows(family, PLACES).mean()
    for index in (0, [5, 5, 2], slice(None, None, -1), np.arange(6) % 2 == 0):
        np.testing.assert_allclose(whole[index].mean(), np.atleast_1d(mean[index]), rtol=1e-12)
    assert len(whole[[]]) == 0
    assert whole[[]].quantile([0.1, 0.5]).shape == (0, 2)
    assert type(whole[4]) is type(family[0][0])


def test_without_places_one_follows_the_other():
    family = parts_with(as_it_is, as_it_is, as_it_is)
    expected = np.concatenate([dist.mean() for dist in family])
    np.testing.assert_allclose(concatenate_rows(family).mean(), expected)
    assert concatenate_rows(family[:1]) is family[0]
    np.testing.assert_allclose(
        concatenate_rows(family[:1], [[1, 0]]).mean(), family[0].mean()[::-1]
    )


def test_what_is_computed_has_one_class_if_that_is_possible():
    same = concatenate_rows(parts_with(positive, positive, positive), PLACES)
    assert isinstance(same.compute(), BoundedMixture)
    assert isinstance(concatenate_rows(parts_with(chunked, as_it_is)).compute(), Mixture)
    mixed = concatenate_rows(parts_with(atom_at(0.0), atom_at(0.0)))
    assert isinstance(mixed.compute(), MixedDistribution)
    other = concatenate_rows(parts_with(positive, as_it_is, chunked), PLACES)
    assert isinstance(other.compute(), ConcatenatedDistribution)
    assert not any(isinstance(d, ChunkedDistribution) for d in other.compute().dists)


def test_an_atom_of_one_model_is_an_ordinary_value_of_another():
    whole = concatenate_rows(parts_with(atom_at(0.0), atom_at(0.1)))
    y = np.array([0.0, 0.1, 0.0, 0.1, 0.2])
    assert np.isfinite(whole.compute().log_pdf(y)).all()
    assert whole.pdf(y)[0] == pytest.approx(0.3)
    assert whole.pdf(y)[3] == pytest.approx(0.3)


def test_it_is_mixed_and_compared_as_any_other():
    whole, other = (
        concatenate_rows([random_mixture(seed, m=2), random_mixture(seed + 1, m=3)])
        for seed in (0, 5)
    )
    y = np.linspace(-1, 1, 5)
    mixed = mixture_of([whole, other], [0.25, 0.75])
    np.testing.assert_allclose(mixed.pdf(y), 0.25 * whole.pdf(y) + 0.75 * other.pdf(y))
    divergences = [whole[i].kl(other[i])[0] for i in range(5)]
    np.testing.assert_allclose(whole.kl(other), divergences, rtol=1e-9)


def test_different_bounds_cannot_be_mixed():
    whole = concatenate_rows(parts_with(positive, as_it_is))
    for question in (lambda: mixture_of([whole, whole]), lambda: whole.kl(whole)):
        with pytest.raises(ValueError, match="fit all models with the same bounds"):
            question()


def test_averages_with_many_blocks_are_concatenated():
    average = Mixture.average([random_mixture(seed, m=2) for seed in range(3)], [0.2, 0.3, 0.5])
    whole = concatenate_rows([average, random_mixture(9, m=2)], [[3, 0], [1, 2]])
    np.testing.assert_allclose(whole.compute().cdf(0.3)[[3, 0]], average.cdf(0.3), rtol=1e-12)


@pytest.mark.parametrize(
    ("dists", "rows", "error", "match"),
    [
        ([], None, ValueError, "dists is empty"),
        ([random_mixture(0), 3.0], None, TypeError, "as predict_dist returns them, got float"),
        ([random_mixture(0), random_mixture(0, dy=2)], None, ValueError, "got 1 and 2"),
        ([random_mixture(0)], [[0, 1]], ValueError, r"\[3\], got \[2\]"),
        ([random_mixture(0)], [[0, 1, 1]], ValueError, "from 0 to 2 once"),
    ],
)
def test_what_cannot_be_put_together_is_refused(dists, rows, error, match):
    with pytest.raises(error, match=match):
        concatenate_rows(dists, rows)
