"""Names of the hardware's registers and memories, independent of the executor."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Fragment, Shape, Signal, Value
from amaranth.hdl._ir import Design, build_netlist
from amaranth.hdl._mem import MemoryInstance

Home = tuple[str, ...]
"""Instance names from the outermost on, then a signal name, as written by backends."""


@dataclass(frozen=True, kw_only=True)
class Register:
    """A register, or the output register of a memory's read port.

    Parameters
    ----------
    name : str
        Instance names and its own name, joined by periods. Within a larger component, the name is the same but for
        the prefix of the instance.
    signal : Signal
        The signal.
    """

    name: str
    signal: Signal


@dataclass(frozen=True, kw_only=True)
class MemoryCells:
    """A memory.

    Parameters
    ----------
    name : str
        See `Register`.
    data : amaranth.hdl.MemoryData
        Its rows.
    width, depth : int
        Bits of a row, and rows.
    home : Home
        Its name in backends.
    """

    name: str
    data: Any
    width: int
    depth: int
    home: Home


def _fragments(fragment: Fragment, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Fragment]]:
    """Yield all fragments with their paths relative to the component."""
    yield path, fragment
    for index, (inner, name, _) in enumerate(fragment.subfragments):
        yield from _fragments(inner, (*path, name or f"U${index}"))


def registers(design: Design) -> Iterator[Register]:
    """Yield the registers of a design."""
    for path, fragment in _fragments(design.fragment):
        taken: Counter[str] = Counter()
        for signal in _clocked(fragment):
            number = taken[signal.name]
            taken[signal.name] += 1
            own = f"{signal.name}${number}" if number else signal.name
            yield Register(name=".".join((*path, own)), signal=signal)


class Nets:
    """The nets of a design's signals, and the backend names of those that share them.

    Parameters
    ----------
    design : Design
        The design.
    """

    def __init__(self, design: Design) -> None:
        self._nets = build_netlist(design).signals
        self._homes: dict[tuple[int, ...], list[Home]] = {}
        for information in design.fragments.values():
            for signal, name in information.signal_names.items():
                self._homes.setdefault(self._nets[signal], []).append((*information.name[1:], name))

    def of(self, signal: Signal) -> tuple[int, ...]:
        """Return the nets of a signal, the lowest bit first; 0 and 1 are constants."""
        nets: tuple[int, ...] = self._nets[signal]
        return nets

    def homes(self, signal: Signal) -> list[Home]:
        """Return the possible backend names of a signal, its own and those of connected aliases."""
        return self._homes[self._nets[signal]]

    def named(self) -> Iterator[tuple[tuple[int, ...], list[Home]]]:
        """Yield the nets of all signals, each with its backend names."""
        yield from self._homes.items()


def _clocked(fragment: Fragment) -> Iterator[Signal]:
    """Yield the signals that a fragment drives in a clock domain."""
    for domain, statements in fragment.statements.items():
        if domain != "comb":
            yield from statements._lhs_signals()
    if isinstance(fragment, MemoryInstance):
        for port in fragment._read_ports:
            if port._domain != "comb":
                yield from Value.cast(port._data)._lhs_signals()


def memories(design: Design) -> Iterator[MemoryCells]:
    """Yield the memories of a design."""
    for path, fragment in _fragments(design.fragment):
        if isinstance(fragment, MemoryInstance):
            data = fragment._data
            yield MemoryCells(
                name=".".join(path),
                data=data,
                width=Shape.cast(data.shape).width,
                depth=data.depth,
                home=design.fragments[fragment].name[1:],
            )
