"""Runs for the Python interface: `bfs` and `scc`."""

import os
from collections.abc import Mapping
from os import PathLike
from typing import Any, Unpack

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import read_graph
from cyscc.host.output.progress import Progress
from cyscc.host.replay.runs import performed
from cyscc.host.runs.results import BfsResult, Result, SccResult
from cyscc.host.specification.overrides import Overrides
from cyscc.host.specification.run import RunArguments, RunSpec, checked_number, option_of, run_options
from cyscc.sim.notices import notice
from cyscc.sim.trust import GivenText

__all__ = ["bfs", "scc"]

_BESIDES = ("progress", "name")
"""Keywords that are not options of a run."""


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
    result = _run("bfs", graph, arguments, source=checked_number("source", source, low=0))
    assert isinstance(result, BfsResult), "a search was made"
    return result


def scc(graph: Graph | str | PathLike[str], **arguments: Unpack[RunArguments]) -> SccResult:
    """Find the strongly connected components of a graph on the simulated accelerator, and check them.

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
    values = {name: _plain(value) for name, value in arguments.items() if name in keywords and value is not None}
    if isinstance(values.get("memory"), str):
        values["memory"] = GivenText(values["memory"])
    given = graph if isinstance(graph, Graph) else None
    name = arguments.get("name", "graph" if given is not None else _plain(graph))
    spec = RunSpec(algorithm=algorithm, graph=name, source=source, **values).checked()
    if given is None and "name" in arguments:
        given = read_graph(os.fspath(graph), undirected=spec.undirected, on_note=notice)  # type: ignore[arg-type]
    elif given is not None and spec.undirected:
        given = given.mirrored(lambda text: notice(f"{name}: {text}"))
    with performed(spec, Progress(quiet=not arguments.get("progress", False)), graph=given) as result:
        return result


def _plain(value: Any) -> Any:
    """Convert a value to the form used in a specification."""
    if isinstance(value, Mapping):
        return Overrides.of(value)
    if isinstance(value, list) or getattr(value, "ndim", False):
        return tuple(value)
    return os.fspath(value) if isinstance(value, PathLike) else value
