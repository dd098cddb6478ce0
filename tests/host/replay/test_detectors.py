"""Where an event is looked for, on machines whose spells and whose time are made up."""

from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cyscc.host.replay.finding import Located, Search
from cyscc.host.replay.spells import Reached, SpellSearch
from cyscc.host.specification.place import Place
from cyscc.hw.config import PRESETS
from cyscc.sim.coprocessor import Cause
from cyscc.sim.executors.spells import SPELL, SpellRequest

CONFIG = PRESETS["test"].replace(bfs_kernels=2, intersection_kernels=1, word_depth=16, visit_depth=4, unvisit_depth=8)
FIFOS = {"bfs": ("word", "visit"), "intersection": ("word", "unvisit")}
SPANS = [(100, 400), (500, 2000)]


class Spells:
    """A machine whose kernels have random spells, of one cause; and its executor."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.config = CONFIG
        self.memory = None
        self.executor: Any = self
        self.fifos = {
            module: tuple(SimpleNamespace(name=name, parameter=f"{name}_depth") for name in names)
            for module, names in FIFOS.items()
        }
        self.spells = []
        for engine, kernel in np.ndindex(2, 3):
            ends = np.cumsum(random.integers(1, 60, 200))
            spells = [(engine, kernel, Cause.SLOT, *ends[n : n + 2].tolist()) for n in range(0, 190, 2)]
            # Kernels are idle at the end of an instruction.
            self.spells += [each for each in spells if not any(each[-2] < end < each[-1] for _, end in SPANS)]
        self.cycle = self.taken = 0
        self.request = SpellRequest()
        self.on_sync: Callable[[int], int] = lambda _: 1
        self.on_close: Callable[[], None] = lambda: None

    def log_spells(self, request: SpellRequest) -> None:
        self.request = request
        self.begun = self.cycle

    def take_spells(self, *, under_way: bool = False) -> npt.NDArray[np.void]:
        cycle, taken = self.cycle, self.taken
        if under_way:
            found = [(*who, max(begin, self.begun), cycle) for *who, begin, end in self.spells if begin < cycle < end]
        else:
            self.taken = cycle
            found = [(*who, max(begin, self.begun), end) for *who, begin, end in self.spells if taken < end <= cycle]
        return np.array(found, SPELL)

    def simulate(self, end: int) -> None:
        """Let time pass until the search ends the run, or the run ends by itself."""
        with suppress(Reached):
            while self.cycle < end:
                self.cycle += min(self.on_sync(self.cycle), 37)
        self.on_close()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("text", ["slot", "wait=slot,longer=40", "slot,engine=1", "slot,module=intersection,kernel=0"])
def test_spells_in_their_order(text: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.replay.spells.sync_interval", lambda *_: 8)
    point = Place.parse(text)
    expected = []
    for engine, number, _, begin, end in Spells(seed).spells:
        module, kernel = ("bfs", number) if number < 2 else ("intersection", 0)
        own = {"module": module, "engine": engine, "kernel": kernel}
        chosen = all(getattr(point, name) in (None, value) for name, value in own.items())
        inside = any(start <= begin < end for start, end in SPANS)
        if chosen and inside and end - begin > (point.longer or 0):
            expected.append((begin, engine, number, f"engine{engine}.{module}{kernel}", end - begin))
    expected.sort()
    for nth in (1, 2, len(expected), len(expected) + 1):
        machine: Any = Spells(seed)
        search = SpellSearch(machine, Search(spans=SPANS, nth=nth), point)
        machine.simulate(100_000)
        assert tuple(machine.request.causes) == (Cause.SLOT,)
        if nth > len(expected):
            assert search.found is None
            assert search.count == len(expected)
            continue
        begin, _, _, kernel, cycles = expected[nth - 1]
        assert search.found == Located(cycle=begin, kernel=kernel, cause="slot", cycles=cycles)
        assert machine.cycle < begin + 700, "no further than needed"


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("full", {"bfs": [15, 3], "intersection": [15, 7]}),
        ("full:word", {"bfs": [15, None], "intersection": [15, None]}),
        ("fifo=visit,above=2", {"bfs": [None, 2], "intersection": [None, None]}),
        ("fifo=unvisit", {"bfs": [None, None], "intersection": [None, 0]}),
    ],
)
def test_limits_of_fifos(text: str, limits: dict[str, list[int | None]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.replay.spells.sync_interval", lambda *_: 8)
    machine: Any = Spells(0)
    SpellSearch(machine, Search(spans=SPANS, nth=1), Place.parse(text))
    machine.simulate(200)
    found = {module: [None if n > 1 << 32 else n for n in its] for module, its in machine.request.limits.items()}
    assert found == limits
