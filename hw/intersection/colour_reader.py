"""Process 2 of the intersection kernel: reads colour and other word of each vertex (Attia et al. 2015, section 5.3)."""

from functools import reduce
from operator import and_
from typing import ClassVar

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out

from cyscc.hw.graph_word import GraphWord
from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_4, SIZE_8, drive
from cyscc.hw.intersection.tags import Direction, ReachEntry, Tag
from cyscc.hw.reading_process import ReadingProcess

Candidate = data.StructLayout({"vertex": 32, "direction": Direction, "coloured": 1, "met": 1})
"""A reached vertex, whether it has a colour, and whether the other search reached it too."""


class Step(enum.Enum, shape=1):
    """The read that comes next for a vertex."""

    COLOUR = 0
    WORD = 1


class ColourReader(ReadingProcess):
    """Requests the colour of each reached vertex and its word in the other direction's graph, and joins the answers.

    Parameters
    ----------
    depth : int
        Places for vertices whose answers are in flight or waiting.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    colours, words, transposed_words : In
        Addresses of SCC, R and R'.
    entries : In(stream of ReachEntry)
        From process 1.
    command : Out(stream of ReadCommand)
        To the multiplexer; two commands per vertex.
    colour_response, word_response : In(stream of 64 bits, always ready)
        From the decoder.
    candidates : Out(stream of Candidate)
        To process 3, registered.
    idle, moving, credits, starved, fill : Out
        As of every `ReadingProcess`.
    """

    MEMBERS: ClassVar = {
        "colours": In(ADDRESS_WIDTH),
        "words": In(ADDRESS_WIDTH),
        "transposed_words": In(ADDRESS_WIDTH),
        "entries": In(stream.Signature(ReachEntry)),
    }
    RESULTS: ClassVar = {"candidates": Out(stream.Signature(Candidate))}
    RESPONSES = ("colour_response", "word_response")

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        credits, *fifos = self._add_queues(m, entry_fifo=ReachEntry, colour_fifo=32, word_fifo=1)
        entry_fifo, colour_fifo, word_fifo = fifos

        step = Signal(Step)
        entry = self.entries.payload
        command = self.command.payload
        granted = self.command.valid & self.command.ready
        finished = Signal()
        m.d.comb += [
            self.command.valid.eq(self.entries.valid & ((step == Step.WORD) | credits.available)),
            command.index.eq(entry.vertex),
            finished.eq(granted & (step == Step.WORD)),
            self.entries.ready.eq(finished),
            credits.take.eq(granted & (step == Step.COLOUR)),
            *drive(entry_fifo.input, valid=finished, payload=entry),
            *drive(colour_fifo.input, valid=self.colour_response.valid, payload=self.colour_response.payload),
            word_fifo.input.valid.eq(self.word_response.valid),
            word_fifo.input.payload.eq(data.View(GraphWord, self.word_response.payload).visited),
        ]
        with m.If(step == Step.COLOUR):
            m.d.comb += [command.base.eq(self.colours), command.size.eq(SIZE_4), command.tag.eq(Tag.COLOUR)]
        with m.Else():
            forward = entry.direction == Direction.FORWARD
            m.d.comb += drive(
                command, base=Mux(forward, self.transposed_words, self.words), size=SIZE_8, tag=Tag.OTHER_WORD
            )
        with m.If(granted):
            m.d.sync += step.eq(Mux(step == Step.COLOUR, Step.WORD, Step.COLOUR))

        join = Signal()
        candidate = self.candidates
        whole = reduce(and_, [fifo.output.valid for fifo in fifos])
        m.d.comb += join.eq(whole & (~candidate.valid | candidate.ready))
        m.d.comb += [fifo.output.ready.eq(join) for fifo in fifos]
        with m.If(candidate.ready):
            m.d.sync += candidate.valid.eq(0)
        with m.If(join):
            m.d.sync += [
                candidate.valid.eq(1),
                candidate.payload.vertex.eq(entry_fifo.output.payload.vertex),
                candidate.payload.direction.eq(entry_fifo.output.payload.direction),
                candidate.payload.coloured.eq(colour_fifo.output.payload.any()),
                candidate.payload.met.eq(word_fifo.output.payload),
            ]
        taken = candidate.valid & candidate.ready
        # The register behind the join has its place in the credit too, so a candidate is counted until it is taken.
        m.d.comb += credits.give.eq(taken)
        wanted = self.entries.valid & (step == Step.COLOUR)
        self._report(m, credits, fifos, moving=[join, taken], answers=word_fifo, wanted=wanted)
        return m
