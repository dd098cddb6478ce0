"""The Application Engine on AXI: a memory master per port, a slave for the registers."""

from cyscc.hw.axi.engine import AxiEngine
from cyscc.hw.axi.limits import AxiLimits

__all__ = ["AxiEngine", "AxiLimits"]
