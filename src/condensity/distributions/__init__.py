"""Conditional densities and every question that can be asked of them.

``predict_dist`` of an estimator returns a ``Distribution``.  Its methods are documented in that
class; the other classes implement it for densities in memory, for outputs with bounds, for very
many rows and for Dask collections.
"""

from condensity.distributions.base import Distribution
from condensity.distributions.block import Block
from condensity.distributions.bounded import BoundedMixture, Bounds
from condensity.distributions.chunked import ChunkedDistribution, mixture_of
from condensity.distributions.concatenated import ConcatenatedDistribution, concatenate_rows
from condensity.distributions.frozen import Frozen
from condensity.distributions.lazy import LazyDistribution
from condensity.distributions.mixture import Mixture

#: The name that the package exports beside its estimators.
ConditionalMixture = Mixture

__all__ = [
    "Block",
    "BoundedMixture",
    "Bounds",
    "ChunkedDistribution",
    "ConcatenatedDistribution",
    "ConditionalMixture",
    "Distribution",
    "Frozen",
    "LazyDistribution",
    "Mixture",
    "concatenate_rows",
    "mixture_of",
]
