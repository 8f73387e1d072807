"""Base of the estimators with kernels on centres: least-squares fits with a penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from condensity._typing import Array
from condensity._utils.parallel import thread_map
from condensity._utils.parameters import check_bandwidth, check_penalty
from condensity.data.prepare import TrainingData, prepare
from condensity.fitting.density import KernelDensity
from condensity.fitting.selection import BANDWIDTHS, PENALTIES, Candidates, Choice
from condensity.members.settings import Setting


class KernelEstimator(BaseEstimator):
    """Base of the estimators with the parameters of a penalised least-squares fit."""

    n_centers: int | str
    bandwidth: float | tuple[float, float] | None
    penalty: float | None
    cv: Any
    n_jobs: int | None
    #: Largest number of centres with ``n_centers="auto"``: the cost grows with its square.
    _auto_centers = 200

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        rng: np.random.Generator,
        *,
        scored: bool,
        n_members: int = 1,
        subsample: int | None = None,
        bounds: Any = None,
        scaling: str = "variance",
        omit_outliers: bool = False,
    ) -> TrainingData:
        """Validate the samples and draw centres; draw folds only if candidates are ``scored``."""
        return prepare(
            self,
            X,
            y,
            sample_weight,
            rng,
            cv=(5 if self.cv is None else self.cv) if scored else None,
            to_fix=self._to_fix(),
            n_centers=self.n_centers,
            auto_centers=self._auto_centers,
            n_members=n_members,
            subsample=subsample,
            bounds=bounds,
            scaling=scaling,
            omit_outliers=omit_outliers,
            mapper=thread_map(self.n_jobs),
        )

    def _to_fix(self) -> str:
        """The parameters that make cross-validation unnecessary once they are given."""
        return "both bandwidth and penalty"

    def _candidates(self, grid: tuple[float, ...] = BANDWIDTHS) -> Candidates:
        """The grid of bandwidths and penalties, or the single point that the parameters fix."""
        sigmas = check_bandwidth(self.bandwidth)
        penalty = check_penalty(self.penalty)
        return Candidates(
            tuple((s, s) for s in grid) if sigmas is None else (sigmas,),
            PENALTIES if penalty is None else (penalty,),
        )

    def _set_kernels(self, data: TrainingData, setting: Choice | Setting) -> None:
        """Set the attributes that describe the chosen kernels."""
        self.bandwidth_ = (setting.sigma_z, setting.sigma_y)
        self.penalty_ = setting.penalty
        self.n_centers_ = len(data.centers)


def density_unit(data: TrainingData) -> float:
    """The unit of a density of y, for one of the scaled y."""
    return float(1.0 / np.prod(data.y_scaling.sd))


def kernel_density(data: TrainingData, W: Array, alpha: Array, choice: Choice) -> KernelDensity:
    """The density with coefficients ``alpha`` (b,) at ``W`` (dz, dx), in the units of the data."""
    return KernelDensity.build(
        data.x_scaling,
        data.y_scaling,
        data.folded.basis,
        W=W,
        alpha=alpha,
        sigma_z=choice.sigma_z,
        sigma_y=choice.sigma_y,
    )
