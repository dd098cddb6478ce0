"""The Application Engine on AXI: a memory master per port, a slave for the registers."""

from hw.axi.engine import AxiEngine
from hw.axi.limits import AxiLimits

__all__ = ["AxiEngine", "AxiLimits"]
