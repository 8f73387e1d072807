"""Location as a smooth function of the directions z = W x.

``y = m(z) + r``, m the mean of a Gaussian process on z.  So y depends on x only through z, also if
its mean is curved.  The kernels of the density then describe the shape of y, and need not follow
its mean.
"""

from __future__ import annotations

from dataclasses import dataclass

from condensity._typing import Array, Indices
from condensity.fitting.gaussian_process import SmoothFunction, fit_sparse_process
from condensity.lsce.location import Location

#: Number of samples that carry the function: few are enough in a few dimensions.
CENTERS = 300


@dataclass(frozen=True, eq=False)
class ReducedFunction:
    """A function of ``z = W x`` as a function of x."""

    W: Array  # (dz, dx)
    function: SmoothFunction

    def __call__(self, X: Array) -> Array:
        """For the rows of ``X`` (m, dx)."""
        return self.function(X @ self.W.T)


@dataclass(frozen=True, eq=False)
class ReducedLocator:
    """Learns a location that depends on x through given directions."""

    W: Array  # (dz, dx)

    def __call__(
        self, X: Array, Y: Array, weight: Array, labels: Indices | None = None
    ) -> Location:
        """Fit to samples with weights; see ``Locator``."""
        function, residuals = fit_sparse_process(X @ self.W.T, Y, weight, labels, CENTERS)
        return Location(ReducedFunction(self.W, function), residuals, self.W)
