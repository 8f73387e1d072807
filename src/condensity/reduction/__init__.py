"""The algorithms: only here do the densities of ``core`` meet the subspaces of ``manifold``."""
