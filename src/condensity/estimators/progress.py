"""Progress of a fit: printed, or passed to a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from condensity._utils.parameters import check_verbose
from condensity.lsce.configurations import Configuration


def progress_callback(verbose: Any, show: Callable[[Any], None]) -> Callable[[Any], None]:
    """The callback that ``verbose`` asks for: its own, ``show``, or one that does nothing."""
    if callable(check_verbose(verbose)):
        return cast(Callable[[Any], None], verbose)
    return show if verbose else lambda progress: None


def print_configuration(configuration: Configuration) -> None:
    """Print one line about a configuration."""
    s = configuration.setting
    print(
        f"[LSCE] location {configuration.location}, n_components={configuration.n_components}: "
        f"held-out loss {configuration.loss:.4f} (standardised y), "
        f"sigma {s.sigma_z:.3g} and {s.sigma_y:.3g}, penalty {s.penalty:g}",
        flush=True,
    )
