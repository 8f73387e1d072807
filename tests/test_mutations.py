"""The declared mutations can be applied: a line that changes takes its mutations along."""

import ast

import pytest

import condensity
from mutations import ROOT, declared, mutated


@pytest.mark.parametrize("mutation", declared(), ids=lambda m: f"{m['file']} {m['old'][:30]}")
def test_every_mutation_fits_its_file(mutation):
    package = ROOT / "src" / "condensity"
    source = (package / mutation["file"]).read_text()
    ast.parse(mutated(source, mutation))
    for name in mutation["tests"].split(" -k ")[0].split():
        assert (ROOT / name).exists(), name
    assert condensity.__name__ == package.name
