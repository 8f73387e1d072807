"""Files of estimators of every kind; most were written before the modules were rearranged."""

from pathlib import Path

import numpy as np
import pytest

import condensity

FOLDER = Path(__file__).parents[1] / "model_files"
ROWS = [[0.5, -1.0, 0.2], [2.0, 0.0, -0.7]]
#: What that version returned for the rows: the mean of y, or the reduced inputs.
EXPECTED = {
    "sir": [0.33223108949685043, 1.7287369968795137],
    "save": [1.253822154838368, 0.2936189406009866, 0.21072605023323537, 1.8955764486500137],
    "directional": [
        0.31333256291184297,
        -1.1179334077249972,
        1.8158187838733586,
        0.12225836191363867,
    ],
    "opg": [0.525848884066113, 1.8087551274233944],
    "lsmi": [0.6681333540054667, 1.983136555337225],
    "fixed": [-0.5, 1.2],
    "reduced": [1.2160240579474364, 1.7503300866537939],
    "published": [0.9716645432201528, 2.527091836904858],
    "lscde": [1.0747027187023457, 0.30451401105356257],
    "epsilon": [1.2106477564894107, 0.7985986029525594],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_models_of_every_kind_are_read(name):
    model = condensity.load(FOLDER / f"{name}-1.cdn")
    density = hasattr(model, "predict_dist")
    found = model.predict(ROWS) if density else model.transform(ROWS).ravel()
    np.testing.assert_allclose(found, EXPECTED[name], rtol=1e-9)


@pytest.mark.parametrize("name", ["sir", "save", "directional", "opg", "lsmi", "reduced"])
def test_they_can_be_written_again(name, tmp_path):
    model = condensity.load(FOLDER / f"{name}-1.cdn")
    condensity.save(model, tmp_path / "again.cdn")
    again = condensity.load(tmp_path / "again.cdn")
    np.testing.assert_array_equal(again.transform(ROWS), model.transform(ROWS))
