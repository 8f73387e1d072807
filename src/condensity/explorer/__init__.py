"""The explorer: a fitted model as one web page that runs without a network."""

from condensity.explorer.report import write_report

__all__ = ["write_report"]
