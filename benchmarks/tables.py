"""The eleven benchmark tables of the paper, read from a folder of CSV files.

The folder is named by CONDENSITY_DATA, or lies beside the project as ``shared/data``; its
SOURCES.md tells where the files come from.
"""

import csv
import gzip
import os
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("CONDENSITY_DATA", Path(__file__).parents[2] / "shared" / "data"))

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

#: Name: (file, targets, columns to leave out, categories by column, training samples in the paper)
TABLES = {
    "Housing": ("boston_housing.csv", [-1], [], {}, 100),
    "Auto MPG": ("auto_mpg.csv", [0], [8], {}, 100),
    "Servo": ("servo.csv", [-1], [], {0: list(" ABCDE"), 1: list(" ABCDE")}, 50),
    "Yacht": ("yacht_hydrodynamics.csv", [-1], [], {}, 80),
    "Physicochem": ("casp_protein.csv.gz", [0], [], {}, 500),
    "White Wine": ("wine_quality_white.csv", [-1], [], {}, 400),
    "Red Wine": ("wine_quality_red.csv", [-1], [], {}, 300),
    "Forest Fires": ("forest_fires.csv", [-1], [], {2: ["", *MONTHS], 3: ["", *DAYS]}, 100),
    "Concrete": ("concrete.csv", [-1], [], {}, 300),
    "Energy": ("energy_efficiency.csv", [-2, -1], [], {}, 200),
    "Stock": ("istanbul_stock.csv", [1, 2], [0], {}, 100),
}

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


def load(name):
    """X (n, dx), Y (n, dy) and the paper's number of training samples."""
    file, targets, dropped, categories, n_train = TABLES[name]
    opener = gzip.open if file.endswith(".gz") else open
    with opener(FOLDER / file, "rt") as stream:
        rows = [row for row in list(csv.reader(stream))[1:] if row]
    width = len(rows[0])
    targets = [t % width for t in targets]
    inputs = [j for j in range(width) if j not in {*targets, *dropped}]
    kept = [row for row in rows if all(row[j] != "" for j in inputs + targets)]
    number = {j: (lambda text, c=c: c.index(text)) for j, c in categories.items()}

    def column(j):
        return [float(number.get(j, float)(row[j])) for row in kept]

    X, Y = (np.array([column(j) for j in which]).T for which in (inputs, targets))
    return X, Y, n_train


def split(name, seed, max_test=1000):
    """Training and test data of one random split, and what losses are multiplied by.

    The paper's figures are for outputs scaled to [0, 1]: a density is then larger by their range.
    """
    X, Y, n_train = load(name)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:n_train], order[n_train : n_train + max_test]
    return X[train], Y[train], X[test], Y[test], float(np.prod(np.ptp(Y, axis=0)))
