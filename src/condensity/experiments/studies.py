"""The paper's experiments as grids of cells (Sec. 3.1 to 3.5; Tables 1 and 2 share cells)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from condensity.datasets.catalogue import CATALOGUE
from condensity.estimators import LSCDE, LSCE
from condensity.experiments import problems
from condensity.experiments import published_results as paper
from condensity.experiments.methods import FLOORLESS, LINEAR, MODEL_SEEDS, OURS, evaluate
from condensity.experiments.records import Cell

#: Grid of an illustration: number of values of x, and number of values of y for each.
N_SLICES, N_STEPS = 7, 200


@dataclass(frozen=True)
class Study:
    """An experiment: its cells, and the function that computes a cell."""

    name: str
    title: str
    sizes: dict[str, tuple[int, ...]]  # numbers of training samples, by problem
    methods: tuple[str, ...]
    runs: int
    work: Callable[..., dict[str, Any]]  # called with (cell, quick=)

    def cells(self, *, quick: bool = False, only: Collection[str] = ()) -> list[Cell]:
        """Cells of all runs; ``only`` selects problems, ``quick`` selects few and small cells."""
        selected = {name: n for name, n in self.sizes.items() if not only or name in only}
        if quick:
            selected = {name: n[:1] for name, n in list(selected.items())[:1]}
        return [
            Cell(self.name, problem, method, n, seed)
            for seed in range(min(2, self.runs) if quick else self.runs)
            for problem, sizes in selected.items()
            for n in sizes
            for method in self.methods
        ]


def _benchmark(cell: Cell, *, quick: bool = False) -> dict[str, Any]:
    return evaluate(
        cell.method, problems.benchmark_data(cell.problem, cell.seed), cell.seed, quick=quick
    )


def _worlds(cell: Cell, *, quick: bool = False) -> dict[str, Any]:
    data = problems.world_data(cell.problem, cell.n, cell.seed)
    return evaluate(cell.method, data, cell.seed, quick=quick)


def _artificial(cell: Cell, *, quick: bool = False) -> dict[str, Any]:
    data = problems.artificial_data(cell.problem, cell.n, cell.seed)
    results = evaluate(cell.method, data, cell.seed, quick=quick)
    return (
        results | {"y": np.sort(data.Y[:, 0] / data.unit).tolist()} if cell.seed == 0 else results
    )


def _illustration(cell: Cell, *, quick: bool = False) -> dict[str, Any]:
    """Densities at several values of the relevant input; the other inputs have their means."""
    X, y = problems.illustration_data(cell.problem, cell.n, cell.seed)
    models = {"None": LSCDE(), "LSCE": LSCE.as_published(1), OURS: LSCE(1)}
    model: Any = models[cell.method].set_params(random_state=MODEL_SEEDS + cell.seed)
    if quick and cell.method != "None":
        model.set_params(n_starts=1)
    model.fit(X, y)
    first, last = np.quantile(X[:, 0], [0.02, 0.95])
    places = np.linspace(first, last, N_SLICES)
    rows = np.tile(X.mean(axis=0), (N_SLICES, 1))
    rows[:, 0] = places
    margin = 0.15 * np.ptp(y)
    steps = np.linspace(y.min() - margin, y.max() + margin, N_STEPS)
    densities = model.predict_dist(rows).pdf_on(steps)
    return {
        "x": X[:, 0].tolist(),
        "y": y.tolist(),
        "places": places.tolist(),
        "steps": steps.tolist(),
        "densities": densities.tolist(),
    }


#: Numbers of training samples in the paper, by table; a quick run uses the smallest.
_TABLES = {name: (n,) for name in paper.ERRORS if (n := CATALOGUE[name].n_train)}
STUDIES = {
    study.name: study
    for study in (
        Study(
            "illustration",
            "Estimated densities (Figure 2)",
            dict.fromkeys(problems.ILLUSTRATED, (200,)),
            ("None", "LSCE", OURS),
            1,
            _illustration,
        ),
        Study(
            "artificial",
            "Artificial data with known truth (Figure 3)",
            dict.fromkeys(problems.TOYS, (50, 100, 200, 400)),
            ("None", "LSMI", "LSCE", "True", OURS),
            20,
            _artificial,
        ),
        Study(
            "benchmark",
            "Benchmark tables (Tables 1 and 2)",
            dict(sorted(_TABLES.items(), key=lambda item: item[1])),
            ("None", "SIR", "SAVE", "LSMI", "LSCE", OURS, FLOORLESS),
            10,
            _benchmark,
        ),
        Study(
            "worlds",
            "A robot and a brush, both simulated (Tables 1 and 2)",
            {name: world.sizes for name, world in problems.WORLDS.items()},
            ("None", "SIR", "SAVE", "LSMI", "LSCE", OURS, LINEAR),
            10,
            _worlds,
        ),
    )
}
