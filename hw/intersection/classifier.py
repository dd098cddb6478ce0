"""Process 3 of the intersection kernel: colours a vertex or has it unvisited (Attia et al. 2015, section 5.3)."""

from typing import ClassVar

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from cyscc.hw.address_generator import WriteCommand
from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_4, SIZE_8, drive
from cyscc.hw.intersection.colour_reader import Candidate
from cyscc.hw.intersection.tags import Direction, ReachEntry, Tag
from cyscc.hw.reading_process import ReadingProcess

Outsider = data.StructLayout({"word": 64, "vertex": 32, "direction": Direction})
"""A vertex that is not of the component, with its word in the graph of its own direction."""


class Classifier(ReadingProcess):
    """Decides about each candidate.

    Coloured already: nothing to do. Reached by both searches: its colour is written. Reached by one: its own word is
    read so that process 4 can unvisit it, and it may be a next start.

    Parameters
    ----------
    depth : int
        Places for words in flight or waiting.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    colours, words, transposed_words : In
        Addresses of SCC, R and R'.
    colour : In(32)
        This iteration's colour.
    candidates : In(stream of Candidate)
        From process 2.
    paint : Out(stream of WriteCommand)
        Colours, to the multiplexer.
    command : Out(stream of ReadCommand)
        Own words, to the multiplexer.
    response : In(stream of 64 bits, always ready)
        From the decoder.
    outsiders : Out(stream of Outsider)
        To process 4.
    rejected : Out(1)
        The candidate's vertex is an outsider, asked for in this cycle; `rejected_vertex` is its id.
    painted : Out(1)
        A colour's write was granted.
    idle, moving, credits, starved, fill : Out
        As of every `ReadingProcess`.
    """

    MEMBERS: ClassVar = {
        "colours": In(ADDRESS_WIDTH),
        "words": In(ADDRESS_WIDTH),
        "transposed_words": In(ADDRESS_WIDTH),
        "colour": In(32),
        "candidates": In(stream.Signature(Candidate)),
        "paint": Out(stream.Signature(WriteCommand)),
    }
    RESULTS: ClassVar = {
        "outsiders": Out(stream.Signature(Outsider)),
        "rejected": Out(1),
        "rejected_vertex": Out(32),
        "painted": Out(1),
    }

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        credits, entry_fifo, word_fifo = self._add_queues(m, entry_fifo=ReachEntry, word_fifo=64)

        candidate = self.candidates.payload
        forward = candidate.direction == Direction.FORWARD
        skip = Signal()
        m.d.comb += [
            skip.eq(self.candidates.valid & candidate.coloured),
            self.paint.valid.eq(self.candidates.valid & ~candidate.coloured & candidate.met),
            *drive(
                self.paint.payload, base=self.colours, index=candidate.vertex, size=SIZE_4, data=self.colour, last=1
            ),
            self.painted.eq(self.paint.valid & self.paint.ready),
            self.command.valid.eq(self.candidates.valid & ~candidate.coloured & ~candidate.met & credits.available),
            self.command.payload.base.eq(Mux(forward, self.words, self.transposed_words)),
            self.command.payload.index.eq(candidate.vertex),
            self.command.payload.size.eq(SIZE_8),
            self.command.payload.tag.eq(Tag.OWN_WORD),
            self.rejected.eq(self.command.valid & self.command.ready),
            self.rejected_vertex.eq(candidate.vertex),
            self.candidates.ready.eq(skip | self.painted | self.rejected),
        ]
        taken = self.outsiders.valid & self.outsiders.ready
        entry, kept = entry_fifo.output.payload, entry_fifo.input.payload
        self._read(
            m,
            credits,
            [entry_fifo, word_fifo],
            requested=self.rejected,
            kept=[
                entry_fifo.input.valid.eq(self.rejected),
                *drive(kept, vertex=candidate.vertex, direction=candidate.direction),
            ],
            answers=word_fifo,
            output=self.outsiders,
            taken=taken,
            joined=drive(
                self.outsiders.payload, vertex=entry.vertex, direction=entry.direction, word=word_fifo.output.payload
            ),
            moving=[skip, taken],
            wanted=self.candidates.valid & ~candidate.coloured & ~candidate.met,
        )
        return m
