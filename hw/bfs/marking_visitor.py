"""Process 4 of the BFS kernel in a machine that only searches (Attia et al. 2014; table II of Attia et al. 2015)."""

from amaranth.hdl import C, Elaboratable, Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.address_generator import WriteCommand
from cyscc.hw.bfs.slot_allocator import Slot
from cyscc.hw.bfs.word_reader import Neighbour
from cyscc.hw.graph_word import GraphWord, LevelWord, replaced
from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_8, drive
from cyscc.hw.queue import Queue


class MarkingVisitor(wiring.Component):
    """Drops visited neighbours, marks the others with their level, and queues those that have neighbours themselves.

    The mark and the queue entry are writes of their own from queues of their own: a mark waits for no slot, and nothing
    keeps a mark and its entry together. There is no reach queue; the levels stand in the graph words afterwards.

    Parameters
    ----------
    depth : int
        Marks that can wait, and vertices that can wait for a slot.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    next_queue, words : In
        Addresses of the next queue and of R.
    distance : In
        Level of the vertices that are visited now.
    neighbours : In(stream of Neighbour)
        From process 3.
    slot : In(stream of Slot)
        From the slot allocator.
    command : Out(stream of WriteCommand)
        Queue entries, to the multiplexer.
    mark : Out(stream of WriteCommand)
        Marks, to the multiplexer.
    demand : Out(1)
        One more vertex needs a slot.
    pushed : Out(1)
        A vertex was queued.
    overflow : Out(1)
        A vertex was dropped because its slot does not fit.
    waiting : Out(1)
        A vertex waits for its slot.
    marking : Out(1)
        A mark waits.
    idle : Out(1)
        Nothing waits or is under way.
    moving : Out(1)
        State changes in this cycle without a command being granted.
    level : Out
        Vertices that wait for a slot.
    fill : Out
        Vertices that wait for their mark to be written (instrumented processes only).
    """

    def __init__(self, *, depth: int, instrument: bool = False) -> None:
        self._depth = depth
        self._instrument = instrument
        super().__init__(
            {
                "next_queue": In(ADDRESS_WIDTH),
                "words": In(ADDRESS_WIDTH),
                "distance": In(LevelWord["level"].width),
                "neighbours": In(stream.Signature(Neighbour)),
                "slot": In(stream.Signature(Slot)),
                "command": Out(stream.Signature(WriteCommand)),
                "mark": Out(stream.Signature(WriteCommand)),
                "demand": Out(1),
                "pushed": Out(1),
                "overflow": Out(1),
                "waiting": Out(1),
                "marking": Out(1),
                "idle": Out(1),
                "moving": Out(1),
                "level": Out(range(depth + 2)),
                **({"fill": Out(range(depth + Queue.REGISTERS + 1))} if instrument else {}),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        m.submodules.marks = marks = Queue(32, self._depth)
        m.submodules.entries = entries = Queue(64, self._depth)

        neighbour = self.neighbours.payload
        word = data.View(GraphWord, neighbour.word)
        unvisited = self.neighbours.valid & ~word.visited
        leaf = ~word.degree.any()
        m.d.comb += [
            *drive(marks.input, payload=neighbour.vertex, valid=unvisited & (leaf | entries.input.ready)),
            *drive(entries.input, payload=neighbour.word, valid=unvisited & ~leaf & marks.input.ready),
            self.neighbours.ready.eq(word.visited | (marks.input.ready & (leaf | entries.input.ready))),
            self.demand.eq(entries.input.valid & entries.input.ready),
        ]

        slot = self.slot.payload
        ready = entries.output.valid & self.slot.valid
        finished = self.pushed | self.overflow
        marked = self.mark.valid & self.mark.ready
        m.d.comb += [
            self.mark.valid.eq(marks.output.valid),
            self.mark.payload.base.eq(self.words),
            self.mark.payload.index.eq(marks.output.payload),
            self.mark.payload.size.eq(SIZE_8),
            self.mark.payload.data.eq(replaced(LevelWord, C(0, LevelWord.size), visited=1, level=self.distance)),
            self.mark.payload.last.eq(1),
            marks.output.ready.eq(marked),
            self.command.valid.eq(ready & slot.fits),
            self.command.payload.base.eq(self.next_queue),
            self.command.payload.index.eq(slot.number),
            self.command.payload.size.eq(SIZE_8),
            self.command.payload.data.eq(entries.output.payload),
            self.command.payload.last.eq(1),
            self.pushed.eq(self.command.valid & self.command.ready),
            self.overflow.eq(ready & ~slot.fits),
            entries.output.ready.eq(finished),
            self.slot.ready.eq(finished),
            self.waiting.eq(entries.output.valid & ~self.slot.valid),
            self.marking.eq(marks.output.valid),
            self.idle.eq(~marks.level.any() & ~entries.level.any()),
            self.moving.eq(marks.moving | entries.moving | marks.input.valid | self.overflow),
            self.level.eq(entries.level),
        ]
        if self._instrument:
            m.d.comb += self.fill.eq(marks.level)
        return m
