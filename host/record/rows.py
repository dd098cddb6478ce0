"""Conversion of the machine's recorded arrays into rows of a record's tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.host.record.tables import MODULES, Units
from cyscc.host.record.writer import Columns
from cyscc.sim.arrays import ArrayKind
from cyscc.sim.machine import Machine
from cyscc.sim.memory import RecordedSums
from cyscc.sim.observation.causes import CAUSES
from cyscc.sim.recording import InstructionCounts, Intervals

Numbers = npt.NDArray[np.int64]


class Rows:
    """Makes the rows of the tables of a machine's record.

    Parameters
    ----------
    machine : Machine
        The machine.
    interval : int
        Cycles of an interval.
    """

    def __init__(self, machine: Machine, interval: int) -> None:
        config, names = machine.config, {module: [each.name for each in its] for module, its in machine.fifos.items()}
        counts = dict(zip(MODULES, (config.bfs_kernels, config.intersection_kernels), strict=True))
        self._units = Units(config.engines, counts, names)
        contention = machine.memory.profile.contention
        self._interval = interval
        banks, controllers, links = (
            (contention.banks, contention.controllers, contention.links) if contention else (0, 1, 0)
        )
        self._banks = banks // controllers
        self._places = {
            "arrays": _grid(engine=config.engines, array=len(ArrayKind)),
            "links": _grid(engine=config.engines, link=links),
            "banks": _grid(controller=controllers, bank=self._banks),
        }
        self.fifos = self._units.fifos
        """Names of all FIFOs; a FIFO's index is its category code."""
        self.of_interval = sum(count * (1 + len(names[module])) for module, count in counts.items()) + banks
        """Approximate number of rows per interval."""

    def of_intervals(self, block: Intervals) -> dict[str, Columns]:
        """Return the rows of some intervals, by table."""
        memory = block.memory
        cycles = self._interval * np.arange(block.first, block.first + len(block.turns))
        turns = {f"{module}_turns": block.turns[..., number].ravel() for number, module in enumerate(MODULES)}
        stalls = _columns(("ordering", "read_stalls", "write_stalls"), memory.engines)

        def each(table: str) -> dict[str, npt.NDArray[Any]]:
            return _repeated("cycle", cycles, self._units.of(table))

        def used(table: str, values: Numbers, *names: str, counts: int = 1) -> dict[str, npt.NDArray[Any]]:
            """Return the rows of parts of the memory of which one of the first `counts` numbers is not zero."""
            places = self._places[table]
            columns = values.reshape(cycles.size, *next(iter(places.values())).shape, len(names))
            found = columns[..., :counts].any(axis=-1) if counts > 1 else columns[..., 0] != 0
            keys = {name: np.broadcast_to(place, found.shape)[found] for name, place in places.items()}
            numbers = {name: columns[..., number][found] for number, name in enumerate(names)}
            return {"cycle": np.repeat(cycles, found.sum(axis=1)), **keys, **numbers}

        return {
            "kernels": {**each("kernels"), **_causes(block.causes)},
            "fifos": {**each("fifos"), "fill": block.fills.ravel(), "most": block.marks.ravel()},
            "engines": {**each("engines"), **turns, **stalls},
            "arrays": used("arrays", memory.arrays, "reads", "writes", "latency", counts=2),
            "links": used("links", memory.links, "requests", "waiting"),
            "banks": used("banks", memory.banks, "accesses", "waiting"),
        }

    def of_instructions(
        self, first: int, counts: Sequence[InstructionCounts], memory: Sequence[RecordedSums]
    ) -> dict[str, Columns]:
        """Return the rows of instructions by table, except ``instructions``; `first` is the first one's number."""
        kernels, fifos = [], []
        for each in counts:
            at = np.asarray(first + each.which, np.int32)
            kernel = {"begun": each.begun.ravel(), "done": each.done.ravel(), **_causes(each.causes)}
            fifo = {"fill": each.fills.sum(axis=(1, 2)).ravel(), "most": each.marks.max(axis=(1, 2)).ravel()}
            own = (self._units.of(name, each.module) for name in ("instruction_kernels", "instruction_fifos"))
            of_kernels, of_fifos = (_repeated("instruction", at, columns) for columns in own)
            kernels.append({**of_kernels, **kernel})
            fifos.append({**of_fifos, **fifo})
        numbers = np.arange(first, first + len(memory), dtype=np.int32)

        def joined(field: str, *names: str) -> dict[str, npt.NDArray[Any]]:
            rows = [getattr(sums, field) for sums in memory]
            columns = _columns(names, np.concatenate(rows))
            if "bank" in columns:
                columns["controller"], columns["bank"] = np.divmod(columns["bank"], self._banks or 1)
            return {"instruction": np.repeat(numbers, [len(each) for each in rows]), **columns}

        return {
            "instruction_kernels": _in_order(kernels),
            "instruction_fifos": _in_order(fifos),
            "instruction_banks": joined("banks", "bank", "array", "accesses", "waiting"),
            "instruction_links": joined("links", "engine", "link", "reads", "writes"),
            "instruction_rows": joined("openings", "bank", "openings"),
            "instruction_latencies": joined("latencies", "latency", "reads"),
        }


def _grid(**sizes: int) -> dict[str, npt.NDArray[np.uint16]]:
    """Return columns of the numbers of parts within others, of which there are so many."""
    places = np.indices(tuple(sizes.values()), np.uint16)
    return {name: place.ravel() for name, place in zip(sizes, places, strict=True)}


def _causes(counts: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    columns = counts.reshape(len(CAUSES), -1).astype(np.uint32, copy=False)
    return {cause.name: column for cause, column in zip(CAUSES, columns, strict=True)}


def _columns(names: Sequence[str], values: Numbers) -> dict[str, Numbers]:
    """Return the counts along the last axis as columns."""
    return dict(zip(names, values.reshape(-1, len(names)).T, strict=True))


def _repeated(
    name: str, numbers: npt.NDArray[Any], columns: Mapping[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Return columns that repeat for each of some numbers, together with a column of these numbers."""
    rows = len(next(iter(columns.values())))
    return {
        name: np.repeat(numbers, rows),
        **{column: np.tile(values, numbers.size) for column, values in columns.items()},
    }


def _in_order(parts: Sequence[Columns]) -> Columns:
    """Return rows sorted by instruction."""
    if len(parts) == 1:
        return parts[0]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(joined["instruction"], kind="stable")
    return {name: values[order] for name, values in joined.items()}
