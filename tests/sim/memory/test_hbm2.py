"""The profile `hbm2`: its times by hand, against a bank played command by command, and what each parameter does."""

import dataclasses
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from cyscc.sim.configuration import PRESETS
from cyscc.sim.machine import create_machine
from cyscc.sim.memory import Hbm2, profile_from
from tests.sim.memory.stepper import Stepper, machine, read
from tests.sim.memory.traffic import mixed, play, requests

HBM2 = Hbm2()
FIRST = 4096
"""The first address that there is."""
NO_WAY = {"request_travel": 0, "response_travel": 0, "way_there": 0, "way_back": 0, "flush_travel": 10}
SAME_CLOCK = {"machine_mhz": 900, "memory_mhz": 900}
PLAIN = Hbm2(**SAME_CLOCK, **NO_WAY)
"""A cycle of the machine is a clock of the memory, and nothing is between them."""


def address_of(profile: Hbm2, *, row: int = 0, column: int = 0, group: int = 0, bank: int = 0, channel: int = 0) -> int:
    """Return the address of a burst, from a table of the profile's own functions."""
    assert (profile.low_groups, profile.low_columns, profile.channel_bit) == (1, 5, 6)
    inside = group & 1 | column << 1 | bank << 6 | group >> 1 << 8 | row << 9
    below = inside & 1
    return below << 5 | channel << 6 | inside >> 1 << 11


def far(profile: Hbm2 = HBM2, **place: int) -> int:
    """Return an address beyond those that no memory has."""
    return address_of(profile, **{"row": 1, **place})


def times(profile: Hbm2, *, gap: int = 400, ports: int = 1, accesses: list[tuple[int, ...]]) -> list[int]:
    """Return the latencies of consecutive reads, with a number of idle cycles after each."""
    bench = Stepper(machine(profile, ports=ports, size=1 << 22, capacity=1 << 23))
    found = []
    for together in accesses:
        begin = bench.cycle
        bench.step([read(port, address) for port, address in enumerate(together)])
        found += [cycle - begin for cycle, view in bench.run(gap) for _ in view.responses]
    assert bench.memory.error() is None
    return found


@pytest.mark.parametrize(("name", "time"), [("refresh", -(1 << 60)), ("activated", 1 << 60)])
def test_impossible_times_are_refused(name: str, time: int) -> None:
    bench = Stepper(machine(HBM2, ports=1, size=1 << 22, capacity=1 << 23))
    state = bench.memory._state
    HBM2.check(state, ports=1)
    state.arena.at(state.shared["banks"][0])[name][0] = time
    with pytest.raises(ValueError, match="the memory's times of banks are impossible"):
        HBM2.check(state, ports=1)


def test_place_of_an_address() -> None:
    places = {"row": 5, "column": 19, "group": 3, "bank": 2, "channel": 17}
    address = address_of(HBM2, **places)
    inside = HBM2.within(address)
    assert HBM2.channel_of(address) == HBM2.link_of(address) == 17
    assert HBM2.bank_within(inside) == 3 * 4 + 2
    assert HBM2.bank_of(address) == HBM2.bank_of(address + 31) == 17 * 16 + 14
    contention = HBM2.contention
    words = np.arange(1 << 17)
    assert np.array_equal(contention.bank_by_word[words % contention.bank_by_word.size], HBM2.bank_of(8 * words))  # type: ignore[arg-type]
    assert np.array_equal(np.bincount(contention.bank_by_word), np.full(512, 128))


def test_other_maps() -> None:
    # Row, bank, column; and row, column, bank; in blocks of 1 KB a pseudo-channel.
    blocks = Hbm2(channel_bit=10, low_groups=0)
    assert [blocks.bank_of(1024 * n) for n in (0, 1, 31, 32, 64, 32 * 16)] == [0, 16, 31 * 16, 1, 2, 0]
    spread = Hbm2(channel_bit=5, low_groups=0, low_columns=0)
    assert [spread.bank_of(32 * 32 * n) for n in (0, 1, 3, 4, 15, 16)] == [0, 1, 3, 4, 15, 0]
    assert Hbm2(links=2).link_of(far(bank=1, channel=3)) == 7


