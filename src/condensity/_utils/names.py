"""Names of unnamed inputs, outputs and directions, numbered from 1 as in the paper."""

from __future__ import annotations


def input_names(n: int) -> list[str]:
    """Names of ``n`` unnamed inputs: x1, x2, ...

    >>> input_names(3)
    ['x1', 'x2', 'x3']
    """
    return [f"x{j + 1}" for j in range(n)]


def output_names(n: int) -> list[str]:
    """Names of ``n`` unnamed outputs: y for a single one, otherwise y1, y2, ...

    >>> output_names(1), output_names(2)
    (['y'], ['y1', 'y2'])
    """
    return ["y"] if n == 1 else [f"y{j + 1}" for j in range(n)]


def direction_names(n: int) -> list[str]:
    """Names of ``n`` directions: z for a single one, otherwise z1, z2, ...

    >>> direction_names(1), direction_names(2)
    (['z'], ['z1', 'z2'])
    """
    return ["z"] if n == 1 else [f"z{k + 1}" for k in range(n)]
