"""Runs that are recorded: a folder, what writes into it while the run goes on, and the document at its end."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.algorithms.driver import Keeper
from host.errors import InputError
from host.output import renamed_when_complete
from host.record.writer import RecordFolder
from sim.errors import SimulationError
from sim.memory import LONGEST_INTERVAL

if TYPE_CHECKING:
    from host.graph.csr import Graph
    from host.record.recorder import Recorder
    from host.runs.results import Result
    from host.runs.specification import RunSpec
    from sim.machine import Machine

__all__ = ["Recording"]


class Recording:
    """Records a run.

    Parameters
    ----------
    spec : RunSpec
        The run, and the folder that it is recorded in; without one what its instructions did is recorded in memory.

    Attributes
    ----------
    spec : RunSpec

    Raises
    ------
    InputError
        The folder cannot be used.
    """

    def __init__(self, spec: "RunSpec") -> None:
        self.spec = spec
        self._folder = None if spec.record is None else Path(spec.record)
        self._interval = LONGEST_INTERVAL if spec.record is None else spec.interval
        self._recorder: Recorder | None = None
        self._machine: Machine | None = None
        self._run: dict[str, Any] = {}
        self._complete = False
        self._lock = None if self._folder is None else RecordFolder(self._folder, resumed=spec.resume is not None)

    @property
    def folder(self) -> Path:
        """Folder of a record that is in one."""
        assert self._folder is not None, "the record is in memory"
        return self._folder

    def begin(self, machine: "Machine", graph: "Graph", source: int, keeper: Keeper | None) -> "Recorder":
        """Begin to record a machine on which nothing has run.

        Raises
        ------
        InputError
            There are no intervals of this length.
        """
        from host.graph.digests import graph_digest
        from host.record.recorder import Recorder, RecorderState
        from host.runs.results import input_name

        keeper = keeper or Keeper()
        state = keeper.kept("record", RecorderState)
        try:
            recorder = Recorder(machine, self._folder, interval=self._interval, state=state)
        except ValueError as error:
            raise InputError(f"--record-interval: {error}") from None
        keeper.keep("record", recorder.state, refresh=recorder.catch_up)
        self._recorder, self._machine = recorder, machine
        options = {**self.spec.document(), "threads": self.spec.threads, "source": None}
        if self.spec.algorithm == "bfs":
            options["source"] = input_name(graph, source)
        self._run = {
            "command": self.spec.algorithm,
            "run": {
                "graph": self.spec.graph,
                "folder": str(Path.cwd()),
                "digest": graph_digest(graph),
                "vertices": graph.vertices,
                "edges": graph.edges,
                "options": options,
            },
            "interval": self._interval,
        }
        return recorder

    def failed(self, error: SimulationError) -> bool:
        """Leave in the folder what a replay of a run that failed needs; return whether it had begun."""
        if self._machine is None:
            return False
        from host.record.reader import FAILURE
        from host.record.recorder import failure_document

        self._write(
            FAILURE,
            failure_document(
                self._machine,
                error,
                run=self._run,
                checkpoint=self.spec.checkpoint,
            ),
        )
        return True

    def _write(self, name: str, document: dict[str, Any]) -> None:
        with renamed_when_complete(str(self.folder / name)) as path:
            path.write_text(json.dumps(document, indent=1) + "\n")

    def finish(self) -> None:
        """Write the tables, up to the machine's present cycle."""
        if self._recorder is not None:
            self._recorder.finish()

    def complete(self, machine: "Machine", result: "Result") -> "Result":
        """Write the document of the record, with that of the run's result; return the result with its record."""
        from host.record.reader import DOCUMENT, Record
        from host.record.recorder import setting_document

        assert self._recorder is not None
        if self._folder is None:
            assert self._recorder.state.memory is not None
            about = setting_document(machine, self._run)
            return replace(result, record=Record.in_memory(about, self._recorder.state.memory))
        self._write(DOCUMENT, self._recorder.document(self._run, result.document))
        self._complete = True
        return replace(result, record=Record(self.folder))

    def close(self) -> None:
        """Let go of the folder; leave nothing of a record that is not complete, unless the run is kept."""
        if self._recorder is not None:
            self._recorder.close()
        if self._lock is not None:
            if self._complete or self.spec.checkpoint is None:
                self._lock.clear(complete=self._complete)
            self._lock.close()
