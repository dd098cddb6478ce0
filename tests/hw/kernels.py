"""Kernels on their chain and ring."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from amaranth.hdl import Cat, Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import connect

from cyscc.hw.bfs.slot_station import SlotStation
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.interfaces import ChainMessage, ChainOp
from cyscc.hw.registers import Counter, KernelWord, Register
from cyscc.hw.ring_master import RingMaster
from cyscc.hw.shell import STATION_BITS
from tests.hw.streams import Simulation, pulse


def one_engine(**changes: Any) -> AcceleratorConfig:
    """Return the small configuration with one AE, and with changes."""
    return PRESETS["test"].replace(**({"engines": 1} | changes))


class KernelRing(Elaboratable):
    """Kernels of one kind and the ring master of their module. The tests play the chain's master and the memory.

    With a short ring, the ring passes a station beside them.

    Parameters
    ----------
    kind : type
        Class of the kernels.
    config : AcceleratorConfig
        Sizes.
    kernels : int
        How many.
    initial : int
        The token's value at the start.

    Attributes
    ----------
    kernels : list
        The kernels; inputs of the first one's chain and of all ports are left to the tests.
    master : RingMaster
        It leads.
    """

    def __init__(
        self, kind: type[wiring.Component], config: AcceleratorConfig, *, kernels: int, initial: int = 0
    ) -> None:
        self.kernels: list[Any] = [kind(config) for _ in range(kernels)]
        self._config = config
        self.master = RingMaster(stages=config.ring_stages, initial=initial)

    @property
    def chain(self) -> Any:
        """Where messages enter."""
        return self.kernels[0].chain_in

    @property
    def answers(self) -> Any:
        """Where messages leave."""
        return self.kernels[-1].chain_out

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.master = self.master
        token = self.master.ring_out
        for number, kernel in enumerate(self.kernels):
            m.submodules[f"kernel{number}"] = kernel
            if number:
                connect(m, self.kernels[number - 1].chain_out, kernel.chain_in)
            if not self._config.short_ring:
                connect(m, token, kernel.token_in)
                token = kernel.token_out
        if self._config.short_ring:
            m.submodules.station = station = SlotStation(kernels=len(self.kernels), depth=self._config.visit_depth)
            connect(m, token, station.token_in)
            token = station.token_out
            for number, kernel in enumerate(self.kernels):
                connect(m, getattr(station, f"block{number}"), kernel.block)
            m.d.comb += [
                getattr(station, name).eq(Cat(getattr(kernel, name) for kernel in self.kernels))
                for name in (*STATION_BITS, "done")
            ]
        connect(m, token, self.master.ring_in)
        m.d.comb += self.master.lead.eq(1)
        return m


@lru_cache(maxsize=16)
def simulated_ring(
    kind: type[wiring.Component], config: AcceleratorConfig, *, kernels: int, initial: int = 0
) -> tuple[KernelRing, Simulation]:
    """Return kernels in their ring, and their simulation, which tests of the same hardware share."""
    ring = KernelRing(kind, config, kernels=kernels, initial=initial)
    return ring, Simulation(ring)


async def send(ctx: Any, ring: KernelRing, **message: Any) -> None:
    """Send a message over the chain."""
    ctx.set(ring.chain.payload, ChainMessage.const(message))
    await pulse(ctx, ring.chain.valid)


async def launch(ctx: Any, ring: KernelRing, parameters: Mapping[Register, int], *, token: bool = True) -> None:
    """Send parameters and start; start the token too, or leave it to the test."""
    for register, value in parameters.items():
        await send(ctx, ring, op=ChainOp.WRITE, index=register.value, value=value)
    ctx.set(ring.master.start, token)
    await send(ctx, ring, op=ChainOp.START, value=0)
    ctx.set(ring.master.start, 0)
    for _ in range(len(ring.kernels) + 2):
        await ctx.tick()


async def finish(ctx: Any, ring: KernelRing) -> int:
    """Wait until kernels and token are done; return the token's value."""
    while ctx.get(ring.master.running) or not all(ctx.get(kernel.done) for kernel in ring.kernels):
        await ctx.tick()
    return int(ctx.get(ring.master.result))


async def ask(ctx: Any, ring: KernelRing, *, kernel: int, word: int) -> int:
    """Return a word of a kernel's state."""
    await send(ctx, ring, op=ChainOp.READ, hops=kernel, index=word)
    while not (ctx.get(ring.answers.valid) and ctx.get(ring.answers.payload).op == ChainOp.DATA):
        await ctx.tick()
    return int(ctx.get(ring.answers.payload).value)


async def counters(ctx: Any, ring: KernelRing) -> dict[Counter, int]:
    """Return the event counters, summed over the kernels."""
    totals = dict.fromkeys(Counter, 0)
    for kernel in range(len(ring.kernels)):
        for counter in Counter:
            totals[counter] += await ask(ctx, ring, kernel=kernel, word=KernelWord.COUNTER_0 + counter)
    return totals
