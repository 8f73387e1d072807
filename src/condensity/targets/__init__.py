"""Targets that are not continuous: values with a probability of their own, counts and scores.

``WithAtoms`` fits the probabilities of frequent values and a density of all other values.  Its
answers are ``MixedDistribution``.  ``rounded`` turns the density of a count or a score into
probabilities of its values.
"""

from condensity.targets.mixed import MixedDistribution
from condensity.targets.rounding import rounded
from condensity.targets.with_atoms import WithAtoms

__all__ = ["MixedDistribution", "WithAtoms", "rounded"]
