"""Waveforms of a compiled machine: its variables with where their bits are, and the file that it writes."""

import ctypes
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cyscc.sim.executors.native_tables import filled, structure, table_at
from cyscc.sim.executors.shared_object import PIECE
from cyscc.sim.observation.waves import Waves
from cyscc.sim.observation.waves.signals import Names, Path
from cyscc.sim.observation.waves.variables import Variable


class _Instance(NamedTuple):
    """`Instance` of `native/signals.h`: its scope, and the address of the text that has its variables."""

    scope: Path
    variables: int
    group: int
    first: int
    length: int


_NATIVE = FilePath(__file__).parent / "native"
_INSTANCE = structure(_NATIVE / "signals.h", "Instance")
_PART, _TARGET, _SINK = (structure(_NATIVE / "waves.h", name) for name in ("WavePart", "WaveTarget", "WaveSink"))


@dataclass(frozen=True, eq=False, slots=True)
class _Row:
    """A variable of a kind of instances: path, width, value names, what it is in the inventory, first bit there."""

    path: Path
    width: int
    names: Names | None
    source: str
    first: int


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Where the bits of some variables are among the pieces of each instance of a kind.

    Parameters
    ----------
    numbers : dict of _Row to int
        Number of each. Variables that always have the same value, by the same names, share one.
    widths, names, counts : list of int
        For each number: bits, index of the first text (or -1), and parts.
    parts : ndarray of int64, shape (parts, 4)
        The piece, bits below within it, width, and place in the variable of each part, number after number.
    """

    numbers: dict[_Row, int]
    widths: list[int]
    names: list[int]
    counts: list[int]
    parts: npt.NDArray[np.int64]


class Drawing:
    """Waveform output of a compiled machine; begins the file.

    Parameters
    ----------
    library : ctypes.CDLL
        The machine's library, built with waveforms.
    machine : ctypes.c_void_p
        The machine, which must outlive this.
    waves : Waves
        The file.

    Raises
    ------
    ValueError
        A glob selects nothing.
    cyscc.sim.errors.SimulationError, cyscc.sim.errors.OutputError
        The file cannot be written.
    """

    def __init__(self, library: ctypes.CDLL, machine: ctypes.c_void_p, waves: Waves) -> None:
        library.cyscc_draw.restype = None
        library.cyscc_draw.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self._draw = partial(library.cyscc_draw, machine)
        self._waves = waves
        self._all = cache(_rows)
        self._layouts: dict[tuple[int, tuple[int, ...]], _Layout] = {}
        self._texts: list[bytes] = []
        self._tables: dict[tuple[str, ...], int] = {}
        instances, self._pieces = _signals(library, machine)
        selected = [list(self._selected(instance)) for instance in instances]
        layouts = [self._layout(*pair) for pair in zip(instances, selected, strict=True)]
        firsts = [0, *accumulate(len(layout.counts) for layout in layouts)]
        variables = [
            Variable(number=first + layout.numbers[row], path=path, width=row.width, names=row.names)
            for layout, first, pairs in zip(layouts, firsts, selected, strict=False)
            for row, path in pairs
            if row in layout.numbers
        ]
        waves.scopes.check(
            path for each in instances for row in self._all(each.variables) for path in _paths(each, row)
        )
        writer = waves.begin(variables)
        keys = [writer.key(number) for number in range(firsts[-1])]
        # What native code reads is kept here.
        self._keys = (ctypes.c_char_p * len(keys))(*(text for _, text in keys))
        self._names = (ctypes.c_char_p * len(self._texts))(*self._texts)
        self._targets = np.zeros(len(keys), _TARGET)
        self._targets["number"] = [number for number, _ in keys]
        self._targets["key"] = np.frombuffer(bytes(self._keys), np.uint64)
        self._targets["group"] = np.repeat([instance.group for instance in instances], np.diff(firsts))
        for name, column in (("width", "widths"), ("names", "names"), ("parts", "counts")):
            self._targets[name] = np.concatenate([getattr(layout, column) for layout in layouts])
        self._targets["first_part"] = np.cumsum(self._targets["parts"]) - self._targets["parts"]
        self._parts = np.concatenate([self._placed(*pair) for pair in zip(instances, layouts, strict=True)])
        sink = filled(
            _SINK,
            parts=self._parts.ctypes.data,
            targets=self._targets.ctypes.data,
            count=len(self._targets),
            names=ctypes.addressof(self._names),
            first_cycle=waves.window[0],
            last_cycle=waves.window[1],
            **writer.native,
        )
        self._draw(sink.ctypes.data)

    def finish(self) -> None:
        """Write what waits, and show nothing more.

        Raises
        ------
        cyscc.sim.errors.SimulationError
            The file cannot be written.
        """
        self._draw(None)

    def _selected(self, instance: _Instance) -> Iterator[tuple[_Row, Path]]:
        """Yield the selected variables of an instance with their paths."""
        for row in self._all(instance.variables):
            for path in _paths(instance, row):
                if path in self._waves.scopes:
                    yield row, path

    def _layout(self, instance: _Instance, selected: list[tuple[_Row, Path]]) -> _Layout:
        """Return the layout of the selected variables of an instance, which others of its kind may share."""
        rows = {id(row): row for row, _ in selected}
        key = instance.variables, tuple(rows)
        if key not in self._layouts:
            pieces = self._pieces[instance.first : instance.first + instance.length]
            prefix = len(".".join(instance.scope)) + 1
            named: dict[str, list[tuple[int, int, int]]] = {}
            columns = zip(pieces["name"].tolist(), pieces["first"].tolist(), pieces["width"].tolist(), strict=True)
            for number, (address, first, width) in enumerate(columns):
                name = ctypes.string_at(address)[prefix:].decode()
                named.setdefault(name, []).append((number, first, width))
            self._layouts[key] = self._laid_out(list(rows.values()), named)
        return self._layouts[key]

    def _laid_out(self, rows: list[_Row], pieces: dict[str, list[tuple[int, int, int]]]) -> _Layout:
        """Return the layout of variables, given number, first bit and width of the pieces by name."""
        places: dict[tuple[Any, ...], int] = {}
        distinct: list[_Row] = []
        numbers = {}
        for row in rows:
            if not row.source.isdigit() and row.source not in pieces:
                continue  # a register that a component executed by hand does not have
            names = None if row.names is None else tuple(row.names.items())
            number = places.setdefault((row.source, row.first, row.width, names), len(distinct))
            if number == len(distinct):
                distinct.append(row)
            numbers[row] = number
        found = [list(_parts(row, pieces.get(row.source, []))) for row in distinct]
        return _Layout(
            numbers=numbers,
            widths=[row.width for row in distinct],
            names=[self._first_text(row) for row in distinct],
            counts=[len(parts) for parts in found],
            parts=np.array([part for parts in found for part in parts], np.int64).reshape(-1, 4),
        )

    def _first_text(self, row: _Row) -> int:
        """Return the index of the first text of a variable's values among those of all, or -1 if its bits are shown."""
        if row.names is None:
            return -1
        texts = tuple(row.names.get(value, str(value)) for value in range(1 << row.width))
        if texts not in self._tables:
            self._tables[texts] = len(self._texts)
            self._texts += [text.encode() for text in texts]
        return self._tables[texts]

    def _placed(self, instance: _Instance, layout: _Layout) -> npt.NDArray[np.void]:
        """Return the parts of an instance's variables."""
        pieces = self._pieces[instance.first + layout.parts[:, 0]]
        parts = np.zeros(len(pieces), _PART)
        parts["address"], parts["bytes"] = pieces["address"], pieces["bytes"]
        parts["shift"] = pieces["shift"] + layout.parts[:, 1]
        parts["width"], parts["place"] = layout.parts[:, 2], layout.parts[:, 3]
        return parts


