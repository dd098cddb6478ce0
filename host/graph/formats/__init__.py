"""Graph files: SNAP edge lists, Matrix Market, DIMACS/GTgraph and scipy matrices, told apart by suffix."""

from pathlib import Path
from types import ModuleType

from host.errors import placed
from host.graph.csr import Graph, check_degrees
from host.graph.formats import gr, matrix_market, npz, snap
from host.graph.formats.files import Watch, open_input, open_output

__all__ = ["read_graph", "write_graph"]

_FORMATS: dict[str, ModuleType] = {".mtx": matrix_market, ".gr": gr, ".npz": npz}


def _format(path: Path) -> ModuleType:
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return _FORMATS.get(name.suffix.lower(), snap)


def read_graph(path: Path | str, *, watch: Watch | None = None) -> Graph:
    """Read a graph.

    The suffix names the format: ``.mtx`` Matrix Market, ``.gr`` DIMACS and GTgraph, ``.npz`` a scipy sparse matrix,
    anything else a SNAP edge list; each also gzipped, with ``.gz`` behind.

    Parameters
    ----------
    path : Path or str
        The file.
    watch : callable, optional
        Watches how much of the file has been read.

    Returns
    -------
    Graph
        With the ids of the input: those that occur in an edge list, 1 to n in .mtx and .gr, 0 to n - 1 in .npz.

    Raises
    ------
    InputError
        When the file cannot be read as such a graph, or the graph does not fit in 32 bits.
    """
    path = Path(path)
    with open_input(path, watch) as stream:
        graph: Graph = _format(path).read(stream)
        check_degrees(graph.offsets)
        return graph


def write_graph(graph: Graph, path: Path | str, *, watch: Watch | None = None) -> None:
    """Write a graph in the format that the suffix names, as in `read_graph`.

    The file appears whole or not at all. An edge list keeps the ids and loses vertices without edges; the other
    formats keep every vertex and number them anew, from 1 (.mtx, .gr) or 0 (.npz).

    Parameters
    ----------
    graph : Graph
        The graph.
    path : Path or str
        The file.
    watch : callable, optional
        Watches how much of it has been written.

    Raises
    ------
    InputError
        When the file cannot be written.
    """
    path = Path(path)
    with placed(path=path), open_output(path, watch) as stream:
        _format(path).write(graph, stream)
