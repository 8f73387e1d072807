"""Whether two source trees give the same numbers: fits, answers, files, pages and commands.

    python benchmarks/sameness.py OLD_SRC NEW_SRC [--quick] [--only CASE ...] [--keep FOLDER]

OLD_SRC and NEW_SRC are folders that hold the package, such as ``before/src`` and ``src``.  A
process of its own takes the library from each and does the same work with it, through the public
interface alone; models that the old tree saved are read by both.  Then every number is compared.
The exit code is 0 if all are equal to rounding error, and 1 if not.  ``--keep`` leaves the numbers
in a folder, and takes from there what an earlier run with the same sources has made.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import condensity
from condensity import (
    LSCDE,
    LSCE,
    LSMI,
    SAVE,
    SIR,
    EpsilonKDE,
    FixedSubspace,
    Reduced,
    metrics,
    scorers,
)
from condensity.datasets import illustrative, toy_a, toy_b

Array = NDArray[Any]

#: Numbers may differ by this, relative to their size.
TOLERANCE = 1e-9
#: A number counts as at least this large, relative to the largest of its array: what is left
#: where large ones cancel holds nothing but their rounding errors.
LEAST = 1e-4
#: Rows and more of them: the second are answered part by part if each has 300 components.
FEW, MANY = 12, 20_000
GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "model_files"
ALONE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
    "PYTHONSAFEPATH": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "ignore",
}


# Named arrays of everything that is compared.


def flat(name: str, value: Any) -> Iterator[tuple[str, Array]]:
    """The arrays of numbers and texts in a value, however deep, each with its name."""
    if isinstance(value, dict) and set(value) == {"f8"}:  # how the page holds its numbers
        yield name, np.frombuffer(b64decode(value["f8"]), dtype="<f8")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from flat(f"{name}/{key}" if name else str(key), item)
    elif hasattr(value, "get_params"):
        yield from flat(name, fitted(value))
    elif isinstance(value, list | tuple) or getattr(value, "dtype", "") == np.dtype(object):
        yield from flat_items(name, list(value))
    elif isinstance(value, str | bool | int | float | np.generic | np.ndarray):
        yield name, np.asarray(value)
    elif value is not None:
        yield from flat(name, public(value))


def flat_items(name: str, items: list[Any]) -> Iterator[tuple[str, Array]]:
    """Numbers as one array, arrays of unequal sizes as their sizes and values, else one by one."""
    arrays = [as_numbers(item) for item in items]
    if any(array is None for array in arrays):
        for place, item in enumerate(items):
            yield from flat(f"{name}/{place}", item)
    elif len({array.shape for array in arrays}) <= 1:
        yield name, np.array(arrays, dtype=float)
    else:
        yield f"{name}/sizes", np.array([array.size for array in arrays])
        yield f"{name}/values", np.concatenate([array.ravel() for array in arrays])


def as_numbers(value: Any) -> Array | None:
    """The value as an array of numbers; None if it is something else."""
    if not isinstance(value, bool | int | float | np.generic | np.ndarray | list | tuple):
        return None
    try:
        array = np.asarray(value)
    except ValueError:  # lists of unequal lengths
        return None
    return array if array.dtype.kind in "biuf" else None


def fitted(model: Any) -> dict[str, Any]:
    """The public fitted attributes of an estimator."""
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def public(value: Any) -> dict[str, Any]:
    """The public attributes of an object, without what matplotlib drew."""
    return {
        name: item
        for name, item in vars(value).items()
        if not (name.startswith("_") or name.endswith("_"))
    }


def without_texts(found: Any) -> dict[str, Array]:
    """The numbers alone."""
    return {name: array for name, array in flat("", found) if array.dtype.kind in "biuf"}


# Problems to learn from.


class Data(NamedTuple):
    """Samples to learn from, and some to ask about."""

    X: Any
    y: Any
    X_new: Any
    y_new: Any
    weight: Array | None = None


def toy(make: Callable[[], Any] = toy_b, n: int = 100) -> Data:
    return Data(*make().sample(n, random_state=0), *make().sample(FEW, random_state=1))


def seen(data: Data, map_: Callable[[Array], Array]) -> Data:
    """The same inputs, with a function of y."""
    return data._replace(y=map_(data.y), y_new=map_(data.y_new))


def positive(y: Array) -> Array:
    return np.exp(y / 4)


def share(y: Array) -> Array:
    return 2 + 3 / (1 + np.exp(-y / 2))


def two_outputs(n: int = 100) -> Data:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n + FEW, 4)) * [1.0, 0.1, 30.0, 1.0] + [0.0, 5.0, 1000.0, 0.0]
    fork = np.sign(rng.standard_normal(n + FEW)) * (1 + X[:, 0])
    Y = np.column_stack([fork, 0.7 * fork + X[:, 3]]) + 0.3 * rng.standard_normal((n + FEW, 2))
    return Data(X[:n], Y[:n], X[n:], Y[n:])


def one_free_one_share(Y: Array) -> Array:
    return np.column_stack([Y[:, 0], share(Y[:, 1])])


def diabetes(n: int = 120) -> Data:
    """A data frame with names."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = X[["age", "bmi", "bp", "s3", "s5"]]
    return Data(X[:n], y[:n], X[n : n + FEW], y[n : n + FEW])


def weighted(data: Data) -> Data:
    weight = np.random.default_rng(5).uniform(0.2, 2.0, len(data.X))
    weight[::9] = 0.0
    return data._replace(weight=weight)


