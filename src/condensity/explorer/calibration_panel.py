"""Whether the densities tell the truth about samples they have not seen.

If they do, the PIT ``F(y|x)`` is uniform, and regions of probability q hold the share q of the
samples.  Bands are where 95 % of the samples of this size would put each bar and each point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import binom

from condensity import metrics
from condensity._typing import Array
from condensity._utils.numerics import row_blocks
from condensity.distributions.base import Distribution
from condensity.explorer.exported_model import Readable

LEVELS = np.linspace(0.05, 0.95, 19)
BAND = 0.95
#: Samples beyond this many would not change the picture.
MOST = 2000


def calibration(model: Readable, X: Array, Y: Array, rng: np.random.Generator) -> dict[str, Any]:
    """Histograms and coverage for each output, at test samples ``X`` (n, dx), ``Y`` (n, dy)."""
    rows = np.arange(len(X)) if len(X) <= MOST else np.sort(rng.choice(len(X), MOST, replace=False))
    X, Y = X[rows], Y[rows]
    blocks = [_judge(model.at(X[part]), Y[part]) for part in row_blocks(len(X), 64 * model.width)]
    pit, level, log_pdf = (np.concatenate(values) for values in zip(*blocks, strict=True))
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


def _judge(dist: Distribution, Y: Array) -> tuple[Array, Array, Array]:
    """PIT and level of the highest-density region that ends at y, of each marginal; log p."""
    pairs = list(zip(dist.marginals(), Y.T, strict=True))
    pit = np.column_stack([metrics.pit(m, y) for m, y in pairs])
    level = np.column_stack([metrics.hpd_coverage(m, y) for m, y in pairs])
    return pit, level, np.maximum(dist.log_pdf(Y), -1e300)


def _output(pit: Array, level: Array, bins: int) -> dict[str, Any]:
    heights, _ = np.histogram(np.clip(pit, 0, 1), bins, range=(0, 1))
    central = np.abs(2 * pit - 1)
    return {
        "histogram": (heights / len(pit) * bins).tolist(),  # 1 where uniform
        "central": [float(np.mean(central <= q)) for q in LEVELS],
        "highest": [float(np.mean(level <= q)) for q in LEVELS],
    }
