"""Options of the command line for the parameters of the library."""

from __future__ import annotations

from condensity.tables.errors import ParameterValue

FLAGS = {
    "target": "--target",
    "features": "--features",
    "exclude": "--exclude",
    "categorical": "--categorical",
    "missing": "--missing",
    "n_components": "--components",
    "n_members": "--members",
    "min_bandwidth": "--min-bandwidth",
    "bounds": "--bounds",
    "atoms": "--atoms",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "test_size": "--test-share",
    "keep": "--keep",
}


def as_flag(setting: ParameterValue) -> str:
    """A setting as the command line writes it; a list of values repeats the option."""
    flag = FLAGS[setting.name]
    if setting.value is None:
        return flag
    values = setting.value if isinstance(setting.value, list) else [setting.value]
    return " ".join(f"{flag} {value}" for value in values)
