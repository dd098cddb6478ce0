"""The rows of a benchmark: what the measurements of each contender come to, for programs and people."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from host.measuring.measurements import Measurements
from host.measuring.setting import describe_setting
from host.results.table_text import markdown_table
from host.studies.benchmark.search import ContenderRequest, Preset, Workload
from sim.errors import SimulationError
from sim.executors.comparison.contenders import CONTENDERS, missing_tool

__all__ = ["benchmark_markdown", "busy_warnings", "run_benchmark", "summarise"]

OURS = ("compiled-2", "compiled-1")
"""The executor of the project, which the others are compared with."""

_LEAST_SHARE = 0.8
"""A run that gets less of its threads' time than this shares the cores with something else."""

_SHORTEST = 0.5
"""Seconds below which that cannot be told."""

_Record = dict[str, Any]


def run_benchmark(
    measurements: Measurements, preset: Preset, contenders: Sequence[str], *, repetitions: int | None = None
) -> _Record:
    """Measure contenders, with a cache of built executors that is empty at first.

    The graph of a slower contender also runs on the executor of the project, in turn with it. What is measured is kept
    until all is there, so that an interrupted benchmark goes on where it stopped and a finished one begins anew.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    preset : Preset
        What to run.
    contenders : sequence of str
        Which of `CONTENDERS`.
    repetitions : int, optional
        How often, instead of what the preset says.

    Returns
    -------
    dict
        JSON-able: the setting, ``rows``, ``references`` (the executor of the project on the others' graphs) and
        ``warnings``.

    Raises
    ------
    SimulationError
        A measurement failed.
    """
    rows: list[_Record] = []
    references: list[_Record] = []
    own = [name for name in contenders if name in OURS]
    groups = [own] if own else []
    groups += [[name, *OURS] for name in contenders if name not in OURS]
    missing = {group[0]: missing_tool(group[0]) for group in groups}
    with tempfile.TemporaryDirectory(prefix="cyscc-bench-") as cache:
        requests = {
            group[0]: _requests(group, preset, repetitions, Path(cache)) for group in groups if not missing[group[0]]
        }
        wanted = [request for each in requests.values() for request in each]
        results = measurements.measure(wanted)
    for first, *others in groups:
        if missing[first] is not None:
            rows.append({"name": first, "label": CONTENDERS[first], "unavailable": missing[first]})
            continue
        workload = preset.workload(first)
        found = {
            name: summarise(name, workload, [results[each] for each in requests[first] if each.contender == name])
            for name in (first, *others)
        }
        ours = [row for name, row in found.items() if name in OURS]
        rows += [compare(row, ours) for row in (ours if first in OURS else [found[first]])]
        references += [] if first in OURS else ours
    # All rows of the project's executor have the time of its one cold build.
    executors = [row for row in (*rows, *references) if row["name"] in OURS]
    build = max((row["build_seconds"] for row in executors), default=None)
    for row in executors:
        row["build_seconds"] = build
    document = {
        **describe_setting(),
        "config": preset.config,
        "memory": preset.memory,
        "rows": rows,
        "references": references,
        "warnings": [warning for row in (*rows, *references) for warning in busy_warnings(row)],
    }
    measurements.forget(wanted)
    return document


def _requests(group: Sequence[str], preset: Preset, repetitions: int | None, cache: Path) -> list[ContenderRequest]:
    """Return the measurements of contenders on the graph of the first one, in turn."""
    workload = preset.workload(group[0])
    times = repetitions or preset.repetitions[group[0]]
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
        for name in group
    ]


def summarise(name: str, workload: Workload, repetitions: list[_Record]) -> _Record:
    """Return the row of a contender: medians, and every repetition.

    Raises
    ------
    SimulationError
        The repetitions do not agree in cycles and contents of the memory.
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
    """Return a row with what a comparison with the executor of the project on the same graph gives.

    ``same``: cycles of every level and contents of the memory are equal; None if there is nothing to compare with.
    ``faster``: by name, how many times as fast the executor of the project is; empty in its own rows.
    """
    others = [other for other in ours if other["name"] != row["name"]]
    result = _result(row["repetitions"][0])
    return {
        **row,
        "same": all(_result(other["repetitions"][0]) == result for other in others) if others else None,
        "faster": {
            other["name"]: other["cycles_per_second"] / row["cycles_per_second"]
            for other in others
            if row["name"] not in OURS
        },
    }


def busy_warnings(row: _Record) -> list[str]:
    """Return a line if the runs of a row shared the cores with something else, by wall and user time."""
    repetitions = row.get("repetitions", [])
    threads = 2 if row["name"] == "compiled-2" else 1
    shares = [
        each["user_seconds"] / (threads * each["seconds"]) for each in repetitions if each["seconds"] >= _SHORTEST
    ]
    if not shares or median(shares) >= _LEAST_SHARE:
        return []
    return [
        f"{row['label']}, {row['workload']}: its {threads} thread{'s' * (threads > 1)} had {median(shares):.0%} of "
        "the time of as many cores: another process took the rest, or they waited"
    ]


_HEAD = (
    *("", "graph", "cycles", "cycles/s", "kernel-cycles/s", "edges/s", "same"),
    *("2 threads is", "1 thread is", "memory", "build"),
)


def _factor(row: dict[str, Any], name: str) -> str:
    return f"{row['faster'][name]:.1f} x" if name in row["faster"] else ""


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "unavailable" in row:
        return (row["label"], *[""] * (len(_HEAD) - 1))
    return (
        row["label"],
        row["workload"],
        f"{row['cycles']:,}",
        f"{row['cycles_per_second']:,.0f}",
        f"{row['kernel_cycles_per_second']:,.0f}",
        f"{row['edges_per_second']:,.0f}",
        {True: "yes", False: "NO", None: ""}[row["same"]],
        _factor(row, "compiled-2"),
        _factor(row, "compiled-1"),
        f"{row['peak_memory_bytes'] / 2**20:,.0f} MiB",
        f"{row['build_seconds']:.1f} s",
    )


def benchmark_markdown(document: dict[str, Any]) -> str:
    """Return the table of `host.studies.benchmark.rows.run_benchmark`'s document, with what it was measured on."""
    machine, revision = document["machine"], document["revision"] or "not in a repository"
    lines = [
        f"configuration {document['config']}, memory {document['memory']}; {machine['processor']}, "
        f"{machine['cores']} cores; revision {revision}",
        "",
        markdown_table(_HEAD, [_cells(row) for row in document["rows"]]),
        "same: cycles of every level and memory contents are those of the compiled executor; "
        "2 threads is, 1 thread is: how many times as fast that runs on the same graph",
    ]
    lines += [f"{row['label']}: {row['unavailable']}" for row in document["rows"] if "unavailable" in row]
    lines += [f"warning: {warning}" for warning in document["warnings"]]
    return "\n".join(lines) + "\n"
