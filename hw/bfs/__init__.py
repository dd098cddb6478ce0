"""The CyGraph BFS kernel and its processes (Attia et al. 2015, section 5.2)."""

from cyscc.hw.bfs.kernel import Kernel

__all__ = ["Kernel"]
