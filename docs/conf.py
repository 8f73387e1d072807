"""Sphinx configuration of the documentation, built by ``make docs``."""

import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import condensity

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "condensity"
author = "The condensity developers"
copyright = author
version = release = condensity.__version__

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "panels",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
# The tables in results/ are included by results/index.md and are not pages themselves.
exclude_patterns = ["_build", "_static/*.py", "**/GALLERY_HEADER.rst", "results/[!i]*.md"]
templates_path = ["_templates"]
#: Pages in the tables of contents that may be missing.
OPTIONAL = ("scaling", "benchmarks", "comparison", "results/index")

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings contain types and shapes
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the templates list the members

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"^(?!plot_)",
    "within_subsection_order": "order.GalleryOrder",
    "backreferences_dir": "api/generated/backreferences",
    "doc_module": ("condensity",),
    "reference_url": {"condensity": None},
    "image_scrapers": ("panels.scrape",),
    "matplotlib_animations": False,
    "show_memory": False,
    "thumbnail_size": (760, 500),
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "parallel": 2,
    "nested_sections": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "condensity"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
html_sidebars = {"start": []}
html_context = {"default_mode": "auto"}  # light or dark, following the system setting
html_theme_options = {
    "logo": {"text": "condensity"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}


def skip_sklearn_members(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Skip methods inherited from scikit-learn, such as ``get_params``."""
    owner = getattr(obj, "__func__", obj)
    module = getattr(owner, "__module__", None) or ""
    return True if module.startswith("sklearn") else None


def remove_doctest_blank_lines(app: Sphinx, page: str, source: list[str]) -> None:
    """Remove the empty line at the end of doctest snippets."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def remove_missing_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """Remove optional pages that do not exist from the tables of contents."""
    for name in OPTIONAL:
        if not (HERE / f"{name}.md").exists():
            source[0] = source[0].replace(f"\n{name}\n", "\n")


def setup(app: Sphinx) -> None:
    """Register the functions above with Sphinx."""
    app.connect("source-read", remove_doctest_blank_lines)
    app.connect("source-read", remove_missing_pages)
    app.connect("autodoc-skip-member", skip_sklearn_members)
