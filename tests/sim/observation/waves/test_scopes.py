"""Globs over dotted paths."""

import pytest

from cyscc.sim.observation.waves.variables import Scopes

PATHS = [
    ("engine0", "bfs10", "cause"),
    ("engine0", "bfs2", "queue", "level"),
    ("engine0", "bfs2", "cause"),
    ("engine1", "shell", "token_in", "valid"),
]


@pytest.mark.parametrize(
    ("globs", "wanted"),
    [
        ((), [0, 1, 2, 3]),
        (("engine0",), [0, 1, 2]),
        (("engine0.bfs2",), [1, 2]),
        (("engine0.bfs2.*",), [1, 2]),
        (("*.cause",), [0, 2]),
        (("engine?.bfs[2-3].cause",), [2]),
        (("*.token_*", "engine0.bfs10"), [0, 3]),
        (("engine0.bfs1",), []),
        (("bfs2",), []),
    ],
)
def test_what_globs_select(globs: tuple[str, ...], wanted: list[int]) -> None:
    scopes = Scopes(globs)
    assert [number for number, path in enumerate(PATHS) if path in scopes] == wanted


@pytest.mark.parametrize(
    ("glob", "message"),
    [
        ("kernel", "scope kernel: matches no signal: the machine has engine0, engine1"),
        ("engine0.bfs1", "scope engine0.bfs1: matches no signal: engine0 has bfs2, bfs10"),
        ("engine0.bfs2.queue.depth", "scope engine0.bfs2.queue.depth: matches no signal: engine0.bfs2.queue has level"),
        ("engine0.bfs2.cause.x", "scope engine0.bfs2.cause.x: matches no signal: engine0.bfs2 has queue"),
    ],
)
def test_one_that_selects_nothing(glob: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^scope") as refusal:
        Scopes(("engine0", glob)).check(PATHS)
    assert str(refusal.value) == message


def test_no_more_than_a_few_are_shown() -> None:
    with pytest.raises(ValueError, match=r"has bfs0, bfs1, bfs2, bfs3, bfs4, bfs5, bfs6, bfs7, \.\.\.$"):
        Scopes(("engine0.x",)).check([("engine0", f"bfs{number}", "cause") for number in range(16)])
