"""A run that is kept while it goes on."""

import json
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, TypeVar

from host.algorithms.driver import Keeper
from host.checkpoints.encoding import converted, decode_machine, encode
from host.checkpoints.folder import Checkpoint, CheckpointFolder
from host.checkpoints.interval import Interval
from host.output import reason

if TYPE_CHECKING:
    from sim.machine import Machine

__all__ = ["Checkpoints"]

State = TypeVar("State")

_ANY = 1 << 62


class Checkpoints(Keeper):
    """Keeps the run of a machine in a folder.

    Parameters
    ----------
    machine : Machine
        The machine.
    folder : CheckpointFolder or None
        Where to keep it; None to keep it no more.
    every : Interval
        How often.
    about : callable
        Returns what is to be said about a checkpoint, besides its cycle.
    without : collection of int
        Addresses of the allocations that a run that is taken up again has written by itself.
    on_written : callable
        Called with the cycle when a checkpoint has been written.
    on_failure : callable
        Called with a line when one could not be written: the run goes on, and the checkpoint before it is still there.
    resumed : Checkpoint, optional
        What to go on from.
    """

    def __init__(
        self,
        machine: "Machine",
        folder: CheckpointFolder | None,
        *,
        every: Interval,
        about: Callable[[], dict[str, Any]],
        without: Collection[int],
        on_written: Callable[[int], None],
        on_failure: Callable[[str], None],
        resumed: Checkpoint | None = None,
    ) -> None:
        self._machine = machine
        self._folder = folder
        self._every = every
        self._about = about
        self._without = set(without)
        self._on_written = on_written
        self._on_failure = on_failure
        self._parts: dict[str, object] = {}
        self._refresh: list[Callable[[], None]] = []
        self._resumed = resumed
        self._text: Any = None if resumed is None else json.loads(resumed.file("state.json").tobytes())
        self._next_cycle = _ANY
        self._next_second = float(_ANY)
        if folder is not None:
            machine.on_meeting = self._on_meeting

    def kept(self, name: str, kind: type[State]) -> State | None:
        """Return the state that was kept of a part of the run; None in a run from the beginning."""
        if self._resumed is None:
            return None
        return converted(self._text["parts"][name], kind, self._resumed.file)

    def keep(self, name: str, state: object, *, refresh: Callable[[], None] | None = None) -> None:
        """Tell the state of a part of the run, which changes from now on; `refresh` brings it up to date if need be."""
        self._parts[name] = state
        if refresh is not None:
            self._refresh.append(refresh)
        self._wait()

    def resume(self) -> None:
        """Bring the machine to where it was."""
        assert self._resumed is not None
        text, load = self._text, self._resumed.file
        self._machine.load(decode_machine(text["machine"], text["hardware"], load))
        self._resumed = self._text = None
        self._wait()

    def _wait(self) -> None:
        """Begin an interval."""
        self._next_cycle = self._machine.cycle + (self._every.cycles or _ANY)
        self._next_second = time.monotonic() + (self._every.seconds or _ANY)

    def _on_meeting(self, cycle: int) -> int:
        """Keep the run if it is time to; return the most cycles until this is to be asked again."""
        if cycle >= self._next_cycle or time.monotonic() >= self._next_second:
            self._write(cycle)
            self._wait()
        return self._next_cycle - cycle

    def _write(self, cycle: int) -> None:
        assert self._folder is not None
        try:
            for refresh in self._refresh:
                refresh()
            files = encode(self._parts, self._machine.save(without=self._without))
            self._folder.write({"cycle": cycle, **self._about()}, files)
        except OSError as error:
            self._on_failure(f"{self._folder.path}: {reason(error)}: no checkpoint at cycle {cycle:,}")
            return
        self._on_written(cycle)
