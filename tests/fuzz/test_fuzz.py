"""A few cases of each part, always the same ones; that each part finds what is wrong, and what becomes of it."""

import os
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import writer
from cyscc.host.runs.results import SccResult
from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.memory import profile_from
from tests.fuzz import inputs
from tests.fuzz.environments import FAULTS, Scene, run_fault
from tests.fuzz.flips import FLIPS, MACHINES, Flips
from tests.fuzz.fuzz import PARTS
from tests.fuzz.inputs import INPUTS
from tests.fuzz.oddities import ODDITIES, Oddity
from tests.fuzz.runs import RUNS, Run
from tests.fuzz.search import Finding, Part, examined, hunt, search
from tests.fuzz.setups import KNOWN, SMALL, Table, new_machine
from tests.fuzz.shapes import draw_graph
from tests.refusals import refused
from tests.worker import Worker

SHORT = ("standard output full", "address space of 900 MB", "SIGTERM")
HARMLESS = ("16 open files", "no compiler", "limit of the cache that is no size")


def looked_at(case: int, folder: Path) -> Finding:
    """Judge a number; some end or block the process."""
    if case == 9:
        os._exit(9)
    if case == 10:
        time.sleep(600)
    if case == 11:
        raise ValueError("no such case")
    return Finding("even", case < 70, "a case", {"digits": len(str(case))})


NUMBERS = Part("numbers", 200, 60, lambda chance: chance.randrange(12, 100), looked_at)


def small_run(chance: Random) -> Run:
    """Draw a run on a small machine; now and then it is resumed."""
    run = RUNS.draw(chance)
    machine = run.machine if run.machine in SMALL else SMALL[0]
    return replace(run, machine=machine, way=chance.choice(["", "resumed", "threads"]))


def smaller_run(chance: Random) -> Run:
    """Draw a small graph, for a run that needs no machine of its own."""
    vertices, edges = draw_graph(chance, most=8)
    run = replace(RUNS.draw(Random(1)), machine={"preset": "test"}, memory={"profile": "fixed:1"}, way="threads")
    return replace(run, vertices=vertices, edges=edges, source=None)


def test_a_worker_survives_its_cases() -> None:
    with Worker(lambda case: examined(NUMBERS, case), patience=0.2) as worker:
        assert worker.ask(3) == Finding("even", True, "a case", {"digits": 1})
        with refused(ChildProcessError, "the process ended with 9"):
            worker.ask(9)
        with refused(TimeoutError, "no end after 0 s"):
            worker.ask(10)
        line = looked_at.__code__.co_firstlineno + 7
        assert worker.ask(11).what == f"ValueError: no such case ({Path(__file__).name}:{line})"


@pytest.mark.parametrize(("case", "kind"), [(9, "ChildProcessError"), (75, "even")])
def test_failures_are_kept(case: int, kind: str, tmp_path: Path) -> None:
    part = replace(NUMBERS, draw=lambda chance: chance.choice([case, 20, 30]), turn=10)
    with pytest.raises(AssertionError) as found:
        hunt(part, tmp_path, seed="5", seconds=1e9)
    assert type(found.value).__name__ == kind
    assert any(file.is_file() for file in tmp_path.rglob("*"))


