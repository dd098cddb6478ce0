"""What the published machine took, and the devices that results are compared with."""

from dataclasses import dataclass

from host.studies.fpga.cells import Resources
from hw.config import PRESETS, AcceleratorConfig

__all__ = ["BAR", "DEVICES", "PUBLISHED", "PUBLISHED_BFS", "PUBLISHED_LESS_VENDOR", "Amounts", "Device", "comparable"]


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """LUTs, registers and block RAM.

    Parameters
    ----------
    luts, registers : int
        Numbers.
    block_ram : int
        In Kb.
    """

    luts: int
    registers: int
    block_ram: int

    @classmethod
    def of(cls, resources: Resources) -> "Amounts":
        """Return the amounts of a synthesised part."""
        return cls(luts=resources.luts, registers=resources.registers, block_ram=resources.block_ram)

    def values(self) -> tuple[int, int, int]:
        """Return LUTs, registers and block RAM, in this order."""
        return self.luts, self.registers, self.block_ram

    def within(self, limit: "Amounts") -> tuple[bool, bool, bool]:
        """Whether each amount is at most that of a limit."""
        luts, registers, block_ram = (mine <= most for mine, most in zip(self.values(), limit.values(), strict=True))
        return luts, registers, block_ram


@dataclass(frozen=True, kw_only=True)
class Device:
    """An FPGA.

    Parameters
    ----------
    name : str
        Name of the part.
    has : Amounts
        What it has.
    note : str
        Why it is the one to compare with.
    """

    name: str
    has: Amounts
    note: str


DEVICES: dict[str, Device] = {
    "xc5v": Device(
        name="Virtex-5 LX330",
        has=Amounts(luts=207_360, registers=207_360, block_ram=10_368),
        note="the published machine's",
    ),
    "xc6v": Device(
        name="Virtex-6 LX240T",
        has=Amounts(luts=150_720, registers=301_440, block_ram=14_976),
        note="a common one of the next generation, for scale only",
    ),
}
"""Device to compare with, by the family name of Yosys' ``synth_xilinx``."""

PUBLISHED = Amounts(luts=132_139, registers=150_585, block_ram=8_982)
"""One FPGA of the published machine, vendor's interface included (Attia et al. 2015, Table II)."""

PUBLISHED_BFS = Amounts(luts=114_530, registers=125_638, block_ram=6_678)
"""One FPGA of its BFS alone, vendor's interface included (Table II)."""

PUBLISHED_LESS_VENDOR = Amounts(luts=111_400, registers=129_800, block_ram=6_390)
"""`PUBLISHED` less the vendor's interface: 10 % of the device's logic and 25 % of its block RAM, rounded."""

BAR = Amounts(luts=55_700, registers=64_900, block_ram=3_195)
"""Most that an AE of the published size may take on a Virtex-5: half of `PUBLISHED_LESS_VENDOR`."""


def comparable(config: AcceleratorConfig) -> bool:
    """Whether an AE of a machine has as many kernels as the published one, so that Table II says something of it."""
    paper = PRESETS["hc2"]
    return (config.bfs_kernels, config.intersection_kernels) == (paper.bfs_kernels, paper.intersection_kernels)
