"""The least-squares fit: kernels, moments, ridge system, objective, model selection."""
