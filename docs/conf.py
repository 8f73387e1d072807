"""How the pages are built: ``make docs``."""

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
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
# Tables of results are parts of the page that shows them.
exclude_patterns = ["_build", "_static/*.py", "**/GALLERY_HEADER.rst", "results/[!i]*.md"]
templates_path = ["_templates"]
#: Pages that the tables of contents name, and that need not be there.
OPTIONAL = ("scaling", "benchmarks", "results/index")

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autosummary_generate = True
autodoc_typehints = "none"  # docstrings say what is taken and given, and its shape
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the templates list them

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
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "show_memory": False,
    "thumbnail_size": (640, 320),
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
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_theme_options = {
    "logo": {"text": "condensity"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}


def skip_what_is_scikit_learns(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Methods such as ``get_params`` are described where they come from."""
    owner = getattr(obj, "__func__", obj)
    theirs = getattr(owner, "__module__", None) or ""
    return True if theirs.startswith("sklearn") else None


def close_up_code(app: Sphinx, page: str, source: list[str]) -> None:
    """Take away the empty line that ends a doctest, and that nobody wants to see."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def leave_out_what_is_not_there(app: Sphinx, page: str, source: list[str]) -> None:
    """Take optional pages out of a table of contents."""
    for name in OPTIONAL:
        if not (HERE / f"{name}.md").exists():
            source[0] = source[0].replace(f"\n{name}\n", "\n")


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.connect("source-read", close_up_code)
    app.connect("source-read", leave_out_what_is_not_there)
    app.connect("autodoc-skip-member", skip_what_is_scikit_learns)
