"""Mutants that are no faults: the same hardware in every state and on every input."""

import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.mutants.faults import Mutant
from tests.mutants.yosys import run_yosys

_OPENED = "opened.json"
_ANSWER = "answer.txt"
_PROVEN = re.compile(r"proof finished - no model found: SUCCESS!|Induction step proven: SUCCESS!")
_SECONDS = 20
_STEPS = 6
_WITHIN = "within"

_BOUNDS: dict[str, dict[str, int]] = {
    # With the published reservation nothing is reserved before all that was reserved is used up.
    "bfs_slot_allocator_1": {"booked": 0},
}
"""By module: what registers of it never exceed, which is proven along."""


class _Way(Enum):
    """How mutants are proven to be the same, in this order."""

    CUT = auto()
    """Without registers and parts within."""
    INDUCTION = auto()
    """With registers, which are the same."""
    HIDDEN = auto()
    """With registers, which are the same unless the fault has a way to them that leads through no other."""
    FLAT = auto()
    """Without registers, also of the parts within."""


_STATE = re.compile(r"\$(a?l?d?s?dffs?r?c?e?|mem\w*)$|[^$]")
"""Types of cells that hold something, or have others in them."""


def equivalent(folder: Path, mutants: Sequence[Mutant]) -> set[str]:
    """Return the names of those mutants that are proven to be the same hardware as without them.

    A mutant's module is compared with itself without the fault. Memories and modules within are taken out: what they
    give are inputs, unless it is always the same, and what they get are outputs. First registers are taken out too: if
    both have the same outputs whatever the inputs, then they go on alike from reset on. Of the others it is proven, by
    induction over a few cycles, that outputs and registers are the same from reset on, within `_BOUNDS`; and of those
    that are left then, that outputs and those registers are the same to which the fault has no way of wires and gates.
    Last, only memories and registers are taken out, those of modules within too.

    Parameters
    ----------
    folder : Path
        Where `tests.mutants.faults.prepare` has written the design.
    mutants : sequence of Mutant
        The mutants.
    """
    proven: set[str] = set()
    for module in dict.fromkeys(mutant.module for mutant in mutants):
        for way in _Way:
            own = [mutant for mutant in mutants if mutant.module == module and mutant.name not in proven]
            if own:
                proven |= _proven(folder, module, own, way)
    return proven


def _proven(folder: Path, name: str, mutants: Sequence[Mutant], way: _Way) -> set[str]:
    """Return the names of those mutants of a module that are proven in a way to be the same."""
    modules = json.loads((folder / "base.json").read_text())["modules"]
    registers = way in (_Way.INDUCTION, _Way.HIDDEN)
    if way == _Way.FLAT:
        # Pins of parts within are gone then.
        mutants = [mutant for mutant in mutants if modules[name]["cells"][mutant.option("cell")]["type"] not in modules]
        modules = _flat(modules, name)
    taken = _take_out(modules[name], modules, registers=registers)
    bounded = registers and _bound(modules[name], name)
    options = f"-tempinduct -maxsteps {_STEPS}" if registers else ""
    prepared = ["dffunmap"] if registers else []
    # What both have alike becomes one.
    merged = [] if registers else ["opt_merge miter"]
    if bounded:
        within = f"sat -tempinduct -prove {_WITHIN} -1 sound"
        assert _holds(modules[name], [*prepared, within]), f"{name} exceeds its bounds"
        options += f" -set gold_{_WITHIN} -1"

    def same(mutant: Mutant) -> bool:
        differ = _reached(modules[name], _pin_of(mutant, taken)) if way == _Way.HIDDEN else set()
        shown = {port: bits for port, bits in modules[name]["ports"].items() if port not in differ}
        script = [
            "copy sound gate",
            "rename sound gold",
            f"mutate {_moved(mutant, taken)}",
            *prepared,
            "miter -equiv -flatten -make_outputs gold gate miter",
            *merged,
            f"sat {options} -prove trigger 0 miter",
        ]
        return _holds(modules[name] | {"ports": shown}, script)

    with ThreadPoolExecutor(max_workers=2) as pool:
        return {mutant.name for mutant, holds in zip(mutants, pool.map(same, mutants), strict=True) if holds}


