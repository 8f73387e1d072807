"""Random damage to model files, with correct checksums, and what must come of it.

A damaged file is refused with one error, or it is read as a model whose densities are finite and
have mass one.  Memory and time are limited by the size of the file.  As a program, this module
damages files for some minutes and counts the outcomes:

    python tests/damaged_files.py --minutes 10
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import condensity
from condensity import (
    LSCDE,
    LSCE,
    LSMI,
    OPG,
    SAVE,
    SIR,
    DirectionalRegression,
    EpsilonKDE,
    FixedSubspace,
    Reduced,
    WithAtoms,
)
from condensity.io.container import MAGIC, unpack
from condensity.tables import TableModel, fit_table

#: Memory that reading may take: a constant, and a multiple of the size of the file.
MEMORY, MEMORY_PER_BYTE = 20e6, 200
#: Seconds after which a file is reported as slow.
SLOW = 5.0
NUMBERS = [0, -1, 1, 2, 3, 7, 2**31, 10**30, 0.5, -0.5, 1e-320, 1e-160, 1e-20, 1e20, 1e160, 1e308]
NUMBERS += [-1e308, float("nan"), float("inf"), float("-inf")]
OTHERS = [None, True, "", "text", {"tuple": []}, {"list": []}, {"dict": {}}, {"names": ["a"]}, {}]


def valid_files() -> dict[str, bytes]:
    """A small file of every kind of model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits with few steps
        models = small_models()
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models.items():
            path = Path(folder) / "model.cdn"
            condensity.save(model, path)
            files[name] = path.read_bytes()
    return files


