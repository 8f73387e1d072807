"""Permutation importance of inputs and directions for a density and its properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity._typing import Array, Indices
from condensity._utils.composites import predict_dist
from condensity._utils.parameters import check_count, check_rng
from condensity._utils.validation import check_same_length, check_targets, check_weight
from condensity.distributions.base import Distribution
from condensity.inspection.functionals import Property
from condensity.inspection.permutations import Permuted, PermutedDirections, PermutedInputs


@dataclass(frozen=True, eq=False)
class Importance:
    """Increase of a loss when inputs or directions are permuted.

    Parameters
    ----------
    names : list of str
        Names of the inputs, groups of inputs, or directions.
    increase : ndarray of shape (k,)
        Mean increase of the loss.  Zero or less: no information about this property that the model
        uses.
    std_error : ndarray of shape (k,)
        Standard errors of these means over the samples, paired: of the difference of the two losses
        at the same sample.
    loss : float
        Mean loss without permutation.
    of : str
        The property in words.
    unit : str
        The unit of the loss.

    See Also
    --------
    importance : Computes it.
    condensity.plots.ImportanceDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.inspection import Importance
    >>> found = Importance(["a", "b"], np.array([0.1, 0.5]), np.full(2, 0.02), 1.0, "mean", "y^2")
    >>> found.ranking()
    ['b', 'a']
    """

    names: list[str]
    increase: Array
    std_error: Array
    loss: float
    of: str
    unit: str

    def ranking(self) -> list[str]:
        """Names by decreasing importance.

        Returns
        -------
        list of str
            The names.
        """
        return [self.names[j] for j in np.argsort(-self.increase, kind="stable")]


#: Units of the losses.
UNITS = {"density": "nats", "mean": "y^2", "spread": "nats", "quantile": "y", "above": "1"}


def importance(
    estimator: Any,
    X: Any,
    y: Any,
    of: Any = "density",
    *,
    directions: bool = False,
    groups: Mapping[str, Any] | None = None,
    output: int | None = None,
    n_repeats: int = 10,
    sample_weight: Any = None,
    random_state: Any = None,
) -> Importance:
    """Permutation importance of every input or direction for one property of the density.

    The values of one input are exchanged between the samples, all else stays, and the densities are
    predicted again.  The importance is the increase of a proper loss of the property.  With samples
    that the model was not fitted to, it is what the model loses without this input.  With training
    samples, inputs to which the model is overfitted seem important.

    Parameters
    ----------
    estimator : estimator
        Fitted density estimator, or a pipeline or search that ends in one.
    X : array-like of shape (m, dx)
        Inputs of samples that the estimator was not fitted to.
    y : array-like of shape (m,) or (m, dy)
        Outputs of these samples.
    of : str or (str, float), default="density"
        The property: "density" (log loss), "mean" (squared error), "spread" (log loss of the normal
        distribution whose mean is that before the permutation, so that only the standard deviation
        counts), ("quantile", level) (pinball loss) or ("above", threshold) (Brier score of
        P(y > threshold)).
    directions : bool, default=False
        Whether the directions z of the model are permuted instead of the inputs.  The other
        directions stay, and so does everything else.  A last entry shows what the model loses if
        everything but the directions is permuted: near zero if they carry all that the density
        uses.
    groups : mapping of str to sequence, default=None
        Names of groups, each with the numbers or names of columns that are permuted together, such
        as the columns of one category or of inputs that measure the same.
    output : None or int, default=None
        Index of the output.  Only "density" may have None with several outputs: the joint density.
    n_repeats : int, default=10
        Number of permutations.
    sample_weight : array-like of shape (m,), default=None
        Weights of the samples in the mean.
    random_state : None, int, RandomState or Generator, default=None
        Seed of the permutations.

    Returns
    -------
    Importance
        Mean increase of the loss for each input or direction, with standard errors.

    See Also
    --------
    slopes : Derivatives, which show in which direction an input acts.
    condensity.plots.ImportanceDisplay : Plots of importances.

    Notes
    -----
    Of two inputs with the same information, each alone may seem unimportant: permute them as a
    group.  A permuted sample may lie where there are no others, and the model is then asked far
    from its training samples.  The standard errors are those of a fixed model over new samples.

    References
    ----------
    .. [1] L. Breiman, "Random forests," Machine Learning 45(1), 2001.
    .. [2] T. Gneiting, A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation,"
       Journal of the American Statistical Association 102(477), 2007.

    Examples
    --------
    In this problem only the second input matters.

    >>> from condensity import LSCDE
    >>> from condensity.datasets import toy_b
    >>> from condensity.inspection import importance
    >>> X, y = toy_b().sample(300, random_state=0)
    >>> model = LSCDE(random_state=0).fit(X[:200], y[:200])
    >>> importance(model, X[200:], y[200:], "mean", random_state=0).ranking()[0]
    'x2'
    """
    asked = Property.of(of)
    Y, _ = check_targets(y)
    check_same_length(Y, X)
    weight = check_weight(sample_weight, len(Y))
    if directions and groups is not None:
        raise ValueError("groups belong to inputs: use directions=False, or leave groups out")
    if directions:
        variants = PermutedDirections.of(estimator, X).variants()
    else:
        variants = PermutedInputs.of(estimator, X, groups).variants()
    rng = check_rng(random_state)
    orders = [rng.permutation(len(Y)) for _ in range(check_count("n_repeats", n_repeats, low=1))]
    before = _marginal(predict_dist(estimator, X), asked, output)
    Y = Y if output is None else Y[:, [output]]
    mean = before.mean() if asked.name == "spread" else np.zeros(0)
    base = asked.losses(before, Y, mean)

    def losses(at: Permuted, order: Indices) -> Array:
        return asked.losses(_marginal(at(order), asked, output), Y, mean)

    change = [
        np.mean([losses(at, order) for order in orders], axis=0) - base for at in variants.values()
    ]
    increase, error = _mean_and_error(np.array(change), weight / weight.sum())
    loss = float(np.average(base, weights=weight))
    return Importance(list(variants), increase, error, loss, asked.text, UNITS[asked.name])


def _marginal(dist: Distribution, asked: Property, output: int | None) -> Distribution:
    """The densities of one output, or the joint ones if that is what is asked."""
    if output is not None:
        return dist.marginal(int(output))
    if dist.n_outputs > 1 and asked.name != "density":
        raise ValueError(
            f"{asked.text} is a property of one output, but the densities have {dist.n_outputs}: "
            "pass output=0, or another index"
        )
    return dist


def _mean_and_error(change: Array, share: Array) -> tuple[Array, Array]:
    """Weighted means of the rows of ``change`` (k, m), and their standard errors."""
    mean = change @ share
    n_effective = 1.0 / float(share @ share)
    variance = (change - mean[:, None]) ** 2 @ share
    with np.errstate(divide="ignore", invalid="ignore"):
        return mean, np.sqrt(variance / (n_effective - 1.0))
