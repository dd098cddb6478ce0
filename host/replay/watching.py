"""Watched replays: a recorded run is made again at full speed, while watchers collect what happens in it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from cyscc.host.replay.replaying import Replay
from cyscc.host.replay.search import Reached

if TYPE_CHECKING:
    from cyscc.host.graph.memory_map import PlacedGraph
    from cyscc.sim.machine import Machine


_WAIT = 64
"""Cycles between two looks at what is waited for."""


class Watcher(Protocol):
    """Collects events of a run while it is simulated.

    Attributes
    ----------
    waiting : bool
        Something that is collected has begun, and its end is still to come.
    """

    waiting: bool

    def begin(self, machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
        """Start collecting, before the machine's first cycle or the state that it goes on from."""

    def look(self, cycle: int) -> int:
        """Take the events up to a cycle; return the most cycles until the next call.

        The last call is at the end of the run, before the machine is closed.
        """


def watch_run(replay: Replay, watchers: Sequence[Watcher], *, first: int = 0, last: int | None = None, aim: str) -> int:
    """Make a run again with some watchers, to its end or to a cycle.

    Parameters
    ----------
    replay : Replay
        The run.
    watchers : sequence of Watcher
        The watchers.
    first : int
        First cycle of interest; a later checkpoint is not used.
    last : int, optional
        The run ends at the first sync point of all AEs after this cycle at which no watcher is waiting.
    aim : str
        Text of the progress display.

    Returns
    -------
    int
        The cycle that the run reached.

    Raises
    ------
    InputError, SimulationError
        See `Replay.make`.
    """
    machines: list[Machine] = []

    def watch(machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
        machines.append(machine)
        for watcher in watchers:
            watcher.begin(machine, graphs)
        machine.on_sync = on_sync
        machine.on_close = on_close

    def on_sync(cycle: int) -> int:
        nearest = min(watcher.look(cycle) for watcher in watchers)
        if last is None or cycle <= last:
            return nearest if last is None else min(nearest, last + 1 - cycle)
        if not any(watcher.waiting for watcher in watchers):
            raise Reached
        return min(nearest, _WAIT)

    def on_close() -> None:
        for watcher in watchers:
            watcher.look(machines[0].reached)

    # Only this one logs accesses, and all executors have the same cycles.
    replay.make(watch, by=first, aim=aim, executor="compiled")
    return machines[0].reached
