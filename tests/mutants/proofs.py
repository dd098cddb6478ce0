"""Mutants that break a proof."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.hdl import Fragment
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from cyscc.hw.verilog import port_names
from tests.alone.parts import file_of
from tests.formal.proof import Proof
from tests.formal.solve import Outcome, SolverError, run_yosys, solve
from tests.mutants.faults import BASE, Mutant, simplify

_TOP = "harness"
_SECONDS = 120
_ROUNDS = 6
"""So many cells away, what a cell is connected to tells it from others."""

_Pins = dict[tuple[str, str], tuple[str, str]]
"""By cell and pin of the machine, cell and pin of the proof."""


@dataclass(frozen=True)
class _Text:
    """A harness that has been written already."""

    text: str

    def rtlil(self, *, only: object = None) -> str:
        """Return the netlist."""
        return self.text


class MutantProof:
    """A proof that is run on mutants.

    The proof's hardware is simplified just as the machine is. Where a module of it then has the very cells that the
    machine's module of the same file has, the machine's mutants are its mutants too.

    Parameters
    ----------
    proof : Proof
        The proof.
    machine : Path
        Where `tests.mutants.faults.prepare` has written the machine.
    folder : Path
        A folder for the proof.
    """

    def __init__(self, proof: Proof, machine: Path, folder: Path) -> None:
        self.name = proof.name
        self._proof = proof
        self._folder = folder
        self._tried = False
        folder.mkdir(parents=True, exist_ok=True)
        harness = proof.harness()
        components = dict(found for name, part in harness.parts.items() for found in _components(part.fragment, name))
        # What the proof does not look at would be left out, and the modules be others than the machine's.
        outputs = [
            port
            for component in components.values()
            for port, way in port_names(component).values()
            if way == PortDirection.Output
        ]
        text = harness.rtlil(also=outputs)
        modules = {_plain(name): name for name in re.findall(r"^module \\(\S+)$", text, re.MULTILINE)}
        written = [modules[name] for name in components if name in modules]
        simplify(text, _TOP, written, folder)
        theirs = json.loads((machine / "base.json").read_text())["modules"]
        ours = json.loads((folder / "base.json").read_text())["modules"]
        here = [name for name in written if name in ours]
        files = {modules[name]: file_of(part).replace("/", "_") for name, part in components.items() if name in modules}
        self._pins: dict[tuple[str, str], _Pins] = {}
        for module, cells in theirs.items():
            likely = [name for name in here if len(_cells(ours[name])) == len(_cells(cells))]
            pairs = {name: _pairs(cells, ours[name], exact=True) for name in likely}
            if not any(pairs.values()):
                pairs = {name: _pairs(cells, ours[name], exact=False) for name in likely}
            if not any(pairs.values()):
                alike = [name for name in here if re.fullmatch(rf"{files[name]}(_\d+)?", module)]
                pairs = {name: _pairs_of_part(cells, ours[name]) for name in alike}
            self._pins |= {(module, name): each for name, each in pairs.items() if each is not None}

    def covers(self, mutant: Mutant) -> bool:
        """Return whether the proof's hardware has the mutant's module, with the part that is faulty."""
        return bool(self._places_of(mutant))

    def _places_of(self, mutant: Mutant) -> dict[str, tuple[str, str]]:
        """Return where the part is in the proof: cell and pin by module."""
        pin = mutant.option("cell"), mutant.option("port")
        places = {name: pins.get(pin) for (module, name), pins in self._pins.items() if module == mutant.module}
        # What stands for a part in the proof may be of another name, or have fewer pins.
        return {name: place for name, place in places.items() if place}

    def breaks(self, mutant: Mutant) -> bool:
        """Return whether the proof fails on hardware with a mutant.

        Raises
        ------
        AssertionError
            It fails on sound hardware too.
        """
        if not self._tried:
            assert not self._fails([]), f"{self.name} fails on simplified hardware"
            self._tried = True
        commands = []
        for module, (cell, pin) in self._places_of(mutant).items():
            there = mutant.options
            for option, name in {"module": module, "cell": cell, "port": pin}.items():
                there = there.replace(f"-{option} {mutant.option(option)} ", f"-{option} {name} ")
            commands.append(f"mutate {there}")
        return self._fails(commands)

    def _fails(self, commands: Sequence[str]) -> bool:
        """Return whether the proof fails after some commands of Yosys."""
        run_yosys(self._folder, [f"read_rtlil {BASE}", *commands, "write_rtlil mutant.il"])
        text: Any = _Text((self._folder / "mutant.il").read_text())
        try:
            result = solve(text, mode=self._proof.mode, depth=self._proof.depth, timeout=_SECONDS)
        except SolverError:
            return True
        return result.outcome in (Outcome.COUNTEREXAMPLE, Outcome.UNKNOWN)


def _plain(name: str) -> str:
    """Return a name without the number that Amaranth appends to duplicates; its parts joined by one _."""
    return re.sub(r"\$\d+", "", name).replace("__", "_")


def _components(fragment: Fragment, path: str) -> Iterator[tuple[str, Any]]:
    """Yield all components in a part that are no library's, with their modules."""
    origin = fragment.origins[0] if fragment.origins else None
    if isinstance(origin, wiring.Component) and not type(origin).__module__.startswith("amaranth."):
        yield f"{_TOP}.{path}", origin
    for inner, name, _ in fragment.subfragments:
        yield from _components(inner, f"{path}.{name}")


