"""The intersection kernel: one share of the intersection of two searches (Attia et al. 2015, section 5.3, figure 6)."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import connect, flipped

from hw.causes import Cause
from hw.config import AcceleratorConfig
from hw.interfaces import KernelSignature
from hw.intersection.classifier import Classifier
from hw.intersection.colour_reader import ColourReader
from hw.intersection.reach_reader import ReachReader
from hw.intersection.start_finder import StartFinder
from hw.intersection.tags import Tag
from hw.intersection.unvisit_writer import UnvisitWriter
from hw.kernel_control import KernelControl
from hw.registers import Counter, Register
from hw.request_mux import READ, WRITE, RequestMux
from hw.response_decoder import ResponseDecoder

__all__ = ["PARAMETERS", "IntersectionCredits", "IntersectionState", "Kernel"]

PARAMETERS = (
    Register.WORDS,
    Register.TRANSPOSED_WORDS,
    Register.COLOURS,
    Register.FORWARD_QUEUE,
    Register.FORWARD_COUNT,
    Register.BACKWARD_QUEUE,
    Register.BACKWARD_COUNT,
    Register.COLOUR,
)
"""Parameters of an intersection."""

IntersectionState = data.StructLayout(
    {
        "done": 1,
        "started": 1,
        "entries_idle": 1,
        "colours_idle": 1,
        "classifier_idle": 1,
        "requests_idle": 1,
        "read_stalled": 1,
        "write_stalled": 1,
    }
)
"""Status word `KernelWord.STATE` of an intersection kernel."""

IntersectionCredits = data.StructLayout({"entries": 10, "colours": 10, "unvisits": 10})
"""Status word `KernelWord.CREDITS` of an intersection kernel: free places."""


class Kernel(wiring.Component):
    """Processes 1 to 5 with their multiplexer and decoder.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    See `hw.interfaces.KernelSignature`.

    Notes
    -----
    Throughput: one request every `config.issue_interval` cycles; three requests per reach-queue entry, one more for a
    vertex that is coloured, two more for one that is unvisited.
    """

    def __init__(self, config: AcceleratorConfig, *, instrument: bool = False) -> None:
        self._config = config
        self._instrument = instrument
        super().__init__(KernelSignature(instrument=instrument))

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect the processes."""
        m = Module()
        config = self._config
        m.submodules.control = control = KernelControl(parameters=PARAMETERS, instrument=self._instrument)
        m.submodules.reach_reader = reach = ReachReader(
            depth=config.reach_depth, stride=config.total_intersection_kernels
        )
        m.submodules.colour_reader = colour = ColourReader(depth=config.colour_depth)
        m.submodules.classifier = classifier = Classifier(depth=config.unvisit_depth)
        m.submodules.unvisit_writer = unvisit = UnvisitWriter()
        m.submodules.start_finder = finder = StartFinder()
        m.submodules.mux = mux = RequestMux(
            sources=[READ, READ, READ, WRITE, WRITE], issue_interval=config.issue_interval
        )
        m.submodules.decoder = decoder = ResponseDecoder(len(Tag))

        connect(m, flipped(self.chain_in), control.chain_in)
        connect(m, control.chain_out, flipped(self.chain_out))
        connect(m, flipped(self.token_in), finder.token_in)
        connect(m, finder.token_out, flipped(self.token_out))
        connect(m, reach.command, mux.source0)
        connect(m, colour.command, mux.source1)
        connect(m, classifier.command, mux.source2)
        connect(m, classifier.paint, mux.source3)
        connect(m, unvisit.command, mux.source4)
        connect(m, mux.read, flipped(self.port.read))
        connect(m, mux.write, flipped(self.port.write))
        connect(m, flipped(self.port.response), decoder.response)
        connect(m, decoder.process0, reach.response)
        connect(m, decoder.process1, colour.colour_response)
        connect(m, decoder.process2, colour.word_response)
        connect(m, decoder.process3, classifier.response)
        connect(m, reach.entries, colour.entries)
        connect(m, colour.candidates, classifier.candidates)
        connect(m, classifier.outsiders, unvisit.outsiders)

        for process in (colour, classifier, unvisit):
            m.d.comb += [
                process.words.eq(control.register_words),
                process.transposed_words.eq(control.register_transposed_words),
            ]
        m.d.comb += [
            reach.forward_queue.eq(control.register_forward_queue),
            reach.forward_count.eq(control.register_forward_count),
            reach.backward_queue.eq(control.register_backward_queue),
            reach.backward_count.eq(control.register_backward_count),
            reach.first.eq(control.number),
            reach.start.eq(control.start),
            colour.colours.eq(control.register_colours),
            classifier.colours.eq(control.register_colours),
            classifier.colour.eq(control.register_colour),
            finder.start.eq(control.start),
            finder.rejected.eq(classifier.rejected),
            finder.rejected_vertex.eq(classifier.rejected_vertex),
            finder.done.eq(control.done),
            finder.epoch.eq(control.epoch),
            control.idle.eq(reach.idle & colour.idle & classifier.idle & ~mux.busy),
            self.port.flush.eq(control.flush),
            control.flushed.eq(self.port.flushed),
            self.done.eq(control.done),
            self.error.eq(control.error),
            control.events[Counter.ENTRIES].eq(mux.source0.valid & mux.source0.ready),
            control.events[Counter.ITEMS].eq(classifier.rejected),
            control.events[Counter.PUSHED].eq(classifier.painted),
            control.events[Counter.REQUESTS].eq(mux.granted),
        ]

        state = data.View(IntersectionState, control.state[: IntersectionState.size])
        credits = data.View(IntersectionCredits, control.credits[: IntersectionCredits.size])
        m.d.comb += [
            state.done.eq(control.done),
            state.started.eq(control.busy),
            state.entries_idle.eq(reach.idle),
            state.colours_idle.eq(colour.idle),
            state.classifier_idle.eq(classifier.idle),
            state.requests_idle.eq(~mux.busy),
            state.read_stalled.eq(self.port.read.valid & ~self.port.read.ready),
            state.write_stalled.eq(self.port.write.valid & ~self.port.write.ready),
            credits.entries.eq(reach.credits),
            credits.colours.eq(colour.credits),
            credits.unvisits.eq(classifier.credits),
        ]
        if self._instrument:
            m.d.comb += [
                control.moving.eq(
                    reach.moving
                    | colour.moving
                    | classifier.moving
                    | mux.moving
                    | mux.granted
                    | mux.resting
                    | self.port.response.valid
                    | self.token_in.valid
                ),
                control.reasons[Cause.BACKPRESSURE].eq(mux.blocked),
                control.reasons[Cause.INTERVAL].eq(mux.resting),
                control.reasons[Cause.REQUEST].eq(mux.granted),
                self.quiescent.eq(control.quiescent),
                self.cause.eq(control.cause),
            ]
        return m
