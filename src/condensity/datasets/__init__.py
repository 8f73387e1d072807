"""Problems to learn from: toy problems whose truth is known, and the tables of the paper."""

from condensity.datasets.tables import Split, Table, load, names
from condensity.datasets.toys import ToyProblem, illustrative, toy_a, toy_b

__all__ = ["Split", "Table", "ToyProblem", "illustrative", "load", "names", "toy_a", "toy_b"]
