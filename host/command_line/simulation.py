"""What the commands that simulate share: checks beforehand, the machine, progress, times."""

import argparse
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from os.path import exists, isfile, realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from host.command_line.progress import Progress, Step
from host.errors import placed
from host.graph.csr import Graph
from host.graph.estimates import simulation_bytes, size_text
from host.graph.formats import read_graph
from host.graph.memory_map import default_slack
from host.memory_room import check_room
from host.options import UsageError, configuration, memory_profile
from host.output import STANDARD_OUTPUT, check_output
from host.results.documents import Setting, Wall, publish
from host.words import counted
from sim.errors import SimulationError
from sim.notices import notice

if TYPE_CHECKING:
    from host.algorithms.oracle import Checked
    from host.graph.memory_map import PlacedGraph
    from sim.machine import Machine

__all__ = ["Advance", "Simulation", "check_result"]


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
        what = [f"{self._noun} {self._number:,}"]
        advanced = self._cycle - self._first_cycle
        if advanced:
            pace = advanced / max(time.monotonic() - self._begin, 1e-3)
            what += [f"cycle {self._cycle:,}", f"{pace:,.0f} cycles/s"]
        what += [f"{self._done:,} of {counted(self._vertices, 'vertex', 'vertices')}"]
        if self._kept is not None:
            what += [f"checkpoint at cycle {self._kept:,}"]
        self._step(self._done, self._vertices, ", ".join(what))


class Simulation:
    """A simulation that the command line asks for.

    Its options are checked on construction, before anything takes long.

    Parameters
    ----------
    arguments : argparse.Namespace
        The graph and the options of `host.options.add_machine_options`.
    outputs : dict of str to (str or None)
        Output file of each option besides ``--json`` and ``--waves``.

    Attributes
    ----------
    config : AcceleratorConfig
        The machine's sizes.
    memory : Profile
        Its memory profile.
    progress : Progress
        What shows how far it is.

    Raises
    ------
    UsageError, InputError
        Options that make no sense, outputs that cannot be written.
    """

    def __init__(self, arguments: argparse.Namespace, outputs: dict[str, str | None]) -> None:
        self._arguments = arguments
        self._seconds = dict.fromkeys(("load", "simulate", "record", "verify"), 0.0)
        self.progress = Progress(quiet=arguments.quiet)
        self._advance: Advance | None = None
        if arguments.wave_window is not None and arguments.waves is None:
            raise UsageError("--wave-window needs --waves")
        self._outputs = {**outputs, "--json": arguments.json, "--waves": arguments.waves, "--trace": arguments.trace}
        self._check_outputs()
        self.config = configuration(arguments.config)
        self.memory = memory_profile(self._arguments.memory)

    def _check_outputs(self) -> None:
        if self._arguments.waves == STANDARD_OUTPUT:
            raise UsageError("--waves needs a file")
        if self._arguments.waves is not None and Path(self._arguments.waves).suffix not in ("", ".vcd"):
            raise UsageError(f"--waves writes VCD files, which end in .vcd: {self._arguments.waves}")
        users = {realpath(self._arguments.graph): "the graph"}
        for option, path in self._outputs.items():
            if path is None:
                continue
            check_output(path, option)
            key = path if path == STANDARD_OUTPUT else realpath(path)
            if key in users and (key == STANDARD_OUTPUT or isfile(key) or not exists(key)):
                raise UsageError(f"{option} and {users[key]} are the same file: {path}")
            users[key] = option

    @contextmanager
    def phase(self, name: str, what: str) -> Iterator[Step]:
        """Show what the block does, and add the time that it takes to a phase: load, simulate, record or verify."""
        begin = time.perf_counter()
        with self.progress.step(what) as step:
            yield step
        self._seconds[name] += time.perf_counter() - begin

    def read_graph(self, *, directions: int) -> Graph:
        """Read the graph.

        Parameters
        ----------
        directions : int
            1 where it is only searched, 2 where the transpose is placed too.

        Raises
        ------
        InputError
            It cannot be read or is none, or its simulation needs more memory than there is.
        """
        arguments = self._arguments
        with self.phase("load", "reading") as step:
            graph = read_graph(arguments.graph, watch=step, on_note=notice)
        slack = default_slack(graph.vertices) if arguments.queue_slack is None else arguments.queue_slack
        needed = simulation_bytes(
            graph.vertices,
            graph.edges,
            directions=directions,
            capacity=graph.vertices + slack,
            verify=not arguments.no_verify,
        )
        with placed(path=arguments.graph):
            check_room(f"simulated, {size_text(graph.vertices, graph.edges)}", needed)
        return graph

    @contextmanager
    def simulating(self, machine: "Machine", vertices: int, noun: str) -> Iterator[Advance]:
        """Show how the block simulates, and take its time; the callbacks are the caller's to connect."""
        with self.phase("simulate", "simulating") as step:
            self._advance = Advance(step, vertices=vertices, noun=noun, cycle=machine.cycle)
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
        UsageError
            There is no such machine.
        """
        from sim.machine import create_machine

        arguments = self._arguments
        with ExitStack() as stack:
            try:
                with self.progress.step("building the executor") as step:
                    machine = create_machine(
                        self.config,
                        self.memory,
                        executor=arguments.executor,
                        threads=arguments.threads,
                        cycle_limit=arguments.cycle_limit,
                        waves=None if arguments.waves is None else Path(arguments.waves),
                        wave_window=arguments.wave_window,
                        on_progress=self._on_cycle,
                        on_build=step,
                    )
            except ValueError as error:
                raise UsageError(str(error)) from None
            # Also after an error: of a simulation that failed the waveforms are wanted most.
            stack.callback(self._close, machine)
            yield machine

    def _close(self, machine: "Machine") -> None:
        """Close the machine, which completes its waveforms; say so when the run ended before their window."""
        with self.progress.step("closing"):
            cycles = machine.cycle
            machine.close()
        first = (self._arguments.wave_window or (-1, 0))[0]
        if cycles <= first:
            notice(
                f"--wave-window begins at cycle {first:,}, and the run had {cycles:,}: "
                f"{self._arguments.waves} is not written"
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
            if self._arguments.no_verify:
                return None
            checked = check_graphs(machine, graphs)
            check_result(difference())
        return replace(checked, reference=reference)

    def publish(self, document: dict[str, Any], table: str) -> None:
        """Write the result where it was asked for; the table only if nothing else goes to standard output."""
        quiet = self._arguments.quiet or STANDARD_OUTPUT in self._outputs.values()
        publish(document, table, path=self._arguments.json, quiet=quiet)

    def setting(self, graph: Graph, machine: "Machine", *, uploaded_bytes: int, dropped_edges: int) -> Setting:
        """Return what ran where; `dropped_edges` of those that were read are not in the graph."""
        arguments = self._arguments
        return Setting(
            graph=str(arguments.graph),
            vertices=graph.vertices,
            edges=graph.edges + dropped_edges,
            dropped_edges=dropped_edges if arguments.simplify else None,
            config=arguments.config,
            memory=arguments.memory,
            executor=arguments.executor,
            threads=arguments.threads,
            clock_hz=machine.clock,
            uploaded_bytes=uploaded_bytes,
            configuration=asdict(self.config),
            memory_profile=self.memory.describe(),
        )

    def wall(self, machine: "Machine", *, before: float) -> Wall:
        """Return the real time that was taken so far; `before` was taken to simulate, in other processes."""
        return Wall(
            **{**self._seconds, "simulate": self._seconds["simulate"] + before},
            build=machine.build_seconds,
            simulated_cycles=machine.cycle,
            peak_memory_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        )
