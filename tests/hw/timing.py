"""Timing of a component: inputs by the cycle, and the cycles in which its outputs are high."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from amaranth.hdl import Mux, Value
from amaranth.hdl._ir import PortDirection

from cyscc.hw.verilog import port_names
from tests.hw.streams import simulate

Given = int | Mapping[int, int] | Sequence[Any]
Shown = Mapping[int, int] | Sequence[int]

END = 40
"""Cycles that are looked at."""


def number(member: Any) -> int:
    """Return the number of a member of one of Amaranth's enumerations, which type checkers take for a number."""
    return int(member.value)


@dataclass(frozen=True, kw_only=True)
class Timing:
    """What a component does in some cycles from reset on, of which the first one is 0.

    Members are named by their paths, ``port.read.payload``.

    Parameters
    ----------
    claim : str
        What is shown, in a few words.
    make : callable
        Makes the component.
    given : mapping
        By input stream its payloads, each offered as soon as the one before is taken. By any other input, or by output
        stream for its `ready`: a value that it always has, the cycles in which it is 1, or its value by cycle, which is
        0 in all others.
    shown : mapping
        By output: the cycles in which any of its bits is set, or its value in each of them. By stream: the cycles in
        which a payload is taken; in others, the payload and its fields are looked at as if they were 0.
    memory : mapping
        By tag of a read that the stream `command` brings: the stream of the answers, each `answered` cycles later.
    answered : int
        Those cycles.
    latency : (str, int), optional
        An output, and the cycle in which it is high first by what the component says of itself.
    """

    claim: str
    make: Callable[[], Any]
    given: Mapping[str, Given]
    shown: Mapping[str, Shown]
    memory: Mapping[int, str] = field(default_factory=dict)
    answered: int = 3
    latency: tuple[str, int] | None = None

    def check(self) -> None:
        """Simulate the component, and compare."""
        wanted = {path: _by_cycle(shown) for path, shown in self.shown.items()}
        found = self._simulated()
        for path, shown in self.shown.items():
            values = found[path] if isinstance(shown, Mapping) else dict.fromkeys(found[path], 1)
            assert values == wanted[path], f"{path} of {self.claim}"
        if self.latency:
            path, cycles = self.latency
            assert min(wanted[path]) == cycles, f"{path} comes first in cycle {min(wanted[path])}"

    def _simulated(self) -> dict[str, dict[int, int]]:
        """Return the values of the outputs by cycle, where they are not 0."""
        dut = self.make()
        ways = {name: way for name, (_, way) in port_names(dut).items()}
        offers: dict[Any, deque[Any]] = {}
        levels: list[tuple[Any, Given]] = []
        for path, given in self.given.items():
            way = ways.get(f"{path.replace('.', '_')}_valid")
            if way == PortDirection.Input:
                offers[_member(dut, path)] = deque(_payloads(given))
            else:
                levels.append((_member(dut, path).ready if way else _member(dut, path), given))
        signals = {path: _looked_at(dut, path) for path in self.shown}
        found: dict[str, dict[int, int]] = {path: {} for path in self.shown}

        async def bench(ctx: Any) -> None:
            answers: deque[tuple[int, str]] = deque()
            for cycle in range(END):
                for signal, given in levels:
                    ctx.set(Value.cast(signal), given if isinstance(given, int) else _by_cycle(given).get(cycle, 0))
                for stream, payloads in offers.items():
                    ctx.set(stream.valid, bool(payloads))
                    if payloads:
                        ctx.set(stream.payload, payloads[0])
                for answer in self.memory.values():
                    ctx.set(_member(dut, answer).valid, bool(answers) and answers[0] == (cycle, answer))
                if answers and answers[0][0] == cycle:
                    answers.popleft()
                for path, signal in signals.items():
                    if value := ctx.get(signal):
                        found[path][cycle] = value
                for stream, payloads in offers.items():
                    if payloads and ctx.get(stream.ready):
                        payloads.popleft()
                if self.memory and ctx.get(dut.command.valid & dut.command.ready):
                    tag = ctx.get(Value.cast(dut.command.payload.tag))
                    answers.append((cycle + self.answered, self.memory[tag]))
                await ctx.tick()

        simulate(dut, bench)
        return found


def _member(dut: Any, path: str) -> Any:
    return reduce(getattr, path.split("."), dut)


def _looked_at(dut: Any, path: str) -> Value:
    """Return the value of an output, or of a payload where it is taken, or whether a stream's payload is."""
    member = _member(dut, path)
    if hasattr(member, "valid"):
        return member.valid & member.ready
    stream, payload, _ = path.partition(".payload")
    return Mux(_looked_at(dut, stream), member, 0) if payload else Value.cast(member)


def _payloads(given: Given) -> Sequence[Any]:
    assert not isinstance(given, int | Mapping)
    return given


def _by_cycle(cycles: Shown) -> Mapping[int, int]:
    return cycles if isinstance(cycles, Mapping) else dict.fromkeys(cycles, 1)


def lasting(values: Mapping[int, int]) -> dict[int, int]:
    """Return values that each last from their cycle until that of the next one, or until the end."""
    ends = [*list(values)[1:], END]
    return {
        cycle: value
        for (first, value), end in zip(values.items(), ends, strict=True)
        for cycle in range(first, end)
        if value
    }
