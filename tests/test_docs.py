"""The pages: every public name is in the reference, every example has its place in the gallery."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import condensity
from condensity import conformal, datasets, distributions, explorer, metrics, plots, scorers, tables

DOCS = Path(__file__).parents[1] / "docs"
MODULES = [
    condensity,
    conformal,
    datasets,
    distributions,
    explorer,
    metrics,
    plots,
    scorers,
    tables,
]


def listed(module):
    """Names under ``currentmodule`` in the reference."""
    page = (DOCS / "api" / "index.md").read_text()
    parts = re.split(r"^\.\. currentmodule:: (\S+)$", page, flags=re.MULTILINE)
    found = zip(parts[1::2], parts[2::2], strict=True)
    own = [text for name, text in found if name == module.__name__]
    return {name for text in own for name in re.findall(r"^   ([\w.]+)$", text, re.MULTILINE)}


def extension(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_the_reference_names_all_that_is_public(module):
    public = {n for n in module.__all__ if not isinstance(getattr(module, n), ModuleType)}
    if module is condensity:
        public -= {"ConditionalMixture"}  # listed where it is defined
    assert public <= listed(module)


def test_the_reference_names_nothing_else():
    for module in MODULES:
        for name in listed(module):
            owner = importlib.import_module(f"{module.__name__}.{name}".rpartition(".")[0])
            assert getattr(owner, name.rpartition(".")[2]).__doc__


def test_every_example_has_its_place():
    order = extension("order")
    examples = {p.stem.removeprefix("plot_") for p in (DOCS.parent / "examples").glob("plot_*.py")}
    assert set(order.ORDER) == examples
    assert sorted(examples, key=order.GalleryOrder("")) == list(order.ORDER)


def test_pages_fetch_nothing():
    """No page, style or template asks the network for anything when it is read."""
    for path in [*DOCS.rglob("*.md"), *DOCS.rglob("*.css"), *DOCS.rglob("*.html")]:
        if not {"_build", "auto_examples"} & set(path.parts):
            assert not re.search(r"(?:src|@import|url)\W{1,3}https?:", path.read_text()), path


def test_lines_of_a_formula_are_aligned_or_refused():
    pytest.importorskip("latex2mathml", reason="latex2mathml comes with condensity[docs]")
    pytest.importorskip("sphinx", reason="sphinx comes with condensity[docs]")
    mathml = extension("mathml").mathml
    drawn = mathml(r"\begin{aligned} a &= b \\ &= c \end{aligned}", display="block")
    assert drawn.count("<mtr>") == 2
    assert "<mi>&</mi>" not in drawn
    with pytest.raises(ValueError, match="& has no MathML"):
        mathml(r"\begin{gathered} a &= b \end{gathered}", display="block")
