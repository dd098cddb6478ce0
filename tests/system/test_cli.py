"""The command line from a file to a file: components, searches, models, and how soon it starts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.basic import basic
from cyscc.host.baselines.mec.checker import check_mecs
from cyscc.host.command_line.main import main
from cyscc.host.output.progress import Progress
from cyscc.host.runs.mec import run_accelerated_mec
from cyscc.host.specification.run import RunSpec
from cyscc.sim.observation.causes import WORK
from tests.conftest import ROOT
from tests.system.graphs import graph_of
from tests.system.runs import MEMORIES, check_scc, made

SMALL = ["--config", "test", "--memory", "fixed:9"]


def keys(document: Any, *paths: str) -> list[Any]:
    """Return the values at dotted paths."""
    values = []
    for path in paths:
        value = document
        for name in path.split("."):
            value = value[name]
        values.append(value)
    return values


def test_statistics_add_up_to_what_was_simulated(folder: Path) -> None:
    chords = ((vertex, (vertex + step) % 20) for vertex in range(20) for step in (1, 2, 3))
    Path("g.txt").write_text("".join(f"{source} {target}\n" for source, target in chords))
    assert main(["scc", "g.txt", *SMALL, "--queue-slack", "0", "--json", "json", "--quiet"]) == 0
    document = json.loads(Path("json").read_text())
    covered, restarted = keys(document, "statistics.cycles", "statistics.restarted")
    assert document["retries"] == restarted["attempts"] == 1
    assert covered["instructions"] == document["cycles"]["total"]
    assert covered["total"] == sum(covered.values()) - covered["total"] == document["wall"]["simulated_cycles"]
    assert 0 < restarted["instructions"] < covered["restarted"]
    sizes = document["configuration"]
    for module in ("bfs", "intersection"):
        kernels = sizes["engines"] * sizes[f"{module}_kernels"]
        for counted in (document["statistics"], restarted):
            cycles = counted["cycles"]["instructions"] if "cycles" in counted else counted["instructions"]
            assert sum(counted["causes"][module].values()) == kernels * cycles
            assert sum(counted["causes"][module][cause] for cause in WORK) == counted["counters"][module]["requests"]
    pushed = sum(way["reached"] + way["duplicates"] - way["searches"] for way in keys(document, "forward", "backward"))
    assert keys(document, "statistics.counters.bfs.pushed") == [pushed]


def test_wiki_vote_on_the_full_machine(wiki_vote: Path, tmp_path: Path) -> None:
    out = tmp_path / "json"
    assert main(["scc", str(wiki_vote), "--config", "hc2", "--quiet", "--json", str(out)]) == 0
    document = json.loads(out.read_text())
    values = keys(document, "graph.vertices", "components.count", "components.largest", "iterations", "verified")
    assert values == [7115, 5816, 1300, 77, True]


@pytest.mark.long
def test_soc_epinions_on_the_full_machine(soc_epinions: Path, tmp_path: Path) -> None:
    out = tmp_path / "json"
    assert main(["scc", str(soc_epinions), "--config", "hc2", "--quiet", "--json", str(out)]) == 0
    document = json.loads(out.read_text())
    values = keys(document, "graph.vertices", "components.count", "components.largest", "iterations", "verified")
    assert values == [75879, 42176, 32223, 2716, True]


def test_parallel_edges_cost_nothing_when_simplified(folder: Path) -> None:
    cycles = []
    for copies, options in ((1, []), (20, ["--simplify"])):
        Path("g.txt").write_text("".join(f"{v} {(7 * v + 1) % 30}\n" * copies for v in range(30)))
        assert main(["scc", "g.txt", *SMALL, *options, "--quiet", "--json", "json"]) == 0
        cycles.append(json.loads(Path("json").read_text())["cycles"])
    assert cycles[0] == cycles[1]


@settings(max_examples=60)
@given(data=st.data())
def test_any_small_graph(data: st.DataObject) -> None:
    vertices = data.draw(st.integers(1, 24))
    vertex = st.integers(0, vertices - 1)
    edges = data.draw(st.lists(st.tuples(vertex, vertex), max_size=80))
    memory = data.draw(st.sampled_from(MEMORIES))
    with made("test", memory) as machine:
        check_scc(machine, graph_of(vertices, edges))


def test_chain_of_repeated_edges_takes_more_pushes_than_any_queue_holds() -> None:
    edges = [(v, v + 1) for v in range(120) for _ in range(2)]
    with made("hc2", "fixed:75") as machine:
        run = check_scc(machine, graph_of(121, [*edges, (120, 0)]), slack=8000)
    assert run.retries == 0
    assert run.forward.duplicates > 8000


def check(mdp: Mdp) -> None:
    spec = RunSpec(algorithm="scc", graph="model", config="test", threads=1)
    found, rounds = run_accelerated_mec(mdp, spec, Progress(quiet=True))
    assert check_mecs(mdp, found.mecs) is None
    expected = basic(mdp)
    assert np.array_equal(found.mecs, expected.mecs)
    assert found.rounds == expected.rounds
    assert len(rounds) == len(expected.rounds) > 1
    assert all(each.verified for each in rounds)
    for round_, own in zip(rounds, expected.rounds, strict=True):
        assert round_.run.components == own.components
        assert (round_.graph.vertices, round_.setting.edges) == (own.states, own.transitions)
        assert round_.graph.edges == own.transitions - (round_.setting.dropped_edges or 0)
    assert rounds[0].graph.edges < expected.rounds[0].transitions, "each edge once"
    assert min(each.cycles for each in rounds) > 0


def test_a_random_model() -> None:
    check(family("random", states=150, choices=2, transitions=2, seed=4))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "sizes"),
    [("islands", {"islands": 2000}), ("grid", {"width": 100, "height": 100, "room": 50})],
)
def test_ten_thousand_states(name: str, sizes: dict[str, int]) -> None:
    check(family(name, on_step=None, **sizes))


HEAVY = {"llvmlite", "matplotlib", "numba", "numpy.ma", "numpy.random", "pandas", "pyarrow", "rich", "scipy"}
COMMENTED = "# Directed graph\n1 2 0.5\n2\t1 7\n2 3 1\n"


@pytest.mark.parametrize("command", [["scc"], ["bfs", "--source", "1"]])
def test_a_run_on_a_text_file_imports_little(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text(COMMENTED)
    arguments = [*command, str(tmp_path / "g.txt"), "--config", "test", "--memory", "fixed:9", "--quiet"]
    assert main(arguments) == 0
    code = (
        "import sys; from cyscc.host.command_line.main import main; "
        f"print(main({arguments}), sorted({HEAVY} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("0 []\n", "")
