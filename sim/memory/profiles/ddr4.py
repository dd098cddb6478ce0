"""Profile `ddr4`: the four channels of DDR4 of an AMD (Xilinx) Alveo U250 or an AWS F1 instance."""

from dataclasses import dataclass
from typing import ClassVar

from cyscc.sim.memory.profiles.dram import Dram


@dataclass(frozen=True, kw_only=True)
class Ddr4(Dram):
    """DDR4-2400 with four channels of 64 bits, each with a controller of its own, at 1,200 MHz.

    Its parameters and their sources are in `devices.toml`.
    """

    name: ClassVar[str] = "ddr4"
