"""Credit bank: reserved places of many FIFOs, of which one is promised and one freed in a cycle."""

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.queue_bank import counted


class CreditBank(wiring.Component):
    """Counters of the free places of FIFOs, counted when they are promised rather than when they are filled.

    Parameters
    ----------
    fifos : int
        FIFOs.
    depth : int
        Places of each, at least 2.

    Members
    -------
    take : In(fifos)
        A place of this FIFO is promised. Only if `available`.
    give : In(fifos)
        A place of this FIFO becomes free.
    available : Out(fifos)
        A place is free, whatever was taken in the cycle before. Registered, so one place of each FIFO stays unused
        while places are taken in every cycle.

    Notes
    -----
    Latency: two cycles from `take` and `give` to `available`.
    """

    def __init__(self, *, fifos: int, depth: int) -> None:
        if fifos < 1:
            raise ValueError(f"fifos must be at least 1, not {fifos!r}")
        if depth < 2:
            raise ValueError(f"depth must be at least 2, not {depth!r}")
        self._fifos = fifos
        self._depth = depth
        super().__init__({"take": In(fifos), "give": In(fifos), "available": Out(fifos, init=(1 << fifos) - 1)})

    @property
    def depth(self) -> int:
        """Places of each FIFO."""
        return self._depth

    def elaborate(self, platform: object) -> Elaboratable:
        """Build a counter for each FIFO, of the places in use."""
        m = Module()
        for number in range(self._fifos):
            used = Signal(range(self._depth + 1), name=f"used{number}")
            take, give = self.take[number], self.give[number]
            m.d.sync += [
                used.eq(counted(used, up=take & ~give, down=give & ~take)),
                self.available[number].eq(used < self._depth - 1),
            ]
        return m
