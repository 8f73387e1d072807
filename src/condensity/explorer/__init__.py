"""The explorer: a fitted model as one page in which it runs, without any network."""

from condensity.explorer.report import write_report

__all__ = ["write_report"]
