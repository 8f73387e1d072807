"""condensity: conditional densities p(y|x) and the few directions of x they depend on."""

from condensity import datasets, metrics
from condensity.core.mixture import ConditionalMixture
from condensity.estimators import LSCDE, LSCE, LSMI, EpsilonKDE

__all__ = ["LSCDE", "LSCE", "LSMI", "ConditionalMixture", "EpsilonKDE", "datasets", "metrics"]

__version__ = "0.1.0.dev0"
