"""condensity: conditional densities p(y|x) and the few directions of x they depend on."""

from condensity import conformal, datasets, distributions, metrics, scorers, tables, targets
from condensity._utils.composites import predict_dist
from condensity.cross_prediction import cross_val_predict_dist
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
from condensity.targets import WithAtoms

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
    "WithAtoms",
    "conformal",
    "cross_val_predict_dist",
    "datasets",
    "distributions",
    "load",
    "metrics",
    "predict_dist",
    "save",
    "scorers",
    "tables",
    "targets",
]

__version__ = "0.2.0.dev0"
