"""Traces, read back by the classes of their format: what a record says, no less and no more."""

import os
import shutil
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from host.analysis.trace import write_trace
from host.record.reader import Record
from tests.record.checks import NAMES
from tests.record.synthetic import Shape, write_record

PROCESSOR = "CYSCC_TRACE_PROCESSOR"
"""Names Perfetto's trace processor, where there is one."""


@pytest.fixture(scope="module", params=[Shape(), Shape(config="test", iterations=30, interval=256)], ids=["bfs", "scc"])
def record(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Record:
    return Record(write_record(tmp_path_factory.mktemp("record"), request.param))


class ReadBack:
    """The tracks of a trace: slices (name, begin, end, arguments) and numbers (cycle, value) by the way to a track."""

    def __init__(self, path: Path) -> None:
        trace = Trace.FromString(path.read_bytes())
        names: dict[int, str] = {}
        arguments: dict[int, str] = {}
        tracks: dict[int, tuple[str, ...]] = {}
        opened: dict[int, list[tuple[str, int, dict[str, int]]]] = defaultdict(list)
        self.slices: dict[tuple[str, ...], list[tuple[str, int, int, dict[str, int]]]] = defaultdict(list)
        self.numbers: dict[tuple[str, ...], list[tuple[int, float]]] = defaultdict(list)
        for packet in trace.packet:
            names |= {entry.iid: entry.name for entry in packet.interned_data.event_names}
            arguments |= {entry.iid: entry.name for entry in packet.interned_data.debug_annotation_names}
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                tracks[track.uuid] = (*tracks.get(track.parent_uuid, ()), track.name)
            if not packet.HasField("track_event"):
                continue
            event, cycle = packet.track_event, packet.timestamp
            if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                noted = {arguments[note.name_iid]: note.int_value for note in event.debug_annotations}
                opened[event.track_uuid].append((names[event.name_iid], cycle, noted))
            elif event.type == TrackEvent.TYPE_SLICE_END:
                name, begin, noted = opened[event.track_uuid].pop()
                self.slices[tracks[event.track_uuid][1:]].append((name, begin, cycle, noted))
            else:
                value = event.counter_value or event.double_counter_value
                self.numbers[tracks[event.track_uuid][1:]].append((cycle, value))
        assert not any(opened.values())


@pytest.fixture(scope="module")
def trace(record: Record, tmp_path_factory: pytest.TempPathFactory) -> ReadBack:
    path = tmp_path_factory.mktemp("trace") / "run.pftrace"
    write_trace(record, str(path))
    return ReadBack(path)


def test_levels(record: Record, trace: ReadBack) -> None:
    found = [(begin, end, noted) for _, begin, end, noted in trace.slices["levels",]]
    rows = record.frame("instructions").to_dict("records")
    keys = ("instruction", "attempt", "iteration", "cycles", "working", "frontier", "pushed", "duplicates")
    assert found == [(row["start"], row["start"] + row["cycles"], {key: row[key] for key in keys}) for row in rows]
    assert len(trace.slices["phases",]) == len({(row["iteration"], row["phase"]) for row in rows})
    assert len(trace.slices["iterations",]) == len({row["iteration"] for row in rows})


def test_kernels(record: Record, trace: ReadBack) -> None:
    sums = record.frame("kernels").groupby(["engine", "module", "kernel"], observed=True)[NAMES].sum()
    for (engine, module, kernel), expected in sums.iterrows():
        slices = trace.slices[f"AE {engine}: {module} kernels", f"{module} kernel {kernel}"]
        found: Counter[str] = Counter()
        reached = 0
        for _, begin, end, noted in slices:
            assert begin == reached
            assert end - begin == sum(noted.values())
            found.update(noted)
            reached = end
        assert reached == record.cycles
        assert found == {name: count for name, count in expected.items() if count}


def test_memory(record: Record, trace: ReadBack) -> None:
    banks = record.frame("banks").groupby(["controller", "cycle"])["accesses"].sum()
    for controller in banks.index.get_level_values(0).unique():
        shown = dict(trace.numbers["memory", f"accesses at controller {controller}"])
        value, total = 0.0, 0.0
        for cycle in range(0, record.cycles, record.interval):
            value = shown.get(cycle, value)
            total += value
        assert total == banks[controller].sum() > 0


def test_trace_processor_reads_it(record: Record, tmp_path: Path) -> None:
    binary = os.environ.get(PROCESSOR) or shutil.which("trace_processor_shell")
    if binary is None:
        pytest.skip(f"there is no trace processor ({PROCESSOR} would name it)")
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    path = tmp_path / "run.pftrace"
    write_trace(record, str(path))
    with TraceProcessor(trace=str(path), config=TraceProcessorConfig(bin_path=binary)) as processor:
        query = "select count(*) as n, sum(dur) as cycles from slice join track on slice.track_id = track.id "
        (row,) = processor.query(query + "where track.name = 'levels'")
    rows = record.frame("instructions")
    assert (row.n, row.cycles) == (len(rows), rows["cycles"].sum())
