"""Small fitted models of every kind that a report shows, and the samples they were fitted to."""

from functools import cache

import numpy as np

from condensity import LSCDE, LSCE, SIR, EpsilonKDE, Reduced

QUICK = {"n_starts": 1, "max_iter": 3, "random_state": 0}
FIXED = {"bandwidth": (0.6, 0.4), "penalty": 0.1}
ONE = QUICK | FIXED | {"n_members": 1, "location": "none"}
ANYWHERE = QUICK | FIXED | {"n_members": 2, "cv": 2, "location": "flexible"}


def _samples(n=100):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 4)) * [1.0, 0.1, 30.0, 1.0] + [0.0, 5.0, 1000.0, 0.0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    fork = np.sign(rng.normal(size=n)) * (1 + Z[:, 0]) + 0.3 * rng.normal(size=n)
    other = 0.7 * fork + Z[:, 1] + 0.4 * rng.normal(size=n)
    return X, np.column_stack([fork, other])


X, BOTH = _samples()
FORK = BOTH[:, 0]
#: A step, a wave and noise: trees and a smooth function together predict it best.
WAVE = 2.0 * (X[:, 2] > 1010) + 0.8 * np.sin(3 * X[:, 3]) + 0.3 * BOTH[:, 1]
POSITIVE, SHARE = np.exp(FORK / 2), 2 + 3 / (1 + np.exp(-FORK))

MAKERS = {
    "several members": lambda: (
        LSCE(2, n_members=6, cv=3, location="none", **QUICK, **FIXED),
        FORK,
    ),
    "several locations": lambda: (LSCE(1, n_members=2, cv=2, **QUICK), BOTH[:, 1] + 0.5 * FORK**2),
    "two outputs": lambda: (LSCE(2, n_members=2, cv=2, location="linear", **QUICK), BOTH),
    "lower bound": lambda: (LSCE(1, bounds=(0, None), **ONE), POSITIVE),
    "upper bound": lambda: (LSCE(1, bounds=(None, 0), **ONE), -POSITIVE),
    "two bounds": lambda: (LSCE(1, bounds=(2, 5), **ONE), SHARE),
    "two outputs, bounds": lambda: (
        LSCE(1, bounds=[(0, None), (2, 5)], **ONE),
        np.column_stack([POSITIVE, 2 + 3 / (1 + np.exp(-BOTH[:, 1]))]),
    ),
    "two outputs, close": lambda: (
        LSCE(1, **ONE),
        np.column_stack([FORK, FORK + 0.02 * BOTH[:, 1]]),
    ),
    "reduced location": lambda: (LSCE(2, **ONE | {"location": "reduced"}), WAVE),
    "reduced location, two outputs": lambda: (
        LSCE(1, n_members=2, cv=2, location="reduced", **QUICK),
        np.column_stack([WAVE, BOTH[:, 1]]),
    ),
    "smooth location": lambda: (LSCE(1, **ANYWHERE | {"location": "smooth"}), FORK),
    "tree location": lambda: (LSCE(1, **ANYWHERE | {"location": "trees"}), FORK),
    "flexible location": lambda: (LSCE(n_members=2, cv=2, location="flexible", **QUICK), WAVE),
    "flexible location, bounds": lambda: (
        LSCE(1, bounds=(2, 5), **ANYWHERE),
        2 + 3 / (1 + np.exp(-WAVE)),
    ),
    "flexible location, two outputs": lambda: (
        LSCE(1, bounds=[(0, None), None], **ANYWHERE),
        np.column_stack([np.exp(WAVE / 2), BOTH[:, 1]]),
    ),
    "published": lambda: (
        LSCE.as_published(1, random_state=0).set_params(n_starts=1),
        FORK,
    ),
    "LSCDE": lambda: (LSCDE(bandwidth=0.5, penalty=0.1, random_state=0), BOTH),
    "EpsilonKDE": lambda: (EpsilonKDE(epsilon=1.5, bandwidth=0.3, random_state=0), FORK),
    "EpsilonKDE, all": lambda: (EpsilonKDE(epsilon=np.inf, bandwidth=0.3, random_state=0), FORK),
    "Reduced": lambda: (Reduced(SIR(2), LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)), FORK),
}


def settle(page):
    """Wait until a page has drawn its current state."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


CATEGORIES = {"kind": {"a": "x3", "b": "x4", "c": "x5"}}


@cache
def with_categories():
    """A model of a number, a flag and three categories (``CATEGORIES``), its inputs and outputs."""
    rng = np.random.default_rng(4)
    kind = rng.choice(3, 150, p=[0.3, 0.5, 0.2])
    flag = rng.random(150) < 0.3
    X = np.column_stack([rng.normal(size=150), flag, np.eye(3)[kind]])
    y = 0.5 * X[:, 0] + 0.5 * flag + 2.0 * (kind == 0) + rng.normal(size=150)
    return LSCE(1, **QUICK, n_members=1, cv=3, location="linear").fit(X, y), X, y


def quick(X, y):
    """A density that is fitted at once, where any will do."""
    return LSCDE(bandwidth=0.5, penalty=0.1, random_state=0).fit(X, y)


@cache
def fitted(kind):
    """A model and its outputs; the inputs are ``X`` of this module."""
    model, y = MAKERS[kind]()
    return model.fit(X, y), y
