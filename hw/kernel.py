"""Common base of both kinds of kernel: everything around their processes."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from amaranth.hdl import C, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Signature, connect, flipped

from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.interfaces import FILL_WIDTH, KernelSignature, drive
from cyscc.hw.kernel_control import KernelControl
from cyscc.hw.registers import Counter, KernelWord, Register
from cyscc.hw.request_mux import READ, RequestMux
from cyscc.hw.response_decoder import ResponseDecoder


class Fifo(NamedTuple):
    """A FIFO of a kernel.

    Parameters
    ----------
    name : str
        What records call it.
    parameter : str
        The field of the configuration that sets its depth.
    answers : Cause or None
        The cause of the reads whose answers it takes; None where it takes none.
    """

    name: str
    parameter: str
    answers: Cause | None = None


class BaseKernel(wiring.Component):
    """A kernel without its processes: control, multiplexer, decoder, station on the token ring.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    instrument : bool
        With the outputs that only simulation needs.

    Attributes
    ----------
    PARAMETERS : tuple of Register
        What the kernel is to know before it starts.
    WORDS : mapping of KernelWord to StructLayout
        What its status words hold.
    READS : mapping of tag to (str, str)
        The process that issues the reads with a tag, and the array that it reads.
    WRITES : mapping of str to str
        The process that writes to an array.

    Members
    -------
    See `cyscc.hw.interfaces.KernelSignature`.

    Notes
    -----
    Throughput: one request every `config.issue_interval` cycles.
    """

    PARAMETERS: ClassVar[tuple[Register, ...]]
    WORDS: ClassVar[Mapping[KernelWord, data.StructLayout]]
    READS: ClassVar[Mapping[Any, tuple[str, str]]]
    WRITES: ClassVar[Mapping[str, str]]

    def __init__(self, config: AcceleratorConfig, *, instrument: bool = False) -> None:
        self._config = config
        self._instrument = instrument
        super().__init__(self.signature_of(config, instrument=instrument))

    @classmethod
    def signature_of(cls, config: AcceleratorConfig, *, instrument: bool = False) -> Signature:
        """Return the signature of a kernel of this kind."""
        return KernelSignature(instrument=instrument, fifos=len(cls.fifos(config)))

    @classmethod
    def fifos(cls, config: AcceleratorConfig) -> tuple[Fifo, ...]:
        """Return the FIFOs of a kernel, in the order of its output `fill`.

        Queues that are filled or emptied together are one FIFO; its entries are those of which all parts are there.
        """
        raise NotImplementedError

    def _begin(self, *, late_events: bool = False) -> tuple[Module, Any]:
        """Return a module with the kernel's control, and the control."""
        m = Module()
        m.submodules.control = control = KernelControl(
            parameters=self.PARAMETERS, words=self.WORDS, late_events=late_events, instrument=self._instrument
        )
        return m, control

    def _add_port(
        self,
        m: Module,
        control: Any,
        station: Any,
        *,
        sources: Sequence[str],
        commands: Sequence[Any],
        answers: Mapping[Any, Any],
    ) -> Any:
        """Add multiplexer and decoder, and connect chain, ring and memory port.

        Parameters
        ----------
        m : Module
            The kernel.
        control : KernelControl
            Its control.
        station : component
            Its station on the token ring, or what gets slots from that of the AE.
        sources : sequence of str
            The sources of the multiplexer, see there.
        commands : sequence of stream
            What the first of them are connected to.
        answers : mapping of tag to stream
            Where the responses go.

        Returns
        -------
        RequestMux
            The multiplexer.
        """
        m.submodules.mux = mux = RequestMux(sources=sources, issue_interval=self._config.issue_interval)
        m.submodules.decoder = decoder = ResponseDecoder(len(answers))
        connect(m, flipped(self.chain_in), control.chain_in)
        connect(m, control.chain_out, flipped(self.chain_out))
        if hasattr(self, "token_in"):
            connect(m, flipped(self.token_in), station.token_in)
            connect(m, station.token_out, flipped(self.token_out))
        else:
            connect(m, flipped(self.block), station.block)
            m.d.comb += [*drive(self, asked=station.asked, room=station.room, epoch=control.epoch)]
        for number, command in enumerate(commands):
            connect(m, command, getattr(mux, f"source{number}"))
        connect(m, mux.read, flipped(self.port.read))
        connect(m, mux.write, flipped(self.port.write))
        connect(m, flipped(self.port.response), decoder.response)
        for tag, answer in answers.items():
            connect(m, getattr(decoder, f"process{tag.value}"), answer)
        return mux

    def _report(
        self,
        m: Module,
        control: Any,
        mux: Any,
        station: Any,
        processes: Sequence[Any],
        *,
        readers: Mapping[str, Any],
        events: Mapping[Counter, Value],
        status: Mapping[KernelWord, Mapping[str, Value]],
        reasons: Mapping[Cause, Value] = MappingProxyType({}),
        fill: Mapping[str, Value] = MappingProxyType({}),
    ) -> None:
        """Connect the kernel's observable state: completion, counters, status words and causes.

        The order of statements decides the names in Verilog.

        Parameters
        ----------
        m, control, mux, station
            As of `_add_port`.
        processes : sequence of component
            What is idle and moves.
        readers : mapping of str to ReadingProcess
            Those of them that read, by the names of their FIFOs.
        events : mapping of Counter to value
            What is counted, besides the requests and those of the first source.
        status : mapping of KernelWord to mapping of str to value
            Fields of the status words, but for `KernelWord.CREDITS` and those of `KernelWord.STATE` that all kernels
            have.
        reasons : mapping of Cause to value
            Conditions of causes, besides those of the multiplexer.
        fill : mapping of str to value
            Entries held in the FIFOs that take no answers.
        """
        on_ring = hasattr(self, "token_in")
        m.d.comb += [
            *(drive(station, done=control.done, epoch=control.epoch) if on_ring else ()),
            control.idle.eq(reduce(and_, [process.idle for process in processes]) & ~mux.busy),
            *(control.overflow.eq(process.overflow) for process in processes if hasattr(process, "overflow")),
            self.port.flush.eq(control.flush),
            control.flushed.eq(self.port.flushed),
            self.done.eq(control.done),
            self.error.eq(control.error),
        ]
        entries = mux.source0.valid & mux.source0.ready
        counted = {Counter.ENTRIES: entries, **events, Counter.REQUESTS: mux.granted}
        m.d.comb += [control.events[counter].eq(event) for counter, event in counted.items()]
        state = {
            "done": control.done,
            "started": control.busy,
            "requests_idle": ~mux.busy,
            "error": control.error,
            "read_stalled": self.port.read.valid & ~self.port.read.ready,
            "write_stalled": self.port.write.valid & ~self.port.write.ready,
        }
        words = {**status, KernelWord.CREDITS: {name: reader.credits for name, reader in readers.items()}}
        for word, layout in self.WORDS.items():
            view = data.View(layout, Value.cast(getattr(control, word.name.lower()))[: layout.size])
            m.d.comb += [view[name].eq({**state, **words[word]}[name]) for name in layout.members]
        if self._instrument:
            own = {
                Cause.CREDIT: reduce(or_, [reader.starved for reader in readers.values()]),
                Cause.REFUSED: mux.blocked,
                Cause.RESTING: mux.resting,
                **_issues(mux),
            }
            moving = [part.moving for part in (*processes, mux)]
            moving += [mux.granted, mux.resting, self.port.response.valid]
            moving.append(self.token_in.valid if on_ring else self.block.valid)
            m.d.comb += [control.reasons[cause].eq(reason) for cause, reason in {**own, **reasons}.items()]
            m.d.comb += [
                control.moving.eq(reduce(or_, moving)),
                self.quiescent.eq(control.quiescent),
                self.cause.eq(control.cause),
            ]
            held = {**{name: reader.fill for name, reader in readers.items()}, **fill}
            for number, fifo in enumerate(self.fifos(self._config)):
                m.d.comb += self.fill.word_select(number, FILL_WIDTH).eq(held[fifo.name])


def _issues(mux: RequestMux) -> dict[Cause, Value]:
    """Return, by cause, the condition that a command is granted to one of its sources.

    The sources that read are those of processes 1, 2 and 3, in this order.
    """
    reads = iter((Cause.ISSUE_1, Cause.ISSUE_2, Cause.ISSUE_3))
    issues: dict[Cause, Value] = {}
    for number, kind in enumerate(mux.kinds):
        source = getattr(mux, f"source{number}")
        cause = next(reads) if kind == READ else Cause.WRITE
        issues[cause] = (source.valid & source.ready) | issues.get(cause, C(0))
    return issues
