"""Model files: ``save`` writes a fitted model to one file, ``load`` reads it.

``persistence`` converts models to JSON and arrays, ``container`` converts these to bytes,
``integrity`` checks a model after it is read, and ``atomic`` writes files.
"""

from condensity.io.persistence import load, save

__all__ = ["load", "save"]
