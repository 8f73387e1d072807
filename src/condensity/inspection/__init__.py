"""What drives a fitted density, and how sure it is.

``importance`` compares losses on held-out samples before and after an input or a direction is
permuted.  ``slopes`` are derivatives of means, standard deviations, quantiles and probabilities
with respect to the inputs.  ``bootstrap`` fits a model again to resampled data, for intervals of
loadings and bands of densities.  ``member_band`` shows how far the members of a model differ.
"""

from condensity.inspection.density_bands import DensityBand, member_band
from condensity.inspection.input_slopes import Slopes, slopes
from condensity.inspection.permutation_importance import Importance, importance
from condensity.inspection.resampling import Bootstrap, bootstrap

__all__ = [
    "Bootstrap",
    "DensityBand",
    "Importance",
    "Slopes",
    "bootstrap",
    "importance",
    "member_band",
    "slopes",
]
