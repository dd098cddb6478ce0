"""Lives told by signals: all of a search, each stage where the port and the memory say, and the same in any window."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from cyscc.hw.config import PRESETS
from cyscc.sim.hardware import DEGREE
from cyscc.sim.observation.life import Fate, Life, Lives, Span, Stage, Wait, read_lives
from cyscc.sim.observation.wave_reader import WaveFileError
from tests.life import Cut, Searched, searched

SMALL = PRESETS["test"].replace(engines=1, intersection_kernels=1)
VARIANTS = {
    # The token takes long, so that vertices that wait hold everything up.
    "published": SMALL.replace(issue_interval=2, blocking_reservation=True, ring_stages=24),
    "searches": SMALL.replace(bfs_only=True, issue_interval=2),
    "filter": SMALL.replace(remembered_ids=8),
}
"""Machines whose kernels differ, on Amaranth's simulator, for which nothing is built."""


@pytest.fixture(scope="module", params=["test", *VARIANTS])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Searched:
    if request.param == "test":
        found: Searched = request.getfixturevalue("search_waves")
        return found
    folder = tmp_path_factory.mktemp("life")
    vertices, edges = (24, 90) if request.param == "published" else (16, 40)
    return searched(folder, VARIANTS[request.param], "fixed:9", executor="amaranth", vertices=vertices, edges=edges)


def test_every_entry_and_neighbour_of_every_level_once(run: Searched) -> None:
    lives = read_lives(run.reader)
    assert (lives.first, lives.cycles) == (0, run.cycles)
    filtered = run.config.remembered_ids > 0
    for level, record in enumerate(run.bfs.level_records):
        own = [life for life in lives.lives if life.run == level + 1]
        entries = [life for life in own if not life.neighbour]
        assert sorted(life.index for life in entries) == list(range(record.frontier))
        assert {life.fate for life in entries} <= {Fate.EXPANDED, Fate.LEAF}
        # A kernel reads every n-th entry.
        stride = run.config.total_bfs_kernels
        assert {(life.kernel, life.index % stride) for life in entries} <= {
            (f"engine{number // run.config.bfs_kernels}.bfs{number % run.config.bfs_kernels}", number)
            for number in range(stride)
        }
        for life in entries:
            # What is visited has a level instead of a word on machines that only search, as the source has.
            assert life.vertex is not None or life.fate is Fate.LEAF or (run.config.bfs_only and level == 0)
            children = [child for child in own if child.parent is life]
            assert life.word is not None
            assert len(children) == DEGREE.get(life.word)
            if life.vertex is not None:
                assert run.bfs.levels[life.vertex] == level
                assert [child.vertex for child in children] == run.targets_of(life.vertex)
        pushed = [life for life in own if life.fate is Fate.PUSHED]
        assert sorted(life.slot for life in pushed if life.slot is not None) == list(range(record.pushed))
        assert {run.bfs.levels[life.vertex] for life in pushed} <= {level + 1}
        assert len({life.vertex for life in pushed if not life.again}) == len(pushed) - sum(life.again for life in own)
        visited = [life for life in own if life.fate is Fate.VISITED]
        assert all(run.bfs.levels[life.vertex] <= level + 1 for life in visited)
        ends = Counter(life.fate for life in own if life.neighbour)
        assert ends[Fate.UNDER_WAY] == ends[Fate.NO_ROOM] == 0
    assert {life.run for life in lives.lives} == set(range(1, len(run.bfs.level_records) + 1))
    fates = {life.fate for life in lives.lives}
    assert fates >= {Fate.PUSHED, Fate.VISITED}
    assert (Fate.COPY in fates, Fate.MARKED in fates) == (filtered, run.config.bfs_only)


def test_entries_are_what_was_pushed(run: Searched) -> None:
    lives = read_lives(run.reader).lives
    for life in lives:
        if not life.neighbour and life.run > 1:
            assert life.origin is not None
            assert (life.origin.slot, life.origin.run, life.origin.vertex) == (life.index, life.run - 1, life.vertex)
            assert life.origin.end is not None
            assert life.origin.end <= life.first
    assert sum(life.origin is not None for life in lives) == sum(record.pushed for record in run.bfs.level_records)


