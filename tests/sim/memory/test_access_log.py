"""The log of accesses against the requests that were played, and what is left out of it."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cyscc.sim.memory import WRITE, Memory, Profile, WatchedRange, parse_profile
from tests.sim.memory.test_recording import CYCLES, ENGINES, PORTS, SMALL, answered, placed, traffic
from tests.sim.memory.traffic import Played, Rounds, play

EVERY = WatchedRange(start=0, end=1 << 40)


def logged(
    profile: Profile, *ranges: WatchedRange, rounds: Rounds = "settled", span: int = CYCLES, **window: int
) -> tuple[NDArray[np.void], list[dict[str, Any]], Memory]:
    """Return the log of some traffic, what a list of its requests says of the same accesses, and the memory."""
    memory, places = placed(profile)
    plan = answered(traffic(places))
    log = memory.log_accesses(span=span)
    log.choose(ranges, **window)
    played = play(memory, plan, cycles=CYCLES, rounds=rounds, threads=2)
    assert memory.error() is None
    return log.take(), list(requested(plan, played)), memory


def requested(plan: NDArray[np.void], played: Played) -> list[dict[str, Any]]:
    """Return the accesses in the order of their AE and port, with the answers of reads."""
    found = []
    for ae, port in np.ndindex(ENGINES, PORTS):
        reads = 0
        for number, (request, cycle) in enumerate(zip(plan[ae, port], played.accepted[ae, port], strict=True)):
            if cycle < 0 or request["kind"] > WRITE:
                continue
            write = bool(request["kind"] == WRITE)
            access = {"cycle": int(cycle), "engine": ae, "port": port, "write": write, "tag": number & 0x7FFF}
            access["address"] = int(request["address"])
            data = int(request["data"]) & (2 ** (8 * int(request["size"])) - 1)
            if not write:
                access["answered"], data = (
                    int(played.seen[ae, port, reads]),
                    int(played.data[ae, port, reads]) & (2**64 - 1),
                )
                reads += 1
            found.append(access | {"data": data})
    return found


def differing(log: NDArray[np.void], found: list[dict[str, Any]]) -> list[Any]:
    """Return the rows of a log that differ from the accesses, in the order of AE, port and cycle."""
    rows = log[np.lexsort((log["write"], log["cycle"], log["port"], log["engine"]))]
    found = sorted(found, key=lambda access: [access[name] for name in ("engine", "port", "cycle", "write")])
    assert len(rows) == len(found)
    names = ("cycle", "engine", "port", "write", "address", "data", "answered", "tag")
    return [
        (name, row, access)
        for row, access in zip(rows, found, strict=True)
        for name in names
        if name in access and not (name == "tag" and access["write"]) and row[name] != access[name]
    ]


@pytest.mark.parametrize(
    ("profile", "rounds"), [(SMALL, "settled"), (SMALL, "served beside"), (parse_profile("fixed:30"), "settled")]
)
def test_log_has_every_access(profile: Profile, rounds: Rounds) -> None:
    log, found, _ = logged(profile, EVERY, rounds=rounds)
    assert len(log) > 500
    assert not differing(log, found)
    writes = log[log["write"]]
    assert np.all(writes["answered"] >= writes["cycle"])


def test_log_has_only_what_was_chosen() -> None:
    _, found, _ = logged(SMALL)
    address, data = found[0]["address"], found[-1]["data"]
    ranges = [
        WatchedRange(start=address, end=address + 64),
        WatchedRange(start=0, end=1 << 40, mask=255, value=data & 255),
    ]
    log, found, _ = logged(SMALL, *ranges, first=20, end=150)
    expected = [
        access
        for access in found
        if 20 <= access["cycle"] < 150
        and (address <= access["address"] < address + 64 or access["data"] & 255 == data & 255)
    ]
    assert 0 < len(expected) < len(found)
    assert not differing(log, expected)


def test_lost_accesses_and_a_second_log_are_refused() -> None:
    memory, places = placed(SMALL)
    log = memory.log_accesses(span=1)
    log.choose([EVERY])
    play(memory, traffic(places), cycles=CYCLES)
    with pytest.raises(ValueError, match=r"^the log of accesses has room for \d+, and there were \d+$"):
        log.take()
    with pytest.raises(ValueError, match=r"^a log of accesses takes at most 256 ranges, not 257$"):
        log.choose([EVERY] * 257)
    with pytest.raises(ValueError, match=r"^the memory keeps a record already$"):
        memory.log_accesses(span=1)
    with pytest.raises(ValueError, match=r"^the memory keeps a record already$"):
        memory.record(1)
