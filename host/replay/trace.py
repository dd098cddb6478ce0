"""Perfetto traces of a window of a recorded run: what every kernel did in each cycle, and each memory access."""

import heapq
from typing import Any

import pandas as pd

from cyscc.host.analysis.trace import RecordTrace
from cyscc.host.output.files import open_output
from cyscc.host.record.reader import Record
from cyscc.host.replay.accesses import AccessWatcher
from cyscc.host.replay.replaying import RecordReplay, Window, WindowRequest
from cyscc.host.replay.spells import WaitWatcher
from cyscc.host.runs.rerun import RerunSetting
from cyscc.sim.observation.causes import CAUSES


def trace_window(record: Record, wanted: WindowRequest, path: str, setting: RerunSetting) -> tuple[Window, int]:
    """Make a recorded run again up to a point, and write the trace of a window there.

    Parameters
    ----------
    record : Record
        The record.
    wanted : WindowRequest
        The window.
    path : str
        The file, ``.pftrace`` by custom, or ``-`` for standard output.
    setting : RerunSetting
        How the run is made again.

    Returns
    -------
    (Window, int)
        The window, and the number of slices of kernels in the trace.

    Raises
    ------
    InputError
        The record, checkpoint or graph cannot be used, the run has no such point, or the file cannot be written.
    SimulationError
        The run failed before the end of the window.
    """
    replay = RecordReplay(record, setting)
    with replay.window(wanted) as window:
        _, first, last = window
        waits, accesses = WaitWatcher(1, windows=[(first, last)]), AccessWatcher(window=(first, last), completions=True)
        replay.watch([waits, accesses], first=first, last=last, aim=f"to cycle {last:,}")
    with setting.progress.step("writing the trace"), open_output(path) as file:
        trace = RecordTrace(file, record, (first, last + 1))
        trace.add_instructions()
        slices = _add_kernels(trace, waits.frame(), accesses.named(record))
        trace.add_counters()
    return window, slices


_TITLES = {cause.name: cause.title for cause in CAUSES}


def _add_kernels(tracks: RecordTrace, waits: pd.DataFrame, accesses: pd.DataFrame) -> int:
    """Add the slices of the kernels: their causes, cycle by cycle, and their accesses; return the number of slices."""
    groups, keys = tracks.kernel_groups(), ["engine", "module", "kernel"]
    causes = dict(list(waits.groupby(keys, observed=True)))
    by_process = dict(list(accesses.groupby([*keys, "kind", "process"], observed=True, sort=True)))
    kernels = sorted({key[:3] for key in (*causes, *by_process)})
    for engine, module, number in kernels:
        about = "A gap: no run is under way in this kernel, because it is done, or the instruction has not reached it."
        kernel = tracks.add(f"{module} kernel {number}", parent=groups[engine, module], rank=1 + number)
        if (engine, module, number) in causes:
            track = tracks.add("cause of each cycle", about=about, parent=kernel)
            for row in causes[engine, module, number].to_dict("records"):
                begin, cycles = row["begin"], row["cycles"]
                notes = {"cycles": cycles, "begin": begin}
                tracks.cut_slice(track, _TITLES[row["cause"]], begin, begin + cycles, notes)
        own = [(key[3:], rows) for key, rows in by_process.items() if key[:3] == (engine, module, number)]
        for rank, ((kind, process), rows) in enumerate(own):
            _add_accesses(tracks, kernel, f"{process}: {kind}s", kind, rows, 1 + rank)
    return len(waits) + len(accesses)


_ABOUT = {
    "read": "Reads, from the cycle in which the port took them to that of the response.",
    "write": "Writes, from the cycle in which the port took them until they were complete.",
}


def _add_accesses(tracks: RecordTrace, kernel: int, title: str, kind: str, rows: pd.DataFrame, rank: int) -> None:
    """Add the accesses of a process; those that overlap are on tracks of one name, which the viewer draws as one."""
    free: list[tuple[int, int]] = []
    for row in rows.to_dict("records"):
        begin, end = row["cycle"], max(row["answered"], row["cycle"] + 1)
        if free and free[0][0] <= begin:
            _, track = heapq.heappop(free)
        else:
            track = tracks.add(title, about=_ABOUT[kind], parent=kernel, rank=rank)
        heapq.heappush(free, (end, track))
        known = row["vertex"] >= 0
        notes: dict[str, Any] = {"array": row["array"], **({"vertex": row["vertex"]} if known else {})}
        notes |= {"address": f"{row['address']:#x}", "latency": row["answered"] - row["cycle"]}
        if "bank" in row:
            notes["bank"] = f"{row['controller']}.{row['bank']}"
        notes["data"] = f"{row['data']:#x}"
        tracks.slice(track, f"{row['array']} {row['vertex']}" if known else str(row["array"]), begin, end, notes)
