"""Records without a simulation: random, cheap, of any size, and with numbers that add up as those of a run do.

What holds: causes add up to the cycles of every interval, instruction and kernel; reads and writes follow from what the
kernels issue; every access has a bank, a link and, if it reads, a latency. What a simulation would give besides (that
the longest wait is at the hottest bank, say) does not hold.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cyscc.host.output.documents import write_sealed
from cyscc.host.output.files import identity
from cyscc.host.record.document import DOCUMENT, RECORD_SCHEMA
from cyscc.host.record.tables import ARRAYS, MODULES, TABLES, schema_of
from tests.record.synthetic_run import ANSWERS, FIFOS, LATENCIES, NAMES, PARAMETERS, Instruction, Integers, Run, Shape


def _columns(**given: Any) -> dict[str, npt.NDArray[Any]]:
    return {name: np.asarray(values) for name, values in given.items()}


def _grid(*axes: Sequence[Any] | Integers) -> list[npt.NDArray[Any]]:
    """Return the columns of all combinations, the first axis slowest."""
    return [each.ravel() for each in np.meshgrid(*axes, indexing="ij")]


def _kernel_tables(run: Run) -> dict[str, list[dict[str, npt.NDArray[Any]]]]:
    """Return the parts of kernels, fifos, instruction_kernels, instruction_fifos."""
    found: dict[str, list[dict[str, npt.NDArray[Any]]]] = {name: [] for name in ("kernels", "fifos")}
    found |= {f"instruction_{name}": [] for name in found}
    engines = range(run.config.engines)
    for module, kernels in run.modules.items():
        causes = run.causes[module]
        each = run.of_interval(causes).reshape(-1, len(NAMES))
        cycle, engine, kernel = _grid(run.cycle, engines, range(kernels))
        found["kernels"].append(
            _columns(cycle=cycle, engine=engine, module=np.full(cycle.size, module), kernel=kernel)
            | dict(zip(NAMES, each.T, strict=True))
        )
        ran = np.flatnonzero(run.run_by[module])
        mine = run.of_instruction(causes)[ran].reshape(-1, len(NAMES))
        number, engine, kernel = _grid(ran, engines, range(kernels))
        since = run.starts[ran][:, None, None]
        found["instruction_kernels"].append(
            _columns(instruction=number, engine=engine, module=np.full(number.size, module), kernel=kernel)
            | _columns(begun=(run.begun[module][ran] - since).ravel(), done=(run.done[module][ran] - since).ravel())
            | dict(zip(NAMES, mine.T, strict=True))
        )
        active = causes[..., 6:].sum(axis=-1)[..., None]
        depths = np.array([getattr(run.config, name) for name in PARAMETERS[module]])
        level = run.random.uniform(0, 0.9, (*active.shape[:3], len(depths))) ** 2 * depths
        fill = (active * level).astype(np.int64)
        most = np.where(active > 0, np.minimum(depths, np.ceil(level * 1.2)), 0).astype(np.int64)
        largest = np.zeros((run.intervals, *most.shape[1:]), np.int64)
        np.maximum.at(largest, run.interval_of, most)
        cycle, engine, kernel, fifo = _grid(run.cycle, engines, range(kernels), FIFOS[module])
        found["fifos"].append(
            _columns(cycle=cycle, engine=engine, module=np.full(cycle.size, module), kernel=kernel, fifo=fifo)
            | _columns(fill=run.of_interval(fill).ravel(), most=largest.ravel())
        )
        most_of = np.zeros((len(run.instructions), len(depths)), np.int64)
        inside = run.of >= 0
        np.maximum.at(most_of, run.of[inside], most[inside].max(axis=(1, 2)))
        number, fifo = _grid(ran, FIFOS[module])
        found["instruction_fifos"].append(
            _columns(instruction=number, module=np.full(number.size, module), fifo=fifo)
            | _columns(fill=run.of_instruction(fill)[ran].sum(axis=(1, 2)).ravel(), most=most_of[ran].ravel())
        )
    return found


def _memory_tables(run: Run) -> dict[str, list[dict[str, npt.NDArray[Any]]]]:
    """Return the parts of the tables of arrays, links, banks and latencies."""
    reads, writes = run.accesses()
    random, contention = run.random, run.contention
    weights = 0.5 ** np.arange(LATENCIES.size)
    taken = random.multinomial(reads, weights / weights.sum())
    per = run.of_interval(np.stack([reads, writes, taken @ LATENCIES], axis=-1))
    at = np.nonzero(per[..., :2].sum(axis=-1))
    found = {
        "arrays": [
            _columns(cycle=run.cycle[at[0]], engine=at[1], array=np.array(ARRAYS)[at[2]])
            | dict(zip(("reads", "writes", "latency"), per[at].T, strict=True))
        ]
    }
    by_latency = run.of_instruction(taken.sum(axis=(1, 2)))
    at = np.nonzero(by_latency)
    found["instruction_latencies"] = [
        _columns(instruction=at[0], latency=LATENCIES[at[1]], reads=by_latency[at]),
    ]
    found |= {name: [] for name in ("links", "banks", "instruction_banks", "instruction_links", "instruction_rows")}
    if contention is None:
        return found
    all_of = reads + writes
    even = np.full(contention.links, 1 / contention.links)
    pieces_of_links = np.stack([random.multinomial(each.sum(axis=2), even) for each in (reads, writes)], axis=-1)
    by_instruction = run.of_instruction(pieces_of_links)
    at = np.nonzero(by_instruction.sum(axis=-1))
    found["instruction_links"].append(
        _columns(instruction=at[0], engine=at[1], link=at[2])
        | dict(zip(("reads", "writes"), by_instruction[at].T, strict=True))
    )
    links = run.of_interval(pieces_of_links.sum(axis=-1))
    at = np.nonzero(links)
    found["links"].append(
        _columns(cycle=run.cycle[at[0]], engine=at[1], link=at[2], requests=links[at])
        | _columns(waiting=random.binomial(9 * links[at], 0.3))
    )
    # A few banks have the words of hubs.
    even = np.full(contention.banks, 1 / contention.banks)
    zipf = random.permutation(1 / np.arange(1, contention.banks + 1))
    per_bank = contention.banks // contention.controllers
    intervals = np.zeros((run.intervals, contention.banks), np.int64)
    for place, array in enumerate(ARRAYS):
        share = 0.6 * even + 0.4 * zipf / zipf.sum() if array == "words" else even
        # Instruction by instruction, so that a large record needs little memory.
        for number in range(-1, len(run.instructions)):
            pieces = np.flatnonzero(run.of == number)
            counts = random.multinomial(all_of[pieces, :, place].sum(axis=1), share)
            np.add.at(intervals, run.interval_of[pieces], counts)
            own = counts.sum(axis=0)
            (banks,) = np.nonzero(own)
            if banks.size and number >= 0:
                found["instruction_banks"].append(
                    _columns(instruction=np.full(banks.size, number), controller=banks // per_bank)
                    | _columns(bank=banks % per_bank, array=np.full(banks.size, array), accesses=own[banks])
                    | _columns(waiting=own[banks] * np.minimum(own[banks], 400) // 4)
                )
    at = np.nonzero(intervals)
    found["banks"].append(
        _columns(cycle=run.cycle[at[0]], controller=at[1] // per_bank, bank=at[1] % per_bank)
        | _columns(accesses=intervals[at], waiting=intervals[at] * np.minimum(intervals[at], 400) // 4)
    )
    return found


def _instruction_table(run: Run) -> dict[str, npt.NDArray[Any]]:
    """Return the table of instructions; what a level pushes the next one reads."""
    frontier = []
    for each in run.instructions:
        rank = len(run.shape.levels) - 1 - each.level
        frontier.append(1 if each.level == 0 else 0 if each.level < 0 else 1 + each.cycles // 3 * min(rank, 2))
    read = np.array(frontier)
    follows = [a.phase == b.phase and b.level == a.level + 1 for a, b in pairwise(run.instructions)]
    pushed = np.where([*follows, False], np.append(read[1:], 0), 0)
    lengths = run.ends - run.starts
    return (
        _columns(instruction=np.arange(len(run.instructions)), frontier=read, pushed=pushed)
        | _columns(
            **{name: [getattr(each, name) for each in run.instructions] for name in Instruction._fields},
            start=run.starts,
            working=run.working - run.starts,
            edges=4 * read,
            duplicates=run.random.binomial(pushed, 0.03),
        )
        | _columns(cycles=lengths)
    )


def _write(folder: Path, parts: dict[str, list[dict[str, npt.NDArray[Any]]]]) -> tuple[dict[str, int], dict[str, str]]:
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
    cycle, engine = _grid(run.cycle, range(run.config.engines))
    turns = np.repeat(interval // 20, run.config.engines)
    engines = _columns(cycle=cycle, engine=engine, bfs_turns=turns, ordering=run.random.integers(0, 50, cycle.size))
    engines |= _columns(intersection_turns=turns * ("intersection" in run.modules))
    engines |= {name: run.random.integers(0, 30, cycle.size) for name in ("read_stalls", "write_stalls")}
    parts = {**_kernel_tables(run), **_memory_tables(run), "engines": [engines]}
    parts["instructions"] = [_instruction_table(run)]
    write_sealed(folder / DOCUMENT, _document(run, *_write(folder, parts)))
    return folder
