"""Flipped bits in the simulated memory: each must be masked or found out, and none may crash or never end.

A flip is made at a random cycle of a whole run of the command line, in a random array or behind it. Its outcome:

========= ==============================================================================================
masked    status 0, and the result is that of the graph in the file
detected  status 3, and one line on standard error
hang      status 3: the watchdog's line, and its diagnosis
wrong     status 0, and another result
untidy    another status, an internal error, or more than one line
endless   the cycle limit was reached, many times what the undisturbed run takes or what it takes to read the whole
          memory, which a damaged count can lead to
not begun the undisturbed run ends with status 3 already, as copies of repeated edges fill its queues
========= ==============================================================================================

The first three are as they must be, and so is the last where there are repeated edges.
"""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from cyscc.sim.machine import Machine
from tests.fuzz import runs
from tests.fuzz.commands import Ended, run_cyscc
from tests.fuzz.runs import Run
from tests.fuzz.search import Finding, Part
from tests.fuzz.setups import KNOWN, SMALL, Table
from tests.fuzz.shapes import draw_graph

GOOD = ("masked", "detected", "hang")
"""The outcomes of flips that are as they must be."""

MACHINES: list[Table] = [SMALL[0], SMALL[2], KNOWN[1]]
"""The small machine, one that only searches, and the whole one."""

_TIMES = 50
"""How many times as long as undisturbed a run may take."""

_CYCLES_A_BYTE = 12
"""Cycles that it may take for every byte of the memory besides: one kernel that reads it all, from the slowest bank."""


@dataclass(frozen=True, kw_only=True)
class Flip:
    """A flip.

    Parameters
    ----------
    moment, array, place : float
        When, in which array and where in it, from 0 to 1: of the undisturbed run's cycles, of the arrays, of the bytes.
    beyond : bool
        Whether the place may be anywhere in the array and behind it, and not only in what is used of it.
    bit : int
        Which one of the byte.
    """

    moment: float
    array: float
    place: float
    beyond: bool
    bit: int


@dataclass(frozen=True)
class Flips:
    """Flips in a run, which is made anew for each.

    Parameters
    ----------
    run : Run
        The run.
    flips : list of Flip
        The flips.
    """

    run: Run
    flips: list[Flip]


class _Plan(NamedTuple):
    """A run without flips."""

    cycles: int
    """Cycles of the run."""
    limit: int
    """Maximum cycles with a flip."""
    expected: str
    """Expected output."""


def draw(chance: Random) -> Flips:
    """Draw a run, and flips in it."""
    machine = chance.choice([MACHINES[0]] * 4 + [MACHINES[1]] * 2 + [MACHINES[2]])
    vertices, edges = draw_graph(chance, most=40)
    searches = machine.get("bfs_only", False) or chance.randrange(5) > 2
    run = Run(
        vertices=vertices,
        edges=edges,
        source=chance.randrange(vertices) if searches else None,
        machine=machine,
        memory={"profile": chance.choice(["hc2", "hc2", "fixed:9"])},
        slack=chance.choice([0, 20, 2000]),
        simplify=False,
        way="",
        every=1.0,
        stops=[],
    )
    return Flips(run, [_flip(chance) for _ in range(chance.randint(1, 8))])


def _flip(chance: Random) -> Flip:
    moment, array, place = chance.random(), chance.random(), chance.random()
    return Flip(moment=moment, array=array, place=place, beyond=chance.randrange(5) == 4, bit=chance.randrange(8))


def _plan(run: Run, folder: Path) -> _Plan | Ended:
    """Make the undisturbed run, which may end for want of space: then there is nothing to disturb."""
    document, made = folder / "result.json", list[Machine]()
    ended = run_cyscc(*_arguments(run, folder), "--json", str(document), on_machine=made.append)
    if ended.status:
        return ended
    cycles = json.loads(document.read_text())["wall"]["simulated_cycles"]
    expected = runs.expected_of(run)
    assert (ended.out, ended.err) == (expected, ""), run
    return _Plan(cycles, _TIMES * cycles + _CYCLES_A_BYTE * made[0].memory.allocated, expected)


def _arguments(run: Run, folder: Path, **options: int) -> list[str]:
    return [*runs.arguments_of(run, folder, **options), "--threads", "1", "--quiet", run.output, "-"]


def _make(run: Run, flip: Flip, machine: Machine) -> str:
    """Flip the bit; return where."""
    arrays = machine.memory.allocations
    number = int(flip.array * len(arrays))
    begin, size = arrays[number]
    # The rest of the queues is slack.
    used = min(size, 8 * (run.vertices + len(run.edges)))
    address = min(begin + int(flip.place * (size + 512 if flip.beyond else used)), sum(arrays[-1]) - 1)
    machine.view(address, np.uint8, 1)[0] ^= 1 << flip.bit
    return f"cycle {machine.cycle:,}: array {number} of {len(arrays)}, byte {address - begin} of {size}, bit {flip.bit}"


def _kind(ended: Ended, expected: str) -> str:
    lines = ended.err.splitlines()
    if ended.status == 0:
        return "untidy" if lines else "masked" if ended.out == expected else "wrong"
    if ended.status != 3 or not lines or "internal error" in lines[0]:
        return "untidy"
    if "cycle limit of" in lines[0]:
        return "endless"
    if "the machine hangs" in lines[0]:
        return "hang"
    return "detected" if len(lines) == 1 else "untidy"


def examine(flips: Flips, folder: Path) -> Finding:
    """Make a run with each of some flips; return the last finding, or the first one that is not good."""
    runs.prepare(flips.run, folder)
    plan = _plan(flips.run, folder)
    if isinstance(plan, Ended):
        return Finding("not begun", plan.status == 3 and flips.run.copies, plan.line)
    counts: Counter[str] = Counter()
    for flip in flips.flips:
        kind, what = _flipped(flips.run, flip, plan, folder)
        counts[kind] += 1
        if kind not in GOOD:
            return Finding(kind, False, what)
    return Finding("flipped", True, counts=dict(counts))


def _flipped(run: Run, flip: Flip, plan: _Plan, folder: Path) -> tuple[str, str]:
    """Make a run with a flip; return its kind, and more of it."""
    done: list[str] = []

    def arm(machine: Machine) -> None:
        machine.schedule(1 + int(flip.moment * (plan.cycles - 1)), lambda: done.append(_make(run, flip, machine)))

    ended = run_cyscc(*_arguments(run, folder, limit=plan.limit), on_machine=arm)
    return _kind(ended, plan.expected), f"{''.join(done)}: status {ended.status}: {ended.line}"


FLIPS = Part("flips", 20, 600, draw, examine)
"""The part."""
