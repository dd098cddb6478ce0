"""Points by name: their meanings, and refusals."""

import pytest

from cyscc.host.replay.point import CAUSE_EVENTS, EVENTS, Point

THERE = f"a cycle, level=, {', '.join(EVENTS)}, wait=, fifo=, vertex="


@pytest.mark.parametrize(
    ("text", "point", "shown"),
    [
        ("120000", Point(cycle=120_000), "cycle 120,000"),
        ("12e4", Point(cycle=120_000), "cycle 120,000"),
        ("level=3", Point(level=3), "level=3"),
        ("level=2^3", Point(level=8), "level=8"),
        ("phase=backward,iteration=5", Point(iteration=5, phase="backward"), "iteration=5,phase=backward"),
        (
            "slot,engine=0,kernel=3,level=3",
            Point(event="slot", engine=0, kernel=3, level=3),
            "slot,level=3,engine=0,kernel=3",
        ),
        ("full:words,module=intersection", Point(event="full", fifo="words", module="intersection"), None),
        ("start", Point(), "start"),
        ("level=3,nth=2", Point(level=3, nth=2), None),
        ("wait=slot,longer=200,engine=1,nth=3", Point(event="wait", cause="slot", longer=200, engine=1, nth=3), None),
        ("level=3,wait=any", Point(event="wait", cause="any", level=3), "wait=any,level=3"),
        ("fifo=visits,above=60", Point(event="fifo", fifo="visits", above=60), None),
    ],
)
def test_points(text: str, point: Point, shown: str | None) -> None:
    assert Point.parse(text) == point
    assert str(point) == (text if shown is None else shown)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "",
            f"no point '': there are {THERE}",
        ),
        (
            "slots",
            f"no point 'slots': there are {THERE}",
        ),
        (
            "slot:words",
            f"no point 'slot:words': there are {THERE}",
        ),
        (
            "-5",
            f"no point '-5': there are {THERE}",
        ),
        ("12x", "a cycle: '12x' is not an integer"),
        ("500,level=3", "'500,level=3' is a cycle, and nothing can be said about it"),
        ("slot,level=x", "level: 'x' is not an integer"),
        ("iteration=0", "iteration: must be at least 1, not 0"),
        ("phase=sideways", "phase must be forward or backward or intersection, not 'sideways'"),
        (
            "slot,bank=3",
            "'bank=3' restricts nothing: there are longer, above, level, iteration, engine, kernel, nth, phase, module",
        ),
        ("slot,level=1,level=2", "level is there twice in 'slot,level=1,level=2'"),
        ("level=1,kernel=3", "kernel says nothing about start"),
        ("duplicate,engine=1", "engine says nothing about duplicate"),
        ("slot,longer=3", "longer says nothing about slot"),
        ("wait=slot,above=3", "above says nothing about wait"),
        ("error,nth=2", "nth says nothing about error"),
        ("wait=no_work", f"there is no wait 'no_work': there are any, {', '.join(CAUSE_EVENTS)}"),
        ("slot,wait=credit", "'slot,wait=credit' names two events"),
        ("slot,nth=0", "nth: must be at least 1, not 0"),
    ],
)
def test_refusals(text: str, why: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011  # the whole message is compared
        Point.parse(text)
    assert str(refused.value) == why
