"""Pictures of conditional densities, with matplotlib (``pip install 'condensity[plots]'``).

Displays in scikit-learn's manner: ``from_estimator`` or ``from_predictions`` computes and draws,
the constructor takes what was computed, ``plot`` draws it again.  Each keeps ``ax_`` and
``figure_``.
"""

from condensity.plots.calibration_display import CalibrationDisplay
from condensity.plots.density_display import ConditionalDensityDisplay, plot_density
from condensity.plots.fan_display import FanDisplay
from condensity.plots.loadings_display import LoadingsDisplay
from condensity.plots.path_display import PathDisplay
from condensity.plots.summary_display import SufficientSummaryDisplay

__all__ = [
    "CalibrationDisplay",
    "ConditionalDensityDisplay",
    "FanDisplay",
    "LoadingsDisplay",
    "PathDisplay",
    "SufficientSummaryDisplay",
    "plot_density",
]
