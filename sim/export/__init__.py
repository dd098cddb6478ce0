"""Export of the hardware for synthesis and for other simulators."""

from hw.axi import AxiLimits
from sim.export.files import TOPS, declared_ports, export_verilog

__all__ = ["TOPS", "AxiLimits", "declared_ports", "export_verilog"]