def test_stages_follow_each_other(run: Searched) -> None:
    for life in read_lives(run.reader).lives:
        assert life.end is not None
        assert [span.end for span in life.spans[:-1]] == [span.first for span in life.spans[1:]]
        order = [list(Stage).index(span.stage) for span in life.spans]
        assert order == sorted(set(order))
        for span in (*life.spans, *life.aside):
            assert span.end is not None
            assert span.end > span.first


def offers(lives: Lives) -> Iterator[Span]:
    for life in lives.lives:
        yield from (span for span in life.spans if span.stage in (Stage.ENTRY_OFFERED, Stage.ID_OFFERED))
        yield from (span for span in life.spans if span.stage in (Stage.MARK, Stage.REACH))


def test_each_cycle_before_a_request_is_taken_has_a_reason(run: Searched) -> None:
    lives = read_lives(run.reader)
    found = set()
    for span in offers(lives):
        assert span.end is not None
        assert sum(cycles for _, cycles in span.waits) == span.end - span.first - 1
        found |= {wait for wait, _ in span.waits}
    assert found - {Wait.RESTING}
    if run.memory == "hc2":
        assert found >= {Wait.CREDIT, Wait.OTHER}
    assert (Wait.RESTING in found) == (run.config.issue_interval == 2)
    assert (Wait.HELD in found) == run.config.blocking_reservation
    waiting = {span.stage for life in lives.lives for span in life.spans if Wait.SLOT in dict(span.waits)}
    assert waiting == {Stage.SLOT}


PORT: dict[Stage, tuple[str, Callable[[Life, Searched], int]]] = {
    Stage.ENTRY_PORT: ("FRONTIER_WORD", lambda life, run: life.address or 0),
    Stage.ID_PORT: ("NEIGHBOUR_ID", lambda life, run: run.neighbours + 4 * life.index),
    Stage.WORD_PORT: ("NEIGHBOUR_WORD", lambda life, run: life.graph + 8 * (life.vertex or 0)),
}
MEMORY: dict[Stage, tuple[str, Callable[[Life], int | None]]] = {
    Stage.ENTRY_MEMORY: ("FRONTIER_WORD", lambda life: life.word),
    Stage.ID_MEMORY: ("NEIGHBOUR_ID", lambda life: life.vertex),
    Stage.WORD_MEMORY: ("NEIGHBOUR_WORD", lambda life: life.word),
}


def test_reads_are_those_of_the_memory_port(run: Searched) -> None:
    """Transfers at the port have an address, a tag and data, which are not used to reconstruct lives."""
    lives = read_lives(run.reader)
    for kernel in lives.kernels:
        asked, answered = set(), set()
        for life in lives.lives:
            for span in life.spans:
                if life.kernel == kernel and span.end is not None:
                    if span.stage in PORT:
                        tag, address = PORT[span.stage]
                        asked.add((span.end - 1, tag, address(life, run)))
                    if span.stage in MEMORY:
                        tag, data = MEMORY[span.stage]
                        answered.add((span.end - 1, tag, data(life)))
        assert asked == run.port_reads(kernel)
        assert answered == run.port_answers(kernel)


def test_writes_are_those_that_the_multiplexer_takes(run: Searched) -> None:
    lives = read_lives(run.reader)
    for kernel in lives.kernels:
        queued = {
            (span.end - 1, life.address)
            for life in lives.lives
            for span in life.spans
            if life.kernel == kernel and span.stage is Stage.ENQUEUE and span.end is not None
        }
        marked = {
            (span.end - 1, life.graph + 8 * (life.vertex or 0))
            for life in lives.lives
            for span in (*life.spans, *life.aside)
            if life.kernel == kernel and span.stage in (Stage.MARK, Stage.LEVEL) and span.end is not None
        }
        reached = {
            (span.end - 1, life.slot)
            for life in lives.lives
            for span in life.spans
            if life.kernel == kernel and span.stage is Stage.REACH and span.end is not None
        }
        found = run.taken_writes(kernel)
        assert queued == {(cycle, address) for cycle, kind, address in found if kind == "queue"}
        assert marked == {(cycle, address) for cycle, kind, address in found if kind == "words"}
        assert reached == {(cycle, address) for cycle, kind, address in found if kind == "reach"}


