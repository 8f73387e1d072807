"""The gallery in the order in which it is best read."""

from pathlib import Path

ORDER = (
    "first_look",
    "heteroscedastic",
    "multimodal",
    "multi_output",
    "risk",
    "half_zero",
    "what_drives",
    "photoz",
    "control",
    "subspaces",
    "large_data",
)


class GalleryOrder:
    """Sorts the examples of a folder; those that are not known come last, by name."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, filename: str) -> tuple[int, str]:
        """What the example is sorted by."""
        name = Path(filename).stem.removeprefix("plot_")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)
