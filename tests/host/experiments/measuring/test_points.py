"""Invented points of a sweep: what they say, and what is made of their records."""

from pathlib import Path

import pytest

from cyscc.host.experiments.measuring.runs import PointRequest, stored_graph
from cyscc.host.experiments.plan.plan import LostError
from cyscc.host.experiments.plan.request import graph_of
from cyscc.host.experiments.plan.store import Store
from cyscc.host.graph.csr import graph_digest
from cyscc.host.graph.kinds import generate_graph
from cyscc.host.runs.execution import Session
from cyscc.sim.errors import CycleLimitError
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
