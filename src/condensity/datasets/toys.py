"""Toy problems with known truth: sufficient subspace and conditional density.

In every problem ``y = m(z) + s(z) e``, where e has a mixture of Gaussians as its distribution.  The
true conditional density is therefore a ``Mixture``, and samples of y are drawn from it.
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
    """Joint distribution of (x, y) with known subspace and known conditional density.

    ``y = location(x) + scale(x) e``, where e has a mixture of Gaussians as its distribution.  There
    is one output.

    Parameters
    ----------
    name : str
        Name of the problem.
    components : ndarray of shape (dz, dx)
        Orthonormal rows that span the sufficient subspace.
    inputs : callable
        Function from a ``Generator`` and n to inputs of shape (n, dx).
    location : callable
        Function from inputs of shape (m, dx) to locations of shape (m,).
    scale : callable
        Function from inputs of shape (m, dx) to scales of shape (m,).
    noise : tuple of (weight, mean, standard deviation)
        The Gaussian components of the distribution of e.

    See Also
    --------
    toy_a : The paper's dataset (a).
    toy_b : The paper's dataset (b).
    illustrative : A problem whose noise depends on the input.

    Examples
    --------
    >>> from condensity.datasets import toy_a
    >>> problem = toy_a()
    >>> X, y = problem.sample(100, random_state=0)
    >>> X.shape, y.shape, problem.components.shape
    ((100, 5), (100,), (2, 5))
    >>> problem.conditional(X[:3]).mean().shape
    (3,)
    """

    name: str
    components: Array
    inputs: Callable[[np.random.Generator, int], Array]
    location: Callable[[Array], Array]
    scale: Callable[[Array], Array]
    noise: Noise

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[Array, Array]:
        """Independent samples of (x, y).

        Parameters
        ----------
        n_samples : int
            Number of samples n.
        random_state : None, int, RandomState or Generator, default=None
            Source of randomness.

        Returns
        -------
        X : ndarray of shape (n, dx)
            Inputs.
        y : ndarray of shape (n,)
            Outputs.
        """
        n = check_count("n_samples", n_samples, low=1)
        rng = check_rng(random_state)
        X = self.inputs(rng, n)
        return X, self.conditional(X).sample(1, random_state=rng)[:, 0]

    def conditional(self, X: Any) -> Mixture:
        """True conditional densities p(y | x_i).

        Parameters
        ----------
        X : array-like of shape (m, dx)
            Inputs.

        Returns
        -------
        Mixture
            The densities of the m rows.

        Raises
        ------
        ValueError
            If X does not have dx columns.
        """
        X, dx = np.asarray(X, dtype=float), self.components.shape[1]
        if X.ndim != 2 or X.shape[1] != dx:
            raise ValueError(f"X must have {dx} columns, got shape {X.shape}: pass all inputs")
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
    """The paper's artificial dataset (a), with five inputs and a subspace of two dimensions.

    ``y = x1^2 + x2^2 + e`` with x ~ N(0, I_5) and e ~ N(0, 0.25^2).

    Returns
    -------
    ToyProblem
        The problem, with ``sample`` and ``conditional``.

    See Also
    --------
    toy_b : The paper's dataset (b).

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

    Examples
    --------
    >>> from condensity.datasets import toy_a
    >>> X, y = toy_a().sample(200, random_state=0)
    >>> X.shape
    (200, 5)
    """
    return _standard_normal_toy("toy (a)", [0, 1], lambda X: X[:, 0] ** 2 + X[:, 1] ** 2)


def toy_b() -> ToyProblem:
    """The paper's artificial dataset (b), with five inputs and a subspace of one dimension.

    ``y = x2 + x2^2 + x2^3 + e`` with x ~ N(0, I_5) and e ~ N(0, 0.25^2).

    Returns
    -------
    ToyProblem
        The problem, with ``sample`` and ``conditional``.

    See Also
    --------
    toy_a : The paper's dataset (a).

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

    Examples
    --------
    >>> from condensity.datasets import toy_b
    >>> toy_b().components
    array([[0., 1., 0., 0., 0.]])
    """
    return _standard_normal_toy("toy (b)", [1], lambda X: X[:, 1] + X[:, 1] ** 2 + X[:, 1] ** 3)


def illustrative(noise: str = "gaussian") -> ToyProblem:
    """Problem with one relevant input whose noise becomes narrower from left to right.

    ``y = sinc(2 x1) + exp(1 - x1) / 8 e`` with x1 ~ U(-1, 1) and
    ``sinc(t) = sin(pi t) / (pi t)``.  Four further inputs are standard normal and irrelevant.

    Parameters
    ----------
    noise : {"gaussian", "bimodal", "skewed"}, default="gaussian"
        Distribution of e.

    Returns
    -------
    ToyProblem
        The problem, with ``sample`` and ``conditional``.

    See Also
    --------
    toy_a : The paper's dataset (a).
    toy_b : The paper's dataset (b).

    References
    ----------
    .. [1] V. Tangkaratt, N. Xie, M. Sugiyama, "Conditional density estimation with dimensionality
       reduction via squared-loss conditional entropy minimization," Neural Computation 27(1), 2015.

    Examples
    --------
    >>> from condensity.datasets import illustrative
    >>> dist = illustrative("bimodal").conditional([[0.0] * 5])
    >>> dist.modes()[0].shape
    (2,)
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
