"""One value and gradient of the SCE, compared with the work that no algorithm can avoid.

    python benchmarks/kernel.py [--samples 20000] [--centers 200] [--inputs 20] [--components 3]

The floor consists of n b exponentials and the matrix products of the formulas, computed in chunks
that fit the cache, into existing arrays.  Both are timed alternately; the shortest of several times
counts.
"""

import argparse

import numpy as np
from library import SCE, Sample
from ratios import at_most, quickest, show_header, show_row

CHUNK, LIMIT = 512, 1.5


def ours(sce, W):
    """The value and the gradient, as a fit computes them."""
    point = sce.at(W)
    return point.value, point.gradient()


def floor(sce, W, work):
    """The exponentials and the products only."""
    X, C = sce.sample.X, sce.centers.X
    phi, R, square = work
    U = C @ W.T
    total = np.zeros((len(U), len(U)))
    for start in range(0, len(X), CHUNK):
        Z = X[start : start + CHUNK] @ W.T
        np.matmul(Z, U.T, out=phi[: len(Z)])
        np.exp2(phi[: len(Z)], out=phi[: len(Z)])
        total += phi[: len(Z)].T @ phi[: len(Z)]
    np.linalg.cholesky(total + len(X) * np.eye(len(U)))
    slope = np.zeros((len(W), X.shape[1]))
    for start in range(0, len(X), CHUNK):
        rows = X[start : start + CHUNK]
        Z = rows @ W.T
        np.matmul(phi[: len(Z)], square, out=R[: len(Z)])
        slope += (Z.T @ R[: len(Z)]) @ C + (R[: len(Z)] @ U).T @ rows
    return slope


def measure(n, b, dx, dz):
    """Seconds of one value and gradient, and of the floor."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((n, dx)), rng.standard_normal((n, 1))
    sample = Sample(X, Y, np.full(n, 1.0 / n))
    sce = SCE.build(sample, sample[np.arange(b)], sigma_z=1.0, sigma_y=0.5, penalty=0.1)
    W = np.linalg.qr(rng.standard_normal((dx, dz)))[0].T
    work = np.empty((CHUNK, b)), np.empty((CHUNK, b)), rng.standard_normal((b, b))
    return quickest([lambda: ours(sce, W), lambda: floor(sce, W, work)], repeats=15)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--centers", type=int, default=200)
    parser.add_argument("--inputs", type=int, default=20)
    parser.add_argument("--components", type=int, default=3)
    o = parser.parse_args()
    own, least = measure(o.samples, o.centers, o.inputs, o.components)
    print(
        f"One value and gradient of the SCE at n = {o.samples}, b = {o.centers}, dx = {o.inputs}, "
        f"dz = {o.components}, compared with the exponentials and matrix products that no "
        "algorithm can avoid (the floor), on one thread.\n"
    )
    show_header("floor", "ours", "ratio", "target")
    ratio = own / least
    show_row(f"{1e3 * least:.1f} ms", f"{1e3 * own:.1f} ms", f"{ratio:.2f}", at_most(ratio, LIMIT))


if __name__ == "__main__":
    main()
