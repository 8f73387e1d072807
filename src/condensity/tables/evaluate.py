"""How a model does at rows that are new to it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from condensity._typing import Array
from condensity.estimators import LSCE
from condensity.metrics import squared_loss_by_row
from condensity.tables.model import Verdict

LEVEL = 0.9
ROWS = 256  # asked at a time


@dataclass(frozen=True, eq=False)
class Losses:
    """What a model loses at each of some rows."""

    squared: Array  # (n,)
    log: Array  # (n,)
    inside: Array  # (n, dy) whether a value lies within its interval

    @classmethod
    def of(cls, model: Any, X: Array, Y: Array) -> Losses:
        """Of the densities of a model at ``X`` (n, dx), ``Y`` (n, dy)."""
        starts = range(0, len(X), ROWS)
        parts = [_asked(model.predict_dist(X[s : s + ROWS]), Y[s : s + ROWS]) for s in starts]
        return cls(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def verdict(self) -> Verdict:
        """Their means."""
        return Verdict(
            rows=len(self.squared),
            error=float(self.squared.mean()),
            error_se=_standard_error(self.squared),
            log_loss=float(self.log.mean()),
            log_loss_se=_standard_error(self.log),
            coverage=tuple(float(share) for share in self.inside.mean(axis=0)),
        )


def judge(model: Any, X: Array, Y: Array) -> Verdict:
    """The losses and the coverage of intervals at ``X`` (n, dx), ``Y`` (n, dy)."""
    return Losses.of(model, X, Y).verdict()


def compare(model: LSCE, train: tuple[Array, Array], test: tuple[Array, Array]) -> Verdict:
    """The verdict, beside those of the same estimator with all directions and with no inputs.

    Bounds and the floor under kernels are as the model has them: where y repeats values, losses
    tell how narrow kernels may be before they tell anything else.
    """
    own = Losses.of(model, *test)
    verdict, dx = own.verdict(), train[0].shape[1]
    if dx > 1:
        whole = _fitted(model, *train, n_components=dx)
        loss = Losses.of(whole, *test).squared
        verdict = replace(
            verdict,
            error_without_reduction=float(loss.mean()),
            reduction_se=_standard_error(loss - own.squared),
        )
    # One input that tells nothing: two values dealt at random.
    told, asked = (_coins(len(Y)) for _, Y in (train, test))
    alone = _fitted(model, told, train[1], n_components=1, location="none")
    loss = Losses.of(alone, asked, test[1]).squared
    return replace(
        verdict,
        error_without_inputs=float(loss.mean()),
        inputs_se=_standard_error(loss - own.squared),
    )


def _coins(n: int) -> Array:
    """As many zeros as ones, in random order: (n, 1)."""
    return np.random.default_rng(0).permutation(np.arange(n) % 2.0)[:, None]


def _fitted(model: LSCE, X: Array, Y: Array, **settings: Any) -> LSCE:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say was said of the model itself
        other: LSCE = clone(model).set_params(verbose=0, **settings)
        return other.fit(X, Y[:, 0] if Y.shape[1] == 1 else Y)


def _asked(dist: Any, Y: Array) -> tuple[Array, Array, Array]:
    ends = [m.interval(LEVEL) for m in marginals(dist)]
    pairs = zip(ends, Y.T, strict=True)
    inside = np.column_stack([(e[:, 0] <= y) & (y <= e[:, 1]) for e, y in pairs])
    return squared_loss_by_row(dist, Y), -dist.log_pdf(Y), inside


def marginals(dist: Any) -> list[Any]:
    """The densities of each output alone."""
    if dist.n_outputs == 1:
        return [dist]
    return [dist.marginal(j) for j in range(dist.n_outputs)]


def _standard_error(values: Array) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
