"""Lives in intersection kernels: each entry of each reach queue once, and each stage where the port says."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from cyscc.host.driver.components import ComponentRun
from cyscc.host.graph.csr import Graph
from cyscc.hw.intersection.tags import Tag
from cyscc.sim.observation.life import Fate, Life, Lives, Stage, Wait, read_lives
from cyscc.sim.observation.wave_reader import WaveReader
from tests.life import Cut, passes, port_reads
from tests.system.runs import made, solve

_VERTICES = 24


class Solved(NamedTuple):
    """A search for components, its waveforms and the lives in its intersection kernels."""

    run: ComponentRun
    counters: dict[str, Any]
    reader: WaveReader
    window: Lives
    lives: list[Life]


def reached(window: Lives) -> list[Life]:
    return [life for life in window.lives if life.queue != "queue"]


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Solved:
    path: Path = tmp_path_factory.mktemp("intersection") / "run.vcd"
    sources, targets = np.random.default_rng(2).integers(0, _VERTICES, (2, 60), np.uint32)
    with made("test", "hc2", waves=path) as machine:
        run = solve(machine, Graph.from_edges(_VERTICES, sources, targets))
        counters = machine.statistics()["counters"]["intersection"]
    reader = WaveReader(path)
    window = read_lives(reader)
    return Solved(run, counters, reader, window, reached(window))


def test_every_entry_once(solved: Solved) -> None:
    numbers = Counter((life.run, life.queue, life.index) for life in solved.lives)
    assert set(numbers.values()) == {1}
    assert len(numbers) == solved.counters["entries"]
    for run in range(1, solved.run.intersections + 1):
        for queue in ("forward", "backward"):
            indices = sorted(life.index for life in solved.lives if (life.run, life.queue) == (run, queue))
            assert indices == list(range(len(indices)))
    longest = solved.run.longest
    assert longest is not None
    assert sum((life.run, life.queue) == (1, "forward") for life in solved.lives) == sum(longest.forward.counts)
    fates = Counter(life.fate for life in solved.lives)
    assert fates[Fate.COLOURED] == solved.counters["pushed"]
    assert fates[Fate.UNVISITED] == solved.counters["items"]
    assert fates.keys() == {Fate.COLOURED, Fate.COLOURED_ALREADY, Fate.UNVISITED}
    for run in range(1, solved.run.intersections + 1):
        coloured = {life.vertex for life in solved.lives if life.run == run and life.fate is Fate.COLOURED}
        assert len({solved.run.colours[vertex] for vertex in coloured}) == 1


def test_stages_follow_each_other(solved: Solved) -> None:
    for life in solved.lives:
        assert life.end is not None
        assert [span.end for span in life.spans[:-1]] == [span.first for span in life.spans[1:]]
    spans = [span for life in solved.lives for span in life.spans if span.stage is Stage.ENTRY_OFFERED]
    assert all(sum(cycles for _, cycles in span.waits) == (span.end or 0) - span.first - 1 for span in spans)
    assert Wait.CREDIT in {wait for span in spans for wait, _ in span.waits}


def test_reads_are_those_of_the_memory_port(solved: Solved) -> None:
    for kernel in {life.kernel for life in solved.lives}:
        words, others = (
            solved.reader.values(f"{kernel}.control.register_{name}") for name in ("words", "transposed_words")
        )
        expected = set()
        for life in solved.lives:
            if life.kernel != kernel:
                continue
            vertex = life.vertex or 0
            ends = {span.stage: span.end - 1 for span in life.spans if span.end is not None}
            asked = ends[Stage.ENTRY_OFFERED]
            other = int((others if life.queue == "forward" else words)[asked])
            assert life.graph == (words if life.queue == "forward" else others)[asked]
            expected.add((ends[Stage.ENTRY_PORT], "REACH_ENTRY", life.address))
            expected.add((ends[Stage.OTHER_PORT], "OTHER_WORD", other + 8 * vertex))
            if Stage.OWN_PORT in ends:
                expected.add((ends[Stage.OWN_PORT], "OWN_WORD", life.graph + 8 * vertex))
        found = {(cycle, Tag(tag).name, address) for cycle, tag, address in port_reads(solved.reader, kernel)}
        assert expected == {read for read in found if read[1] != "COLOUR"}
        own = [life for life in solved.lives if life.kernel == kernel]
        decided = {span.end for life in own for span in life.spans if span.stage is Stage.CANDIDATE}
        assert decided == {cycle + 1 for cycle in passes(solved.reader, f"{kernel}.colour_reader.candidates")}
        written = {life.end for life in own if life.fate is Fate.UNVISITED}
        assert written == {cycle + 1 for cycle in passes(solved.reader, f"{kernel}.mux.source4")}
        painted = {life.end for life in own if life.fate is Fate.COLOURED}
        assert painted == {cycle + 1 for cycle in passes(solved.reader, f"{kernel}.mux.source3")}


def test_any_window_shows_the_same(solved: Solved) -> None:
    random = np.random.default_rng(4)
    starts = [life.first for life in solved.lives]
    seen = Counter[Fate]()
    for _ in range(25):
        first, end = sorted(random.integers(min(starts) - 20, min(starts) + 900, 2).tolist())
        if first == end:
            continue
        lives = reached(read_lives(Cut(solved.reader, first, end)))
        expected = {
            (life.kernel, life.spans[0].end): life
            for life in solved.lives
            if life.spans[0].end is not None and first < life.spans[0].end <= end
        }
        assert {(life.kernel, life.spans[0].end) for life in lives} == expected.keys()
        for life in lives:
            assert life.spans[0].end is not None
            other = expected[life.kernel, life.spans[0].end]
            rest = [span for span in other.spans[1:] if span.first < end]
            assert [span[:2] for span in life.spans[1:]] == [span[:2] for span in rest]
            for span, entire in zip(life.spans[1:], rest, strict=True):
                assert span == entire if span.end is not None else (entire.end or 0) > end
            assert life.vertex in (other.vertex, None)
            assert life.fate in (other.fate, Fate.UNDER_WAY)
            assert (life.fate is Fate.UNDER_WAY) == ((other.end or 0) > end)
            seen[life.fate] += 1
    assert seen.keys() == {Fate.COLOURED, Fate.COLOURED_ALREADY, Fate.UNVISITED, Fate.UNDER_WAY}
