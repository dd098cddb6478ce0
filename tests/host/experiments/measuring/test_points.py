"""Invented points of a sweep: what they say, and what is made of their records."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cyscc.host.experiments.measuring import points as module
from cyscc.host.experiments.measuring.points import PointRequest, stored_graph
from cyscc.host.experiments.plan.plan import LostError
from cyscc.host.experiments.plan.request import graph_of
from cyscc.host.experiments.plan.store import Store
from cyscc.host.graph.csr import graph_digest
from cyscc.host.graph.kinds import generate_graph
from cyscc.host.record.tables import MODULES
from cyscc.host.runs.execution import Session
from cyscc.sim.errors import CycleLimitError
from cyscc.sim.observation.causes import CAUSES
from tests.host.experiments.sweep.studies import study_of
from tests.refusals import refused

TEXT = """
graph.vertices = "2^5"
graph.degree = 4
config = "test"
[grid]
word_depth = [16, 32]
memory.bank_busy = [5, 40, 50]
"""


@pytest.fixture
def points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[PointRequest]:
    monkeypatch.chdir(tmp_path)
    return [each.point for each in study_of(TEXT).points]


def test_what_points_say(points: list[PointRequest]) -> None:
    assert points[4].label == (
        "bfs of random, degree 4, 2^5 vertices on test (word_depth=32), memory hc2 (bank_busy=40)"
    )
    assert points[0].bytes == 20 * 128 + 200 * 32 + (400 << 20), "there is room for graph and transpose"
    assert points[0].machine == points[1].machine != points[3].machine
    assert len({point.digest for point in points}) == 6


@pytest.mark.parametrize(("own", "most", "lost"), [(None, 5, True), (9, 5, True), (5, 9, False), (None, None, False)])
def test_runs_that_are_given_up(
    own: int | None,
    most: int | None,
    lost: bool,
    points: list[PointRequest],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def execute(session: Session) -> None:
        assert (session.spec.cycle_limit, session.most_cycles) == (own, most)
        raise CycleLimitError("cycle limit reached")

    monkeypatch.setattr(Session, "execute", execute)
    point = PointRequest(graph=points[0].graph, spec=points[0].spec.changed({"cycle_limit": own}))
    with refused(
        LostError if lost else CycleLimitError, "takes more cycles than it may" if lost else "cycle limit reached"
    ):
        Store(tmp_path / "store").make(point, most=most)


def test_a_graph_in_memory_is_kept_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    graph = generate_graph("random", vertices=32, degree=4, seed=2)
    file = stored_graph(graph, store)
    assert stored_graph(graph, store) == file
    assert file.path.parent.parent == tmp_path
    assert graph_digest(graph_of(file)) == graph_digest(graph)


def document_of(command: str, **found: Any) -> Any:
    """Return a record whose document's numbers all differ."""
    numbers = {"seconds": 0.5, "gteps": 0.25, "edges_traversed": 77, "retries": 2, "wall": {"simulate": 1.5}}
    document = {
        "command": command,
        "run": {"vertices": 10, "edges": 20, "options": {"source": 3} if command == "bfs" else {}},
        "result": {"cycles": {"total": 99}, **numbers, **found},
        "causes": {module: {cause.name: n for n, cause in enumerate(CAUSES)} for module in MODULES},
    }
    return SimpleNamespace(document=document, result=document["result"])


def test_rows_have_the_results_of_the_records() -> None:
    search = module._row(document_of("bfs", levels=[{}, {}, {}], reached=8, duplicates=4))
    components = module._row(document_of("scc", components={"count": 6, "largest": 5}, iterations=9))
    both = {"vertices": 10, "edges": 20, "cycles": 99, "seconds": 0.5, "gteps": 0.25}
    both |= {"edges_traversed": 77, "retries": 2, "wall_seconds": 1.5}
    total = sum(range(len(CAUSES)))
    shares = {name: {f"{name}.{cause.name}": n / total for n, cause in enumerate(CAUSES)} for name in MODULES}
    own = {"source": 3, "levels": 3, "reached": 8, "duplicates": 4}
    assert search == {**both, **own, **shares["bfs"]}, "a search has no intersection"
    others = {"source": None, "components": 6, "iterations": 9}
    assert components == {**both, **others, **shares["bfs"], **shares["intersection"]}
