"""Kanata text: valid by the format's own rules, and nothing but what the lives say."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from cyscc.host.analysis.lives import kanata_lines, select, write_kanata
from cyscc.sim.observation.life import Fate, Life, Lives, Span, Stage, Wait, read_lives
from tests.life import Searched


@dataclass
class Item:
    """State of an item in the viewer."""

    begun: int
    thread: int
    left: str = ""
    hover: str = ""
    stages: dict[int, list[tuple[str, int, int | None]]] = field(default_factory=dict)
    producers: list[int] = field(default_factory=list)
    retired: tuple[int, int, int] | None = None
    """Cycle, number, kind."""


def parsed(lines: Iterable[str]) -> list[Item]:
    """Read Kanata text of version 4; every rule of the format is an assertion."""
    head, start, *rest = lines
    assert head == "Kanata\t0004\n"
    command, cycle = start.rstrip("\n").split("\t")
    assert command == "C="
    now = int(cycle)
    items: list[Item] = []
    for line in rest:
        assert line.endswith("\n")
        command, *values = line[:-1].split("\t")
        if command == "C":
            assert len(values) == 1
            assert int(values[0]) > 0
            now += int(values[0])
            continue
        number = int(values[0])
        if command == "I":
            assert number == len(items)
            items.append(Item(now, int(values[2])))
            continue
        item = items[number]
        assert item.retired is None
        match command, values[1:]:
            case "L", ["0", text]:
                item.left += text
            case "L", ["1", text]:
                item.hover += text
            case "W", [producer, "0"]:
                assert int(producer) < len(items)
                item.producers.append(int(producer))
            case "S", [lane, name]:
                stages = item.stages.setdefault(int(lane), [])
                assert all(end is not None for _, _, end in stages)
                stages.append((name, now, None))
            case "E", [lane, name]:
                started, first, end = item.stages[int(lane)].pop()
                assert (started, end) == (name, None)
                item.stages[int(lane)].append((name, first, now))
            case "R", [retirement, kind]:
                item.retired = (now, int(retirement), int(kind))
            case _:
                raise AssertionError(line)
    numbers = [item.retired[1] for item in items if item.retired and item.retired[2] == 0]
    assert sorted(numbers) == list(range(len(numbers)))
    return items


def stages(spans: list[Span], last: int) -> list[tuple[str, int, int | None]]:
    return [(span.stage.short, span.first, last if span.end is None else span.end) for span in spans]


def check(window: Lives, lives: list[Life]) -> list[Item]:
    """Check that the text of some lives agrees with them, and return it."""
    items = parsed(kanata_lines(window, lives))
    last = window.first + window.cycles
    assert len(items) == len(lives)
    for item, life in zip(items, lives, strict=True):
        assert item.begun == life.first
        assert item.thread == window.kernels.index(life.kernel)
        assert item.stages == {
            lane: stages(spans, last) for lane, spans in enumerate((life.spans, life.aside)) if spans
        }
        assert item.retired is not None
        end, _, kind = item.retired
        assert end == (last if life.end is None else life.end)
        assert kind == life.fate.dropped
        assert item.left.startswith(f"{life.kernel} ")
        assert item.hover.count("\\n") == len(life.spans) + len(life.aside) + (life.reserved is not None) + (
            life.end is None
        )
        sources = [source for source in (life.parent, life.origin) if source in lives]
        assert [lives[producer] for producer in item.producers] == sources
    return items


def test_a_search(search_waves: Searched, tmp_path: Path) -> None:
    window = read_lives(search_waves.reader)
    items = check(window, window.lives)
    assert any(item.producers for item in items)
    assert {item.retired[2] for item in items if item.retired} == {0, 1}
    write_kanata(str(tmp_path / "run.kanata"), window, window.lives)
    assert (tmp_path / "run.kanata").read_text() == "".join(kanata_lines(window, window.lives))
    some = select(window, of=["2"])
    assert 0 < len(some) < len(window.lives)
    check(window, some)


def test_what_the_window_cuts_and_what_is_beside() -> None:
    entry = Life(kernel="engine0.bfs0", run=0, neighbour=False, index=3, graph=0, word=3 << 1)
    entry.spans = [
        Span(Stage.ENTRY_OFFERED, 100, 103, ((Wait.OTHER, 2),)),
        Span(Stage.ENTRY_PORT, 103, 105, ()),
        Span(Stage.ENTRY_MEMORY, 105, None, ()),
    ]
    marked = Life(
        kernel="engine0.bfs1", run=0, neighbour=True, index=7, graph=0, parent=entry, vertex=5, fate=Fate.PUSHED
    )
    marked.spans = [Span(Stage.ENQUEUE, 104, 105, ())]
    marked.aside = [Span(Stage.LEVEL, 104, None, ())]
    window = Lives(100, 8, ("engine0.bfs0", "engine0.bfs1"), [entry, marked])
    items = check(window, window.lives)
    assert items[0].hover.split("\\n")[0] == (
        "Qo 100-102: process 1 is about to ask for the entry (another process first 2)"
    )
    assert items[0].left == "engine0.bfs0 queue[3]: under way"
    assert items[1].left == "engine0.bfs1 queue[3] > C[7] vertex 5: pushed to slot None"
    assert items[0].retired == (108, 0, 0)


def test_nothing() -> None:
    window = Lives(100, 8, ("engine0.bfs0",), [])
    assert list(kanata_lines(window, [])) == ["Kanata\t0004\n", "C=\t100\n"]
    assert parsed(kanata_lines(window, [])) == []
