"""The terms of a location for the page, evaluated by loops, and the location itself."""

import base64

import numpy as np
import pytest

from condensity.explorer.exported_location import terms_of
from condensity.fitting.gaussian_process import fit_sparse_process
from condensity.locations.flexible import WeightedFunctions
from condensity.locations.location import Constant, Plane, ReducedFunction
from problems import random_sample, random_subspace

DX = 5


def numbers(encoded, *shape):
    return np.frombuffer(base64.b64decode(encoded["f8"])).reshape(shape)


def evaluate(data, x):
    """A plane, and bells ``exp(-|M x - c|^2 / 2)`` times their coefficients, at one input."""
    m = numbers(data["intercept"], -1).copy()
    dy = len(m)
    if data["slope"] is not None:
        m += x @ numbers(data["slope"], DX, dy)
    for bells in data["bells"]:
        u = numbers(bells["matrix"], -1, DX) @ x
        coefficients = numbers(bells["coefficients"], -1, dy)
        for c, a in zip(numbers(bells["centers"], -1, len(u)), coefficients, strict=True):
            m += np.exp(-sum((u - c) ** 2) / 2) * a
    return m


def smooth(dx, dy):
    s = random_sample(0, n=30, dx=dx, dy=dy)
    return fit_sparse_process(s.X, s.Y, s.weight, None, 20)[0]


def reduced(dz, dy):
    return ReducedFunction(2.0 * random_subspace(dz, dz, DX), smooth(dz, dy))


def mixed(dy):
    """A sum of every kind but trees, with a sum inside."""
    rng = np.random.default_rng(1)
    plane = Plane(rng.normal(size=dy), rng.normal(size=(DX, dy)))
    inner = WeightedFunctions((0.3, 0.7), (plane, reduced(2, dy)))
    outer = Constant(rng.normal(size=dy)), inner, smooth(DX, dy)
    return WeightedFunctions((0.2, 0.5, 0.3), outer)


@pytest.mark.parametrize("dy", [1, 2])
@pytest.mark.parametrize(
    "make",
    [
        lambda dy: smooth(DX, dy),
        lambda dy: reduced(1, dy),
        lambda dy: reduced(2, dy),
        lambda dy: reduced(DX, dy),
        mixed,
    ],
    ids=["smooth", "one direction", "two directions", "all directions", "a sum"],
)
def test_the_terms_are_those_of_the_location(make, dy):
    location = make(dy)
    X = 2.0 * np.random.default_rng(2).normal(size=(6, DX))
    data = terms_of(location).as_page_data()
    found = [evaluate(data, x) for x in X]
    np.testing.assert_allclose(found, location(X), rtol=1e-10, atol=1e-10)
    half = terms_of(location, 0.5).as_page_data()
    np.testing.assert_allclose([evaluate(half, x) for x in X], location(X) / 2, atol=1e-10)


def test_a_reduced_location_contains_directions_and_no_inputs_of_samples():
    location = reduced(2, 1)
    (bells,) = terms_of(location).as_page_data()["bells"]
    assert numbers(bells["matrix"], -1).size == 2 * DX
    n = len(location.function.centers)
    assert numbers(bells["centers"], -1).size == 2 * n