def small_models() -> dict[str, object]:
    """A fitted model of every kind."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=40)
    Y = np.column_stack([y, X[:, 1] + 0.3 * rng.normal(size=40)])
    share = 1 / (1 + np.exp(-y))
    kernel = {"bandwidth": 0.5, "penalty": 0.1, "random_state": 0}
    few = {"n_starts": 1, "max_iter": 3, "n_centers": 8}
    quick = few | {"n_members": 2, "random_state": 0}
    table = {"a": X[:, 0], "kind": ["one", "two"] * 20, "y": y}
    table["day"] = [f"2024-0{1 + i % 3}-1{i % 10}" for i in range(40)]
    return {
        "LSCE": LSCE(1, **quick).fit(X, y),
        "several configurations": LSCE(**quick).fit(X, y),
        "flexible": LSCE(1, location="flexible", **quick).fit(X, y),
        "smooth, two outputs": LSCE(1, location="smooth", **quick).fit(X, Y),
        "trees, two outputs": LSCE(1, location="trees", **quick).fit(X, Y),
        "one bound": LSCE(1, bounds=(0, None), **quick).fit(X, np.exp(y)),
        "two bounds": LSCE(1, bounds=(0, 1), **quick).fit(X, share),
        "published": LSCE.as_published(1).set_params(**few, **kernel).fit(X, y),
        "LSCDE": LSCDE(n_centers=8, **kernel).fit(X, y),
        "EpsilonKDE": EpsilonKDE(1.0, 0.3, random_state=0).fit(X, y),
        "Reduced": Reduced(SIR(1), LSCDE(n_centers=8, **kernel)).fit(X, y),
        "WithAtoms": WithAtoms(LSCDE(n_centers=8, **kernel), [0.0]).fit(X, np.maximum(y, 0)),
        "LSMI": LSMI(1, **few, **kernel).fit(X, y),
        "SIR": SIR(1).fit(X, y),
        "SAVE": SAVE(2).fit(X, y),
        "DirectionalRegression": DirectionalRegression(2).fit(X, y),
        "OPG": OPG(2).fit(X, y),
        "FixedSubspace": FixedSubspace(np.eye(2, 3)).fit(X),
        "TableModel": fit_table(table, "y", estimator=LSCDE(n_centers=8, **kernel)),
    }


def with_checksum(body: bytes) -> bytes:
    """The bytes of a file whose checksum is right."""
    return body + hashlib.sha256(body).digest()


def packed(content, arrays, entries=None) -> bytes:
    """A file, also one that ``pack`` would not write: its entries of arrays may be wrong."""
    payload = b"".join(array.tobytes() for array in arrays)
    header = {"content": content, "arrays": entries or entries_of(arrays)}
    text = json.dumps(header).encode()
    return with_checksum(MAGIC + len(text).to_bytes(8, "little") + text + payload)


def entries_of(arrays) -> list[dict]:
    """The entries of arrays in a header."""
    ends = np.cumsum([0, *(array.nbytes for array in arrays)]).tolist()
    return [
        {"dtype": a.dtype.str, "shape": list(a.shape), "offset": start}
        for a, start in zip(arrays, ends, strict=False)
    ]


def damaged(file: bytes, rng: np.random.Generator) -> bytes:
    """The file with one to three random changes."""
    content, arrays = unpack(file)
    entries = None
    for _ in range(rng.integers(1, 4)):
        kind = rng.random()
        if kind < 0.5:
            change_tree(content, rng, len(arrays))
        elif kind < 0.85:
            change_array(arrays, rng)
        else:
            entries = entries_of(arrays)
            change_entry(entries, rng)
    if entries is not None and len(entries) != len(arrays):
        entries = None
    return packed(content, arrays, entries)


def places_in(tree) -> list[tuple]:
    """All pairs of a container of a JSON tree and a key in it."""
    found = []
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        found.append((tree, key))
        if isinstance(value, dict | list):
            found += places_in(value)
    return found


def change_tree(content, rng, n_arrays) -> None:
    """Change one value, name or item of the JSON tree."""
    places = places_in(content)
    parent, key = places[rng.integers(len(places))]
    kind = rng.integers(7)
    if kind < 2:
        parent[key] = pick(NUMBERS, rng)
    elif kind == 2:
        parent[key] = copy.deepcopy(pick(OTHERS, rng))
    elif kind == 3:
        parent[key] = {"array": int(rng.integers(n_arrays))}
    elif kind == 4:
        other, other_key = places[rng.integers(len(places))]
        parent[key] = copy.deepcopy(other[other_key])
    elif kind == 5:
        del parent[key]
    elif isinstance(parent, list):
        parent[key : key + 1] = [parent[key]] * int(rng.integers(2, 20))
    else:
        parent[pick(["x", "value", "model", "W", "components_"], rng)] = parent.pop(key)


def change_array(arrays, rng) -> None:
    """Change numbers, the shape or the type of one array."""
    k = int(rng.integers(len(arrays)))
    array, kind = arrays[k].copy(), rng.integers(6)
    if kind < 2 and array.size:
        number = pick(NUMBERS, rng)
        if array.dtype.kind == "i":
            number = int(np.clip(np.nan_to_num(number), -(2**62), 2**62))
        array.flat[rng.integers(array.size) if kind else slice(None)] = number
    elif kind == 2:
        array = array[: int(rng.integers(len(array) + 1))]
    elif kind == 3:
        array = array.T if array.ndim > 1 else array[:, None]
    elif kind == 4:
        with np.errstate(invalid="ignore"):
            array = array.astype(pick(["<f8", "<i8", "|b1"], rng))
    else:
        array = arrays[rng.integers(len(arrays))]
    arrays[k] = np.ascontiguousarray(array)


def change_entry(entries, rng) -> None:
    """Change what the header says of one array."""
    entry = entries[rng.integers(len(entries))]
    kind = rng.integers(4)
    if kind == 0:
        entry["shape"] = pick([[2 * 10**8, 0], [0, 2 * 10**8], [0], [-1], [], [1] * 40], rng)
    elif kind == 1:
        entry["shape"] = entry["shape"][::-1]
    elif kind == 2:
        entry["dtype"] = pick(["<f8", "<i8", "|b1", "|O", "<f4", 3], rng)
    else:
        entry["offset"] = pick([0, 8, -8, 10**9], rng)


def pick(options, rng):
    """One of the options."""
    return options[int(rng.integers(len(options)))]


def outcome(path: Path) -> str:
    """What comes of a file: "refused", "a model", or a description of the defect."""
    tracemalloc.start()
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            model = condensity.load(path)
            defect = defect_of(model)
    except ValueError as error:
        text = str(error)
        defect = "" if f"{path} is not a readable model file: " in text else f"error {text}"
        if not defect:
            return limits(path, start) or "refused"
    except Exception as error:
        defect = f"{type(error).__name__} {error}"
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    if peak > MEMORY + MEMORY_PER_BYTE * path.stat().st_size:
        return f"{peak / 1e6:.0f} MB"
    return defect or limits(path, start) or "a model"


def limits(path: Path, start: float) -> str:
    """A description of the time taken if it is too long."""
    seconds = time.perf_counter() - start
    return f"{seconds:.0f} s for {path.stat().st_size} bytes" if seconds > SLOW else ""


def defect_of(loaded) -> str:
    """What is wrong with the answers of a model: nothing if its densities have mass one."""
    model = loaded.model if isinstance(loaded, TableModel) else loaded
    scaling = getattr(getattr(model, "_density", None), "x_scaling", None)
    middle = np.zeros(model.n_features_in_) if scaling is None else scaling.mean
    spread = np.ones(model.n_features_in_) if scaling is None else scaling.sd
    X = middle + spread * np.array([[0.0], [1.0], [-1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if hasattr(model, "transform") and not np.isfinite(model.transform(X)).all():
            return "reduced inputs are not finite"
        if not hasattr(model, "predict_dist"):
            return ""
        dist = model.predict_dist(X)
        if dist.n_outputs == 1:
            return defect_of_one_output(dist)
        draws = dist.sample(5, random_state=0)
        if not np.isfinite(draws).all():
            return "draws are not finite"
        if not all(np.isfinite(dist.pdf(draws[:, k])).all() for k in range(5)):
            return "a density is not finite"
        return next(filter(None, map(defect_of_one_output, dist.marginals())), "")


def defect_of_one_output(dist) -> str:
    """What is wrong with densities of one output."""
    mass = dist.prob(-np.inf, np.inf)
    if not np.allclose(mass, 1.0, atol=1e-9):
        return f"mass {mass}"
    quantiles = dist.quantile([0.01, 0.25, 0.5, 0.75, 0.99])
    if not (np.isfinite(quantiles).all() and (np.diff(quantiles, axis=1) >= 0).all()):
        return f"quantiles {quantiles[0]}"
    if not all(np.isfinite(dist.pdf(column)).all() for column in quantiles.T):
        return "a density is not finite"
    return ""


def main() -> None:
    """Damage files for some minutes, count the outcomes, and keep the files with defects."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None, help="folder for files with defects")
    options = parser.parse_args()
    files, rng = valid_files(), np.random.default_rng(options.seed)
    end, counts = time.monotonic() + 60 * options.minutes, Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.cdn"
        while time.monotonic() < end:
            name = pick(list(files), rng)
            path.write_bytes(damaged(files[name], rng))
            found = outcome(path)
            counts[found if found in ("refused", "a model") else "a defect"] += 1
            if found not in ("refused", "a model"):
                print(f"{name}: {found}", flush=True)
                if options.out is not None:
                    options.out.mkdir(parents=True, exist_ok=True)
                    copied = options.out / f"{counts['a defect']}.cdn"
                    copied.write_bytes(path.read_bytes())
    print(dict(counts))


if __name__ == "__main__":
    main()
