"""The document of a record: what ran, with which result, and what the numbers of the tables mean."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from host.record.arrow import numbers_of
from host.record.reader import RECORD_SCHEMA
from host.record.tables import MODULES
from host.results.version import identity
from host.sources import sources_digest
from sim.errors import HangError, SimulationError
from sim.executors.making import watchdog_cycles
from sim.memory import Contention
from sim.observation.causes import CAUSES

if TYPE_CHECKING:
    from sim.machine import Machine

__all__ = ["failure_document", "kernel_cycles", "machine_document", "record_document", "setting_document"]


def machine_document(machine: "Machine") -> dict[str, Any]:
    """Return the sizes of a machine that the tables speak of, JSON-able."""
    config, memory = machine.config, machine.memory
    contention = memory.profile.contention
    return {
        "engines": config.engines,
        "kernels": dict(zip(MODULES, (config.bfs_kernels, config.intersection_kernels), strict=True)),
        "fifos": {
            module: [
                {
                    "name": fifo.name,
                    "depth": getattr(config, fifo.parameter),
                    "parameter": fifo.parameter,
                    "answers": fifo.answers and fifo.answers.row.name,
                }
                for fifo in its
            ]
            for module, its in machine.fifos.items()
        },
        "memory": None
        if contention is None
        else {
            "controllers": contention.controllers,
            "banks": contention.banks // contention.controllers,
            "links": contention.links,
            "bank_busy": _bank_busy(machine.memory.statistics(), contention),
        },
    }


def _bank_busy(statistics: Mapping[str, Any], contention: Contention) -> float:
    """Return the cycles of a bank for an access: where banks have rows, on average of those that were made."""
    accesses = sum(statistics["banks"]) if contention.rows is not None else 0
    return statistics["bank_busy_cycles"] / accesses if accesses else contention.bank_busy


def kernel_cycles(folder: Path) -> dict[str, dict[str, int]]:
    """Return the cycles of all kernels by module and cause, from the table ``kernels`` in a folder."""
    import pyarrow.parquet as pq

    names = [cause.name for cause in CAUSES]
    sums = np.zeros((len(MODULES), len(CAUSES)), np.int64)
    with pq.ParquetFile(folder / "kernels.parquet") as file:
        # Piece by piece: a long run has more rows than fit into memory.
        for rows in file.iter_batches(columns=["module", *names]):
            module = rows.column("module")
            own = np.array([MODULES.index(str(name)) for name in module.dictionary])[numbers_of(module.indices)]
            for place, name in enumerate(names):
                cycles = numbers_of(rows.column(name))
                sums[:, place] += np.bincount(own, weights=cycles, minlength=len(MODULES)).astype(np.int64)
    return {module: dict(zip(names, row, strict=True)) for module, row in zip(MODULES, sums.tolist(), strict=True)}


def setting_document(machine: "Machine", run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ran."""
    return {
        "record": RECORD_SCHEMA,
        **identity(),
        "program": sources_digest(),
        **run,
        "clock_hz": machine.clock,
        "configuration": asdict(machine.config),
        "memory_profile": machine.memory.profile.describe(),
        "machine": machine_document(machine),
    }


def failure_document(
    machine: "Machine",
    error: SimulationError,
    *,
    run: Mapping[str, Any],
    checkpoint: str | None,
) -> dict[str, Any]:
    """Return the document of a run that failed, of which there are no tables.

    Parameters
    ----------
    machine : Machine
        The machine.
    error : SimulationError
        How it failed.
    run
        As of `record_document`.
    checkpoint : str or None
        The folder that the run is kept in.
    """
    silent = watchdog_cycles(machine.memory.profile) if isinstance(error, HangError) else 0
    return {
        **setting_document(machine, run),
        "failure": {
            "message": str(error),
            "diagnosis": error.diagnosis,
            "cycle": machine.reached,
            "moved": max(machine.reached - silent - 1, 0) if silent else None,
        },
        "checkpoint": checkpoint,
    }


def record_document(
    machine: "Machine",
    *,
    run: Mapping[str, Any],
    causes: Mapping[str, Mapping[str, int]],
    rows: Mapping[str, int],
    result: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the document of a record.

    Parameters
    ----------
    machine : Machine
        The machine.
    run : mapping
        ``command``, the algorithm; ``run``, what a replay needs: the graph's file and digest, the folder of the run,
        and its options; ``interval``, cycles of an interval.
    causes : mapping
        Kernel-cycles by module and cause.
    rows : mapping of str to int
        Rows of each table.
    result : mapping
        The result, as ``--json`` has it.
    """
    return {
        **setting_document(machine, run),
        "cycles": result["statistics"]["cycles"],
        "causes": causes,
        "tables": dict(rows),
        "result": dict(result),
    }
