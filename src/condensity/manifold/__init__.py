"""Optimisation over subspaces: knows matrices with orthonormal rows, never densities."""