def test_a_row_that_is_open_closed_and_another_as_measured_on_the_board() -> None:
    # 48, 55 and 62 cycles of 450 MHz at the AXI port; the way there from a link is not in them.
    board = Hbm2(machine_mhz=450, request_travel=0, response_travel=0)
    assert times(board, accesses=[(far(),), (far(),), (far(row=2),)]) == [55, 48, 62]
    # At 150 MHz a third of that, to the next cycle, and 4 cycles each way.
    assert times(HBM2, gap=100, accesses=[(far(),), (far(),), (far(row=2),)]) == [27, 24, 29]
    assert (HBM2.unloaded_latency, HBM2.quantum) == (24, 24)


@pytest.mark.parametrize(
    ("mhz", "latency"), [(100, 8 + 11), (150, 8 + 16), (200, 8 + 22), (300, 8 + 32), (333, 8 + 36)]
)
def test_clocks_of_any_ratio(mhz: int, latency: int) -> None:
    profile = Hbm2(machine_mhz=mhz)
    assert profile.unloaded_latency == latency == 8 + ceil(Fraction(96 * mhz, 900))
    assert times(profile, gap=150, accesses=[(far(),), (far(),)])[1] - latency in (0, 1)


def test_what_banks_share_is_booked_in_windows() -> None:
    opened = [(far(),), (far(group=1),), (far(group=2),), (far(group=3),), (far(bank=1),)]
    for together, expected in (
        # Of one bank and of two banks of a group: a column command in 4 clocks. The first two begin in cycle 2005,
        # whose window of the bank group has 3 clocks left.
        ((far(), far(column=3)), [15, 18]),
        ((far(), far(bank=1)), [15, 18]),
        # Of different groups: a burst in 2 clocks.
        ((far(), far(group=1)), [15, 16]),
        ((far(), far(group=1), far(group=2), far(group=3)), [15, 16, 18, 20]),
        # Rows of different banks: one in 4 clocks.
        ((far(bank=2), far(bank=3, group=1)), [29, 33]),
        # Other pseudo-channels share nothing but the port.
        ((far(), far(channel=1, bank=1)), [15, 29]),
    ):
        bench = times(PLAIN, ports=4, accesses=[*opened, together])
        assert bench[5:] == expected, together


def test_no_request_is_merged_with_another() -> None:
    assert times(PLAIN, ports=2, accesses=[(far(),), (far() + 8, far() + 16)]) == [29, 15, 18]


def test_refresh_closes_rows_and_delays_accesses() -> None:
    # That of pseudo-channel 0 is due at 3510 clocks, of the next one 109 later; 14 + 234 of them are lost.
    profile = dataclasses.replace(PLAIN, refresh_stagger=109)
    bench = Stepper(machine(profile, size=1 << 22, capacity=1 << 23))

    def at(cycle: int, address: int) -> int:
        bench.run(cycle - bench.cycle)
        bench.step([read(0, address)])
        return bench.run(500)[0][0] - cycle

    assert at(2000, far()) == 29
    assert at(2600, far()) == 15
    # The row is open still, so there is time; another could not be opened before.
    assert at(3509, far()) == 15
    assert at(3510 * 2 - 14, far()) == 14 + 248 + 14 + 15
    assert at(3510 * 3 + 100, far()) == 148 + 14 + 15
    assert at(3510 * 4 + 248, far()) == 29
    # The next pseudo-channel's comes later.
    assert at(3510 * 6 + 100, far(channel=1)) == 9 + 248 + 29
    assert bench.memory.statistics()["refresh"] == {"accesses": 3, "waiting_cycles": 14 + 248 + 148 + 9 + 248}
    assert bench.memory.error() is None


