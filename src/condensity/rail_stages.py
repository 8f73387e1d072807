"""Photometric redshifts with RAIL: an informer that fits ``LSCE``, and its estimator.

The stages take tables of magnitudes, as other algorithms of RAIL do: the inputs of the model are
the magnitudes of the bands, the output is the redshift.  They are defined only where RAIL is
installed (the extra ``rail``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from condensity._typing import Array
from condensity._utils.extras import require
from condensity.estimators import LSCE

try:
    import qp
    from ceci.config import StageParameter
    from rail.core.common_params import SharedParams
    from rail.core.data import ModelHandle, TableHandle
    from rail.estimation.estimator import CatEstimator
    from rail.estimation.informer import CatInformer
except ModuleNotFoundError:  # ``__getattr__`` raises the error with the remedy
    qp = None

#: Parameters that both stages share with other algorithms of RAIL.
SHARED = ("bands", "mag_limits", "nondetect_val", "redshift_col")

if qp is not None:

    class LSCEInformer(CatInformer):
        """Fit ``LSCE`` to magnitudes and redshifts.

        The parameters ``bands``, ``mag_limits``, ``nondetect_val`` and ``redshift_col`` have their
        usual meaning in RAIL.  A magnitude that is not finite or equal to ``nondetect_val`` is
        replaced by the limit of its band.  ``options`` are parameters of ``LSCE``, for instance
        ``{"n_components": 2}``; ``seed`` is its ``random_state``.

        See Also
        --------
        LSCEEstimator : Densities of the redshifts of other galaxies.
        """

        name = "LSCEInformer"
        entrypoint_function = "inform"
        interactive_function = "lsce_informer"
        config_options = CatInformer.config_options.copy()
        config_options.update(
            **{param: SharedParams.copy_param(param) for param in SHARED},
            options=StageParameter(dict, {}, msg="parameters of condensity.LSCE"),
            seed=StageParameter(int, 0, msg="random_state of condensity.LSCE"),
        )

        def run(self) -> None:
            """Fit the model and register it as the output ``model``."""
            data = self.get_data("input")
            if self.config.hdf5_groupname:
                data = data[self.config.hdf5_groupname]
            model = LSCE(**{"random_state": self.config.seed, **self.config.options})
            z = np.asarray(data[self.config.redshift_col], dtype=float)
            self.model = model.fit(_magnitudes(data, self.config), z)
            self.add_data("model", self.model)

    class LSCEEstimator(CatEstimator):
        """Densities of redshifts by a model that ``LSCEInformer`` has fitted.

        The densities are given at ``nzbins`` redshifts from ``zmin`` to ``zmax``, as a qp ensemble
        of interpolated densities.  Choose the range so that it holds all redshifts: what lies
        outside is cut off, and the rest is divided by its integral.

        See Also
        --------
        LSCEInformer : The stage that fits the model.
        """

        name = "LSCEEstimator"
        entrypoint_function = "estimate"
        interactive_function = "lsce_estimator"
        inputs = [("model", ModelHandle), ("input", TableHandle)]  # noqa: RUF012  as in RAIL
        config_options = CatEstimator.config_options.copy()
        config_options.update(**{param: SharedParams.copy_param(param) for param in SHARED})

        def _process_chunk(self, start: int, end: int, data: Any, first: bool) -> None:
            grid = np.linspace(self.config.zmin, self.config.zmax, self.config.nzbins)
            dist = self.model.predict_dist(_magnitudes(data, self.config))
            ensemble = qp.interp.create_ensemble(xvals=grid, yvals=dist.pdf_on(grid))
            self._do_chunk_output(ensemble, start, end, first, data=data)


def _magnitudes(data: Any, config: Any) -> Array:
    """The magnitudes of all bands, (n, bands), with the limits in place of non-detections."""
    columns = []
    for band in config.bands:
        values = np.asarray(data[band], dtype=float)
        missing = ~np.isfinite(values) | (values == config.nondetect_val)
        if missing.any() and band not in config.mag_limits:
            raise ValueError(
                f"band {band!r} has {missing.sum()} values that are not detected and mag_limits "
                "has no limit for it: add one to mag_limits"
            )
        columns.append(np.where(missing, config.mag_limits.get(band, np.nan), values))
    return np.column_stack(columns)


def __getattr__(name: str) -> Any:
    if name in ("LSCEInformer", "LSCEEstimator"):
        require("rail.estimation.informer", "rail")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
