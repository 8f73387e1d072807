"""Description of the machine, and memory of processes."""

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
    """Peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def present_memory():
    """Current memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / MEBI


def workers_memory():
    """Sum of the peak memory of all child processes in MiB."""
    lists = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    # Not with getrusage, which includes the memory of the parent at the fork.
    return sum(map(_peak_of, " ".join(lists).split()))


def _peak_of(process):
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    kibi = [line.split()[1] for line in status if line.startswith("VmHWM")]
    return int(kibi[0]) / 1024 if kibi else 0.0


def describe():
    """Date, processor, memory and versions, without the name of the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    np.ones((2, 2)) @ np.ones((2, 2))  # loads the BLAS library, so that its version is known
    blas = {f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info()}
    packages = [f"{name} {number}" for name in PACKAGES if (number := installed(name))]
    return (
        f"{datetime.datetime.now(datetime.UTC):%d %B %Y}; {len(os.sched_getaffinity(0))} cores, "
        f"{processor()}, {memory:.0f} GiB; {platform.system()}, "
        f"Python {platform.python_version()}, {', '.join([*packages, *sorted(blas)])}."
    )


def processor():
    """The model of the processor if the system reports it, else the architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def installed(package):
    """The version of a package, or None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
