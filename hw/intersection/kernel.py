"""The intersection kernel: one share of the intersection of two searches (Attia et al. 2015, section 5.3, figure 6)."""

from types import MappingProxyType

from amaranth.hdl import Elaboratable
from amaranth.lib import data
from amaranth.lib.wiring import connect

from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.interfaces import drive
from cyscc.hw.intersection.classifier import Classifier
from cyscc.hw.intersection.colour_reader import ColourReader
from cyscc.hw.intersection.reach_reader import ReachReader
from cyscc.hw.intersection.start_finder import StartFinder
from cyscc.hw.intersection.tags import Tag
from cyscc.hw.intersection.unvisit_writer import UnvisitWriter
from cyscc.hw.kernel import BaseKernel, Fifo
from cyscc.hw.registers import Counter, KernelWord, Register
from cyscc.hw.request_mux import READ, WRITE

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


class Kernel(BaseKernel):
    """Processes 1 to 5 with their multiplexer and decoder.

    Parameters and members are those of `cyscc.hw.kernel.BaseKernel`.

    Notes
    -----
    Three requests per reach-queue entry, one more for a vertex that is coloured, two more for one that is unvisited.
    """

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
    WORDS = MappingProxyType({KernelWord.STATE: IntersectionState, KernelWord.CREDITS: IntersectionCredits})
    READS = MappingProxyType(
        {
            Tag.REACH_ENTRY: ("reach_reader", "queues"),
            Tag.COLOUR: ("colour_reader", "colours"),
            Tag.OTHER_WORD: ("colour_reader", "words"),
            Tag.OWN_WORD: ("classifier", "words"),
        }
    )
    WRITES = MappingProxyType({"colours": "classifier", "words": "unvisit_writer"})

    @classmethod
    def fifos(cls, config: AcceleratorConfig) -> tuple[Fifo, ...]:
        """Return the FIFOs of a kernel, in the order of its output `fill`."""
        return (
            Fifo("entries", "reach_depth", Cause.ISSUE_1),
            Fifo("colours", "colour_depth", Cause.ISSUE_2),
            Fifo("unvisits", "unvisit_depth", Cause.ISSUE_3),
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect the processes."""
        m, control = self._begin()
        config = self._config
        m.submodules.reach_reader = reach = ReachReader(
            depth=config.reach_depth, stride=config.total_intersection_kernels, instrument=self._instrument
        )
        m.submodules.colour_reader = colour = ColourReader(depth=config.colour_depth, instrument=self._instrument)
        m.submodules.classifier = classifier = Classifier(depth=config.unvisit_depth, instrument=self._instrument)
        m.submodules.unvisit_writer = unvisit = UnvisitWriter()
        m.submodules.start_finder = finder = StartFinder()
        mux = self._add_port(
            m,
            control,
            finder,
            sources=[READ, READ, READ, WRITE, WRITE],
            commands=(reach.command, colour.command, classifier.command, classifier.paint, unvisit.command),
            answers={
                Tag.REACH_ENTRY: reach.response,
                Tag.COLOUR: colour.colour_response,
                Tag.OTHER_WORD: colour.word_response,
                Tag.OWN_WORD: classifier.response,
            },
        )
        connect(m, reach.entries, colour.entries)
        connect(m, colour.candidates, classifier.candidates)
        connect(m, classifier.outsiders, unvisit.outsiders)

        for process in (colour, classifier, unvisit):
            m.d.comb += drive(process, words=control.register_words, transposed_words=control.register_transposed_words)
        for name in ("forward_queue", "forward_count", "backward_queue", "backward_count"):
            m.d.comb += getattr(reach, name).eq(getattr(control, f"register_{name}"))
        m.d.comb += [
            *drive(reach, first=control.number, start=control.start),
            colour.colours.eq(control.register_colours),
            *drive(classifier, colours=control.register_colours, colour=control.register_colour),
            finder.start.eq(control.start),
            finder.rejected.eq(classifier.rejected),
            finder.rejected_vertex.eq(classifier.rejected_vertex),
        ]
        idle = {"entries_idle": reach.idle, "colours_idle": colour.idle, "classifier_idle": classifier.idle}
        self._report(
            m,
            control,
            mux,
            finder,
            (reach, colour, classifier),
            readers={"entries": reach, "colours": colour, "unvisits": classifier},
            events={Counter.ITEMS: classifier.rejected, Counter.PUSHED: classifier.painted},
            status={KernelWord.STATE: idle},
        )
        return m
