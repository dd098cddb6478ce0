"""Lines of JSON about a run while it is simulated, to a file, a pipe, or a function."""

import errno
import json
import os
import select
import stat
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from cyscc.host.driver.search import Checkpointer
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import STANDARD_OUTPUT, reason
from cyscc.host.runs.results import Result
from cyscc.host.specification.run import Interval, RunSpec
from cyscc.sim.coprocessor import Cause
from cyscc.sim.notices import notice

if TYPE_CHECKING:
    from cyscc.sim.configuration import AcceleratorConfig
    from cyscc.sim.machine import Machine

__all__ = ["Live"]

_EVERY = "1s"
"""Default interval between two lines of a run without a record."""

_LAST_WAIT = 1.0
"""Seconds that the last line waits for a reader with no room for it."""

_LONGEST_ERROR = 1000
"""Characters of an error in the last line: a pipe takes lines of up to 4,096 bytes whole."""

_READS_OF_IDS, _READS_OF_WORDS = Cause.ISSUE_2, Cause.ISSUE_3
"""Causes of the cycles in which a BFS kernel reads ids of neighbours, and their words."""


class _Lines:
    """A file or pipe that lines are written to; it neither blocks nor breaks the run.

    Parameters
    ----------
    path : str
        The file or pipe; `STANDARD_OUTPUT` for standard output.
    append : bool
        Whether to keep the lines of a file.

    Raises
    ------
    InputError
        It cannot be opened.
    """

    def __init__(self, path: str, *, append: bool) -> None:
        self._path = path
        self._file: int | None = None
        self._own = path != STANDARD_OUTPUT
        self._told = False
        try:
            if self._own:
                self._pipe = os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode)
                mode = os.O_APPEND if append else os.O_TRUNC
                self._flags = os.O_NONBLOCK if self._pipe else os.O_CREAT | mode
                self._open()
            else:
                self._pipe, self._file = False, 1
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be written: {reason(error)} (--live)", path=path) from None

    def _open(self) -> None:
        """Open the file; a pipe stays closed until it has a reader."""
        try:
            self._file = os.open(self._path, os.O_WRONLY | self._flags, 0o666)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise

    def write(self, document: Mapping[str, Any], *, wait: float = 0.0) -> bool:
        """Write a line; return whether there was a reader with room for it."""
        try:
            if self._file is None and self._pipe:
                self._open()
            if self._file is None:
                return False
            # A pipe that has room takes a line of up to 4,096 bytes whole.
            if not select.select((), (self._file,), (), wait)[1]:
                return False
            os.write(self._file, json.dumps(document).encode() + b"\n")
        except BlockingIOError:
            return False
        except OSError as error:
            self._give_up(error)
            return False
        return True

    def _give_up(self, error: OSError) -> None:
        """Write nothing more; a pipe may get another reader."""
        self.close()
        if not self._told:
            self._told = True
            name = self._path if self._own else "standard output"
            cause = "nobody reads on" if isinstance(error, BrokenPipeError) else f"cannot be written: {reason(error)}"
            notice(f"{name}: {cause} (--live); the run goes on")

    def close(self) -> None:
        """Close the file."""
        if self._own and self._file is not None:
            os.close(self._file)
        self._file = None


