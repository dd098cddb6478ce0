"""The decomposition of Li, Zhu, Cong and Yang (2013): Partition, then a source for each subgraph, again and again."""

from host.algorithms.software.li.decomposition import li

__all__ = ["li"]
