"""Perfetto traces of a record: iterations, phases, levels, kernels by cause, memory and token over time."""

from collections.abc import Mapping
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

from cyscc.host.output.files import open_output
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import ARRAYS, MODULES
from cyscc.sim.observation.causes import CAUSE_NAMES, CAUSES

__all__ = ["write_trace"]

_SEQUENCE = 1


class _Tracks:
    """Writes the packets of a trace.

    Parameters
    ----------
    file : binary file
        The output file.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._builder = StreamingTraceProtoBuilder(file)
        self._tracks = 0
        self._names: dict[str, int] = {}
        self._arguments: dict[str, int] = {}
        packet = self._packet()
        packet.sequence_flags = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        self._builder.write_packet(packet)

    def add(self, name: str, *, parent: int | None = None, unit: str | None = None, rank: int = 0) -> int:
        """Add a track and return its number.

        Parameters
        ----------
        name : str
            Name shown in the viewer.
        parent : int, optional
            The enclosing track.
        unit : str, optional
            Unit of a counter track; None for a track of slices.
        rank : int
            Position among the tracks of the same parent.
        """
        self._tracks += 1
        packet = self._packet()
        track = packet.track_descriptor
        track.uuid, track.name = self._tracks, name
        track.child_ordering = TrackDescriptor.EXPLICIT
        track.sibling_order_rank = rank
        if parent is not None:
            track.parent_uuid = parent
        if unit is not None:
            track.counter.unit_name = unit
        self._builder.write_packet(packet)
        return self._tracks

    def last(self, track: int, name: str, begin: int, end: int, arguments: Mapping[str, int]) -> None:
        """Add a slice to a track, from cycle `begin` to cycle `end`, with numeric arguments."""
        packet = self._packet(begin)
        event = packet.track_event
        event.type, event.track_uuid = TrackEvent.TYPE_SLICE_BEGIN, track
        event.name_iid = self._interned(packet, self._names, "event_names", name)
        for key, value in arguments.items():
            note = event.debug_annotations.add()
            note.name_iid = self._interned(packet, self._arguments, "debug_annotation_names", key)
            note.int_value = value
        self._builder.write_packet(packet)
        packet = self._packet(end)
        packet.track_event.type, packet.track_event.track_uuid = TrackEvent.TYPE_SLICE_END, track
        self._builder.write_packet(packet)

    def number(self, track: int, cycle: int, value: float) -> None:
        """Set a counter track's value from a cycle on."""
        packet = self._packet(cycle)
        event = packet.track_event
        event.type, event.track_uuid = TrackEvent.TYPE_COUNTER, track
        if isinstance(value, int):
            event.counter_value = value
        else:
            event.double_counter_value = value
        self._builder.write_packet(packet)

    def _packet(self, cycle: int = 0) -> TracePacket:
        packet = self._builder.create_packet()
        packet.timestamp = cycle
        packet.trusted_packet_sequence_id = _SEQUENCE
        packet.sequence_flags = TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        return packet

    @staticmethod
    def _interned(packet: TracePacket, known: dict[str, int], kind: str, text: str) -> int:
        """Return the interned id of a text; a new text is defined in the packet."""
        if text not in known:
            known[text] = len(known) + 1
            entry = getattr(packet.interned_data, kind).add()
            entry.iid, entry.name = known[text], text
        return known[text]


_SLICES = 60_000
"""Approximate number of slices of all kernels; in longer runs a slice spans several intervals and sums their causes."""

_TITLES = {cause.name: cause.title for cause in CAUSES}


def write_trace(record: Record, path: str) -> None:
    """Write a record as a Perfetto trace, in which a cycle is a nanosecond.

    A kernel's slice is named after its largest cause, and has the cycles of each cause as arguments.

    Parameters
    ----------
    record : Record
        The record.
    path : str
        The file, ``.pftrace`` by custom, or ``-`` for standard output.

    Raises
    ------
    InputError
        A table cannot be read, or the file cannot be written.
    """
    with open_output(path) as file:
        tracks = _Tracks(file)
        root = tracks.add(f"cyscc {record.document['command']}, a nanosecond is a cycle")
        _add_instructions(tracks, record, root)
        _add_kernels(tracks, record, root)
        _add_memory(tracks, record, root)


def _add_instructions(tracks: _Tracks, record: Record, root: int) -> None:
    """Add the tracks of iterations, phases and instructions."""
    rows = record.attempts.reset_index()
    for rank, (title, keys) in enumerate(
        (("iterations", ["attempt", "iteration"]), ("phases", ["attempt", "iteration", "phase"]))
    ):
        track = tracks.add(title, parent=root, rank=rank)
        groups = rows.groupby(keys, observed=True, sort=False)
        for key, begin, end in groups.agg(begin=("start", "min"), end=("end", "max")).itertuples():
            name = f"iteration {key[1]}" if len(keys) == 2 else str(key[2])
            tracks.last(track, name, begin, end, {"attempt": key[0], "iteration": key[1]})
    track = tracks.add("levels", parent=root, rank=2)
    columns = ("instruction", "attempt", "iteration", "cycles", "working", "frontier", "pushed", "duplicates")
    for row in rows.to_dict("records"):
        name = str(row["phase"]) if row["level"] < 0 else f"level {row['level']}"
        arguments = {column: int(row[column]) for column in columns}
        tracks.last(track, name, row["start"], row["end"], arguments)


