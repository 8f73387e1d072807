"""Adapter from conditional densities to skpro distributions, with exact methods.

``NormalMixture`` of skpro supports neither correlated outputs nor outputs with bounds, and it
approximates the energy.  This adapter calls the methods of the conditional densities.  As in skpro,
all methods treat each output by its marginal, except ``sample``: samples keep the dependence
between outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from condensity._typing import Array
from condensity._utils.extras import require

try:
    from skpro.distributions.base import BaseDistribution
except ModuleNotFoundError:  # ``adapt`` raises the error with the remedy
    BaseDistribution = object

#: Methods that are exact.
EXACT = ("mean", "var", "pdf", "log_pdf", "cdf", "surv", "ppf", "energy", "pdfnorm")
#: Level of a quantile with negligible probability above it, in double precision.
LAST_LEVEL = 1 - 1e-15


def adapt(dist: Any, index: Any = None, columns: Any = None) -> Any:
    """Conditional densities as a skpro distribution.

    Parameters
    ----------
    dist : Distribution
        Densities of m rows, each over dy outputs.
    index : pandas.Index or sequence of length m, default=None
        Names of the rows; None: 0, 1, ....
    columns : pandas.Index or sequence of length dy, default=None
        Names of the outputs; None: 0, 1, ....

    Returns
    -------
    SkproMixture
        The skpro distribution of shape (m, dy).

    Raises
    ------
    ModuleNotFoundError
        If skpro is not installed.
    ValueError
        If the number of names is wrong.
    """
    require("skpro.distributions.base", "skpro")
    rows, outputs = range(len(dist)), range(dist.n_outputs)
    for name, labels, default in (("index", index, rows), ("columns", columns, outputs)):
        if labels is not None and len(labels) != len(default):
            raise ValueError(
                f"{name} must have {len(default)} names for densities of shape "
                f"({len(rows)}, {len(outputs)}), got {len(labels)}: pass one name for each "
                f"{'row' if name == 'index' else 'output'}"
            )
    index, columns = rows if index is None else index, outputs if columns is None else columns
    return SkproMixture(dist, index, columns)


class SkproMixture(BaseDistribution):
    """Conditional densities p(y|x) as a skpro distribution of shape (m, dy).

    Parameters
    ----------
    dist : Distribution
        Densities of m rows, each over dy outputs.
    index : pandas.Index or sequence of length m, default=None
        Names of the rows.  With None for both names, the distribution is a scalar: one row and one
        output.
    columns : pandas.Index or sequence of length dy, default=None
        Names of the outputs.

    See Also
    --------
    condensity.distributions.Distribution.to_skpro : The method that users call.

    Examples
    --------
    >>> dist = model.predict_dist(X).to_skpro(index=X.index, columns=["y"])  # doctest: +SKIP
    >>> dist.cdf(0.5), dist.loc[X.index[:3]].quantile([0.1, 0.9])  # doctest: +SKIP
    """

    _tags: ClassVar[dict[str, Any]] = {
        "capabilities:approx": [],
        "capabilities:exact": list(EXACT),
        "distr:measuretype": "continuous",
        "distr:paramtype": "composite",
    }

    def __init__(self, dist: Any, index: Any = None, columns: Any = None) -> None:
        self.dist = dist
        super().__init__(index=index, columns=columns)

    def pdfnorm(self, a: int = 2) -> Any:
        """Integral ``int p(y)^a dy`` of each marginal density; exact for a = 2.

        Parameters
        ----------
        a : int, default=2
            Exponent.

        Returns
        -------
        pandas.DataFrame or float
            Integrals, (m, dy).
        """
        return self._boilerplate("_squared_norm") if a == 2 else super().pdfnorm(a)

    def _mean(self) -> Any:
        return self._in_shape(self.dist.mean())

    def _var(self) -> Any:
        return self._in_shape(self.dist.var())

    def _squared_norm(self) -> Any:
        return self._in_shape(np.column_stack([d.squared_norm() for d in self.dist.marginals()]))

    def _pdf(self, x: Array) -> Any:
        return self._entrywise(lambda d, y: d.pdf(y), x)

    def _log_pdf(self, x: Array) -> Any:
        return self._entrywise(lambda d, y: d.log_pdf(y), x)

    def _cdf(self, x: Array) -> Any:
        return self._entrywise(lambda d, y: d.cdf(y), x)

    def _surv(self, x: Array) -> Any:
        return self._entrywise(lambda d, y: d.prob(y, np.inf), x)

    def _ppf(self, p: Array) -> Any:
        return self._entrywise(_quantile, p)

    def _energy_self(self) -> Any:
        return self._by_row(np.column_stack([_mean_difference(d) for d in self.dist.marginals()]))

    def _energy_x(self, x: Array) -> Any:
        # CRPS = E|Y - y| - E|Y - Y'| / 2
        return self._by_row(self._entrywise(lambda d, y: d.crps(y) + _mean_difference(d) / 2, x))

    def _sample(self, n_samples: int | None = None) -> Any:
        import pandas as pd

        n = 1 if n_samples is None else n_samples
        # skpro samples with the global state of numpy, so ``numpy.random.seed`` must work here too.
        seed = np.random.randint(2**31)  # noqa: NPY002
        m, dy = len(self.dist), self.dist.n_outputs
        table = self.dist.sample(n, seed).reshape(m, n, dy).swapaxes(0, 1).reshape(n * m, dy)
        if self.ndim == 0:
            return float(table[0, 0]) if n_samples is None else pd.DataFrame(table)
        index = self.index
        if n_samples is not None:
            levels = [range(n), index]
            index = pd.MultiIndex.from_product(levels) if index.nlevels == 1 else _product(n, index)
        return pd.DataFrame(table, index=index, columns=self.columns)

    def _iloc(self, rowidx: Any = None, colidx: Any = None) -> Any:
        rows, columns = _positions(rowidx, len(self.index)), _positions(colidx, len(self.columns))
        dist = self.dist[rows].marginal(columns.tolist())
        return type(self)(dist, self.index[rows], self.columns[columns])

    def _iat(self, rowidx: Any = None, colidx: Any = None) -> Any:
        return type(self)(self.dist[rowidx].marginal(colidx))

    def _entrywise(self, f: Callable[[Any, Array], Array], x: Any) -> Any:
        """``f`` of each marginal and its column of ``x``, with the shape of the distribution."""
        table = np.asarray(x, dtype=float).reshape(len(self.dist), -1)
        columns = zip(self.dist.marginals(), table.T, strict=True)
        return self._in_shape(np.column_stack([f(d, y) for d, y in columns]))

    def _in_shape(self, values: Array) -> Any:
        """Values with the shape of the distribution, or a number for a scalar."""
        return float(values.ravel()[0]) if self.ndim == 0 else values.reshape(self.shape)

    def _by_row(self, values: Any) -> Any:
        """Sums over the outputs: (m, 1), or a number for a scalar."""
        values = np.asarray(values)
        total = values.reshape(len(self.dist), -1).sum(axis=1, keepdims=True)
        return float(total[0, 0]) if self.ndim == 0 else total


def _quantile(dist: Any, levels: Array) -> Array:
    """Quantile of row i at ``levels[i]``, for one output: (m,)."""
    out = np.empty(len(dist))
    for level in np.unique(levels):
        rows = np.flatnonzero(levels == level)
        out[rows] = dist[rows].quantile(level)
    return out


def _mean_difference(dist: Any) -> Array:
    """``E|Y - Y'|`` for one output: (m,).

    It is computed from the CRPS at a point y above all of the probability, where
    ``E|Y - y| = y - E[Y]``.
    """
    far = dist.quantile(LAST_LEVEL)
    return np.asarray(2 * (far - dist.mean() - dist.crps(far)))


def _positions(chosen: Any, length: int) -> NDArray[np.intp]:
    """Positions for a slice, a mask, an integer or an array of integers; all for None."""
    if chosen is None:
        return np.arange(length)
    index = chosen if isinstance(chosen, slice) else np.asarray(chosen)
    return np.atleast_1d(np.arange(length)[index])


def _product(n: int, index: Any) -> Any:
    """Product of ``range(n)`` and an index with several levels."""
    import pandas as pd

    return pd.MultiIndex.from_tuples(
        [(i, *row) for i in range(n) for row in index], names=[None, *index.names]
    )
