"""Calibration of the densities at test samples.

If the densities are right, the PIT ``F(y|x)`` is uniform, and regions of probability q contain the
share q of the samples.  Each bar and each point has a pointwise band: it lies within the band with
probability 0.95 if the densities are right.

References
----------
.. [1] T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation,"
   Journal of the American Statistical Association 102(477), 2007.
.. [2] R. J. Hyndman, "Computing and graphing highest density regions," The American Statistician
   50(2), 1996.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binom

from condensity import metrics
from condensity._typing import Array
from condensity._utils.numerics import row_blocks
from condensity.distributions.base import Distribution
from condensity.explorer.encoded_arrays import PageData
from condensity.explorer.exported_model import ExportedModel

LEVELS = np.linspace(0.05, 0.95, 19)
BAND = 0.95
#: More samples would not change the plots visibly.
MAX_TEST_SAMPLES = 2000


def calibration(
    model: ExportedModel,
    X: Array,
    Y: Array,
    rng: np.random.Generator,
    step: Callable[[], None] = lambda: None,
) -> PageData:
    """Histograms and coverage for each output, at test samples ``X`` (n, dx), ``Y`` (n, dy).

    ``step`` is called after each block of samples.
    """
    if len(X) > MAX_TEST_SAMPLES:
        rows = np.sort(rng.choice(len(X), MAX_TEST_SAMPLES, replace=False))
        X, Y = X[rows], Y[rows]
    chunks = []
    for part in row_blocks(len(X), 64 * model.width):
        chunks.append(_evaluate(model.at(X[part]), Y[part]))
        step()
    pit, level, log_pdf = (np.concatenate(values) for values in zip(*chunks, strict=True))
    n = len(X)
    bins = int(np.clip(n // 12, 5, 20))
    return {
        "n": n,
        "log_score": float(log_pdf.mean()),
        "band": [binom.interval(BAND, n, 1 / bins)[i] / n * bins for i in (0, 1)],
        "nominal": LEVELS.tolist(),
        "nominal_band": [(binom.ppf(q, n, LEVELS) / n).tolist() for q in (0.025, 0.975)],
        "outputs": [_output(pit[:, j], level[:, j], bins) for j in range(Y.shape[1])],
    }


def calibration_steps(model: ExportedModel, n: int) -> int:
    """Number of blocks of ``n`` test samples."""
    return len(list(row_blocks(min(n, MAX_TEST_SAMPLES), 64 * model.width)))


def _evaluate(dist: Distribution, Y: Array) -> tuple[Array, Array, Array]:
    """PIT and level of the highest-density region through y, of each marginal; log density."""
    pairs = list(zip(dist.marginals(), Y.T, strict=True))
    pit = np.column_stack([metrics.pit(m, y) for m, y in pairs])
    level = np.column_stack([metrics.hpd_coverage(m, y) for m, y in pairs])
    return pit, level, np.maximum(dist.log_pdf(Y), -1e300)


def _output(pit: Array, level: Array, bins: int) -> dict[str, Any]:
    heights, _ = np.histogram(np.clip(pit, 0, 1), bins, range=(0, 1))
    central = np.abs(2 * pit - 1)
    return {
        "histogram": (heights / len(pit) * bins).tolist(),  # 1 if uniform
        "central": [float(np.mean(central <= q)) for q in LEVELS],
        "highest": [float(np.mean(level <= q)) for q in LEVELS],
    }