def _flat(modules: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a module with all parts within it, as the only one."""
    with TemporaryDirectory() as folder:
        opened = Path(folder) / _OPENED
        opened.write_text(json.dumps({"modules": modules}))
        script = [f"read_json {_OPENED}", f"hierarchy -top {name}", "flatten", f"write_json {_OPENED}"]
        run_yosys(opened.parent, script)
        flat: dict[str, Any] = json.loads(opened.read_text())["modules"]
    return flat


def _holds(sound: dict[str, Any], script: Sequence[str]) -> bool:
    """Return whether the last command of a script completes its proof about the module `sound` in time."""
    with TemporaryDirectory() as name:
        place = Path(name)
        (place / _OPENED).write_text(json.dumps({"modules": {"sound": sound}}))
        try:
            run_yosys(place, [f"read_json {_OPENED}", *script[:-1], f"tee -o {_ANSWER} {script[-1]}"], seconds=_SECONDS)
        except TimeoutError:
            return False
        return bool(_PROVEN.search((place / _ANSWER).read_text()))


def _bound(module: dict[str, Any], name: str) -> bool:
    """Add an output that says whether a module's registers are within the bounds of its surroundings."""
    bounds = _BOUNDS.get(name, {})
    nets = module["netnames"]
    free = 1 + max(bit for net in nets.values() for bit in net["bits"] if isinstance(bit, int))
    for number, (net, bound) in enumerate(bounds.items()):
        bits = nets[net]["bits"]
        width = f"{len(bits):032b}"
        module["cells"][f"bound{number}"] = {
            "hide_name": 0,
            "type": "$le",
            "parameters": {
                **dict.fromkeys(("A_SIGNED", "B_SIGNED"), f"{0:032b}"),
                **dict.fromkeys(("A_WIDTH", "B_WIDTH"), width),
                "Y_WIDTH": f"{1:032b}",
            },
            "attributes": {},
            "port_directions": {"A": "input", "B": "input", "Y": "output"},
            "connections": {"A": bits, "B": list(f"{bound:0{len(bits)}b}"[::-1]), "Y": [free + number]},
        }
    if bounds:
        wires = list(range(free, free + len(bounds)))
        module["ports"][_WITHIN] = {"direction": "output", "bits": wires}
        nets[_WITHIN] = {"hide_name": 0, "bits": wires, "attributes": {}}
    return bool(bounds)


def _take_out(module: dict[str, Any], modules: dict[str, Any], *, registers: bool) -> set[str]:
    """Cut the storage cells out of a module, and leave a cell for each of their pins; return the cells.

    Bits that a module within does not look at are left out. With `registers`, these stay, and what they hold is an
    output.
    """
    cells, ports = module["cells"], module["ports"]
    free = 1 + max(
        bit for net in (*module["netnames"].values(), *ports.values()) for bit in net["bits"] if isinstance(bit, int)
    )
    held = {name for name, cell in cells.items() if _STATE.match(cell["type"])}
    kept = {name for name in held if registers and "dff" in cells[name]["type"]}
    for name in held:
        cell = cells[name] if name in kept else cells.pop(name)
        if cell["type"].startswith("$meminit"):
            continue
        for pin, bits in cell["connections"].items():
            if not bits or (name in kept and pin != "Q"):
                continue
            given = cell["port_directions"][pin] == "output" and name not in kept
            outside: list[Any] = list(range(free, free + len(bits)))
            free += len(bits)
            port = f"{name}__{pin}"
            looked_at = outside
            if given and cell["type"] in modules:
                inside = modules[cell["type"]]["ports"][pin]["bits"]
                outside = [known if isinstance(known, str) else bit for known, bit in zip(inside, outside, strict=True)]
                looked_at = [bit for bit in outside if isinstance(bit, int)]
            if not given and cell["type"] in modules:
                used = _read(modules, cell["type"], pin)
                looked_at = [bit for place, bit in enumerate(outside) if place in used]
            if looked_at:
                ports[f"{port}_"] = {"direction": "input" if given else "output", "bits": looked_at}
            module["netnames"][port] = {"hide_name": 0, "bits": outside, "attributes": {}}
            width = f"{len(bits):032b}"
            cells[f"pin_{port}"] = {
                "hide_name": 0,
                "type": "$pos",
                "parameters": {"A_SIGNED": f"{0:032b}", "A_WIDTH": width, "Y_WIDTH": width},
                "attributes": {},
                "port_directions": {"A": "input", "Y": "output"},
                "connections": {"A": outside if given else bits, "Y": bits if given else outside},
            }
    module.pop("memories", None)
    return held - kept


def _read(modules: dict[str, Any], name: str, port: str) -> set[int]:
    """Return the places of those bits of an input that a module, or one within it, looks at."""
    module = modules[name]
    seen = {bit for each in module["ports"].values() if each["direction"] == "output" for bit in each["bits"]}
    for cell in module["cells"].values():
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "output":
                continue
            inner = _read(modules, cell["type"], pin) if cell["type"] in modules else range(len(bits))
            seen |= {bits[place] for place in inner}
    return {place for place, bit in enumerate(module["ports"][port]["bits"]) if bit in seen}


def _pin_of(mutant: Mutant, taken: set[str]) -> tuple[str, str]:
    """Return cell and port of a mutant's pin where its cell may have been taken out."""
    cell, port = mutant.option("cell"), mutant.option("port")
    # Either side of the pin's cell is as good.
    return (f"pin_{cell}__{port}", "Y") if cell in taken else (cell, port)


def _moved(mutant: Mutant, taken: set[str]) -> str:
    """Return what a mutant is made by where its cell may have been taken out."""
    cell, port = _pin_of(mutant, taken)
    bits = f"-portbit {mutant.option('portbit')}"
    if mutant.option("ctrlbit"):
        bits += f" -ctrlbit {mutant.option('ctrlbit')}"
    return f"-mode {mutant.option('mode')} -module gate -cell {cell} -port {port} {bits}"


def _reached(module: dict[str, Any], pin: tuple[str, str]) -> set[str]:
    """Return the outputs that show registers to which there is a way from a pin that leads through no other."""
    cells = module["cells"]

    def readers(bits: set[int | str]) -> set[str]:
        return {
            name
            for name, cell in cells.items()
            for pin, its in cell["connections"].items()
            if cell["port_directions"][pin] == "input" and not bits.isdisjoint(its)
        }

    name, port = pin
    due = {name} if cells[name]["port_directions"][port] == "input" else readers({*cells[name]["connections"][port]})
    seen: set[str] = set()
    while due:
        seen |= due
        gates = {name for name in due if "dff" not in cells[name]["type"]}
        due = readers({bit for name in gates for bit in cells[name]["connections"]["Y"]}) - seen
    return {f"{name}__Q_" for name in seen if "dff" in cells[name]["type"]}
