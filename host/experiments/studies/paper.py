"""Published results of Attia et al. 2015, section 6, the reference of the studies; and the FPGA of their machine."""

from dataclasses import dataclass
from typing import NamedTuple

__all__ = [
    "BAR",
    "COMPONENT_MACHINES",
    "DEVICES",
    "ENGINES",
    "FAMILY",
    "FITTING",
    "KINDS",
    "PUBLISHED",
    "PUBLISHED_BFS",
    "PUBLISHED_LESS_VENDOR",
    "SEARCH_MACHINES",
    "TABLE1_DEGREES",
    "TABLE1_VERTICES",
    "Amounts",
    "Device",
    "preset_of",
]

SEARCH_MACHINES = {"published": "published-bfs", "published-scc": "published", "hc2": "hc2"}
"""Presets with four AEs for table I and figures 10 and 11, by machine name.

The paper measured these on its BFS build, which has separate rows in table II and separate source code. So `published`
is that build here; `published-scc` is the one that finds components.
"""

COMPONENT_MACHINES = {"published": "published", "hc2": "hc2"}
"""Presets with four AEs for figures 12 and 13, by machine name. The paper used its SCC build."""


def preset_of(machine: str, engines: int) -> str:
    """Return the preset of a machine in `SEARCH_MACHINES` with one or four AEs."""
    preset = SEARCH_MACHINES[machine]
    return preset if engines == 4 else f"{preset}-1ae"


KINDS = ("random", "rmat")
"""Kinds of graphs, in the order of table I's columns."""

ENGINES = (1, 4)
"""Numbers of Application Engines (FPGAs), in the order of table I's columns."""

TABLE1_DEGREES = (8, 16, 32, 64)
"""Average degrees, the rows of table I and the panels of figures 10 and 11."""

TABLE1_VERTICES = (1 << 20, 1 << 21, 1 << 22, 1 << 23)
"""Numbers of vertices that table I averages over."""


class Amounts(NamedTuple):
    """Amounts of LUTs, registers and block RAM.

    Parameters
    ----------
    luts, registers : int
        Numbers.
    block_ram : int
        Block RAM in Kb.
    """

    luts: int
    registers: int
    block_ram: int

    def within(self, limit: "Amounts") -> tuple[bool, ...]:
        """Return for each amount whether it is within a limit."""
        return tuple(mine <= most for mine, most in zip(self, limit, strict=True))


@dataclass(frozen=True, kw_only=True)
class Device:
    """An FPGA and its resources.

    Parameters
    ----------
    name : str
        Name of the part.
    has : Amounts
        Its resources.
    note : str
        Reason to compare with it.
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

FAMILY = "xc5v"
"""The family of the published machine."""

PUBLISHED = Amounts(luts=132_139, registers=150_585, block_ram=8_982)
"""One FPGA of the published machine, including the vendor's interface (table II)."""

PUBLISHED_BFS = Amounts(luts=114_530, registers=125_638, block_ram=6_678)
"""One FPGA of the published BFS build, including the vendor's interface (table II)."""

PUBLISHED_LESS_VENDOR = Amounts(luts=111_400, registers=129_800, block_ram=6_390)
"""`PUBLISHED` without the vendor's interface: less 10 % of the device's logic and 25 % of its block RAM, rounded."""

BAR = Amounts(luts=55_700, registers=64_900, block_ram=3_195)
"""Target for an AE of the published size on a Virtex-5: at most half of `PUBLISHED_LESS_VENDOR`."""

FITTING = Amounts(luts=145_152, registers=145_152, block_ram=7_257)
"""Limit for an AE with a switch or an exchange: 70 % of the Virtex-5, which leaves room for the vendor's interface."""
