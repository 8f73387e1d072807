"""The command ``condensity``."""

from condensity.cli.app import app

__all__ = ["app"]
