"""The measurements of a benchmark, one after the other, and what they come to."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from statistics import median
from typing import Any

from host.measuring.setting import describe_setting, root_folder
from host.studies.benchmark.workloads import Preset, Workload
from sim.errors import SimulationError
from sim.executors.comparison.contenders import CONTENDERS, missing_tool

__all__ = ["OURS", "busy_warnings", "run_benchmark", "summarise"]

OURS = ("compiled-2", "compiled-1")
"""The executor of the project, which the others are compared with."""

_LEAST_SHARE = 0.8
"""A run that gets less of its threads' time than this shares the cores with something else."""

_SHORTEST = 0.5
"""Seconds below which that cannot be told."""

_Record = dict[str, Any]


def run_benchmark(
    preset: Preset,
    contenders: list[str],
    *,
    repetitions: int | None = None,
    on_measurement: Callable[[str], None] = lambda label: None,
) -> _Record:
    """Measure contenders, each in processes of their own, with a cache of built executors that is empty at first.

    The graph of a slower contender also runs on the executor of the project, in turn with it.

    Parameters
    ----------
    preset : Preset
        What to run.
    contenders : list of str
        Which of `CONTENDERS`.
    repetitions : int, optional
        How often, instead of what the preset says.
    on_measurement : callable, optional
        Told what is about to be measured.

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
    with tempfile.TemporaryDirectory(prefix="cyscc-bench-") as cache:

        def measure_all(names: list[str], workload: Workload, times: int) -> dict[str, list[_Record]]:
            found: dict[str, list[_Record]] = {name: [] for name in names}
            for repetition in range(times):
                for name in names:
                    on_measurement(f"{CONTENDERS[name]}, {workload.graph}, {repetition + 1} of {times}")
                    found[name].append(_in_own_process(name, workload, cache))
            return found

        own = [name for name in contenders if name in OURS]
        groups = [own] if own else []
        groups += [[name] for name in contenders if name not in OURS]
        for group in groups:
            missing = missing_tool(group[0])
            workload = preset.workload(group[0])
            if missing is not None:
                rows += [{"name": group[0], "label": CONTENDERS[group[0]], "unavailable": missing}]
                continue
            times = repetitions or preset.repetitions[group[0]]
            names = list(dict.fromkeys([*group, *OURS])) if group[0] not in OURS else group
            found = measure_all(names, workload, times)
            ours = [summarise(name, workload, found[name]) for name in names if name in OURS]
            if group[0] in OURS:
                rows += [compare(row, ours) for row in ours]
            else:
                rows.append(compare(summarise(group[0], workload, found[group[0]]), ours))
                references += ours
    _share_builds(rows, references)
    return {
        **describe_setting(),
        "config": preset.config,
        "memory": preset.memory,
        "rows": rows,
        "references": references,
        "warnings": [warning for row in (*rows, *references) for warning in busy_warnings(row)],
    }


def _in_own_process(contender: str, workload: Workload, cache: str) -> _Record:
    arguments = ["--one", contender, "--config", workload.config, "--memory", workload.memory]
    arguments += ["--vertices", str(workload.vertices), "--degree", str(workload.degree)]
    path = os.pathsep.join(filter(None, [str(root_folder()), os.environ.get("PYTHONPATH")]))
    result = subprocess.run(
        [sys.executable, "-m", "host.studies.benchmark", *arguments],
        env={**os.environ, "CYSCC_CACHE": cache, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        line, _, rest = result.stderr.strip().partition("\n")
        how = line.removeprefix("bench: ") or f"ended with status {result.returncode}"
        raise SimulationError(f"{CONTENDERS[contender]}, {workload.graph}: {how}", rest)
    record: _Record = json.loads(result.stdout.splitlines()[-1])
    return record


def summarise(name: str, workload: Workload, repetitions: list[_Record]) -> _Record:
    """Return the row of a contender: medians, and every repetition.

    Raises
    ------
    SimulationError
        The repetitions do not agree in cycles and contents of the memory.
    """
    first = repetitions[0]
    if any(_result(each) != _result(first) for each in repetitions):
        raise SimulationError(f"{CONTENDERS[name]}, {workload.graph}: repetitions differ in cycles or memory contents")
    speeds = [each["cycles"] / each["seconds"] for each in repetitions]
    return {
        "name": name,
        "label": CONTENDERS[name],
        "graph": {"vertices": workload.vertices, "degree": workload.degree, "edges_traversed": first["edges"]},
        "workload": workload.graph,
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


def _share_builds(rows: list[_Record], references: list[_Record]) -> None:
    """Give all rows of the project's executor the time of its one cold build."""
    own = [row for row in (*rows, *references) if row["name"] in OURS]
    for row in own:
        row["build_seconds"] = max(each["build_seconds"] for each in own)


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
