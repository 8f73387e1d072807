"""The methods of the experiments: a reducer, then a density on what it leaves.

A reducer gives one subspace for every number of directions; each density chooses among them by
its own cross-validation, as in the paper's Table 2.  W has seen all samples by then: the paper does
it so, and it flatters reduction.  The default LSCE cross-fits, and needs no one after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from condensity._typing import Array, Indices
from condensity.distributions.block import Block
from condensity.distributions.mixture import Mixture
from condensity.estimators import LSCDE, LSCE, LSMI, SAVE, SIR, EpsilonKDE
from condensity.experiments.problems import Data
from condensity.metrics import squared_loss, subspace_error

#: With all samples as centres, as in the paper; searches over subspaces make do with 200.
DENSITIES: dict[str, Callable[[int], Any]] = {
    "LSCDE": lambda n: LSCDE(n_centers=n),
    "ε-KDE": lambda n: EpsilonKDE(),
}
#: Models draw their starts with seeds beyond those of any sample, or starts would be samples.
MODEL_SEEDS = 20_000
#: The default of this library, with the density that it finds on the way.
OURS = "LSCE()"
#: The same with kernels of y as narrow as they pay: what the others may do with repeated values.
FLOORLESS = "LSCE(min_bandwidth=0)"
#: A linear regression with Gaussian residuals: what a density has to beat to be worth it.
LINEAR = "Linear"
#: What learns directions, by the number of these; "None" and "True" need not.
REDUCERS: dict[str, Callable[[Any], Any]] = {
    "SIR": lambda dz: SIR(n_components=dz),
    "SAVE": lambda dz: SAVE(n_components=dz),
    "LSMI": LSMI,
    "LSCE": LSCE.as_published,
    OURS: LSCE,
    FLOORLESS: partial(LSCE, min_bandwidth=0),
}
N_FOLDS = 5
#: Random starts of a search over subspaces, when there is no time.
QUICK_STARTS = 2


def evaluate(method: str, data: Data, seed: int, *, quick: bool = False) -> dict[str, Any]:
    """Fit a method to the training samples; for each density its error on the test samples.

    The number of directions is the true one, where it is known.
    """
    if method == LINEAR:
        return {"Gaussian": {"Error_CDE": _linear_gaussian(data)}}
    dz, seed = None if data.W is None else len(data.W), MODEL_SEEDS + seed
    whole, subspaces = _reduce(method, data, seed, dz, quick=quick)
    results = {}
    if whole is not None:
        own = whole.components_ / _units(data)
        results["own"] = _judge(whole, data, data.X_test, own)
    if method in (OURS, FLOORLESS):
        return results
    folds = folds_of(data, seed)  # numbers of directions are compared on the same ones
    for name, make in DENSITIES.items():
        density = make(len(data.X)).set_params(cv=folds, random_state=seed)
        fits = [clone(density).fit(_project(data.X, W), data.Y) for W in subspaces]
        best = int(np.argmax([fit.cv_results_["mean_test_score"].max() for fit in fits]))
        W = subspaces[best]
        results[name] = _judge(fits[best], data, _project(data.X_test, W), W)
    return results


def folds_of(data: Data, seed: int) -> list[tuple[Indices, Indices]]:
    """Random folds in which equal samples stay together, or each would explain its twins."""
    twins = np.unique(np.hstack([data.X, data.Y]), axis=0, return_inverse=True)[1].ravel()
    dealt = GroupKFold(N_FOLDS, shuffle=True, random_state=seed)
    return list(dealt.split(data.X, groups=twins))


def _reduce(
    method: str, data: Data, seed: int, dz: int | None, *, quick: bool
) -> tuple[Any, list[Array]]:
    """A model with a density of its own, if it is one, and subspaces (., dx) of raw inputs."""
    units = _units(data)
    if method == "None":
        return None, [np.diag(1 / units)]
    if method == "True":
        assert data.W is not None
        return None, [data.W]
    if method in ("SIR", "SAVE"):
        varying = int((np.ptp(data.X, axis=0) > 0).sum())
        tried = [dz] if dz else range(1, varying + 1)
        return None, [W / units for W in _sliced(method, data, tried)]
    model = REDUCERS[method](dz or "auto").set_params(random_state=seed)
    if quick:
        model.set_params(n_starts=QUICK_STARTS)
    model.fit(data.X, data.Y)
    learned = [] if method in (OURS, FLOORLESS) else model.subspaces_
    subspaces = [level(W / units, data.X) for W in learned]
    return (None if method == "LSMI" else model), subspaces


def level(W: Array, X: Array) -> Array:
    """Directions of the same subspace, turned so that ``z = W x`` varies alike in all of them.

    Densities standardise their inputs.  What they make of a subspace shall not depend on the basis
    that it came with, nor change its metric: in this one standardising divides by one number.
    """
    S, turned = np.atleast_2d(np.cov(X @ W.T, rowvar=False, ddof=0)), W.copy()
    share = np.trace(S) / len(W)
    for i in range(len(W) - 1):
        # What is left varies by its share on average: some other has less where this one has more.
        above = np.diagonal(S)[i + 1 :] > share
        j = i + 1 + int(np.argmax(above != (S[i, i] > share)))
        a, b, c = S[j, j] - share, S[i, j], S[i, i] - share
        root = np.sqrt(max(b * b - a * c, 0.0))
        slope = -c / (b + np.copysign(root, b)) if b or root else 0.0
        R = np.eye(len(W))
        R[[i, j], [i, j]] = cos = 1.0 / np.hypot(1.0, slope)
        R[i, j], R[j, i] = slope * cos, -slope * cos
        S, turned = R @ S @ R.T, R @ turned
    return turned


def _project(X: Array, W: Array) -> Array:
    """``z = W x``, equal to the last bit where x is: a density has to know its twins."""
    distinct, which = np.unique(X, axis=0, return_inverse=True)
    return np.asarray((distinct @ W.T)[which.ravel()])


def _sliced(method: str, data: Data, dimensions: Iterable[int]) -> list[Array]:
    found = []
    for dz in dimensions:
        try:
            found.append(REDUCERS[method](dz).fit(data.X, data.Y).components_)
        except ValueError:
            if not found:
                raise
            break  # what was fine with fewer is too many: a y of few values tells no more
    return found


def _linear_gaussian(data: Data) -> float:
    """Error_CDE of ``N(B x, S)``, least squares and the covariance of what they leave."""
    A, A_test = (np.column_stack([X, np.ones(len(X))]) for X in (data.X, data.X_test))
    B = np.linalg.lstsq(A, data.Y, rcond=None)[0]
    left, dy = data.Y - A @ B, data.Y.shape[1]
    factor = np.linalg.cholesky(left.T @ left / (len(A) - A.shape[1]))
    block = Block(np.zeros((len(A_test), 1)), np.zeros((1, dy)), factor, shift=A_test @ B)
    return data.unit * float(squared_loss(Mixture([block]), data.Y_test))


def _units(data: Data) -> Array:
    """What inputs are divided by to be standardised, (dx,)."""
    sd: Array = data.X.std(axis=0)
    return np.where(np.ptp(data.X, axis=0) > 0, sd, 1.0)


def _judge(model: Any, data: Data, X_test: Array, W: Array) -> dict[str, Any]:
    """Error_CDE in the paper's unit, what was chosen and, where it is known, Error_DR."""
    loss = data.unit * squared_loss(model.predict_dist(X_test), data.Y_test)
    results: dict[str, Any] = {"Error_CDE": float(loss), "dz": len(W)}
    for name in ("bandwidth_", "penalty_", "epsilon_"):
        if hasattr(model, name):
            value = np.asarray(getattr(model, name))
            # An epsilon without end is everyone's neighbourhood; JSON has no number for it.
            results[name.strip("_")] = value.tolist() if np.isfinite(value).all() else str(value)
    if data.W is not None:
        results["Error_DR"] = float(subspace_error(W, data.W))
    return results
