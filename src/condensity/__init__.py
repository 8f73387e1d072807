"""condensity: conditional densities p(y|x) and the few directions of x they depend on."""

from condensity import datasets, distributions, metrics, scorers, tables
from condensity.distributions import ConditionalMixture
from condensity.estimators import (
    LSCDE,
    LSCE,
    LSMI,
    OPG,
    SAVE,
    SIR,
    DirectionalRegression,
    EpsilonKDE,
    FixedSubspace,
    Reduced,
)
from condensity.io.persistence import load, save

__all__ = [
    "LSCDE",
    "LSCE",
    "LSMI",
    "OPG",
    "SAVE",
    "SIR",
    "ConditionalMixture",
    "DirectionalRegression",
    "EpsilonKDE",
    "FixedSubspace",
    "Reduced",
    "datasets",
    "distributions",
    "load",
    "metrics",
    "save",
    "scorers",
    "tables",
]

__version__ = "0.1.0.dev0"
