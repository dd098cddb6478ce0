"""Flipped bits in the simulated memory: each must be masked or found out, and none may crash or never end.

    python -m tests.fuzz.flips --config test --flips 500 --seed 1

A flip is made at a random cycle of a whole run of the command line, in a random array or behind it. Its outcome:

========= ==============================================================================================
masked    status 0, and the result is that of the graph in the file
detected  status 3, and one line on standard error
hang      status 3: the watchdog's line, and its diagnosis
wrong     status 0, and another result
untidy    another status, an internal error, or more than one line
endless   the cycle limit was reached, many times what the undisturbed run takes or what it takes to read the whole
          memory, which a damaged count can lead to; or two minutes had passed
crash     the process ended
========= ==============================================================================================

The first three are as they must be. Of each other one the line that repeats it is printed.
"""

import argparse
import io
import json
import multiprocessing
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import sim.machine
from host.algorithms.reference import bfs_levels, strong_components
from host.command_line.main import main
from host.graph.formats import read_graph
from sim.machine import Machine

__all__ = ["GOOD", "Outcome", "outcome_of"]

GOOD = ("masked", "detected", "hang")
"""The outcomes that are as they must be."""

_TIMES = 50
"""How many times as long as undisturbed a run may take."""

_CYCLES_A_BYTE = 12
"""Cycles that it may take for every byte of the memory besides: one kernel that reads it all, from the slowest bank."""

_TABLES = {"test-bfs": 'preset = "test"\nbfs_only = true\n'}
"""Configurations that are no presets."""

_SHARED = 8
"""Flips made in runs of one graph."""

_SECONDS = 120
"""Wall time after which a run counts as endless."""


class Outcome(NamedTuple):
    """What became of a flip."""

    kind: str
    what: str
    """The flip, and what was said."""


class _Plan(NamedTuple):
    """A run without flips."""

    arguments: tuple[str, ...]
    """Of the command line, but for the output and the limit."""
    expected: str
    """What its output must be."""
    cycles: int
    """What it takes."""
    limit: int
    """What it may take with a flip."""
    span: int
    """Bytes that its arrays use at least; the rest of the queues is slack."""


def _edges(rng: np.random.Generator) -> np.ndarray:
    """Return the edges of a small graph of a random kind, shape (edges, 2)."""
    vertices = int(rng.integers(2, 40))
    ids = np.arange(vertices)
    kinds: list[Callable[[], np.ndarray]] = [
        lambda: rng.integers(0, vertices, (int(rng.integers(1, 4 * vertices)), 2)),
        lambda: np.stack([ids, (ids + 1) % vertices], axis=1),
        lambda: np.stack([ids, ids ^ 1], axis=1),
        lambda: np.concatenate([np.stack([ids, 0 * ids], axis=1), np.stack([0 * ids, ids], axis=1)]),
        lambda: np.repeat(np.stack([ids, (7 * ids + 1) % vertices], axis=1), 3, axis=0),
    ]
    return kinds[rng.integers(len(kinds))]()


@contextmanager
def _machines(use: Callable[[Machine], None]) -> Iterator[None]:
    """Have a function called with each machine that is made in the block, before it runs."""
    create = sim.machine.create_machine

    def make(*arguments: Any, **options: Any) -> Machine:
        machine = create(*arguments, **options)
        use(machine)
        return machine

    with patch("sim.machine.create_machine", make):
        yield


def _run(arguments: tuple[str, ...], use: Callable[[Machine], None]) -> tuple[int, str, str]:
    """Run the command line; return its status and what it wrote to standard output and standard error."""
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), _machines(use):
        status = main(arguments)
    out.seek(0)
    return status, out.read(), err.getvalue()


@lru_cache(1)
def _plan(config: str, memory: str, seed: int, number: int, folder: Path) -> _Plan:
    """Plan the runs of a graph, and make the undisturbed one."""
    rng = np.random.default_rng([seed, number])
    edges, path = _edges(rng), folder / f"{number}.txt"
    np.savetxt(path, edges, "%d")
    graph = read_graph(path)
    ids = graph.original(np.arange(graph.vertices))
    if config in _TABLES:
        (folder / f"{config}.toml").write_text(_TABLES[config])
    name = str(folder / f"{config}.toml") if config in _TABLES else config
    slack = ("--queue-slack", str(rng.choice([0, 20, 2000])))
    options = (str(path), "--config", name, "--memory", memory, "--threads", "1", "--quiet", *slack)
    if config.endswith("bfs") or rng.random() < 0.4:
        source = int(rng.integers(graph.vertices))
        levels = bfs_levels(graph, source)
        found = [f"{ids[vertex]} {level}\n" for vertex, level in enumerate(levels) if level >= 0]
        arguments: tuple[str, ...] = ("bfs", *options, "--source", str(ids[source]), "--levels", "-")
    else:
        found = [f"{vertex} {name}\n" for vertex, name in zip(ids, ids[strong_components(graph)], strict=True)]
        arguments = ("scc", *options, "--labels", "-")
    expected = "".join(found)
    document = folder / "result.json"
    made: list[Machine] = []
    assert _run((*arguments, "--json", str(document)), made.append) == (0, expected, ""), arguments
    cycles = json.loads(document.read_text())["wall"]["simulated_cycles"]
    limit = _TIMES * cycles + _CYCLES_A_BYTE * made[0].memory.allocated
    return _Plan(arguments, expected, cycles, limit, 8 * (graph.vertices + graph.edges))


