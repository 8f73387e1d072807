"""Conditional densities as objects of other packages; methods of ``Distribution`` call them."""
