"""The instrumented shell: it needs no clock while it is quiescent, and still counts cycles correctly."""

import random
from typing import Any

import pytest
from amaranth.hdl import Cat, Elaboratable, EnableInserter, Module, Mux, Signal
from amaranth.hdl._ir import PortDirection
from amaranth.lib import stream

from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.interfaces import ChainMessage, ChainOp, LinkToken, Token
from cyscc.hw.registers import Instruction, Register, kernel_register
from cyscc.hw.shell import Shell
from cyscc.hw.verilog import port_names
from tests.hw.streams import simulate

WAY = 9
"""Cycles that messages and tokens are on their way through kernels or to the next AE."""


def _delayed(m: Module, valid: Any, payload: Any, shape: Any) -> tuple[Signal, Signal]:
    """Return a stream's signals some cycles later."""
    for _ in range(WAY):
        next_valid, next_payload = Signal(), Signal(shape)
        m.d.sync += [next_valid.eq(valid), next_payload.eq(payload)]
        valid, payload = next_valid, next_payload
    return valid, payload


class RestingShell(Elaboratable):
    """A shell and its twin, which is clocked only when the shell may change.

    Delay lines stand for the kernels and the other AEs; what kernels show is left to the tests.
    """

    def __init__(self, config: AcceleratorConfig) -> None:
        self._config = config
        self.shell: Any = Shell(config, instrument=True)
        self.twin: Any = Shell(config, instrument=True)
        self.mismatch = Signal()
        self.asleep = Signal()

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        clocked = Signal()
        shell, twin = self.shell, self.twin
        m.submodules.shell = shell
        m.submodules.twin = EnableInserter(clocked)(twin)
        for place in (shell.bfs, shell.intersection):
            valid, message = _delayed(m, place.chain_out.valid, place.chain_out.payload, ChainMessage)
            asked = message.op == ChainOp.READ
            m.d.comb += [
                place.chain_in.valid.eq(valid),
                place.chain_in.payload.eq(message),
                place.chain_in.payload.op.eq(Mux(asked, ChainOp.DATA, message.op)),
            ]
            if hasattr(place, "token_out"):
                valid, token = _delayed(m, place.token_out.valid, place.token_out.payload, Token)
                m.d.comb += [place.token_in.valid.eq(valid), place.token_in.payload.eq(token)]
        if self._config.engines > 1:
            valid, token = _delayed(m, shell.link_out.valid, shell.link_out.payload, LinkToken)
            m.d.comb += [shell.link_in.valid.eq(valid), shell.link_in.payload.eq(token)]

        copies = port_names(twin)
        outputs = []
        for name, (signal, direction) in port_names(shell).items():
            copy = copies[name][0]
            if direction == PortDirection.Output:
                outputs.append((signal, copy))
            elif name != "elapsed":
                m.d.comb += copy.eq(signal)
        arriving = _inputs(twin)
        states = Cat(twin.bfs.done, twin.bfs.error, twin.intersection.done, twin.intersection.error)
        demanded: Any = 0
        quiescent = twin.quiescent
        if self._config.short_ring:
            demanded = twin.bfs.asked
            quiescent = twin.quiescent & twin.station_quiescent
            states = Cat(states, twin.bfs.room)
        seen = Signal.like(states)
        slept = Signal(16)
        m.d.comb += [
            clocked.eq(~quiescent | Cat(each.valid for each in arriving).any() | (states != seen) | (demanded != 0)),
            twin.elapsed.eq(slept + 1),
            self.asleep.eq(~clocked),
            self.mismatch.eq(Cat(signal for signal, _ in outputs) != Cat(copy for _, copy in outputs)),
        ]
        m.d.sync += slept.eq(slept + 1)
        with m.If(clocked):
            m.d.sync += [slept.eq(0), seen.eq(states)]
        return m


def _inputs(shell: Any) -> list[stream.Interface]:
    """Return the streams into a shell."""
    places = (shell.bfs, shell.intersection)
    inner = [getattr(place, way) for place in places for way in ("chain_in", "token_in") if hasattr(place, way)]
    return [shell.write, shell.read, shell.instruction, *inner, *([shell.link_in] if hasattr(shell, "link_in") else [])]


@pytest.mark.parametrize("engines", [1, 2])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("short_ring", [False, True])
def test_a_quiescent_shell_needs_no_clock(*, engines: int, seed: int, short_ring: bool) -> None:
    config = PRESETS["test"].replace(engines=engines, short_ring=short_ring)
    dut = RestingShell(config)
    shell = dut.shell
    draw = random.Random(seed)
    asleep: list[int] = []
    answers: list[int] = []

    async def put(ctx: Any, port: Any, payload: Any) -> None:
        ctx.set(port.payload, payload)
        ctx.set(port.valid, 1)
        await ctx.tick().until(port.ready)
        ctx.set(port.valid, 0)

    async def ask(ctx: Any, register: int) -> None:
        await put(ctx, shell.read, register)
        (value,) = await ctx.tick().sample(shell.data.payload).until(shell.data.valid)
        answers.append(int(value))

    async def pause(ctx: Any) -> None:
        await ctx.tick().repeat(draw.choice((1, 2, 3, 20, 70)))

    async def host(ctx: Any) -> None:
        for _ in range(6):
            for register in (Register.CAPACITY, Register.WORDS):
                await put(ctx, shell.write, {"index": register, "value": draw.getrandbits(64)})
            await pause(ctx)
            code = draw.choice((Instruction.BFS_LEVEL, Instruction.INTERSECTION))
            place = shell.intersection if code == Instruction.INTERSECTION else shell.bfs
            ctx.set(place.done, 0)
            await put(ctx, shell.instruction, code)
            await pause(ctx)
            await ask(ctx, draw.choice((Register.CYCLES, Register.STATUS, kernel_register(1, 2))))
            await ctx.tick().repeat(40)
            for bits in (1, -1):
                ctx.set(place.error, draw.getrandbits(1))
                ctx.set(place.done, bits)
                await pause(ctx)
            await ctx.tick().until(shell.idle)
            await ask(ctx, Register.CYCLES)
            await pause(ctx)
            await ask(ctx, Register.CYCLES)
            assert answers[-1] == answers[-2] > 40

    async def compare(ctx: Any) -> None:
        async for _, _, mismatch, rests in ctx.tick().sample(dut.mismatch, dut.asleep):
            assert not mismatch, f"cycle {len(asleep)}: the shell changed while it said that it would not"
            asleep.append(rests)

    async def demand(ctx: Any) -> None:
        kernels = config.bfs_kernels
        async for _ in ctx.tick():
            changes = draw.random() < 0.05
            ctx.set(shell.bfs.asked, changes and draw.getrandbits(kernels))
            if changes:
                ctx.set(shell.bfs.room, draw.getrandbits(kernels))
                ctx.set(shell.bfs.epoch, -draw.getrandbits(1))

    simulate(dut, host, background=(compare, demand) if short_ring else (compare,))
    assert sum(asleep) > len(asleep) / 4
