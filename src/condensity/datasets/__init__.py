"""Datasets: toy problems with known truth, the paper's tables, and two simulated worlds."""

from condensity.datasets.brush_simulation import brush
from condensity.datasets.paper_tables import Split, Table, load, names
from condensity.datasets.robot_simulation import robot
from condensity.datasets.toys import ToyProblem, illustrative, toy_a, toy_b
from condensity.datasets.transitions import Transitions

__all__ = [
    "Split",
    "Table",
    "ToyProblem",
    "Transitions",
    "brush",
    "illustrative",
    "load",
    "names",
    "robot",
    "toy_a",
    "toy_b",
]
