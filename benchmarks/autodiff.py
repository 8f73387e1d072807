"""The same objective by automatic differentiation with JAX, minimised with pymanopt.

    python benchmarks/autodiff.py [--samples 300 20000]

The SCE estimate as a function of W, written for JAX, compiled, in double precision, on one thread
like ours.  First the script checks that both give the same results, then it times them alternately.
Then both minimise from the same starts, pymanopt by conjugate gradients on the Grassmann manifold.
"""

import argparse
import os
import warnings

import numpy as np

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import pymanopt
from oblique import directions
from pymanopt.manifolds import Grassmann
from pymanopt.optimizers import ConjugateGradient
from ratios import at_least, quickest, seconds_of, show_header, show_row

from condensity.data.sample import Sample
from condensity.fitting.sce import SCE
from condensity.subspaces.chart import minimise

jax.config.update("jax_enable_x64", True)
DX, DZ, CENTERS, SIGMA, PENALTY = 10, 2, 200, 0.7, 0.1
STEPS, MANY, AGREEMENT = 50, 10, 1e-6


def compiled(sce):
    """The value, and the value with its gradient, as compiled functions of W."""
    X, C, phi_y, yy = (jnp.array(a) for a in (sce.sample.X, sce.centers.X, sce.phi_y, sce.yy))

    def value(W):
        Z, U = X @ W.T, C @ W.T
        squared = (Z**2).sum(1)[:, None] + (U**2).sum(1) - 2 * Z @ U.T
        phi_z = jnp.exp(-squared / (2 * sce.sigma_z**2))
        G, h = phi_z.T @ phi_z / len(X) * yy, (phi_z * phi_y).mean(axis=0)
        alpha = jax.scipy.linalg.solve(G + sce.penalty * jnp.eye(len(C)), h, assume_a="pos")
        return 0.5 * alpha @ G @ alpha - h @ alpha

    return jax.jit(value), jax.jit(jax.value_and_grad(value))


def problem(n, n_starts):
    """A problem with two directions, and random starts."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, DX))
    Z = X @ directions(DX, DZ).T
    y = Z[:, 0] + 0.5 * Z[:, 1] ** 2 + 0.4 * rng.standard_normal(n)
    sample = Sample(X, ((y - y.mean()) / y.std())[:, None], np.full(n, 1.0 / n))
    centers = sample[np.arange(min(n, CENTERS))]
    sce = SCE.build(sample, centers, sigma_z=SIGMA, sigma_y=SIGMA, penalty=PENALTY)
    return sce, [np.linalg.qr(rng.standard_normal((DX, DZ)))[0].T for _ in range(n_starts)]


def both(sce, W):
    point = sce.at(W)
    return point.value, point.gradient()


def by_pymanopt(value, value_and_gradient, W):
    """The value at the end of conjugate gradients on the Grassmann manifold."""
    manifold = Grassmann(*W.T.shape)

    @pymanopt.function.numpy(manifold)
    def cost(P):
        return float(value(P.T))

    @pymanopt.function.numpy(manifold)
    def slope(P):
        return np.asarray(value_and_gradient(P.T)[1]).T

    task = pymanopt.Problem(manifold, cost, euclidean_gradient=slope)
    optimiser = ConjugateGradient(max_iterations=STEPS, verbosity=0)
    return optimiser.run(task, initial_point=W.T).cost


def difference(theirs, own):
    """The largest relative difference between two values with gradients."""
    values = abs(theirs[0] / own[0] - 1)
    return max(values, np.abs(theirs[1] - own[1]).max() / np.abs(own[1]).max())


def measure(n, n_starts):
    """Difference; seconds of one value and gradient; seconds and final values of the descents."""
    sce, starts = problem(n, n_starts)
    W = starts[0]
    value, value_and_gradient = compiled(sce)
    apart = difference(value_and_gradient(W), both(sce, W))
    assert apart < AGREEMENT, f"the two disagree by {apart}"
    value(W)  # compiles
    once = quickest([lambda: jax.block_until_ready(value_and_gradient(W)), lambda: both(sce, W)])
    theirs = seconds_of(lambda: [by_pymanopt(value, value_and_gradient, W) for W in starts])
    own = seconds_of(lambda: [minimise(sce, W, max_steps=STEPS).value for W in starts])
    return apart, once, theirs, own


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[300, 20_000])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"The SCE as a function of W in JAX (compiled, double precision, one thread) and ours; "
        f"b = {CENTERS}, dx = {DX}, dz = {DZ}. Then at most {STEPS} steps from the same random "
        f"starts ({MANY} starts, one for large n): pymanopt's conjugate gradients with the "
        "compiled functions, and our quasi-Newton steps. The script stops if values or gradients "
        f"differ by more than {AGREEMENT:g}.\n"
    )
    show_header(
        "n",
        "",
        "JAX, pymanopt",
        "ours",
        "speed-up",
        "difference, or mean (least) final SCE",
        "target",
    )
    for n in options.samples:
        apart, (jaxs, least), theirs, own = measure(n, MANY if n < 1000 else 1)
        milliseconds = f"{1e3 * jaxs:.1f} ms", f"{1e3 * least:.1f} ms"
        show_row(
            n,
            "value and gradient",
            *milliseconds,
            f"{jaxs / least:.1f}",
            f"{apart:.0e}",
            at_least(jaxs / least, 1),
        )
        seconds = f"{theirs[0]:.2f} s", f"{own[0]:.2f} s", f"{theirs[0] / own[0]:.1f}"
        reached = [f"{np.mean(v):.4f} ({np.min(v):.4f})" for v in (theirs[1], own[1])]
        show_row(n, "descent", *seconds, ", ours ".join(reached), at_least(theirs[0] / own[0], 1))


if __name__ == "__main__":
    main()
