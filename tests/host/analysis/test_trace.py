"""Traces, read back by the classes of their format: what a record says, no less and no more."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import DebugAnnotation, Trace, TrackDescriptor, TrackEvent

from cyscc.host.analysis.trace import write_trace
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import ARRAYS
from cyscc.sim.observation.causes import CAUSES
from tests.host.analysis.report.pages import record_of
from tests.record.checks import NAMES, Numbers, Plain
from tests.record.synthetic import Shape

TITLES = {cause.name: cause.title for cause in CAUSES}


@pytest.fixture(
    scope="module",
    params=[Shape(), Shape(levels=(60, 300, 90), iterations=2, interval=32, restarted=True)],
    ids=["bfs", "scc"],
)
def record(request: pytest.FixtureRequest) -> Record:
    return record_of(request.param)


def value_of(note: DebugAnnotation) -> int | str:
    """Return the value of an argument."""
    return str(note.string_value) if note.HasField("string_value") else int(note.int_value)


class ReadBack:
    """The tracks of a trace: slices (name, begin, end, arguments) and numbers (cycle, value) by the path of a track."""

    def __init__(self, path: Path) -> None:
        trace = Trace.FromString(path.read_bytes())
        names: dict[int, str] = {}
        arguments: dict[int, str] = {}
        tracks: dict[int, tuple[str, ...]] = {}
        opened: dict[int, list[tuple[str, int, dict[str, Any]]]] = defaultdict(list)
        self.slices: dict[tuple[str, ...], list[tuple[str, int, int, dict[str, Any]]]] = defaultdict(list)
        self.numbers: dict[tuple[str, ...], list[tuple[int, float]]] = defaultdict(list)
        self.units: dict[tuple[str, ...], str] = {}
        ranks: dict[tuple[str, ...], list[tuple[int, str]]] = defaultdict(list)
        for packet in trace.packet:
            names |= {entry.iid: entry.name for entry in packet.interned_data.event_names}
            arguments |= {entry.iid: entry.name for entry in packet.interned_data.debug_annotation_names}
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                tracks[track.uuid] = (*tracks.get(track.parent_uuid, ()), track.name)
                if track.HasField("parent_uuid"):
                    ranks[tracks[track.parent_uuid]].append((track.sibling_order_rank, track.name))
                if track.HasField("counter"):
                    self.units[tracks[track.uuid][1:]] = track.counter.unit_name
                assert track.child_ordering == TrackDescriptor.EXPLICIT
            if not packet.HasField("track_event"):
                continue
            event, cycle = packet.track_event, packet.timestamp
            if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                noted = {arguments[note.name_iid]: value_of(note) for note in event.debug_annotations}
                opened[event.track_uuid].append((names[event.name_iid], cycle, noted))
            elif event.type == TrackEvent.TYPE_SLICE_END:
                name, begin, noted = opened[event.track_uuid].pop()
                self.slices[tracks[event.track_uuid][1:]].append((name, begin, cycle, noted))
            else:
                value = event.counter_value or event.double_counter_value
                self.numbers[tracks[event.track_uuid][1:]].append((cycle, value))
        assert not any(opened.values())
        # The tracks below another, without the root, in the order that people see.
        self.order = {
            track[1:]: [name for _, name in sorted(below, key=lambda each: each[0])] for track, below in ranks.items()
        }


@pytest.fixture(scope="module")
def trace(record: Record, tmp_path_factory: pytest.TempPathFactory) -> ReadBack:
    path = tmp_path_factory.mktemp("trace") / "run.pftrace"
    write_trace(record, str(path))
    return ReadBack(path)


def lasting(rows: pd.DataFrame, keys: list[str]) -> list[tuple[int, int, dict[str, int]]]:
    """Return the beginning and the end of groups of instructions, in their order."""
    ends = rows.assign(end=rows["start"] + rows["cycles"]).groupby(keys, sort=False).agg({"start": "min", "end": "max"})
    noted = [dict(zip(keys[:2], key[:2], strict=True)) for key in ends.index]
    return list(zip(ends["start"].tolist(), ends["end"].tolist(), noted, strict=True))


def test_instructions(record: Record, trace: ReadBack) -> None:
    plain = Plain(record.folder)
    rows = plain.tables["instructions"]
    keys = ("instruction", "attempt", "iteration", "cycles", "working", "frontier", "pushed", "duplicates")
    assert trace.slices["levels",] == [
        (
            row["phase"] if row["phase"] == "intersection" else f"level {row['level']}",
            row["start"],
            row["start"] + row["cycles"],
            {key: row[key] for key in keys},
        )
        for row in rows.to_dict("records")
    ]
    phases = [(name, *rest) for name, *rest in trace.slices["phases",]]
    assert [tuple(rest) for _, *rest in phases] == lasting(rows, ["attempt", "iteration", "phase"])
    assert [name for name, *_ in phases] == [
        phase for (_, _, phase), _ in rows.groupby(["attempt", "iteration", "phase"], sort=False)
    ]
    iterations = trace.slices["iterations",]
    assert [tuple(rest) for _, *rest in iterations] == lasting(rows, ["attempt", "iteration"])
    assert [name for name, *_ in iterations] == [f"iteration {noted['iteration']}" for *_, noted in iterations]
    assert trace.order[()] == ["iterations", "phases", "levels", "memory", "token", *trace.order[()][5:]]


def kernels_of(plain: Plain) -> list[tuple[int, str, int]]:
    return [
        (engine, module, kernel)
        for engine in range(plain.engines)
        for module in plain.machine["kernels"]
        for kernel in range(plain.machine["kernels"][module])
    ]


def check_kernels(plain: Plain, trace: ReadBack, together: int) -> None:
    """Check the shares of causes of all kernels, each value over a number of intervals."""
    width = plain.document["interval"] * together
    groups: dict[str, list[Numbers]] = defaultdict(list)
    for engine, module, kernel in kernels_of(plain):
        rows = plain.of("kernels", engine=engine, module=module, kernel=kernel)
        sums = rows.groupby(rows["cycle"] // width * width)[NAMES].sum()
        lengths = np.minimum(sums.index + width, plain.total) - sums.index
        shares = 100 * sums.to_numpy() / np.asarray(lengths)[:, np.newaxis]
        group = f"AE {engine}: {module} kernels"
        groups[group].append(shares)
        check_shares(plain, trace, (group, f"{module} kernel {kernel}"), shares, width)
    for group, every in groups.items():
        check_shares(plain, trace, (group, "mean of all"), np.mean(every, axis=0), width)


def check_shares(plain: Plain, trace: ReadBack, track: tuple[str, ...], shares: Numbers, width: int) -> None:
    """Check the counters of a track: one for each cause that it has, with the value of each time."""
    found = {cause: counted(trace.numbers[*track, TITLES[cause]], len(shares), width) for cause in NAMES}
    for place, cause in enumerate(NAMES):
        assert found[cause] == pytest.approx(shares[:, place], abs=0.0051), (track, cause)
        if shares[:, place].any():
            assert trace.units[*track, TITLES[cause]] == "% of cycles"
    assert trace.order[track] == [TITLES[cause] for cause in NAMES if found[cause].any()]


def counted(steps: list[tuple[int, float]], times: int, width: int) -> Numbers:
    """Return the values of a counter at the beginning of each time, given its steps."""
    values = np.zeros(times)
    for cycle, value in steps:
        values[-(-cycle // width) :] = value
    return values


def test_kernels(record: Record, trace: ReadBack) -> None:
    plain = Plain(record.folder)
    check_kernels(plain, trace, 1)
    groups = list(dict.fromkeys(f"AE {engine}: {module} kernels" for engine, module, _ in kernels_of(plain)))
    assert trace.order[()][5:] == groups
    for group in groups:
        first, *names = trace.order[group,]
        assert first == "mean of all"
        assert [name.split()[-1] for name in names] == [str(n) for n in range(len(names))]


def test_of_long_runs_several_intervals_are_one_value(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Plain(record.folder)
    used = plain.of("kernels").groupby(["engine", "module", "kernel"], observed=True)[NAMES].sum() > 0
    values = int(used.to_numpy().sum()) * -(-plain.total // plain.document["interval"])
    for together, most in ((3, -(-values // 3)), (4, -(-values // 3) - 1)):
        monkeypatch.setattr("cyscc.host.analysis.trace._POINTS", most)
        write_trace(record, str(tmp_path / "run.pftrace"))
        check_kernels(plain, ReadBack(tmp_path / "run.pftrace"), together)


def test_numbers(record: Record, trace: ReadBack) -> None:
    plain = Plain(record.folder)
    width = record.interval
    arrays, banks, engines = (plain.of(name) for name in ("arrays", "banks", "engines"))
    expected: dict[tuple[str, str], tuple[str, Numbers]] = {}
    for name in ARRAYS:
        own = arrays[arrays["array"] == name]
        both = plain.over_time(own, "reads", width) + plain.over_time(own, "writes", width)
        expected["memory", f"accesses to {name}"] = "accesses per interval", both
    reads = np.maximum(plain.over_time(arrays, "reads", width), 1)
    latency = np.round(plain.over_time(arrays, "latency", width) / reads, 2)
    expected["memory", "mean latency of reads"] = "cycles", latency
    for name, unit in (("accesses", "accesses per interval"), ("waiting", "cycles per interval")):
        for controller in sorted(set(banks["controller"])):
            found = plain.over_time(banks[banks["controller"] == controller], name, width)
            expected["memory", f"{name} at controller {controller}"] = unit, found
    for name, title, unit in (
        ("read_stalls", "ports that take no read", "port-cycles per interval"),
        ("write_stalls", "ports that take no write", "port-cycles per interval"),
        ("ordering", "responses wait for their turn", "cycles per interval"),
    ):
        expected["memory", title] = unit, plain.over_time(engines, name, width)
    for module in ("bfs", "intersection"):
        turns = plain.over_time(engines, f"{module}_turns", width)
        expected["token", f"{module} tokens at the AEs"] = "tokens per interval", turns
    shared = {track: unit for track, unit in trace.units.items() if track[0] in ("memory", "token")}
    assert shared == {track: unit for track, (unit, _) in expected.items()}
    for track, (_, values) in expected.items():
        changed = np.flatnonzero(np.diff(values, prepend=np.nan))
        steps = [(place * width, values[place]) for place in changed.tolist()]
        assert trace.numbers[track] == [*steps, (plain.total, 0)], track
    assert trace.order["memory",] == [name for group, name in expected if group == "memory"]
