"""Generated attacks: estimators x data x parameters x questions, with laws as oracles.

A case is a few words (a dict).  It is refused with one sentence of this library, or its densities
obey the laws: mass one, monotone distribution function, quantiles that invert it, pdf and cdf that
belong together, finite answers, equal answers after a round trip to a file, after a permutation of
the samples or after a change of units.  No warning of numpy may be seen, and time and memory are
limited.  Cases run in child processes, which a defect cannot stop for the others.

    python tests/torture.py --count 20000 --out torture.jsonl [--jobs 2]

Cases in the file are not run again.  For each failure a minimal case is printed:

    python tests/torture.py --case '{"estimator": "LSCDE", ...}'
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

import condensity
from condensity import LSCDE, LSCE, LSMI, SAVE, SIR, EpsilonKDE, FixedSubspace, Reduced

#: Processor seconds and MiB that a case may take.
SECONDS, MEBIBYTES = 30, 500
#: Number of cases of one child process.
BATCH = 25

# --- Samples ------------------------------------------------------------------------------------

INPUTS = {
    "normal": lambda X, rng: X,
    "constant column": lambda X, rng: np.column_stack([X[:, 1:], np.ones(len(X))]),
    "all constant": lambda X, rng: np.ones_like(X),
    "repeated rows": lambda X, rng: X[rng.integers(0, max(1, len(X) // 3), len(X))],
    "equal columns": lambda X, rng: np.repeat(X[:, :1], X.shape[1], axis=1),
    "far away": lambda X, rng: X + 1e8,
    "tiny unit": lambda X, rng: 1e-40 * X,
    "huge unit": lambda X, rng: 1e40 * X,
    "different units": lambda X, rng: X * 10.0 ** rng.integers(-12, 12, X.shape[1]),
    "flags": lambda X, rng: (X > 0).astype(float),
    "integers": lambda X, rng: np.round(2 * X),
    "outlier": lambda X, rng: np.vstack([X[1:], np.full(X.shape[1], 1e6)]),
    "heavy tails": lambda X, rng: X / rng.random(X.shape) ** 3,
    "NaN": lambda X, rng: np.where(rng.random(X.shape) < 0.2, np.nan, X),
    "infinite": lambda X, rng: np.vstack([X[1:], np.full(X.shape[1], np.inf)]),
    "1e300": lambda X, rng: 1e300 * X,
    "1e-300": lambda X, rng: 1e-300 * X,
}
OUTPUTS = {
    "plain": lambda Y, rng: Y,
    "constant": lambda Y, rng: np.ones_like(Y),
    "nearly constant": lambda Y, rng: 1.0 + 1e-13 * Y,
    "no noise": lambda Y, rng: np.sign(Y),
    "rounded": lambda Y, rng: np.round(Y),
    "many zeros": lambda Y, rng: np.where(Y < 0.5, 0.0, Y),
    "positive": lambda Y, rng: np.exp(2 * Y),
    "shares": lambda Y, rng: 1 / (1 + np.exp(-2 * Y)),
    "heavy tails": lambda Y, rng: Y / rng.random(Y.shape) ** 2,
    "outlier": lambda Y, rng: np.vstack([Y[1:], np.full(Y.shape[1], -1e7)]),
    "far away": lambda Y, rng: Y + 1e9,
    "tiny unit": lambda Y, rng: 1e-40 * Y,
    "huge unit": lambda Y, rng: 1e40 * Y,
    "equal columns": lambda Y, rng: np.repeat(Y[:, :1], Y.shape[1], axis=1),
    "NaN": lambda Y, rng: np.where(rng.random(Y.shape) < 0.1, np.nan, Y),
    "infinite": lambda Y, rng: np.vstack([Y[1:], np.full(Y.shape[1], -np.inf)]),
    "1e300": lambda Y, rng: 1e300 * Y,
}
WEIGHTS = {
    "none": lambda n, rng: None,
    "some zero": lambda n, rng: rng.integers(0, 3, n).astype(float),
    "one left": lambda n, rng: np.eye(n)[0],
    "all zero": lambda n, rng: np.zeros(n),
    "negative": lambda n, rng: rng.normal(size=n),
    "huge": lambda n, rng: 1e30 * rng.random(n),
    "tiny": lambda n, rng: 1e-30 * rng.random(n),
    "very different": lambda n, rng: 10.0 ** rng.integers(-20, 20, n),
    "one has all": lambda n, rng: np.where(np.arange(n) == 1, 1e12, 1.0),
    "NaN": lambda n, rng: np.where(np.arange(n) == 1, np.nan, 1.0),
    "integers": lambda n, rng: rng.integers(1, 4, n),
    "too few": lambda n, rng: np.ones(n - 1),
}


def frame(X):
    """A data frame whose index is in no order and repeats."""
    names = [f"x {j}" for j in range(X.shape[1])]
    return pd.DataFrame(X, columns=names, index=np.arange(len(X))[::-1] // 2)


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


CONTAINERS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "int": lambda X: np.nan_to_num(np.clip(3 * X, -1e9, 1e9)).astype(int),
    "bool": lambda X: X > 0,
    "object": lambda X: X.astype(object),
    "text": lambda X: X.astype(str),
    "bytes": lambda X: X.astype(bytes),
    "complex": lambda X: X.astype(complex),
    "dates": lambda X: np.nan_to_num(np.clip(X, -1e3, 1e3)).astype("datetime64[D]"),
    "big-endian": lambda X: X.astype(">f8"),
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
    "every second": lambda X: np.repeat(X, 2, axis=0)[::2],
    "reversed": lambda X: X[::-1][::-1],
    "list": lambda X: X.tolist(),
    "tuple": lambda X: tuple(map(tuple, X)),
    "frame": frame,
    "nullable frame": lambda X: frame(X).convert_dtypes(),
    "categories": lambda X: frame(X).astype("category"),
    "sparse": scipy.sparse.csr_matrix,
    "masked": lambda X: np.ma.masked_greater(X, 1e200),
    "matrix": lambda X: np.asmatrix(X),
    "three axes": lambda X: X[:, :, None],
    "one axis": lambda X: X[:, 0],
    "empty": lambda X: X[:0],
    "none": lambda X: None,
}
#: Containers in which samples are often given; the others are refused, or rare.
USUAL = ("float64", "float32", "int", "Fortran order", "read-only", "list", "frame")
ROWS = {
    "samples": lambda X, rng: X[:6],
    "beyond": lambda X, rng: X[:6] * 30 - 7,
    "far": lambda X, rng: 1e6 * (X[:4] + 1),
    "very far": lambda X, rng: np.array([1e15, -1e30, 1e99])[:, None] * np.ones(X.shape[1]),
    "one row": lambda X, rng: X[:1],
    "zero": lambda X, rng: np.zeros((2, X.shape[1])),
    "equal": lambda X, rng: np.repeat(X[:1], 3, axis=0),
    "no row": lambda X, rng: X[:0],
    "NaN": lambda X, rng: np.full((2, X.shape[1]), np.nan),
    "too wide": lambda X, rng: np.hstack([X, X])[:2],
}
USUAL_ROWS = ("samples", "beyond", "far", "very far", "one row", "zero")

# --- Estimators ---------------------------------------------------------------------------------

FEW = {"n_starts": 1, "max_iter": 3, "random_state": 0}
ESTIMATORS = {
    "LSCE": lambda: LSCE(n_members=2, n_centers=8, cv=2, **FEW),
    "single": lambda: LSCE(1, n_members=1, n_centers=8, cv=2, location="linear", **FEW),
    "published": lambda: LSCE.as_published(1, random_state=0).set_params(
        n_starts=1, max_iter=2, n_centers=8, cv=2
    ),
    "LSCDE": lambda: LSCDE(random_state=0, cv=3),
    "EpsilonKDE": lambda: EpsilonKDE(random_state=0, cv=3),
    "Reduced": lambda: Reduced(SIR(), LSCDE(cv=2, n_centers=8), random_state=0),
    "Reduced neighbours": lambda: Reduced(SAVE(), EpsilonKDE(cv=2), random_state=0),
    "SIR": SIR,
    "SAVE": SAVE,
    "FixedSubspace": FixedSubspace,
    "LSMI": lambda: LSMI(1, n_centers=8, cv=2, **FEW),
}
SHARES = [8, 4, 2, 5, 4, 2, 2, 1, 1, 1, 1]
PARAMETERS = {
    "n_components": [1, 2, 1, 2, "auto", 0, -1, 99, 1.5, None, "two"],
    "location": [
        *("none", "linear", "smooth", "trees", "flexible", "reduced", "auto"),
        *("regressor", "nothing", 3),
    ],
    "bounds": [(0, None), (0, 1), (None, 1e3), (-1e9, 1e9), None, "auto", (1, 0), (0, 0), "01"],
    "scoring": ["log", "crps", "squared", "raw", "best", None],
    "min_bandwidth": [0, 0.1, 1e3, 1e-9, -1.0, "auto", float("nan")],
    "bandwidth": [0.5, (0.3, 0.4), 1e-6, 1e6, 0.0, -1, float("nan"), (1, 2, 3), "wide"],
    "penalty": [0.1, 1e-12, 1e6, 0.0, -1.0, float("inf")],
    "epsilon": [0.5, 1e-9, 1e9, float("inf"), -1.0],
    "n_members": [1, 2, 3, 0, 1.5],
    "n_centers": [2, 5, 1, 10**6, "auto", "many"],
    "cv": [2, 3, 5, 1, 100, "folds", None],
    "subsample": [10, 2, None, 0, -5],
    "scaling": ["variance", "range", "none", "sd"],
    "outliers": ["omit", "keep", "both"],
    "n_slices": [2, 5, 1, 1000],
    "random_state": [0, None, -1, "seed"],
    "n_jobs": [1, None, 0.5],
    "max_iter": [1, 5, 0, 2.5],
}


def new_case(number):
    """The case with this number, always the same one."""
    rng = np.random.default_rng([23, number])

    def draw(names, plain, share):
        return plain if rng.random() > share else str(rng.choice(list(names)))

    names = list(ESTIMATORS)
    name = names[rng.choice(len(names), p=np.array(SHARES) / sum(SHARES))]
    parameters = {}
    own = ESTIMATORS[name]().get_params(deep=False)
    known = [key for key in PARAMETERS if key in own]
    for _ in range(rng.choice(4, p=[0.3, 0.35, 0.25, 0.1]) if known else 0):
        key = str(rng.choice(known))
        values = PARAMETERS[key]
        good = rng.random() < 0.85
        chosen = values[rng.integers(min(3, len(values)) if good else len(values))]
        parameters[key] = list(chosen) if isinstance(chosen, tuple) else chosen
    usual = rng.random() < 0.88
    return {
        "estimator": name,
        "parameters": parameters,
        "n": int(rng.choice([2, 3, 4, 5, 6, 8, 10, 15, 20, 20, 30, 40])),
        "dx": int(rng.choice([1, 1, 2, 3, 6])),
        "dy": int(rng.choice([1, 1, 1, 2, 3, 7])),
        "inputs": draw(INPUTS, "normal", 0.4),
        "outputs": draw(OUTPUTS, "plain", 0.4),
        "weights": draw(WEIGHTS, "none", 0.25),
        "container": draw(USUAL if usual else CONTAINERS, "float64", 0.5),
        "rows": draw(USUAL_ROWS if usual else ROWS, "samples", 0.7),
        "law": draw(["units", "order", "file", "refit"], "none", 0.3),
        "seed": int(rng.integers(1000)),
    }


def samples_of(case):
    """Inputs, outputs, weights, and rows to ask for, as plain arrays."""
    rng = np.random.default_rng(case["seed"])
    X = rng.normal(size=(case["n"], case["dx"]))
    Y = X[:, [0] * case["dy"]] + 0.5 * rng.normal(size=(case["n"], case["dy"]))
    X = INPUTS[case["inputs"]](X, rng)
    rows = ROWS[case["rows"]](X, rng)
    Y = OUTPUTS[case["outputs"]](Y, rng)
    return X, Y if case["dy"] > 1 else Y[:, 0], WEIGHTS[case["weights"]](case["n"], rng), rows


def estimator_of(case):
    """The estimator, not fitted."""
    parameters = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in case["parameters"].items()
    }
    if parameters.get("location") == "regressor":
        parameters["location"] = LinearRegression()
    return ESTIMATORS[case["estimator"]]().set_params(**parameters)


# --- Laws ---------------------------------------------------------------------------------------


class BrokenLawError(Exception):
    """A law that does not hold."""


def check(holds, law):
    if not np.all(holds):
        raise BrokenLawError(law)


def check_line(dist, y):
    """The laws of one output."""
    levels = np.array([0.01, 0.1, 0.5, 0.9, 0.99])
    q = dist.quantile(levels)
    check(np.isfinite(q), "quantiles are finite")
    check(np.diff(q, axis=1) >= 0, "quantiles are in order")
    check(np.abs(dist.prob(-np.inf, np.inf) - 1) < 1e-9, "the mass is one")
    coarse = False
    for k, level in enumerate(levels):
        near = dist.cdf(q[:, k])
        # Where floats are too coarse, the level lies between the values of neighbouring numbers.
        below, above = (dist.cdf(q[:, k] + step * np.spacing(np.abs(q[:, k]))) for step in (-8, 8))
        check((below <= level + 1e-7) & (above >= level - 1e-7), "quantiles invert the cdf")
        coarse |= bool((above - below > 0.01).any())
        check((near >= 0) & (near <= 1), "the cdf is a probability")
    grid = np.sort(np.concatenate([q.ravel(), [-1e300, 1e300]]))
    steps = np.array([dist.cdf(np.full(len(q), value)) for value in grid])
    check(np.diff(steps, axis=0) >= -1e-12, "the cdf is monotone")
    check_pdf(dist)
    check(dist.pdf(y) >= 0, "the pdf is a number >= 0")
    check(~np.isnan(dist.log_pdf(y)), "the log pdf is a number")
    check(dist.crps(y) >= 0, "the CRPS is a number >= 0")
    low, high = np.transpose(dist.interval(0.8))
    check(low <= high, "intervals have their ends in order")
    check([len(own) > 0 for own in dist.modes()], "every row has a mode")
    for regions in dist.hdr(0.5):
        # No float is the end of a region that lies between two of them.
        check(len(regions) > 0 or coarse, "every row has a region")
        check(np.diff(np.ravel(regions)) >= 0, "regions have their ends in order")


def check_pdf(dist):
    """The pdf around quantiles, summed up by Simpson's rule, is the difference of the cdf."""
    levels = np.linspace(0.05, 0.95, 19)
    q = dist.quantile(levels)
    for row in range(min(2, len(q))):
        low, high = (dist.quantile(levels + step)[row] for step in (-1e-3, 1e-3))
        h = 0.3 * np.minimum(q[row] - low, high - q[row])
        wide = h > 1e-9 * np.abs(q[row])
        if not wide.any():
            continue
        points, h = (q[row] + np.linspace(-1, 1, 5)[:, None] * h)[:, wide], h[wide]
        heights = dist.pdf_on(points.ravel())[row].reshape(points.shape)
        if not np.isfinite(heights).all():
            continue
        mass = h / 6 * ([1, 4, 2, 4, 1] @ heights)
        one = dist[np.full(len(h), row)]
        expected = one.prob(points[0], points[-1])
        check(np.abs(mass - expected) < 0.01 * expected + 1e-6, "the pdf is the slope of the cdf")


