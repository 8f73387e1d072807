"""The folder with the tables of the paper, for the tests that need the real thing."""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[2] / "shared" / "data"
FOLDER = Path(os.environ.get("CONDENSITY_DATA") or BESIDE)
needs_data = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no folder {FOLDER}: set CONDENSITY_DATA to one with the files"
)
needs_strokes = pytest.mark.skipif(
    not (FOLDER / "brush_strokes").is_dir(),
    reason=f"no brush_strokes in {FOLDER}: set CONDENSITY_DATA to a folder that has them",
)
