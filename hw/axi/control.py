"""The AXI4-Lite slave through which a host reaches the registers of an Application Engine."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.axi.registers import IDENTITY, AxiStatus, ControlRegister
from cyscc.hw.axi.signatures import LITE_ADDRESS_WIDTH, Axi4LiteSignature, Resp
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.dispatch import host_members
from cyscc.hw.interfaces import drive
from cyscc.hw.registers import KERNEL_WINDOW, Instruction, Register, kernel_register


class AxiControl(wiring.Component):
    """Registers of the AE and of its AXI side; the map is in `cyscc.hw.axi.registers`.

    The AE's registers have 64 bits. The low half is written first and kept; the high half writes both. Reading the low
    half reads both; the high half comes from the same reading. SLVERR answers, and nothing happens, when a register
    does not exist, cannot be written, is written in part, or is a parameter or the dispatch register and an
    instruction runs, and when an instruction does not exist.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.

    Members
    -------
    axi : In(Axi4LiteSignature())
        The slave.
    engine : Out(2)
        Number of this AE.
    write, read, data, instruction, idle, exception
        The AE's side; see `cyscc.hw.dispatch.Dispatch`.
    read_failed, write_failed : In(ports)
        Pulses of the memory ports.

    Notes
    -----
    One access at a time: a write takes three cycles, a read three and what the AE takes.
    """

    def __init__(self, config: AcceleratorConfig) -> None:
        self._config = config
        super().__init__(
            {
                "axi": In(Axi4LiteSignature()),
                "engine": Out(2),
                **{name: member.flip() for name, member in host_members().items()},
                "read_failed": In(config.ports),
                "write_failed": In(config.ports),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the slave."""
        m = Module()
        axi = self.axi
        address = Signal(LITE_ADDRESS_WIDTH - 2)
        value = Signal(32)
        whole = Signal()
        low = Signal(32)  # half written last
        high = Signal(32)  # half read last
        errors = {
            ControlRegister.READ_ERRORS: Signal(self._config.ports, name="read_errors"),
            ControlRegister.WRITE_ERRORS: Signal(self._config.ports, name="write_errors"),
        }
        for register, failed in zip(errors, (self.read_failed, self.write_failed), strict=True):
            m.d.sync += errors[register].eq(errors[register] | failed)

        number = address[1:]
        parameter = number < Register.STATUS
        readable = (number <= Register.CYCLES) | (
            (number >= KERNEL_WINDOW)
            & (number < kernel_register(self._config.bfs_kernels + self._config.intersection_kernels, 0))
        )
        m.d.comb += [
            *drive(self.write.payload, index=number, value=Cat(low, value)),
            self.read.payload.eq(number),
            self.instruction.payload.eq(value),
        ]
        writing = Signal()
        m.d.comb += [
            writing.eq(axi.awvalid & axi.wvalid),
            axi.rdata.eq(value),
        ]
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += [axi.awready.eq(writing), axi.wready.eq(writing), axi.arready.eq(~writing)]
                with m.If(writing):
                    m.d.sync += [address.eq(axi.awaddr[2:]), value.eq(axi.wdata), whole.eq(axi.wstrb.all())]
                    m.next = "WRITE"
                with m.Elif(axi.arvalid):
                    m.d.sync += [address.eq(axi.araddr[2:]), value.eq(0)]
                    m.next = "READ"
            with m.State("WRITE"):
                m.d.sync += axi.bresp.eq(Resp.SLVERR)
                with m.If(whole):
                    with m.If(parameter & ~address[0]):
                        m.d.sync += [low.eq(value), axi.bresp.eq(Resp.OKAY)]
                    with m.Elif(parameter & self.idle):
                        m.d.comb += self.write.valid.eq(1)
                        m.d.sync += axi.bresp.eq(Resp.OKAY)
                    self._write_control(m, address, value, errors)
                m.next = "WRITTEN"
            with m.State("WRITTEN"):
                m.d.comb += axi.bvalid.eq(1)
                with m.If(axi.bready):
                    m.next = "IDLE"
            with m.State("READ"):
                m.d.sync += axi.rresp.eq(Resp.OKAY)
                m.next = "ANSWER"
                with m.If(readable & address[0]):
                    m.d.sync += value.eq(high)
                with m.Elif(readable):
                    m.d.comb += self.read.valid.eq(1)
                    m.next = "READ"
                    with m.If(self.read.ready):
                        m.next = "AWAIT"
                with m.Else():
                    m.d.sync += axi.rresp.eq(Resp.SLVERR)
                    self._read_control(m, address, value, errors)
            with m.State("AWAIT"):
                m.d.sync += Cat(value, high).eq(self.data.payload)
                with m.If(self.data.valid):
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += axi.rvalid.eq(1)
                with m.If(axi.rready):
                    m.next = "IDLE"
        return m

    def _write_control(self, m: Module, address: Signal, value: Signal, errors: dict[ControlRegister, Signal]) -> None:
        """Add the write of a register of the control window."""
        known = (value == Instruction.BFS_LEVEL) | (value == Instruction.INTERSECTION)
        with m.Switch(address):
            with m.Case(ControlRegister.ENGINE >> 2):
                with m.If(self.idle & (value < self._config.engines)):
                    m.d.sync += [self.engine.eq(value), self.axi.bresp.eq(Resp.OKAY)]
            with m.Case(ControlRegister.DISPATCH >> 2):
                with m.If(self.idle & known):
                    m.d.comb += self.instruction.valid.eq(1)
                    m.d.sync += self.axi.bresp.eq(Resp.OKAY)
            for (register, bits), failed in zip(errors.items(), (self.read_failed, self.write_failed), strict=True):
                with m.Case(register >> 2):
                    m.d.sync += [bits.eq((bits & ~value) | failed), self.axi.bresp.eq(Resp.OKAY)]

    def _read_control(self, m: Module, address: Signal, value: Signal, errors: dict[ControlRegister, Signal]) -> None:
        """Add the reading of a register of the control window."""
        config = self._config
        shape = config.bfs_kernels | config.intersection_kernels << 8 | config.engines << 16
        flags = {
            AxiStatus.IDLE: self.idle,
            AxiStatus.EXCEPTION: self.exception,
            AxiStatus.READ_ERROR: errors[ControlRegister.READ_ERRORS].any(),
            AxiStatus.WRITE_ERROR: errors[ControlRegister.WRITE_ERRORS].any(),
        }
        contents: dict[ControlRegister, Value] = {
            ControlRegister.IDENTITY: Const(IDENTITY, 32),
            ControlRegister.SHAPE: Const(shape, 32),
            ControlRegister.ENGINE: self.engine,
            ControlRegister.STATUS: Cat(flags[flag] for flag in AxiStatus),
            **errors,
        }
        with m.Switch(address):
            for register, content in contents.items():
                with m.Case(register >> 2):
                    m.d.sync += [value.eq(content), self.axi.rresp.eq(Resp.OKAY)]
