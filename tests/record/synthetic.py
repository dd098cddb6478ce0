"""Records without a simulation: random, cheap, of any size, and with numbers that add up as those of a run do.

What holds: causes add up to the cycles of every interval, instruction and kernel; reads and writes follow from what the
kernels issue; every access has a bank, a link and, if it reads, a latency. What a simulation would give besides (that
the longest wait is at the hottest bank, say) does not hold.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cyscc.host.output.documents import write_sealed
from cyscc.host.output.files import identity
from cyscc.host.record.document import DOCUMENT, RECORD_SCHEMA
from cyscc.host.record.tables import ARRAYS, MODULES, TABLES, schema_of
from tests.record.synthetic_run import ANSWERS, FIFOS, LATENCIES, NAMES, PARAMETERS, Instruction, Integers, Run, Shape

Columns = dict[str, Any]
"""Columns by name: arrays, or what is the same in all rows."""


def _dense(axes: Mapping[str, Any], **values: Any) -> Columns:
    """Return the rows of all combinations, the first axis slowest, given the values of each."""
    places = np.meshgrid(*axes.values(), indexing="ij")
    columns = dict(zip(axes, places, strict=True)) | values
    return {name: np.broadcast_to(column, places[0].shape).ravel() for name, column in columns.items()}


def _sparse(axes: Mapping[str, Any], where: Integers, **values: Integers) -> Columns:
    """Return the rows of those combinations of which something is not 0."""
    at = np.nonzero(where)
    return {name: np.asarray(axes[name])[place] for name, place in zip(axes, at, strict=True)} | {
        name: value[at] for name, value in values.items()
    }


def _named(names: Sequence[str], values: Integers) -> Columns:
    """Return the columns of a last axis by name."""
    return dict(zip(names, np.moveaxis(values, -1, 0), strict=True))


def _kernel_tables(run: Run) -> dict[str, list[Columns]]:
    """Return the parts of kernels, fifos, instruction_kernels, instruction_fifos."""
    found: dict[str, list[Columns]] = {}
    for module, kernels in run.modules.items():
        causes = run.causes[module]
        axes = {"engine": range(run.config.engines), "kernel": range(kernels)}
        intervals, fifos = {"cycle": run.cycle, **axes}, {"fifo": FIFOS[module]}
        ran = np.flatnonzero(run.run_by[module])
        begun, done = (each[module][ran] - run.starts[ran][:, None, None] for each in (run.begun, run.done))
        mine = _named(NAMES, run.of_instruction(causes)[ran])
        active = causes[..., 6:].sum(axis=-1)[..., None]
        depths = np.array([getattr(run.config, name) for name in PARAMETERS[module]])
        level = run.random.uniform(0, 0.9, (*active.shape[:3], len(depths))) ** 2 * depths
        fill = (active * level).astype(np.int64)
        most = np.where(active > 0, np.minimum(depths, np.ceil(level * 1.2)), 0).astype(np.int64)
        largest = np.zeros((run.intervals, *most.shape[1:]), np.int64)
        np.maximum.at(largest, run.interval_of, most)
        most_of = np.zeros((len(run.instructions), len(depths)), np.int64)
        inside = run.of >= 0
        np.maximum.at(most_of, run.of[inside], most[inside].max(axis=(1, 2)))
        filled = run.of_instruction(fill)[ran].sum(axis=(1, 2))
        for table, rows in (
            ("kernels", _dense(intervals, module=module, **_named(NAMES, run.of_interval(causes)))),
            (
                "instruction_kernels",
                _dense({"instruction": ran, **axes}, module=module, begun=begun, done=done, **mine),
            ),
            ("fifos", _dense(intervals | fifos, module=module, fill=run.of_interval(fill), most=largest)),
            ("instruction_fifos", _dense({"instruction": ran, **fifos}, module=module, fill=filled, most=most_of[ran])),
        ):
            found.setdefault(table, []).append(rows)
    return found


def _memory_tables(run: Run) -> dict[str, list[Columns]]:
    """Return the parts of the tables of arrays, links, banks and latencies."""
    reads, writes = run.accesses()
    random, contention = run.random, run.contention
    instructions, engines = range(len(run.instructions)), range(run.config.engines)
    weights = 0.5 ** np.arange(LATENCIES.size)
    taken = random.multinomial(reads, weights / weights.sum())
    per = _named(("reads", "writes", "latency"), run.of_interval(np.stack([reads, writes, taken @ LATENCIES], axis=-1)))
    axes = {"cycle": run.cycle, "engine": engines, "array": ARRAYS}
    by_latency = run.of_instruction(taken.sum(axis=(1, 2)))
    found = {
        "arrays": [_sparse(axes, per["reads"] + per["writes"], **per)],
        "instruction_latencies": [
            _sparse({"instruction": instructions, "latency": LATENCIES}, by_latency, reads=by_latency)
        ],
    }
    found |= {name: [] for name in ("links", "banks", "instruction_banks", "instruction_links", "instruction_rows")}
    if contention is None:
        return found
    all_of = reads + writes
    even = np.full(contention.links, 1 / contention.links)
    pieces = np.stack([random.multinomial(each.sum(axis=2), even) for each in (reads, writes)], axis=-1)
    links = {"engine": engines, "link": range(contention.links)}
    by_instruction = _named(("reads", "writes"), run.of_instruction(pieces))
    asked = by_instruction["reads"] + by_instruction["writes"]
    found["instruction_links"].append(_sparse({"instruction": instructions, **links}, asked, **by_instruction))
    asked = run.of_interval(pieces.sum(axis=-1))
    rows = _sparse({"cycle": run.cycle, **links}, asked, requests=asked)
    found["links"].append(rows | {"waiting": random.binomial(9 * rows["requests"], 0.3)})
    # A few banks have the words of hubs.
    even = np.full(contention.banks, 1 / contention.banks)
    zipf = random.permutation(1 / np.arange(1, contention.banks + 1))
    banks = {"bank": range(contention.banks)}
    intervals = np.zeros((run.intervals, contention.banks), np.int64)
    for place, array in enumerate(ARRAYS):
        share = 0.6 * even + 0.4 * zipf / zipf.sum() if array == "words" else even
        # Instruction by instruction, so that a large record needs little memory.
        for number in range(-1, len(run.instructions)):
            (own,) = np.nonzero(run.of == number)
            counts = random.multinomial(all_of[own, :, place].sum(axis=1), share)
            np.add.at(intervals, run.interval_of[own], counts)
            accesses = counts.sum(axis=0)
            if accesses.any() and number >= 0:
                rows = _sparse(banks, accesses, accesses=accesses)
                found["instruction_banks"].append({"instruction": number, "array": array, **rows})
    found["banks"].append(_sparse({"cycle": run.cycle, **banks}, intervals, accesses=intervals))
    per_bank = contention.banks // contention.controllers
    for rows in found["banks"] + found["instruction_banks"]:
        rows["waiting"] = rows["accesses"] * np.minimum(rows["accesses"], 400) // 4
        rows["controller"], rows["bank"] = np.divmod(rows["bank"], per_bank)
    return found


def _instruction_table(run: Run) -> Columns:
    """Return the table of instructions; what a level pushes the next one reads."""
    frontier = []
    for each in run.instructions:
        rank = len(run.shape.levels) - 1 - each.level
        frontier.append(1 if each.level == 0 else 0 if each.level < 0 else 1 + each.cycles // 3 * min(rank, 2))
    read = np.array(frontier)
    follows = [a.phase == b.phase and b.level == a.level + 1 for a, b in pairwise(run.instructions)]
    pushed = np.where([*follows, False], np.append(read[1:], 0), 0)
    told = {name: [getattr(each, name) for each in run.instructions] for name in Instruction._fields}
    return told | {
        "instruction": np.arange(len(run.instructions)),
        "frontier": read,
        "pushed": pushed,
        "start": run.starts,
        "working": run.working - run.starts,
        "edges": 4 * read,
        "duplicates": run.random.binomial(pushed, 0.03),
        "cycles": run.ends - run.starts,
    }


def _write(folder: Path, parts: dict[str, list[Columns]]) -> tuple[dict[str, int], dict[str, str]]:
    """Write the tables with the columns that they are to have; return their rows and digests."""
    rows, digests = {}, {}
    for table in TABLES:
        names = [column.name for column in table.columns]
        frame = pd.concat([pd.DataFrame(dict.fromkeys(names, ()), dtype=object), *map(pd.DataFrame, parts[table.name])])
        keys = [name for name in ("cycle", "instruction", "engine", "module", "kernel") if name in names]
        ordered = frame[names].sort_values(keys, kind="stable")
        file = folder / f"{table.name}.parquet"
        columns = pa.Table.from_pandas(ordered, schema_of(table.name), preserve_index=False)
        pq.write_table(columns.replace_schema_metadata(None), file, compression="zstd")
        rows[table.name], digests[table.name] = len(ordered), hashlib.sha256(file.read_bytes()).hexdigest()
    return rows, digests


def _document(run: Run, rows: dict[str, int], digests: dict[str, str]) -> dict[str, Any]:
    """Return the record's document."""
    shape, config = run.shape, run.config
    lengths = run.ends - run.starts
    restarted = int(lengths[run.given_up].sum())
    counted = int(lengths[~run.given_up].sum())
    cycles = {
        "instructions": counted,
        "host": run.total - run.readout - counted - restarted,
        "restarted": restarted,
        "readout": run.readout,
        "total": run.total,
    }
    profile = {"profile": shape.memory, **asdict(run.memory), "source": "0" * 64}
    scc = bool(shape.iterations)
    result = {
        **identity(),
        "graph": {"file": "synthetic.gr", "vertices": 5000, "edges": 40_000, "dropped_edges": None},
        "cycles": {"total": counted},
        "seconds": counted / (config.clock_mhz * 1e6),
        "edges_traversed": 40_000,
        "gteps": 40_000 / max(1, counted) * config.clock_mhz / 1e3,
        "verified": True,
        "retries": int(shape.restarted),
        "statistics": {"cycles": cycles},
        **({"components": {"count": 3000, "largest": 800}, "iterations": shape.iterations} if scc else {"source": 1}),
    }
    contention, none = run.contention, np.zeros((1, 1, 1, len(NAMES)), np.int32)
    memory = None
    if contention is not None:
        memory = {"controllers": contention.controllers, "banks": contention.banks // contention.controllers}
        memory |= {"links": contention.links, "bank_busy": contention.bank_busy}
    options = {"source": None if scc else 1, "config": shape.config, "memory": shape.memory, "executor": "compiled"}
    options |= {"threads": 1, "queue_slack": None, "cycle_limit": None, "simplify": False}
    return {
        "record": RECORD_SCHEMA,
        "schema": result["schema"],
        "version": result["version"],
        "program": "0" * 64,
        "command": "scc" if scc else "bfs",
        "run": {
            "graph": "synthetic.gr",
            "folder": "/somewhere",
            "digest": "0" * 64,
            "vertices": 5000,
            "edges": 40_000,
            "options": options,
        },
        "interval": shape.interval,
        "clock_hz": config.clock_mhz * 1e6,
        "configuration": asdict(config),
        "memory_profile": profile,
        "machine": {
            "engines": config.engines,
            "kernels": {name: run.modules.get(name, 0) for name in MODULES},
            "fifos": {
                name: [
                    {"name": fifo, "depth": getattr(config, parameter), "parameter": parameter, "answers": answers}
                    for fifo, parameter, answers in zip(FIFOS[name], PARAMETERS[name], ANSWERS[name], strict=True)
                ]
                for name in MODULES
            },
            "memory": memory,
        },
        "cycles": cycles,
        "causes": {
            name: dict(zip(NAMES, run.causes.get(name, none).sum(axis=(0, 1, 2), dtype=np.int64).tolist(), strict=True))
            for name in MODULES
        },
        "tables": rows,
        "digests": digests,
        "result": result,
    }


def write_record(folder: Path, shape: Shape | None = None) -> Path:
    """Write a record.

    Parameters
    ----------
    folder : Path
        Where; made if it is not there.
    shape : Shape, optional
        Its sizes.

    Returns
    -------
    Path
        The folder.
    """
    run = Run(shape or Shape())
    folder.mkdir(parents=True, exist_ok=True)
    interval = np.minimum(np.full(run.intervals, run.shape.interval), run.total - run.cycle)
    engines = _dense(
        {"cycle": run.cycle, "engine": range(run.config.engines)},
        bfs_turns=interval[:, None] // 20,
        intersection_turns=interval[:, None] // 20 * ("intersection" in run.modules),
    )
    for name, most in (("ordering", 50), ("read_stalls", 30), ("write_stalls", 30)):
        engines[name] = run.random.integers(0, most, engines["cycle"].size)
    parts = {**_kernel_tables(run), **_memory_tables(run), "engines": [engines]}
    parts["instructions"] = [_instruction_table(run)]
    write_sealed(folder / DOCUMENT, _document(run, *_write(folder, parts)))
    return folder
