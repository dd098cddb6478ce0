"""Runs for Python: the steps of the command line, with arguments in the place of options."""

from contextlib import ExitStack, closing
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

from host.api.machines import config_name, configuration, memory_name, memory_profile
from host.graph.csr import Graph
from host.options import RECORD_INTERVAL, available_threads
from host.progress import Progress
from host.runs.bfs import run_bfs
from host.runs.recording import Recording
from host.runs.results import BfsResult, SccResult
from host.runs.scc import run_scc
from host.runs.session import RunOptions, Session
from sim.configuration import AcceleratorConfig
from sim.errors import SimulationError
from sim.executors.names import EXECUTORS
from sim.memory import Profile

__all__ = ["RunArguments", "bfs", "scc"]


class RunArguments(TypedDict, total=False):
    """How a run is made; all may be left out.

    Attributes
    ----------
    config : str or AcceleratorConfig
        The machine: a preset, a TOML file, or a configuration; ``hc2`` by default.
    memory : str or Profile
        Its memory: ``hc2`` (the default), ``hbm2``, ``fixed:CYCLES``, ``stress``, ``stress:SEED``, a TOML file, or a
        profile.
    executor : str
        ``compiled`` (the default) or ``amaranth``.
    threads : int
        Threads that the executor may use; all cores by default.
    simplify : bool
        Drop repeated edges and self-loops beforehand.
    verify : bool
        Check the result; the default.
    cycle_limit : int
        Give up after so many cycles.
    queue_slack : int
        Queue entries beyond one a vertex.
    record : str or path
        Folder to keep in what happens over time; of a run that fails, waveforms of its last cycles.
    record_interval : int
        Cycles of an interval of it; 1,024 by default.
    progress : bool
        Show on a terminal's standard error how far it is.
    name : str
        What results call the graph; its file by default.
    """

    config: str | AcceleratorConfig
    memory: str | Profile
    executor: str
    threads: int
    simplify: bool
    verify: bool
    cycle_limit: int | None
    queue_slack: int | None
    record: str | PathLike[str] | None
    record_interval: int
    progress: bool
    name: str


def bfs(graph: Graph | str | PathLike[str], source: int, **arguments: Unpack[RunArguments]) -> BfsResult:
    """Search a graph breadth-first on the simulated accelerator, and check the levels.

    Parameters
    ----------
    graph : Graph, str or path
        The graph, or its file.
    source : int
        The vertex to start from, as the graph's file names it.
    **arguments
        See `RunArguments`.

    Raises
    ------
    ValueError, TypeError
        There is no such machine, or no such argument.
    InputError
        The graph, or the record's folder, cannot be used.
    SimulationError
        The simulation failed, or its result is wrong.
    """
    with _Run("bfs", graph, arguments, source=source) as (session, recording):
        return run_bfs(session, lambda read: read.index(source), recording=recording)


def scc(graph: Graph | str | PathLike[str], **arguments: Unpack[RunArguments]) -> SccResult:
    """Find the strongly connected components of a graph on the simulated accelerator, and check them against scipy.

    Parameters
    ----------
    graph : Graph, str or path
        The graph, or its file.
    **arguments
        See `RunArguments`.

    Raises
    ------
    ValueError, TypeError
        There is no such machine, it only searches, or there is no such argument.
    InputError
        The graph, or the record's folder, cannot be used.
    SimulationError
        The simulation failed, or its result is wrong.
    """
    with _Run("scc", graph, arguments) as (session, recording):
        session.options.config.require("finds_components", name=session.options.config_name)
        return run_scc(session, recording=recording)


class _Run:
    """A run in the making, and what records it, until the end of a block."""

    def __init__(
        self, command: str, graph: Graph | str | PathLike[str], arguments: RunArguments, *, source: int | None = None
    ) -> None:
        unknown = set(arguments) - set(RunArguments.__annotations__)
        if unknown:
            known = ", ".join(RunArguments.__annotations__)
            raise TypeError(f"{command}() has no argument {min(unknown)!r}: there are {known}")
        config, memory = arguments.get("config", "hc2"), arguments.get("memory", "hc2")
        executor = arguments.get("executor", EXECUTORS[0])
        if executor not in EXECUTORS:
            raise ValueError(f"unknown executor {executor!r}: there are {', '.join(EXECUTORS)}")
        given = graph if isinstance(graph, Graph) else None
        options = RunOptions(
            graph=arguments.get("name", "graph" if isinstance(graph, Graph) else str(graph)),
            config=configuration(config) if isinstance(config, str) else config,
            config_name=config_name(config),
            memory=memory_profile(memory) if isinstance(memory, str) else memory,
            memory_name=memory_name(memory),
            executor=executor,
            threads=arguments.get("threads", available_threads()),
            simplify=arguments.get("simplify") or None,
            verify=arguments.get("verify", True),
            cycle_limit=arguments.get("cycle_limit"),
            queue_slack=arguments.get("queue_slack"),
        )
        self._progress = Progress(quiet=not arguments.get("progress", False))
        self._given = given
        self._session = Session(options, self._progress, given)
        self._stack = ExitStack()
        self._recording: Recording | None = None
        folder = arguments.get("record")
        if folder is not None:
            interval = arguments.get("record_interval", RECORD_INTERVAL)
            recording = Recording(Path(folder), interval=interval, command=command, options=options, source=source)
            self._recording = self._stack.enter_context(closing(recording))

    def __enter__(self) -> tuple[Session, Recording | None]:
        return self._session, self._recording

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        with self._stack:
            if self._recording is not None and isinstance(error, SimulationError):
                from host.replay.failure import show_failure

                threads = self._session.options.threads
                show_failure(self._recording, error, threads=threads, progress=self._progress, graph=self._given)
