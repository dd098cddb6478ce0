"""Bank sweeper: clears the visited banks of a kernel when a search begins."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.exchange.visited_bank import VisitedBank
from cyscc.hw.exchange.wires import ID_BITS, rest_bits
from cyscc.hw.interfaces import number_bits


class BankSweeper(wiring.Component):
    """Names the rows that the banks of a kernel clear, one a cycle, the last one first.

    Parameters
    ----------
    kernels : int
        Kernels of the AE, a power of two.
    rows : int
        Rows of a bank, a power of two.

    Members
    -------
    clear : In(1)
        Pulse: a search begins.
    last : In(32)
        The greatest id that may come before the next `clear`; looked at with it.
    sweep : Out(1)
        A row is cleared. Registered.
    row : Out(number_bits(rows))
        Its number. Registered.
    """

    def __init__(self, *, kernels: int, rows: int) -> None:
        if rows < 2 or rows & (rows - 1):
            raise ValueError(f"rows must be a power of two of at least 2, not {rows!r}")
        self._rest = rest_bits(kernels)
        super().__init__({"clear": In(1), "last": In(ID_BITS), "sweep": Out(1), "row": Out(number_bits(rows))})

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the counter."""
        m = Module()
        end = VisitedBank.row_of(self.last[-self._rest :])
        beyond = end[len(self.row) :].any()
        with m.If(self.clear):
            m.d.sync += [self.sweep.eq(1), self.row.eq(end | beyond.replicate(len(self.row)))]
        with m.Elif(self.sweep):
            m.d.sync += [self.sweep.eq(self.row.any()), self.row.eq(self.row - 1)]
        return m
