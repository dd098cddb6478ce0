"""The mutants: which faults a design may have, by Yosys' `mutate`, and the design with all of them to choose from."""

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.formal.solve import run_yosys
from tests.mutants.design import Design

SELECT = "mutsel"
"""The input of the design with all mutants that chooses one, by its number; 0 is none."""

BASE = "base.il"
"""The file with the design that mutants are made of."""

_LEFT_OUT = frozenset({"CLK", "clk", "Q"})
_CLOCKED_ONLY = frozenset({"EN", "ARST", "SRST"})
"""Pins of a memory's read port that mean nothing if it has no clock."""

_SPARE = 100
"""Number of mutants listed beyond those wanted, since some are left out."""

_ALL = 10_000_000
"""More mutants than any module has."""

_MOST = 0.5
"""Share of all that may be asked for: to pick more of them, Yosys can take forever."""


@dataclass(frozen=True)
class Mutant:
    """A fault.

    Parameters
    ----------
    file : str
        The file of the hardware that it is in: ``bfs/visitor``.
    number : int
        Its number among those of its file, from 1.
    options : str
        What Yosys' `mutate` makes it by.
    """

    file: str
    number: int
    options: str

    @property
    def name(self) -> str:
        """File and number."""
        return f"{self.file}:{self.number}"

    @property
    def module(self) -> str:
        """The module of the design that it is in."""
        return self.option("module")

    def option(self, name: str) -> str:
        """Return an option of `mutate`, or nothing."""
        match = re.search(rf" -{name} (\S+)", " " + self.options)
        return match[1] if match else ""

    @property
    def place(self) -> str:
        """Short description: cell, pin, kind, wire, line of the source."""
        pin = f"{self.option('cell')}.{self.option('port')}[{self.option('portbit')}]"
        control = f" by bit {self.option('ctrlbit')}" if self.option("ctrlbit") else ""
        wire = f" {self.option('wire')}[{self.option('wirebit')}]" if self.option("wire") else ""
        lines = " ".join(re.findall(r" -src (\S+)", self.options))
        return f"{self.module} {pin} {self.option('mode')}{control}{wire} ({lines})"


def prepare(design: Design, folder: Path) -> None:
    """Write a design to a folder: for each component a simplified netlist of word-level cells, with steady names."""
    simplify(design.text, design.top, design.files, folder)


def simplify(text: str, top: str, components: Iterable[str], folder: Path) -> None:
    """Write RTLIL as `prepare` does.

    Parameters
    ----------
    text : str
        The RTLIL.
    top : str
        Its top module.
    components : iterable of str
        The modules that stay apart; all others become part of the one that they are in.
    folder : Path
        Where to.
    """
    (folder / "design.il").write_text(text)
    keep = " ".join(components)
    run_yosys(
        folder,
        [
            "read_rtlil design.il",
            f"hierarchy -top {top}",
            "proc",
            f"setattr -mod -set keep_hierarchy 1 {keep}",
            "flatten",
            f"setattr -mod -unset keep_hierarchy {keep}",
            "opt -full",
            "wreduce",
            "opt -full",
            "clean -purge",
            "rename -enumerate -pattern cell% c:$*",
            f"write_rtlil {BASE}",
            "write_json base.json",
        ],
    )


def list_mutants(design: Design, folder: Path, *, seed: int, count: int) -> list[Mutant]:
    """Return mutants of every file of a design that `prepare` has written.

    Parameters
    ----------
    design : Design
        The design.
    folder : Path
        Where it is.
    seed : int
        Which mutants are picked; Yosys sees to it that all lines, wires and cells have some. Of more than half of all
        faults of a module, the seed shuffles them.
    count : int
        How many of a file, or all where there are fewer. Where a file describes several modules, each has its share.
    """
    files = sorted(set(design.files.values()))
    shares = {
        module: count // len(modules) + (place < count % len(modules))
        for modules in map(design.modules_of, files)
        for place, module in enumerate(modules)
    }
    everything = _list(folder, dict.fromkeys(shares, _ALL), seed=seed)
    wanted = {module: share + _SPARE for module, share in shares.items()}
    picked = _list(
        folder, {name: most for name, most in wanted.items() if most <= _MOST * len(everything[name])}, seed=seed
    )
    unclocked = _unclocked_ports(folder)
    mutants = []
    for file in files:
        number = 0
        for module in design.modules_of(file):
            found = picked.get(module, everything[module])
            if module not in picked:
                random.Random(seed).shuffle(found)
            faults = [Mutant(file, 0, options) for options in map(_options, found) if options]
            faults = [
                fault
                for fault in faults
                if (module, fault.option("cell")) not in unclocked or fault.option("port") not in _CLOCKED_ONLY
            ]
            for fault in faults[: shares[module]]:
                number += 1
                mutants.append(replace(fault, number=number))
    return mutants


def _list(folder: Path, numbers: Mapping[str, int], *, seed: int) -> dict[str, list[str]]:
    """Return, by module, as many faults as are asked for or as there are, each a command of Yosys."""
    script = [f"read_rtlil {BASE}"]
    for module, number in numbers.items():
        # What a memory holds at first is no signal.
        signals = f"{module}/* {module}/t:$meminit* %d"
        script.append(f"mutate -list {number} -seed {seed} -module {module} -o {module}.txt {signals}")
    run_yosys(folder, script)
    return {module: (folder / f"{module}.txt").read_text().splitlines() for module in numbers}


def _unclocked_ports(folder: Path) -> set[tuple[str, str]]:
    """Return module and cell of the memories' read ports without a clock."""
    modules = json.loads((folder / "base.json").read_text())["modules"]
    return {
        (module, cell)
        for module, its in modules.items()
        for cell, about in its["cells"].items()
        if about["type"].startswith("$memrd") and not int(about["parameters"]["CLK_ENABLE"], 2)
    }


def _options(line: str) -> str:
    """Return the options of a line of the list; nothing for a fault of a clock, or of what tests have added."""
    options = line.removeprefix("mutate ")
    port = re.search(r" -port (\S+)", options)
    assert port is not None
    return "" if port[1] in _LEFT_OUT or " -src tests/" in options else options


def select_width(mutants: Sequence[Mutant]) -> int:
    """Return the bits of `SELECT`."""
    return max(len(mutants).bit_length(), 1)


def write_selectable(top: str, folder: Path, mutants: Sequence[Mutant], *, name: str = "") -> Path:
    """Write Verilog of a module in which `SELECT` chooses one of some mutants, by its place among them from 1.

    Parameters
    ----------
    top : str
        The module.
    folder : Path
        Where to, in a folder that `prepare` has written a design with this module to.
    mutants : sequence of Mutant
        Mutants of the module and of what it has in it.
    name : str
        What the module is called in Verilog, if not as in the design.

    Returns
    -------
    Path
        The Verilog.
    """
    width = select_width(mutants)
    name = name or top
    target = folder / f"{name}.v"
    run_yosys(
        folder,
        [
            f"read_rtlil ../{BASE}",
            f"hierarchy -top {top}",
            *_commands(mutants, width),
            *([f"rename {top} {name}"] if name != top else []),
            f"write_verilog -noattr {target.name}",
        ],
    )
    return target


def _commands(mutants: Iterable[Mutant], width: int) -> list[str]:
    return [f"mutate -ctrl {SELECT} {width} {place} {mutant.options}" for place, mutant in enumerate(mutants, start=1)]
