"""The final density: an average over members with different subspaces.

All members of a configuration share their Gaussians in y.  Their average is a mixture with one
Gaussian for each centre: only the weights are averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity._typing import Array
from condensity.data.sample import Scaling
from condensity.distributions.base import Distribution
from condensity.distributions.block import Block
from condensity.distributions.bounded import BoundedMixture, Bounds
from condensity.distributions.mixture import Mixture
from condensity.fitting.scores import Gaussians
from condensity.locations.extrapolation import LocationRange
from condensity.locations.location import PredictedInput
from condensity.members.member import Coefficients, Coordinates, MemberView


def mixture_blocks(
    weights: Array, components: Gaussians, factor: Array, shift: Array
) -> list[Block]:
    """Kernels and background of v as two blocks of ``y = shift + factor v``.

    ``weights`` is (m, b + 1), ``factor`` (dy, dy), ``shift`` (m, dy).  The last component is the
    background, which has a different width.
    """
    centers, widths = components.centers @ factor.T, components.widths
    kernels, background = slice(0, -1), slice(-1, None)
    return [
        Block(weights[:, kernels], centers[kernels], widths[0] * factor, shift=shift, plain=True),
        Block(
            weights[:, background],
            centers[background],
            widths[-1] * factor,
            shift=shift,
            plain=True,
            background=True,  # is not stretched: far from all centres it is the marginal density
        ),
    ]


@dataclass(frozen=True, eq=False)
class AveragedMembers:
    """The average over the members of one configuration, in the units of standardised y."""

    scaling: Scaling  # of x
    location: Callable[[Array], Array]  # standardised x (m, dx) -> m(x) (m, dy)
    factor: Array  # (dy, dy) L
    components: Gaussians  # of v
    members: Sequence[Coefficients]  # each for one penalty
    predicted: PredictedInput | None = None  # the value of the location as one more input
    limits: LocationRange | None = None  # of the location; None in files of older versions

    @classmethod
    def of(
        cls, view: MemberView, components: Gaussians, members: Sequence[Coefficients]
    ) -> AveragedMembers:
        """The part of a view that predictions need, without its samples.

        Centres without weight in all members are dropped; this does not change the density.
        """
        used = np.any([member.alphas > 0 for member in members], axis=(0, 1))
        if used[:-1].any():  # one centre must stay, because it holds the width of the kernels
            used[-1] = True
            components = Gaussians(components.centers[used], components.widths[used])
            members = [
                replace(member, U=member.U[used[:-1]], alphas=member.alphas[:, used])
                for member in members
            ]
        frame = view.frame
        extras = frame.predicted, frame.limits
        return cls(frame.scaling, frame.location, frame.factor, components, members, *extras)

    def weights(self, inputs: Array, share: float = 1.0) -> Array:
        """``share`` times the mean weights of the Gaussians for inputs of the density."""
        mass = share / len(self.members)
        first, *others = self.members
        total: Array = first.weights(inputs, mass)[0]
        for member in others:
            total += member.weights(inputs, mass)[0]
        return total

    @property
    def frame(self) -> Coordinates:
        """The coordinates of the density."""
        return Coordinates(self.scaling, self.location, self.factor, self.predicted, self.limits)

    def blocks(self, inputs: Array, m: Array, y_scaling: Scaling, share: float) -> list[Block]:
        """Kernels and background as blocks with total weight ``share``, in the units of y.

        ``inputs`` are those of the density, ``m`` (m, dy) is the location.
        """
        shift = y_scaling.mean + y_scaling.sd * m
        if not np.isfinite(shift).all():
            row = int(np.argmin(np.isfinite(shift).all(axis=1)))
            raise ValueError(
                f"the location predicts {shift[row]} for row {row} of X: "
                "use a regressor whose predictions are finite, or location='linear'"
            )
        factor = y_scaling.sd[:, None] * self.factor
        return mixture_blocks(self.weights(inputs, share), self.components, factor, shift)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Configurations with their stacking weights, and the subspace of the best one."""

    parts: Sequence[tuple[float, AveragedMembers]]
    y_scaling: Scaling
    x_scaling: Scaling
    W: Array  # (dz, dx) acts on standardised inputs
    stretch: Array | None = None  # (dy,) factor of the kernels, not of the background
    bounds: Bounds | None = None  # of y, which is then modelled in its unbounded coordinate

    @property
    def width(self) -> int:
        """Number of Gaussians in each density."""
        return sum(len(part.components.centers) for _, part in self.parts)

    def at(self, X: Array) -> Distribution:
        """The densities p(y|x) for the rows of ``X`` (m, dx)."""
        # Parts with the same location share its values, which are the most costly.
        values: dict[int, tuple[Array, Array]] = {}
        blocks: list[Block] = []
        for share, part in self.parts:
            if id(part.location) not in values:
                values[id(part.location)] = part.frame.inputs(X)
            blocks += part.blocks(*values[id(part.location)], self.y_scaling, share)
        mixture = Mixture.of_normalised(blocks)
        if self.stretch is not None and not np.all(self.stretch == 1.0):
            mixture = mixture.stretch(self.stretch, background=False)
        return mixture if self.bounds is None else BoundedMixture(mixture, self.bounds)

    def reduce(self, X: Array) -> Array:
        """``z = W x``, (m, dz)."""
        return self.x_scaling.apply(X) @ self.W.T

    def at_reduced(self, Z: Array) -> Distribution:
        """The densities at the inputs with ``W x = z`` that are average in all other directions."""
        return self.at(self.x_scaling.mean + self.x_scaling.sd * (Z @ self.W))
