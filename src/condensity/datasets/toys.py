"""Toy problems with known truth: sufficient subspace and conditional density.

Every truth is ``y = m(z) + s(z) e`` with e from a mixture of Gaussians, which is a
``Mixture``; samples of y are drawn from that very mixture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array
from condensity._utils.parameters import check_count, check_option, check_rng
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture

#: Noise as (weight, mean, standard deviation) of its Gaussian components.
Noise = tuple[tuple[float, float, float], ...]

NOISES: dict[str, Noise] = {
    "gaussian": ((1.0, 0.0, 1.0),),
    "bimodal": ((0.5, -1.0, 2 / 3), (0.5, 1.0, 2 / 3)),
    "skewed": ((0.75, 0.0, 1.0), (0.25, 1.5, 1 / 3)),
}


@dataclass(frozen=True, eq=False)
class ToyProblem:
    """A joint distribution of (x, y) with one output whose every part is known.

    ``y = location(x) + scale(x) e``, with e from a mixture of Gaussians.

    Parameters
    ----------
    name : str
    components : array (dz, dx)
        Orthonormal rows that span the sufficient subspace.
    inputs : callable
        From a ``Generator`` and n to X (n, dx).
    location, scale : callable
        From X (m, dx) to (m,).
    noise : tuple of (weight, mean, standard deviation)
        The Gaussians that e is drawn from.
    """

    name: str
    components: Array
    inputs: Callable[[np.random.Generator, int], Array]
    location: Callable[[Array], Array]
    scale: Callable[[Array], Array]
    noise: Noise

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[Array, Array]:
        """Draw ``X`` (n, dx) and ``y`` (n,)."""
        n = check_count("n_samples", n_samples, low=1)
        rng = check_rng(random_state)
        X = self.inputs(rng, n)
        return X, self.conditional(X).sample(1, random_state=rng)[:, 0]

    def conditional(self, X: Any) -> Mixture:
        """The true p(y|x) for the rows of ``X`` (m, dx)."""
        X, dx = np.asarray(X, dtype=float), self.components.shape[1]
        if X.ndim != 2 or X.shape[1] != dx:
            raise ValueError(f"X must have {dx} columns, got shape {X.shape}: pass rows as sampled")
        shift, scale = self.location(X)[:, None], self.scale(X)
        blocks = [
            Block(
                np.full((len(X), 1), np.log(weight)),
                centers=np.array([[mean]]),
                factor=np.array([[sd]]),
                shift=shift,
                scale=scale,
            )
            for weight, mean, sd in self.noise
        ]
        return Mixture(blocks)


def toy_a() -> ToyProblem:
    """``y = x1^2 + x2^2 + e``, e ~ N(0, 0.25^2), x ~ N(0, I_5): the paper's dataset (a), dz = 2."""
    return _standard_normal_toy("toy (a)", [0, 1], lambda X: X[:, 0] ** 2 + X[:, 1] ** 2)


def toy_b() -> ToyProblem:
    """``y = x2 + x2^2 + x2^3 + e``, otherwise as ``toy_a``: the paper's dataset (b), dz = 1."""
    return _standard_normal_toy("toy (b)", [1], lambda X: X[:, 1] + X[:, 1] ** 2 + X[:, 1] ** 3)


def illustrative(noise: str = "gaussian") -> ToyProblem:
    """``y = sinc(2 x1) + exp(1 - x1) / 8 e``, x1 ~ U(-1, 1) and four inputs of noise, dz = 1.

    ``sinc(t) = sin(pi t) / (pi t)``.  The noise is wide at the left end and narrow at the right.

    Parameters
    ----------
    noise : {"gaussian", "bimodal", "skewed"}, default="gaussian"
        What e is drawn from.

    Returns
    -------
    ToyProblem
    """
    kind = check_option("noise", noise, tuple(NOISES))

    def inputs(rng: np.random.Generator, n: int) -> Array:
        return np.column_stack([rng.uniform(-1.0, 1.0, n), rng.standard_normal((n, 4))])

    return ToyProblem(
        f"illustrative ({kind})",
        components=np.eye(5)[:1],
        inputs=inputs,
        location=lambda X: np.sinc(2.0 * X[:, 0]),
        scale=lambda X: np.exp(1.0 - X[:, 0]) / 8.0,
        noise=NOISES[kind],
    )


def _standard_normal_toy(
    name: str, used: list[int], location: Callable[[Array], Array]
) -> ToyProblem:
    return ToyProblem(
        name,
        components=np.eye(5)[used],
        inputs=lambda rng, n: rng.standard_normal((n, 5)),
        location=location,
        scale=lambda X: np.full(len(X), 0.25),
        noise=NOISES["gaussian"],
    )
