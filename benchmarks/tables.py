"""The eleven benchmark tables of the paper, and the results that it reports for them.

The files are in the folder CONDENSITY_DATA, or in ``shared/data`` beside the project, or are
downloaded by ``condensity.datasets.load``.
"""

import os
from pathlib import Path

from condensity.datasets import load
from condensity.experiments import published_results as paper
from condensity.experiments.problems import WORLDS, world_data

BESIDE = Path(__file__).parents[2] / "shared" / "data"
FOLDER = os.environ.get("CONDENSITY_DATA") or (BESIDE if BESIDE.is_dir() else None)

#: The paper's Table 1: reduction by LSCE, LSMI or none, then LSCDE or epsilon-KDE.
PAPER_COLUMNS = ["/".join(column) for column in paper.COLUMNS]
PAPER = {table: [mean for mean, _ in figures] for table, figures in paper.ERRORS.items()}
TABLES = list(PAPER)


def split(name, seed):
    """Training and test data of one random split, and the unit of losses.

    The paper's figures are for outputs scaled to [0, 1].  This multiplies a density by their range.
    """
    if name in WORLDS:
        data = world_data(name, WORLDS[name].sizes[0], seed)
        return data.X, data.Y, data.X_test, data.Y_test, data.unit
    return load(name, folder=FOLDER).split(seed)
