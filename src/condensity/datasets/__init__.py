"""Problems to learn from: toy problems whose truth is known."""

from condensity.datasets.toys import ToyProblem, illustrative, toy_a, toy_b

__all__ = ["ToyProblem", "illustrative", "toy_a", "toy_b"]
