"""DRAM profiles alone: what requests of a channel, a controller and a bank wait for, and the figures of a simulator."""

import numpy as np
import pytest

from cyscc.host.experiments.studies.dram import FIGURES, traffic_of
from cyscc.host.experiments.studies.rows import PUBLISHED, printed
from cyscc.sim.memory import Ddr4, Hbm2, Profile, changed_profile, parse_profile
from cyscc.sim.memory.alone import alone, play

HBM2, DDR4 = Hbm2(), Ddr4()
REFERENCE = printed("dram", texts=("memory", "pattern"), folder=PUBLISHED)
OWN = {"hbm2": 128, "ddr4": 32}
"""Entries of the profiles."""
OFTEN = (0.5, 4.0, 0.2, 0.4)
"""Offered loads that are always compared."""


def place(profile: Hbm2 | Ddr4, *, row: int = 1, group: int = 0, bank: int = 0, channel: int = 0) -> int:
    """Return an address of a place, looked for among all of the first rows."""
    rows = profile.groups * profile.banks * profile.columns * profile.burst_bytes * profile.channels
    addresses = np.arange(row * rows, (row + 1) * rows, profile.burst_bytes)
    wanted = (channel * profile.groups + group) * profile.banks + bank
    return int(addresses[profile.bank_of(addresses) == wanted][0])  # type: ignore[arg-type]


def latencies(profile: Profile, addresses: list[int], clocks: list[int] | None = None) -> list[int]:
    """Return the clocks of reads, by default of those that come together."""
    found = play(profile, addresses, [False] * len(addresses), clocks=clocks or [100] * len(addresses))
    return found.latencies.tolist()


@pytest.mark.parametrize(("profile", "times"), [(HBM2, (29, 15, 43)), (DDR4, (36, 20, 52))])
def test_lone_reads(profile: Hbm2, times: tuple[int, ...]) -> None:
    # The row is closed; open; another one is open.
    reads = [place(profile), place(profile), place(profile, row=2)]
    assert tuple(latencies(profile, reads, [100, 300, 500])) == times


def test_the_row_commands_of_a_controller_are_shared() -> None:
    # An activate takes two clocks, that of the other pseudo-channel waits; the next controller has its own.
    assert latencies(HBM2, [place(HBM2, channel=number) for number in (0, 1, 2)]) == [29, 31, 29]
    single = changed_profile(HBM2, {"pseudo_channels": 1})
    assert latencies(single, [place(HBM2, channel=number) for number in (0, 1, 2)]) == [29, 29, 29]


@pytest.mark.parametrize("clock", [100, 127])
def test_an_activate_begins_before_its_clock(clock: int) -> None:
    # That of the other pseudo-channel takes this clock; calendars have blocks of 64.
    both = [place(HBM2, channel=number) for number in (0, 1)]
    assert latencies(HBM2, both, [clock, clock + 1]) == [29, 30]


