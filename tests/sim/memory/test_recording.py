"""Record and log of accesses against a brute-force count of the same requests, however the steps are driven."""

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from cyscc.sim.memory import (
    READ,
    WRITE,
    ArrayKind,
    Hbm2,
    Hc2,
    Memory,
    Profile,
    RecordedIntervals,
    RecordedSums,
    WatchedRange,
    parse_profile,
)
from cyscc.sim.memory.recording import ACCESSES
from cyscc.sim.trust import GivenText
from tests.sim.memory import outside
from tests.sim.memory.stepper import Stepper, hand_over, read, write
from tests.sim.memory.traffic import Played, Rounds, mixed, play, requests

CYCLES = 1200
ENGINES, PORTS = 3, 6
HELD = (ArrayKind.WORDS, ArrayKind.NEIGHBOURS, ArrayKind.QUEUES, ArrayKind.COLOURS, ArrayKind.OTHER)
SMALL = Hc2(request_travel=7, bank_busy=40, response_travel=3, flush_travel=9, port_queue=3, reads_in_flight=20)
FIELDS = ("banks", "links", "arrays", "engines")


def placed(profile: Profile, *, alignment: int = 512, scale: int = 1) -> tuple[Memory, NDArray[np.int64]]:
    """Return a memory of five allocations of 600 bytes and more, and where each begins."""
    memory = Memory(profile, engines=ENGINES, ports=PORTS, capacity=1 << 26)
    sizes = [scale * (600 + 8 * number) for number in range(len(HELD))]
    places = [memory.allocate(size, alignment, holds=holds) for size, holds in zip(sizes, HELD, strict=True)]
    return memory, np.array(places)


def traffic(places: NDArray[np.int64], seed: int = 7) -> NDArray[np.void]:
    """Return reads, writes and flushes of the first and the last words of all allocations."""
    plan = mixed(seed, engines=ENGINES, ports=PORTS, words=64)
    rng = np.random.default_rng(seed)
    plan["address"] += rng.choice(places, plan.shape) - 4096
    return plan


def joined(parts: list[RecordedIntervals]) -> dict[str, NDArray[np.int64]]:
    """Return intervals that follow each other as one."""
    ends = [part.first + len(part.banks) for part in parts]
    assert [part.first for part in parts] == [0, *ends[:-1]]
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS}


def by_bank(sums: RecordedSums, banks: int) -> NDArray[np.int64]:
    """Return accesses and waiting cycles by bank and array, those of which there was nothing included."""
    found = np.zeros((banks, len(ArrayKind), 2), np.int64)
    bank, kind, *counts = sums.banks.T
    assert np.all(np.diff(bank * len(ArrayKind) + kind) > 0)
    found[bank, kind] = np.transpose(counts)
    return found


