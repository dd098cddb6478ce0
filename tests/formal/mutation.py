"""Mutants of hardware under proof, of which the solver finds one that violates a property.

All mutants are in one netlist, and a constant input says which of them is active. So one search from reset finds a
mutant for each property that any of them violates.
"""

import json
import random
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.formal.harness import PINS, TOP, Harness
from tests.formal.solve import SolverError, run_tools, run_yosys

_CHOICE = "mutant"
"""The input that says which mutant is active, by its number from 1 on."""
_WIDTH = 10
"""Its bits."""

_CONFIGURATION = """\
[options]
mode bmc
depth {depth}
timeout {seconds}
[engines]
smtbmc --keep-going yices
[script]
read_rtlil flat.il
{mutants}
prep -top {top}
[files]
flat.il
"""
"""Template of the configuration of SymbiYosys."""

_MODES = ("inv", "const0", "const1")


class Mutants:
    """The netlist of a harness, and mutants of its parts.

    Parameters
    ----------
    factory : callable
        Makes the harness.
    folder : Path
        A folder for the netlist.
    sound : int
        Cycles from reset in which no property may be violated.
    pins : bool
        The parts are reached by pins, and these are mutated instead.
    only : collection of str, optional
        Leave out all properties but these.
    """

    def __init__(
        self,
        factory: Callable[[], Harness],
        folder: Path,
        *,
        sound: int = 0,
        pins: bool = False,
        only: Collection[str] | None = None,
    ) -> None:
        self._folder = folder
        with patch.object(Harness, "with_pins", pins):
            harness = factory()
        harness.constant(_WIDTH, _CHOICE)
        if sound:
            harness.assume_sound_at_first(sound)
        (folder / "harness.il").write_text(harness.rtlil(only=harness.properties if only is None else only))
        # Cells stay as they are in the parts: optimised, one may be the harness's too.
        flatten = ["read_rtlil harness.il", f"hierarchy -top {TOP}", f"select * *{PINS} %d", "proc", "select -clear"]
        flatten += ["flatten", "opt_clean"]
        run_yosys(folder, [*flatten, "write_rtlil flat.il", "write_json flat.json"])
        cells = json.loads((folder / "flat.json").read_text())["modules"][TOP]["cells"]
        parts = tuple(f"{start}{part}." for part in harness.parts for start in ("", "$flatten\\"))
        self._cells = {
            name: {pin: len(bits) for pin, bits in cell["connections"].items() if bits and pin not in _left_out(cell)}
            for name, cell in cells.items()
            if (f"{PINS}." in name if pins else name.startswith(parts)) and not cell["type"].startswith("$meminit")
        }

    def draw(self, count: int, *, seed: int) -> list[str]:
        """Return some mutants of the parts, each as the options of Yosys's command `mutate`."""
        chance = random.Random(seed)
        cells = [name for name, ports in self._cells.items() if ports]
        # What a wide cell has in a few bits is to be met too.
        weights = [8 + max(self._cells[name].values()) for name in cells]
        drawn = []
        for name in chance.choices(cells, weights, k=count):
            port = chance.choice(list(self._cells[name]))
            bit = chance.randrange(self._cells[name][port])
            mode = chance.choice(_MODES)
            drawn.append(f"-mode {mode} -module {TOP} -cell {name} -port {port} -portbit {bit}")
        return list(dict.fromkeys(drawn))

    def possible(self, mutants: Iterable[str]) -> list[str]:
        """Return each of some mutants once, but for those of cells that are not there any more."""
        return [each for each in dict.fromkeys(mutants) if each.split()[5] in self._cells]

    def violating(self, mutants: Sequence[str], *, depth: int, seconds: int) -> dict[str, str]:
        """Return properties that mutants violate within some cycles, and for each of them one of these mutants.

        Raises
        ------
        SolverError
            The tools failed.
        """
        commands = [f"mutate -ctrl {_CHOICE} {_WIDTH} {number} {each}" for number, each in enumerate(mutants, 1)]
        script = _CONFIGURATION.format(depth=depth, seconds=seconds, mutants="\n".join(commands), top=TOP)
        (self._folder / "proof.sby").write_text(script)
        log = run_tools(self._folder)
        if "DONE (ERROR" in log:
            raise SolverError(f"no answer:\n{log}")
        found: dict[str, str] = {}
        failed: list[str] = []
        for name, trace in re.findall(r"Assert failed in \w+: (\S+)$|witness file: (\S+)$", log, re.MULTILINE):
            if name:
                failed.append(name)
                continue
            chosen = _chosen(self._folder / "proof" / trace)
            # Where several fail, those that failed before are told of too, but not by this pattern.
            found |= {each: mutants[chosen - 1] for each in failed if chosen}
            failed.clear()
        return found


def _left_out(cell: dict[str, Any]) -> set[str]:
    """Return the clocks of a cell, and those pins of a memory's port that mean nothing if it has no clock."""
    unclocked = cell["type"].startswith("$memrd") and not int(cell["parameters"]["CLK_ENABLE"], 2)
    return {"CLK", *(("EN", "ARST", "SRST") if unclocked else ())}


def _chosen(trace: Path) -> int:
    """Return the number of the active mutant in a trace."""
    witness = json.loads(trace.read_text())
    bits = witness["steps"][0]["bits"]
    place = 0
    for signal in witness["signals"]:
        if signal["path"] == [f"\\{_CHOICE}"]:
            return int(bits[len(bits) - place - _WIDTH : len(bits) - place], 2)
        place += signal["width"]
    raise ValueError(f"{trace.name} has no {_CHOICE}")
