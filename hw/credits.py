"""Credits: reserved places for the responses of requests in flight."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class Credits(wiring.Component):
    """Counter of the free places of a FIFO, counted when they are promised rather than when they are filled.

    A request is made only when `available`, takes a credit, and gives it back when what the response brought leaves the
    FIFO. So a response always finds its place, whatever the latency, and "all credits home" says that nothing is in
    flight or stored: that is how a kernel counts its work (hazards 2, 6 and 7 of the published hardware, listed in
    `docs/architecture.md`).

    Parameters
    ----------
    depth : int
        Places; a power of two.
    registered : bool
        `available` comes from a register, a cycle after a place becomes free, so that no count lies on its path.

    Members
    -------
    take : In(1)
        A place is promised in this cycle. Must not be asserted unless `available`.
    give : In(1)
        A place became free in this cycle.
    available : Out(1)
        At least one place is free.
    moving : Out(1), registered only
        `available` changes with the next cycle.
    home : Out(1)
        All places are free.
    count : Out(range(depth + 1))
        Free places.

    Notes
    -----
    Latency one cycle from `take` and `give` to the outputs, which are functions of registers alone; two cycles from
    `give` to a registered `available`.
    """

    def __init__(self, depth: int, *, registered: bool = False) -> None:
        if depth < 1 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two, not {depth!r}")
        self._depth = depth
        self._registered = registered
        super().__init__(
            {
                "take": In(1),
                "give": In(1),
                "available": Out(1, init=registered),
                "home": Out(1),
                "count": Out(range(depth + 1), init=depth),
                **({"moving": Out(1)} if registered else {}),
            }
        )

    @property
    def depth(self) -> int:
        """Places."""
        return self._depth

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the counter."""
        m = Module()
        if self._registered:
            following = self.count[1:].any() | (self.count[0] & ~self.take)
            m.d.comb += self.moving.eq(self.available != following)
            m.d.sync += self.available.eq(following)
        else:
            m.d.comb += self.available.eq(self.count.any())
        m.d.comb += [
            # The count never exceeds the depth, a power of two, so its top bit alone says that it is reached.
            self.home.eq(self.count[-1]),
        ]
        with m.If(self.take & ~self.give):
            m.d.sync += self.count.eq(self.count - 1)
        with m.Elif(self.give & ~self.take):
            m.d.sync += self.count.eq(self.count + 1)
        return m
