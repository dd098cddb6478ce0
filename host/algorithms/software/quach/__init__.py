"""Concurrent pivots after pruning (Quach, Abuzaid and Chen, CUDA Implementation of Large Graph Algorithms, 2012)."""

from host.algorithms.software.quach.decomposing import quach

__all__ = ["quach"]
