"""Lines of JSON about a run while it is simulated, to a file, a pipe, or a function."""

import errno
import json
import os
import select
import stat
import time
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from cyscc.host.driver.search import Checkpointer
from cyscc.host.output.errors import reason, refusing
from cyscc.host.output.files import STANDARD_OUTPUT
from cyscc.host.runs.results import Result
from cyscc.host.specification.run import Interval, RunSpec
from cyscc.sim.coprocessor import Cause
from cyscc.sim.notices import notice

if TYPE_CHECKING:
    from cyscc.sim.configuration import AcceleratorConfig
    from cyscc.sim.machine import Machine

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
        self._path, self._pipe, self._told = path, False, False
        self._own = path != STANDARD_OUTPUT
        self._file: int | None = None if self._own else 1
        with refusing(OSError, ValueError, before="cannot be written: ", after=" (--live)", path=path):
            if self._own:
                self._pipe = os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode)
                self._flags = os.O_NONBLOCK if self._pipe else os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
                self._open()

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
            # A pipe that has room takes a line of up to 4,096 bytes whole.
            if self._file is None or not select.select((), (self._file,), (), wait)[1]:
                return False
            os.write(self._file, json.dumps(document).encode() + b"\n")
        except BlockingIOError:
            return False
        except OSError as error:
            # A pipe may get another reader.
            self.close()
            if not self._told:
                self._told = True
                name = self._path if self._own else "standard output"
                cause = (
                    "nobody reads on" if isinstance(error, BrokenPipeError) else f"cannot be written: {reason(error)}"
                )
                notice(f"{name}: {cause} (--live); the run goes on")
            return False
        return True

    def close(self) -> None:
        """Close the file."""
        if self._own and self._file is not None:
            os.close(self._file)
        self._file = None


class _Counts(NamedTuple):
    """A moment of a run, and the counts up to it; by default those of its begin."""

    second: float
    cycle: int = 0
    attempt: int = 0
    causes: npt.NDArray[np.int64] = np.zeros(1, np.int64)
    """Cycles by AE, kernel and cause."""
    memory: Mapping[str, int] = MappingProxyType({})
    """Counts of the memory in the attempt."""


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
        self._spec, self._to = spec, spec.live
        usual = _EVERY if spec.record_interval is None else f"{spec.record_interval}cycles"
        self._every = Interval.parse(spec.live_every or usual)
        self._lines = _Lines(self._to, append=spec.resume is not None) if isinstance(self._to, str) else None
        self._due = self._began = time.monotonic()
        self._machine: Machine | None = None
        self._checkpointer = Checkpointer()
        self._vertices = 0
        self._colours: npt.NDArray[np.uint32] | None = None
        self._last: _Counts | None = None
        """Counts at the last line; None if the first one of a resumed run is to come."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            cycle = 0 if self._machine is None else self._machine.reached
            event, text = "failed", {"error": (str(error) or type(error).__name__)[:_LONGEST_ERROR]}
            if isinstance(error, KeyboardInterrupt):
                event, text = "interrupted", {}
            self._write({"event": event, "cycle": cycle, **text}, wait=_LAST_WAIT)
        if self._lines is not None:
            self._lines.close()

    def begin(self, machine: "Machine", checkpointer: Checkpointer, vertices: int) -> None:
        """Start the lines of a machine's run on a graph of some vertices."""
        if self._to is None:
            return
        self._machine, self._checkpointer, self._vertices = machine, checkpointer, vertices
        self._began = time.monotonic()
        if self._spec.resume is None:
            self._last = _Counts(self._began)
        if self._every.seconds is not None:
            self._due = self._began + self._every.seconds
        self._schedule(machine)

    def on_iteration(self, colours: npt.NDArray[np.uint32]) -> None:
        """Update the colours of the vertices."""
        self._colours = colours

    def on_cycle(self) -> None:
        """Write a line if one is due by real time; called several times a second."""
        if self._machine is None or self._every.seconds is None:
            return
        now = time.monotonic()
        if now >= self._due or self._last is None:
            self._due = now + self._every.seconds
            self._tell(self._machine)

    def _schedule(self, machine: "Machine") -> None:
        """Have a line written in the next cycle in which one is due, if lines come by cycles."""
        if (every := self._every.cycles) is not None:
            machine.schedule((machine.cycle // every + 1) * every, partial(self._on_cycles, machine))

    def _on_cycles(self, machine: "Machine") -> None:
        """Write a line in its cycle."""
        self._tell(machine)
        self._schedule(machine)

    def end(self, result: Result) -> None:
        """Write the last line of a run that has its result."""
        if self._to is None:
            return
        self._write(
            {
                "event": "end",
                "cycle": result.statistics["cycles"]["total"],
                "seconds": round(time.monotonic() - self._began, 3),
                "verified": result.verified or None,
                "edges": result.run.edges_traversed,
                "gteps": round(result.gteps, 6),
                **result.counts,
            },
            wait=_LAST_WAIT,
        )

    def _tell(self, machine: "Machine") -> None:
        """Write a line about the current cycle; nothing has been counted since if it had no reader."""
        position, causes = self._checkpointer.position, machine.executor.causes()
        attempt = 0 if position is None else position.attempt
        now = _Counts(time.monotonic(), machine.cycle, attempt, causes, _memory_counts(machine))
        if (last := self._last) is not None and position is not None:
            own = machine.config.bfs_kernels
            spent, since = machine.attempt_causes()
            edges, cycles = _edges_read(machine.config, since[:, :own]), now.cycle - last.cycle
            document = {
                "event": "progress",
                "cycle": now.cycle,
                "cycles": cycles,
                "seconds": round(now.second - self._began, 3),
                "cycles_per_second": round(cycles / max(now.second - last.second, 1e-6)),
                **position._asdict(),
                "done": self._done(),
                "vertices": self._vertices,
                "edges": edges,
                "gteps": round(edges * machine.clock / max(spent, 1) / 1e9, 6),
                "causes": _by_module(causes - last.causes, own),
                "memory": _memory_document(now.memory, last.memory if last.attempt == attempt else {}, cycles),
            }
            if not self._write(document):
                return
        self._last = now

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
