"""Profile `hbm2`: the two HBM2 stacks of an AMD (Xilinx) Alveo U280."""

from dataclasses import dataclass
from typing import ClassVar

from cyscc.sim.memory.profiles.dram import Dram


@dataclass(frozen=True, kw_only=True)
class Hbm2(Dram):
    """HBM2 with 16 controllers of two pseudo-channels each, at 900 MHz.

    Its parameters and their sources are in `devices.toml`.
    """

    name: ClassVar[str] = "hbm2"
