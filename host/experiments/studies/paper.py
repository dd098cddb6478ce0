"""Table II of Attia et al. 2015, the FPGA of their machine, and what an AE may take of it."""

import tomllib
from typing import NamedTuple

from cyscc.host.experiments.studies.rows import PAPERS


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


class _Device(NamedTuple):
    """An FPGA and its resources."""

    name: str
    """Name of the part."""
    has: Amounts
    """Its resources."""
    note: str
    """Reason to compare with it."""


_TABLE = tomllib.loads((PAPERS / "attia-table2.toml").read_text(encoding="utf-8"))

DEVICES = {
    family: _Device(name=about["name"], has=Amounts(*about["has"]), note=about["note"])
    for family, about in _TABLE["devices"].items()
}
"""Device to compare with, by the family name of Yosys' ``synth_xilinx``."""

FAMILY = "xc5v"
"""The family of the published machine."""

PUBLISHED = Amounts(*_TABLE["published"])
"""One FPGA of the published machine, including the vendor's interface (table II)."""

PUBLISHED_BFS = Amounts(*_TABLE["published_bfs"])
"""One FPGA of the published BFS build, including the vendor's interface (table II)."""

PUBLISHED_LESS_VENDOR = Amounts(luts=111_400, registers=129_800, block_ram=6_390)
"""`PUBLISHED` without the vendor's interface: less 10 % of the device's logic and 25 % of its block RAM, rounded."""

BAR = Amounts(*(amount // 2 for amount in PUBLISHED_LESS_VENDOR))
"""Target for an AE of the published size on a Virtex-5: at most half of `PUBLISHED_LESS_VENDOR`."""

FITTING = Amounts(*(7 * amount // 10 for amount in DEVICES[FAMILY].has))
"""Limit for an AE with a switch or an exchange: 70 % of the Virtex-5, which leaves room for the vendor's interface."""