@pytest.mark.parametrize(("within", "last"), [(0, 12), (16, 16), (20, 20), (32, 32)])
def test_no_five_activates_come_in_less_than_their_time(within: int, last: int) -> None:
    profile = changed_profile(HBM2, {"t_rrd": 3, "t_faw": within, "activate_clocks": 1})
    five = [place(HBM2, group=number % 4, bank=number // 4) for number in range(5)]
    assert latencies(profile, five) == [29 + number for number in (0, 3, 6, 9, last)]


def test_an_activate_between_others_keeps_the_time_of_five() -> None:
    # The bank of the second is open elsewhere, so that its activate is late, and the others are before it.
    profile = changed_profile(HBM2, {"t_rrd": 1, "t_faw": 30, "activate_clocks": 1})
    banks = [(0, 0), (0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (1, 1)]
    reads = [place(HBM2, group=group, bank=bank, row=1 + (number == 1)) for number, (group, bank) in enumerate(banks)]
    opened = [100 + each - 15 - 14 for each in latencies(profile, reads, [100, *[100] * 6])]
    ordered = sorted(opened)
    assert all(later - first >= 30 for first, later in zip(ordered, ordered[4:], strict=False))


def test_a_column_that_others_push_into_a_refresh_comes_after_it() -> None:
    # It is due in clock 3510, and takes 248.
    assert latencies(HBM2, [place(HBM2)] * 3, [3000, 3508, 3508]) == [29, 15, 2 + 248 + 29]


def test_a_full_window_takes_a_request_when_another_has_its_column() -> None:
    narrow = changed_profile(HBM2, {"entries": 1})
    one, other = place(HBM2), place(HBM2, group=1)
    assert latencies(HBM2, [one, other]) == [29, 33]
    assert latencies(narrow, [one, other]) == [29, 14 + 1 + 29]
    # Reads and writes have windows of their own.
    mixed = play(narrow, [one, other], [True, False], clocks=[100, 100])
    assert mixed.latencies.tolist() == [14 + 4 + 2, 33]


def test_a_read_joins_a_row_that_is_to_be_closed() -> None:
    # The third comes when its row's precharge is due but not there: t_ras after its activate.
    row, another = place(HBM2), place(HBM2, row=2)
    first, second, third = latencies(HBM2, [row, another, row + 2048], [100, 101, 118])
    assert (first, second, third) == (29, 31 + 43 - 1, 15)
    # Later it does not fit before the precharge, and waits for the other row.
    assert latencies(HBM2, [row, another, row + 2048], [100, 101, 126])[2] > 43
    assert play(HBM2, [row, another, row + 2048], [False] * 3, clocks=[100, 101, 118]).row_hit_share == pytest.approx(
        1 / 3
    )


def test_the_bus_turns_for_each_batch_of_writes() -> None:
    count = 4000
    addresses = place(HBM2) + 32 * (np.arange(count) % 2)
    rates = {
        batch: play(
            changed_profile(HBM2, {"write_batch": batch, "t_refi": 100_000}), addresses, np.ones(count), outstanding=64
        ).rate_per_clock
        for batch in (1, 10, 1024)
    }
    lost = HBM2.t_rtw + HBM2.t_cwl + HBM2.t_wtr
    for batch, rate in rates.items():
        assert rate == pytest.approx(1 / (HBM2.burst + (lost + 1) // 2 * 2 / batch), rel=0.02)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=() if own and row["offered_per_clock"] in OFTEN else pytest.mark.long)
        for row in REFERENCE
        for own in [row["entries"] == OWN[row["memory"]]]
    ],
    ids=lambda row: "-".join(str(row[name]) for name in ("memory", "seed", "offered_per_clock", "entries")),
)
def test_rates_and_latencies_are_those_of_the_reference(row: dict[str, float | str]) -> None:
    profile = changed_profile(parse_profile(str(row["memory"])), {"entries": int(row["entries"])})
    addresses, writes, clocks = traffic_of(row)
    found = play(profile, addresses, writes, clocks=clocks, outstanding=int(row["outstanding"]))
    own = {name: getattr(found, name) for name in FIGURES}
    if row["write_share"]:
        # With writes the reference counts otherwise; what is completed is alike.
        assert own["rate_per_clock"] == pytest.approx(row["rate_per_clock"], rel=0.1)
        return
    saturated = bool(row["outstanding"])
    assert own["rate_per_clock"] == pytest.approx(row["rate_per_clock"], rel=0.08)
    assert own["read_mean_clocks"] == pytest.approx(row["read_mean_clocks"], rel=0.15 if saturated else 0.08)


@pytest.mark.parametrize("name", ["hbm2", "ddr4", "hc2", "fixed:75", "stress:1"])
def test_every_profile_plays_alone(name: str) -> None:
    profile = parse_profile(name)
    found = play(profile, 4096 + 64 * np.arange(100), np.arange(100) % 3 == 0, outstanding=4)
    assert found.rate_per_clock > 0
    assert (found.row_hit_share is None) == (name not in OWN)
    assert getattr(alone(profile), "way_there", 0) == 0


def test_addresses_in_other_channels() -> None:
    addresses = np.arange(4096, 1 << 16, 8)
    channels = np.arange(addresses.size) % 4
    moved = DDR4.with_channel(addresses, channels)
    assert np.array_equal(DDR4.channel_of(moved), channels)
    assert np.array_equal(moved & ~0xC0, addresses & ~0xC0)
    assert np.array_equal(DDR4.with_channel(addresses, DDR4.channel_of(addresses)), addresses)
    with pytest.raises(ValueError, match=r"^memory ddr4 has no channel 4: it has 4$"):
        DDR4.with_channel(addresses, channels + 1)
