"""Random inputs of a component that keep to the rules of its streams.

Subclasses know more about what a component may be given: `tests.alone.surroundings`.
"""

import random
from collections.abc import Mapping
from typing import Any

from amaranth.hdl._ir import PortDirection
from amaranth.lib import data, wiring

from cyscc.hw.verilog import port_names

_STEADY_WIDTH = 17
"""Inputs from this width on are addresses, counts and the like, which change only between phases."""

Ports = dict[str, int]


def field_of(layout: data.StructLayout, value: int, name: str) -> int:
    """Return a field of a payload."""
    field = layout[name]
    return value >> field.offset & (1 << field.width) - 1


def number_of(member: Any) -> int:
    """Return the number of a member of one of the hardware's enumerations."""
    return int(member.value)


def packed(layout: data.StructLayout, **fields: int) -> int:
    """Return a payload with some fields, the others 0."""
    whole = 0
    for name, value in fields.items():
        field = layout[name]
        whole |= (value & (1 << field.width) - 1) << field.offset
    return whole


def _leaves(shape: Any, width: int, offset: int = 0) -> list[tuple[int, int]]:
    """Return offset and width of all that a payload is made of."""
    if not isinstance(shape, data.StructLayout):
        return [(offset, width)]
    return [leaf for _, field in shape for leaf in _leaves(field.shape, field.width, offset + field.offset)]


class Stimuli:
    """Inputs of a component, cycle by cycle, which depend on its outputs.

    Parameters
    ----------
    component : wiring.Component
        The component.
    seed : str
        What the random numbers come from.
    """

    STEADY: tuple[str, ...] = ()
    """Narrow inputs that are steady too."""

    CHANGING: tuple[str, ...] = ()
    """Beginnings of the names of wide inputs that are not steady."""

    BITS: tuple[str, ...] = ()
    """Inputs whose bits are each like an input of one bit."""

    PHASE = 16
    """Cycles after which it is drawn anew how often streams go on, and what steady inputs are."""

    PACES: tuple[float, ...] = (0.1, 0.5, 0.9, 1.0)
    """How often that may be, of which one is drawn for each input of a bit."""

    LENGTHS: tuple[int, ...] = (300,)
    """Cycles of the runs, each of which begins with the component as it is at first."""

    def __init__(self, component: wiring.Component, seed: str) -> None:
        self.component: Any = component
        self.random = random.Random(seed)
        self.run = self.cycle = 0
        ports = port_names(component)
        self.inputs = {name: len(port) for name, (port, way) in ports.items() if way == PortDirection.Input}
        self.outputs = {name: len(port) for name, (port, way) in ports.items() if way == PortDirection.Output}
        shapes = {"_".join(map(str, path)): member.shape for path, member, _ in component.signature.flatten(component)}
        self._leaves = {name: _leaves(shapes[name], width) for name, width in self.inputs.items()}
        self._streams = [
            name[:-6] for name in self.inputs if name.endswith("_valid") and f"{name[:-6]}_payload" in self.inputs
        ]
        self._of_streams = {f"{name}_{part}" for name in self._streams for part in ("valid", "payload")}
        self._paces: dict[str, float] = {}

    def restart(self, run: int) -> None:
        """Begin a run, by its number."""
        self.run, self.cycle = run, 0

    def next(self, before: Mapping[str, int]) -> Ports:
        """Return the inputs of the next cycle.

        Parameters
        ----------
        before : mapping of str to int
            All inputs and outputs of the last cycle; empty in the first.
        """
        if self.cycle % self.PHASE == 0:
            self._paces = {name: self.random.choice(self.PACES) for name in self.inputs}
        now: Ports = {}
        for name, width in self.inputs.items():
            if name in self._of_streams:
                continue
            steady = name in self.STEADY or (width >= _STEADY_WIDTH and not name.startswith(self.CHANGING))
            if steady and self.cycle % self.PHASE:
                now[name] = before[name]
            elif width == 1:
                now[name] = self.paced(name)
            elif name in self.BITS:
                now[name] = sum(self.paced(name) << place for place in range(width))
            else:
                now[name] = self.value(name)
        for name in self._streams:
            valid, payload = f"{name}_valid", f"{name}_payload"
            if before.get(valid) and not before.get(f"{name}_ready", 1):
                now[valid], now[payload] = 1, before[payload]
            else:
                now[valid], now[payload] = int(self.random.random() < self._paces[valid]), self.value(payload)
        self.rule(now, before)
        self.cycle += 1
        return now

    def paced(self, name: str) -> int:
        """Return 1 as often as it is an input's turn in this phase, else 0."""
        return int(self.random.random() < self._paces[name])

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        """Change the inputs of a cycle into what the component may be given."""

    def value(self, name: str) -> int:
        """Return a value for an input: each field is often one that is rarely met by chance."""
        return sum(self.field(width) << offset for offset, width in self._leaves[name])

    def field(self, width: int) -> int:
        """Return a random number of some bits."""
        kind = self.random.random()
        if kind < 0.6 or width < 2:
            return self.random.getrandbits(width)
        if kind < 0.75:
            return min(self.random.randrange(8), (1 << width) - 1)
        if kind < 0.85:
            return (1 << width) - 1 - min(self.random.randrange(4), (1 << width) - 1)
        return 1 << self.random.randrange(width)
