"""Control of both kinds of kernel: the control chain, start, detection of completion, flush."""

from collections.abc import Mapping, Sequence

from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.causes import Cause
from cyscc.hw.interfaces import ADDRESS_WIDTH, CHAIN, ChainOp
from cyscc.hw.registers import Counter, KernelWord, Register

_STATUS_WORDS = tuple(word for word in KernelWord if word < KernelWord.COUNTER_0)


class Phase(enum.Enum, shape=2):
    """Phase of a kernel."""

    IDLE = 0
    """Nothing to do; the last run's work is flushed."""
    RUN = 1
    """Processes at work."""
    FLUSH = 2
    """All work counted complete; the memory has been asked to complete the writes."""


class KernelControl(wiring.Component):
    """Station of a kernel on the control chain, with its parameter registers, phase and counters.

    Parameters
    ----------
    parameters : sequence of Register
        The parameters that the kernel keeps: addresses and counts.
    words : mapping of KernelWord to StructLayout
        What those status words hold that the kernel has.
    late_events : bool
        Events are counted a cycle later, from registers.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    chain_in, chain_out : stream of ChainMessage
        The control chain; one register.
    register_<name> : Out(48)
        The parameters.
    number : Out(32)
        This kernel's number, valid with `start`.
    start : Out(1)
        Pulse: a run begins. All parameters have been steady for a cycle.
    epoch : Out(1)
        Changes with each run.
    idle : In(1)
        Everything requested is answered, everything reserved is written.
    overflow : In(1)
        A vertex was dropped.
    flush, flushed : Out(1), In(1)
        To and from the memory port.
    busy : Out(1)
        A run has begun and is not done.
    done, error : Out(1)
        The run is complete and flushed; a vertex was dropped in it.
    state, ... : In(48), with its layout in instrumented kernels
        The status words.
    events : In(4)
        What the counters count, by `Counter`.
    moving : In(1)
        State of the processes changes in this cycle (instrumented kernels only).
    reasons : In(a bit for each Cause)
        Those that apply; of `FLUSH`, `RESPONSE` and `IDLE` the control knows by itself (instrumented kernels only).
    quiescent, cause : Out
        See `cyscc.hw.interfaces.KernelSignature` (instrumented kernels only).
    """

    def __init__(
        self,
        *,
        parameters: Sequence[Register],
        words: Mapping[KernelWord, data.StructLayout],
        late_events: bool = False,
        instrument: bool,
    ) -> None:
        self._parameters = tuple(parameters)
        self._late_events = late_events
        self._instrument = instrument
        members = {
            "chain_in": In(CHAIN),
            "chain_out": Out(CHAIN),
            **{f"register_{register.name.lower()}": Out(ADDRESS_WIDTH) for register in parameters},
            "number": Out(32),
            "start": Out(1),
            "epoch": Out(1),
            "idle": In(1),
            "overflow": In(1),
            "flush": Out(1),
            "flushed": In(1),
            "busy": Out(1),
            "done": Out(1),
            "error": Out(1),
            # Plain bits in exported Verilog, where the fields of a layout would become separate wires.
            **{
                word.name.lower(): In(words[word] if instrument and word in words else ADDRESS_WIDTH)
                for word in _STATUS_WORDS
            },
            "events": In(len(Counter)),
        }
        if instrument:
            members |= {
                "moving": In(1),
                "reasons": In(len(Cause)),
                "quiescent": Out(1),
                "cause": Out(Cause),
            }
        super().__init__(members)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the station."""
        m = Module()
        message = self.chain_in.payload
        answer = self.chain_out.payload
        counters = [Signal(32, name=f"count_{counter.name.lower()}") for counter in Counter]
        events: Value = self.events
        if self._late_events:
            events = Signal.like(self.events, name="late_events")
            m.d.sync += events.eq(self.events)
        for event, counter in zip(events, counters, strict=True):
            with m.If(event):
                m.d.sync += counter.eq(counter + 1)

        m.d.sync += [self.chain_out.valid.eq(self.chain_in.valid), self.start.eq(0)]
        with m.If(self.chain_in.valid):
            m.d.sync += answer.eq(message)
            with m.Switch(message.op):
                with m.Case(ChainOp.WRITE):
                    with m.Switch(message.index):
                        for register in self._parameters:
                            with m.Case(register.value):
                                m.d.sync += getattr(self, f"register_{register.name.lower()}").eq(message.value)
                with m.Case(ChainOp.START):
                    m.d.sync += [
                        self.start.eq(1),
                        self.number.eq(message.value),
                        answer.value.eq(message.value + 1),
                    ]
                with m.Case(ChainOp.READ):
                    m.d.sync += answer.hops.eq(message.hops - 1)
                    with m.If(message.hops == 0):
                        m.d.sync += answer.op.eq(ChainOp.DATA)
                        with m.Switch(message.index):
                            for word in _STATUS_WORDS:
                                with m.Case(word.value):
                                    m.d.sync += answer.value.eq(Value.cast(getattr(self, word.name.lower())))
                            for kind, counter in zip(Counter, counters, strict=True):
                                with m.Case(KernelWord.COUNTER_0 + kind):
                                    m.d.sync += answer.value.eq(counter)
                            with m.Default():
                                m.d.sync += answer.value.eq(0)

        phase = Signal(Phase)
        begin = Signal()  # one cycle after `start`: the processes are at work from now on
        m.d.sync += [self.flush.eq(0), begin.eq(self.start)]
        with m.If(self.start):
            m.d.sync += [self.done.eq(0), self.error.eq(0), self.epoch.eq(~self.epoch)]
        with m.If(self.overflow):
            m.d.sync += self.error.eq(1)
        m.d.comb += self.busy.eq(phase != Phase.IDLE)
        ending = Signal()
        with m.Switch(phase):
            with m.Case(Phase.IDLE):
                with m.If(begin):
                    m.d.sync += phase.eq(Phase.RUN)
            with m.Case(Phase.RUN):
                m.d.comb += ending.eq(self.idle)
                with m.If(ending):
                    m.d.sync += [phase.eq(Phase.FLUSH), self.flush.eq(1)]
            with m.Case(Phase.FLUSH):
                with m.If(self.flushed):
                    m.d.sync += [phase.eq(Phase.IDLE), self.done.eq(1)]
        if self._instrument:
            self._observe(m, phase=phase, changing=self.start | begin | ending | self.flush)
        return m

    def _observe(self, m: Module, *, phase: Signal, changing: Signal) -> None:
        """Add the simulation-only outputs."""
        arriving = self.chain_in.valid | self.flushed
        m.d.sync += [self.quiescent.eq(~(self.moving | arriving | changing)), self.cause.eq(Cause.IDLE)]
        own = {Cause.RESPONSE: phase == Phase.RUN, Cause.FLUSH: phase == Phase.FLUSH}
        for cause in Cause:
            with m.If(self.reasons[cause] | own.get(cause, 0)):
                m.d.sync += self.cause.eq(cause)
