"""``condensity demo``: fit two problems, print the results, draw p(y|z), write a page.

The problems are the diabetes table of scikit-learn (ten inputs, 442 patients) and the paper's toy
problem (b), whose true density is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from condensity._utils.extras import require
from condensity._utils.names import input_names
from condensity.datasets import toy_b
from condensity.estimators import LSCDE, LSCE
from condensity.estimators.fit_messages import direction_in_words
from condensity.explorer import write_report
from condensity.lsce.configurations import Configuration
from condensity.metrics import subspace_error
from condensity.plots import plot_density
from condensity.tables.errors import count_noun

PICTURE = Path("condensity-demo.png")
#: What the columns of the diabetes table contain.
NAMES = {
    "bmi": "body mass index",
    "bp": "blood pressure",
    "s1": "total cholesterol",
    "s2": "LDL",
    "s3": "HDL",
    "s4": "cholesterol ratio",
    "s5": "log triglycerides",
    "s6": "blood sugar",
}


@dataclass(frozen=True, eq=False)
class DemoProblem:
    """Training and test data, with the names of the inputs and of the output."""

    title: str
    names: list[str]
    target: str
    data: list[Any]  # X_train, X_test, y_train, y_test
    drawn: float = 1.0  # share of the samples, along z, that the picture covers

    def shortened(self, n_train: int | None) -> DemoProblem:
        """The problem with its first ``n_train`` training samples."""
        X, X_test, y, y_test = self.data
        return replace(self, data=[X[:n_train], X_test, y[:n_train], y_test])


def diabetes() -> DemoProblem:
    """Progression of diabetes after one year, given ten measurements."""
    table = load_diabetes(scaled=False)
    split = train_test_split(table.data, table.target, test_size=0.3, random_state=0)
    names = [NAMES.get(name, name) for name in table.feature_names]
    return DemoProblem("diabetes", names, "disease progression", split)


def toy() -> DemoProblem:
    """``y = x2 + x2^2 + x2^3 + noise`` with five inputs; only x2 has an effect."""
    train, test = (toy_b().sample(n, random_state=s) for n, s in ((2000, 0), (1000, 1)))
    data = [train[0], test[0], train[1], test[1]]
    # The noise is visible in the middle, because y is steep at the ends.
    return DemoProblem("toy (b)", input_names(5), "y", data, drawn=0.8)


def fit_problem(problem: DemoProblem, progress: Any) -> LSCE:
    """Fit LSCE, which selects the number of components, and show its progress."""
    task = progress.add_task(f"[bold]{problem.title}[/]: fitting LSCE", total=None)

    def show(tried: Configuration) -> None:
        step = f"location {tried.location}, n_components {tried.n_components}"
        progress.update(task, description=f"[bold]{problem.title}[/]: {step}")

    X, _, y, _ = problem.data
    model = LSCE(random_state=0, n_jobs=2, verbose=show).fit(X, y)
    progress.update(task, total=1, completed=1, description=f"[bold]{problem.title}[/]: fitted")
    return model


def summary(problem: DemoProblem, model: LSCE) -> list[str]:
    """Results of a fit as lines of text."""
    X, X_test, y, y_test = problem.data
    full = LSCDE(random_state=0).fit(X, y)
    intervals = model.predict_dist(X_test).interval(0.9)
    coverage = np.mean((intervals[:, 0] <= y_test) & (y_test <= intervals[:, 1]))
    return [
        f"{problem.title}: {count_noun(model.n_components_, 'direction')} found among "
        f"{count_noun(len(problem.names), 'input')}",
        *(
            f"  z{i + 1} = {direction_in_words(w, problem.names)}"
            for i, w in enumerate(model.components_)
        ),
        f"  held-out error {-model.score(X_test, y_test):.5f}, "
        f"without reduction {-full.score(X_test, y_test):.5f} (lower is better)",
        f"  90 % intervals contain {coverage:.0%} of the test samples",
    ]


def draw(problems: list[DemoProblem], models: list[LSCE], path: Path) -> None:
    """Draw p(y|z) for each problem, and save the picture."""
    plt = require("matplotlib.pyplot", "plots")
    figure, axes = plt.subplots(1, len(problems), figsize=(11, 4.5), layout="constrained")
    for ax, problem, model in zip(axes, problems, models, strict=True):
        _, X_test, _, y_test = problem.data
        z = model.transform(X_test)[:, 0]
        low, high = np.quantile(z, [0.5 - problem.drawn / 2, 0.5 + problem.drawn / 2])
        inside = np.flatnonzero((low <= z) & (z <= high))[:200]
        plot_density(model, X_test[inside], y_test[inside], ax=ax)
        ax.set(title=f"{problem.title}: p(y|z) and test samples", ylabel=problem.target)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def write_page(problem: DemoProblem, model: LSCE, path: Path) -> Path:
    """Write a page to explore a model."""
    X, X_test, y, y_test = problem.data
    return write_report(
        model,
        path,
        X=X,
        y=y,
        X_test=X_test,
        y_test=y_test,
        feature_names=problem.names,
        target_names=problem.target,
    )


def run_demo(path: Path = PICTURE, *, n_train: int | None = None) -> None:
    """Run the demonstration; write a picture to ``path``, and a page of the same name.

    ``n_train`` is the number of training samples; fewer are faster.
    """
    rich_progress = require("rich.progress", "cli")
    require("matplotlib", "plots").use("Agg")
    problems = [problem.shortened(n_train) for problem in (diabetes(), toy())]
    with rich_progress.Progress(
        *rich_progress.Progress.get_default_columns(), rich_progress.TimeElapsedColumn()
    ) as progress:
        models = [fit_problem(problem, progress) for problem in problems]
    for problem, model in zip(problems, models, strict=True):
        print("\n".join(summary(problem, model)), end="\n\n")
    error = subspace_error(models[1].components_, toy_b().components)
    print(f"toy (b): distance between estimated and true subspace {error:.3f} (at most 1.414)")
    draw(problems, models, path)
    print(f"picture: {path.resolve()}")
    page = write_page(problems[0], models[0], path.with_suffix(".html"))
    print(f"page to explore the diabetes model: {page.resolve()}")


if __name__ == "__main__":
    run_demo()
