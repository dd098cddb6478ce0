"""Tracks of a Perfetto trace, in which a nanosecond stands for a cycle."""

from collections.abc import Mapping
from typing import BinaryIO

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

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

    def slice(self, track: int, name: str, begin: int, end: int, arguments: Mapping[str, int | float | str]) -> None:
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
            elif isinstance(value, float):
                note.double_value = value
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
