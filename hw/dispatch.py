"""Dispatch: AEG registers and instructions of an Application Engine."""

from typing import Any

from amaranth.hdl import Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect

from cyscc.hw.interfaces import ADDRESS_WIDTH, KernelQuestion, drive
from cyscc.hw.registers import KERNEL_WINDOW, KERNEL_WORD_BITS, Instruction, Register, Status, kernel_register

AegWrite = data.StructLayout({"value": 64, "index": 16})
"""A write to an AEG register."""


def host_members() -> dict[str, wiring.Member]:
    """Return the members through which a host reaches an AE; see `Dispatch`."""
    return {
        "write": In(stream.Signature(AegWrite)),
        "read": In(stream.Signature(16)),
        "data": Out(stream.Signature(64, always_ready=True)),
        "instruction": In(stream.Signature(5)),
        "idle": Out(1, init=1),
        "exception": Out(1),
    }


def connect_host(m: Module, host: Any, engine: Any) -> None:
    """Connect the streams between a host, or what passes them on, and an AE."""
    connect(m, host.write, engine.write)
    connect(m, host.read, engine.read)
    connect(m, engine.data, host.data)
    connect(m, host.instruction, engine.instruction)


class Dispatch(wiring.Component):
    """The host's interface to an AE: parameters in, instructions, results out.

    The register map is in `cyscc.hw.registers`. Registers are written between instructions, and may be read at any
    time, a kernel's state included.

    Parameters
    ----------
    bfs_kernels, intersection_kernels : int
        Kernels of the AE: those of the kernel window.
    instrument : bool
        With the ports that only simulation needs.

    Members
    -------
    write : In(stream of AegWrite)
        Register writes.
    read : In(stream of 16 bits)
        Register reads.
    data : Out(stream of 64 bits, always ready)
        Their answers, in order.
    instruction : In(stream of 5 bits)
        Dispatch an instruction. Taken at once if the AE is idle.
    idle : Out(1)
        No instruction is running.
    exception : Out(1)
        An instruction was refused; sticky.
    intersection : Out(1)
        The module that owns the ports: that of the last instruction.
    begin_bfs, begin_intersection : Out(1)
        Pulses to the masters.
    parameter, value : In(4), Out(64)
        The register file, for the master at work.
    complete : In(1)
        The run is complete, the token included.
    failed : In(1)
        A vertex was dropped.
    result, result_valid : In(32), In(1)
        What the run returns; only the leading AE knows it.
    bfs_question, intersection_question, bfs_answer, intersection_answer : stream
        State words of the kernels.
    moving : Out(1), instrumented only
        State changes in this cycle, but for the count of cycles, or would if it were not the same as before.
    elapsed : In(48), instrumented only
        Cycles that this one stands for.
    """

    def __init__(self, *, bfs_kernels: int, intersection_kernels: int, instrument: bool = False) -> None:
        self._bfs_kernels = bfs_kernels
        self._intersection_kernels = intersection_kernels
        self._instrument = instrument
        answer = stream.Signature(ADDRESS_WIDTH, always_ready=True)
        super().__init__(
            {
                **host_members(),
                "intersection": Out(1),
                "begin_bfs": Out(1),
                "begin_intersection": Out(1),
                "parameter": In(4),
                "value": Out(64),
                "complete": In(1),
                "failed": In(1),
                "result": In(32),
                "result_valid": In(1),
                "bfs_question": Out(stream.Signature(KernelQuestion.size)),
                "intersection_question": Out(stream.Signature(KernelQuestion.size)),
                "bfs_answer": In(answer),
                "intersection_answer": In(answer),
                **({"moving": Out(1), "elapsed": In(ADDRESS_WIDTH, init=1)} if instrument else {}),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the registers and the instruction sequencer."""
        m = Module()
        m.submodules.registers = registers = Memory(shape=64, depth=16, init=[])
        write_port = registers.write_port()
        parameter_port = registers.read_port()
        host_port = registers.read_port()
        m.d.comb += [
            parameter_port.addr.eq(self.parameter),
            self.value.eq(parameter_port.data),
            *drive(write_port, addr=self.write.payload.index, data=self.write.payload.value),
        ]
        cycles = Signal(ADDRESS_WIDTH)
        overflow = Signal()
        reading = self._answer_reads(m, host_port=host_port, cycles=cycles, overflow=overflow)

        m.d.sync += [self.begin_bfs.eq(0), self.begin_intersection.eq(0)]
        with m.If(~self.idle):
            m.d.sync += cycles.eq(cycles + (self.elapsed if self._instrument else 1))
        m.d.comb += self.instruction.ready.eq(1)
        code = self.instruction.payload
        known = (code == Instruction.BFS_LEVEL) | (code == Instruction.INTERSECTION)
        with m.If(self.instruction.valid & ~(known & self.idle)):
            m.d.sync += self.exception.eq(1)
        with m.FSM() as fsm:
            with m.State("IDLE"):
                m.d.comb += [
                    self.write.ready.eq(1),
                    write_port.en.eq(self.write.valid & (self.write.payload.index < Register.STATUS)),
                ]
                with m.If(self.instruction.valid & known):
                    m.d.sync += [
                        self.idle.eq(0),
                        cycles.eq(0),
                        overflow.eq(0),
                        self.intersection.eq(code[0]),
                        self.begin_bfs.eq(~code[0]),
                        self.begin_intersection.eq(code[0]),
                    ]
                    m.next = "BEGIN"
            with m.State("BEGIN"):
                # The master's `complete` of the run before it falls in this cycle.
                m.next = "RUN"
            with m.State("RUN"):
                with m.If(self.complete):
                    m.d.sync += overflow.eq(self.failed)
                    m.next = "RESULT"
            with m.State("RESULT"):
                m.d.comb += [
                    write_port.en.eq(self.result_valid),
                    write_port.addr.eq(Mux(self.intersection, Register.NEXT_START.value, Register.CURRENT_COUNT.value)),
                    write_port.data.eq(self.result),
                ]
                m.d.sync += self.idle.eq(1)
                m.next = "IDLE"
        if self._instrument:
            resting = fsm.ongoing("IDLE") | (fsm.ongoing("RUN") & ~self.complete)
            m.d.comb += self.moving.eq(
                ~resting
                | reading
                | self.write.valid
                | self.instruction.valid
                | self.begin_bfs
                | self.begin_intersection
            )
        return m

    def _answer_reads(self, m: Module, *, host_port: wiring.PureInterface, cycles: Signal, overflow: Signal) -> Value:
        """Add the answers to register reads, the kernel window included; return whether one is asked for or given."""
        index = Signal(16)
        status = Signal(len(Status))
        m.d.comb += [
            host_port.addr.eq(self.read.payload),
            status.eq(
                (~self.idle * Status.BUSY.value)
                | (overflow * Status.OVERFLOW.value)
                | (self.exception * Status.BAD_INSTRUCTION.value)
            ),
        ]
        kernel = index[KERNEL_WORD_BITS : KERNEL_WINDOW.bit_length() - 1]
        other = kernel - self._bfs_kernels
        end = kernel_register(self._bfs_kernels + self._intersection_kernels, 0)
        for question, number in ((self.bfs_question, kernel), (self.intersection_question, other)):
            asked = data.View(KernelQuestion, question.payload)
            m.d.comb += [asked.word.eq(index[:KERNEL_WORD_BITS]), asked.hops.eq(number)]
        m.d.sync += self.data.valid.eq(0)
        with m.FSM(name="reader") as reader:
            with m.State("IDLE"):
                m.d.comb += self.read.ready.eq(1)
                m.d.sync += index.eq(self.read.payload)
                with m.If(self.read.valid):
                    m.next = "LOOK"
            with m.State("LOOK"):
                m.d.sync += [self.data.valid.eq(1), self.data.payload.eq(host_port.data)]
                m.next = "IDLE"
                with m.If(index == Register.STATUS):
                    m.d.sync += self.data.payload.eq(status)
                with m.Elif(index == Register.CYCLES):
                    m.d.sync += self.data.payload.eq(cycles)
                with m.Elif((index >= KERNEL_WINDOW) & (index < end)):
                    m.d.sync += self.data.valid.eq(0)
                    m.next = "ASK"
                with m.Elif(index > Register.CYCLES):
                    m.d.sync += self.data.payload.eq(0)
            with m.State("ASK"):
                is_bfs = kernel < self._bfs_kernels
                m.d.comb += [self.bfs_question.valid.eq(is_bfs), self.intersection_question.valid.eq(~is_bfs)]
                with m.If(Mux(is_bfs, self.bfs_question.ready, self.intersection_question.ready)):
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                for answer in (self.bfs_answer, self.intersection_answer):
                    with m.If(answer.valid):
                        m.d.sync += [self.data.valid.eq(1), self.data.payload.eq(answer.payload)]
                        m.next = "IDLE"
        return ~reader.ongoing("IDLE") | self.read.valid | self.data.valid