def test_slots_are_reserved_by_the_token(run: Searched) -> None:
    lives = read_lives(run.reader)
    for kernel in lives.kernels:
        taken = run.reservations(kernel)
        for life in lives.lives:
            if life.kernel == kernel and life.fate is Fate.PUSHED:
                assert life.reserved is not None
                first, count = taken[life.reserved]
                assert life.slot is not None
                assert first <= life.slot < first + count


def told(life: Life) -> tuple[object, ...]:
    return life.kernel, life.neighbour, life.index, life.graph


def asked(life: Life) -> int | None:
    """Return the cycle in which the first read of a life is taken."""
    return life.spans[0].end


def known(span: Span) -> int:
    """Return the cycle in which it is seen that a stage is over: its last, or the one after where nothing passes."""
    assert span.end is not None
    return span.end - (span.stage not in (Stage.BEHIND, Stage.SLOT, Stage.ENTRY_EXPANDED))


def decided(life: Life) -> int:
    """Return the cycle in which it is seen how a life ended."""
    if life.fate is Fate.LEAF:
        assert life.spans[-1].end is not None
        return life.spans[-1].end
    return known(life.aside[-1] if life.fate is Fate.MARKED else life.spans[-1])


def test_any_window_shows_the_same(run: Searched) -> None:
    whole = read_lives(run.reader)
    random = np.random.default_rng(3)
    seen = Counter[str]()
    for _ in range(25):
        first, end = sorted(random.choice(run.cycles, 2, replace=False).tolist())
        lives = read_lives(Cut(run.reader, first, end))
        expected = {(asked(life), told(life)): life for life in whole.lives if first < (asked(life) or 0) <= end}
        assert {(asked(life), told(life)) for life in lives.lives} == expected.keys()
        for life in lives.lives:
            other = expected[asked(life), told(life)]
            offered, *rest = (span for span in other.spans if span.first < end)
            shown = life.spans
            # What the window cuts at either side: the wait before the first read, and the last stage.
            assert (shown[0].first, shown[0].end) == (max(offered.first, first), offered.end)
            assert [span[:2] for span in shown[1:]] == [span[:2] for span in rest]
            for span, entire in zip(shown[1:], rest, strict=True):
                if span.end is None:
                    assert known(entire) >= end
                else:
                    assert span == entire
            seen[life.fate.name] += life.fate is other.fate
            assert life.fate in (other.fate, Fate.UNDER_WAY)
            assert (life.fate is Fate.UNDER_WAY) == (decided(other) >= end)
            assert life.parent is None or told(life.parent) == told(other.parent or other)
            assert life.origin is None or told(life.origin) == told(other.origin or other)
            assert life.vertex in (other.vertex, None)
            assert life.reserved in (other.reserved, None)
    assert all(seen[fate.name] for fate in (Fate.PUSHED, Fate.VISITED, Fate.EXPANDED))


def test_vertices_without_a_slot_are_dropped(tmp_path: Path) -> None:
    # Kernels push the same vertices, and there is no room for the second time.
    run = searched(tmp_path, PRESETS["test"], "hc2", executor="compiled", slack=0)
    lives = read_lives(run.reader).lives
    dropped = [life for life in lives if life.fate is Fate.NO_ROOM]
    assert run.bfs.retries > 0
    assert dropped
    for life in dropped:
        assert life.slot is not None
        assert life.spans[-1].stage in (Stage.BEHIND, Stage.SLOT)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("engine", "no kernel is shown (engine*.bfs*, engine*.intersection*), by whose signals lives are told"),
        ("engine0.bfs0.visitor.demand", ""),
        ("engine0.bfs0.visitor.pushed", "no signal engine0.bfs0.visitor.pushed"),
    ],
)
def test_missing_signals_are_named(run: Searched, missing: str, message: str) -> None:
    if run.config.bfs_kernels < 2:
        pytest.skip("one run is enough")
    reader = Cut(run.reader, 0, 50)
    present = [name for name in run.reader.names if not name.startswith(missing)]

    class Without(Cut):
        @property
        def names(self) -> list[str]:
            return present

        def values(self, name: str) -> npt.NDArray[np.uint64]:
            if name not in present:
                raise WaveFileError(f"no signal {name}")
            return super().values(name)

    cut = Without(run.reader, 0, reader.cycles)
    if not message:
        read_lives(cut)
        return
    with pytest.raises(WaveFileError) as refusal:
        read_lives(cut)
    assert str(refusal.value) == message
