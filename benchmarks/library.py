"""Classes of the library for benchmarks that also measure an earlier version.

``since.py`` measures a version whose modules had other names.
"""

try:
    from condensity.data.sample import Sample
    from condensity.distributions.block import Block
    from condensity.distributions.mixture import Mixture
    from condensity.fitting.sce import SCE
except ImportError:  # the earlier version
    from condensity.core.mixture import Block
    from condensity.core.mixture import ConditionalMixture as Mixture
    from condensity.core.objective import SCE
    from condensity.core.sample import Sample

__all__ = ["SCE", "Block", "Mixture", "Sample"]
