"""``make demo``: fit two problems, say what was found, draw p(y|z), write a page to explore.

The diabetes table that comes with scikit-learn (ten inputs, 442 patients) and the paper's toy
problem (b), whose truth is known.
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
from condensity.estimators.lsce_summary import direction_in_words
from condensity.explorer import write_report
from condensity.lsce.configurations import Configuration
from condensity.metrics import subspace_error
from condensity.plots import plot_density

PICTURE = Path("condensity-demo.png")


@dataclass(frozen=True, eq=False)
class Problem:
    """Training and test data with the names of inputs and output."""

    title: str
    names: list[str]
    target: str
    data: list[Any]  # X_train, X_test, y_train, y_test

    def shortened(self, n_train: int | None) -> Problem:
        """The problem with its first ``n_train`` training samples."""
        X, X_test, y, y_test = self.data
        return replace(self, data=[X[:n_train], X_test, y[:n_train], y_test])


def diabetes() -> Problem:
    """Progression of diabetes one year on, given ten measurements."""
    table = load_diabetes()
    split = train_test_split(table.data, table.target, test_size=0.3, random_state=0)
    return Problem("diabetes", list(table.feature_names), "disease progression", split)


def toy() -> Problem:
    """``y = x2 + x2^2 + x2^3 + noise`` with four inputs that do not matter."""
    train, test = (toy_b().sample(n, random_state=s) for n, s in ((200, 0), (1000, 1)))
    data = [train[0], test[0], train[1], test[1]]
    return Problem("toy (b)", input_names(5), "y", data)


def fit(problem: Problem, progress: Any) -> LSCE:
    """Fit LSCE with the number of components left open, showing what it tries."""
    task = progress.add_task(f"[bold]{problem.title}[/]: fitting LSCE", total=None)

    def hear(tried: Configuration) -> None:
        what = f"location {tried.location}, {tried.n_components} directions"
        progress.update(task, description=f"[bold]{problem.title}[/]: tried {what}")

    X, _, y, _ = problem.data
    model = LSCE(random_state=0, n_jobs=2, verbose=hear).fit(X, y)
    progress.update(task, total=1, completed=1, description=f"[bold]{problem.title}[/]: fitted")
    return model


def summary(problem: Problem, model: LSCE) -> list[str]:
    """What was found, in sentences."""
    X, X_test, y, y_test = problem.data
    plain = LSCDE(random_state=0).fit(X, y)
    inside = model.predict_dist(X_test).interval(0.9)
    covered = np.mean((inside[:, 0] <= y_test) & (y_test <= inside[:, 1]))
    return [
        f"{problem.title}: {model.n_components_} of {len(problem.names)} dimensions kept",
        *(
            f"  z{i + 1} = {direction_in_words(w, problem.names)}"
            for i, w in enumerate(model.components_)
        ),
        f"  held-out error {-model.score(X_test, y_test):.5f}, "
        f"without reduction {-plain.score(X_test, y_test):.5f} (lower is better)",
        f"  90 % intervals hold {covered:.0%} of the test samples",
    ]


def draw(problems: list[Problem], models: list[LSCE], path: Path) -> None:
    """One panel of p(y|z) for each problem."""
    plt = require("matplotlib.pyplot", "plots")
    figure, axes = plt.subplots(1, len(problems), figsize=(11, 4.5), layout="constrained")
    for ax, problem, model in zip(axes, problems, models, strict=True):
        _, X_test, _, y_test = problem.data
        plot_density(model, X_test, y_test, ax=ax)
        ax.set(title=f"{problem.title}: p(y|z) and test samples", ylabel=problem.target)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def explorer(problem: Problem, model: LSCE, path: Path) -> Path:
    """The page in which a model can be explored."""
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


def main(path: Path = PICTURE, *, n_train: int | None = None) -> None:
    """Run the demonstration and write its picture to ``path``, a page of the same name beside it.

    Smaller ``n_train`` is quicker.
    """
    rich_progress = require("rich.progress", "cli")
    require("matplotlib", "plots").use("Agg")
    problems = [problem.shortened(n_train) for problem in (diabetes(), toy())]
    with rich_progress.Progress(
        *rich_progress.Progress.get_default_columns(), rich_progress.TimeElapsedColumn()
    ) as progress:
        models = [fit(problem, progress) for problem in problems]
    for problem, model in zip(problems, models, strict=True):
        print("\n".join(summary(problem, model)), end="\n\n")
    error = subspace_error(models[1].components_, toy_b().components)
    print(f"toy (b): distance of the subspace found from the true one {error:.3f} (at most 1.414)")
    draw(problems, models, path)
    print(f"picture: {path.resolve()}")
    page = explorer(problems[0], models[0], path.with_suffix(".html"))
    print(f"explore the model of diabetes in a browser: {page.resolve()}")


if __name__ == "__main__":
    main()
