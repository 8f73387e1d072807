"""Model files: container format, persistence, integrity checks, atomic writes."""
