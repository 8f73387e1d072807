"""Generated attacks, in child processes; ``tests/torture.py`` runs many more of them."""

import json

import numpy as np
import pytest

from torture import PLAIN, failures_of, outcome, run_in_child

#: Cases that once broke a law, or leaked a warning or an error.
FOUND = [
    {"estimator": "LSCE", "weights": "very different", "n": 8, "seed": 564},
    {"estimator": "EpsilonKDE", "parameters": {"n_jobs": 0.5}, "n": 3, "seed": 341},
    {"estimator": "LSCDE", "outputs": "tiny unit", "n": 3, "seed": 46},
    {"estimator": "EpsilonKDE", "outputs": "nearly constant", "n": 3, "seed": 519},
    {"estimator": "LSCE", "parameters": {"n_centers": 2}, "n": 3, "seed": 206},
]


@pytest.mark.parametrize("first", range(0, 500, 50))
def test_generated_cases_are_refused_in_a_sentence_or_answered_by_the_laws(first):
    failures = failures_of(run_in_child(range(first, first + 50)))
    assert not failures, "\n".join(f"{r['outcome']}: {json.dumps(r['case'])}" for r in failures)


@pytest.mark.parametrize("case", FOUND, ids=lambda case: case["estimator"])
def test_defects_that_were_found_stay_mended(case):
    assert outcome({"parameters": {}} | PLAIN | case).split(":")[0] in ("answered", "refused")


def test_the_laws_can_be_broken(monkeypatch):
    """A density that is wrong in one place is noticed."""
    from condensity.distributions import Mixture

    case = {"estimator": "LSCDE", "parameters": {}, "n": 20, "seed": 1} | PLAIN
    assert outcome(case) == "answered"
    for name, wrong in (
        ("cdf", lambda self, y: np.full(len(self), 0.5)),
        ("pdf_on", lambda self, y: np.ones((len(self), len(y)))),
        ("crps", lambda self, y: np.full(len(self), np.nan)),
        ("mean", lambda self: np.full(len(self), np.inf)),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(Mixture, name, wrong)
            assert outcome(case).startswith("broken"), name
