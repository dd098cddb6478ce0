"""What the cells of a synthesised netlist take on a Virtex-5 or Virtex-6."""

from dataclasses import asdict, dataclass, fields

from host.studies.fpga_tools import ToolError
from host.studies.paper import Amounts

__all__ = ["Resources", "cell_resources"]


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Amounts of an FPGA's resources. They add up, and multiply by a number of instances.

    Parameters
    ----------
    logic : int
        LUTs that compute: LUT1 to LUT6, and inverters, which take a LUT unless a later step absorbs them.
    memory : int
        LUTs that store: LUT RAM and shift registers.
    route_through : int
        LUTs that only pass a signal into a carry chain. An upper bound.
    registers : int
        Flip-flops and latches.
    block_ram : int
        Block RAM in Kb (1024 bits): 36 per whole one, 18 per half.
    carries : int
        CARRY4 cells, of four bits each.
    dsps : int
        DSP blocks.
    """

    logic: int = 0
    memory: int = 0
    route_through: int = 0
    registers: int = 0
    block_ram: int = 0
    carries: int = 0
    dsps: int = 0

    @property
    def luts(self) -> int:
        """LUTs in all."""
        return self.logic + self.memory + self.route_through

    def __add__(self, other: "Resources") -> "Resources":
        return Resources(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    def __mul__(self, count: int) -> "Resources":
        return Resources(**{f.name: getattr(self, f.name) * count for f in fields(self)})

    def amounts(self) -> Amounts:
        """Return what is compared with the paper and with a device."""
        return Amounts(luts=self.luts, registers=self.registers, block_ram=self.block_ram)

    def document(self) -> dict[str, int]:
        """Return the amounts as a dictionary for JSON, with ``luts`` first."""
        return {"luts": self.luts, **asdict(self)}


_LUT_RAM = {
    # Each port of a two-port RAM has its own copy; the four-port ones are four LUTs wide by name.
    "RAM16X1S": 1,
    "RAM16X1D": 2,
    "RAM32X1S": 1,
    "RAM32X1D": 2,
    "RAM32M": 4,
    "RAM64X1S": 1,
    "RAM64X1D": 2,
    "RAM64M": 4,
    "RAM128X1S": 2,
    "RAM128X1D": 4,
    "RAM256X1S": 4,
    "SRL16": 1,
    "SRL16E": 1,
    "SRLC16E": 1,
    "SRLC32E": 1,
}
_FREE = ("$scopeinfo", "BUFG", "GND", "MUXF7", "MUXF8", "VCC")

_CELLS: dict[str, Resources] = {
    **{f"LUT{inputs}": Resources(logic=1) for inputs in range(1, 7)},
    # Two functions of the same five inputs in one LUT.
    "LUT6_2": Resources(logic=1),
    "INV": Resources(logic=1),
    **{name: Resources(memory=luts) for name, luts in _LUT_RAM.items()},
    **{f"FD{kind}{edge}": Resources(registers=1) for kind in ("RE", "SE", "CE", "PE") for edge in ("", "_1")},
    **dict.fromkeys(("LDCE", "LDPE"), Resources(registers=1)),
    **dict.fromkeys(("RAMB18", "RAMB18SDP", "RAMB18E1"), Resources(block_ram=18)),
    **dict.fromkeys(("RAMB36", "RAMB36SDP", "RAMB36E1"), Resources(block_ram=36)),
    "CARRY4": Resources(carries=1),
    **dict.fromkeys(("DSP48E", "DSP48E1"), Resources(dsps=1)),
    **dict.fromkeys(_FREE, Resources()),
}


def cell_resources(kind: str, *, module: str) -> Resources:
    """Return what a cell takes.

    Parameters
    ----------
    kind : str
        Type of the cell, of the vendor's library.
    module : str
        Where it stands, for the message.

    Raises
    ------
    ToolError
        The type is unknown: nothing is left out in silence.
    """
    if kind not in _CELLS:
        raise ToolError(f"no resources are known for the cell {kind!r} in {module}")
    return _CELLS[kind]