def _flip(machine: Machine, rng: np.random.Generator, span: int) -> str:
    """Flip a bit: mostly of what an array uses, else anywhere in an array or behind it. Return where."""
    arrays = machine.memory.allocations
    number = int(rng.integers(len(arrays)))
    begin, size = arrays[number]
    offset = int(rng.integers(min(size, span) if rng.random() < 0.8 else size + 512))
    address = min(begin + offset, sum(arrays[-1]) - 1)
    bit = int(rng.integers(8))
    machine.view(address, np.uint8, 1)[0] ^= 1 << bit
    return f"cycle {machine.cycle:,}: array {number} of {len(arrays)}, byte {address - begin} of {size}, bit {bit}"


def _judged(status: int, right: bool, lines: list[str]) -> str:
    if status == 0:
        return "untidy" if lines else "masked" if right else "wrong"
    if status != 3 or not lines or "internal error" in lines[0]:
        return "untidy"
    if "cycle limit of" in lines[0]:
        return "endless"
    if "the machine hangs" in lines[0]:
        return "hang"
    return "detected" if len(lines) == 1 else "untidy"


def outcome_of(config: str, memory: str, seed: int, number: int, folder: Path) -> Outcome:
    """Make a run with a flip.

    Parameters
    ----------
    config : str
        Preset, or ``test-bfs``, the preset ``test`` as a machine that only searches.
    memory : str
        Memory profile.
    seed, number : int
        What all else follows from.
    folder : Path
        Where the graphs are written.
    """
    plan = _plan(config, memory, seed, number // _SHARED, folder)
    rng = np.random.default_rng([seed, number, 1])
    done: list[str] = []

    def arm(machine: Machine) -> None:
        cycle = int(rng.integers(1, plan.cycles))
        machine.at(cycle, lambda: done.append(_flip(machine, rng, plan.span)))

    status, out, err = _run((*plan.arguments, "--cycle-limit", str(plan.limit)), arm)
    lines = err.splitlines()
    said = f": {lines[0]}" if lines else ""
    return Outcome(_judged(status, out == plan.expected, lines), f"{plan.arguments[0]}, {''.join(done)}{said}")


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def _campaign(config: str, memory: str, seed: int, numbers: range, *, show: bool) -> Counter[str]:
    """Make flips in a process of their own, and print what is not as it must be."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        pool = _pool()
        for number in numbers:
            try:
                outcome = pool.submit(outcome_of, config, memory, seed, number, Path(folder)).result(_SECONDS)
            except (BrokenProcessPool, TimeoutError) as error:
                crashed = isinstance(error, BrokenProcessPool)
                outcome = Outcome("crash" if crashed else "endless", "the process ended" if crashed else "no end")
                for process in list(pool._processes.values()):
                    process.kill()
                pool.shutdown()
                pool = _pool()
            counts[outcome.kind] += 1
            if show or outcome.kind not in GOOD:
                again = f"--config {config} --memory {memory} --seed {seed} --first {number} --flips 1"
                print(f"{outcome.kind:8} {again}: {outcome.what}", flush=True)
        pool.shutdown()
    return counts


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="test", help="preset, or test-bfs (default: test)")
    parser.add_argument("--memory", default="hc2", help="memory profile (default: hc2)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first flip")
    parser.add_argument("--flips", type=int, default=100, help="how many")
    parser.add_argument("--show", action="store_true", help="print every flip")
    arguments = parser.parse_args()
    numbers = range(arguments.first, arguments.first + arguments.flips)
    counts = _campaign(arguments.config, arguments.memory, arguments.seed, numbers, show=arguments.show)
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return int(any(kind not in GOOD for kind in counts))


if __name__ == "__main__":
    sys.exit(_main())
