"""Places: their texts, and what commands take of them."""

import numpy as np
import pytest

from cyscc.host.specification.place import KERNEL, TAKEN, Place


@pytest.mark.parametrize(
    ("text", "place", "shown"),
    [
        ("120000", Place(cycles=(120_000, 120_000)), None),
        ("12e4", Place(cycles=(120_000, 120_000)), "120000"),
        ("1000:2000", Place(cycles=(1000, 2000)), None),
        ("5:5,bank=3.17", Place(cycles=(5, 5), bank=(3, 17)), "5,bank=3.17"),
        ("level=3", Place(level=(3, 3)), None),
        ("level=2^3", Place(level=(8, 8)), "level=8"),
        (
            "level=3-5,iteration=2,phase=backward",
            Place(level=(3, 5), iteration=(2, 2), phase="backward"),
            "iteration=2,phase=backward,level=3-5",
        ),
        ("engine=0,kernel=3", Place(engine=0, kernel=3), None),
        (
            "slot,engine=0,kernel=3,level=3",
            Place(cause="slot", engine=0, kernel=3, level=(3, 3)),
            "cause=slot,level=3,engine=0,kernel=3",
        ),
        ("event=slot", Place(cause="slot"), "cause=slot"),
        ("wait=slot,longer=200,nth=3", Place(cause="slot", longer=200, nth=3), "cause=slot,longer=200,nth=3"),
        ("level=3,wait=any", Place(cause="any", level=(3, 3)), "cause=any,level=3"),
        ("full:words,module=bfs", Place(event="full", fifo="words", module="bfs"), "full,fifo=words,module=bfs"),
        ("fifo=words,above=60", Place(fifo="words", above=60), None),
        ("overflow", Place(event="overflow"), None),
        ("event=overflow,level=2", Place(event="overflow", level=(2, 2)), "overflow,level=2"),
        ("vertex=4711,nth=2", Place(vertex=4711, nth=2), None),
        ("start", Place(), None),
        ("start,nth=2", Place(nth=2), "nth=2"),
    ],
)
def test_places(text: str, place: Place, shown: str | None) -> None:
    assert Place.parse(text) == place
    assert str(place) == (text if shown is None else shown)
    assert Place.parse(str(place)) == place


def test_places_of_parts() -> None:
    assert Place.of(np.int64(7)) == Place(cycles=(7, 7))
    assert Place.of() == Place.of("start") == Place()
    together = Place(level=(3, 5), bank=(3, 17), phase="forward", engine=1)
    assert Place.of("level=3-5", bank=(3, 17), phase="forward", engine=np.int32(1)) == together
    assert Place.of(together, kernel=None) == together
    with pytest.raises(ValueError, match=r"^level is there twice: in level=3, and 4$"):
        Place.of("level=3", level=4)


def test_cycles_of_intervals() -> None:
    assert Place.parse("64:127").widened(64) == ((64, 127), "")
    said = "the record has intervals of 64 cycles, so 100,level=2 is shown as 64:127"
    assert Place.parse("100,level=2").widened(64) == ((64, 127), said)
    assert Place.parse("level=2").widened(64) == (None, "")


def test_takers_know_parts_only() -> None:
    known = {"cycles", *Place.__dataclass_fields__}
    assert all(set(parts) <= known for parts in TAKEN.values())
    assert Place.parse("engine=0,kernel=3").taken("events").given == KERNEL[::2]
