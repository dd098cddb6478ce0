"""The decomposition of Li, Zhu, Cong and Yang (2013): Partition, then one source for each subgraph, until none is left."""

from host.algorithms.software.li.decomposition import li

__all__ = ["li"]
