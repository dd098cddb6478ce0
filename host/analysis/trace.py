"""Perfetto traces of a record: iterations, phases, levels, causes of kernels' cycles, memory and token over time."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

from cyscc.host.output.files import open_output
from cyscc.host.record.reader import Record
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES, CAUSES

_SEQUENCE = 1


class Tracks:
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

    def add(
        self, name: str, *, about: str = "", parent: int | None = None, unit: str | None = None, rank: int = 0
    ) -> int:
        """Add a track and return its number.

        Parameters
        ----------
        name : str
            Name shown in the viewer.
        about : str
            Its meaning, which the viewer shows beside it.
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
        if about:
            track.description = about
        if unit is not None:
            track.counter.unit_name = unit
            # Counters of one unit below the same parent have one scale.
            track.counter.y_axis_share_key = f"{parent} {unit}"
        self._builder.write_packet(packet)
        return self._tracks

    def slice(self, track: int, name: str, begin: int, end: int, arguments: Mapping[str, int | str]) -> None:
        """Add a slice to a track, from cycle `begin` to cycle `end`, with arguments.

        The slices of a track follow each other, or contain each other.
        """
        packet = self._packet(begin)
        event = packet.track_event
        event.type, event.track_uuid = TrackEvent.TYPE_SLICE_BEGIN, track
        event.name_iid = self._interned(packet, self._names, "event_names", name)
        for key, value in arguments.items():
            note = event.debug_annotations.add()
            note.name_iid = self._interned(packet, self._arguments, "debug_annotation_names", key)
            if isinstance(value, str):
                note.string_value = value
            else:
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


_POINTS = 300_000
"""Approximate number of values of all kernels; in longer runs a value stands for several intervals."""

_GROUPS = (
    ("memory", "Accesses count when their port takes them.", 3),
    ("token", "Arrivals of the token, which hands out slots of the queues, at the first kernel of each AE.", 4),
)
"""Groups of counters: name, meaning, and rank behind the tracks of instructions."""
_COUNTERS = tomllib.loads(Path(__file__).with_name("counters.toml").read_text(encoding="utf-8"))["counters"]
_KERNELS = 10
"""Rank of the first track of kernels."""


