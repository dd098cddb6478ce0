"""Reading the graph that a command is given."""

from pathlib import Path

from host.command_line.progress import Progress
from host.command_line.streams import complain
from host.graph.csr import Graph
from host.graph.formats import read_graph

__all__ = ["read_input"]


def read_input(path: Path | str, progress: Progress, *, command: str) -> Graph:
    """Read a graph, show how far that is, and say on standard error when its content is not what its name says.

    Parameters
    ----------
    path : Path or str
        The file.
    progress : Progress
        Where it is shown.
    command : str
        Who says so.

    Raises
    ------
    InputError
        It cannot be read or is none.
    """
    notes: list[str] = []
    with progress.step("reading") as step:
        graph = read_graph(path, watch=step, on_note=notes.append)
    for note in notes:
        complain(f"cyscc {command}: {note}")
    return graph
