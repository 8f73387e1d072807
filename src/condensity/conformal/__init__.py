"""Regions with guaranteed coverage, and recalibrated densities, for any density estimator."""

from condensity.conformal.conformal_estimator import Conformal
from condensity.conformal.conformal_regions import ConformalRegions
from condensity.conformal.recalibrated import (
    CalibratedModel,
    RecalibratedDistribution,
    calibrate,
)

__all__ = [
    "CalibratedModel",
    "Conformal",
    "ConformalRegions",
    "RecalibratedDistribution",
    "calibrate",
]
