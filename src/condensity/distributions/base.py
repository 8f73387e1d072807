"""The same densities in the shapes that other libraries expect."""

from __future__ import annotations

from typing import Any

from condensity.distributions.frozen import Frozen


class Views:
    """What all answers of estimators can be seen as."""

    def frozen(self, row: int = 0) -> Frozen:
        """The density of one row in the words of ``scipy.stats``; one output.

        Parameters
        ----------
        row : int, default=0

        Returns
        -------
        Frozen
            With ``pdf``, ``logpdf``, ``cdf``, ``ppf``, ``sf``, ``isf``, ``mean``, ``var``, ``std``,
            ``median``, ``interval``, ``expect``, ``support`` and ``rvs``.
        """
        return Frozen(self[int(row)])  # type: ignore[index]

    def to_skpro(self, index: Any = None, columns: Any = None) -> Any:
        """The densities as a distribution of skpro (``pip install 'condensity[skpro]'``).

        Parameters
        ----------
        index, columns : pandas index or sequence, optional
            Names of the rows and of the outputs; 0, 1, ... when None.

        Returns
        -------
        skpro.distributions.base.BaseDistribution
            (m, dy); as everywhere in skpro, all but ``sample`` speaks of each output by itself.
        """
        from condensity.distributions.skpro import adapt

        return adapt(self, index, columns)
