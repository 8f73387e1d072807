"""Helpers that all rooms share: checks of arguments, workers, optional packages."""
