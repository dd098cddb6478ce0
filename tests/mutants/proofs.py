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

from hw.verilog import port_names
from tests.alone.parts import file_of
from tests.formal.proof import Proof
from tests.formal.solve import Outcome, SolverError, solve
from tests.mutants.faults import BASE, Mutant, simplify
from tests.mutants.yosys import run_yosys

__all__ = ["MutantProof"]

_TOP = "harness"
_SECONDS = 120


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
        self._cells = {
            name: {(_plain(cell), pin): cell for cell, its in ours[name]["cells"].items() for pin in its["connections"]}
            for name in here
        }
        self._places: dict[str, list[str]] = {}
        for module, cells in theirs.items():
            alike = [name for name in here if _cells(ours[name]) == _cells(cells)]
            same = [name for name in alike if _constants(ours[name]) == _constants(cells)]
            self._places[module] = same or alike

    def covers(self, mutant: Mutant) -> bool:
        """Return whether the proof's hardware has the mutant's module, with the part that is faulty."""
        return bool(self._places_of(mutant))

    def _places_of(self, mutant: Mutant) -> list[str]:
        # What stands for a part in the proof may be of another name, or have fewer pins.
        pin = self._pin(mutant)
        return [place for place in self._places.get(mutant.module, ()) if pin in self._cells[place]]

    @staticmethod
    def _pin(mutant: Mutant) -> tuple[str, str]:
        return _plain(mutant.option("cell")), mutant.option("port")

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
        for place in self._places_of(mutant):
            cell = self._cells[place][self._pin(mutant)]
            there = mutant.options.replace(f"-module {mutant.module} ", f"-module {place} ")
            commands.append("mutate " + there.replace(f"-cell {mutant.option('cell')} ", f"-cell {cell} "))
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
    """Return a name without the numbers that Amaranth appends where a signal has the same."""
    return re.sub(r"\$\d+", "", name)


def _components(fragment: Fragment, path: str) -> Iterator[tuple[str, Any]]:
    """Yield all components of the hardware in a part, with their modules."""
    origin = fragment.origins[0] if fragment.origins else None
    if isinstance(origin, wiring.Component) and file_of(origin):
        yield f"{_TOP}.{path}", origin
    for inner, name, _ in fragment.subfragments:
        yield from _components(inner, f"{path}.{name}")


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
