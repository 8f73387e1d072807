"""The probabilities of frequent values, and a density of all other values."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from condensity._typing import Array, Indices
from condensity._utils.parallel import one_blas_thread
from condensity._utils.parameters import check_part, check_rng
from condensity._utils.seeds import fill_seeds
from condensity._utils.validation import (
    check_folds,
    check_inputs,
    check_sample,
    remember_inputs,
)
from condensity.data.resolution import RecordedValues
from condensity.distributions.base import Distribution
from condensity.estimators.density_estimator import ConditionalDensityEstimator
from condensity.estimators.lsce import LSCE
from condensity.estimators.two_steps import fit_part, splits
from condensity.targets.atom_samples import class_of, labelled_sample
from condensity.targets.class_probabilities import ClassProbabilities, fit_class_probabilities
from condensity.targets.mixed import MixedDistribution

#: Fewest distinct values beside the atoms: fewer have no density.
FEWEST_BESIDE = 10


class WithAtoms(ConditionalDensityEstimator):
    """Probabilities of frequent values, and a density of all other values.

    For targets such as rain, payments, burnt areas or capped prices: one value or a few have a
    probability of their own, and all other values a density.  The probabilities given x are a
    weighted average of the frequencies, a multinomial logistic regression and boosted trees.  The
    weights minimise the held-out log loss.  The density is fitted to the samples with other values.

    Parameters
    ----------
    density : None or estimator of conditional densities, default=None
        The estimator of the density beside the atoms.  None is ``LSCE()``.  Pass bounds to it if
        values cannot lie beyond an atom, such as ``LSCE(bounds=(None, 50))`` for prices capped at
        50; ``LSCE()`` tries a lower bound of 0 by itself.
    atoms : "auto" or sequence of float, default="auto"
        Values with a probability of their own.  "auto" takes all values with a share of more than
        five per cent, and of more than four samples, if there are at least ten other values.
    cv : int, splitter or iterable of splits, default=5
        Number of random folds for the probabilities, or splits that hold out every sample exactly
        once.  Given splits also replace the ``cv`` of the density.
    random_state : None, int, RandomState or Generator, default=None
        Seed for the folds, the trees, and for the density if it has ``random_state=None``.

    Attributes
    ----------
    atoms_ : ndarray of shape (K,)
        The atoms, in increasing order.
    density_ : estimator
        The density estimator, fitted to the samples with other values.
    cv_losses_ : dict of str to float
        Held-out log loss of the probabilities: of the frequencies, of both models, and of their
        average, which is slightly optimistic because its weights were chosen by it.
    model_weights_ : dict of str to float
        Weights of the frequencies and of the models in the average.
    n_features_in_ : int
        Number of inputs seen in ``fit``.
    feature_names_in_ : ndarray of shape (dx,)
        Names of the inputs, if ``fit`` was given a data frame.

    See Also
    --------
    LSCE : The default density.
    MixedDistribution : The answers.
    rounded : For counts and scores, all of whose values are frequent.

    References
    ----------
    .. [1] J. G. Cragg, "Some statistical models for limited dependent variables with application
       to the demand for durable goods," Econometrica 39(5), 1971.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity import LSCDE
    >>> from condensity.targets import WithAtoms
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> rain = np.where(X[:, 0] + rng.normal(size=200) > 0, np.exp(X[:, 1]), 0.0)
    >>> model = WithAtoms(LSCDE(), random_state=0).fit(X, rain)
    >>> model.atoms_
    array([0.])
    >>> dist = model.predict_dist([[-2.0, 0.0], [2.0, 0.0]])
    >>> dist.pmf(0.0) > 0.5  # is it more likely dry than wet?
    array([ True, False])
    """

    def __init__(
        self,
        density: Any = None,
        atoms: Any = "auto",
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.density = density
        self.atoms = atoms
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the probabilities of the atoms, and the density to all other values.

        Parameters
        ----------
        X : array-like of shape (n, dx)
            Inputs.
        y : array-like of shape (n,)
            Targets, of one output.
        sample_weight : array-like of shape (n,), default=None
            Weights; integer weights are equivalent to repeated samples.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        fold_rng, seed_rng = check_rng(self.random_state).spawn(2)
        density, seed = self._seeded_density(seed_rng)
        values, Y, weight, y_axes = check_sample(self, X, y, sample_weight)
        if y_axes == 2:
            _check_one_output(Y.shape[1])
        atoms = check_atoms(self.atoms, Y[:, 0], weight)
        label = class_of(Y[:, 0], atoms)
        beside = np.flatnonzero((label == len(atoms)) & (weight > 0))
        if len(atoms):
            _check_beside(Y[beside, 0], len(Y))
        folds = check_folds(self.cv, values, Y, weight)
        probabilities: ClassProbabilities | None = None
        losses: dict[str, float] = {}
        if len(atoms):
            sample, held_out = labelled_sample(values, Y, weight, atoms, folds, fold_rng)
            with one_blas_thread():
                probabilities, losses = fit_class_probabilities(sample, splits(held_out), seed)
        if not isinstance(folds, int):
            _set_folds(density, folds[beside])
        fitted = fit_part(density, values[beside], Y[beside, 0], weight[beside])
        remember_inputs(self, X)
        self.atoms_, self.density_ = atoms, fitted
        self.cv_losses_, self._probabilities = losses, probabilities
        self._y_axes = self._n_outputs = 1
        return self

    def _seeded_density(self, rng: np.random.Generator) -> tuple[Any, int]:
        """The estimator of the density, not fitted, and the seed of the trees."""
        density = LSCE() if self.density is None else self.density
        check_part("density", density, "predict_dist", "an estimator of conditional densities")

        def draw() -> int:
            return int(rng.integers(2**31))

        return fill_seeds(clone(density), draw), draw()

    @property
    def model_weights_(self) -> dict[str, float]:
        """Weights of the frequencies and of the models in the average."""
        check_is_fitted(self)
        if self._probabilities is None:
            return {}
        names = ["frequencies", *(m.name for m in self._probabilities.models)]
        return dict(zip(names, self._probabilities.weights, strict=True))

    def _inputs(self, X: Any) -> Array:
        check_is_fitted(self)
        return check_inputs(self, X)

    def _at(self, inputs: Array) -> Distribution:
        masses = np.empty((len(inputs), 0))
        if self._probabilities is not None:
            masses = self._probabilities(inputs)[:, :-1]
        return MixedDistribution(self.atoms_, masses, self.density_.predict_dist(inputs))

    @property
    def _width(self) -> int:
        return int(getattr(self.density_, "_width", 1))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "density_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def _check_one_output(count: int) -> None:
    """Raise an error if a table of targets has several columns, and warn if it has one."""
    if count != 1:
        raise ValueError(f"WithAtoms is for one output, got {count}: fit the outputs one by one")
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected: use y.ravel()",
        DataConversionWarning,
        stacklevel=3,
    )


def check_atoms(value: Any, y: Array, weight: Array) -> Array:
    """The atoms in increasing order, from the parameter ``atoms``."""
    if isinstance(value, str) and value == "auto":
        used = weight > 0
        atoms = RecordedValues.of(y[used], weight[used] / weight[used].sum()).atoms
        beside = y[used & (class_of(y, atoms) == len(atoms))]
        # Values that are all frequent are those of a score: none of them stands out.
        return atoms if len(np.unique(beside)) >= FEWEST_BESIDE else atoms[:0]
    try:
        atoms = np.array([float(v) for v in np.atleast_1d(value)])
    except (TypeError, ValueError):
        atoms = np.array([np.nan])
    if not np.isfinite(atoms).all() or len(np.unique(atoms)) < len(atoms):
        raise ValueError(f"atoms must be 'auto' or different finite numbers, got {value!r}")
    atoms = np.sort(atoms)
    absent = [a for a in atoms.tolist() if not np.any((y == a) & (weight > 0))]
    if absent:
        raise ValueError(
            f"y is never equal to the atom {absent[0]:g}, so its probability is unknown: leave it "
            "out, or round y first"
        )
    return atoms


def _check_beside(y: Array, n: int) -> None:
    """Raise an error if too few values are not atoms."""
    count = len(np.unique(y))
    if count < FEWEST_BESIDE:
        raise ValueError(
            f"y has {count} different values beside the atoms in {n} samples, too few for a "
            "density: pass fewer atoms, or fit LSCE to y and use condensity.targets.rounded"
        )


def _set_folds(density: Any, labels: Indices) -> None:
    """Give the density the folds of the caller, if it has folds."""
    if "cv" in density.get_params() and len(np.unique(labels)) > 1:
        density.set_params(cv=splits(labels))
