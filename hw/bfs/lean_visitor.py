"""Process 4 of the BFS kernel where the ids of two visits are written to the reach queue together."""

from amaranth.hdl import C, Cat, Elaboratable, Module, Mux, Signal

from cyscc.hw.bfs.visitor import Step, Visitor
from cyscc.hw.graph_word import GraphWord, replaced
from cyscc.hw.interfaces import SIZE_4, SIZE_8, drive


class LeanVisitor(Visitor):
    """A visitor that writes two ids to the reach queue at once, where their places share 8 aligned bytes.

    An id with the first of these places is kept, and written with that of the next visit, so that both make five writes
    instead of six. It is written by itself if the next slot is not the one behind its own, if that slot does not fit,
    or if there is no slot: one is there without a pause as long as the reservation lasts. So the ids of all visits are
    written before it is idle, though in another order than their words.

    Parameters and members are those of `Visitor`, but for the meaning of these:

    pushed : Out(1)
        A visit's last write was granted, but for an id that is kept.
    idle : Out(1)
        No vertex is queued, and no id is kept.
    """

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        fifo = self._add_queue(m)
        vertex, slot = fifo.output.payload, self.slot.payload
        step = Signal(Step)
        kept = Signal()  # an id is kept
        number = Signal(32)  # its slot
        first = Signal(32)  # the id
        follows = Signal()  # the slot in use is the one behind it
        alone = Signal()  # it is written by itself, since no visit follows

        ready = Signal()
        granted = self.command.valid & self.command.ready
        # The reach queue of a level begins behind that of the last one, at a multiple of 4 bytes.
        half = self.reach_queue[2]
        lower = slot.number[0] == half  # this visit's id has the first half of 8 bytes
        m.d.comb += [
            ready.eq(fifo.output.valid & self.slot.valid & ~alone),
            self.waiting.eq(fifo.output.valid & ~self.slot.valid),
            self.overflow.eq(ready & ~slot.fits & ~kept),
            self.command.valid.eq(alone | (ready & slot.fits)),
        ]
        leave = Signal()
        with m.If(kept & ~alone & (step == Step.ENQUEUE) & ~(self.slot.valid & slot.fits)):
            m.d.comb += leave.eq(1)
            m.d.sync += alone.eq(1)

        # The id of this visit is kept: at its last write before, or when the one that is kept gets a write of its own.
        further = vertex.further if self._chunk else C(0)
        marked = (step == Step.MARK) | ((step == Step.ENQUEUE) & further)
        keep = Signal()
        m.d.comb += [
            keep.eq(granted & ~alone & lower & ((step == Step.REACH) | (marked & ~kept))),
            self.pushed.eq(keep | (granted & ~alone & (step == Step.REACH) & (~kept | follows))),
        ]
        finished = self.pushed | self.overflow
        m.d.comb += [
            fifo.output.ready.eq(finished),
            self.slot.ready.eq(finished),
            self.idle.eq(~fifo.level.any() & ~kept),
            self.moving.eq(fifo.moving | self.demand | self.overflow | leave),
            self.level.eq(fifo.level),
        ]
        with m.If(keep):
            m.d.sync += [kept.eq(1), number.eq(slot.number), first.eq(vertex.vertex)]
        with m.Elif(granted & (alone | (step == Step.REACH))):
            m.d.sync += [kept.eq(0), alone.eq(0)]

        command = self.command.payload
        with m.If(alone):
            m.d.comb += drive(command, base=self.reach_queue, index=number, size=SIZE_4, data=first, last=1)
        with m.Else():
            with m.Switch(step):
                with m.Case(Step.ENQUEUE):
                    m.d.comb += drive(
                        command,
                        base=self.next_queue,
                        index=slot.number,
                        size=SIZE_8,
                        data=self._entry(vertex),
                        last=further & lower & ~kept,
                    )
                    with m.If(granted):
                        m.d.sync += [
                            step.eq(Mux(further, Mux(keep, Step.ENQUEUE, Step.REACH), Step.MARK)),
                            follows.eq(kept & (slot.number == (number + 1)[:32])),
                        ]
                with m.Case(Step.MARK):
                    m.d.comb += drive(
                        command,
                        base=self.words,
                        index=vertex.vertex,
                        size=SIZE_8,
                        data=replaced(GraphWord, vertex.word, visited=1),
                        last=lower & ~kept,
                    )
                    with m.If(granted):
                        m.d.sync += step.eq(Mux(keep, Step.ENQUEUE, Step.REACH))
                with m.Default():
                    both = kept & follows
                    m.d.comb += drive(
                        command,
                        base=Cat(self.reach_queue[:2], half & ~both, self.reach_queue[3:]),
                        index=Mux(both, slot.number[1:], Mux(kept, number, slot.number)),
                        size=Mux(both, SIZE_8, SIZE_4),
                        data=Cat(Mux(kept, first, vertex.vertex), vertex.vertex & both.replicate(32)),
                        last=~kept | follows | lower,
                    )
                    with m.If(self.pushed):
                        m.d.sync += step.eq(Step.ENQUEUE)
        return m