def repeated(data: Data) -> Data:
    """Rows that occur twice, and targets that are rounded."""
    rows = np.r_[np.arange(len(data.X)), np.arange(len(data.X) // 3)]
    return data._replace(X=data.X[rows], y=data.y[rows].round(1))


def with_constant(data: Data) -> Data:
    X, X_new = data.X.copy(), data.X_new.copy()
    X[:, 2] = X_new[:, 2] = 7.0
    return data._replace(X=X, X_new=X_new)


def by_group(data: Data) -> list[Any]:
    groups = np.arange(len(data.X)) // 4
    return list(GroupKFold(4).split(data.X, data.y, groups))


# The fits.


class Fit(NamedTuple):
    """A model and what it is fitted to."""

    data: Callable[[], Data]
    model: Callable[[Data], Any]
    quick: bool = False  # whether a quick look has it, too
    stored: bool = True  # whether it can be saved


def lsce(*arguments: Any, **settings: Any) -> Callable[[Data], Any]:
    return lambda data: LSCE(*arguments, **{"random_state": 0} | settings)


def published(n_components: Any, **settings: Any) -> Callable[[Data], Any]:
    return lambda data: LSCE.as_published(n_components, random_state=0).set_params(**settings)


def always(kind: Any, *arguments: Any, **settings: Any) -> Callable[[Data], Any]:
    return lambda data: kind(*arguments, **settings)


def lsce_fits() -> dict[str, Fit]:
    """LSCE with its settings, one by one."""
    a, b = partial(toy, toy_a), toy
    knn = KNeighborsRegressor(7)
    return {
        "auto, toy a": Fit(a, lsce()),
        "auto, toy b": Fit(partial(toy, n=80), lsce(), quick=True),
        "auto, diabetes": Fit(diabetes, lsce()),
        "auto, skewed": Fit(partial(toy, lambda: illustrative("skewed"), 150), lsce()),
        "auto, two outputs": Fit(two_outputs, lsce()),
        "1, toy b": Fit(partial(toy, n=150), lsce(1), quick=True),
        "2, toy a": Fit(partial(toy, toy_a, 150), lsce(2)),
        "2, two outputs": Fit(two_outputs, lsce(2), quick=True),
        "seed of another kind": Fit(b, lambda d: LSCE(1, random_state=np.random.RandomState(3))),
        "one member": Fit(b, lsce(1, n_members=1), quick=True),
        "one member, auto": Fit(b, lsce(n_members=1)),
        "twelve members": Fit(a, lsce(2, n_members=12, cv=3)),
        "no location": Fit(b, lsce(1, location="none")),
        "linear": Fit(diabetes, lsce(1, location="linear")),
        "linear, auto": Fit(diabetes, lsce(location="linear")),
        "ridge": Fit(b, lsce(1, location=Ridge()), stored=False),
        "neighbours": Fit(a, lsce(1, location=knn), quick=True, stored=False),
        "log": Fit(b, lsce(scoring="log")),
        "log, two outputs": Fit(two_outputs, lsce(1, scoring="log")),
        "crps": Fit(b, lsce(scoring="crps")),
        "min_bandwidth": Fit(b, lsce(1, min_bandwidth=0.8)),
        "fixed": Fit(b, lsce(1, bandwidth=(0.5, 0.3), penalty=0.1), quick=True),
        "fixed, one member": Fit(
            a, lsce(2, n_members=1, location="none", bandwidth=0.5, penalty=0.01)
        ),
        "bandwidth alone": Fit(b, lsce(1, bandwidth=0.5)),
        "penalty alone": Fit(b, lsce(1, penalty=0.05)),
        "few centres": Fit(partial(toy, toy_a, 150), lsce(2, n_centers=30)),
        "many centres": Fit(partial(toy, toy_a, 260), lsce(2)),
        "few steps": Fit(a, lsce(2, n_starts=2, max_iter=4)),
    }


def lsce_fits_to_odd_data() -> dict[str, Fit]:
    """LSCE with bounds, weights, groups, and more samples than it chooses with."""
    b, far = toy, partial(toy, n=400)
    pairs, mixed = [(0, None), (2, 5)], [None, (2, 5)]
    both = partial(seen, map_=lambda Y: np.column_stack([positive(Y[:, 0]), share(Y[:, 1])]))
    return {
        "lower bound": Fit(lambda: seen(b(), positive), lsce(1, bounds=(0, None)), quick=True),
        "lower bound, auto": Fit(lambda: seen(b(), positive), lsce(bounds=(0, None))),
        "upper bound": Fit(lambda: seen(b(), lambda y: -positive(y)), lsce(1, bounds=(-np.inf, 0))),
        "two bounds": Fit(lambda: seen(b(), share), lsce(1, bounds=(2, 5)), quick=True),
        "bounds, crps": Fit(lambda: seen(b(), share), lsce(1, bounds=(2, 5), scoring="crps")),
        "bounds, two outputs": Fit(lambda: both(two_outputs()), lsce(1, bounds=pairs)),
        "bounds of one": Fit(
            lambda: seen(two_outputs(), one_free_one_share), lsce(1, bounds=mixed), quick=True
        ),
        "weights": Fit(lambda: weighted(b()), lsce(1), quick=True),
        "weights, auto": Fit(lambda: weighted(toy(toy_a)), lsce()),
        "repeated rows": Fit(lambda: repeated(b()), lsce(1)),
        "constant column": Fit(lambda: with_constant(b()), lsce()),
        "groups": Fit(b, lambda data: LSCE(1, cv=by_group(data), random_state=0)),
        "splitter": Fit(b, lambda data: LSCE(1, cv=KFold(4), random_state=0)),
        "groups, ridge": Fit(
            b, lambda data: lsce(1, cv=by_group(data), location=Ridge())(data), stored=False
        ),
        "subsample": Fit(far, lsce(subsample=100)),
        "subsample, linear": Fit(far, lsce(1, location="linear", subsample=100), quick=True),
        "subsample, weights": Fit(lambda: weighted(far()), lsce(1, subsample=100)),
        "subsample, groups": Fit(
            far, lambda data: lsce(1, cv=by_group(data), location="linear", subsample=100)(data)
        ),
        "subsample, bounds": Fit(
            lambda: seen(far(), positive), lsce(1, subsample=100, bounds=(0, None))
        ),
        "subsample, two outputs": Fit(partial(two_outputs, 300), lsce(1, subsample=100)),
        "subsample, neighbours": Fit(
            far, lsce(1, subsample=100, location=KNeighborsRegressor(7)), stored=False
        ),
        "two workers": Fit(b, lsce(1, n_jobs=2)),
        "two workers, subsample": Fit(far, lsce(1, subsample=100, n_jobs=2)),
    }


def other_fits() -> dict[str, Fit]:
    """What else is there."""
    a, b, far = partial(toy, toy_a), toy, partial(toy, n=400)
    seed = {"random_state": 0}
    steps = {"n_starts": 2, "max_iter": 20} | seed
    kde, plain = EpsilonKDE(), LSCDE(bandwidth=0.5, penalty=0.1)
    return {
        "published, 1": Fit(b, published(1, n_starts=3), quick=True),
        "published, 2": Fit(a, published(2, n_starts=3)),
        "published, auto": Fit(partial(toy, n=60), published("auto", n_starts=2)),
        "published, weights": Fit(lambda: weighted(b()), published(1, n_starts=2)),
        "published, two outputs": Fit(two_outputs, published(1, n_starts=2)),
        "LSMI, 1": Fit(b, always(LSMI, 1, **steps), quick=True),
        "LSMI, auto": Fit(partial(toy, n=60), always(LSMI, **steps)),
        "SIR": Fit(b, always(SIR, 2), quick=True),
        "SIR, two outputs": Fit(two_outputs, always(SIR, 2, n_slices=6)),
        "SAVE": Fit(a, always(SAVE, 2), quick=True),
        "SAVE, weights": Fit(lambda: weighted(a()), always(SAVE, 2, n_slices=4)),
        "LSCDE": Fit(b, always(LSCDE, **seed), quick=True),
        "LSCDE, two outputs": Fit(two_outputs, always(LSCDE, n_centers=40, **seed)),
        "LSCDE, weights": Fit(lambda: weighted(b()), always(LSCDE, **seed)),
        "LSCDE, groups": Fit(b, lambda data: LSCDE(cv=by_group(data), **seed)),
        "LSCDE, subsample": Fit(far, always(LSCDE, subsample=100, **seed), quick=True),
        "LSCDE, two workers": Fit(b, always(LSCDE, n_jobs=2, **seed)),
        "EpsilonKDE": Fit(b, always(EpsilonKDE, **seed), quick=True),
        "EpsilonKDE, two outputs": Fit(two_outputs, always(EpsilonKDE, **seed)),
        "EpsilonKDE, weights": Fit(lambda: weighted(b()), always(EpsilonKDE, **seed)),
        "EpsilonKDE, fixed": Fit(b, always(EpsilonKDE, 0.0, 0.3, **seed)),
        "FixedSubspace": Fit(b, always(FixedSubspace, [[0.6, 0.8, 0, 0, 0]]), quick=True),
        "Reduced, none": Fit(b, always(Reduced, **seed)),
        "Reduced, SIR": Fit(b, always(Reduced, SIR(), kde, "auto", **seed), quick=True),
        "Reduced, groups": Fit(
            b, lambda data: Reduced(SIR(), plain, "auto", cv=by_group(data), **seed)
        ),
        "Reduced, LSMI": Fit(b, always(Reduced, LSMI(**steps), plain, [1, 2], **seed)),
        "Reduced, LSCE": Fit(a, always(Reduced, LSCE(2, n_members=1, max_iter=9), LSCDE(), **seed)),
        "Reduced, truth": Fit(b, always(Reduced, FixedSubspace(np.eye(5)[1:2]), kde, **seed)),
        "Reduced, PCA": Fit(b, always(Reduced, PCA(), plain, 2, **seed), stored=False),
    }


def all_fits() -> dict[str, Fit]:
    own = lsce_fits() | lsce_fits_to_odd_data()
    return {f"LSCE: {name}": fit for name, fit in own.items()} | other_fits()


# What is asked.


def asked_of(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Everything that a fitted estimator shows and answers."""
    found: dict[str, Any] = {"fitted": fitted(model)}
    if hasattr(model, "transform"):
        found["transform"] = model.transform(X)
    if hasattr(model, "predict_dist"):
        found["predict"] = model.predict(X)
        found["score"] = model.score(X, y), model.score(X, y, np.arange(1.0, len(X) + 1))
        found["answers"] = answers(model.predict_dist(X), np.asarray(y))
    if hasattr(model, "predict_dist_reduced"):
        reduced = model.predict_dist_reduced(found["transform"])
        found["reduced"] = answers_of_any(reduced, np.asarray(y))
    return found


def answers(dist: Any, Y: Array) -> dict[str, Any]:
    """The answers to every question that densities of few rows can be asked."""
    found = answers_of_any(dist, Y)
    found["indexed"] = {
        "one": dist[1].mean(),
        "last": dist[-1].var(),
        "slice": dist[2:5].log_pdf(Y[2:5]),
        "rows": dist[[3, 0]].pdf(Y[[3, 0]]),
        "mask": dist[np.arange(len(dist)) % 2 == 0].sample(2, random_state=3),
    }
    found["modes"] = dist.modes()
    found["hpd_level"] = dist.hpd_level(Y, random_state=4)
    if dist.n_outputs == 1:
        return found | answers_of_one(dist, Y.ravel()) | {"frozen": frozen(dist.frozen(0))}
    for j in range(dist.n_outputs):
        found[f"marginal {j}"] = answers_of_one(dist.marginal(j), Y[:, j])
    turned = dist.marginal([1, 0])
    return found | {"turned": [turned.log_pdf(Y[:, ::-1]), turned.mean()[:, 0]]}


def answers_of_any(dist: Any, Y: Array) -> dict[str, Any]:
    """Those that cost little, with any number of outputs and of rows."""
    low, high = np.quantile(Y, [0.0, 1.0], axis=0)
    grid = np.linspace(low, high, 7)
    return {
        "pdf": dist.pdf(Y),
        "log_pdf": dist.log_pdf(Y),
        "log_pdf far": dist.log_pdf(Y + 40 * (high - low)),
        "pdf_on": dist.pdf_on(grid),
        "squared_norm": dist.squared_norm(),
        "mean": dist.mean(),
        "var": dist.var(),
        "std": dist.std(),
        "cov": dist.cov(),
        "sample": dist.sample(3, random_state=2),
    }


def answers_of_one(dist: Any, y: Array, *, costly: bool = True) -> dict[str, Any]:
    """Those for one output."""
    low, high = np.quantile(y, [0.25, 0.75])
    found = {
        "cdf": dist.cdf(y),
        "prob": dist.prob(low, high),
        "prob above": dist.prob(y, np.inf),
        "prob below": dist.prob(-np.inf, y),
        "quantile": dist.quantile([0.0, 1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9, 1.0]),
        "median": dist.quantile(0.5),
        "interval": dist.interval(0.9),
    }
    if costly:
        found |= {"crps": dist.crps(y), "hdr": dist.hdr(0.9), "small hdr": dist.hdr(0.3)}
        found |= {"peaks": dist.modes(), "level": dist.hpd_level(y)}
    return found


def frozen(law: Any) -> dict[str, Any]:
    """One density in the words of scipy.stats."""
    levels = np.array([[1e-12, 1e-3, 0.2], [0.5, 0.9, 1 - 1e-6]])
    y = law.ppf(levels)
    at = {name: getattr(law, name)(y) for name in ("pdf", "logpdf", "cdf", "sf")}
    at |= {name: getattr(law, name)(y) for name in ("logcdf", "logsf")}
    middle, high = float(law.ppf(0.5)), float(law.ppf(0.95))
    return at | {
        "ppf": y,
        "isf": law.isf(levels),
        "odd": [law.ppf([-1.0, 0.0, 1.0, np.nan]), law.cdf([-np.inf, np.inf, np.nan, middle])],
        "moments": [law.mean(), law.var(), law.std(), law.median()],
        "support": law.support(),
        "interval": law.interval(0.8),
        "rvs": law.rvs(size=(2, 3), random_state=5),
        "rv": law.rvs(random_state=6),
        "expect": [law.expect(), law.expect(np.square), law.expect(lb=middle, ub=high)],
        "conditional": law.expect(np.cos, lb=middle, conditional=True),
    }


# The cases: each gives a tree of what was found.


@dataclass(frozen=True)
class Place:
    """Where a case writes, and where the models of the old tree are."""

    folder: Path
    models: Path
    quick: bool


def fit_and_ask(place: Place, name: str, fit: Fit) -> dict[str, Any]:
    """A fit, all that it answers, and the same from a file."""
    data = fit.data()
    weights = {} if data.weight is None else {"sample_weight": data.weight}
    model = fit.model(data)
    found = asked_of(model.fit(data.X, data.y, **weights), data.X_new, data.y_new)
    if not fit.stored:
        return found
    path = place.folder / "models" / f"{file_name(name)}.cdn"
    path.parent.mkdir(exist_ok=True)
    condensity.save(model, path)
    rows = np.asarray(data.X_new, dtype=float), np.asarray(data.y_new, dtype=float)
    np.savez(path.with_suffix(".npz"), X=rows[0], y=rows[1])
    return found | {"read again": fitted(condensity.load(path))}


def workers(place: Place) -> dict[str, Any]:
    """One worker and two give the same, to the last bit."""
    found: dict[str, Any] = {}
    fits = {"choose": (lsce(2), 80), "pass": (lsce(1, subsample=60), 200)}
    for name, (make, n) in fits.items():
        data = toy(toy_a, n)
        one, two = (make(data).set_params(n_jobs=k).fit(data.X, data.y) for k in (1, 2))
        pairs = zip(flat("", fitted(one)), flat("", fitted(two)), strict=True)
        found[name] = [
            bool(np.array_equal(a, b)) for (_, a), (_, b) in pairs if a.dtype.kind != "U"
        ]
        found[f"{name}, answers"] = [m.predict_dist(data.X_new).pdf(data.y_new) for m in (one, two)]
    return found


def truths(place: Place) -> dict[str, Any]:
    """The toys, and what is known of them."""
    kinds = {f"illustrative {kind}": partial(illustrative, kind) for kind in ("bimodal", "skewed")}
    found = {}
    for name, make in ({"a": toy_a, "b": toy_b} | kinds).items():
        X, y = make().sample(FEW, random_state=0)
        asked = answers(make().conditional(X), y)
        found[name] = {"X": X, "y": y, "W": make().components, "answers": asked}
    return found


def many_rows(place: Place) -> dict[str, Any]:
    """More rows than lie in memory at once."""
    data = toy(n=300)
    settings = {"bandwidth": 0.4, "penalty": 0.1, "random_state": 0}
    X, y = toy_b().sample(MANY, random_state=2)
    dist = LSCDE(n_centers=300, **settings).fit(data.X, data.y).predict_dist(X)
    found = answers_of_any(dist, y) | answers_of_one(dist, y, costly=not place.quick)
    return found | {
        "crps": dist.crps(y),
        "indexed": dist[MANY - 3].quantile(0.3),
        "some": dist[100:120].mean(),
        "frozen": dist.frozen(MANY // 2).ppf([0.1, 0.5]),
    }


def many_rows_of_other_kinds(place: Place) -> dict[str, Any]:
    """With bounds, with several outputs, of neighbours, of two steps, and of reduced inputs."""
    settings = {"location": "none", "bandwidth": 0.4, "penalty": 0.1, "random_state": 0}
    X, y = toy_b().sample(MANY, random_state=2)
    data = seen(toy(n=300), positive)
    bounded = LSCE(1, n_members=1, bounds=(0, None), **settings).fit(data.X, data.y)
    dist = bounded.predict_dist(X)
    found = {"bounded": answers_of_any(dist, positive(y))}
    found["bounded, one"] = answers_of_one(dist, positive(y), costly=False)
    found["reduced"] = bounded.predict_dist_reduced(bounded.transform(X)).cdf(positive(y))
    both, rows = two_outputs(300), np.arange(MANY) % 300
    for name, model in {
        "LSCDE": LSCDE(300, 0.5, 0.1, random_state=0),
        "EpsilonKDE": EpsilonKDE(1.0, 0.3, random_state=0),
        "Reduced": Reduced(SIR(2), LSCDE(300, 0.5, 0.1), random_state=0),
    }.items():
        dist = model.fit(both.X, both.y).predict_dist(both.X[rows])
        found[name] = answers_of_any(dist, both.y[rows])
        found[f"{name}, marginal"] = dist.marginal(1).quantile([0.1, 0.5])
    return found


def dask_arrays(place: Place) -> dict[str, Any]:
    """Samples and rows that Dask holds; nothing where there is no Dask."""
    try:
        import dask
        import dask.array as da
    except ModuleNotFoundError:
        return {}
    data = weighted(toy(n=400))
    X, y, weight = (
        da.from_array(part, chunks=(150, *part.shape[1:])) for part in data[:2] + data[4:]
    )
    settings = {"subsample": 100, "random_state": 0}
    models = {
        "LSCE": LSCE(1, **settings).fit(X, y),
        "LSCE, linear": LSCE(1, location="linear", **settings).fit(X, y, sample_weight=weight),
        "LSCDE": LSCDE(**settings).fit(X, y),
    }
    with dask.config.set(scheduler="synchronous"):
        return {name: asked_lazily(model, X, y) for name, model in models.items()}


def asked_lazily(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """What a model answers for Dask arrays, computed."""
    dist = model.predict_dist(X)
    lazy = {"predict": model.predict(X), "mean": dist.mean(), "var": dist.var()}
    lazy |= {name: getattr(dist, name)(y) for name in ("pdf", "log_pdf", "cdf", "crps")}
    lazy |= {"prob": dist.prob(0.0, 1.0), "quantile": dist.quantile([0.1, 0.5])}
    lazy |= {"interval": dist.interval(0.9), "sample": dist.sample(2, random_state=3)}
    if hasattr(model, "transform"):
        lazy["transform"] = model.transform(X)
    found = {name: array.compute() for name, array in lazy.items()}
    return found | {"score": model.score(X, y), "fitted": fitted(model)}


def judged(place: Place) -> dict[str, Any]:
    """Losses and diagnostics."""
    found: dict[str, Any] = {}
    for name, data in {"one": toy(n=80), "two": two_outputs(80)}.items():
        dist = LSCE(1, n_members=1, random_state=0).fit(data.X, data.y).predict_dist(data.X_new)
        weight = np.arange(1.0, FEW + 1)
        losses = [metrics.squared_loss, metrics.log_loss]
        if name == "one":
            losses.append(metrics.crps)
        found[name] = {
            "losses": [loss(dist, data.y_new) for loss in losses],
            "weighted": [loss(dist, data.y_new, weight) for loss in losses],
            "pit": metrics.pit(dist, data.y_new),
            "hpd": metrics.hpd_coverage(dist, data.y_new, random_state=0),
        }
    A, B = np.random.default_rng(0).standard_normal((2, 2, 5))
    return found | {"subspaces": [metrics.subspace_error(A, B), metrics.subspace_error(A, A[:1])]}


def scored(place: Place) -> dict[str, Any]:
    """Scorers in searches and pipelines."""
    data = toy(n=80)
    plain = LSCDE(bandwidth=0.5, penalty=0.1, random_state=0)
    models = {
        "plain": plain,
        "piped": make_pipeline(StandardScaler(), LSCE(1, n_members=1, max_iter=5, random_state=0)),
    }
    found: dict[str, Any] = {}
    for name, model in models.items():
        for scorer in (scorers.neg_squared_loss, scorers.neg_log_loss, scorers.neg_crps):
            key = f"{name}, {scorer.__name__}"
            found[key] = cross_val_score(model, data.X, data.y, cv=3, scoring=scorer)
    grid = {"bandwidth": [0.3, 0.6], "penalty": [0.01, 0.1]}
    search = GridSearchCV(plain, grid, scoring=scorers.neg_log_loss, cv=3).fit(data.X, data.y)
    best = search.best_estimator_.predict_dist(data.X_new)
    return found | {"search": search.cv_results_["mean_test_score"], "best": best.mean()}


def drawn(place: Place) -> dict[str, Any]:
    """What the displays have computed."""
    try:
        import matplotlib.pyplot as plt

        from condensity import plots
    except ModuleNotFoundError:
        return {}
    data, both = toy(n=80), two_outputs(80)
    model = LSCE(random_state=0, n_starts=1).fit(data.X, data.y)
    two = LSCE(2, n_members=1, random_state=0).fit(both.X, both.y)
    search = LSMI(1, n_starts=2, random_state=0).fit(data.X, data.y)
    over = plots.ConditionalDensityDisplay
    dist = model.predict_dist(data.X_new)
    displays = {
        "density": over.from_estimator(model, data.X, data.y),
        "feature": over.from_estimator(model, data.X, feature=1, kind="ridgelines"),
        "second": over.from_estimator(two, both.X, both.y, output=1, component=1),
        "predicted": over.from_predictions(data.y_new, dist, x=data.X_new[:, 1]),
        "fan": plots.FanDisplay.from_estimator(model, data.X, data.y),
        "fan, second": plots.FanDisplay.from_estimator(two, both.X, both.y, output=1, feature=0),
        "fan, predicted": plots.FanDisplay.from_predictions(data.y_new, dist),
        "summary": plots.SufficientSummaryDisplay.from_estimator(two, both.X, both.y),
        "loadings": plots.LoadingsDisplay.from_estimator(model),
        "calibration": plots.CalibrationDisplay.from_estimator(model, data.X_new, data.y_new),
        "path": plots.PathDisplay.from_estimator(model),
        "starts": plots.PathDisplay.from_estimator(search),
    }
    plt.close("all")
    return {name: without_labels(public(display)) for name, display in displays.items()}


def without_labels(attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a display that are not texts for its axes."""
    labels = ("_name", "names", "unit")
    return {name: item for name, item in attributes.items() if not name.endswith(labels)}


def pages(place: Place) -> dict[str, Any]:
    """The numbers in the explorer's pages."""
    from condensity.explorer import write_report

    one, two = toy(n=80), two_outputs(80)
    bounded = seen(two, one_free_one_share)
    seed = {"random_state": 0}
    models = {
        "auto": (LSCE(**seed), one),
        "bounds": (LSCE(1, bounds=(0, None), **seed), seen(one, positive)),
        "two": (LSCE(2, n_members=1, location="linear", **seed), two),
        "two, bounds": (LSCE(1, n_members=1, bounds=[None, (2, 5)], **seed), bounded),
        "published": (LSCE.as_published(1, **seed).set_params(n_starts=1), one),
        "LSCDE": (LSCDE(**seed), two),
        "EpsilonKDE": (EpsilonKDE(**seed), one),
        "Reduced": (Reduced(SIR(2), LSCDE(), **seed), one),
        "named": (LSCE(1, n_members=1, **seed), diabetes()),
    }
    found: dict[str, Any] = {}
    for name, (model, data) in models.items():
        path = place.folder / f"{file_name(name)}.html"
        samples = {"X": data.X, "y": data.y, "X_test": data.X_new, "y_test": data.y_new}
        write_report(model.fit(data.X, data.y), path, n_points=50, **samples)
        found[name] = told_by(path)
        write_report(model, path)
        found[f"{name}, alone"] = told_by(path)
    return found


def told_by(page: Path) -> dict[str, Array]:
    """The numbers that a page holds."""
    text = page.read_text(encoding="utf-8")
    content = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    if content is None:
        raise ValueError(f"{page.name} holds no numbers")
    return without_texts(json.loads(content[1]))


def files(place: Place) -> dict[str, Any]:
    """Models that the old tree has saved, and those of older versions still."""
    found: dict[str, Any] = {}
    for path in sorted(place.models.glob("*.cdn")):
        with np.load(path.with_suffix(".npz")) as rows:
            found[path.stem] = asked_of(condensity.load(path), rows["X"], rows["y"])
    for path in sorted(GOLDEN.glob("*.cdn")):
        found[path.stem] = asked_of_older(condensity.load(path), place.folder / path.name)
    return found


def asked_of_older(model: Any, again: Path) -> dict[str, Any]:
    """What a model of an older version answers, also once it is saved anew."""
    rng = np.random.default_rng(0)
    condensity.save(model, again)
    found: dict[str, Any] = {}
    if hasattr(model, "encode"):  # a model of tables, which holds the estimator
        kinds = {column.name: column.categories for column in model.columns}
        table = {
            name: np.resize(kind, FEW) if kind else rng.standard_normal(FEW)
            for name, kind in kinds.items()
        }
        found = {"encoded": model.encode(table), "table": model.predict_dist(table).interval(0.9)}
        found["table, again"] = condensity.load(again).predict_dist(table).mean()
        model = model.model
    X = rng.standard_normal((FEW, model.n_features_in_))
    if not hasattr(model, "predict"):
        return {"z": model.transform(X), "again": condensity.load(again).transform(X)}
    y = rng.standard_normal(np.shape(model.predict(X)))
    return found | asked_of(model, X, y) | {"again": fitted(condensity.load(again))}


def command(*arguments: Any, folder: Path) -> str:
    """What a command prints."""
    whole = [sys.executable, "-m", "condensity", *map(str, arguments)]
    done = subprocess.run(whole, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(whole[3:])}: {done.stderr.strip()}")
    return done.stdout


def write_table(path: Path, seed: int, n: int = 70) -> None:
    """A table with a column of categories, and with missing values."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, n)).round(4)
    colours = np.array(["red", "blue", "green"])[rng.integers(0, 3, n)]
    noise = 0.3 * rng.standard_normal(n)
    y = np.exp((a + (colours == "red") + noise) / 2).round(4)
    shares = (1 / (1 + np.exp(-a - b - noise))).round(4)
    columns = {"id": range(n), "a": a, "b": b, "colour": colours, "y": y, "part": shares}
    lines = [list(line) for line in zip(*columns.values(), strict=True)]
    for line in lines[3::11]:
        line[2] = ""
    for line in lines[5::17]:
        line[3] = ""
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([list(columns), *lines])


def columns_of(text: str) -> dict[str, Array]:
    """The columns of a CSV file that hold numbers; NaN where nothing stands."""
    header, *lines = csv.reader(text.splitlines())
    found = {}
    for name, column in zip(header, zip(*lines, strict=True), strict=True):
        try:
            found[name] = np.array([float(cell or "nan") for cell in column])
        except ValueError:
            continue
    return found


def commands(place: Place) -> dict[str, Any]:
    """The command line, from a table to answers."""
    write_table(place.folder / "table.csv", 0)
    write_table(place.folder / "new.csv", 1)
    run = partial(command, folder=place.folder)
    fits = {"imputed": ("--target", "y", "--bounds", "0,", "--missing", "impute")}
    questions = {"imputed": ("--prob-above", "2", "--pdf", "y")}
    if not place.quick:
        fits["dropped"] = ("--target", "y", "--target", "part", "--missing", "drop")
        fits["auto"] = ("--target", "part", "--missing", "impute", "--components", "auto")
        questions |= {"dropped": ("--pdf", "y,part"), "auto": ("--quantiles", "0.1,0.9")}
    found: dict[str, Any] = {}
    for name, options in fits.items():
        model = f"{name}.cdn"
        how = ("--components", "1", "--exclude", "id", "--jobs", "1", "--json", "--out", model)
        ask = ("--interval", "0.8", "--sample", "2", "--keep", "id", *questions[name])
        found[name] = {
            "fit": without_texts(json.loads(run("fit", "table.csv", *how, *options))),
            "predict": columns_of(run("predict", model, "new.csv", *ask)),
            "default": columns_of(run("predict", model, "new.csv", "--block-rows", "20")),
            "evaluate": without_texts(json.loads(run("evaluate", model, "new.csv", "--json"))),
            "inspect": without_texts(json.loads(run("inspect", model, "--json"))),
        }
        run("report", model, "new.csv", "--out", f"{name}.html")
        found[name]["report"] = told_by(place.folder / f"{name}.html")
    return found


def experiments(place: Place) -> dict[str, Any]:
    """Some small cells of the paper's experiments; their seconds are not compared."""
    found: dict[str, Any] = {}
    for study in ("artificial",) if place.quick else ("artificial", "illustration"):
        out = place.folder / study
        command("reproduce", study, "--quick", "--jobs", "1", "--out", out, folder=place.folder)
        for line in (out / "quick" / "records.jsonl").read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            cell = " ".join(str(record[key]) for key in ("problem", "method", "n", "seed"))
            found[f"{study} {cell}"] = record["results"]
    return found


def all_cases(quick: bool) -> dict[str, Callable[[Place], dict[str, Any]]]:
    """The cases by name; the files come after the fits that write them."""
    cases: dict[str, Callable[[Place], dict[str, Any]]] = {
        name: partial(fit_and_ask, name=name, fit=fit)
        for name, fit in all_fits().items()
        if fit.quick or not quick
    }
    cases |= {"truths": truths, "files": files, "metrics": judged, "scorers": scored}
    cases |= {"displays": drawn, "pages": pages, "Dask": dask_arrays, "many rows": many_rows}
    if not quick:
        cases |= {"workers": workers, "many rows of other kinds": many_rows_of_other_kinds}
    return cases | {"command line": commands, "experiments": experiments}


# One tree: all cases are run, each into a file of its own.


def file_name(case: str) -> str:
    return re.sub(r"\W+", "-", case).strip("-")


def record(tree: Path, place: Place, only: list[str]) -> None:
    """Run the cases with the library at hand, which must be that of the tree."""
    if not Path(condensity.__file__).resolve().is_relative_to(tree.resolve()):
        raise SystemExit(f"{tree} holds no condensity: name the folder that the package is in")
    warnings.simplefilter("ignore")
    seconds = {}
    for name, case in chosen(all_cases(place.quick), only).items():
        begun = time.perf_counter()
        path = place.folder / file_name(name)
        try:
            np.savez(path.with_suffix(".npz"), **dict(flat("", case(place))))
        except Exception:  # told in the table, beside those that went well
            path.with_suffix(".txt").write_text(traceback.format_exc(), encoding="utf-8")
        seconds[name] = time.perf_counter() - begun
        print(f"  {name}: {seconds[name]:.1f} s", file=sys.stderr, flush=True)
    (place.folder / "done.json").write_text(json.dumps(seconds), encoding="utf-8")


def chosen(cases: dict[str, Any], only: Iterable[str]) -> dict[str, Any]:
    """The cases whose names hold one of these words; all if there are none."""
    words = [word.lower() for word in only]
    return {n: c for n, c in cases.items() if not words or any(w in n.lower() for w in words)}


def run_tree(side: str, folder: Path, options: argparse.Namespace) -> dict[str, float]:
    """Record a tree in a process of its own; the seconds of its cases."""
    tree: Path = getattr(options, side).resolve()
    own, stamp = folder / side, digest(tree, options)
    if not ((own / "done.json").exists() and (own / "stamp").read_text() == stamp):
        clear(own)
        (own / "stamp").write_text(stamp)
        print(f"{side}: {tree}", file=sys.stderr, flush=True)
        trees = str(options.old), str(options.new)
        words = [f"--only={word}" for word in options.only]
        whole = [sys.executable, __file__, *trees, "--record", side, "--keep", str(folder), *words]
        whole += ["--quick"] if options.quick else []
        settings = os.environ | ALONE | {"PYTHONPATH": str(tree)}
        if subprocess.run(whole, env=settings, check=False).returncode:
            raise SystemExit(1)
    told: dict[str, float] = json.loads((own / "done.json").read_text(encoding="utf-8"))
    return told


def clear(folder: Path) -> None:
    """Make an empty folder; what this script has not made is not removed."""
    if (folder / "stamp").exists():
        shutil.rmtree(folder)
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise SystemExit(f"{folder} holds something else: choose another folder") from None


def digest(tree: Path, options: argparse.Namespace) -> str:
    """What the numbers of a tree depend on: its sources, this script, the choice of cases."""
    found = hashlib.sha256(repr((options.quick, options.only)).encode())
    sources = sorted(path for path in tree.rglob("*") if path.suffix in {".py", ".js", ".html"})
    for path in [Path(__file__), *sources]:
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


# The comparison.


@dataclass
class Verdict:
    """How far two trees agree on a case."""

    arrays: int = 0
    values: int = 0
    unequal: int = 0  # values that differ, be it in the last bit
    worst: float = 0.0
    notes: list[str] = field(default_factory=list)  # on what differs by more than rounding

    @property
    def same(self) -> bool:
        return self.arrays > 0 and not self.notes


def compare(old: dict[str, Array], new: dict[str, Array]) -> Verdict:
    """Compare arrays by their names."""
    verdict = Verdict()
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in old or name not in new:
            verdict.worst = np.inf
            verdict.notes.append(f"{name}: only in the {'old' if name in old else 'new'} tree")
            continue
        gap, unequal = difference(old[name], new[name])
        verdict.arrays += 1
        verdict.values += old[name].size
        verdict.unequal += unequal
        verdict.worst = max(verdict.worst, gap)
        if gap > TOLERANCE:
            shapes = old[name].shape, new[name].shape
            told = f"shapes {shapes[0]} and {shapes[1]}" if shapes[0] != shapes[1] else f"{gap:.1e}"
            verdict.notes.append(f"{name}: {told}")
    return verdict


def difference(old: Array, new: Array) -> tuple[float, int]:
    """The largest relative difference of two arrays, and the number of values that differ.

    It is infinite between shapes, texts, or an infinity or NaN and a number.
    """
    texts = [array.dtype.kind not in "biuf" for array in (old, new)]
    if old.shape != new.shape or texts[0] != texts[1]:
        return np.inf, old.size
    if texts[0]:
        unequal = int(np.sum(old != new))
        return (np.inf if unequal else 0.0), unequal
    a, b = old.astype(float), new.astype(float)
    differs = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    if not differs.any():
        return 0.0, 0
    sizes = np.maximum(abs(a), abs(b))
    least = LEAST * sizes[np.isfinite(sizes)].max(initial=0.0)
    a, b, sizes = a[differs], b[differs], sizes[differs]
    if not np.isfinite(sizes).all():
        return np.inf, len(a)
    return float((abs(a - b) / np.maximum(sizes, least)).max()), len(a)


def read(folder: Path, case: str) -> dict[str, Array] | str:
    """What a tree found, or how it failed."""
    path = folder / file_name(case)
    if path.with_suffix(".npz").exists():
        with np.load(path.with_suffix(".npz")) as found:
            return dict(found)
    failure = path.with_suffix(".txt")
    return failure.read_text(encoding="utf-8") if failure.exists() else "it was not run"


def judge(folder: Path, case: str) -> Verdict:
    """The verdict on a case."""
    old, new = read(folder / "old", case), read(folder / "new", case)
    if isinstance(old, dict) and isinstance(new, dict):
        return compare(old, new)
    failed = {"old": old, "new": new}
    notes = [
        f"failed in the {side} tree: {told.strip().splitlines()[-1]}"
        for side, told in failed.items()
        if isinstance(told, str)
    ]
    return Verdict(worst=np.inf, notes=notes)


def show(verdicts: dict[str, Verdict], seconds: list[dict[str, float]]) -> None:
    """The table, and what differs."""
    width = max(map(len, verdicts), default=4)
    head = ("arrays", "values", "not equal", "largest", "s old", "s new")
    print(f"{'case':{width}}" + "".join(f"{title:>10}" for title in head))
    for name, v in verdicts.items():
        times = "".join(f"{side.get(name, np.nan):10.1f}" for side in seconds)
        mark = "" if v.same else "  differs"
        figures = f"{v.arrays:10d}{v.values:10d}{v.unequal:10d}{v.worst:10.1e}"
        print(f"{name:{width}}{figures}{times}{mark}")
    for name, v in verdicts.items():
        for note in v.notes[:5]:
            print(f"{name}: {note}")
        if len(v.notes) > 5:
            print(f"{name}: and {len(v.notes) - 5} more")
    arrays, values = (sum(getattr(v, k) for v in verdicts.values()) for k in ("arrays", "values"))
    bad = sum(not v.same for v in verdicts.values())
    worst = max((v.worst for v in verdicts.values()), default=0.0)
    print(
        f"{len(verdicts)} cases, {arrays} arrays, {values} values, largest relative difference "
        f"{worst:.1e}: " + (f"{bad} cases differ" if bad else "the same")
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path, metavar="OLD_SRC")
    parser.add_argument("new", type=Path, metavar="NEW_SRC")
    parser.add_argument("--quick", action="store_true", help="few cases, in a minute a tree")
    parser.add_argument("--only", action="append", default=[], help="cases with this in the name")
    parser.add_argument("--keep", type=Path, help="folder for the numbers (default: none is kept)")
    parser.add_argument("--record", choices=("old", "new"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.record:
        place = Place(options.keep / options.record, options.keep / "old/models", options.quick)
        record(getattr(options, options.record), place, options.only)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.keep or Path(scratch)).resolve()
        seconds = [run_tree(side, folder, options) for side in ("old", "new")]
        names = chosen(all_cases(options.quick), options.only)
        verdicts = {name: judge(folder, name) for name in names}
    show(verdicts, seconds)
    return 0 if verdicts and all(v.same for v in verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
