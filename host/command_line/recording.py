"""Runs that are recorded, on the command line: `--record`, `--record-interval`, `--trace`."""

import argparse
import json
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from host.algorithms.keeper import Keeper
from host.options import RECORD_INTERVAL, UsageError
from host.output import renamed_when_complete

if TYPE_CHECKING:
    from host.graph.csr import Graph
    from host.record.recorder import Recorder
    from sim.machine import Machine

__all__ = ["Recordings"]

_OPTIONS = ("source", "config", "memory", "executor", "threads", "queue_slack", "cycle_limit", "simplify")


class Recordings:
    """Records a run of the command line, if it is asked to.

    Parameters
    ----------
    arguments : argparse.Namespace
        The graph, and the options of `host.options.add_machine_options` and `add_record_options`.
    command : str
        The command.

    Raises
    ------
    UsageError, InputError
        Options that make no sense; a folder that cannot be used.
    """

    def __init__(self, arguments: argparse.Namespace, command: str) -> None:
        self._arguments = arguments
        self._command = command
        self._recorder: Recorder | None = None
        self._folder = None
        self._rows: dict[str, int] = {}
        self._complete = False
        self._temporary = ExitStack()
        if arguments.record is None and arguments.trace is None:
            if arguments.record_interval is not None:
                raise UsageError("--record-interval needs --record or --trace")
            return
        from host.record.folder import RecordFolder

        folder = arguments.record
        if folder is None:
            if arguments.checkpoint is not None:
                raise UsageError("--trace of a run that is kept needs --record")
            folder = self._temporary.enter_context(TemporaryDirectory(prefix="cyscc-record-"))
        if arguments.record_interval is None:
            arguments.record_interval = RECORD_INTERVAL
        self._folder = RecordFolder(Path(folder), resumed=arguments.resume is not None)

    def begin(self, machine: "Machine", keeper: Keeper | None) -> "Recorder | None":
        """Begin to record a machine on which nothing has run; None if nothing is to be recorded.

        Raises
        ------
        UsageError
            The intervals are too short.
        """
        if self._folder is None:
            return None
        from host.record.recorder import Recorder, RecorderState

        keeper = keeper or Keeper()
        state = keeper.kept("record", RecorderState)
        try:
            recorder = Recorder(machine, self._folder.path, interval=self._arguments.record_interval, state=state)
        except ValueError as error:
            raise UsageError(f"--record-interval: {error}") from None
        keeper.keep("record", recorder.state, refresh=recorder.catch_up)
        self._recorder = recorder
        return recorder

    def finish(self) -> None:
        """Write the tables, up to the machine's present cycle."""
        if self._recorder is not None:
            self._rows = self._recorder.finish()

    def complete(self, machine: "Machine", graph: "Graph", document: dict[str, Any]) -> None:
        """Write the document of the record, with that of the run's result."""
        if self._folder is None:
            return
        from host.graph.digests import graph_digest
        from host.record.document import kernel_cycles, record_document
        from host.record.reader import DOCUMENT

        arguments = self._arguments
        about = record_document(
            machine,
            command=self._command,
            run={
                "graph": str(arguments.graph),
                "folder": str(Path.cwd()),
                "digest": graph_digest(graph),
                "vertices": graph.vertices,
                "edges": graph.edges,
                "options": {name: getattr(arguments, name, None) for name in _OPTIONS},
            },
            interval=arguments.record_interval,
            causes=kernel_cycles(self._folder.path),
            rows=self._rows,
            result=document,
        )
        with renamed_when_complete(str(self._folder.path / DOCUMENT)) as path:
            path.write_text(json.dumps(about, indent=1) + "\n")
        self._complete = True
        if arguments.trace is not None:
            from host.record.reader import Record
            from host.trace.trace import write_trace

            write_trace(Record(self._folder.path), arguments.trace)

    def close(self) -> None:
        """Let go of the folder; leave nothing of a record that is not complete, unless the run is kept."""
        if self._recorder is not None:
            self._recorder.close()
        if self._folder is not None:
            if self._complete or self._arguments.checkpoint is None:
                self._folder.clear(complete=self._complete)
            self._folder.close()
        self._temporary.close()
