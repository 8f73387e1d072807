"""Estimators in the shape scikit-learn expects; they hold no formulae."""

from condensity.estimators.lscde import LSCDE
from condensity.estimators.lsce import LSCE

__all__ = ["LSCDE", "LSCE"]
