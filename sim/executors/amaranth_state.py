"""The state of the accelerator in Amaranth's simulator, by name."""

from collections.abc import Iterator
from typing import Any, Protocol

from amaranth.hdl import Signal, Value
from amaranth.hdl._ir import Design

from sim.executors.base import LINK_PLACES
from sim.executors.registers import memories, registers
from sim.named_words import Field, NamedWords, whole_field

__all__ = ["AmaranthState"]


class Context(Protocol):
    """What a testbench is given."""

    def get(self, value: Value) -> Any:
        """Return a value."""

    def set(self, value: Value, number: Any) -> None:
        """Change a value."""


class AmaranthState:
    """Where the state of an accelerator is.

    Parameters
    ----------
    design : Design
        The accelerator. Its registers outside the AEs are the hops of the links.
    engines, link_cycles : int
        AEs, and hops of a link.

    Attributes
    ----------
    fields : list of Field
        All registers and memories, and tokens on links by the cycles of their arrival.
    """

    def __init__(self, design: Design, *, engines: int, link_cycles: int) -> None:
        inner = {register.name: register.signal for register in registers(design)}
        self._links: list[list[tuple[Signal, Signal]]] = []
        if engines > 1:
            self._links = [
                [(inner.pop(f"link{n}_valid{hop}"), inner.pop(f"link{n}_token{hop}")) for hop in range(link_cycles)]
                for n in range(engines)
            ]
        self._rows: dict[str, list[Value]] = {name: [signal] for name, signal in inner.items()}
        self._rows |= {memory.name: [memory.data[row] for row in range(memory.depth)] for memory in memories(design)}
        self.fields: list[Field] = [whole_field(name, len(rows[0]), len(rows)) for name, rows in self._rows.items()]
        for n in range(engines):
            self.fields += [whole_field(f"link{n}.{part}", 64, LINK_PLACES) for part in ("cycle", "payload")]

    def _hops(self, cycle: int) -> Iterator[tuple[str, int, Signal, Signal]]:
        """Yield each hop of a link: the link, the cycle in which its token arrives, and its registers."""
        for n, hops in enumerate(self._links):
            for hop, (valid, token) in enumerate(hops):
                yield f"link{n}", cycle + len(hops) - 1 - hop, valid, token

    def save(self, context: Context, state: NamedWords, cycle: int) -> None:
        """Put everything into words before a cycle."""
        for name, rows in self._rows.items():
            state.put(name, [context.get(row) for row in rows])
        for field in state.fields:
            if field.name.startswith("link") and field.name.endswith(".cycle"):
                state.put(field.name, [-1] * LINK_PLACES)
        for link, arrival, valid, token in self._hops(cycle):
            if context.get(valid):
                place = arrival % LINK_PLACES
                state.rows(f"{link}.cycle")[place] = arrival
                state.rows(f"{link}.payload")[place] = context.get(Value.cast(token))

    def check(self, state: NamedWords) -> None:
        """Refuse the state of other hardware.

        Raises
        ------
        ValueError
            A memory of it has another size.
        """
        for name, rows in self._rows.items():
            if name in state.places and (found := state.places[name][1].rows) != len(rows):
                raise ValueError(f"{name} has {len(rows)} rows, not {found}")

    def load(self, context: Context, state: NamedWords, cycle: int) -> None:
        """Take everything out of words that are known before a cycle."""
        for name, rows in self._rows.items():
            if name not in state.places:
                continue
            _, field = state.places[name]
            for row, value in zip(rows, state.values(name), strict=True):
                before = int(context.get(row)) & ((1 << len(row)) - 1)
                after = before & ~field.known | value & field.known
                if after != before:
                    context.set(row, after)
        for link, arrival, valid, token in self._hops(cycle):
            place = arrival % LINK_PLACES
            taken = int(state.rows(f"{link}.cycle")[place, 0]) == arrival
            context.set(valid, int(taken))
            if taken:
                context.set(Value.cast(token), int(state.rows(f"{link}.payload")[place, 0]))
