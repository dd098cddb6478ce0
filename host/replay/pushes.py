"""Vertices pushed more than once in a recorded run, and those that found no room in the queues, found by a replay."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.host.replay.accesses import AccessWatcher, queues_of, single_ids
from cyscc.host.replay.finding import Located, MissingPointError, Search, kernel_name
from cyscc.host.replay.replaying import RecordReplay
from cyscc.host.specification.place import Place
from cyscc.sim.executors.accesses import DROP, READ, WRITE, WatchedAccesses
from cyscc.sim.hardware import VISITED, chunks_of

if TYPE_CHECKING:
    from cyscc.sim.machine import Machine

_KERNEL = ["instruction", "engine", "kernel"]


class PushWatcher(AccessWatcher):
    """Collects the pushes of a run that is made again, and the vertices that were found unvisited.

    Parameters
    ----------
    record : Record
        The record of the run.
    window : (int, int), optional
        First and last cycle of the pushes; by default the whole run.
    """

    def __init__(self, record: Record, *, window: tuple[int, int] | None = None) -> None:
        super().__init__(self._written, window=window)
        self._record = record

    def _written(self, machine: "Machine", graphs: Sequence[PlacedGraph]) -> list[WatchedAccesses]:
        """Return what to watch: writes to reach queues, or else to graph words; dropped vertices; unvisited words."""
        queues, words = queues_of(machine), [(each.words_address, 8 * each.graph.vertices) for each in graphs]
        watched = [WatchedAccesses(start=0, end=1, kinds=[DROP])]
        written = list(queues.reaches or words)
        if self._record.attempt > 0:
            flag = int(VISITED.put(1))
            watched += [WatchedAccesses(start=at, end=at + size, kinds=[READ], mask=flag) for at, size in words]
            written += [] if queues.reaches else queues.frontiers
        return watched + [WatchedAccesses(start=at, end=at + size, kinds=[WRITE]) for at, size in written]

    def _of_searches(self) -> pd.DataFrame:
        """Return the accesses of searches, those to ids one by one."""
        rows = self.frame(self._record)
        rows = rows[rows["module"] == "bfs"]
        if self._machine.config.writes_single_ids:
            return rows
        # Of the queues, only those of ids are watched.
        ids = rows["array"] == "queues"
        return pd.concat([rows[~ids], single_ids(rows[ids])], ignore_index=True)

    def duplicates(self) -> pd.DataFrame:
        """Return every push of each vertex that an instruction of the last attempt pushed more than once, by cycle.

        Columns: ``vertex``, as named in the graph's file; ``times``, its pushes in the instruction; ``cycle`` of the
        last write of the push; ``instruction``, ``iteration``, ``phase``, ``level``, ``engine``, ``module``,
        ``kernel``; ``address``, that of its entry in the reach queue, or of its graph word on machines that only
        search; and ``controller`` and ``bank``, if the memory has banks.
        """
        rows = self._of_searches()
        rows = rows[(rows["attempt"] == self._record.attempt) & (rows["kind"] == "write")]
        reach = self._machine.config.keeps_reach_queue
        rows = rows[rows["array"] == ("queues" if reach else "words")]
        rows = rows.assign(vertex=self.vertices(rows))
        if not reach:
            # Vertices without neighbours are marked, but not pushed.
            rows = rows[self._graphs[0].graph.out_degrees()[rows["vertex"]] > 0]
        times = rows.groupby(["instruction", "vertex"])["cycle"].transform("size")
        return self._told(rows.assign(times=times)[times > 1], ["vertex", "times", "cycle"])

    def overflows(self) -> pd.DataFrame:
        """Return the vertices that found no room in the queues, so that the run restarted, by cycle.

        A kernel drops such a vertex, or chunks of it, some time after it has read its graph word; from the first one
        on, it drops all further ones of the instruction. Columns: ``vertex``; ``cycle`` and ``answered`` of the read of
        its graph word; ``attempt`` and the rest as in `duplicates`, with the address of the graph word.
        """
        rows = self._of_searches()
        last = self._record.attempts.groupby("attempt").tail(1)
        over = last.index[last["attempt"] < self._record.attempt]
        rows = rows[rows["instruction"].isin(over)].sort_values([*_KERNEL, "cycle"], kind="stable")
        words = rows[rows["kind"] == "read"]
        size = 4 if self._machine.config.keeps_reach_queue else 8
        pushes = rows[(rows["kind"] == "write") & (rows["array"] == "queues") & (rows["size"] == size)]
        if size == 8:
            words = words[self._graphs[0].graph.out_degrees()[self.vertices(words)] > 0]
        pushed = pushes.groupby(_KERNEL).size().rename("pushed").reset_index()
        room = words[_KERNEL].merge(pushed, on=_KERNEL, how="left")["pushed"].fillna(0).to_numpy()
        chunks = chunks_of(words["data"].to_numpy(), self._machine.config.edge_chunk)
        demanded = words.assign(chunks=chunks).groupby(_KERNEL)["chunks"].cumsum()
        words = words[demanded.to_numpy() > room]
        return self._told(words.assign(vertex=self.vertices(words)), ["vertex", "cycle", "answered", "attempt"])

    def _told(self, rows: pd.DataFrame, names: list[str]) -> pd.DataFrame:
        """Return columns of some rows by cycle, with the vertices' names."""
        vertices = self._graphs[0].graph.original(rows["vertex"].to_numpy())
        banks = [name for name in ("controller", "bank") if name in rows]
        where = ["instruction", "iteration", "phase", "level", "engine", "module", "kernel", "address"]
        rows = rows.assign(vertex=vertices)[[*names, *where, *banks]]
        return rows.sort_values(["cycle", "engine", "kernel"], kind="stable").reset_index(drop=True)


def locate_push(point: Place, wanted: Search, replay: RecordReplay) -> Located:
    """Find the further push of a vertex in an instruction by its number, or the first vertex that a kernel drops in it.

    Raises
    ------
    MissingPointError
        The instruction has no such one.
    InputError
        The machine keeps no queue that shows further pushes; or see `Replay.make`.
    SimulationError
        See `Replay.make`.
    """
    if point.event == "duplicate":
        try:
            replay.spec.configuration.require("keeps_reach_queue")
        except ValueError as error:
            raise InputError(f"there is no duplicate to be found in the run: {error}") from None
    record, (first, end) = replay.record, wanted.spans[0]
    last = end - 1
    pushes = PushWatcher(record, window=(first, last))
    replay.watch([pushes], first=first, last=last, aim=f"looking for {point} from cycle {first:,} on")
    if point.event == "overflow":
        found = pushes.drops()
    else:
        rows = pushes.duplicates()
        found = rows[rows.duplicated("vertex")]
    if len(found) < wanted.nth:
        raise MissingPointError.few(point, record, len(found))
    row = found.iloc[wanted.nth - 1]
    return Located(cycle=int(row["cycle"]), kernel=kernel_name(row))