def write_trace(record: Record, path: str) -> None:
    """Write a record as a Perfetto trace, in which a cycle is a nanosecond.

    Iterations, phases and levels are slices. All else is counted by interval, so it has counters: each value holds for
    an interval.

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
        trace = RecordTrace(file, record, (0, record.cycles))
        trace.add_instructions()
        trace.add_causes(trace.kernel_groups())
        trace.add_counters()


class RecordTrace(Tracks):
    """The trace of a record.

    Parameters
    ----------
    file : binary file
        The file.
    record : Record
        The record.
    span : (int, int)
        First cycle, and the cycle after the last one.
    """

    def __init__(self, file: BinaryIO, record: Record, span: tuple[int, int]) -> None:
        super().__init__(file)
        self._record, self._span = record, span
        run = record.document["run"]
        self._root = self.add(
            f"cyscc {record.document['command']} of {printable(run['graph'])}: a nanosecond is a cycle",
            about=f"Times are cycles from reset. Counters have a value for each interval of {record.interval} cycles.",
        )

    def cut_slice(self, track: int, name: str, begin: int, end: int, notes: Mapping[str, int | str]) -> None:
        """Add a slice, as far as it lies in the span; see `Tracks.slice`."""
        self.slice(track, name, max(begin, self._span[0]), min(end, self._span[1]), notes)

    def add_instructions(self) -> None:
        """Add the tracks of iterations, phases and instructions within the span."""
        rows, (start, end) = self._record.attempts.reset_index(), self._span
        rows = rows[(rows["end"] > start) & (rows["start"] < end)]
        of_iteration = ["attempt", "iteration"]
        for rank, (title, keys, about) in enumerate(
            (
                ("iterations", of_iteration, "Two searches and an intersection, which find a component."),
                ("phases", [*of_iteration, "phase"], "The forward search, the backward search, and the intersection."),
            )
        ):
            track = self.add(title, about=about, parent=self._root, rank=rank)
            groups = rows.groupby(keys, observed=True, sort=False)
            for key, first, last in groups.agg(begin=("start", "min"), end=("end", "max")).itertuples():
                name = f"iteration {key[1]}" if len(keys) == 2 else str(key[2])
                notes = {"attempt": key[0], "iteration": key[1]}
                self.cut_slice(track, name, first, last, notes)
        about = "Instructions: levels of searches, and intersections, from the dispatch until the last AE was idle."
        track = self.add("levels", about=about, parent=self._root, rank=2)
        columns = ("instruction", "attempt", "iteration", "cycles", "working", "frontier", "pushed", "duplicates")
        for row in rows.to_dict("records"):
            name = str(row["phase"]) if row["level"] < 0 else f"level {row['level']}"
            arguments = {column: int(row[column]) for column in columns}
            self.cut_slice(track, name, row["start"], row["end"], arguments)

    def kernel_groups(self) -> dict[tuple[int, str], int]:
        """Add a track for the kernels of each kind of each AE, and return their numbers by AE and module."""
        record = self._record
        kernels = [module for module, count in record.machine["kernels"].items() if count]
        modules = [(engine, module) for engine in range(record.machine["engines"]) for module in kernels]
        return {
            (engine, module): self.add(f"AE {engine}: {module} kernels", parent=self._root, rank=_KERNELS + place)
            for place, (engine, module) in enumerate(modules)
        }

    def add_causes(self, groups: dict[tuple[int, str], int]) -> None:
        """Add the counters of the kernels: the share of each cause in the cycles of an interval."""
        record = self._record
        causes = record.frame("kernels")[CAUSE_NAMES].to_numpy(np.int64)
        kernels = [
            (engine, module, number) for engine, module in groups for number in range(record.machine["kernels"][module])
        ]
        causes = causes.reshape(-1, len(kernels), len(CAUSES))
        used = int((causes.sum(axis=0) > 0).sum())
        together = max(1, -(-len(causes) * used // _POINTS))
        firsts = np.arange(0, len(causes), together)
        starts = firsts * record.interval
        lengths = np.diff(np.append(starts, record.cycles))
        shares = np.add.reduceat(causes, firsts, axis=0) / lengths[:, np.newaxis, np.newaxis]
        for (engine, module), group in groups.items():
            own = [place for place, kernel in enumerate(kernels) if kernel[:2] == (engine, module)]
            about = "Share of each cause in the cycles of all of them: of 100 %, at every time."
            every = self.add("mean of all", about=about, parent=group)
            self._add_shares(every, shares[:, own].mean(axis=1), starts)
            for number, place in enumerate(own):
                about = "Share of each cause in its cycles. A cycle has one cause, so they add up to 100 %."
                track = self.add(f"{module} kernel {number}", about=about, parent=group, rank=1 + number)
                self._add_shares(track, shares[:, place], starts)

    def _add_shares(self, parent: int, shares: npt.NDArray[np.float64], starts: npt.NDArray[np.int64]) -> None:
        """Add a counter for each cause that has a share at any time; shape (times, causes)."""
        for rank, cause in enumerate(CAUSES):
            its = (100 * shares[:, rank]).round(2)
            if its.any():
                track = self.add(cause.title, about=cause.about, parent=parent, unit="% of cycles", rank=rank)
                self._add_steps(track, its, starts)

    def add_counters(self) -> None:
        """Add the counters of memory and token."""
        record, (start, end) = self._record, self._span
        firsts = range(start // record.interval * record.interval, end, record.interval)
        groups = {name: self.add(name, about=about, parent=self._root, rank=rank) for name, about, rank in _GROUPS}
        for row in _COUNTERS:
            frame, by = record.frame(row["table"]), row.get("by")
            sums = frame.groupby(["cycle", *([by] if by else [])], observed=False)[
                [*row["columns"], *row["over"]]
            ].sum()
            values = sums[row["columns"]].sum(axis=1)
            for column in row["over"]:
                values = (values / sums[column].clip(lower=1)).round(2)
            for place, key in enumerate(values.index.get_level_values(1).unique() if by else [None]):
                # Intervals without a value are 0.
                own = (values if key is None else values.xs(key, level=1)).reindex(firsts, fill_value=0)
                title, rank = row["title"].format(key), row["rank"] + place
                track = self.add(title, about=row["about"], parent=groups[row["group"]], unit=row["unit"], rank=rank)
                self._add_steps(track, own.to_numpy(), np.maximum(own.index.to_numpy(), start))

    def _add_steps(self, track: int, values: Any, starts: npt.NDArray[np.int64]) -> None:
        """Add values, each of which holds from a cycle on, to a counter; 0 from the end of the span on."""
        changed = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        for cycle, value in zip(starts[changed].tolist(), values[changed].tolist(), strict=True):
            self.number(track, cycle, value)
        self.number(track, self._span[1], 0)
