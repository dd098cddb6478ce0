"""Invented points of a sweep: their order, their messages, and failures."""

import errno
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.sweep.batch import Batch, make_point
from cyscc.host.experiments.sweep.points import SweepFolder, SweepPoint
from cyscc.host.output.errors import InputError
from cyscc.host.runs.sources import sources_digest
from cyscc.sim.errors import SimulationError
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
def points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[SweepPoint]:
    monkeypatch.chdir(tmp_path)
    return [each.point for each in study_of(TEXT).points]


class Made:
    """Fake simulation of points: some fail, and some are completed by another process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[SweepPoint] = []
        self.steps: list[tuple[int, int, str]] = []
        self.failures: dict[str, str] = {}
        self.unseen: set[str] = set()
        monkeypatch.setattr("cyscc.host.experiments.sweep.batch.make_point", self.make)
        monkeypatch.setattr(SweepFolder, "has", lambda folder, point: folder.of(point).exists())

    def make(self, point: SweepPoint, *, folder: Path, sources: str, budget: object) -> str:
        assert sources == sources_digest()
        assert budget is None
        self.asked.append(point)
        if point.digest not in self.failures and point.digest not in self.unseen:
            (folder / "points" / point.digest).mkdir()
        return self.failures.get(point.digest, "")

    def sweep(self, points: list[SweepPoint], *, jobs: int = 1) -> Any:
        self.asked.clear()
        self.steps.clear()
        batch = Batch(folder=Path("out"), jobs=jobs)
        return batch.sweep(points, SweepFolder(batch.folder), lambda *step: self.steps.append(step))


def test_machines_are_built_first(points: list[SweepPoint], monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made(monkeypatch)
    swept = made.sweep([*points, *points])
    # One point of each configuration in front.
    assert made.asked == [points[0], points[3], points[1], points[2], points[4], points[5]]
    assert (swept.found, swept.made, swept.failures) == (0, 6, {})
    labels = [point.label for point in made.asked]
    assert made.steps == [(0, 6, ""), *((done, 6, f"{label}: done") for done, label in enumerate(labels, 1))]
    assert points[4].label == (
        "bfs of random, degree 4, 2^5 vertices on test (word_depth=32), memory hc2 (bank_busy=40)"
    )
    assert made.sweep(points[:2]).found == 2
    assert made.asked == []
    assert made.steps == [(2, 2, "2 of them from before")]


def test_failures(points: list[SweepPoint], monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made(monkeypatch)
    made.failures = {points[1].digest: "it broke"}
    made.unseen = {points[2].digest}
    swept = made.sweep(points[:4])
    there = Path("out").resolve()
    expected = {points[1].digest: "it broke", points[2].digest: f"the process that made it does not see {there}"}
    assert (swept.found, swept.made, swept.failures) == (0, 2, expected)
    assert made.steps[-2:] == [
        (3, 4, f"{points[1].label}: it broke"),
        (4, 4, f"{points[2].label}: the process that made it does not see {there}"),
    ]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (InputError("cannot be read", path=Path("g.txt")), "g.txt: cannot be read"),
        (SimulationError("cycle limit of 50 reached"), "cycle limit of 50 reached"),
        (MemoryError(), "not enough memory"),
        (OSError(errno.ENOSPC, "No space left on device", "out/points/x"), "out/points/x: No space left on device"),
        (OSError(errno.ENOSPC, "No space left on device"), "out: No space left on device"),
        (OSError("broken"), "out: broken"),
        (None, ""),
    ],
)
def test_what_failures_are_told_as(
    error: Exception | None, line: str, points: list[SweepPoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(folder: SweepFolder, point: SweepPoint, *, most_cycles: int | None) -> None:
        assert (folder.path, point, most_cycles) == (Path("out").resolve(), points[0], None)
        if error is not None:
            raise error

    monkeypatch.setattr(SweepFolder, "make", make)
    assert make_point(points[0], folder=Path("out"), sources=sources_digest()) == line
    message = "this process and the one that works for it have different versions of the program"
    with refused(SimulationError, message):
        make_point(points[0], folder=Path("out"), sources="other")


def test_memory_that_is_expected_has_room_for_graph_and_transpose(points: list[SweepPoint]) -> None:
    assert points[0].bytes == 20 * 128 + 200 * 32 + (400 << 20)