def check_density(dist, Y, bounds):
    """The laws of all densities."""
    m = len(dist)
    mean, cov = np.reshape(dist.mean(), (m, -1)), dist.cov()
    dy = mean.shape[1]
    check(np.isfinite(mean), "means are finite")
    check(~np.isnan(cov), "covariances are numbers")
    for matrix in np.reshape(cov, (m, dy, dy)):
        if np.isfinite(matrix).all() and matrix.any():
            scale = np.sqrt(np.maximum(np.diagonal(matrix), 1e-320))
            check(np.diagonal(matrix) >= 0, "variances are >= 0")
            least = np.linalg.eigvalsh(matrix / scale / scale[:, None]).min()
            check(least > -1e-6, "covariances are positive semidefinite")
    check(dist.squared_norm() >= 0, "the squared norm is a number >= 0")
    draws = np.reshape(dist.sample(3, random_state=0), (m * 3, dy))
    check(np.isfinite(draws), "draws are finite")
    if bounds is not None:
        low, high = bounds
        check((draws >= low) & (draws <= high), "draws respect the bounds")
    y = Y[np.arange(m) % len(Y)]
    if dy == 1:
        check_line(dist, y[:, 0])
    else:
        check(~np.isnan(dist.log_pdf(y)), "the log pdf is a number")
        check([len(own) > 0 for own in dist.modes()], "every row has a mode")
        check_line(dist.marginal(dy - 1), y[:, -1])


