"""Requests of a part of a run as they arrive at the channels of its memory, for simulators of memories."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.record.reader import Record
from cyscc.host.record.traffic import write_traffic
from cyscc.host.replay.parts import cycles_of
from cyscc.host.replay.replaying import RecordReplay
from cyscc.host.runs.rerun import RerunSetting
from cyscc.host.specification.place import Place

if TYPE_CHECKING:
    from cyscc.sim.machine import Machine

_SPAN = 1024
"""Most cycles between two readings of the memory's log, which has room for that many."""


class _RequestWatcher:
    """Collects all requests that the memory accepts in a window of cycles."""

    waiting = False

    def __init__(self, first: int, end: int) -> None:
        self._first, self._end = first, end
        self._parts: list[npt.NDArray[np.void]] = []

    def begin(self, machine: "Machine", graphs: Sequence[PlacedGraph]) -> None:
        """Start following."""
        self._profile = machine.memory.profile
        self._log = machine.memory.log_accesses(span=_SPAN)
        self._log.follow(self._first, self._end)

    def look(self, cycle: int) -> int:
        """Take the requests up to a cycle; return the most cycles until the next call."""
        self._parts.append(self._log.take_entered())
        return max(self._first - cycle, _SPAN)

    def frame(self) -> pd.DataFrame:
        """Return the requests by arrival: clock of the memory, byte address, whether it writes, channel."""
        rows = np.concatenate(self._parts)
        clock, address = self._profile.arrival(rows["answered"]), rows["address"]
        order = np.lexsort((rows["port"], rows["engine"], rows["cycle"], clock))
        columns = {
            "clock": clock,
            "address": address,
            "write": rows["write"].astype(np.int64),
            "channel": self._profile.channel_of(address),
        }
        return pd.DataFrame({name: values[order] for name, values in columns.items()})


def write_requests(
    record: Record, place: Place, path: str, setting: RerunSetting, *, checkpoint: str | None = None
) -> tuple[int, int, int]:
    """Make a recorded run again up to a place, and write the requests there to a file; see `write_traffic`.

    Parameters
    ----------
    record : Record
        The record.
    place : Place
        Cycles, or a level, iteration or phase.
    path : str
        The file, ``.csv`` or ``.parquet``.
    setting : RerunSetting
        How the run is made again.
    checkpoint : str, optional
        Folder of a checkpoint to go on from.

    Returns
    -------
    (int, int, int)
        First cycle, the cycle after the last, and the number of requests.

    Raises
    ------
    InputError
        The record, checkpoint or graph cannot be used, the run has no such place, or the file cannot be written.
    SimulationError
        The run failed before the end of the place.
    """
    first, end = cycles_of(place, record)
    replay, watcher = RecordReplay(record, setting), _RequestWatcher(first, end)
    with replay.resumed(checkpoint):
        replay.watch([watcher], first=first, last=end - 1, aim=f"to cycle {end - 1:,}")
    rows = watcher.frame()
    write_traffic(rows, path)
    return first, end, len(rows)
