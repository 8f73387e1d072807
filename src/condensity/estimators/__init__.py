"""Estimators in the shape scikit-learn expects; they hold no formulae."""

from condensity.estimators.epsilon_kde import EpsilonKDE
from condensity.estimators.fixed_subspace import FixedSubspace
from condensity.estimators.lscde import LSCDE
from condensity.estimators.lsce import LSCE
from condensity.estimators.lsmi import LSMI
from condensity.estimators.reduced import Reduced
from condensity.estimators.spectral import OPG, SAVE, SIR, DirectionalRegression

__all__ = [
    "LSCDE",
    "LSCE",
    "LSMI",
    "OPG",
    "SAVE",
    "SIR",
    "DirectionalRegression",
    "EpsilonKDE",
    "FixedSubspace",
    "Reduced",
]
