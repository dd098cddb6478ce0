"""Reading barrier: when a kernel can know that no other kernel will send it an id in this run."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class ReadingBarrier(wiring.Component):
    """Tells the shell when all ids of this kernel are in the exchange, and the kernel when all ids have left it.

    Kernels start one after the other. One that has not started still shows the run before, so the shell counts runs as
    kernels do, by a bit that changes with each.

    Members
    -------
    busy : In(1)
        A run has begun and is not done.
    epoch : In(1)
        Changes with each run.
    sent : In(1)
        Processes 1 and 2 are idle, and all their ids are in the exchange.
    read_epoch : Out(1)
        Epoch of the last run of which all ids were sent; registered.
    drained : In(2)
        By epoch: it is the last one of which each kernel of the AE sent all ids, and the exchange is empty.
    idle : Out(1)
        No more ids come in this run.
    moving : Out(1)
        In a run, more may come: the kernel does not rest, since it waits for an input that no stream brings.
    """

    busy: In(1)
    epoch: In(1)
    sent: In(1)
    read_epoch: Out(1)
    drained: In(2)
    idle: Out(1)
    moving: Out(1)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the register."""
        m = Module()
        with m.If(self.busy & self.sent):
            m.d.sync += self.read_epoch.eq(self.epoch)
        m.d.comb += [
            self.idle.eq(Mux(self.epoch, self.drained[1], self.drained[0])),
            self.moving.eq(self.busy & ~self.idle),
        ]
        return m


class ReadingGatherer(wiring.Component):
    """Tells the reading barriers of an AE when all ids have left the exchange.

    Parameters
    ----------
    kernels : int
        Kernels of the AE.

    Members
    -------
    read_epoch : In(kernels)
        By kernel: epoch of the last run of which all its ids are in the exchange.
    exchange_busy : In(kernels)
        By kernel: its slice of the exchange holds an id.
    drained : Out(2)
        By epoch: it is the last one of which each kernel sent all ids, and the exchange is empty. Registered.
    moving : Out(1)
        `drained` changes with the next cycle.
    """

    def __init__(self, kernels: int) -> None:
        super().__init__({"read_epoch": In(kernels), "exchange_busy": In(kernels), "drained": Out(2), "moving": Out(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the register."""
        m = Module()
        # A kernel says that it sent all its ids when the last one is in the exchange: none can be in between.
        sent = Cat(~self.read_epoch.any(), self.read_epoch.all())
        gathered = Mux(self.exchange_busy.any(), 0, sent)
        m.d.sync += self.drained.eq(gathered)
        m.d.comb += self.moving.eq(self.drained != gathered)
        return m