def _pairs(theirs: dict[str, Any], ours: dict[str, Any], *, exact: bool) -> _Pins | None:
    """Return which pins of cells of two modules are the same, or None if one cannot stand for the other.

    Parameters
    ----------
    theirs, ours : dict
        The modules.
    exact : bool
        Constants must be the same too.
    """
    if _cells(theirs) == _cells(ours):
        if exact and _constants(theirs) != _constants(ours):
            return None
        own = {name: name for name, *_ in _cells(theirs)}
    else:
        # The same cells in another order.
        first, second = _surroundings(theirs), _surroundings(ours)
        if not exact or first.keys() != second.keys() or len(first) != len(_cells(theirs)):
            return None
        own = {name: second[key] for key, name in first.items()}
    pairs = {(name, pin): (own[name], pin) for name in own for pin in theirs["cells"][name]["connections"]}
    # Of parts within, the names say which are the same.
    inner = [
        {(_plain(name), _plain(pin)): (name, pin) for name, cell in cells.items() for pin in cell["connections"]}
        for cells in (theirs["cells"], ours["cells"])
    ]
    parts = {inner[0][pin]: inner[1][pin] for pin in inner[0].keys() & inner[1].keys()}
    return pairs | {pin: place for pin, place in parts.items() if pin[0] not in own}


def _pairs_of_part(theirs: dict[str, Any], ours: dict[str, Any]) -> _Pins | None:
    """Return which pins are the same apart from outputs that only the first module has, and what only they need."""
    shown = {_plain(port) for port in ours["ports"]}
    outputs = {port: about["bits"] for port, about in theirs["ports"].items() if about["direction"] == "output"}
    common = [bits for port, bits in outputs.items() if _plain(port) in shown]
    if len(common) == len(outputs):
        return None
    needed = {bit for bits in common for bit in bits}
    due: dict[str, Any] = dict(theirs["cells"])
    part: dict[str, Any] = {}
    while found := {name: cell for name, cell in due.items() if not needed.isdisjoint(_bits(cell, "output"))}:
        part |= found
        due = {name: cell for name, cell in due.items() if name not in found}
        needed |= {bit for cell in found.values() for bit in _bits(cell, "input")}
    # Memories are written by cells without outputs.
    part |= {name: cell for name, cell in due.items() if not _bits(cell, "output")}
    return _pairs(theirs | {"cells": part}, ours, exact=True)


def _bits(cell: dict[str, Any], direction: str) -> set[int | str]:
    """Return what a cell's inputs or outputs are connected to."""
    pins = cell["connections"].items()
    return {bit for pin, bits in pins if cell["port_directions"][pin] == direction for bit in bits}


def _cells(module: dict[str, Any]) -> Sequence[Any]:
    """Return what two modules have in common of which one can stand for the other: cells with types and widths."""
    return sorted(
        (name, cell["type"], sorted((pin, len(bits)) for pin, bits in cell["connections"].items()))
        for name, cell in module["cells"].items()
        if cell["type"].startswith("$")
    )


def _constants(module: dict[str, Any]) -> Sequence[Any]:
    """Return the constants that cells are connected to."""
    return sorted(
        (name, pin, place, bit)
        for name, cell in module["cells"].items()
        for pin, bits in cell["connections"].items()
        for place, bit in enumerate(bits)
        if isinstance(bit, str)
    )


def _surroundings(module: dict[str, Any]) -> dict[int, str]:
    """Return a module's own cells by their types and connections, submodules by their names.

    Names of ports, its own and those of parts within, are not looked at: in a proof they may be others, or have others
    beside them. Cells that are alike are one.
    """
    cells = module["cells"]
    own = [name for name, *_ in _cells(module)]
    looks = {name: hash(cells[name]["type"] if name in own else _plain(name)) for name in cells}
    for _ in range(_ROUNDS):
        ends: dict[int | str, list[int]] = {}
        for name, cell in cells.items():
            for pin, bits in cell["connections"].items():
                for place, bit in enumerate(bits):
                    end = hash((looks[name], pin, place)) if name in own else looks[name]
                    ends.setdefault(bit, []).append(end)
        nets = {bit: hash((*sorted(its),) if isinstance(bit, int) else bit) for bit, its in ends.items()}
        for name in own:
            around = [(pin, *(nets[bit] for bit in bits)) for pin, bits in cells[name]["connections"].items()]
            looks[name] = hash((looks[name], *sorted(around)))
    return {looks[name]: name for name in own}
