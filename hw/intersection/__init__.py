"""The intersection kernel and its processes (Attia et al. 2015, section 5.3)."""

from cyscc.hw.intersection.kernel import Kernel

__all__ = ["Kernel"]
