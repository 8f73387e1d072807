"""Data frames as inputs of models, and models that remember the columns of their table."""
