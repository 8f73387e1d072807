"""Optimisation over subspaces, and sliced dimension reduction."""
