"""Runs that are recorded: a folder, what writes into it while the run goes on, and the document at its end."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from host.algorithms.keeper import Keeper
from host.errors import InputError
from host.output import renamed_when_complete
from host.record.folder import RecordFolder
from sim.errors import SimulationError

if TYPE_CHECKING:
    from host.graph.csr import Graph
    from host.record.recorder import Recorder
    from host.running.results import BfsResult, SccResult
    from host.running.session import RunOptions
    from sim.machine import Machine

__all__ = ["Recording"]

Result = TypeVar("Result", "BfsResult", "SccResult")


class Recording:
    """Records a run.

    Parameters
    ----------
    folder : Path
        Where to.
    interval : int
        Cycles of an interval.
    command : str
        What runs: bfs or scc.
    options : RunOptions
        How.
    source : int or None
        Where a search starts, as the graph's file names it.
    resumed : bool
        Whether the run is taken up again, so that the folder may hold what was written of it.
    kept : bool
        Whether the run may be taken up again: what is written of a run that ends early then stays.

    Attributes
    ----------
    folder : Path
    memory : Profile
        Memory profile of the run.

    Raises
    ------
    InputError
        The folder cannot be used.
    """

    def __init__(
        self,
        folder: Path,
        *,
        interval: int,
        command: str,
        options: "RunOptions",
        source: int | None = None,
        resumed: bool = False,
        kept: bool = False,
    ) -> None:
        self.folder = folder
        self.memory = options.memory
        self._interval = interval
        self._command = command
        self._options = options
        self._source = source
        self._kept = kept
        self._recorder: Recorder | None = None
        self._machine: Machine | None = None
        self._run: dict[str, Any] = {}
        self._rows: dict[str, int] = {}
        self._complete = False
        self._lock = RecordFolder(folder, resumed=resumed)

    def begin(self, machine: "Machine", graph: "Graph", keeper: Keeper | None) -> "Recorder":
        """Begin to record a machine on which nothing has run.

        Raises
        ------
        InputError
            There are no intervals of this length.
        """
        from host.graph.digests import graph_digest
        from host.record.recorder import Recorder, RecorderState

        keeper = keeper or Keeper()
        state = keeper.kept("record", RecorderState)
        try:
            recorder = Recorder(machine, self.folder, interval=self._interval, state=state)
        except ValueError as error:
            raise InputError(f"--record-interval: {error}") from None
        keeper.keep("record", recorder.state, refresh=recorder.catch_up)
        self._recorder, self._machine = recorder, machine
        options = self._options
        self._run = {
            "graph": options.graph,
            "folder": str(Path.cwd()),
            "digest": graph_digest(graph),
            "vertices": graph.vertices,
            "edges": graph.edges,
            "options": {
                "source": self._source,
                "config": options.config_name,
                "memory": options.memory_name,
                "set": options.changes.values(),
                "executor": options.executor,
                "threads": options.threads,
                "queue_slack": options.queue_slack,
                "cycle_limit": options.cycle_limit,
                "simplify": options.simplify,
            },
        }
        return recorder

    def failed(self, error: SimulationError, *, checkpoint: str | None) -> bool:
        """Leave in the folder what a replay of a run that failed needs; return whether it had begun.

        Parameters
        ----------
        error : SimulationError
            How it failed.
        checkpoint : str or None
            The folder that the run is kept in.
        """
        if self._machine is None:
            return False
        from host.record.document import failure_document
        from host.record.reader import FAILURE

        self._write(
            FAILURE,
            failure_document(
                self._machine,
                error,
                command=self._command,
                run=self._run,
                interval=self._interval,
                checkpoint=checkpoint,
            ),
        )
        return True

    def _write(self, name: str, document: dict[str, Any]) -> None:
        with renamed_when_complete(str(self.folder / name)) as path:
            path.write_text(json.dumps(document, indent=1) + "\n")

    def finish(self) -> None:
        """Write the tables, up to the machine's present cycle."""
        if self._recorder is not None:
            self._rows = self._recorder.finish()

    def complete(self, machine: "Machine", result: Result) -> Result:
        """Write the document of the record, with that of the run's result; return the result with its record."""
        from host.record.document import kernel_cycles, record_document
        from host.record.reader import DOCUMENT, Record

        about = record_document(
            machine,
            command=self._command,
            run=self._run,
            interval=self._interval,
            causes=kernel_cycles(self.folder),
            rows=self._rows,
            result=result.document,
        )
        self._write(DOCUMENT, about)
        self._complete = True
        return replace(result, record=Record(self.folder))

    def close(self) -> None:
        """Let go of the folder; leave nothing of a record that is not complete, unless the run is kept."""
        if self._recorder is not None:
            self._recorder.close()
        if self._complete or not self._kept:
            self._lock.clear(complete=self._complete)
        self._lock.close()
