"""Least-squares fit: kernels, moments, ridge system, objectives, scores, model selection."""