class Live:
    """Lines about a run, as a context manager around it.

    A line has what the run's counters say at a synchronisation of the AEs. It changes no cycle. Counts since the last
    line are those since the last one that had a reader.

    Parameters
    ----------
    spec : RunSpec
        The run. Its field `live` is the file, or a function that takes the lines as documents; None for no lines.

    Raises
    ------
    InputError
        The file cannot be opened.
    """

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        self._to, self._resumed = spec.live, spec.resume is not None
        usual = _EVERY if spec.record_interval is None else f"{spec.record_interval}cycles"
        every = Interval.parse(spec.live_every or usual)
        self._cycles, self._seconds = every.cycles, every.seconds
        self._lines = _Lines(self._to, append=self._resumed) if isinstance(self._to, str) else None
        self._due = self._began = self._last = time.monotonic()
        self._machine: Machine | None = None
        self._checkpointer = Checkpointer()
        self._vertices = 0
        self._colours: npt.NDArray[np.uint32] | None = None
        # At the last line:
        self._attempt = self._cycle = 0
        self._causes: npt.NDArray[np.int64] | None = None
        self._memory: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            document = {"cycle": 0 if self._machine is None else self._machine.reached}
            if isinstance(error, KeyboardInterrupt):
                self._write({"event": "interrupted", **document}, wait=_LAST_WAIT)
            else:
                text = str(error) or type(error).__name__
                self._write({"event": "failed", **document, "error": text[:_LONGEST_ERROR]}, wait=_LAST_WAIT)
        if self._lines is not None:
            self._lines.close()

    def begin(self, machine: "Machine", checkpointer: Checkpointer, vertices: int) -> None:
        """Start the lines of a machine's run on a graph of some vertices."""
        if self._to is None:
            return
        self._machine, self._checkpointer, self._vertices = machine, checkpointer, vertices
        self._began = self._last = time.monotonic()
        if self._seconds is not None:
            self._due = self._began + self._seconds
        else:
            machine.schedule(self._next(0), self._on_cycles)

    def on_iteration(self, colours: npt.NDArray[np.uint32]) -> None:
        """Update the colours of the vertices."""
        self._colours = colours

    def on_cycle(self) -> None:
        """Write a line if one is due by real time; called several times a second."""
        if self._machine is None or self._seconds is None:
            return
        now = time.monotonic()
        if now >= self._due or (self._causes is None and self._resumed):
            self._due = now + self._seconds
            self._tell(self._machine)

    def _next(self, cycle: int) -> int:
        """Return the cycle of the line after a cycle."""
        assert self._cycles is not None
        return (cycle // self._cycles + 1) * self._cycles

    def _on_cycles(self) -> None:
        """Write a line in its cycle."""
        assert self._machine is not None
        self._tell(self._machine)
        self._machine.schedule(self._next(self._machine.cycle), self._on_cycles)

    def end(self, result: Result) -> None:
        """Write the last line of a run that has its result."""
        if self._to is None:
            return
        document = result.document()
        counts = (
            {"components": document["components"]["count"], "iterations": document["iterations"]}
            if self._spec.algorithm == "scc"
            else {"reached": document["reached"], "levels": len(document["levels"])}
        )
        self._write(
            {
                "event": "end",
                "cycle": result.statistics["cycles"]["total"],
                "seconds": round(time.monotonic() - self._began, 3),
                "verified": document["verified"],
                "edges": document["edges_traversed"],
                "gteps": round(document["gteps"], 6),
                **counts,
            },
            wait=_LAST_WAIT,
        )

    def _tell(self, machine: "Machine") -> None:
        """Write a line about the current cycle."""
        now, position, memory = time.monotonic(), self._checkpointer.position, _memory_counts(machine)
        causes = machine.executor.causes()
        if self._causes is None and not self._resumed:
            self._causes = np.zeros_like(causes)
        before = self._memory if position is not None and position.attempt == self._attempt else {}
        if self._causes is not None and position is not None:
            own = machine.config.bfs_kernels
            spent, since = machine.attempt_causes()
            edges = _edges_read(machine.config, since[:, :own])
            cycles = machine.cycle - self._cycle
            written = self._write(
                {
                    "event": "progress",
                    "cycle": machine.cycle,
                    "cycles": cycles,
                    "seconds": round(now - self._began, 3),
                    "cycles_per_second": round(cycles / max(now - self._last, 1e-6)),
                    **position._asdict(),
                    "done": self._done(),
                    "vertices": self._vertices,
                    "edges": edges,
                    "gteps": round(edges * machine.clock / max(spent, 1) / 1e9, 6),
                    "causes": _by_module(causes - self._causes, own),
                    "memory": _memory_document(memory, before, cycles),
                }
            )
            if not written:
                return
        self._last, self._cycle, self._causes, self._memory = now, machine.cycle, causes, memory
        self._attempt = 0 if position is None else position.attempt

    def _done(self) -> int:
        """Return the number of vertices with a colour, or reached by a search, duplicates included."""
        if self._spec.algorithm == "scc":
            return 0 if self._colours is None else int(np.count_nonzero(self._colours))
        attempt = self._checkpointer.attempt
        entries = 0 if attempt is None or attempt.search is None else attempt.search.entries
        return min(entries, self._vertices)

    def _write(self, document: dict[str, Any], *, wait: float = 0.0) -> bool:
        """Write a line; return whether it had a reader."""
        if callable(self._to):
            self._to(document)
            return True
        return self._lines is not None and self._lines.write(document, wait=wait)


def _edges_read(config: "AcceleratorConfig", causes: npt.NDArray[Any]) -> int:
    """Return the edges read, by the causes of BFS kernels' cycles.

    A read of a pair brings one id or two: if a filter drops ids, so that their words are not read, two are assumed.
    """
    if config.reads_single_ids:
        return int(causes[..., _READS_OF_IDS].sum())
    if config.reads_every_word:
        return int(causes[..., _READS_OF_WORDS].sum())
    return 2 * int(causes[..., _READS_OF_IDS].sum())


def _by_module(causes: npt.NDArray[np.int64], bfs_kernels: int) -> dict[str, dict[str, int]]:
    """Return cycles of kernels by module and cause, summed over kernels and AEs."""
    return {
        module: {cause.row.name: int(causes[:, own, cause].sum()) for cause in Cause}
        for module, own in (("bfs", slice(bfs_kernels)), ("intersection", slice(bfs_kernels, None)))
    }


def _memory_counts(machine: "Machine") -> dict[str, int]:
    """Return counts of the memory in the current attempt."""
    found = machine.memory.statistics()
    counts = {"reads": found["reads"]["total"], "writes": found["writes"]["total"]}
    if "bank_busy_cycles" in found:
        counts |= {"busy": found["bank_busy_cycles"], "banks": len(found["banks"])}
    return counts


def _memory_document(now: Mapping[str, int], before: Mapping[str, int], cycles: int) -> dict[str, int | float]:
    """Return requests in some cycles, and the share of the banks' cycles in which they were busy."""
    since = {name: value - before.get(name, 0) for name, value in now.items()}
    document: dict[str, int | float] = {"reads": since["reads"], "writes": since["writes"]}
    if "banks" in now:
        document["bank_utilisation"] = round(since["busy"] / max(now["banks"] * cycles, 1), 6)
    return document