def _add_kernels(tracks: _Tracks, record: Record, root: int) -> None:
    """Add the tracks of the kernels."""
    causes = record.frame("kernels")[CAUSE_NAMES].to_numpy(np.int64)
    kernels = [
        (engine, module, number)
        for engine in range(record.machine["engines"])
        for module, count in record.machine["kernels"].items()
        for number in range(count)
    ]
    causes = causes.reshape(-1, len(kernels), len(CAUSES))
    together = max(1, -(-len(causes) * len(kernels) // _SLICES))
    firsts = np.arange(0, len(causes), together)
    sums = np.add.reduceat(causes, firsts, axis=0)
    starts = [*(firsts * record.interval).tolist(), record.cycles]
    groups: dict[tuple[int, str], int] = {}
    for place, (engine, module, number) in enumerate(kernels):
        key = (engine, module)
        if key not in groups:
            groups[key] = tracks.add(f"AE {engine}: {module} kernels", parent=root, rank=10 + len(groups))
        track = tracks.add(f"{module} kernel {number}", parent=groups[key], rank=number)
        _add_kernel(tracks, track, sums[:, place], starts)


def _add_kernel(tracks: _Tracks, track: int, sums: npt.NDArray[np.int64], starts: list[int]) -> None:
    """Add the slices of a kernel; successive slices with the same single cause are merged."""
    most = sums.argmax(axis=-1)
    alone = sums.max(axis=-1) == sums.sum(axis=-1)
    same = np.concatenate([[False], alone[1:] & alone[:-1] & (most[1:] == most[:-1])])
    firsts = np.flatnonzero(~same)
    merged = np.add.reduceat(sums, firsts, axis=0)
    ends = [starts[first] for first in firsts[1:]] + [starts[-1]]
    for first, end, counts in zip(firsts.tolist(), ends, merged.tolist(), strict=True):
        arguments = {name: count for name, count in zip(CAUSE_NAMES, counts, strict=True) if count}
        tracks.last(track, _TITLES[CAUSE_NAMES[most[first]]], starts[first], end, arguments)


def _add_memory(tracks: _Tracks, record: Record, root: int) -> None:
    """Add the tracks of memory and token."""
    memory = tracks.add("memory", parent=root, rank=3)
    add = partial(_add_numbers, tracks, record)
    arrays = record.frame("arrays")
    accesses = (arrays["reads"] + arrays["writes"]).groupby([arrays["cycle"], arrays["array"]], observed=False).sum()
    for rank, array in enumerate(ARRAYS):
        if array in accesses.index.get_level_values(1):
            add(f"accesses to {array}", memory, rank, accesses.xs(array, level=1), "accesses")
    sums = arrays.groupby("cycle")[["latency", "reads"]].sum()
    add("mean latency of reads", memory, 10, (sums["latency"] / sums["reads"].clip(lower=1)).round(2), "cycles")
    banks = record.frame("banks").groupby(["cycle", "controller"])[["accesses", "waiting"]].sum()
    for first, column, unit in ((20, "accesses", "accesses"), (120, "waiting", "cycles")):
        for controller in banks.index.get_level_values(1).unique():
            its = banks.xs(controller, level=1)[column]
            add(f"{column} at controller {controller}", memory, first + int(controller), its, unit)
    engines = record.frame("engines").groupby("cycle").sum()
    add("ports that take no read", memory, 300, engines["read_stalls"], "port-cycles")
    add("ports that take no write", memory, 301, engines["write_stalls"], "port-cycles")
    add("responses wait for their turn", memory, 302, engines["ordering"], "cycles")
    token = tracks.add("token", parent=root, rank=4)
    for module in MODULES:
        add(f"{module} tokens at the AEs", token, 0, engines[f"{module}_turns"], "tokens")


def _add_numbers(tracks: _Tracks, record: Record, title: str, parent: int, rank: int, values: Any, unit: str) -> None:
    """Add a counter track of values by the first cycle of their interval; intervals without a value are 0."""
    track = tracks.add(title, parent=parent, unit=unit, rank=rank)
    whole = values.reindex(range(0, record.cycles, record.interval), fill_value=0)
    numbers = whole.to_numpy()
    changed = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
    for cycle, value in zip(whole.index[changed].tolist(), numbers[changed].tolist(), strict=True):
        tracks.number(track, cycle, value)
    tracks.number(track, record.cycles, 0)
