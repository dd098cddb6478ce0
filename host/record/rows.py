"""Rows of a record's tables, of what the machine tells in arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from host.record.tables import MODULES
from host.record.writer import Columns
from sim.machine import Machine
from sim.memory import RecordedIntervals, RecordedSums
from sim.observation.causes import CAUSES
from sim.recorded import InstructionCounts, Intervals

__all__ = ["Rows"]

Numbers = npt.NDArray[np.int64]


class Rows:
    """Makes the rows of a machine's record.

    Parameters
    ----------
    machine : Machine
        The machine.
    interval : int
        Cycles of an interval.
    """

    def __init__(self, machine: Machine, interval: int) -> None:
        config = machine.config
        self._interval = interval
        self._engines = config.engines
        self._kernels = {"bfs": config.bfs_kernels, "intersection": config.intersection_kernels}
        self._fifos = {module: tuple(each.name for each in its) for module, its in machine.fifos.items()}
        self.fifos = tuple(dict.fromkeys(name for names in self._fifos.values() for name in names))
        """Names of all FIFOs, in the order of their numbers."""
        modules = np.repeat(np.arange(len(MODULES)), list(self._kernels.values()))
        numbers = np.concatenate([np.arange(count) for count in self._kernels.values()])
        self._module, self._kernel = modules, numbers
        # Places of the FIFOs that there are among those of kernels, of which some have fewer.
        places = [
            (kernel, place, self.fifos.index(name))
            for kernel, module in enumerate(modules)
            for place, name in enumerate(self._fifos[MODULES[module]])
        ]
        self._fifo_kernel, self._fifo_place, self._fifo_number = np.array(places).T
        self._instruction_index = {module: self._index_of_instruction(module) for module in MODULES}
        contention = machine.memory.profile.contention
        self._banks = 1 if contention is None else contention.banks // contention.controllers
        self.of_interval = self._engines * (modules.size + len(places)) + (
            0 if contention is None else contention.banks
        )
        """Rows of an interval, about."""

    def _index(self, first: int, count: int, *columns: tuple[str, Numbers]) -> dict[str, Numbers]:
        """Return columns that are the same in every interval and AE, with those that tell both."""
        width = columns[0][1].size
        cycles = self._interval * np.arange(first, first + count)
        return {
            "cycle": np.repeat(cycles, self._engines * width),
            "engine": np.tile(np.repeat(np.arange(self._engines, dtype=np.uint8), width), count),
            **{name: np.tile(values, count * self._engines) for name, values in columns},
        }

    def _index_of_instruction(self, module: str) -> tuple[dict[str, npt.NDArray[Any]], dict[str, npt.NDArray[Any]]]:
        """Return the columns of an instruction's kernels and FIFOs that are the same for all of a module."""
        kernels, names = self._kernels[module], self._fifos[module]
        number = MODULES.index(module)
        kernel = {
            "engine": np.repeat(np.arange(self._engines, dtype=np.uint8), kernels),
            "module": np.full(self._engines * kernels, number, np.int8),
            "kernel": np.tile(np.arange(kernels, dtype=np.uint8), self._engines),
        }
        fifo = {
            "module": np.full(len(names), number, np.int8),
            "fifo": np.array([self.fifos.index(name) for name in names], np.int8),
        }
        return kernel, fifo

    def of_intervals(self, block: Intervals) -> dict[str, Columns]:
        """Return the rows of some intervals by table."""
        count = len(block.causes)
        kernel = self._index(
            block.first, count, ("module", self._module.astype(np.int8)), ("kernel", self._kernel.astype(np.uint8))
        )
        fifo = self._index(
            block.first,
            count,
            ("module", self._module[self._fifo_kernel].astype(np.int8)),
            ("kernel", self._kernel[self._fifo_kernel].astype(np.uint8)),
            ("fifo", self._fifo_number.astype(np.int8)),
        )
        picked = {
            name: values[:, :, self._fifo_kernel, self._fifo_place].ravel()
            for name, values in (("fill", block.fills), ("most", block.marks))
        }
        cycles = self._interval * np.arange(block.first, block.first + count)
        engines: dict[str, Numbers] = {
            "cycle": np.repeat(cycles, self._engines),
            "engine": np.tile(np.arange(self._engines, dtype=np.uint8), count),
            **{f"{module}_turns": block.turns[..., number].ravel() for number, module in enumerate(MODULES)},
            **{
                name: block.memory.engines[..., number].ravel()
                for number, name in enumerate(("ordering", "read_stalls", "write_stalls"))
            },
        }
        return {
            "kernels": {**kernel, **_causes(block.causes)},
            "fifos": {**fifo, **picked},
            "engines": engines,
            **self._of_memory(block.memory, cycles),
        }

    def _of_memory(self, memory: RecordedIntervals, cycles: Numbers) -> dict[str, Columns]:
        """Return the rows of arrays, links and banks, where there was anything."""
        tables: dict[str, Columns] = {}
        row, engine, array = np.nonzero(memory.arrays[..., 0] | memory.arrays[..., 1])
        found = memory.arrays[row, engine, array].T
        tables["arrays"] = {
            "cycle": cycles[row],
            "engine": engine,
            "array": array,
            **dict(zip(("reads", "writes", "latency"), found, strict=True)),
        }
        row, engine, link = np.nonzero(memory.links[..., 0])
        requests, waiting = memory.links[row, engine, link].T
        tables["links"] = {
            "cycle": cycles[row],
            "engine": engine,
            "link": link,
            "requests": requests,
            "waiting": waiting,
        }
        row, bank = np.nonzero(memory.banks[..., 0])
        accesses, waiting = memory.banks[row, bank].T
        tables["banks"] = {"cycle": cycles[row], **self._bank(bank), "accesses": accesses, "waiting": waiting}
        return tables

    def _bank(self, bank: Numbers) -> dict[str, Numbers]:
        controller, number = np.divmod(bank, self._banks)
        return {"controller": controller, "bank": number}

    def of_instructions(
        self, first: int, counts: Sequence[InstructionCounts], memory: Sequence[RecordedSums]
    ) -> dict[str, Columns]:
        """Return the rows of instructions by table, but for that of ``instructions``; `first` is the first's number."""
        kernels, fifos = [], []
        for each in counts:
            kernel_index, fifo_index = self._instruction_index[each.module]
            number = first + each.which
            kernel: dict[str, npt.NDArray[Any]] = {
                "begun": each.begun.ravel(),
                "done": each.done.ravel(),
                **_causes(each.causes),
            }
            fifo: dict[str, Numbers] = {
                "fill": each.fills.sum(axis=(1, 2)).ravel(),
                "most": each.marks.max(axis=(1, 2)).ravel(),
            }
            kernels.append({**_repeated(number, kernel_index), **kernel})
            fifos.append({**_repeated(number, fifo_index), **fifo})
        return {
            "instruction_kernels": _in_order(kernels),
            "instruction_fifos": _in_order(fifos),
            **self._of_take(first, memory),
        }

    def _of_take(self, first: int, memory: Sequence[RecordedSums]) -> dict[str, Columns]:
        numbers = np.arange(first, first + len(memory), dtype=np.int32)

        def joined(field: str, *names: str) -> dict[str, npt.NDArray[Any]]:
            rows = [getattr(sums, field) for sums in memory]
            columns = dict(zip(names, np.concatenate(rows).T, strict=True))
            bank = self._bank(columns.pop("bank")) if "bank" in columns else {}
            return {"instruction": np.repeat(numbers, [len(each) for each in rows]), **bank, **columns}

        return {
            "instruction_banks": joined("banks", "bank", "array", "accesses", "waiting"),
            "instruction_links": joined("links", "engine", "link", "reads", "writes"),
            "instruction_rows": joined("openings", "bank", "openings"),
            "instruction_latencies": joined("latencies", "latency", "reads"),
        }


def _causes(counts: Numbers) -> dict[str, npt.NDArray[np.uint32]]:
    columns = counts.reshape(-1, len(CAUSES)).T.astype(np.uint32)
    return {cause.name: column for cause, column in zip(CAUSES, columns, strict=True)}


def _repeated(numbers: Numbers, columns: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Return columns that are the same for each of some instructions, with that of the instruction."""
    rows = len(next(iter(columns.values())))
    return {
        "instruction": np.repeat(numbers.astype(np.int32), rows),
        **{name: np.tile(values, numbers.size) for name, values in columns.items()},
    }


def _in_order(parts: Sequence[Columns]) -> Columns:
    """Return rows in the order of their instructions."""
    if len(parts) == 1:
        return parts[0]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(joined["instruction"], kind="stable")
    return {name: values[order] for name, values in joined.items()}