def check_model(case, model, data, rows):
    """The laws of a fitted model."""
    X, y, _ = data
    if hasattr(model, "transform"):
        Z = model.transform(rows)
        check(np.isfinite(Z), "reduced inputs are finite")
    if not hasattr(model, "predict_dist"):
        return
    dist = model.predict_dist(rows)
    Y = np.reshape(np.asarray(y, dtype=float), (len(y), -1))
    bounds = case["parameters"].get("bounds")
    pair = None
    if isinstance(bounds, list):
        pair = [b if b is not None else s * np.inf for b, s in zip(bounds, (-1, 1), strict=True)]
    check_density(dist, Y, pair)
    check(np.shape(model.predict(rows))[:1] == (len(dist),), "one prediction for each row")
    check(~np.isnan(model.score(X, y)), "the score is a number")
    check_same(case, model, data, rows)


def check_same(case, model, data, rows):
    """What does not change the model does not change its answers."""
    X, y, weight = data
    before = model.predict(rows)
    spread = np.ptp(np.asarray(y, dtype=float), axis=0)
    if case["law"] == "file" and case["parameters"].get("location") != "regressor":
        with tempfile.TemporaryDirectory() as folder:
            condensity.save(model, Path(folder) / "m.cdn")
            loaded = condensity.load(Path(folder) / "m.cdn")
        check(loaded.predict(rows) == before, "a stored model gives the same answers")
    if case["law"] == "refit" and case["parameters"].get("random_state", 0) == 0:
        again = estimator_of(case).fit(X, y, **keywords(weight))
        check(again.predict(rows) == before, "the same fit gives the same answers")
    if case["law"] == "order" and case["parameters"].get("random_state", 0) == 0:
        order = np.random.default_rng(0).permutation(len(y))
        Xp = X.iloc[order] if hasattr(X, "iloc") else np.asarray(X)[order]
        turned = None if weight is None else np.asarray(weight)[order]
        again = estimator_of(case).fit(Xp, np.asarray(y)[order], **keywords(turned))
        gap = np.abs(again.predict(rows) - before)
        check(gap <= 1e-6 * (spread + np.abs(before)), "the order of samples does not matter")
    fixed = {"bounds", "min_bandwidth", "scaling"} & case["parameters"].keys()
    if case["law"] == "units" and not fixed and case["parameters"].get("random_state", 0) == 0:
        doubled = estimator_of(case).fit(X, 4.0 * np.asarray(y, dtype=float), **keywords(weight))
        gap = np.abs(doubled.predict(rows) / 4.0 - before)
        check(gap <= 1e-6 * (spread + np.abs(before)), "the unit of y does not matter")


