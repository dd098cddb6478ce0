"""Master of a module: sends parameters to its kernels, starts them, and detects their completion."""

from collections.abc import Sequence

from amaranth.hdl import Array, Elaboratable, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import ADDRESS_WIDTH, CHAIN, ChainOp, KernelQuestion, drive
from cyscc.hw.registers import Register


class ModuleMaster(wiring.Component):
    """Head and tail of a module's control chain.

    Attia et al. 2015, section 5.1: kernels are connected "in a pipelined fashion only to pass control signals and
    parameters at initialization", and the master processing element triggers and manages them.

    Parameters
    ----------
    kernels : int
        Kernels of the module in this AE.
    parameters : sequence of Register
        What the kernels are to know.
    instrument : bool
        With the output that only simulation needs.

    Members
    -------
    begin : In(1)
        Start a run.
    engine : In(2)
        Number of this AE.
    parameter, value : Out(4), In(64)
        Register file: the value of a parameter is there one cycle after its number.
    launch : Out(1)
        Pulse: all parameters are sent; the kernels start as the last message reaches them.
    complete : Out(1)
        All kernels of this AE are done with the run.
    failed : Out(1)
        A kernel dropped a vertex.
    chain_out, chain_in : stream of ChainMessage, always ready
        To the first kernel, registered; from the last one.
    done, error : In(kernels)
        The kernels' outputs.
    question : In(stream of KernelQuestion)
        Ask for a word of a kernel's state.
    answer : Out(stream of 48 bits, always ready)
        The answer.
    moving : Out(1), instrumented only
        State changes in this cycle, or would if it were not the same as before.
    """

    @staticmethod
    def launch_cycles(parameters: Sequence[Register]) -> int:
        """Return the cycles from `begin` to `launch`: one a parameter, and those of the sequencer."""
        return len(parameters) + 3

    def __init__(self, *, kernels: int, parameters: Sequence[Register], instrument: bool = False) -> None:
        self._kernels = kernels
        self._instrument = instrument
        self._parameters = tuple(parameters)
        super().__init__(
            {
                "begin": In(1),
                "engine": In(2),
                "parameter": Out(4),
                "value": In(64),
                "launch": Out(1),
                "complete": Out(1),
                "failed": Out(1),
                "chain_out": Out(CHAIN),
                "chain_in": In(CHAIN),
                "done": In(kernels),
                "error": In(kernels),
                "question": In(stream.Signature(KernelQuestion.size)),
                "answer": Out(stream.Signature(ADDRESS_WIDTH, always_ready=True)),
                **({"moving": Out(1)} if instrument else {}),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the sequencer."""
        m = Module()
        message = self.chain_out.payload
        last = len(self._parameters) - 1
        numbers = Array(register.value for register in self._parameters)
        position = Signal(range(len(self._parameters)))
        fetched = Signal()  # the value of parameter `sent` is at the register file's output
        sent = Signal(4)
        m.d.comb += self.parameter.eq(numbers[position])
        m.d.sync += [self.chain_out.valid.eq(0), self.launch.eq(0), fetched.eq(0), sent.eq(self.parameter)]
        with m.If(fetched):
            m.d.sync += [
                self.chain_out.valid.eq(1),
                *drive(message, op=ChainOp.WRITE, index=sent, value=self.value),
            ]

        question = data.View(KernelQuestion, self.question.payload)
        with m.If(self.question.valid & self.question.ready):
            m.d.sync += [
                self.chain_out.valid.eq(1),
                *drive(message, op=ChainOp.READ, index=question.word, hops=question.hops, value=0),
            ]

        settle = Signal(2)
        with m.FSM() as fsm:
            with m.State("IDLE"):
                m.d.comb += self.question.ready.eq(1)
                with m.If(self.begin):
                    m.d.sync += [position.eq(0), self.complete.eq(0)]
                    m.next = "PARAMETERS"
            with m.State("PARAMETERS"):
                m.d.sync += fetched.eq(1)
                with m.If(position == last):
                    m.next = "LAST"
                with m.Else():
                    m.d.sync += position.eq(position + 1)
            with m.State("LAST"):
                m.next = "START"
            with m.State("START"):
                m.d.sync += [
                    self.chain_out.valid.eq(1),
                    *drive(message, op=ChainOp.START, value=self.engine * self._kernels),
                    self.launch.eq(1),
                ]
                m.next = "ECHO"
            with m.State("ECHO"):
                # The last kernel takes back its `done` two cycles after it passed the start on.
                m.d.sync += settle.eq(0)
                with m.If(self.chain_in.valid & (self.chain_in.payload.op == ChainOp.START)):
                    m.next = "SETTLE"
            with m.State("SETTLE"):
                m.d.sync += settle.eq(settle + 1)
                with m.If(settle == 2):
                    m.next = "RUN"
            with m.State("RUN"):
                m.d.comb += self.question.ready.eq(1)
                with m.If(self.done.all()):
                    m.d.sync += self.complete.eq(1)
                    m.next = "IDLE"

        m.d.sync += self.failed.eq(self.error.any())
        m.d.comb += [
            self.answer.valid.eq(self.chain_in.valid & (self.chain_in.payload.op == ChainOp.DATA)),
            self.answer.payload.eq(self.chain_in.payload.value),
        ]
        if self._instrument:
            resting = fsm.ongoing("IDLE") | fsm.ongoing("ECHO") | (fsm.ongoing("RUN") & ~self.done.all())
            m.d.comb += self.moving.eq(
                ~resting
                | self.begin
                | self.launch
                | fetched
                | self.question.valid
                | self.chain_out.valid
                | self.chain_in.valid
                | (self.failed != self.error.any())
            )
        return m
