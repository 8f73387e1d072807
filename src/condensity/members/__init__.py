"""Members: models that leave out one fold, and their average."""
