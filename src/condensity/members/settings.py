"""Settings: bandwidths and penalty, chosen on a grid by the held-out loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from condensity._typing import Array
from condensity.fitting.scores import Score
from condensity.fitting.selection import GridIndex, descend_grid
from condensity.locations.location import Locator
from condensity.members.crossfit import Crossfit
from condensity.members.member import MemberView


@dataclass(frozen=True)
class Setting:
    """The bandwidths and the penalty that all members of a configuration share."""

    sigma_z: float
    sigma_y: float
    penalty: float  # relative to the mean of G's diagonal


#: The first setting of the search; sigma_z is in units of sqrt(dz).
FIRST = Setting(sigma_z=0.7, sigma_y=0.35, penalty=0.01)
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
LEAST_SIGMA_Y = 0.01


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """The bandwidths and penalties to choose from, and the limits of the subspace search."""

    sigma_z: float | None  # None: to be selected
    sigma_y: float | None
    penalty: float | None
    least_sigma_y: float
    n_starts: int
    max_steps: int

    def axes(self, dz: int) -> tuple[Array, Array]:
        """The candidates of sigma_z and sigma_y, in steps of a factor sqrt(2)."""
        # Without components the kernels of z are constant, whatever their width.
        z = np.sqrt(dz) * 2.0 ** (np.arange(-9, 9) / 2) if dz else np.ones(1)
        least = min(1.0, max(self.least_sigma_y, LEAST_SIGMA_Y))
        steps = int(np.ceil(-2 * np.log2(least) - 1e-9))
        y = np.maximum(least, 2.0 ** (-np.arange(steps + 1) / 2))
        return (
            z if self.sigma_z is None or not dz else np.array([self.sigma_z]),
            y if self.sigma_y is None else np.array([self.sigma_y]),
        )

    @property
    def open(self) -> bool:
        """Whether a bandwidth or the penalty is to be selected."""
        return None in (self.sigma_z, self.sigma_y, self.penalty)

    @property
    def penalties(self) -> tuple[float, ...]:
        """The candidate penalties."""
        return PENALTIES if self.penalty is None else (self.penalty,)


@dataclass(frozen=True, eq=False)
class EnsembleOptions:
    """What the default algorithm may choose from, and the score it chooses by."""

    locators: dict[str, Locator]
    score: Score
    search: SearchSpace
    n_members: int
    n_components: int | None = None  # None: increased while the held-out loss improves
    reduced: bool = False  # whether locations that are functions of z are tried
    only_reduced: bool = False  # whether no other location with components is in the average
    least_widths: Array | float = 0.0  # (dy,) of kernels, in standard deviations of y

    def search_space(self, view: MemberView) -> SearchSpace:
        """The search space with the floor of a view: a kernel of output j has width sigma_y |L_j|.

        L is the Cholesky factor of the view.
        """
        least = float(np.max(self.least_widths / np.linalg.norm(view.factor, axis=1)))
        return replace(self.search, least_sigma_y=least)

    def too_few_components(self, views: dict[str, MemberView]) -> str:
        """What is wrong if the only location has more directions than there are components."""
        ((name, view),) = views.items()
        return (
            f"location={name!r} needs n_components >= {len(view.location.directions)}, got "
            f"{self.n_components}: raise n_components or pass location='none'"
        )


def first_setting(search: SearchSpace, dz: int) -> Setting:
    """The first setting of the search; parameters that are given keep their values."""
    z, y = search.axes(dz)
    penalty = FIRST.penalty if search.penalty is None else search.penalty
    sigma_z = _nearest(z, FIRST.sigma_z * np.sqrt(max(1, dz)))
    return Setting(sigma_z, _nearest(y, FIRST.sigma_y), penalty)


def _nearest(axis: Array, value: float) -> float:
    return float(axis[np.argmin(np.abs(np.log(axis / value)))])


class SettingSelector:
    """Chooses the setting for members with given subspaces; caches the losses of candidates."""

    def __init__(self, crossfit: Crossfit, Ws: Sequence[Array], search: SearchSpace) -> None:
        self.crossfit, self.Ws, self.search = crossfit, Ws, search
        self.z, self.y = search.axes(len(Ws[0]))
        self.cache: dict[GridIndex, Array] = {}  # mean losses by penalty
        self.by_fold: dict[GridIndex, Array] = {}  # the same for each fold

    def choose(self, near: Setting, *, coarse: bool, strides: Sequence[int]) -> Setting:
        """The best setting of a local search from ``near`` and, if ``coarse``, a coarse grid."""
        starts = [(_index(self.z, near.sigma_z), _index(self.y, near.sigma_y))]
        if coarse:
            middle = starts[0][0]
            starts += [
                (min(max(middle + i, 0), len(self.z) - 1), min(j, len(self.y) - 1))
                for i in (-4, 0, 4)
                for j in (0, 3, 6)
            ]
        shape = len(self.z), len(self.y)
        best = descend_grid(lambda i: float(self.at(i).min()), starts, shape, strides)
        penalty = self.search.penalties[int(np.argmin(self.at(best)))]
        return Setting(float(self.z[best[0]]), float(self.y[best[1]]), penalty)

    def at(self, index: GridIndex) -> Array:
        """Mean losses by penalty at one point of the grid."""
        if index not in self.cache:
            sigmas = float(self.z[index[0]]), float(self.y[index[1]])
            losses = self.crossfit.losses(self.Ws, *sigmas, self.search.penalties)
            self.cache[index] = _without_rounding_errors(losses @ self.crossfit.weight)
            self.by_fold[index] = self.crossfit.by_fold(losses)
        return self.cache[index]

    def optimism(self, setting: Setting) -> float:
        """By how much the loss of the best setting is below the loss to expect from it.

        The setting was chosen by the losses that it is judged by.  In one fold, the best setting of
        that fold has a loss that is lower by about the same amount than the loss there of the
        setting that is best for all folds (Tibshirani and Tibshirani 2009).
        """
        index = _index(self.z, setting.sigma_z), _index(self.y, setting.sigma_y)
        own = self.by_fold[index][self.search.penalties.index(setting.penalty)]
        least = np.min([losses.min(axis=0) for losses in self.by_fold.values()], axis=0)
        shares = np.array([view.held_out.weight.sum() for view in self.crossfit.views])
        return float((own - least) @ shares / shares.sum())


def _without_rounding_errors(losses: Array) -> Array:
    """Losses with twelve digits.

    If sigma_y is 1, all bandwidths of z and all penalties have the same loss.  Rounding errors, and
    so the units of the data, must not decide which of them is chosen.
    """
    return np.array([float(f"{loss:.11e}") for loss in losses])


def _index(axis: Array, value: float) -> int:
    return int(np.argmin(np.abs(axis - value)))
