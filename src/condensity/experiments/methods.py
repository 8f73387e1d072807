"""The methods of the experiments: a reducer, then a density estimator on the reduced inputs.

A reducer gives one subspace for every number of directions.  Each density estimator selects one of
them by its own cross-validation, as in the paper's Table 2.  The subspaces were learned from all
samples, including the held-out ones.  This favours dimension reduction.  LSCE as published, with
its own density, repeats its search without each fold.  The default LSCE uses cross-fitting.

The problems give inputs and outputs in the unit of the paper's kernels.  Density estimators
therefore do not scale them again.
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


class AllSubspaces(LSMI):
    """LSMI for its ``subspaces_`` alone: the density estimators select the number of directions."""

    _selects_dimension = False


#: Density estimators with all samples as centres, as in the paper.
DENSITIES: dict[str, Callable[[int], Any]] = {
    "LSCDE": lambda n: LSCDE(n_centers=n, scaling="none"),
    "ε-KDE": lambda n: EpsilonKDE(scaling="none"),
}
#: Offset of the seeds of models, so that their random starts differ from the samples.
MODEL_SEEDS = 20_000
#: The default LSCE of this library, with its own density.
OURS = "LSCE()"
#: The same without a floor for the bandwidth of y, which the other methods do not have either.
FLOORLESS = "LSCE(min_bandwidth=0)"
#: A linear regression with Gaussian residuals, the baseline.
LINEAR = "Linear"
#: Reducers, as functions of the number of directions; "None" and "True" need none.
REDUCERS: dict[str, Callable[[Any], Any]] = {
    "SIR": lambda dz: SIR(n_components=dz),
    "SAVE": lambda dz: SAVE(n_components=dz),
    "LSMI": AllSubspaces,
    "LSCE": LSCE.as_published,
    OURS: LSCE,
    FLOORLESS: partial(LSCE, min_bandwidth=0),
}
N_FOLDS = 5
#: Number of random starts of a subspace search in quick runs.
QUICK_STARTS = 2


def evaluate(method: str, data: Data, seed: int, *, quick: bool = False) -> dict[str, Any]:
    """Fit a method to the training samples; return the test error for each density.

    If the true number of directions is known, it is used.
    """
    if method == LINEAR:
        return {"Gaussian": {"Error_CDE": _linear_gaussian(data)}}
    dz, seed = None if data.W is None else len(data.W), MODEL_SEEDS + seed
    model, subspaces = _reduce(method, data, seed, dz, quick=quick)
    results = {}
    if model is not None:
        (W,) = (W for W in subspaces if len(W) == model.n_components_)
        results["own"] = _results(model, data, data.X_test, W)
    if method in (OURS, FLOORLESS):
        return results
    folds = folds_of(data, seed)  # the same for all numbers of directions
    for name, make in DENSITIES.items():
        density = make(len(data.X)).set_params(cv=folds, random_state=seed)
        fits = [clone(density).fit(_project(data.X, W), data.Y) for W in subspaces]
        best = int(np.argmax([fit.cv_results_["mean_test_score"].max() for fit in fits]))
        W = subspaces[best]
        results[name] = _results(fits[best], data, _project(data.X_test, W), W)
    return results


def folds_of(data: Data, seed: int) -> list[tuple[Indices, Indices]]:
    """Random folds; equal samples are in the same fold, so that none predicts its duplicates."""
    groups = np.unique(np.hstack([data.X, data.Y]), axis=0, return_inverse=True)[1].ravel()
    splitter = GroupKFold(N_FOLDS, shuffle=True, random_state=seed)
    return list(splitter.split(data.X, groups=groups))


def _reduce(
    method: str, data: Data, seed: int, dz: int | None, *, quick: bool
) -> tuple[Any, list[Array]]:
    """The fitted model if it has a density, else None; and subspaces, orthonormal rows (., dx)."""
    if method == "None":
        return None, [np.eye(data.X.shape[1])]
    if method == "True":
        assert data.W is not None
        return None, [data.W]
    if method in ("SIR", "SAVE"):
        varying = int((np.ptp(data.X, axis=0) > 0).sum())
        dimensions = [dz] if dz else range(1, varying + 1)
        return None, [_unscaled(W, data) for W in _sliced(method, data, dimensions)]
    model = REDUCERS[method](dz or "auto").set_params(random_state=seed)
    if quick:
        model.set_params(n_starts=QUICK_STARTS)
    if method in (OURS, FLOORLESS):
        model.fit(data.X, data.Y)
        return model, [_unscaled(model.components_, data)]
    subspaces = model.set_params(scaling=data.scaling).fit(data.X, data.Y).subspaces_
    if data.scaling == "variance":
        subspaces = [_unscaled(W, data) for W in subspaces]
    return (None if method == "LSMI" else model), subspaces


def _project(X: Array, W: Array) -> Array:
    """``z = W x``, computed so that equal x give bit-identical z: duplicates must stay equal."""
    distinct, which = np.unique(X, axis=0, return_inverse=True)
    return np.asarray((distinct @ W.T)[which.ravel()])


def _sliced(method: str, data: Data, dimensions: Iterable[int]) -> list[Array]:
    """Subspaces of SIR or SAVE, up to the largest number of directions that y allows."""
    subspaces = []
    for dz in dimensions:
        try:
            subspaces.append(REDUCERS[method](dz).fit(data.X, data.Y).components_)
        except ValueError:
            if not subspaces:
                raise
            break  # a y with few values has few slices, which limit the number of directions
    return subspaces


def _linear_gaussian(data: Data) -> float:
    """Error_CDE of ``N(B x, S)``: least squares, and the covariance of the residuals."""
    A, A_test = (np.column_stack([X, np.ones(len(X))]) for X in (data.X, data.X_test))
    B = np.linalg.lstsq(A, data.Y, rcond=None)[0]
    residuals, dy = data.Y - A @ B, data.Y.shape[1]
    factor = np.linalg.cholesky(residuals.T @ residuals / (len(A) - A.shape[1]))
    block = Block(np.zeros((len(A_test), 1)), np.zeros((1, dy)), factor, shift=A_test @ B)
    return data.unit * float(squared_loss(Mixture([block]), data.Y_test))


def _unscaled(W: Array, data: Data) -> Array:
    """Orthonormal basis of the subspace that ``W`` (dz, dx) spans for standardised inputs."""
    sd: Array = data.X.std(axis=0)
    W = W / np.where(np.ptp(data.X, axis=0) > 0, sd, 1.0)
    return np.asarray(np.linalg.qr(W.T)[0].T)


def _results(model: Any, data: Data, X_test: Array, W: Array) -> dict[str, Any]:
    """Error_CDE in the paper's unit, the selected settings, and Error_DR if the truth is known."""
    loss = data.unit * squared_loss(model.predict_dist(X_test), data.Y_test)
    results: dict[str, Any] = {"Error_CDE": float(loss), "dz": len(W)}
    for name in ("bandwidth_", "penalty_", "epsilon_"):
        if hasattr(model, name):
            value = np.asarray(getattr(model, name))
            # An infinite epsilon makes all samples neighbours; JSON has no number for it.
            results[name.strip("_")] = value.tolist() if np.isfinite(value).all() else str(value)
    if data.W is not None:
        results["Error_DR"] = float(subspace_error(W, data.W))
    return results
