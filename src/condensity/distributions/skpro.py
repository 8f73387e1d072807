"""Conditional densities as a distribution of skpro, exact in every question it can ask.

skpro's own ``NormalMixture`` knows neither correlated outputs nor outputs with bounds, and answers
for its energy with an approximation.  Here each question goes to our densities: marginal by
marginal, as skpro has it, but for draws, which keep the dependence between outputs.
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
except ModuleNotFoundError:  # ``adapt`` says so, with the remedy
    BaseDistribution = object

#: What is answered without approximation.
EXACT = ("mean", "var", "pdf", "log_pdf", "cdf", "surv", "ppf", "energy", "pdfnorm")
#: Beyond this level lies nothing that floats could tell from nothing.
LAST_LEVEL = 1 - 1e-15


def adapt(dist: Any, index: Any = None, columns: Any = None) -> Any:
    """``dist`` as a distribution of skpro with these names of rows and outputs."""
    require("skpro.distributions.base", "skpro")
    rows, outputs = range(len(dist)), range(dist.n_outputs)
    for name, given, own in (("index", index, rows), ("columns", columns, outputs)):
        if given is not None and len(given) != len(own):
            raise ValueError(
                f"{name} must have {len(own)} names for densities of shape "
                f"({len(rows)}, {len(outputs)}), got {len(given)}: pass one for each"
            )
    index, columns = rows if index is None else index, outputs if columns is None else columns
    return SkproMixture(dist, index, columns)


class SkproMixture(BaseDistribution):
    """Densities p(y|x) in the shape of skpro: a table of (m, dy) laws with index and columns.

    Parameters
    ----------
    dist : Mixture or BoundedMixture
    index, columns : pandas index or sequence, optional
        Without both it is a scalar: one row, one output.

    Examples
    --------
    >>> law = model.predict_dist(X).to_skpro(index=X.index, columns=["y"])  # doctest: +SKIP
    >>> law.cdf(0.5), law.loc[X.index[:3]].quantile([0.1, 0.9])  # doctest: +SKIP
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
        """``int p(y)^a dy`` of every entry, exact for a = 2."""
        return self._boilerplate("_squared_norm") if a == 2 else super().pdfnorm(a)

    def _mean(self) -> Any:
        return self._in_shape(self.dist.mean())

    def _var(self) -> Any:
        return self._in_shape(self.dist.var())

    def _squared_norm(self) -> Any:
        return self._in_shape(np.column_stack([own.squared_norm() for own in self._marginals()]))

    def _pdf(self, x: Array) -> Any:
        return self._entrywise(lambda own, y: own.pdf(y), x)

    def _log_pdf(self, x: Array) -> Any:
        return self._entrywise(lambda own, y: own.log_pdf(y), x)

    def _cdf(self, x: Array) -> Any:
        return self._entrywise(lambda own, y: own.cdf(y), x)

    def _surv(self, x: Array) -> Any:
        return self._entrywise(lambda own, y: own.prob(y, np.inf), x)

    def _ppf(self, p: Array) -> Any:
        return self._entrywise(_quantile, p)

    def _energy_self(self) -> Any:
        return self._by_row(np.column_stack([_spread(own) for own in self._marginals()]))

    def _energy_x(self, x: Array) -> Any:
        # CRPS = E|Y - y| - E|Y - Y'| / 2
        return self._by_row(self._entrywise(lambda own, y: own.crps(y) + _spread(own) / 2, x))

    def _sample(self, n_samples: int | None = None) -> Any:
        import pandas as pd

        n = 1 if n_samples is None else n_samples
        # skpro draws from numpy's global state: ``numpy.random.seed`` is to hold here too.
        seed = np.random.randint(2**31)  # noqa: NPY002
        m, dy = len(self.dist), self.dist.n_outputs
        table = self.dist.sample(n, seed).reshape(m, n, dy).swapaxes(0, 1).reshape(n * m, dy)
        if self.ndim == 0:
            return float(table[0, 0]) if n_samples is None else pd.DataFrame(table)
        index = self.index
        if n_samples is not None:
            places = [range(n), index]
            index = pd.MultiIndex.from_product(places) if index.nlevels == 1 else _product(n, index)
        return pd.DataFrame(table, index=index, columns=self.columns)

    def _iloc(self, rowidx: Any = None, colidx: Any = None) -> Any:
        rows, columns = _positions(rowidx, len(self.index)), _positions(colidx, len(self.columns))
        dist = self.dist[rows].marginal(columns.tolist())
        return type(self)(dist, self.index[rows], self.columns[columns])

    def _iat(self, rowidx: Any = None, colidx: Any = None) -> Any:
        return type(self)(self.dist[rowidx].marginal(colidx))

    def _marginals(self) -> list[Any]:
        return [self.dist.marginal(j) for j in range(self.dist.n_outputs)]

    def _entrywise(self, f: Callable[[Any, Array], Array], x: Any) -> Any:
        """``f`` of each marginal and its column of ``x``, in the shape of the distribution."""
        table = np.asarray(x, dtype=float).reshape(len(self.dist), -1)
        columns = zip(self._marginals(), table.T, strict=True)
        return self._in_shape(np.column_stack([f(own, y) for own, y in columns]))

    def _in_shape(self, values: Array) -> Any:
        return float(values.ravel()[0]) if self.ndim == 0 else values.reshape(self.shape)

    def _by_row(self, values: Any) -> Any:
        """Sums over outputs: (m, 1), or a number."""
        values = np.asarray(values)
        total = values.reshape(len(self.dist), -1).sum(axis=1, keepdims=True)
        return float(total[0, 0]) if self.ndim == 0 else total


def _quantile(own: Any, levels: Array) -> Array:
    """The quantile of each row at its own level: (m,)."""
    out = np.empty(len(own))
    for level in np.unique(levels):
        rows = np.flatnonzero(levels == level)
        out[rows] = own[rows].quantile(level)
    return out


def _spread(own: Any) -> Array:
    """``E|Y - Y'|``, from the CRPS at a point that no Y exceeds, where E|Y - y| is y - E[Y]."""
    far = own.quantile(LAST_LEVEL)
    return np.asarray(2 * (far - own.mean() - own.crps(far)))


def _positions(chosen: Any, length: int) -> NDArray[np.intp]:
    """Positions that slices, masks, integers or arrays of them choose; all for None."""
    if chosen is None:
        return np.arange(length)
    index = chosen if isinstance(chosen, slice) else np.asarray(chosen)
    return np.atleast_1d(np.arange(length)[index])


def _product(n: int, index: Any) -> Any:
    """``range(n)`` times an index of several levels."""
    import pandas as pd

    return pd.MultiIndex.from_tuples(
        [(i, *row) for i in range(n) for row in index], names=[None, *index.names]
    )
