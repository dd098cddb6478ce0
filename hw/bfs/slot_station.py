"""Slot station: the one hop of an AE on the token ring, for all its BFS kernels."""

from typing import ClassVar

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import BLOCK, RING

_GROUP = 4


class SlotStation(wiring.Component):
    """Counts the demands of each kernel, and reserves a block of slots for each when the token comes.

    The prefix sums of the demands are always being computed, `AGE` cycles behind; so the token needs one addition, and
    so does each block. A demand of the last `AGE` cycles waits for the next token. Nor does the station reserve
    anything for `AGE + 1` cycles after it did, since the sums do not know of that yet.

    Parameters
    ----------
    kernels : int
        BFS kernels of the AE.
    depth : int
        Vertices that can wait for a slot at a kernel.
    instrument : bool
        With the output that only simulation needs.

    Members
    -------
    most : int
        Most vertices that wait at a kernel.
    asked : In(kernels)
        By kernel: one more vertex needs a slot.
    room : In(kernels)
        By kernel: it can take a block. Low only from the cycle after a block came.
    done, epoch : In(kernels)
        By kernel: it has finished its work; the run that it speaks of.
    token_in : In(stream of Token, always ready)
        From the ring master.
    token_out : Out(stream of Token, always ready)
        To the ring master or the link, registered.
    block<k> : Out(stream of Block, always ready)
        Slots for kernel k, registered.
    quiescent : Out(1), instrumented only
        Registered: state stays as it is until a token comes, `room` changes or `asked` is high.

    Notes
    -----
    Latency of the token `LATENCY` cycles. Longest path: a 32-bit addition and a selection.
    """

    LATENCY: ClassVar[int] = 1
    AGE: ClassVar[int] = 3
    """Cycles from the count of demands to the sums."""

    def __init__(self, *, kernels: int, depth: int, instrument: bool = False) -> None:
        self._kernels = kernels
        self.most = depth + 4
        self._instrument = instrument
        super().__init__(
            {
                "asked": In(kernels),
                "room": In(kernels),
                "done": In(kernels),
                "epoch": In(kernels),
                "token_in": In(RING),
                "token_out": Out(RING),
                **{f"block{n}": Out(BLOCK) for n in range(kernels)},
                **({"quiescent": Out(1)} if instrument else {}),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the station."""
        m = Module()
        kernels = range(self._kernels)
        demands = [Signal(range(self.most + 1), name=f"demanded{n}") for n in kernels]
        states: list[tuple[Signal, Value]] = []

        def register(name: str, value: Value, most: int) -> Signal:
            kept = Signal(range(most + 1), name=name)
            m.d.sync += kept.eq(value)
            states.append((kept, value))
            return kept

        # Counts, then sums of each group up to every kernel, then of the groups before.
        most, whole = self.most, self.most * self._kernels
        zero = Value.cast(0)
        counts = [register(f"count{n}", Mux(self.room[n], demands[n], 0), most) for n in kernels]
        later = [register(f"later{n}", counts[n], most) for n in kernels]
        sums = [
            register(f"sum{n}", sum(counts[n - n % _GROUP : n + 1], zero), most * (n % _GROUP + 1)) for n in kernels
        ]
        ends = sums[_GROUP - 1 :: _GROUP] + ([] if self._kernels % _GROUP == 0 else sums[-1:])
        total = register("total", sum(ends, zero), whole)
        taken = [register(f"taken{n}", later[n], most) for n in kernels]
        offsets = [
            register(f"offset{n}", sum(ends[: n // _GROUP], zero) + (sums[n - 1] if n % _GROUP else zero), whole)
            for n in kernels
        ]

        token = self.token_in.payload
        hold = Signal(self.AGE + 1)  # the sums do not know yet what was reserved
        reserve = Signal()
        m.d.comb += reserve.eq(self.token_in.valid & ~hold.any() & total.any())
        m.d.sync += [hold.eq(Cat(reserve, hold[:-1])), self.token_out.valid.eq(self.token_in.valid)]
        over = Cat(done & (epoch == token.epoch) for done, epoch in zip(self.done, self.epoch, strict=True)).all()
        with m.If(self.token_in.valid):
            m.d.sync += [
                self.token_out.payload.value.eq(token.value + Mux(reserve, total, 0)),
                self.token_out.payload.done.eq(token.done & over),
                self.token_out.payload.epoch.eq(token.epoch),
            ]
        for n in kernels:
            block = getattr(self, f"block{n}")
            given = Signal(name=f"given{n}")
            m.d.comb += given.eq(reserve & taken[n].any())
            m.d.sync += [
                block.valid.eq(given),
                demands[n].eq(demands[n] + self.asked[n] - Mux(given, taken[n], 0)),
            ]
            with m.If(given):
                m.d.sync += [block.payload.first.eq(token.value + offsets[n]), block.payload.count.eq(taken[n])]
        if self._instrument:
            valids = [self.token_in.valid, self.token_out.valid, *(getattr(self, f"block{n}").valid for n in kernels)]
            changing = [kept != value for kept, value in states]
            m.d.sync += self.quiescent.eq(~Cat(*valids, self.asked, hold, *changing).any())
        return m
