"""Shared parts of the benchmarks: timers, Markdown tables and targets."""

import time

import numpy as np


def seconds_of(function):
    """Processor time of all threads in seconds, and the result of the function."""
    started = time.process_time()
    answer = function()
    return time.process_time() - started, answer


def quickest(functions, repeats=7):
    """The shortest processor time of each function in seconds; the functions alternate."""
    seconds = [[seconds_of(function)[0] for function in functions] for _ in range(repeats)]
    return np.min(seconds, axis=0)


def at_most(value, limit, unit="x"):
    """Target for a figure that should be small, and whether it is met."""
    return f"at most {limit:g} {unit}".strip() + ": " + ("met" if value <= limit else "**missed**")


def at_least(value, limit, unit="x"):
    """Target for a figure that should be large, and whether it is met."""
    return f"at least {limit:g} {unit}".strip() + ": " + ("met" if value >= limit else "**missed**")


def show_header(*names):
    print("|", " | ".join(names), "|")
    print("|---" * len(names) + "|", flush=True)


def show_row(*cells):
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)