def keywords(weight):
    return {} if weight is None else {"sample_weight": weight}


# --- Running ------------------------------------------------------------------------------------


def ours(error):
    """Whether an exception was raised by this library or by scikit-learn's validation."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1].filename.replace("\\", "/")
    return "/condensity/" in last or "/sklearn/" in last


def outcome(case):
    """'answered', 'refused', or the law that is broken."""
    limit = signal.setitimer(signal.ITIMER_PROF, SECONDS) if hasattr(signal, "setitimer") else None
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            found = _outcome(case)
    except TimeoutError:
        return f"it takes more than {SECONDS} s of processor time"
    finally:
        if limit is not None:
            signal.setitimer(signal.ITIMER_PROF, 0)
    for warning in seen:
        if warning.category not in (UserWarning, ConvergenceWarning):
            text = str(warning.message)[:100]
            return f"a warning is not ours: {warning.category.__name__}: {text}"
    return found


def _outcome(case):
    try:
        X, y, weight, rows = samples_of(case)
        put = CONTAINERS[case["container"]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numpy, while data are converted
            X, rows = put(X), put(rows)
    except Exception as error:  # the container cannot hold these numbers
        return f"refused: no such data ({type(error).__name__})"
    try:
        model = estimator_of(case)
        model.fit(X, y, **({} if case["estimator"] == "FixedSubspace" else keywords(weight)))
        check_model(case, model, (X, y, weight), rows)
    except BrokenLawError as law:
        return f"broken: {law}"
    except TimeoutError:
        raise
    except (ValueError, TypeError) as error:
        text = str(error)
        if not ours(error) or len(text) < 20:
            return f"an error is not ours: {type(error).__name__}: {text[:150]}"
        return "refused"
    except Exception as error:
        return f"an error is not ours: {type(error).__name__}: {str(error)[:150]}"
    return "answered"


PLAIN = {
    "inputs": "normal",
    "outputs": "plain",
    "weights": "none",
    "container": "float64",
    "rows": "samples",
    "law": "none",
    "dx": 1,
    "dy": 1,
}


def minimal(case, failure):
    """A plainer case with the same failure."""
    kind = failure.split(":")[:2]

    def fails(other):
        return outcome(other).split(":")[:2] == kind

    for key in list(case["parameters"]):
        rest = {k: v for k, v in case["parameters"].items() if k != key}
        if fails(case | {"parameters": rest}):
            case = case | {"parameters": rest}
    for key, value in PLAIN.items():
        if case[key] != value and fails(case | {key: value}):
            case = case | {key: value}
    for n in (2, 3, 5, 8, 12):
        if n < case["n"] and fails(case | {"n": n}):
            return case | {"n": n}
    return case


def run_batch(numbers):
    """Print a record for each case; what the child process is for."""

    def stop(signum, frame):
        raise TimeoutError

    if hasattr(signal, "SIGPROF"):
        signal.signal(signal.SIGPROF, stop)
    warnings.simplefilter("ignore")
    for number in numbers:
        case = new_case(number)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found = outcome(case)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        if grown > MEBIBYTES:
            found = f"it takes {grown:.0f} MiB"
        record = {"number": number, "outcome": found}
        if not found.startswith(("answered", "refused")):
            record["case"] = minimal(case, found)
        print(json.dumps(record), flush=True)


def run_in_child(numbers):
    """The records of cases that run in a child process; one that dies is a failure of its own."""
    records, left = [], list(numbers)
    while left:
        command = [sys.executable, __file__, "--batch", *map(str, left)]
        try:
            limit = 60 + 3 * SECONDS * len(left)
            result = subprocess.run(command, capture_output=True, text=True, timeout=limit)
            out, died = result.stdout, f"the process died ({result.returncode})"
            died += result.stderr[-300:]
        except subprocess.TimeoutExpired as error:
            out, died = (error.stdout or b"").decode(), "the process hangs"
        found = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        records += found
        left = left[len(found) :]
        if left:
            records.append({"number": left[0], "outcome": died, "case": new_case(left[0])})
            left = left[1:]
    return records


def failures_of(records):
    """The records of cases that are neither answered nor refused."""
    return [r for r in records if not r["outcome"].startswith(("answered", "refused"))]


def show(records):
    """Counts, and the reproduction of each failure."""
    failures = failures_of(records)
    counts = Counter(r["outcome"].split(":")[0] for r in records if r not in failures)
    print(dict(counts), len(failures), "failures of", len(records), "cases")
    for record in failures:
        print(f"{record['outcome']}\n  --case '{json.dumps(record['case'])}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--case", help="run one case, with its traceback")
    parser.add_argument("--batch", type=int, nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.batch:
        run_batch(options.batch)
        return
    if options.case:
        print(outcome(json.loads(options.case)))
        return
    from concurrent.futures import ThreadPoolExecutor

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    lines = options.out.read_text().splitlines() if options.out and options.out.exists() else []
    records = [json.loads(line) for line in lines]
    done = {record["number"] for record in records}
    numbers = [n for n in range(options.count) if n not in done]
    batches = [numbers[i : i + BATCH] for i in range(0, len(numbers), BATCH)]
    with ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(run_in_child, batches):
            records += found
            if options.out:
                with options.out.open("a") as file:
                    file.writelines(json.dumps(record) + "\n" for record in found)
    show(records)


if __name__ == "__main__":
    main()