def bank_of_commands(profile: Hbm2, accesses: list[tuple[int, int, bool]]) -> list[int]:
    """Play accesses (cycle, row, reads) of one bank command by command, clock by clock; return the column commands.

    Nothing but the times between commands is known here; each is tried in every clock until all allow it.
    """
    commands: list[tuple[str, int]] = []
    found: list[int] = []
    opened, clock = None, 0
    ends = profile.t_cwl + profile.burst

    def since(clock: int, gaps: dict[str, int]) -> bool:
        return all(clock - when >= gaps[name] for name, when in commands if name in gaps)

    for begin, row, reads in accesses:
        clock = max(clock, begin)
        if opened != row:
            if opened is not None:
                while not since(clock, {"open": profile.t_ras, "read": profile.t_rtp, "write": ends + profile.t_wr}):
                    clock += 1
                commands.append(("close", clock))
            while not since(clock, {"close": profile.t_rp, "open": profile.t_ras + profile.t_rp}):
                clock += 1
            commands.append(("open", clock))
            opened = row
        gaps = {"open": profile.t_rcd} | ({"write": ends + profile.t_wtr} if reads else {})
        while not since(clock, gaps):
            clock += 1
        # A window of a bank group has one of them.
        while found and clock // profile.t_ccd_l <= found[-1] // profile.t_ccd_l:
            clock += 1
        commands.append(("read" if reads else "write", clock))
        found.append(clock)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_a_bank_keeps_the_times_between_commands(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # A burst of one clock moves nothing; the refresh is after the end. No row comes twice, so that no read joins one.
    profile = Hbm2(**SAME_CLOCK, **NO_WAY, burst=1, t_rrd=1, t_faw=4, t_refi=100_000)
    count = 60
    after = np.cumsum(rng.integers(0, 40, count))
    rows = 1 + np.cumsum(rng.random(count) < 0.5)
    reads = rng.random(count) < 0.6
    plan = requests(count=count, after=after, kind=np.where(reads, 0, 1))
    plan["address"] = [address_of(profile, row=int(row), column=k % 32) for k, row in enumerate(rows)]
    memory = machine(profile, size=1 << 26, capacity=1 << 27)
    played = play(memory, plan, cycles=8000)
    assert memory.error() is None
    # Requests of a port enter a link one a cycle.
    entries = played.accepted[0, 0].copy()
    columns = bank_of_commands(profile, list(zip(entries.tolist(), rows.tolist(), reads.tolist(), strict=True)))
    expected = [
        column + profile.t_cl + profile.burst for column, is_read in zip(columns, reads, strict=True) if is_read
    ]
    assert played.seen[0, 0][: len(expected)].tolist() == expected
    statistics = memory.statistics()["rows"]
    changes = int(np.count_nonzero(np.diff(rows)))
    assert (statistics["closed"], statistics["conflicts"]) == (1, changes)
    assert statistics["hits"] == count - 1 - changes


def signature(profile: Hbm2) -> list[object]:
    """Return all that can be seen of a game on few banks with many rows, over several refreshes."""
    plan = mixed(3, engines=2, ports=8, words=1, count=400)
    rng = np.random.default_rng(3)
    plan["address"] = 1 << 20 | (rng.integers(0, 1 << 9, plan.shape) << 12 | rng.integers(0, 64, plan.shape) << 3) & ~(
        1 << 17
    )
    plan["after"] *= 2
    memory = machine(profile, engines=2, ports=8, size=1 << 22, capacity=1 << 23)
    played = play(memory, plan, cycles=4000)
    assert memory.error() is None
    statistics = memory.statistics()
    found = [played.accepted.tolist(), played.seen.tolist(), played.flushed.tolist()]
    return [*found, statistics["waiting_cycles"], statistics["banks"]]


CHANGED = {
    "machine_mhz": 300,
    "memory_mhz": 700,
    "refresh_stagger": 109,
    "port_queue": 1,
    "reads_in_flight": 3,
    "writes_in_flight": 1,
    "links": 2,
    "low_groups": 0,
    "low_columns": 0,
    "t_faw": 32,
    "t_refi": 700,
    "t_rrd": 12,
    "t_rfc": 900,
    "t_ccd_l": 12,
    "burst": 6,
    "burst_bytes": 64,
    "activate_clocks": 8,
    "precharge_clocks": 8,
    "entries": 2,
    "write_batch": 1,
    "t_rtw": 200,
}


@pytest.fixture(scope="module")
def usual() -> list[object]:
    return signature(HBM2)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Hbm2)])
