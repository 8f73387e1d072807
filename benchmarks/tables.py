"""The eleven benchmark tables of the paper, and what it reports for them.

The files lie in the folder CONDENSITY_DATA, or beside the project in ``shared/data``, or are
fetched as ``condensity.datasets.load`` says.
"""

import os
from pathlib import Path

from condensity.datasets import load

BESIDE = Path(__file__).parents[2] / "shared" / "data"
FOLDER = os.environ.get("CONDENSITY_DATA") or (BESIDE if BESIDE.is_dir() else None)

#: The paper's Table 1: dimension reduction by LSCE, by LSMI or none, then LSCDE or epsilon-KDE.
PAPER_COLUMNS = ["LSCE/LSCDE", "LSCE/KDE", "LSMI/LSCDE", "LSMI/KDE", "None/LSCDE", "None/KDE"]
PAPER = {
    "Housing": (-1.73, -1.57, -1.91, -1.62, -1.41, -1.13),
    "Auto MPG": (-1.80, -1.74, -1.85, -1.77, -1.75, -1.46),
    "Servo": (-2.92, -3.03, -2.69, -2.95, -2.62, -2.72),
    "Yacht": (-6.46, -6.23, -5.63, -5.47, -1.72, -2.95),
    "Physicochem": (-1.19, -0.99, -1.20, -0.97, -1.19, -0.91),
    "White Wine": (-2.31, -2.47, -2.35, -2.60, -2.06, -1.89),
    "Red Wine": (-2.85, -1.95, -2.82, -1.93, -2.03, -1.13),
    "Forest Fires": (-7.18, -6.93, -6.93, -6.93, -3.40, -6.96),
    "Concrete": (-1.36, -1.20, -1.30, -1.18, -1.11, -0.80),
    "Energy": (-71.3, -41.8, -60.4, -34.1, -21.2, -19.5),
    "Stock": (-8.37, -9.75, -9.42, -10.27, -7.35, -9.25),
}
TABLES = list(PAPER)


def split(name, seed):
    """Training and test data of one random split, and what losses are multiplied by.

    The paper's figures are for outputs scaled to [0, 1]: a density is then larger by their range.
    """
    return load(name, folder=FOLDER).split(seed)
