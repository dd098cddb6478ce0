"""Traces of components, and their pins."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.hdl import Cat, Elaboratable, Module, Signal
from amaranth.sim import Simulator

from cyscc.hw.verilog import port_names
from tests.alone.stimuli import Stimuli


@dataclass(frozen=True)
class Trace:
    """Inputs and outputs of a component in each cycle.

    Parameters
    ----------
    inputs, outputs : list of int
        All ports of a cycle, side by side in the order of their names in `Stimuli.inputs` and `Stimuli.outputs`.
    masks : list of int
        Those bits of the outputs that mean anything: not the payload of what is not valid.
    """

    inputs: list[int]
    outputs: list[int]
    masks: list[int]

    @property
    def digest(self) -> str:
        """Of all that means anything."""
        shown = [output & mask for output, mask in zip(self.outputs, self.masks, strict=True)]
        return hashlib.sha256(repr([self.inputs, shown]).encode()).hexdigest()[:16]


class _Bench(Elaboratable):
    """A component between two registers' worth of wires."""

    def __init__(self, stimuli: Stimuli) -> None:
        self._stimuli = stimuli
        self.inputs = Signal(sum(stimuli.inputs.values()))
        self.outputs = Signal(sum(stimuli.outputs.values()))

    def elaborate(self, platform: object) -> Elaboratable:
        """Put the component between them."""
        m = Module()
        m.submodules.dut = component = self._stimuli.component
        ports = port_names(component)
        # A clock is there also for what needs none.
        m.d.sync += Signal().eq(0)
        m.d.comb += [
            Cat(ports[name][0] for name in self._stimuli.inputs).eq(self.inputs),
            self.outputs.eq(Cat(ports[name][0] for name in self._stimuli.outputs)),
        ]
        return m


def trace(stimuli: Stimuli) -> Trace:
    """Drive a component with its stimuli, and return its responses."""
    bench = _Bench(stimuli)
    simulator = Simulator(bench)
    simulator.add_clock(1e-6)
    found = Trace([], [], [])

    async def run(context: Any) -> None:
        before: Mapping[str, int] = {}
        for _ in range(stimuli.LENGTHS[stimuli.run]):
            now = stimuli.next(before)
            given = _packed(now, stimuli.inputs)
            context.set(bench.inputs, given)
            answer = context.get(bench.outputs)
            outputs = unpacked(answer, stimuli.outputs)
            found.inputs.append(given)
            found.outputs.append(answer)
            found.masks.append(_mask(outputs, stimuli.outputs))
            before = {**now, **outputs}
            await context.tick()

    simulator.add_testbench(run)
    for number in range(len(stimuli.LENGTHS)):
        stimuli.restart(number)
        if number:
            simulator.reset()
        simulator.run()
    return found


def _packed(values: Mapping[str, int], widths: Mapping[str, int]) -> int:
    offset = whole = 0
    for name, width in widths.items():
        whole |= values[name] << offset
        offset += width
    return whole


def unpacked(whole: int, widths: Mapping[str, int]) -> dict[str, int]:
    values = {}
    for name, width in widths.items():
        values[name] = whole & (1 << width) - 1
        whole >>= width
    return values


def _mask(outputs: Mapping[str, int], widths: Mapping[str, int]) -> int:
    meant = {
        name: 0 if name.endswith("_payload") and not outputs.get(f"{name[:-8]}_valid", 1) else (1 << width) - 1
        for name, width in widths.items()
    }
    return _packed(meant, widths)


_PINS = Path(__file__).with_name("pins.json")


def pins() -> dict[str, str]:
    """Return the digest of each component's trace by its name, see `tests.alone.parts.all_parts`."""
    found: dict[str, str] = json.loads(_PINS.read_text())
    return found