def test_failures_are_made_small_and_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Components of more than two vertices are written wrongly, and numbers from 70 on fail."""
    write_pairs = writer.write_pairs

    def broken(file: Any, vertices: np.ndarray, names: np.ndarray) -> None:
        large = np.bincount(names).max() > 2
        write_pairs(file, vertices, vertices if large else names)

    runs = replace(RUNS, draw=smaller_run, turn=30)
    monkeypatch.setattr(writer, "write_pairs", broken)
    told = []
    for part, seconds in ((runs, 1e9), (runs, 0), (NUMBERS, 1e9)):
        with pytest.raises(AssertionError) as found:
            hunt(part, tmp_path, seed="5", seconds=seconds)
        told.append((str(found.value), *getattr(found.value, "__notes__", ())))
    assert told[0] == told[1]
    assert told[0][0].startswith("wrong and not noticed: '")
    assert "vertices=3" in told[0][1]
    assert "case=70" in told[2][1]
    monkeypatch.setattr(writer, "write_pairs", write_pairs)
    assert hunt(runs, tmp_path, seed="5", seconds=0)["right"] > 0


def test_ways_that_differ_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(result: SccResult) -> dict[str, Any]:
        fields = found(result)
        result.statistics["memory"]["flushes"] += result.setting.spec.threads == 2
        return fields

    found = SccResult._found
    monkeypatch.setattr(SccResult, "_found", broken)
    run = replace(smaller_run(Random(1)), vertices=2, edges=[(0, 1), (1, 0)])
    finding = RUNS.examine(run, tmp_path)
    assert finding.kind == "different"
    assert finding.what.startswith("threads: statistics.memory.flushes is ")


def test_runs() -> None:
    counts = search(replace(RUNS, draw=small_run), 40)
    assert counts["right"] > 34
    assert min(counts["with threads"], counts["resumed"]) > 2


def test_what_is_drawn_can_be() -> None:
    runs = [RUNS.draw(Random(number)) for number in range(1000)]
    machines = [new_machine(Random(number)) for number in range(1000)]
    for run in runs:
        profile_from(run.memory)
        assert all(0 <= end < run.vertices for edge in run.edges for end in edge)
    for machine in machines:
        AcceleratorConfig.from_mapping(machine)
    assert all(any(run.machine == known for run in runs) for known in KNOWN)
    assert PARTS[0].draw(Random(5)) == PARTS[0].draw(Random(5))


@pytest.mark.parametrize(("machine", "memory", "cases"), [(MACHINES[0], "hc2", 10), (MACHINES[1], "fixed:9", 5)])
def test_flips_are_masked_or_found_out(machine: Table, memory: str, cases: int) -> None:
    def draw(chance: Random) -> Flips:
        flips = FLIPS.draw(chance)
        source = 0 if machine.get("bfs_only") else flips.run.source
        return replace(flips, run=replace(flips.run, machine=machine, memory={"profile": memory}, source=source))

    counts = search(replace(FLIPS, draw=draw), cases)
    assert min(counts["masked"], counts["detected"]) > 0


def test_product_and_plain_readers_agree() -> None:
    counts = search(INPUTS, 500)
    # Both ends are there, and scipy had its say.
    assert min(counts["read"], counts["refused"]) > 100
    assert counts["read by scipy too"] > 20


def test_a_last_line_that_scipy_would_read_beyond(tmp_path: Path) -> None:
    data = b"%%MatrixMarket matrix coordinate integer general\n5 5 2\n4 2 1\n2 2 7E2"
    finding = INPUTS.examine(inputs.File("g.mtx", data), tmp_path)
    assert (finding.kind, finding.counts) == ("read", {"read by scipy too": 1})


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def lost(path: Path) -> Graph:
        graph = read_graph(path)
        return Graph(offsets=graph.offsets * 0, targets=graph.targets[:0], ids=graph.ids, base=graph.base)

    read_graph = inputs.read_graph
    monkeypatch.setattr(inputs, "read_graph", lost)
    finding = INPUTS.examine(inputs.File("g.txt", b"3 1\n1 3\n"), tmp_path)
    assert (finding.kind, finding.good) == ("wrong", False)
    assert finding.what == "read as ([1, 3], []), and it is ([1, 3], [(1, 3), (3, 1)])"


@pytest.mark.parametrize(
    "name", [*SHORT, *(pytest.param(name, marks=pytest.mark.long) for name in sorted(FAULTS.keys() - set(SHORT)))]
)
def test_faults_of_the_environment(name: str, tmp_path: Path) -> None:
    assert run_fault(FAULTS[name], tmp_path) == []


def test_several_faults_that_end_no_run(tmp_path: Path) -> None:
    def spoil(scene: Scene) -> None:
        for name in HARMLESS:
            FAULTS[name].spoil(scene)

    assert run_fault(replace(FAULTS[HARMLESS[-1]], spoil=spoil), tmp_path) == []


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("scc g.txt --config test --json out.pdf", "refused"),
        ("scc /dev/zero --config test --labels out.txt", "refused"),
        ("explain brackets.json --json out.json", "refused"),
        ("compare g.txt --algorithms tarjan --configs none --seed 2 --json out.json", "refused"),
        ("synth --depth 5 --config test -o out", "refused"),
        ("bfs g.txt --source 1 --config test --record out --record-interval 65537", "refused"),
        ("mec m.tra -o out.txt", "done"),
    ],
)
def test_command_line(command: str, kind: str, tmp_path: Path) -> None:
    finding = ODDITIES.examine(Oddity(command.split()), tmp_path)
    assert (finding.kind, finding.good) == (kind, True), finding


def test_what_a_command_line_leaves_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.command_line.main.print_error", lambda *_, **__: Path("left").touch())
    finding = ODDITIES.examine(Oddity(["scc", "missing"]), tmp_path)
    assert (finding.kind, finding.good) == ("odd", False)
    assert finding.what == "not a line: ''; left: left"
