"""Conditional densities and every question that can be asked of them."""
