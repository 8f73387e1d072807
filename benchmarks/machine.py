"""The machine that is measured on, and what of its memory a process takes."""

import datetime
import os
import platform
import resource
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

MEBI = 2**20
PACKAGES = ("numpy", "scipy", "scikit-learn", "jax", "pymanopt")


def peak_memory():
    """MiB that this process had in memory at its peak."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def present_memory():
    """MiB that this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / MEBI


def workers_memory():
    """MiB that processes started by this one had at their peaks, all together."""
    lists = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    # Not by getrusage, which takes what the parent had at the fork for theirs.
    return sum(map(_peak_of, " ".join(lists).split()))


def _peak_of(process):
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    kibi = [line.split()[1] for line in status if line.startswith("VmHWM")]
    return int(kibi[0]) / 1024 if kibi else 0.0


def describe():
    """The machine in one paragraph, without its name."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    np.ones((2, 2)) @ np.ones((2, 2))  # only what is loaded tells its version
    blas = {f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info()}
    packages = [f"{name} {found}" for name in PACKAGES if (found := installed(name))]
    return (
        f"{datetime.datetime.now(datetime.UTC):%d %B %Y}; {len(os.sched_getaffinity(0))} cores, "
        f"{processor()}, {memory:.0f} GiB; {platform.system()}, "
        f"Python {platform.python_version()}, {', '.join([*packages, *sorted(blas)])}."
    )


def processor():
    """The model of the processor, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def installed(package):
    """The version of a package, None where it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