def accesses(plan: NDArray[np.void], played: Played, places: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
    """Return the externally visible data of each access: acceptance, response, address, array."""
    for ae, port in np.ndindex(ENGINES, PORTS):
        answer = 0
        for request, cycle in zip(plan[ae, port], played.accepted[ae, port], strict=True):
            if cycle < 0 or request["kind"] == 2:
                continue
            latency = 0
            if request["kind"] == READ:
                latency = played.seen[ae, port, answer] - cycle
                answer += 1
            kind = HELD[int(np.searchsorted(places, request["address"], side="right")) - 1]
            yield {
                "cycle": int(cycle),
                "order": (int(cycle), (ae - int(cycle)) % ENGINES, (port - int(cycle)) % PORTS, int(request["kind"])),
                "ae": ae,
                "port": port,
                "kind": int(kind),
                "write": int(request["kind"]),
                "address": int(request["address"]),
                "latency": int(latency),
            }


def counted(found: list[dict[str, Any]], profile: Hc2, interval: int) -> dict[str, NDArray[np.int64]]:
    """Return the rows of banks, links and arrays, whose resources are played request by request."""
    rows = CYCLES // interval
    banks = np.zeros((rows, 1024, 2), np.int64)
    links = np.zeros((rows, ENGINES, 16, 2), np.int64)
    arrays = np.zeros((rows, ENGINES, len(ArrayKind), 3), np.int64)
    taken: set[tuple[int, int, int]] = set()
    entered: dict[tuple[int, int], int] = {}
    free: dict[int, int] = {}
    for each in sorted(found, key=lambda access: access["order"]):
        row, ae, link, bank = (
            each["cycle"] // interval,
            each["ae"],
            profile.link_of(each["address"]),
            profile.bank_of(each["address"]),
        )
        entry = max(each["cycle"], entered.get((ae, each["port"]), -1) + 1)
        while (ae, link, entry) in taken:
            entry += 1
        taken.add((ae, link, entry))
        entered[ae, each["port"]] = entry
        arrival = entry + profile.request_travel
        start = max(arrival, free.get(bank, 0))
        free[bank] = start + profile.bank_busy
        if row >= rows:
            continue
        banks[row, bank] += 1, start - arrival
        links[row, ae, link] += 1, entry - each["cycle"]
        array = arrays[row, ae, each["kind"]]
        array[each["write"]] += 1
        array[2] += each["latency"]
    return {"banks": banks, "links": links, "arrays": arrays}


def answered(plan: NDArray[np.void]) -> NDArray[np.void]:
    """Return a plan that ends so early that all is answered."""
    plan["after"] = np.where(plan["after"] < CYCLES // 6, plan["after"], 10**9)
    return plan


@pytest.mark.parametrize("interval", [1, 23, 100, 512, 1200, 5000])
@pytest.mark.parametrize("profile", [Hc2(), SMALL], ids=str)
def test_rows_are_what_a_count_finds(profile: Hc2, interval: int) -> None:
    memory, places = placed(profile)
    plan = answered(traffic(places))
    memory.record(interval)
    # So few that the rings need no draining in between.
    played = play(memory, plan, cycles=CYCLES)
    assert memory.error() is None
    if interval == 1:
        with pytest.raises(ValueError, match=r"^1200 intervals were recorded, and there are places for \d+$"):
            memory.drain(CYCLES)
        return
    rows = joined([memory.drain(CYCLES)])
    found = list(accesses(plan, played, places))
    for name, expected in counted(found, profile, interval).items():
        assert rows[name].dtype == np.int64
        assert np.array_equal(rows[name], expected), name
    assert {each["kind"] for each in found} == set(ArrayKind)


def drive(
    memory: Memory, seed: int, first: int, stop: int, *, step: int, rounds: Rounds, drained: list[RecordedIntervals]
) -> None:
    """Play random requests from one cycle to another, in rounds; drain after every fifth, all settled."""
    for start in range(first, stop, step):
        if rounds == "served first":
            for part in range(memory.parts):
                memory.serve(part)
        if rounds != "settled":
            for ae in range(memory.engines):
                memory.deliver(ae)
        end = min(start + step, stop)
        for cycle in range(start, end):
            for ae in range(memory.engines):
                rng = np.random.default_rng((seed, cycle, ae))
                memory.prepare(ae, cycle)
                box = memory.mailboxes[ae]
                wanted = []
                for port in range(memory.ports):
                    address = memory.allocations[int(rng.integers(0, 5))][0] + 8 * int(rng.integers(0, 16))
                    kind = int(rng.integers(0, 4))
                    if kind < 2 and int(box[("read_ready", "write_ready")[kind]]) >> port & 1:
                        wanted.append(write(port, address, cycle) if kind else read(port, address))
                hand_over(box, wanted)
                memory.accept(ae, cycle)
        if rounds == "served last":
            for part in range(memory.parts):
                memory.serve(part)
        if rounds == "settled":
            memory.settle(end - 1)
        else:
            memory.seal(end - 1)
        if start // step % 5 == 4 or end == stop:
            memory.settle(end - 1)
            drained.append(memory.drain(end))
    assert memory.error() is None


@pytest.mark.parametrize(
    "profile",
    [Hc2(), SMALL, Hbm2(), *map(parse_profile, (GivenText(f"{outside.__file__}:20"), "fixed:5", "stress:3"))],
    ids=lambda profile: profile.name,
)
def test_sums_agree_with_the_statistics_however_it_is_driven(profile: Profile) -> None:
    stop = 16 * 9 + 5
    seen = []
    for rounds, step in (("settled", 1), ("served first", 1), ("served last", profile.quantum // 2)):
        memory, _ = placed(profile)
        memory.record(9)
        parts: list[RecordedIntervals] = []
        drive(memory, 5, 0, stop, step=step, rounds=rounds, drained=parts)  # type: ignore[arg-type]
        rows = joined(parts)
        # The last interval ends after a pause that brings nothing.
        drive(memory, 5, stop, stop, step=1, rounds="settled", drained=parts)
        for cycle in range(stop, 17 * 9):
            for ae in range(ENGINES):
                memory.prepare(ae, cycle)
            memory.settle(cycle)
        rows = joined([*parts, memory.drain(17 * 9)])
        statistics, sums = memory.statistics(), memory.take()
        arrays = rows["arrays"].sum(axis=(0, 1))
        assert arrays[:, :2].sum(axis=0).tolist() == [statistics[name]["total"] for name in ("reads", "writes")]
        latency = statistics["read_latency"]
        assert arrays[:, 2].sum() == pytest.approx(latency["mean"] * latency["count"])
        assert np.all(arrays[:, :2] > 0)
        order, *stalls = rows["engines"].sum(axis=(0, 1)).tolist()
        assert order == statistics["waiting_cycles"]["ordering"]
        assert stalls == [int(np.sum(statistics["stall_cycles"][name])) for name in ("read", "write")]
        assert sums.latencies.tolist() == latency["histogram"]
        if isinstance(profile, Hc2 | Hbm2):
            assert rows["banks"][:, :, 0].sum(axis=0).tolist() == statistics["banks"]
            assert rows["banks"][:, :, 1].sum() == statistics["waiting_cycles"]["bank"]
            assert rows["links"][..., 0].sum() == rows["banks"][..., 0].sum()
            assert rows["links"][..., 1].sum() == statistics["waiting_cycles"]["link"]
            banks = by_bank(sums, len(statistics["banks"]))
            assert np.array_equal(banks.sum(axis=1), rows["banks"].sum(axis=0))
            assert np.array_equal(banks[:, :, 0].sum(axis=0), arrays[:, :2].sum(axis=1))
            links = np.zeros((ENGINES, rows["links"].shape[2], 2), np.int64)
            links[sums.links[:, 0], sums.links[:, 1]] = sums.links[:, 2:]
            assert np.array_equal(links.sum(axis=2), rows["links"][..., 0].sum(axis=0))
            assert np.array_equal(links.sum(axis=1), rows["arrays"].sum(axis=(0, 2))[:, :2])
            opened = dict(sums.openings.tolist())
            found = statistics["rows"]["openings"] if isinstance(profile, Hbm2) else []
            assert opened == {bank: count for bank, count in enumerate(found) if count}
        else:
            assert rows["banks"].shape == (17, 0, 2)
            assert rows["links"].shape == (17, ENGINES, 0, 2)
            assert sums.banks.shape == sums.links.shape == (0, 4)
            assert sums.openings.shape == (0, 2)
        seen.append((rows, sums))
    for rows, sums in seen[1:]:
        assert all(np.array_equal(rows[name], seen[0][0][name]) for name in FIELDS)
        assert all(np.array_equal(getattr(sums, name), getattr(seen[0][1], name)) for name in ("banks", "links"))


@pytest.mark.parametrize("place", [61, ACCESSES - 3])
def test_what_a_packed_count_has_no_room_for_is_kept_elsewhere(place: int) -> None:
    # As if so many accesses, or waiting cycles, had been counted before that the next ones fill the field.
    almost = (1 << place) - (3 << ACCESSES if place == 61 else 50)
    parts: list[list[RecordedIntervals]] = [[], []]
    taken = []
    for before, drained in zip((0, almost), parts, strict=True):
        memory, _ = placed(SMALL)
        memory.record(9)
        record = memory._recording
        record._counts[:] = before
        np.asarray(record._arena.at(record.records["service_record"]["before"][0]))[: record._counts.shape[1]] = (
            np.full(record._counts.shape, before, np.uint64).sum(axis=0).astype(np.int64)
        )
        drive(memory, 3, 0, 90, step=2, rounds="settled", drained=drained)
        assert bool(np.any(record._totals)) == bool(before)
        taken.append(by_bank(memory.take(), SMALL.contention.banks))
    rows, expected = joined(parts[1]), joined(parts[0])
    assert all(np.array_equal(rows[name], expected[name]) for name in FIELDS)
    added = taken[1] - taken[0]
    assert np.all(added[..., 0] == almost >> ACCESSES)
    assert np.all(added[..., 1] == almost & (1 << ACCESSES) - 1)


@pytest.mark.parametrize("rounds", get_args(Rounds))
def test_threads_and_rounds_give_the_same(rounds: Rounds) -> None:
    records = []
    for mode, threads in (("settled", 1), (rounds, 3)):
        memory, places = placed(Hc2())
        memory.record(100)
        play(memory, traffic(places), cycles=CYCLES, rounds=mode, threads=threads)  # type: ignore[arg-type]
        records.append((joined([memory.drain(CYCLES)]), memory.take()))
    assert all(np.array_equal(records[0][0][name], records[1][0][name]) for name in FIELDS)
    assert records[0][0]["banks"][..., 1].sum() > 0
    assert np.array_equal(records[0][1].banks, records[1][1].banks)
    assert np.array_equal(records[0][1].latencies, records[1][1].latencies)


def test_nothing_is_lost_between_two_machines_nor_where_counting_begins_anew() -> None:
    whole, _ = placed(SMALL)
    whole.record(9)
    parts: list[RecordedIntervals] = []
    drive(whole, 3, 0, 100, step=2, rounds="settled", drained=parts)
    first = whole.take()
    drive(whole, 3, 100, 180, step=2, rounds="settled", drained=parts)

    before, _ = placed(SMALL)
    before.record(9)
    others: list[RecordedIntervals] = []
    drive(before, 3, 0, 50, step=2, rounds="settled", drained=others)
    before.reset_statistics()
    drive(before, 3, 50, 100, step=2, rounds="settled", drained=others)
    taken = before.take()
    state = before.save()
    drive(before, 3, 100, 180, step=2, rounds="settled", drained=[])
    after, _ = placed(SMALL)
    after.record(9)
    after.load(state)
    drive(after, 3, 100, 180, step=2, rounds="settled", drained=others)

    rows, expected = joined(others), joined(parts)
    assert all(np.array_equal(rows[name], expected[name]) for name in FIELDS)
    for one, other in ((first, taken), (whole.take(), after.take())):
        assert one.latencies[:, 1].sum() > 0
        assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("banks", "latencies", "links"))

    # The state serves a memory without a record too, which may begin one there.
    plain, _ = placed(SMALL)
    plain.load(state)
    assert plain.record_interval == 0
    plain.record(9)
    late: list[RecordedIntervals] = []
    drive(plain, 3, 100, 180, step=2, rounds="settled", drained=late)
    begun = 100 // 9
    assert late[0].first == begun
    for name in FIELDS:
        # All but the interval in which it began.
        rows_of_late = np.concatenate([getattr(part, name) for part in late])
        assert np.array_equal(rows_of_late[1:], expected[name][begun + 1 :]), name


def test_a_state_has_the_record_to_go_on_with() -> None:
    (memory, _), (recorded, _), (other, _) = (placed(SMALL) for _ in range(3))
    recorded.record(9)
    other.record(10)
    with pytest.raises(ValueError, match=r"^the memory's state has no record to go on with$"):
        recorded.load(memory.save())
    with pytest.raises(ValueError, match=r"^the memory's record has intervals of 9 cycles, not 10$"):
        other.load(recorded.save())


@pytest.mark.parametrize("alignment", [8, 512])
@pytest.mark.parametrize("scale", [1, 7000])
def test_each_access_is_of_the_array_at_its_address(alignment: int, scale: int) -> None:
    memory, _ = placed(Hc2(), alignment=alignment, scale=scale)
    memory.record(1000)
    late = memory.allocate(700, 8, holds=ArrayKind.COLOURS)
    bench = Stepper(memory)
    expected = np.zeros(len(ArrayKind), np.int64)
    for (address, size), holds in zip(memory.allocations, (*HELD, ArrayKind.COLOURS), strict=True):
        for place in (address, address + size // 16 * 8, address + size - 8):
            bench.step([read(0, place & -8)])
            expected[holds] += 1
    bench.run(1000)
    assert memory.allocations[-1] == (late, 700)
    banks = by_bank(memory.take(), Hc2().contention.banks)
    assert banks[:, :, 0].sum(axis=0).tolist() == expected.tolist()
    assert memory.take().banks.size == 0


def test_what_cannot_be_is_refused() -> None:
    memory, _ = placed(Hc2())
    with pytest.raises(ValueError, match=r"^the memory keeps no record$"):
        memory.take()
    assert memory.record_interval == 0
    for interval in (0, (1 << 16) + 1):
        message = f"^the interval of a record must be from 1 to 65536 cycles, not {interval}$"
        with pytest.raises(ValueError, match=message):
            memory.record(interval)
    memory.record(64)
    assert memory.record_span == 128 * 64
    with pytest.raises(ValueError, match=r"^the memory keeps a record already$"):
        memory.record(64)
    with pytest.raises(ValueError, match=r"^the memory's record is complete until cycle 0, not 64$"):
        memory.drain(64)


def test_an_address_beyond_all_ends_the_run_as_without_a_record() -> None:
    memory, _ = placed(Hc2())
    memory.record(10)
    bench = Stepper(memory)
    bench.step([read(0, (1 << 48) - 8)])
    bench.step([read(1, 1 << 40)])
    bench.run(3)
    assert "read of 8 bytes at address 0xfffffffffff8 (engine 0 port 0 cycle 0)" in str(memory.error())
    assert requests(count=1).size == 1


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