def _signals(library: ctypes.CDLL, machine: ctypes.c_void_p) -> tuple[list[_Instance], npt.NDArray[np.void]]:
    """Return the instances of a machine, and all pieces of their signals."""
    library.cyscc_signals.restype = ctypes.c_int64
    library.cyscc_signals.argtypes = [ctypes.c_void_p] * 3
    first, pieces = ctypes.c_void_p(), ctypes.c_void_p()
    count = library.cyscc_signals(machine, ctypes.byref(first), ctypes.byref(pieces))
    instances = []
    for place, *further in table_at(first.value, count, _INSTANCE).tolist():
        instances.append(_Instance(tuple(ctypes.string_at(place).decode().split(".")), *further))
    return instances, table_at(pieces.value, instances[-1].first + instances[-1].length, PIECE)


def _rows(address: int) -> list[_Row]:
    """Return the variables of instances of a kind, given the address of the text that has them."""
    return [
        _Row(
            tuple(path), width, None if names is None else {int(value): names[value] for value in names}, source, first
        )
        for path, width, names, source, first in json.loads(ctypes.string_at(address))
    ]


def _paths(instance: _Instance, row: _Row) -> Iterator[Path]:
    """Yield the paths of a variable: the ports of a switch are those of its slices."""
    yield (*instance.scope, *row.path)
    if len(instance.scope) > 2 and row.path[0].startswith("port__"):
        *outer, inner = instance.scope
        yield (*outer, inner.replace("link", "port") + row.path[0].removeprefix("port"), *row.path[1:])


def _parts(row: _Row, pieces: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the parts of a variable, as in `_Layout`."""
    for number, first, width in pieces:
        begin, end = max(first, row.first), min(first + width, row.first + row.width)
        if begin < end:
            yield number, begin - first, end - begin, begin - row.first
