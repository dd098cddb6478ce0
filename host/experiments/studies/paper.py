"""Table II of Attia et al. 2015, the FPGA of their machine, and what an AE may take of it."""

from typing import NamedTuple


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


_NEXT = "a common one of the next generation, for scale only"

DEVICES = {
    "xc5v": _Device("Virtex-5 LX330", Amounts(207_360, 207_360, 10_368), "the published machine's"),
    "xc6v": _Device("Virtex-6 LX240T", Amounts(150_720, 301_440, 14_976), _NEXT),
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

BAR = Amounts(*(amount // 2 for amount in PUBLISHED_LESS_VENDOR))
"""Target for an AE of the published size on a Virtex-5: at most half of `PUBLISHED_LESS_VENDOR`."""

FITTING = Amounts(*(7 * amount // 10 for amount in DEVICES[FAMILY].has))
"""Limit for an AE with a switch or an exchange: 70 % of the Virtex-5, which leaves room for the vendor's interface."""
