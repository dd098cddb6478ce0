"""Where an event is looked for, on machines whose counts and whose time are made up."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cyscc.host.replay.point import Point, Span
from cyscc.host.replay.search import EventSearch, Reached, detector_of
from cyscc.hw.config import PRESETS
from cyscc.sim.coprocessor import Cause

CONFIG = PRESETS["test"].replace(bfs_kernels=2, intersection_kernels=1, word_depth=16, visit_depth=4, unvisit_depth=8)
KERNELS = {"bfs": 2, "intersection": 1}
FIFOS = {"bfs": ("word", "visit"), "intersection": ("word", "unvisit")}


def machine_of(executor: Any) -> Any:
    fifos = {
        module: tuple(SimpleNamespace(name=name, parameter=f"{name}_depth") for name in names)
        for module, names in FIFOS.items()
    }
    return SimpleNamespace(config=CONFIG, fifos=fifos, executor=executor)


def chosen(point: Point, module: str, engine: int, kernel: int) -> bool:
    own = {"module": module, "engine": engine, "kernel": kernel}
    return all(getattr(point, name) in (None, value) for name, value in own.items())


@pytest.mark.parametrize(
    "text", ["full", "full:word", "full:visit,engine=1", "full:word,kernel=0,engine=0", "full,module=intersection"]
)
def test_full_fifos(text: str) -> None:
    point = Point.parse(text)
    for module, names in FIFOS.items():
        most = np.zeros((CONFIG.engines, KERNELS[module], 2), int)
        executor: Any = SimpleNamespace(
            samples=(), sample=lambda most=most: {name: {"instruction_most": most} for name in FIFOS}
        )
        executor.begin_instruction_marks = lambda most=most: most.fill(0)
        detector = detector_of(point, machine_of(executor))
        for engine, kernel, fifo in np.ndindex(most.shape):
            detector.begin(executor, module)
            depth = getattr(CONFIG, f"{names[fifo]}_depth")
            most[engine, kernel, fifo] = depth - 1
            assert not detector.seen(executor)
            most[engine, kernel, fifo] = depth
            expected = chosen(point, module, engine, kernel) and point.fifo in (None, names[fifo])
            assert detector.seen(executor) == expected, (module, engine, kernel, names[fifo])
            if expected:
                assert detector.kernel(executor) == f"engine{engine}.{module}{kernel}"


@pytest.mark.parametrize("text", ["slot", "slot,engine=1", "slot,kernel=0", "slot,module=intersection,engine=0"])
def test_causes(text: str) -> None:
    point = Point.parse(text)
    counts = np.full((CONFIG.engines, 3, len(Cause)), 7)
    executor: Any = SimpleNamespace(causes=lambda: counts)
    detector = detector_of(point, machine_of(executor))
    for engine, kernel, cause in np.ndindex(counts.shape):
        detector.begin(executor, "bfs")
        assert not detector.seen(executor)
        counts[engine, kernel, cause] += 1
        module, number = ("bfs", kernel) if kernel < 2 else ("intersection", 0)
        expected = cause == Cause.SLOT and chosen(point, module, engine, number)
        assert detector.seen(executor) == expected
        if expected:
            assert detector.kernel(executor) == f"engine{engine}.{module}{number}"


@dataclass
class State:
    """The saved state of a machine that only has a position."""

    cycle: int
    memory: Any = field(default_factory=lambda: State(0, memory=None))
    regions: tuple[Any, ...] = ()


class World:
    """A machine of which an event is a cycle, and what searches for it there."""

    def __init__(self, event: int) -> None:
        self.event = event
        self.executor: Any = self
        self.config = self.memory = None
        self.cycle = self.armed = 0
        self.modules: list[str] = []
        self.scheduled: dict[int, Callable[[], None]] = {}
        self.on_sync: Callable[[int], int] = lambda _: 1

    def begin(self, executor: "World", module: str) -> None:
        self.armed = executor.cycle
        self.modules.append(module)

    def seen(self, executor: "World") -> bool:
        return self.armed <= self.event < executor.cycle

    def kernel(self, executor: "World") -> str | None:
        return "engine0.bfs1" if self.seen(executor) else None

    def save(self, *, without: object) -> State:
        return State(self.cycle)

    def load(self, state: State) -> None:
        self.cycle = state.cycle

    def schedule(self, cycle: int, call: Callable[[], None]) -> None:
        self.scheduled[cycle] = call

    def run(self, cycles: int) -> None:
        self.cycle += cycles

    def close(self) -> None:
        pass

    def simulate(self, search: EventSearch) -> int | None:
        """Let time pass until the search ends the run."""
        with suppress(Reached):
            while self.cycle < 10_000:
                following = self.cycle + self.on_sync(self.cycle)
                self.cycle = min(following, *(cycle for cycle in self.scheduled if cycle > self.cycle), 10_000)
                self.scheduled.get(self.cycle, lambda: None)()
        assert self.cycle < 10_000
        return search.cycle


@pytest.mark.parametrize("event", [100, 131, 159, 200, 300, 1323, 1324, 1999, 2000])
def test_events_are_found_to_the_cycle_in_the_spans_alone(event: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.replay.search.sync_interval", lambda *_: 8)
    monkeypatch.setattr("cyscc.host.replay.search.Stepper", lambda *_: World(event))
    world: Any = World(event)
    spans = [
        Span(module=module, start=first - 9, first=first, end=end)
        for module, first, end in (("bfs", 100, 160), ("intersection", 300, 2000))
    ]
    search = EventSearch(world, spans, world, executor="compiled", without=())
    found = world.simulate(search)
    inside = [span.module for span in spans if span.first <= event < span.end]
    assert found == (event if inside else None)
    assert search.kernel == ("engine0.bfs1" if inside else None)
    assert set(world.modules) == ({"bfs"} if inside == ["bfs"] else {"bfs", "intersection"})
