"""Locations: models of the mean of y given x."""
