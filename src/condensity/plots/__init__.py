"""Plots of conditional densities, with matplotlib (the extra ``plots``).

The displays follow scikit-learn: ``from_estimator`` or ``from_predictions`` computes and draws, the
constructor takes computed values, and ``plot`` draws them again.  Each display stores its axes as
``ax_`` and its figure as ``figure_``.
"""

from condensity.plots.band_display import DensityBandDisplay
from condensity.plots.calibration_display import CalibrationDisplay
from condensity.plots.density_display import ConditionalDensityDisplay, plot_density
from condensity.plots.fan_display import FanDisplay
from condensity.plots.importance_display import ImportanceDisplay
from condensity.plots.loadings_display import LoadingsDisplay
from condensity.plots.path_display import PathDisplay
from condensity.plots.slopes_display import SlopesDisplay
from condensity.plots.summary_display import SufficientSummaryDisplay

__all__ = [
    "CalibrationDisplay",
    "ConditionalDensityDisplay",
    "DensityBandDisplay",
    "FanDisplay",
    "ImportanceDisplay",
    "LoadingsDisplay",
    "PathDisplay",
    "SlopesDisplay",
    "SufficientSummaryDisplay",
    "plot_density",
]
