"""What the benchmarks share: clocks, tables in Markdown, and a plain word on every target."""

import time

import numpy as np


def seconds_of(function):
    """Seconds of processor time, of all threads, and what the function returned."""
    begun = time.process_time()
    answer = function()
    return time.process_time() - begun, answer


def quickest(functions, repeats=7):
    """The least seconds of processor time of each, taken in turn."""
    seconds = [[seconds_of(function)[0] for function in functions] for _ in range(repeats)]
    return np.min(seconds, axis=0)


def at_most(value, limit, unit="x"):
    """Whether a figure that should be small is."""
    return f"at most {limit:g} {unit}".strip() + ": " + ("met" if value <= limit else "**missed**")


def at_least(value, limit, unit="x"):
    """Whether a figure that should be large is."""
    return f"at least {limit:g} {unit}".strip() + ": " + ("met" if value >= limit else "**missed**")


def show_header(*names):
    print("|", " | ".join(names), "|")
    print("|---" * len(names) + "|", flush=True)


def show_row(*cells):
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)
