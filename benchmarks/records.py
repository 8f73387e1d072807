"""Records of long benchmarks: one JSON object a line, so that what is done is not done again."""

import json
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed


def read(path):
    """All records of a file; none when there is no file."""
    path = Path(path)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run_missing(path, keys, cells, run, jobs):
    """Append ``run(*cell)`` for the cells that no record has as the values of its ``keys``."""
    done = {tuple(record[key] for key in keys) for record in read(path)}
    work = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for record in work(delayed(run)(*cell) for cell in cells if cell not in done):
        with Path(path).open("a") as stream:
            stream.write(json.dumps(record) + "\n")


def mean_and_error(values):
    """The mean with its standard error."""
    values = np.array(values)
    error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return f"{values.mean():.2f} ({error:.2f})"
