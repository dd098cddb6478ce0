"""Runs with checkpoints, and resuming them: their folders and saved options."""

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from os.path import realpath
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cyscc.host.output.errors import InputError
from cyscc.host.output.files import ANSWER_OUTPUTS, is_special
from cyscc.host.record.parts import holds_parts, remove_parts
from cyscc.host.runs.checkpoints.folder import About, Checkpoint, CheckpointFolder, Identity
from cyscc.host.specification.run import OWN_RULES, Interval, RunSpec, option_of, run_options
from cyscc.sim.notices import notice, printable
from cyscc.sim.trust import rules_file

if TYPE_CHECKING:
    from cyscc.host.driver.search import Checkpointer, Position
    from cyscc.host.graph.memory_map import PlacedGraph
    from cyscc.host.runs.execution import Session
    from cyscc.sim.machine import Machine

_EVERY = "1min"
"""Default interval between checkpoints."""


class CheckpointedRun:
    """A run that may write checkpoints, and may be resumed from one.

    Parameters
    ----------
    algorithm : str
        The algorithm of the run.
    given : mapping
        Given values of fields of `RunSpec`. A resumed run takes the others from its checkpoint.
    outputs : mapping of str to str, optional
        Files of the answer by option; those of the run itself are fields of `RunSpec`.
    on_resumed : callable, optional
        Called with a line about the cycle from which a resumed run goes on.

    Attributes
    ----------
    spec : RunSpec
        The run.
    seconds : float
        Simulation time of earlier processes.

    Raises
    ------
    SpecError, InputError
        Values are invalid; a folder or a checkpoint cannot be used.
    """

    def __init__(
        self,
        algorithm: str,
        given: Mapping[str, Any],
        *,
        outputs: Mapping[str, str] = MappingProxyType({}),
        on_resumed: Callable[[str], None] | None = None,
    ) -> None:
        self.seconds = 0.0
        writing = {name: each.flag for name, each in run_options(algorithm).items() if each.writes is not None}
        self._known = {*writing.values(), *ANSWER_OUTPUTS}
        self._outputs = [*(flag for name, flag in writing.items() if isinstance(given.get(name), str)), *outputs]
        self._missing: list[str] = []  # outputs that a resumed run was asked for, and now is not
        self._tell_resumed = on_resumed
        self._positions: dict[int, Position | None] = {}  # of checkpoints, by their cycle
        self._folder: CheckpointFolder | None = None  # where checkpoints are written
        self._resumed: Checkpoint | None = None
        with ExitStack() as stack:
            values = dict(given)
            if "resume" in given:
                values = self._resume(algorithm, given, stack)
            self.spec = RunSpec(**{**values, "algorithm": algorithm})
            if self.spec.checkpoint is not None and self._folder is None:
                self._folder = stack.enter_context(closing(CheckpointFolder(Path(self.spec.checkpoint), create=True)))
                if self._folder.complete:
                    raise InputError(
                        "holds the checkpoint of another run: go on with it by --resume, or remove it",
                        path=self.spec.checkpoint,
                    )
            self._held = stack.pop_all()

    def _resume(self, algorithm: str, given: Mapping[str, Any], stack: ExitStack) -> dict[str, Any]:
        """Open the checkpoint to resume from; return the run's option values."""
        from cyscc.host.runs.sources import sources_digest

        resume = given["resume"]
        folder = stack.enter_context(closing(CheckpointFolder(Path(resume), create=False)))
        self._resumed = folder.read()
        about = self._resumed.about
        stored = about.options
        lacking = next((name for name in ("graph", "config", "memory") if stored.get(name) is None), None)
        unknown = min(set(about.outputs) - self._known, default=None)
        recorded, asked = (each.get("record") is not None for each in (stored, given))
        # The version comes first: another one may have saved its options in another form.
        faults = {
            "the checkpoint was made by another version of this program": about.program != sources_digest(),
            f"is the checkpoint of a run of cyscc {stored.get('algorithm')}": stored.get("algorithm") != algorithm,
            f"is a checkpoint of a run without {lacking}": lacking is not None,
            "the run was not recorded from its beginning (--record)": asked and not recorded,
            f"is a checkpoint of a run that was asked for {unknown!r}": unknown is not None,
        }
        for cause, wrong in faults.items():
            if wrong:
                raise InputError(cause, path=resume)
        self._missing = [option for option in about.outputs if option not in self._outputs]
        self.seconds = about.seconds
        values = {"checkpoint": resume, **RunSpec.stored_values(stored, Path(about.folder)), **given}
        _check_named(values, given)
        if realpath(values["checkpoint"]) == realpath(resume):
            values["checkpoint"] = resume
            self._folder = folder
        return values

    def writer(self, session: "Session", machine: "Machine", graphs: "Sequence[PlacedGraph]") -> "Checkpointer | None":
        """Return the writer of checkpoints, given machine and placed graphs; None for a run without checkpoints.

        Raises
        ------
        InputError
            The checkpoint belongs to another run.
        """
        if self._folder is None and self._resumed is None:
            return None
        from cyscc.host.graph.csr import graph_digest
        from cyscc.host.runs.checkpoints.writer import CheckpointWriter
        from cyscc.host.runs.sources import sources_digest

        spec = self.spec
        identity = Identity(**spec.identity(graph_digest(graphs[0].graph)))
        if self._resumed is not None:
            difference = _identity_difference(self._resumed.about.identity, identity)
            if difference is not None:
                raise InputError(f"the checkpoint is of another run: {difference}", path=spec.resume)
            _tell_passed_window(spec, self._resumed.about.cycle)
        began = time.perf_counter()

        def about(cycle: int) -> About:
            self._positions[cycle] = writer.position
            return About(
                cycle=cycle,
                program=sources_digest(),
                folder=str(Path.cwd()),
                options=spec.document(),
                seconds=self.seconds + time.perf_counter() - began,
                identity=identity,
                outputs=[*self._outputs, *self._missing],
            )

        def on_resumed(cycle: int) -> None:
            self._positions[cycle] = writer.position
            if self._tell_resumed is not None:
                self._tell_resumed(f"{spec.resume}: the run goes on from {self._place(cycle)}")
            if self._missing:
                notice(
                    f"{spec.resume}: begun with {', '.join(self._missing)}, not given now: "
                    "the checkpoint stays, to be resumed with what is missing"
                )

        writer = CheckpointWriter(
            machine,
            self._folder,
            every=Interval.parse(spec.checkpoint_every or _EVERY),
            about=about,
            without=[graph.neighbours_address for graph in graphs],
            on_written=session.on_checkpoint,
            on_resumed=on_resumed,
            resumed=self._resumed,
        )
        return writer

    def kept(self, words: Sequence[str]) -> str:
        """Return what an interrupt leaves of the run, and on a second line the command that resumes it, if any does.

        Parameters
        ----------
        words : sequence of str
            The command that was interrupted.
        """
        spec, latest = self.spec, self.latest()
        kept = latest or self._resumed
        if kept is None and self._folder is None:
            return "nothing is kept of the run (--checkpoint DIR would keep it)"
        if kept is None:
            return f"nothing is kept of the run yet (--checkpoint-every {spec.checkpoint_every or _EVERY})"
        then = words if latest is None else _resuming(words, str(latest.path))
        place = self._place(kept.about.cycle)
        return f"checkpoint in {kept.path} at {place}\ngo on with: {printable(shlex.join(then))}"

    def _place(self, cycle: int) -> str:
        """Return the cycle of a checkpoint, and its position if this process knows it."""
        position = self._positions.get(cycle)
        return f"cycle {cycle:,}" if position is None else f"cycle {cycle:,} ({position})"

    def latest(self) -> Checkpoint | None:
        """Return the newest checkpoint of the run, or None."""
        return self._folder.read() if self._folder is not None and self._folder.complete else None

    def close(self) -> None:
        """Release the folders."""
        self._held.close()

    def done(self) -> None:
        """Remove the checkpoint after the run is finished, unless outputs are missing, and the parts of its record."""
        if self._folder is None:
            return
        if self._missing and self._folder.complete:
            self._folder.ask_for(self._missing)
        elif not self._missing:
            self._folder.remove()
            # A checkpoint that the run was resumed from stays if there is another folder for the next ones.
            if self.spec.record is not None and (self._resumed is None or self.spec.resume == self.spec.checkpoint):
                remove_parts(Path(self.spec.record))