def test_each_parameter_has_an_effect(name: str, usual: list[object]) -> None:
    value = CHANGED.get(name, 2 * getattr(HBM2, name))
    assert signature(Hbm2(**{name: value})) != usual


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"channels": 24}, "memory channels must be a power of two, not 24"),
        ({"low_groups": 3}, "memory low_groups must be at most 2 with so many groups, not 3"),
        ({"columns": 16}, "memory low_columns must be at most 4 with so many columns, not 5"),
        ({"t_refi": 248}, "memory t_refi must be more than t_rp and t_rfc together, not 248"),
    ],
)
def test_bad_mapping(mapping: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the message is compared
        profile_from({"profile": "hbm2", **mapping})
    assert str(caught.value).startswith(message)


def test_saturated_pseudo_channels_reach_their_limits() -> None:
    # One pseudo-channel, a row open in each of 4 groups: a burst in 2 clocks, less what refresh takes.
    plan = requests(engines=4, ports=16, count=400)
    for ae, port in np.ndindex(4, 16):
        plan["address"][ae, port] = far(group=port % 4)
    cycles = 2400
    played = play(machine(HBM2, engines=4, ports=16, size=1 << 22, capacity=1 << 23), plan, cycles=cycles)
    # Half of the time between two refreshes, after the rows are open.
    answered = np.count_nonzero((played.seen >= 100) & (played.seen < 550))
    assert answered == pytest.approx(450 * 3, rel=0.02)
    over = np.count_nonzero((played.seen >= 700) & (played.seen < 700 + 2 * 585))
    assert over == pytest.approx(2 * 585 * 3 * (1 - 248 / 3510), rel=0.03)


def test_random_rows_reach_the_rate_of_opening_them() -> None:
    rng = np.random.default_rng(1)
    # All in one pseudo-channel, of 99 rows of its 16 banks.
    plan = requests(engines=4, ports=16, count=300)
    row, bank, group = (rng.integers(low, high, plan.shape) for low, high in ((1, 100), (0, 4), (0, 4)))
    plan["address"] = (group & 1) << 5 | bank << 16 | group >> 1 << 18 | row << 19
    memory = machine(HBM2, engines=4, ports=16, size=1 << 26, capacity=1 << 27)
    played = play(memory, plan, cycles=3000)
    assert memory.error() is None
    rate = np.count_nonzero((played.seen >= 300) & (played.seen < 300 + 2 * 585)) / (2 * 585)
    # Three activates in two cycles, in the time that refresh leaves; now and then a row is open.
    opening = 3 / 2 * (1 - 248 / 3510)
    assert 0.8 * opening < rate <= 1.02 * opening


def test_a_backlog_is_refreshed_too() -> None:
    # More than the pseudo-channel opens: what waits for an activate does not begin in a refresh.
    slow = Hbm2(t_rrd=32)
    rng = np.random.default_rng(2)
    plan = requests(engines=4, ports=16, count=100)
    plan["address"] = (rng.integers(1, 100, plan.shape) << 19) | (rng.integers(0, 4, plan.shape) << 16)
    played = play(machine(slow, engines=4, ports=16, size=1 << 26, capacity=1 << 27), plan, cycles=9 * 585)
    answers = np.count_nonzero((played.seen >= 585) & (played.seen < 8 * 585))
    opened = 7 * (3510 - 248) / 32
    assert 0.9 * opened < answers < 1.05 * opened


def test_a_machine_with_another_clock_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^memory machine_mhz is 300, and clock_mhz of the configuration 150: say one "
    ):
        create_machine(PRESETS["test"], Hbm2(machine_mhz=300))
