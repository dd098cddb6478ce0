"""Vertices identified by the graph, with the names of its file; and the selection of lives."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.analysis.lives import (
    directions_of,
    ends_of,
    lines_of,
    name_lives,
    select,
    times_of,
    vertices_of,
    window_text,
)
from cyscc.host.command_line.main import main
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import write_graph
from cyscc.host.output.errors import InputError
from cyscc.sim.hardware import DEGREE, START, VISITED
from cyscc.sim.observation.life import Fate, Life, Lives, read_lives
from tests.life import Cut, Searched
from tests.refusals import refused
from tests.system.graphs import graph_of

STARTS = np.array([0, 0, 2, 2, 2, 3, 3], np.int64)
"""Of six vertices, those with neighbours are 1 and 4; vertex 0 begins where 1 does, 2 and 3 where 4 does."""


def word(start: int, degree: int) -> np.uint64:
    return START.put(start) | DEGREE.put(degree) | VISITED.put(start & 1)


@pytest.mark.parametrize(
    ("start", "degree", "vertex"),
    [
        (0, 2, 1),
        (2, 1, 4),
        (0, 0, 0),
        (3, 0, 5),
        (2, 0, -2),
        (0, 1, -1),
        (2, 2, -1),
        (1, 1, -1),
        (1, 0, -1),
        (4, 0, -1),
    ],
)
def test_a_word_tells_its_vertex(start: int, degree: int, vertex: int) -> None:
    assert vertices_of(STARTS, np.array([word(start, degree)])).tolist() == [vertex]


def test_no_word_and_no_vertex() -> None:
    assert vertices_of(STARTS, np.array([], np.uint64)).tolist() == []
    assert vertices_of(np.zeros(1, np.int64), np.array([word(0, 0)])).tolist() == [-1]


def key(life: Life) -> tuple[str, bool, int, int]:
    return (life.kernel, life.neighbour, life.index, life.first)


def test_what_a_window_does_not_tell_the_graph_does(search_waves: Searched) -> None:
    whole = {key(life): life.vertex for life in read_lives(search_waves.reader).lives}
    graph = replace(search_waves.graph, ids=3 * np.arange(search_waves.graph.vertices) + 7)
    first = search_waves.cycles // 2
    cut = Cut(search_waves.reader, first, first + 250)
    before, after, found = read_lives(cut), read_lives(cut), read_lives(cut)
    (address,) = {life.graph for life in after.lives}
    name_lives(after, {address: [graph]})
    worded = [life for life in after.lives if life.neighbour or life.word is not None]
    told = [life for life in worded if life.vertex is not None]
    assert [life.vertex is None for life in before.lives].count(True) > len(after.lives) - len(told)
    several = [life for life in worded if life.vertex is None]
    assert all(int(DEGREE.get(np.uint64(life.word or 0))) == 0 for life in several)
    for life in told:
        known = whole.get(key(life))
        assert known is None or life.vertex == 3 * known + 7
    assert sum(whole.get(key(life)) is not None for life in told) > len(told) // 2
    directions = directions_of(found, graph)
    assert [each.edges for each in directions[address]] == [graph.edges]
    name_lives(found, directions)
    assert [life.vertex for life in found.lives] == [life.vertex for life in after.lives]


def test_a_vertex_is_told_where_all_that_may_be_agree() -> None:
    graph = graph_of(3, [(0, 1), (1, 0), (1, 2)])
    life = Life(kernel="engine0.bfs0", run=0, neighbour=False, index=0, graph=8, word=int(word(0, 1)))
    window = Lives(0, 9, ("engine0.bfs0",), [life])
    directions = directions_of(window, graph)
    assert [each.offsets.tolist() for each in directions[8]] == [[0, 1, 3, 3], [0, 1, 2, 3]]
    name_lives(window, {8: [graph, graph_of(3, [(1, 0), (2, 0)])]})
    assert life.vertex is None
    name_lives(window, directions)
    assert life.vertex == 0


def test_another_graph_is_refused(search_waves: Searched) -> None:
    window = read_lives(search_waves.reader)
    with refused(InputError, "has no vertex number 39: it is not the graph of the run"):
        directions_of(window, graph_of(39, [(0, 1)]))
    other = Graph.from_edges(40, *np.random.default_rng(2).integers(0, 40, (2, 120), np.uint32))
    with refused(InputError, "is not the graph of the run: its vertices have other neighbours"):
        directions_of(window, other)


def test_the_command_names_vertices_as_the_file_does(
    search_waves: Searched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_graph(replace(search_waves.graph, ids=3 * np.arange(40) + 7), Path("g.txt"))
    waves = str(search_waves.path)
    assert main(["life", waves, "--graph", "g.txt", "--of", "10", "--quiet", "-o", "ten"]) == 0
    assert main(["life", waves, "--of", "1", "--quiet", "-o", "one"]) == 0
    one = Path("one").read_text()
    assert " vertex 1:" in one
    assert " vertex 10:" in Path("ten").read_text()
    assert Path("ten").read_text().count("\nI\t") == one.count("\nI\t")
    write_graph(graph_of(2, [(0, 1)]), Path("other.txt"))
    assert main(["life", waves, "--graph", "other.txt"]) == 2
    line = "other.txt: has no vertex number 39: it is not the graph of the run"
    assert capfd.readouterr().err == f"cyscc life: {line}\n"


def test_by_kernel(search_waves: Searched) -> None:
    window = read_lives(search_waves.reader)
    assert select(window) == window.lives
    assert {life.kernel for life in select(window, of=["engine1.bfs0"])} == {"engine1.bfs0"}
    assert {life.kernel for life in select(window, of=["engine1"])} == {"engine1.bfs0", "engine1.bfs1"}
    assert {life.kernel for life in select(window, of=["*.bfs1"])} == {"engine0.bfs1", "engine1.bfs1"}
    both = select(window, of=["engine0.bfs0", "engine1.bfs1"])
    assert [life for life in window.lives if life.kernel in ("engine0.bfs0", "engine1.bfs1")] == both


def test_by_vertex(search_waves: Searched) -> None:
    window = read_lives(search_waves.reader)
    lives = select(window, of=["2"])
    own = [life for life in lives if life.vertex == 2]
    assert {life.neighbour for life in own} == {False, True}
    entries = [life for life in own if not life.neighbour]
    below = [life for life in window.lives if life.parent in entries]
    assert below
    assert [life for life in window.lives if life in own or life in below] == lives


def test_the_first(search_waves: Searched) -> None:
    window = read_lives(search_waves.reader)
    lives = select(window, first=2)
    entries = [life for life in lives if not life.neighbour]
    assert entries == [life for life in window.lives if not life.neighbour][:2]
    assert [life for life in window.lives if life in entries or life.parent in entries] == lives


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("bfs0", "no kernel 'bfs0': there are engine0.bfs0 to engine1.intersection0"),
        ("engine2", "no kernel 'engine2': there are engine0.bfs0 to engine1.intersection0"),
        ("4711", "nothing of vertex 4711 begins in the window"),
    ],
)
def test_unknown_lives_are_refused(search_waves: Searched, word: str, message: str) -> None:
    with refused(InputError, message):
        select(read_lives(search_waves.reader), of=[word])


def test_what_is_shown_of_lives(search_waves: Searched) -> None:
    window = read_lives(search_waves.reader)
    chosen = window.lives[40:]
    entries = [life for life in chosen if not life.neighbour]
    below = [life for life in chosen if life.neighbour]
    first, last = window.first, window.first + window.cycles - 1
    assert window_text(window, chosen) == (
        f"cycles {first:,} to {last:,}, 6 kernels: {len(entries)} queue entries, {len(below)} neighbours"
    )
    order = []
    for life in chosen:
        if life.parent not in chosen:
            order += [life, *(each for each in chosen if each.parent is life)]
    lines = lines_of(chosen)
    assert len(lines) == len(order) == len(chosen)
    for line, life in zip(lines, order, strict=True):
        assert (line["from"], line["to"], line["kernel"]) == (life.first, life.end, life.kernel)
        place = f"{life.queue}[{life.index}]"
        if life.neighbour:
            whole = life.parent is None or life.parent in chosen
            place = f"C[{life.index}]" if whole else f"queue[{life.parent.index}] > C[{life.index}]"  # type: ignore[union-attr]
        ending = life.fate.value
        if life.fate is Fate.PUSHED:
            ending += f"{' again' * life.again} to slot {life.slot}"
        if life.fate is Fate.EXPANDED:
            degree = int(DEGREE.get(np.uint64(life.word or 0)))
            ending += f", {degree} neighbour{'s' * (degree != 1)}"
        told = [
            f"{span.stage.short} {'..' if span.end is None else span.end - span.first}"
            for span in (*life.spans, *life.aside)
        ]
        assert (line["item"].strip(), line["vertex"], line["ended"]) == (place, life.vertex, ending)
        assert line["stages"] == " ".join(told)
    assert ends_of([]) == times_of([]) == lines_of([]) == []
    assert sum(row["number"] for row in ends_of(chosen)) == len(chosen)
    assert sum(row["items"] for row in times_of(chosen)) == sum(
        span.end is not None for life in chosen for span in (*life.spans, *life.aside)
    )
