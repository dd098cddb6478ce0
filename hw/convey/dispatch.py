"""The dispatch signals of an HC-2 personality."""

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.dispatch import AegWrite
from cyscc.hw.interfaces import drive
from cyscc.hw.queue import Queue
from cyscc.hw.registers import Instruction

_DEPTH = 16


class _Kind(enum.Enum, shape=2):
    WRITE = 0
    READ = 1
    INSTRUCTION = 2


_Command = data.StructLayout({"value": 64, "index": 16, "kind": _Kind})


def ConveyDispatchSignature() -> wiring.Signature:  # noqa: N802 - signatures are named like classes
    """Return the signature of the dispatch interface behind the vendor's instruction decoder, seen from the AE.

    Members
    -------
    inst_val : In(1)
        An instruction of the personality is dispatched: number `inst_caep`.
    inst_caep : In(5)
        Its number.
    inst_aeg_wr, inst_aeg_rd : In(1)
        AEG register `inst_aeg_idx` is written with `cae_data`, or read.
    inst_aeg_idx : In(18)
        Register number.
    cae_data : In(64)
        What is written.
    err_unimpl : In(1)
        The decoder met an instruction that does not exist.
    cae_aeg_cnt : Out(18)
        Number of AEG registers.
    cae_exception : Out(16)
        Pulses: bit 0, an instruction that does not exist; bit 1, a register that does not exist.
    cae_ret_data, cae_ret_data_vld : Out(64), Out(1)
        Answers to reads, in order.
    cae_idle : Out(1)
        Nothing runs and nothing waits.
    cae_stall : Out(1)
        Dispatch nothing; up to eight that are on their way are still taken.
    """
    return wiring.Signature(
        {
            "inst_val": In(1),
            "inst_caep": In(5),
            "inst_aeg_wr": In(1),
            "inst_aeg_rd": In(1),
            "inst_aeg_idx": In(18),
            "cae_data": In(64),
            "err_unimpl": In(1),
            "cae_aeg_cnt": Out(18),
            "cae_exception": Out(16),
            "cae_ret_data": Out(64),
            "cae_ret_data_vld": Out(1),
            "cae_idle": Out(1, init=1),
            "cae_stall": Out(1),
        }
    )


class ConveyDispatch(wiring.Component):
    """Passes what is dispatched on in order, each when the AE can take it, so that nothing sent too early is lost.

    Parameters
    ----------
    registers : int
        Registers that exist, the kernel window included.

    Members
    -------
    cae : Out(ConveyDispatchSignature())
        The personality's side.
    write, read, data, instruction, idle
        The AE's side; see `cyscc.hw.dispatch.Dispatch`.

    Notes
    -----
    Latency four cycles from `cae` to the AE. An instruction waits until the AE is idle, and what follows it until the
    AE is idle again.
    """

    cae: Out(ConveyDispatchSignature())
    write: Out(stream.Signature(AegWrite))
    read: Out(stream.Signature(16))
    data: In(stream.Signature(64, always_ready=True))
    instruction: Out(stream.Signature(5))
    idle: In(1)

    def __init__(self, *, registers: int) -> None:
        self._registers = registers
        super().__init__()

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the queue of commands and the sequencer."""
        m = Module()
        cae = self.cae
        m.submodules.commands = commands = Queue(_Command, _DEPTH)
        access = cae.inst_aeg_wr | cae.inst_aeg_rd
        exists = cae.inst_aeg_idx < self._registers
        known = (cae.inst_caep == Instruction.BFS_LEVEL) | (cae.inst_caep == Instruction.INTERSECTION)
        m.d.comb += [
            cae.cae_aeg_cnt.eq(self._registers),
            commands.input.valid.eq((access & exists) | (cae.inst_val & known)),
            *drive(commands.input.payload, value=cae.cae_data, index=cae.inst_aeg_idx),
        ]
        with m.If(cae.inst_val):
            m.d.comb += drive(commands.input.payload, kind=_Kind.INSTRUCTION, index=cae.inst_caep)
        with m.Elif(cae.inst_aeg_rd):
            m.d.comb += commands.input.payload.kind.eq(_Kind.READ)

        command = commands.output
        kind = command.payload.kind
        reading = Signal()  # an answer is awaited
        free = Signal()
        m.d.comb += [
            free.eq(self.idle & ~reading),
            self.write.valid.eq(command.valid & free & (kind == _Kind.WRITE)),
            *drive(self.write.payload, value=command.payload.value, index=command.payload.index),
            *drive(self.read, valid=command.valid & free & (kind == _Kind.READ), payload=command.payload.index),
            self.instruction.valid.eq(command.valid & free & (kind == _Kind.INSTRUCTION)),
            self.instruction.payload.eq(command.payload.index),
            command.ready.eq(
                (self.write.valid & self.write.ready)
                | (self.read.valid & self.read.ready)
                | (self.instruction.valid & self.instruction.ready)
            ),
        ]
        with m.If(self.data.valid):
            m.d.sync += reading.eq(0)
        with m.Elif(self.read.valid & self.read.ready):
            m.d.sync += reading.eq(1)
        m.d.sync += [
            *drive(cae, cae_ret_data_vld=self.data.valid, cae_ret_data=self.data.payload),
            cae.cae_exception[0].eq(cae.err_unimpl | (cae.inst_val & ~known)),
            cae.cae_exception[1].eq(access & ~exists),
            cae.cae_idle.eq(~commands.input.valid & ~commands.level.any() & free),
            cae.cae_stall.eq(commands.level >= _DEPTH // 2),
        ]
        return m
