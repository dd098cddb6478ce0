"""Graph files: SNAP edge lists, Matrix Market, DIMACS/GTgraph and scipy matrices, told apart by content and suffix."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from host.errors import InputError, placed
from host.graph.csr import Graph, check_degrees
from host.graph.formats import gr, matrix_market, npz, snap
from host.graph.formats.files import LONGEST_HEAD, InputFile, Watch, gzipped, open_input, open_output
from host.graph.formats.foreign import foreign
from host.graph.formats.text import BYTE_ORDER_MARK

__all__ = ["read_graph", "write_graph"]

_FORMATS: dict[str, ModuleType] = {".mtx": matrix_market, ".gr": gr, ".npz": npz}


def _suffix(path: Path) -> str:
    """Return the suffix that names the format, in small letters; empty where there is none."""
    return (path.with_suffix("") if gzipped(path) else path).suffix.lower()


def _format(path: Path) -> ModuleType:
    return _FORMATS.get(_suffix(path), snap)


def _recognised(head: bytes) -> ModuleType | None:
    """Return the format that a file must be by how it begins, if there is one."""
    lines = head.removeprefix(BYTE_ORDER_MARK).splitlines()
    if len(head) == LONGEST_HEAD:
        lines.pop()  # it may be cut in two
    return next((form for form in _FORMATS.values() if form.recognises(lines)), None)


def _followed(path: Path, file: InputFile) -> tuple[ModuleType, str]:
    """Return the format of a file, and what is to be said when that is not what its suffix says."""
    if not file.head:
        raise InputError("is empty")
    if (other := foreign(file.head)) is not None:
        raise InputError(f"is {other}, which is no format of graphs")
    named = _format(path)
    found = _recognised(file.head)
    if found is None and gzipped(path) and not file.gzipped:
        raise InputError("not gzip data")
    form = found or named
    # A name without a suffix says nothing.
    differs = (form is not named and _suffix(path) != "") or (file.gzipped != gzipped(path) and path.suffix != "")
    packed, names = (("gzipped " if each else "") for each in (file.gzipped, gzipped(path)))
    note = f"read as {packed}{form.NAME} by its content, although its suffix says {names}{named.NAME}"
    return form, note if differs else ""


def read_graph(path: Path | str, *, watch: Watch | None = None, on_note: Callable[[str], None] | None = None) -> Graph:
    """Read a graph.

    The content tells the format where it is unmistakable: Matrix Market by its banner, DIMACS and GTgraph by the letter
    that begins their lines, scipy matrices as zip archives, and what is gzipped. Otherwise the suffix names it:
    ``.mtx`` Matrix Market, ``.gr`` DIMACS and GTgraph, ``.npz`` a scipy sparse matrix, anything else a SNAP edge list;
    each also gzipped, with ``.gz`` behind.

    Parameters
    ----------
    path : Path or str
        The file.
    watch : callable, optional
        Watches how much of the file has been read.
    on_note : callable, optional
        Called with one line when the content is not what the suffix says.

    Returns
    -------
    Graph
        With the ids of the input: those that occur in an edge list, 1 to n in .mtx and .gr, 0 to n - 1 in .npz.

    Raises
    ------
    InputError
        When the file cannot be read as such a graph, or the graph does not fit in 32 bits or in memory.
    """
    path = Path(path)
    note = ""
    try:
        with open_input(path, watch) as file:
            form, note = _followed(path, file)
            graph: Graph = form.read(file.stream)
            check_degrees(graph.offsets)
    except InputError as error:
        cause = f"{error.cause} ({note})" if note else error.cause
        raise InputError(cause, path=error.path, line=error.line) from None
    if note and on_note is not None:
        on_note(f"{path}: {note}")
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
