"""Settings of the library as options of the command line, and corrected commands."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from typing import Any

import typer

from condensity.tables.errors import ParameterValue

FLAGS = {
    "target": "--target",
    "features": "--features",
    "exclude": "--exclude",
    "categorical": "--categorical",
    "dates": "--dates",
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
#: Characters that separate or enclose names in a list.
SEPARATORS = ',"'


def as_flag(setting: ParameterValue) -> str:
    """A setting as the command line writes it; a list of values repeats the option."""
    flag = FLAGS[setting.name]
    return flag if setting.value is None else " ".join(f"{flag} {v}" for v in _texts(setting.value))


def corrected_command(context: typer.Context, corrections: Sequence[ParameterValue]) -> str:
    """The command that was given, with other values for some of its options."""
    replaced = {FLAGS[setting.name]: setting for setting in corrections}
    words = ["condensity", str(context.info_name)]
    for parameter in context.command.params:
        flag, value = parameter.opts[0], context.params[parameter.name or ""]
        source: Any = context.get_parameter_source(parameter.name or "")
        if flag not in replaced and source is not None and source.name == "COMMANDLINE":
            words += _words(parameter, value)
    for flag, setting in replaced.items():
        words += _list_words(flag, _texts(setting.value))
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _words(parameter: Any, value: Any) -> list[str]:
    """Words of an option or an argument with the value that was given."""
    if parameter.param_type_name == "argument":
        return [str(value)]
    if isinstance(value, bool):
        return [parameter.opts[0] if value else parameter.secondary_opts[0]]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for item in values for word in (parameter.opts[0], str(item))]


def _list_words(flag: str, texts: list[str]) -> list[str]:
    """One list with commas, or an option for each value if a comma would be ambiguous."""
    if any(character in text for text in texts for character in SEPARATORS):
        return [word for text in texts for word in (flag, text)]
    return [flag, ",".join(texts)]


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{name}:{order}" if order else name for name, order in value.items()]
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]