def _resuming(words: Sequence[str], folder: str) -> list[str]:
    """Return a command with the same options, so with the same outputs, that resumes from a folder."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in ("--checkpoint", "--resume"):
            next(rest)
        elif not word.startswith(("--checkpoint=", "--resume=")):
            kept.append(word)
        if word == "--":
            kept += rest
    return [*kept[:2], *([f"--resume={folder}"] if folder.startswith("-") else ["--resume", folder]), *kept[2:]]


def _check_named(values: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse code, and places to write to, that only the checkpoint names: anyone may have written it."""
    named = {name: values.get(name) for name in ("graph", "config", "memory", "record") if name not in given}
    for name, value in named.items():
        if not isinstance(value, str | None) or "\0" in (value or ""):
            raise InputError(f"is a checkpoint of a run whose {name} is {value!r}", path=values["resume"])
    memory, record = named.get("memory"), named.get("record")
    if memory is not None and (rules := rules_file(memory)) is not None:
        raise InputError(OWN_RULES.format(rules), path=values["resume"])
    if "graph" not in given and is_special(Path(values["graph"])):
        raise InputError(f"the graph {values['graph']} is no plain file: name it again", path=values["resume"])
    if record is not None and not holds_parts(Path(record)):
        cause = f"the run was recorded to {record}, which holds no part of its record: name its folder: --record DIR"
        raise InputError(cause, path=values["resume"])


def _tell_passed_window(spec: RunSpec, cycle: int) -> None:
    """Print a notice if a run is resumed after its waveform window."""
    if spec.wave_window is not None and spec.wave_window[1] < cycle:
        notice(
            f"--wave-window ends at cycle {spec.wave_window[1]:,}, and the run goes on from {cycle:,}: "
            f"{spec.waves} is not written"
        )


def _identity_difference(before: Identity, now: Identity) -> str | None:
    """Return the first difference between the identities of two runs as text, or None."""
    if before.graph != now.graph:
        return "the graph is not the same"
    for kind, title in (("configuration", "--config"), ("memory", "--memory"), ("options", "")):
        olds, news = getattr(before, kind), getattr(now, kind)
        for name, new in news.items():
            if name not in olds or olds[name] != new:
                option = f"{title}: {name}" if title else option_of(name).flag
                return f"{option} was {_shown(olds.get(name))}, and is {_shown(new)}"
        if olds.keys() != news.keys():
            return f"its {kind} are of another version"
    return None


def _shown(value: Any) -> Any:
    return "not given" if value is None or value is False else value
