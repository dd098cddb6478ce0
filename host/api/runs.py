"""Runs for the Python interface and the command line: `bfs`, `scc`, and the handling of checkpoints and failures."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

from host.graph.csr import Graph
from host.graph.formats import read_graph
from host.progress import Progress
from host.runs.execution import Recording, execute
from host.runs.overrides import Overrides
from host.runs.results import BfsResult, Result, SccResult
from host.runs.specification import RunArguments, RunSpec, option_of, run_options
from sim.errors import SimulationError
from sim.notices import notice

if TYPE_CHECKING:
    from host.runs.keeping import Keeping

__all__ = ["bfs", "performed", "scc"]

_BESIDES = ("progress", "name")
"""Keywords that are not options of a run."""


@contextmanager
def performed(
    spec: RunSpec,
    progress: Progress,
    *,
    graph: Graph | None = None,
    keeping: "Keeping | None" = None,
) -> Iterator[Result]:
    """Execute a run, yield its result, and remove its checkpoint at the end of the block.

    A recorded run that fails leaves waveforms of its last cycles in the record's folder.

    Parameters
    ----------
    spec : RunSpec
        The run.
    progress : Progress
        Shows the progress.
    graph : Graph, optional
        The graph; by default read from the file in the specification.
    keeping : Keeping, optional
        Checkpoints of the run.

    Raises
    ------
    InputError
        A graph, a folder or a file cannot be used.
    SimulationError
        The simulation failed, or its result is wrong.
    """
    with ExitStack() as stack:
        on_failure: Any = partial(_show_failure, progress=progress, graph=graph, keeping=keeping)
        if spec.record is None and spec.trace is not None:
            spec = replace(spec, record=stack.enter_context(TemporaryDirectory(prefix="cyscc-record-")))
            on_failure = None
        result = execute(
            spec,
            progress,
            graph=graph,
            keep=None if keeping is None else keeping.keeper,
            seconds=0.0 if keeping is None else keeping.seconds,
            on_failure=on_failure,
        )
        if spec.trace is not None:
            from host.analysis.trace import write_trace

            assert result.record is not None, "it was recorded"
            write_trace(result.record, spec.trace)
        yield result
        if keeping is not None:
            keeping.done()


def _show_failure(
    recording: Recording,
    error: SimulationError,
    *,
    progress: Progress,
    graph: Graph | None,
    keeping: "Keeping | None",
) -> None:
    from host.replay.replaying import show_failure

    checkpoint = None if keeping is None else keeping.latest()
    show_failure(recording, error, progress=progress, checkpoint=checkpoint, graph=graph)


def bfs(graph: Graph | str | PathLike[str], source: int, **arguments: Unpack[RunArguments]) -> BfsResult:
    """Search a graph breadth-first on the simulated accelerator, and check the levels.

    Parameters
    ----------
    graph : Graph, str or path
        The graph, or its file.
    source : int
        The vertex to start from, by its name in the graph's file.
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
    result = _run("bfs", graph, arguments, source=source)
    assert isinstance(result, BfsResult), "a search was made"
    return result


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
        The machine does not exist or has no intersection kernels, or an argument is unknown.
    InputError
        The graph, or the record's folder, cannot be used.
    SimulationError
        The simulation failed, or its result is wrong.
    """
    result = _run("scc", graph, arguments)
    assert isinstance(result, SccResult), "components were found"
    return result


def _run(
    algorithm: str, graph: Graph | str | PathLike[str], arguments: Mapping[str, Any], *, source: int | None = None
) -> Result:
    keywords = [name for name in run_options(algorithm) if option_of(name).keyword]
    unknown = set(arguments) - {*keywords, *_BESIDES}
    if unknown:
        known = ", ".join((*keywords, *_BESIDES))
        raise TypeError(f"{algorithm}() has no argument {min(unknown)!r}: there are {known}")
    values = {name: _plain(value) for name, value in arguments.items() if name in keywords}
    given = graph if isinstance(graph, Graph) else None
    name = arguments.get("name", "graph" if given is not None else os.fspath(graph))  # type: ignore[arg-type]
    if given is None and "name" in arguments:
        given = read_graph(os.fspath(graph), on_note=notice)  # type: ignore[arg-type]
    spec = RunSpec(algorithm=algorithm, graph=name, source=source, **values).checked()
    with performed(spec, Progress(quiet=not arguments.get("progress", False)), graph=given) as result:
        return result


def _plain(value: Any) -> Any:
    """Convert a value to the form used in a specification."""
    if isinstance(value, Mapping):
        return Overrides.of(value)
    return os.fspath(value) if isinstance(value, PathLike) else value
