"""How sure a density is: pointwise bands over the members of a model, or over bootstrap fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condensity._typing import Array
from condensity._utils.composites import density_step
from condensity._utils.validation import check_inputs
from condensity.distributions._checks import grid_of, probability
from condensity.members.averaged import Ensemble


@dataclass(frozen=True, eq=False)
class DensityBand:
    """Densities on a grid with pointwise bands.

    Parameters
    ----------
    grid : ndarray of shape (G,)
        Values of y.
    pdf : ndarray of shape (m, G)
        Densities of the model.
    lower, upper : ndarray of shape (m, G)
        Ends of the bands.
    level : float
        Share of the fits between the ends, at every point.
    source : str
        "members" or "bootstrap".

    See Also
    --------
    member_band : Bands over the members of one model.
    Bootstrap.density_band : Bands over fits to resampled data.
    condensity.plots.DensityBandDisplay : Draws them.

    Examples
    --------
    >>> import numpy as np
    >>> from condensity.inspection import DensityBand
    >>> pdf = np.array([[0.1, 0.3, 0.1]])
    >>> band = DensityBand(np.arange(3.0), pdf, pdf - 0.05, pdf + 0.05, 0.9, "bootstrap")
    >>> bool((band.lower <= band.pdf).all())
    True
    """

    grid: Array
    pdf: Array
    lower: Array
    upper: Array
    level: float
    source: str


def member_band(
    estimator: Any, X: Any, grid: ArrayLike, *, level: float = 0.9, output: int = 0
) -> DensityBand:
    """Pointwise bands over the members and configurations of a fitted ``LSCE``.

    The density of ``LSCE`` is an average over configurations (location, number of directions) and
    over members, whose directions were learned without one fold each.  The band contains the
    central share ``level`` of these densities, by their weights in the average.

    Parameters
    ----------
    estimator : estimator
        Fitted ``LSCE``, or a pipeline or search that ends in one.
    X : array-like of shape (m, dx)
        Inputs.
    grid : array-like of shape (G,)
        Values of y.
    level : float, default=0.9
        Share of the average between the ends of the band.
    output : int, default=0
        Index of the output.

    Returns
    -------
    DensityBand
        The densities and their bands.

    See Also
    --------
    bootstrap : Fits to resampled data, which also vary with the samples.

    Notes
    -----
    The band shows what model selection has left open.  It is **not** a confidence band: the
    coefficients of all members are fitted to the same samples, so it does not contain the error
    that another sample would show, nor the bias of smoothing.  It is narrow if all members agree,
    and a single configuration with one member has no band at all.

    Examples
    --------
    >>> from condensity import LSCE
    >>> from condensity.datasets import toy_b
    >>> from condensity.inspection import member_band
    >>> X, y = toy_b().sample(100, random_state=0)
    >>> model = LSCE(1, n_starts=2, max_iter=5, random_state=0).fit(X, y)
    >>> member_band(model, X[:2], [-1.0, 0.0, 1.0]).upper.shape
    (2, 3)
    """
    model, inputs = density_step(estimator, X)
    density = getattr(model, "_density", None)
    if not isinstance(density, Ensemble):
        raise TypeError(
            f"{type(model).__name__} is not an average of members: pass a fitted LSCE, or use "
            "bootstrap for the density bands of any estimator"
        )
    values, points = check_inputs(model, inputs), grid_of(grid, 1)[:, 0]
    curves, shares = [], []
    for share, member in members_of(density):
        curves.append(member.at(values).marginal(output).pdf_on(points))
        shares.append(share)
    pdf = density.at(values).marginal(output).pdf_on(points)
    ends = quantiles_over_fits(np.array(curves), np.array(shares), probability(level))
    return DensityBand(points, pdf, *ends, level, "members")


def members_of(density: Ensemble) -> Iterator[tuple[float, Ensemble]]:
    """The members of all configurations as densities, with their weights in the average."""
    for share, part in density.parts:
        for member in part.members:
            single = replace(part, members=(member,))
            yield share / len(part.members), replace(density, parts=((1.0, single),))


def quantiles_over_fits(curves: Array, shares: Array, level: float) -> tuple[Array, Array]:
    """Ends of the central share ``level`` of ``curves`` (fits, ...), with weights (fits,)."""
    tail, shares = 0.5 * (1.0 - level), shares / shares.sum()
    return _least_with(curves, shares, tail), -_least_with(-curves, shares, tail)


def _least_with(curves: Array, shares: Array, tail: float) -> Array:
    """At each point, the smallest value that a share ``tail`` of ``curves`` does not exceed."""
    order = np.argsort(curves, axis=0, kind="stable")
    index = np.argmax(np.cumsum(shares[order], axis=0) >= tail - 1e-12, axis=0)
    ranked = np.take_along_axis(curves, order, axis=0)
    return np.asarray(np.take_along_axis(ranked, index[None], axis=0)[0])
