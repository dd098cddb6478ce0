"""A few cases of each part, always the same ones, and that each part finds what is wrong."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from cyscc.host.graph.csr import Graph
from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.memory import profile_from
from tests.fuzz import inputs
from tests.fuzz.environments import FAULTS, Scene, run_fault
from tests.fuzz.flips import FLIPS, MACHINES, Flips
from tests.fuzz.inputs import INPUTS
from tests.fuzz.oddities import ODDITIES, Oddity
from tests.fuzz.runs import RUNS, Run
from tests.fuzz.runs import draw as draw_run
from tests.fuzz.search import search
from tests.fuzz.setups import KNOWN, SMALL, Table, new_machine

SHORT = ("standard output full", "address space of 900 MB", "SIGTERM")
HARMLESS = ("16 open files", "no compiler", "limit of the cache that is no size")


def small_run(chance: Random) -> Run:
    """Draw a run on a small machine; now and then it is resumed."""
    run = RUNS.draw(chance)
    machine = run.machine if run.machine in SMALL else SMALL[0]
    return replace(run, machine=machine, way=chance.choice(["", "resumed", "threads"]))


def test_runs() -> None:
    counts = search(replace(RUNS, draw=small_run), 70)
    assert counts["right"] > 60
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
    assert draw_run(Random(5), new=machines[5]) == draw_run(Random(5), new=machines[5])


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
