"""Shared helpers: validation, parallel workers, numerical tools, optional packages."""
