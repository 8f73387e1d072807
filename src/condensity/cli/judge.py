"""How a model does at rows that are new to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from condensity.core.kernels import Array
from condensity.estimators import LSCDE, EpsilonKDE
from condensity.metrics import squared_loss_by_row
from condensity.tablemodel import Verdict

LEVEL = 0.9
ROWS = 256  # asked at a time


def judge(model: Any, X: Array, Y: Array) -> Verdict:
    """The losses and the coverage of intervals at ``X`` (n, dx), ``Y`` (n, dy)."""
    starts = range(0, len(X), ROWS)
    parts = [_asked(model.predict_dist(X[s : s + ROWS]), Y[s : s + ROWS]) for s in starts]
    loss, log_loss, inside = (np.concatenate(values) for values in zip(*parts, strict=True))
    return Verdict(
        rows=len(X),
        error=float(loss.mean()),
        error_se=_standard_error(loss),
        log_loss=float(log_loss.mean()),
        log_loss_se=_standard_error(log_loss),
        coverage=tuple(float(share) for share in inside.mean(axis=0)),
    )


def compare(verdict: Verdict, train: tuple[Array, Array], test: tuple[Array, Array]) -> Verdict:
    """The verdict beside those of a density without reduction and of one without inputs."""
    X, Y = train
    y = Y[:, 0] if Y.shape[1] == 1 else Y
    plain = LSCDE(random_state=0).fit(X, y)
    # All samples are neighbours of each other: the density of y alone.
    alone = EpsilonKDE(epsilon=np.inf, random_state=0).fit(X, y)
    return replace(
        verdict,
        error_without_reduction=-plain.score(*test),
        error_without_inputs=-alone.score(*test),
    )


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
