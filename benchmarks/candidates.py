"""Estimate of the paper's smallest candidate for the bandwidth.

    python benchmarks/candidates.py [--runs 10]

None/LSCDE of the paper's Table 1 with different lower limits of the bandwidth (in standard
deviations, the same for z and y).  The paper does not report its candidates.
"""

import argparse
import warnings

import numpy as np

from condensity import LSCDE
from condensity.experiments import problems
from condensity.experiments import published_results as paper
from condensity.experiments.methods import MODEL_SEEDS, folds_of
from condensity.fitting.selection import BANDWIDTHS
from condensity.metrics import squared_loss

FIRST = [0, 2, 3, 4]  # indices of the smallest candidate
COLUMN = paper.COLUMNS.index(("None", "LSCDE"))


def losses(name, seed):
    """Error_CDE of the selected candidate for each lower limit."""
    data, seed = problems.benchmark_data(name, seed), MODEL_SEEDS + seed
    model = LSCDE(n_centers=len(data.X), cv=folds_of(data, seed), random_state=seed)
    table = model.fit(data.X, data.Y).cv_results_
    errors = []
    for i in FIRST:
        score = np.where(table["param_sigma_y"] >= BANDWIDTHS[i], table["mean_test_score"], -np.inf)
        best = int(np.argmax(score))
        model.set_params(
            bandwidth=table["param_sigma_y"][best], penalty=table["param_penalty"][best]
        )
        dist = model.fit(data.X, data.Y).predict_dist(data.X_test)
        errors.append(data.unit * squared_loss(dist, data.Y_test))
        model.set_params(bandwidth=None, penalty=None)
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    warnings.simplefilter("ignore")  # repeated values of y are intended here
    heads = [f"from {BANDWIDTHS[i]:.2f} on" for i in FIRST]
    print("|  | " + " | ".join(heads) + " | paper |")
    print("|---" * (len(FIRST) + 2) + "|")
    for name, figures in paper.ERRORS.items():
        values = np.array([losses(name, seed) for seed in range(runs)])
        errors = values.std(axis=0, ddof=1) / np.sqrt(runs)
        shown = [f"{m:.2f} ({e:.2f})" for m, e in zip(values.mean(axis=0), errors, strict=True)]
        mean, error = figures[COLUMN]
        print(f"| {name} | " + " | ".join(shown) + f" | {mean:.2f} ({error:.2f}) |", flush=True)


if __name__ == "__main__":
    main()
