"""Which lives are shown, and which questions are refused."""

import pytest

from host.errors import InputError
from host.life.kanata import select
from sim.observation.life import read_lives
from tests.life import Searched


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
def test_refused(search_waves: Searched, word: str, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        select(read_lives(search_waves.reader), of=[word])
    assert str(refusal.value) == message
