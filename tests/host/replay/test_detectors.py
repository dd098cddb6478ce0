"""Which kernels and FIFOs an event is looked for in, on a machine whose counts are made up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cyscc.host.replay.point import Point
from cyscc.host.replay.search import detector_of
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
        assert detector.seen(executor) == (cause == Cause.SLOT and chosen(point, module, engine, number))
