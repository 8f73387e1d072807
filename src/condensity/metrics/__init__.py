"""Losses and diagnostics of conditional densities and of subspaces."""

from condensity.metrics.calibration_tests import (
    CalibrationTest,
    christoffersen_test,
    kupiec_test,
    pit_test,
)
from condensity.metrics.group_coverage import reliability_by_group
from condensity.metrics.losses import crps, log_loss, squared_loss
from condensity.metrics.losses import squared_loss_by_row as squared_loss_by_row  # for other rooms
from condensity.metrics.probability_transforms import hpd_coverage, pit
from condensity.metrics.subspace_distance import subspace_error

__all__ = [
    "CalibrationTest",
    "christoffersen_test",
    "crps",
    "hpd_coverage",
    "kupiec_test",
    "log_loss",
    "pit",
    "pit_test",
    "reliability_by_group",
    "squared_loss",
    "subspace_error",
]
