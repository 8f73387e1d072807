"""Records of long benchmarks: one JSON object per line; existing records are not computed again."""

import json
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed


def read(path):
    """All records of a file; an empty list if it does not exist."""
    path = Path(path)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run_missing(path, keys, cells, run, jobs):
    """Append the record ``run(*cell)`` of each cell that is missing in the file.

    The values of ``keys`` in a record identify its cell.
    """
    done = {tuple(record[key] for key in keys) for record in read(path)}
    work = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for record in work(delayed(run)(*cell) for cell in cells if cell not in done):
        with Path(path).open("a") as stream:
            stream.write(json.dumps(record) + "\n")


def mean_and_error(values):
    """Mean (standard error) as text."""
    values = np.array(values)
    error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return f"{values.mean():.2f} ({error:.2f})"
