"""Long runs on the command line: `--checkpoint`, `--checkpoint-every`, `--resume`."""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.checkpoints.folder import Checkpoint, CheckpointFolder
from host.errors import InputError
from host.graph.digests import graph_digest
from host.interval import Interval
from host.options import Absent, UsageError
from sim.notices import notice

if TYPE_CHECKING:
    from host.checkpoints.checkpoints import Checkpoints
    from host.graph.csr import Graph
    from host.graph.memory_map import PlacedGraph
    from host.running.session import Session
    from sim.machine import Machine

__all__ = ["Keeping"]

_DEFAULT = Interval(seconds=60.0)

_TAKEN = {
    "graph": "GRAPH",
    "source": "--source",
    "config": "--config",
    "memory": "--memory",
    "changes": "--set",
    "executor": "--executor",
    "cycle_limit": "--cycle-limit",
    "queue_slack": "--queue-slack",
    "simplify": "--simplify",
    "roofline": "--roofline",
    "record": "--record",
    "record_interval": "--record-interval",
}
"""What a resumed run takes from the checkpoint where it is not given, and what messages call it."""


_COMPARED = ("source", "queue_slack", "roofline", "record_interval")
"""Of these, what must be as it was, besides what graph, configuration and memory come to."""


class Keeping:
    """Keeps a run of the command line, and takes it up again.

    Made before the other options are looked at: those that are not given, and that the checkpoint knows, are set.

    Parameters
    ----------
    arguments : argparse.Namespace
        The graph, and the options of `host.options.add_machine_options` and `add_checkpoint_options`.
    command : str
        The command.

    Raises
    ------
    UsageError, InputError
        Options that make no sense; a folder or a checkpoint that cannot be used.
    """

    def __init__(self, arguments: argparse.Namespace, command: str) -> None:
        self._arguments = arguments
        self._command = command
        self._folders: list[CheckpointFolder] = []
        self._folder: CheckpointFolder | None = None  # where the run is kept
        self._resumed: Checkpoint | None = None
        self._seconds = 0.0
        self._began = 0.0
        try:
            if arguments.resume is not None:
                self._take_up()
            self._open()
        except BaseException:
            self.close()
            raise

    def _take_up(self) -> None:
        from host.sources import sources_digest

        arguments = self._arguments
        folder = self._used(CheckpointFolder(Path(arguments.resume), create=False))
        resumed = self._resumed = folder.read()
        about = resumed.about
        if about["command"] != self._command:
            raise InputError(f"is the checkpoint of a run of cyscc {about['command']}", path=arguments.resume)
        if about["program"] != sources_digest():
            raise InputError("the checkpoint was made by another version of this program", path=arguments.resume)
        for name, value in about["options"].items():
            given = getattr(arguments, name)
            if given is None or isinstance(given, Absent):
                setattr(arguments, name, _found_from_here(name, value, Path(about["folder"])))
        self._seconds = about["seconds"]
        if arguments.checkpoint_every is None:
            arguments.checkpoint_every = Interval(**about["every"])
        if arguments.checkpoint is None or realpath(arguments.checkpoint) == realpath(arguments.resume):
            arguments.checkpoint = arguments.resume
            self._folder = folder

    def _used(self, folder: CheckpointFolder) -> CheckpointFolder:
        self._folders.append(folder)
        return folder

    def _open(self) -> None:
        arguments = self._arguments
        if arguments.checkpoint is None:
            if arguments.checkpoint_every is not None:
                raise UsageError("--checkpoint-every needs --checkpoint")
            return
        if self._folder is None:
            self._folder = self._used(CheckpointFolder(Path(arguments.checkpoint), create=True))
            if self._folder.complete:
                raise InputError(
                    "holds the checkpoint of another run: go on with it by --resume, or remove it",
                    path=arguments.checkpoint,
                )

    def keeper(
        self,
        session: "Session",
        machine: "Machine",
        graphs: Sequence["PlacedGraph"],
    ) -> "Checkpoints | None":
        """Return what keeps the run of a machine on which graphs were placed; None if nothing does.

        Raises
        ------
        InputError
            The checkpoint is of another run.
        """
        if self._folder is None and self._resumed is None:
            return None
        from host.checkpoints.checkpoints import Checkpoints
        from host.sources import sources_digest

        identity = self._identity(session, graphs[0].graph)
        if self._resumed is not None:
            difference = _difference(self._resumed.about["identity"], identity)
            if difference is not None:
                raise InputError(f"the checkpoint is of another run: {difference}", path=self._arguments.resume)
            _say_what_is_over(session, self._resumed.about["cycle"])
        every = self._arguments.checkpoint_every or _DEFAULT
        self._began = time.perf_counter()

        def about() -> dict[str, Any]:
            return {
                "command": self._command,
                "program": sources_digest(),
                "folder": str(Path.cwd()),
                "options": {name: getattr(self._arguments, name) for name in _TAKEN if hasattr(self._arguments, name)},
                "every": asdict(every),
                "seconds": self.seconds + time.perf_counter() - self._began,
                "identity": identity,
            }

        return Checkpoints(
            machine,
            self._folder,
            every=every,
            about=about,
            without=[graph.neighbours_address for graph in graphs],
            on_written=session.on_checkpoint,
            on_failure=lambda line: notice(f"{line}; the run goes on"),
            resumed=self._resumed,
        )

    @property
    def seconds(self) -> float:
        """Real time that simulating took before this process."""
        return self._seconds

    def latest(self) -> Checkpoint | None:
        """Return the newest checkpoint of the run, None if there is none."""
        return self._folder.read() if self._folder is not None and self._folder.complete else None

    def _identity(self, session: "Session", graph: "Graph") -> dict[str, Any]:
        """Return all that the run depends on."""
        identity = {
            "graph": graph_digest(graph),
            "configuration": asdict(session.options.config),
            "memory": session.options.memory.describe(),
            "options": {name: getattr(self._arguments, name, None) for name in _COMPARED},
        }
        # As a checkpoint has it.
        return dict(json.loads(json.dumps(identity)))

    def close(self) -> None:
        """Let others use the folders."""
        for folder in self._folders:
            folder.close()

    def done(self) -> None:
        """Remove the checkpoint: the run is finished."""
        if self._folder is not None:
            self._folder.remove()


def _say_what_is_over(session: "Session", cycle: int) -> None:
    """Say that there will be no waveforms when a run that goes on from a cycle is behind their window."""
    options = session.options
    if options.wave_window is not None and options.wave_window[1] < cycle:
        notice(
            f"--wave-window ends at cycle {options.wave_window[1]:,}, and the run goes on from {cycle:,}: "
            f"{options.waves} is not written"
        )


def _difference(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """Return how what a run depends on differs from what it was, None if it does not."""
    if before["graph"] != now["graph"]:
        return "the graph is not the same"
    for kind, title in (("configuration", "--config"), ("memory", "--memory"), ("options", "")):
        for name in before[kind] | now[kind]:
            old, new = before[kind].get(name), now[kind].get(name)
            if old != new:
                option = f"{title}: {name}" if title else _TAKEN[name]
                return f"{option} was {_shown(old)}, and is {_shown(new)}"
    return None


def _shown(value: Any) -> Any:
    return "not given" if value is None else value


def _found_from_here(name: str, value: Any, folder: Path) -> Any:
    """Return the value of an option, which a file has that is named as seen from a folder."""
    if folder != Path.cwd() and value and (name in ("graph", "record") or str(value).endswith(".toml")):
        return str(folder / value)
    return value
