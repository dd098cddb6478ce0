"""Results of benchmarks of contenders, as documents and tables."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from cyscc.host.answer.answer import Answer
from cyscc.host.experiments.benchmark.search import ContenderRequest, Preset, Workload, describe_environment
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.sheets import sheet_of
from cyscc.host.output.text import count_text
from cyscc.sim.errors import SimulationError
from cyscc.sim.executors.comparison.contenders import CONTENDERS

OURS = ("compiled-2", "compiled-1")
"""The project's executor, the reference of all comparisons, with two threads and with one."""

_LEAST_SHARE = 0.8
"""Least share of its threads' time that a run must get; below it, another process has used the cores."""

_SHORTEST = 0.5
"""Least seconds of a run for which that share is meaningful."""

_Record = dict[str, Any]


def run_benchmark(
    measurements: Plan, preset: Preset, contenders: Sequence[str], *, repetitions: int | None = None
) -> _Record:
    """Measure contenders, starting with an empty cache of built executors.

    The graph of a slower contender also runs on the project's executor, alternating with it. Plan stay in the
    store until all are complete: an interrupted benchmark resumes, and a completed one starts anew.

    Parameters
    ----------
    measurements : Plan
        Performs the measurements.
    preset : Preset
        The workloads.
    contenders : sequence of str
        Names of contenders, of `CONTENDERS`.
    repetitions : int, optional
        Number of repetitions; by default that of the preset.

    Returns
    -------
    dict
        A JSON document: the setting, ``rows``, ``references`` (the project's executor on the other contenders' graphs)
        and ``warnings``.

    Raises
    ------
    SimulationError
        A measurement failed.
    """
    own = [name for name in contenders if name in OURS]
    groups = [own] if own else []
    groups += [[name, *OURS] for name in contenders if name not in OURS]
    with tempfile.TemporaryDirectory(prefix="cyscc-bench-") as cache:
        requests = {group[0]: _requests(group, preset, repetitions, Path(cache)) for group in groups}
        wanted = [request for each in requests.values() for request in each]
        results = measurements.measure(wanted)
    rows: list[_Record] = []
    references: list[_Record] = []
    for first, *others in groups:
        found = [
            summarise(
                name,
                preset.workload(name, beside=first),
                [results[each] for each in requests[first] if each.contender == name],
            )
            for name in (first, *others)
        ]
        ours = [row for row in found if row["name"] in OURS]
        rows += [compare(row, ours) for row in found if row["name"] == first or first in OURS]
        references += [] if first in OURS else ours
    # The project's executor is built only once: all its rows have the time of that build.
    executors = [row for row in (*rows, *references) if row["name"] in OURS]
    for row in executors:
        row["build_seconds"] = max(each["build_seconds"] for each in executors)
    document = {
        **describe_environment(),
        "config": preset.config,
        "memory": preset.memory,
        "rows": rows,
        "references": references,
        "warnings": [warning for row in (*rows, *references) for warning in busy_warnings(row)],
    }
    measurements.forget(wanted)
    return document


def _requests(group: Sequence[str], preset: Preset, repetitions: int | None, cache: Path) -> list[ContenderRequest]:
    """Return the measurements of a group of contenders, alternating, on the graph of the first one."""
    times = repetitions or preset.repetitions[group[0]]
    workloads = {name: preset.workload(name, beside=group[0]) for name in group}
    return [
        ContenderRequest(
            graph=workload.graph,
            contender=name,
            workload=workload,
            beside=group[0],
            repetition=repetition,
            repetitions=times,
            cache=cache,
        )
        for repetition in range(1, times + 1)
        for name, workload in workloads.items()
    ]


def summarise(name: str, workload: Workload, repetitions: list[_Record]) -> _Record:
    """Return the row of a contender: medians, and all repetitions.

    Raises
    ------
    SimulationError
        The repetitions differ in cycles or memory contents.
    """
    first = repetitions[0]
    if any(_result(each) != _result(first) for each in repetitions):
        raise SimulationError(
            f"{CONTENDERS[name]}, {workload.graph_text}: repetitions differ in cycles or memory contents"
        )
    speeds = [each["cycles"] / each["seconds"] for each in repetitions]
    return {
        "name": name,
        "label": CONTENDERS[name],
        "graph": {"vertices": workload.vertices, "degree": workload.degree, "edges_traversed": first["edges"]},
        "workload": workload.graph_text,
        "config": workload.config,
        "kernels": first["kernels"],
        "cycles": first["cycles"],
        "cycles_per_second": median(speeds),
        "kernel_cycles_per_second": median(speeds) * first["kernels"],
        "edges_per_second": median(each["edges"] / each["seconds"] for each in repetitions),
        "peak_memory_bytes": int(median(each["peak_memory_bytes"] for each in repetitions)),
        "build_seconds": first["build_seconds"],
        "repetitions": repetitions,
    }


def _result(repetition: _Record) -> tuple[Any, ...]:
    return repetition["levels"], repetition["cycles"], repetition["memory"], repetition["edges"]


def compare(row: _Record, ours: list[_Record]) -> _Record:
    """Return a row with its comparison to the project's executor on the same graph.

    ``same``: whether the cycles of every level and the memory contents are equal; None without a reference of the same
    machine. ``faster``: the ratio of cycles per second of the project's executor, by name; empty in its own rows.
    """
    others = [other for other in ours if other["name"] != row["name"]]
    alike = [_result(other["repetitions"][0]) for other in others if other["config"] == row["config"]]
    result = _result(row["repetitions"][0])
    return {
        **row,
        "same": all(other == result for other in alike) if alike else None,
        "faster": {
            other["name"]: other["cycles_per_second"] / row["cycles_per_second"]
            for other in others
            if row["name"] not in OURS
        },
    }


def busy_warnings(row: _Record) -> list[str]:
    """Return a warning if, by wall and user time, the runs of a row shared their cores with other processes."""
    repetitions = row["repetitions"]
    threads = 2 if row["name"].endswith("-2") else 1
    shares = [
        each["user_seconds"] / (threads * each["seconds"]) for each in repetitions if each["seconds"] >= _SHORTEST
    ]
    if not shares or median(shares) >= _LEAST_SHARE:
        return []
    return [
        f"{row['label']}, {row['workload']}: its {count_text(threads, 'thread')} had {median(shares):.0%} of "
        "the time of as many cores: another process took the rest, or they waited"
    ]


def benchmark_answer(document: dict[str, Any]) -> Answer:
    """Return the document of `run_benchmark` as an answer, with the setting of the measurements."""
    rows = [
        {
            **row,
            "same": {True: "yes", False: "NO", None: None}[row["same"]],
            "memory": row["peak_memory_bytes"] / 2**20,
        }
        for row in document["rows"]
    ]
    words = {**document, "revision": document["revision"] or "not in a repository"}
    said = [f"warning: {warning}" for warning in document["warnings"]]
    return sheet_of("bench").answer(words, {"rows": rows}, said=said, fields=document)
