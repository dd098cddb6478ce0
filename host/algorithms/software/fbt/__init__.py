"""Forward-backward search with trimming, as Wijs, Katoen and Bošnački have it (CAV 2014)."""

from host.algorithms.software.fbt.regions import Fbt, decompose_regions, fbt

__all__ = ["Fbt", "decompose_regions", "fbt"]
