"""Thumbnails of the gallery: one panel of the first figure, large enough that its text is read."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from PIL import Image
from sphinx.application import Sphinx
from sphinx_gallery.scrapers import matplotlib_scraper

#: Index of the panel of each example; the first if it is not here.
PANEL = {"plot_half_zero": 1, "plot_multimodal": 1, "plot_photoz": 1, "plot_subspaces": 0}
#: Pixels of a thumbnail, about twice the size at which it is shown.
SIZE = (760, 500)


def folder_of(source: str) -> Path:
    """The folder of the panels, in the gallery that belongs to the folder of the documentation."""
    return Path(source) / "auto_examples" / "images" / "panels"


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save a panel of the first figure of an example, then all figures as usual."""
    name = Path(block_vars["src_file"]).stem
    path = folder_of(gallery_conf["src_dir"]) / f"{name}.png"
    if plt.get_fignums() and not len(block_vars["image_path_iterator"]):
        figure = plt.figure(plt.get_fignums()[0])
        figure.canvas.draw()
        ax = figure.axes[PANEL.get(name, 0)]
        box = ax.get_tightbbox().transformed(figure.dpi_scale_trans.inverted()).padded(0.06)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, bbox_inches=box, dpi=180)
    return matplotlib_scraper(block, block_vars, gallery_conf)


def replace_thumbnails(app: Sphinx) -> None:
    """Replace the thumbnails that the gallery made of whole figures."""
    for path in folder_of(str(app.srcdir)).glob("*.png"):
        panel = Image.open(path).convert("RGB")
        panel.thumbnail(SIZE, Image.Resampling.LANCZOS)
        paper = Image.new("RGB", SIZE, "white")
        paper.paste(panel, ((SIZE[0] - panel.width) // 2, (SIZE[1] - panel.height) // 2))
        paper.save(path.parents[1] / "thumb" / f"sphx_glr_{path.stem}_thumb.png")


def setup(app: Sphinx) -> dict[str, bool]:
    """Replace the thumbnails after the gallery was made."""
    app.connect("builder-inited", replace_thumbnails, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
