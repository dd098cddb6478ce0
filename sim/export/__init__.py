"""Export of the hardware for synthesis and for other simulators."""

from cyscc.hw.axi import AxiLimits
from cyscc.sim.export.files import TOPS, declared_ports, export_verilog

__all__ = ["TOPS", "AxiLimits", "declared_ports", "export_verilog"]
