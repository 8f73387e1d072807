"""Benefit of refining the subspace with all samples when model selection uses a subsample.

    python benchmarks/many.py [--samples 20000] [--subsample 1000] [--runs 2] [--cases ...]

Error_DR and Error_CDE on 2000 test samples, mean over runs, of three variants: the average of the
members learned from the subsample, with coefficients fitted to all samples; one subspace refined
with all samples and the number of centres that subspaces are learned with; and the same with all
centres.
"""

import argparse
import time
from contextlib import ExitStack
from dataclasses import replace
from unittest.mock import patch

import numpy as np
from oblique import CASES, directions

from condensity import LSCE
from condensity.datasets import toy_a, toy_b
from condensity.lsce import consensus as lsce_consensus
from condensity.lsce.learning import LEARNING_CENTERS
from condensity.metrics import squared_loss, subspace_error

N_TEST = 2000
TOYS = {"toy (a)": toy_a, "toy (b)": toy_b}
SUBSPACES, REFINE = lsce_consensus.learn_with_all, lsce_consensus.refine_with_all


def members_alone(data, *arguments):
    """The subspaces that are learned without further samples."""
    return SUBSPACES(replace(data, remaining=None), *arguments)


def with_few_centers(view, W, own, remaining):
    """Refining with all samples and the centres that subspaces are learned with."""
    few, width = view.thinned(LEARNING_CENTERS), own.views[0].components.widths[0]
    return REFINE(few, W, few.left_out(W, own.sigma_z, float(width)), remaining)


VARIANTS = {
    "average of members": {"_subspaces": members_alone},
    f"refined, {LEARNING_CENTERS} centres": {"refine_with_all": with_few_centers},
    "refined, all centres": {},
}


def sample(case, n, seed):
    """Samples, the true subspace and the true densities."""
    if case in TOYS:
        problem = TOYS[case]()
        X, y = problem.sample(n, random_state=seed)
        return X, y, problem.components, problem.conditional
    truth, dx, dz, _ = CASES[case]
    W = directions(dx, dz)
    X = np.random.default_rng(seed).standard_normal((n, dx))
    return X, truth(X @ W.T).sample(1, random_state=seed).ravel(), W, lambda X: truth(X @ W.T)


def run(case, seed, variant, options):
    X, y, W, _ = sample(case, options.samples, seed)
    X_test, y_test, _, _ = sample(case, N_TEST, 1000 + seed)
    started = time.process_time()
    with ExitStack() as stack:
        for name, part in VARIANTS[variant].items():
            stack.enter_context(patch.object(lsce_consensus, name, part))
        model = LSCE(
            len(W), n_members=5, location="none", subsample=options.subsample, random_state=seed
        ).fit(X, y)
    seconds = time.process_time() - started
    error = squared_loss(model.predict_dist(X_test), y_test)
    return subspace_error(model.components_, W), error, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--subsample", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=2)
    cases = [*TOYS, "heteroscedastic", "curved"]
    parser.add_argument("--cases", nargs="+", choices=[*TOYS, *CASES], default=cases)
    options = parser.parse_args()
    print("| |", " | ".join(f"{v}: Error_DR | Error_CDE | time" for v in VARIANTS), "| truth |")
    print("|---" * (3 * len(VARIANTS) + 2) + "|")
    for case in options.cases:
        cells, first = [], None
        for variant in VARIANTS:
            runs = [run(case, seed, variant, options) for seed in range(options.runs)]
            distance, error, seconds = np.mean(runs, axis=0)
            first = seconds if first is None else first
            cells += [f"{distance:.3f}", f"{error:.3f}", f"{seconds / first:.1f}×"]
        X_test, y_test, _, truth = sample(case, N_TEST, 1000)
        cells.append(f"{squared_loss(truth(X_test), y_test):.3f}")
        print("|", case, "|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
