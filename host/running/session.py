"""A run in the making: its options, the machine that it builds, what it shows, the time that it takes."""

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from host.changes import UNCHANGED, Changes
from host.errors import InputError, placed
from host.graph.csr import Graph
from host.graph.estimates import simulation_bytes, size_text
from host.graph.formats import read_graph
from host.graph.memory_map import default_slack
from host.memory_room import check_room
from host.progress import Progress, Step
from host.results.documents import Setting, Wall
from host.words import counted
from sim.configuration import AcceleratorConfig
from sim.errors import SimulationError
from sim.executors.names import EXECUTORS
from sim.memory import Profile
from sim.notices import notice

if TYPE_CHECKING:
    from host.algorithms.oracle import Checked
    from host.graph.memory_map import PlacedGraph
    from sim.machine import Machine

__all__ = ["Advance", "RunOptions", "Session", "check_result"]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a run is made.

    Parameters
    ----------
    graph : str
        What results call the graph: its file, as given.
    config : AcceleratorConfig
        The machine's sizes.
    config_name : str
        What results call them.
    memory : Profile
        Its memory profile.
    memory_name : str
        What results call it.
    changes : Changes
        Of these two, what has already been changed in `config` and `memory`.
    executor : str
        What executes the hardware.
    threads : int
        Threads that it may use.
    simplify : bool or None
        Drop repeated edges and self-loops before the machine gets the graph; None says as little as False.
    verify : bool
        Check the result.
    cycle_limit : int or None
        Give up after so many cycles.
    queue_slack : int or None
        Queue entries beyond one a vertex; None for what suits the graph.
    waves : Path or None
        File of the waveforms.
    wave_window : (int, int) or None
        First and last cycle that they show.
    scopes : tuple of str
        Globs over the dotted paths of what they show; none: all.
    wave_view : bool
        Write views for viewers beside them.
    """

    graph: str
    config: AcceleratorConfig
    config_name: str
    memory: Profile
    memory_name: str
    changes: Changes = UNCHANGED
    executor: str = EXECUTORS[0]
    threads: int
    simplify: bool | None = None
    verify: bool = True
    cycle_limit: int | None = None
    queue_slack: int | None = None
    waves: Path | None = None
    wave_window: tuple[int, int] | None = None
    scopes: tuple[str, ...] = ()
    wave_view: bool = False


def check_result(difference: str | None) -> None:
    """Refuse a wrong result.

    Parameters
    ----------
    difference : str or None
        What the check found, None when the result is right.

    Raises
    ------
    SimulationError
        It is wrong.
    """
    if difference is not None:
        raise SimulationError(f"wrong result: {difference}")


class Advance:
    """How far a simulation is, as its progress tells: vertices done, iterations or levels, cycles.

    Parameters
    ----------
    step : Step
        Where it is shown.
    vertices : int
        Vertices of the graph.
    noun : str
        What is counted: iteration, level.
    cycle : int
        Cycle at its beginning.
    """

    def __init__(self, step: Step, *, vertices: int, noun: str, cycle: int) -> None:
        self._step = step
        self._vertices = vertices
        self._noun = noun
        self._begin = time.monotonic()
        self._first_cycle = self._cycle = cycle
        self._number = self._done = 0
        self._kept: int | None = None
        self.aim = ""
        """What is simulated for, as it is told first."""

    def on_cycle(self, cycle: int) -> None:
        """Take the cycle that the simulation is at."""
        self._cycle = cycle
        self._tell()

    def on_iteration(self, number: int, colours: npt.NDArray[Any]) -> None:
        """Take the iterations that are complete, and the colours: those that are not 0 count as done."""
        self._number = number
        if self._step.due:
            self._done = int(np.count_nonzero(colours))
            self._tell()

    def on_level(self, number: int, reached: int) -> None:
        """Take the levels that are complete and the entries that they reached, some of them perhaps twice."""
        self._number, self._done = number, min(reached, self._vertices)
        self._tell()

    def on_checkpoint(self, cycle: int) -> None:
        """Take the cycle of the last checkpoint."""
        self._kept = cycle
        self._tell()

    def _tell(self) -> None:
        if not self._step.due:
            return
        what = [self.aim] if self.aim else []
        what += [f"{self._noun} {self._number:,}"]
        advanced = self._cycle - self._first_cycle
        if advanced:
            pace = advanced / max(time.monotonic() - self._begin, 1e-3)
            what += [f"cycle {self._cycle:,}", f"{pace:,.0f} cycles/s"]
        what += [f"{self._done:,} of {counted(self._vertices, 'vertex', 'vertices')}"]
        if self._kept is not None:
            what += [f"checkpoint at cycle {self._kept:,}"]
        self._step(self._done, self._vertices, ", ".join(what))


class Session:
    """A run in the making.

    Parameters
    ----------
    options : RunOptions
        How it is made.
    progress : Progress
        What shows how far it is.
    graph : Graph, optional
        The graph; where there is none, it is read from the file that the options name.

    Attributes
    ----------
    options : RunOptions
    progress : Progress
    """

    def __init__(self, options: RunOptions, progress: Progress, graph: Graph | None = None) -> None:
        self._graph = graph
        self.options = options
        self.progress = progress
        self._seconds = dict.fromkeys(("load", "simulate", "record", "verify"), 0.0)
        self._advance: Advance | None = None
        self._aim = ""

    def tell(self, aim: str) -> None:
        """Show what is simulated for, from the next simulation on."""
        self._aim = aim

    @contextmanager
    def phase(self, name: str, what: str) -> Iterator[Step]:
        """Show what the block does, and add the time that it takes to a phase: load, simulate, record or verify."""
        begin = time.perf_counter()
        with self.progress.step(what) as step:
            yield step
        self._seconds[name] += time.perf_counter() - begin

    def read_graph(self, *, directions: int) -> Graph:
        """Return the graph: the given one, or read from the file that the options name.

        Parameters
        ----------
        directions : int
            1 where it is only searched, 2 where the transpose is placed too.

        Raises
        ------
        InputError
            It cannot be read or is none, or its simulation needs more memory than there is.
        """
        options, graph = self.options, self._graph
        if graph is None:
            with self.phase("load", "reading") as step:
                graph = read_graph(options.graph, watch=step, on_note=notice)
        slack = default_slack(graph.vertices) if options.queue_slack is None else options.queue_slack
        needed = simulation_bytes(
            graph.vertices,
            graph.edges,
            directions=directions,
            capacity=graph.vertices + slack,
            verify=options.verify,
        )
        with placed(path=options.graph):
            check_room(f"simulated, {size_text(graph.vertices, graph.edges)}", needed)
        return graph

    @contextmanager
    def simulating(self, machine: "Machine", vertices: int, noun: str) -> Iterator[Advance]:
        """Show how the block simulates, and take its time; the callbacks are the caller's to connect."""
        with self.phase("simulate", "simulating") as step:
            self._advance = Advance(step, vertices=vertices, noun=noun, cycle=machine.cycle)
            self._advance.aim = self._aim
            yield self._advance
            self._advance = None

    def _on_cycle(self, cycle: int) -> None:
        if self._advance is not None:
            self._advance.on_cycle(cycle)

    def on_checkpoint(self, cycle: int) -> None:
        """Show that the run was kept."""
        if self._advance is not None:
            self._advance.on_checkpoint(cycle)

    @contextmanager
    def machine(self) -> Iterator["Machine"]:
        """Build the machine and close it at the end of the block, also after an error.

        Raises
        ------
        SimulationError
            It could not be built.
        InputError
            There is no such machine.
        """
        from sim.machine import create_machine

        options = self.options
        with ExitStack() as stack:
            try:
                with self.progress.step("building the executor") as step:
                    machine = create_machine(
                        options.config,
                        options.memory,
                        executor=options.executor,
                        threads=options.threads,
                        cycle_limit=options.cycle_limit,
                        waves=options.waves,
                        wave_window=options.wave_window,
                        scopes=options.scopes,
                        wave_view=options.wave_view,
                        on_progress=self._on_cycle,
                        on_build=step,
                    )
            except ValueError as error:
                raise InputError(str(error)) from None
            # Also after an error: of a simulation that failed the waveforms are wanted most.
            stack.callback(self._close, machine)
            yield machine

    def _close(self, machine: "Machine") -> None:
        """Close the machine, which completes its waveforms; say so when the run ended before their window."""
        with self.progress.step("closing"):
            cycles = machine.cycle
            machine.close()
        first = (self.options.wave_window or (-1, 0))[0]
        if cycles <= first:
            notice(
                f"--wave-window begins at cycle {first:,}, and the run had {cycles:,}: "
                f"{self.options.waves} is not written"
            )

    def verified(
        self,
        machine: "Machine",
        graphs: Sequence["PlacedGraph"],
        reference: str,
        difference: Callable[[], str | None],
    ) -> "Checked | None":
        """Refuse a memory in which something changed that must not, and a wrong result.

        Parameters
        ----------
        machine : Machine
            The machine after its run.
        graphs : sequence of PlacedGraph
            The graphs that were placed there.
        reference : str
            Whose result the machine's is compared with.
        difference : callable
            Compares them, and returns what `check_result` takes. Called when the graphs are known to be as they were.

        Returns
        -------
        Checked or None
            What was compared. None where it was not to be: only stray writes are looked for then.

        Raises
        ------
        SimulationError
            Something is wrong.
        """
        from host.algorithms.oracle import check_graphs, check_stray_writes

        with self.phase("verify", "verifying"):
            check_stray_writes(machine)
            if not self.options.verify:
                return None
            checked = check_graphs(machine, graphs)
            check_result(difference())
        return replace(checked, reference=reference)

    def setting(self, graph: Graph, machine: "Machine", *, uploaded_bytes: int, dropped_edges: int) -> Setting:
        """Return what ran where; `dropped_edges` of those that were read are not in the graph."""
        options = self.options
        return Setting(
            graph=options.graph,
            vertices=graph.vertices,
            edges=graph.edges + dropped_edges,
            dropped_edges=dropped_edges if options.simplify else None,
            config=options.config_name,
            memory=options.memory_name,
            changes=options.changes,
            executor=options.executor,
            threads=options.threads,
            clock_hz=machine.clock,
            uploaded_bytes=uploaded_bytes,
            configuration=asdict(options.config),
            memory_profile=options.memory.describe(),
        )

    def wall(self, machine: "Machine", *, before: float) -> Wall:
        """Return the real time that was taken so far; `before` was taken to simulate, in other processes."""
        return Wall(
            **{**self._seconds, "simulate": self._seconds["simulate"] + before},
            build=machine.build_seconds,
            simulated_cycles=machine.cycle,
            peak_memory_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        )
