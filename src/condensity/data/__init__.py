"""Training data: samples, folds, subsamples, and chunks of very many rows."""
