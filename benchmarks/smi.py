"""Distance of the minima of SCE and of minus SMI from the true subspace, on toy (b).

    python benchmarks/smi.py [--runs 20] [--samples 100]

Both are minimised from the true W, with fixed bandwidth and penalty, so that neither starts nor
model selection influence the result.  The paper expects SCE to be better here (Sec. 2.8, 3.2).
"""

import argparse

import numpy as np

from condensity.data.sample import Sample
from condensity.datasets import toy_b
from condensity.fitting.moments import Reference
from condensity.fitting.sce import SCE
from condensity.metrics import subspace_error
from condensity.subspaces.descent import descend

SETTINGS = [(0.32, 1e-3), (0.18, 1e-3), (0.1, 1e-3), (0.1, 1e-4), (0.056, 1e-3)]
STEPS, TOLERANCE = 200, 1e-7


def error_from_truth(seed, n, sigma, penalty, reference, by_rank):
    """Error_DR of the minimum nearest to the true subspace."""
    problem = toy_b()
    X, y = problem.sample(n, random_state=seed)
    if by_rank:
        y = np.argsort(np.argsort(y)).astype(float)  # uniform: both are equal by Sec. 2.8
    X, Y = (X - X.mean(axis=0)) / X.std(axis=0), ((y - y.mean()) / y.std())[:, None]
    sample = Sample(X, Y, np.full(n, 1 / n))
    objective = SCE.build(
        sample, sample, sigma_z=sigma, sigma_y=sigma, penalty=penalty, reference=reference
    )
    end = descend(objective, problem.components, max_steps=STEPS, tol=TOLERANCE)
    return subspace_error(end.point.W, problem.components)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--samples", type=int, default=100)
    options = parser.parse_args()
    print("| bandwidth, penalty | y | SCE | SMI | SCE minus SMI |\n|---|---|---|---|---|")
    for by_rank in (False, True):
        for sigma, penalty in SETTINGS:
            errors = np.array(
                [
                    [
                        error_from_truth(seed, options.samples, sigma, penalty, reference, by_rank)
                        for reference in Reference
                    ]
                    for seed in range(options.runs)
                ]
            )
            columns = [*errors.T, errors[:, 0] - errors[:, 1]]
            shown = [f"{c.mean():.3f} ({c.std(ddof=1) / len(c) ** 0.5:.3f})" for c in columns]
            scale = "ranks" if by_rank else "values"
            print(f"| {sigma}, {penalty:g} | {scale} | " + " | ".join(shown) + " |", flush=True)


if __name__ == "__main__":
    main()
