"""A record as a trace for Perfetto: iterations, phases, levels, kernels by cause, memory and token over time."""

from typing import Any

import numpy as np
import numpy.typing as npt

from host.output import open_output
from host.record.reader import Record
from host.record.tables import ARRAYS
from host.trace.tracks import Tracks
from sim.observation.causes import CAUSES

__all__ = ["write_trace"]

_SLICES = 60_000
"""Slices of kernels, about: of longer runs several intervals are one slice, with the sums of their causes."""

_NAMES = [cause.name for cause in CAUSES]
_TITLES = {cause.name: cause.title for cause in CAUSES}


def write_trace(record: Record, path: str) -> None:
    """Write a record as a trace; a nanosecond of it is a cycle.

    Every slice of a kernel has the name of the cause of most of its cycles, and the cycles of each cause as arguments.

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
        tracks = Tracks(file)
        root = tracks.add(f"cyscc {record.document['command']}, a nanosecond is a cycle")
        _add_instructions(tracks, record, root)
        _add_kernels(tracks, record, root)
        _add_memory(tracks, record, root)


def _add_instructions(tracks: Tracks, record: Record, root: int) -> None:
    """Add iterations, phases and instructions."""
    rows = record.frame("instructions")
    ends = rows["start"] + rows["cycles"]
    for rank, (title, keys) in enumerate(
        (("iterations", ["attempt", "iteration"]), ("phases", ["attempt", "iteration", "phase"]))
    ):
        track = tracks.add(title, parent=root, rank=rank)
        groups = rows.assign(end=ends).groupby(keys, observed=True, sort=False)
        for key, begin, end in groups.agg(begin=("start", "min"), end=("end", "max")).itertuples():
            name = f"iteration {key[1]}" if len(keys) == 2 else str(key[2])
            tracks.last(track, name, begin, end, {"attempt": key[0], "iteration": key[1]})
    track = tracks.add("levels", parent=root, rank=2)
    columns = ("instruction", "attempt", "iteration", "cycles", "working", "frontier", "pushed", "duplicates")
    for row in rows.to_dict("records"):
        name = str(row["phase"]) if row["level"] < 0 else f"level {row['level']}"
        arguments = {column: int(row[column]) for column in columns}
        tracks.last(track, name, row["start"], row["start"] + row["cycles"], arguments)


def _add_kernels(tracks: Tracks, record: Record, root: int) -> None:
    """Add what each kernel does."""
    table = record.table("kernels")
    causes = np.stack([table[name].to_numpy() for name in _NAMES], axis=-1).astype(np.int64)
    sizes = record.document["machine"]
    kernels = [
        (engine, module, number)
        for engine in range(sizes["engines"])
        for module, count in sizes["kernels"].items()
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


def _add_kernel(tracks: Tracks, track: int, sums: npt.NDArray[np.int64], starts: list[int]) -> None:
    """Add the slices of a kernel; those after one another that have one and the same cause alone are one."""
    most = sums.argmax(axis=-1)
    alone = sums.max(axis=-1) == sums.sum(axis=-1)
    same = np.concatenate([[False], alone[1:] & alone[:-1] & (most[1:] == most[:-1])])
    firsts = np.flatnonzero(~same)
    merged = np.add.reduceat(sums, firsts, axis=0)
    ends = [starts[first] for first in firsts[1:]] + [starts[-1]]
    for first, end, counts in zip(firsts.tolist(), ends, merged.tolist(), strict=True):
        arguments = {name: count for name, count in zip(_NAMES, counts, strict=True) if count}
        tracks.last(track, _TITLES[_NAMES[most[first]]], starts[first], end, arguments)


def _add_memory(tracks: Tracks, record: Record, root: int) -> None:
    """Add what memory and token do."""
    memory = tracks.add("memory", parent=root, rank=3)
    arrays = record.frame("arrays")
    accesses = (arrays["reads"] + arrays["writes"]).groupby([arrays["cycle"], arrays["array"]], observed=False).sum()
    for rank, array in enumerate(ARRAYS):
        if array in accesses.index.get_level_values(1):
            _add_numbers(tracks, record, f"accesses to {array}", memory, rank, accesses.xs(array, level=1), "accesses")
    sums = arrays.groupby("cycle")[["latency", "reads"]].sum()
    latency = (sums["latency"] / sums["reads"].clip(lower=1)).round(2)
    _add_numbers(tracks, record, "mean latency of reads", memory, 10, latency, "cycles")
    banks = record.frame("banks")
    for column, unit in (("accesses", "accesses"), ("waiting", "cycles")):
        found = banks.groupby(["cycle", "controller"])[column].sum()
        for controller in found.index.get_level_values(1).unique():
            _add_numbers(
                tracks,
                record,
                f"{column} at controller {controller}",
                memory,
                20 + 100 * (column == "waiting") + int(controller),
                found.xs(controller, level=1),
                unit,
            )
    engines = record.frame("engines").groupby("cycle").sum()
    for rank, (column, title, unit) in enumerate(
        (
            ("read_stalls", "ports that take no read", "port-cycles"),
            ("write_stalls", "ports that take no write", "port-cycles"),
            ("ordering", "responses wait for their turn", "cycles"),
        )
    ):
        _add_numbers(tracks, record, title, memory, 300 + rank, engines[column], unit)
    token = tracks.add("token", parent=root, rank=4)
    for module in ("bfs", "intersection"):
        _add_numbers(tracks, record, f"{module} tokens at the AEs", token, 0, engines[f"{module}_turns"], "tokens")


def _add_numbers(tracks: Tracks, record: Record, title: str, parent: int, rank: int, values: Any, unit: str) -> None:
    """Add numbers by the first cycle of their interval; where there are none they are 0."""
    track = tracks.add(title, parent=parent, unit=unit, rank=rank)
    whole = values.reindex(range(0, record.cycles, record.interval), fill_value=0)
    numbers = whole.to_numpy()
    changed = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
    for cycle, value in zip(whole.index[changed].tolist(), numbers[changed].tolist(), strict=True):
        tracks.number(track, cycle, value)
    tracks.number(track, record.cycles, 0)
