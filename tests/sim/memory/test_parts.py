"""However the service is divided into parts, everything is the same."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cyscc.sim.memory import FLUSH, Ddr4, Hbm2, Hc2, Memory, Profile, parse_profile
from cyscc.sim.memory.crossbar import Calendar, make_calendars
from tests.sim.memory.stepper import Request, hand_over, machine, read, shown, write
from tests.sim.memory.traffic import assert_same, mixed, play

PROFILES: dict[str, tuple[Profile, int]] = {
    "hc2": (Hc2(), 8),
    "hc2 with slow banks and few controllers": (Hc2(bank_busy=40, controllers=4, links=1, controller_bit=4), 4),
    "hc2 with one controller": (Hc2(controllers=1), 1),
    "hbm2": (Hbm2(), 8),
    "hbm2 with two controllers": (Hbm2(channels=2, pseudo_channels=1, links=2), 2),
    "ddr4": (Ddr4(), 4),
    "stress": (parse_profile("stress:9"), 1),
}
"""Profiles, each with the most parts that it can be divided into."""


@pytest.mark.parametrize("name", PROFILES)
def test_as_many_parts_as_threads_and_profile_can_use(name: str) -> None:
    profile, most = PROFILES[name]
    memory = machine(profile)
    found = []
    for threads in (1, 2, 3, 4, 5, 8, 9):
        memory.divide(threads)
        assert memory.model.parts == memory.parts
        found.append(memory.parts)
    assert found == [min(parts, most) for parts in (1, 2, 4, 4, 8, 8, 16)]


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("words", [8, 1 << 14])
def test_parts_give_the_same(name: str, words: int) -> None:
    profile, most = PROFILES[name]
    plan = mixed(29, engines=3, ports=6, words=words)
    results = []
    for threads in sorted({1, 2, most}):
        memory = machine(profile, engines=3, ports=6, size=1 << 19)
        memory.divide(threads)
        results.append((memory, play(memory, plan, cycles=1500, rounds="served beside", threads=3)))
        assert memory.error() is None
    for other in results[1:]:
        assert_same(*results[0], *other)
    assert sum(results[0][0].statistics().get("banks", [1])) > 0


def shorter(*arguments: Any, horizon: int, **options: Any) -> None:
    """Make calendars whose rows are reused soon, long enough for the traffic here."""
    make_calendars(*arguments, horizon=min(horizon, 900), **options)


BUSY = Hc2(reads_in_flight=8, writes_in_flight=8, banks=4, links=1, controller_bit=5)
"""With too few banks, so that many responses wait."""


def requests_of(memory: Memory, ae: int, cycle: int) -> list[Request]:
    """Return what the engine wants in a cycle, at random; in some, nothing."""
    rng = np.random.default_rng((31, ae, cycle))
    box, wanted = memory.mailboxes[ae], []
    for port in range(memory.ports):
        kind, address = int(rng.integers(0, 5)), 4096 + 8 * int(rng.integers(0, 1 << 13))
        if kind < 2 and cycle % 100 < 60 and int(box[("read_ready", "write_ready")[kind]]) >> port & 1:
            wanted.append(write(port, address, cycle) if kind else read(port, address))
    return [*wanted, (FLUSH, 0, 0, 0)] if cycle % 100 == 5 else wanted


def drive(memory: Memory, first: int, stop: int) -> list[object]:
    """Run rounds of ten cycles, and return what the engines were shown."""
    seen: list[object] = []
    for cycle in range(first, stop):
        for ae in range(memory.engines):
            if cycle % 10 == 0:
                memory.deliver(ae)
            memory.prepare(ae, cycle)
            seen.append(shown(memory.mailboxes[ae]))
            hand_over(memory.mailboxes[ae], requests_of(memory, ae, cycle))
            memory.accept(ae, cycle)
        if cycle % 10 == 9:
            for part in reversed(range(memory.parts)):
                memory.serve(part)
            memory.seal(cycle)
    memory.settle(stop - 1)
    assert memory.error() is None
    return seen


@pytest.mark.parametrize("name", PROFILES)
def test_every_link_is_of_one_part(name: str) -> None:
    profile, most = PROFILES[name]
    memory = machine(profile)
    shared = memory._state.shared
    for parts in (most, 1):
        memory.divide(parts)
        for field in [name for name, kind in profile.Shared.members.items() if kind is Calendar]:
            links = [range(*each) for each in shared[field][["first", "end"]].tolist()]
            assert [link for each in links for link in each] == list(range(shared[field]["links"][0]))
            assert {len(each) for each in links[:parts]} == {shared[field]["links"][0] // parts}


@pytest.mark.parametrize("profile", [BUSY, Hbm2()], ids=str)
def test_a_state_continues_with_other_parts(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    # Between two uses of a part the rows of its calendars are reused, and some are in use when it is used again.
    monkeypatch.setattr("cyscc.sim.memory.profiles.hc2.make_calendars", shorter)
    stops = [0, 230, 1520, 1900]
    whole = machine(profile, engines=3, ports=6)
    expected = [drive(whole, first, stop) for first, stop in pairwise(stops)]
    memory = machine(profile, engines=3, ports=6)
    for (first, stop), shares, seen in zip(pairwise(stops), [4, 1, 8], expected, strict=True):
        state = memory.save()
        memory = machine(profile, engines=3, ports=6)
        memory.divide(shares)
        memory.load(state)
        memory.check(first)
        assert drive(memory, first, stop) == seen
    assert memory.statistics() == whole.statistics()
    assert np.array_equal(memory.read(4096, np.uint64, 1 << 13), whole.read(4096, np.uint64, 1 << 13))


def test_a_change_of_parts_keeps_what_is_under_way() -> None:
    plain, changed = (machine(engines=3, ports=6) for _ in range(2))
    for threads, first in zip([8, 2, 1, 4], range(0, 800, 200), strict=True):
        changed.divide(threads)
        assert drive(changed, first, first + 200) == drive(plain, first, first + 200)
    assert changed.statistics() == plain.statistics()


@pytest.mark.parametrize("profile", [Hc2(), Hbm2()], ids=str)
def test_parts_are_recorded_as_one(profile: Profile) -> None:
    one, several = (machine(profile, engines=3, ports=6) for _ in range(2))
    several.divide(4)
    for memory in (one, several):
        memory.record(50)
        drive(memory, 0, 400)
    rows, others = (memory.drain(400) for memory in (one, several))
    assert all(np.array_equal(getattr(rows, name), getattr(others, name)) for name in ("banks", "links", "arrays"))
    assert rows.banks[:, :, 0].sum() > 500
    assert np.array_equal(one.take().banks, several.take().banks)


@pytest.mark.parametrize("cycle", range(4))
def test_the_first_of_several_errors_of_a_cycle(cycle: int) -> None:
    texts = set()
    for threads in (1, 2, 8):
        memory = machine(engines=3, ports=6)
        memory.divide(threads)
        for now in range(cycle + 1):
            for ae in range(3):
                memory.prepare(ae, now)
                if now == cycle:
                    # Each in another controller; those of an engine in the opposite order of its ports.
                    wrong = [read(port, (1 << 19) + 64 * (ae + 7 - 2 * port)) for port in (0, 1, 3)]
                    hand_over(memory.mailboxes[ae], [*wrong, write(3, (1 << 19) + 64 * ae, 0)])
                memory.accept(ae, now)
        assert memory.settle(cycle) != 0
        texts.add(memory.error())
    assert len(texts) == 1
