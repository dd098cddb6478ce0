"""Graph files: SNAP edge lists, Matrix Market, DIMACS/GTgraph and scipy matrices, recognised by content and suffix."""

import io
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

from cyscc.host.graph.csr import Graph, check_degrees
from cyscc.host.graph.formats import lists, npz
from cyscc.host.graph.formats.files import LONGEST_HEAD, InputFile, Watch, gzipped, open_input, open_output, suffix_of
from cyscc.host.graph.formats.parsing import BYTE_ORDER_MARK
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import Content, check_suffix
from cyscc.host.output.progress import Progress
from cyscc.sim.notices import notice

_OnNote: TypeAlias = Callable[[str], None] | None

_SMALL = 1 << 16
"""Bytes of a file that is read wholly when it is checked, which takes no second."""


class _Format(NamedTuple):
    """A graph format."""

    name: str
    read: Callable[[IO[bytes]], Graph]
    write: Callable[[Graph, IO[bytes]], None]


_FORMATS = {
    ".mtx": _Format("Matrix Market", lists.read_matrix, lists.write_matrix),
    ".gr": _Format("DIMACS", lists.read_dimacs, lists.write_dimacs),
    ".npz": _Format("scipy matrix", npz.read_npz, npz.write_npz),
}
_SNAP = _Format("edge list", lists.read_snap, lists.write_snap)


def _lines(head: bytes) -> list[bytes]:
    """Return the lines of the beginning of a file, of which the last one may be incomplete."""
    return head.removeprefix(BYTE_ORDER_MARK).splitlines()


def _recognised(head: bytes) -> _Format | None:
    """Return the format recognised from the beginning of a file, or None."""
    lines = _lines(head)
    if len(head) == LONGEST_HEAD:
        lines.pop()  # may be incomplete
    return _FORMATS.get(".npz" if head.startswith(npz.SIGNATURES) else lists.recognised_text(lines))


def _followed(path: Path, file: InputFile) -> tuple[_Format, str]:
    """Return the format of a file, and a note if it contradicts the suffix."""
    suffix = suffix_of(path)
    named = _FORMATS.get(suffix, _SNAP)
    found = _recognised(file.head)
    if found is None and gzipped(path) and not file.gzipped:
        raise InputError("not gzip data")
    form = found or named
    # A name without a suffix implies no format.
    differs = (form is not named and suffix != "") or (file.gzipped != gzipped(path) and path.suffix != "")
    packed, names = (("gzipped " if each else "") for each in (file.gzipped, gzipped(path)))
    note = f"read as {packed}{form.name} by its content, although its suffix says {names}{named.name}"
    return form, note if differs else ""


def _notes(path: Path, file: InputFile, *, undirected: bool) -> list[str]:
    """Return notes about an edge list by its name and its comments, or refuse it as another format."""
    suffix, metis = suffix_of(path), False
    notes = lists.stated_notes(_lines(file.head), undirected=undirected)
    if suffix == ".graph" and path.is_file():
        with open_input(path, what="graph") as again:
            shaped, metis = lists.metis_shape(again.stream)
        notes += [lists.HEADER_NOTE] * shaped
    if metis or suffix == ".metis":
        raise InputError("METIS's format is not read")
    return notes


def read_graph(
    path: Path | str, *, undirected: bool = False, watch: Watch | None = None, on_note: _OnNote = None
) -> Graph:
    """Read a graph.

    The content determines the format if it is unmistakable: Matrix Market by its banner, DIMACS and GTgraph by the
    first letter of their lines, scipy matrices as zip archives, and gzip by its signature. Otherwise the suffix does:
    ``.mtx`` for Matrix Market, ``.gr`` for DIMACS and GTgraph, ``.npz`` for a scipy sparse matrix, anything else for a
    SNAP edge list. A gzipped file has ``.gz`` appended.

    Parameters
    ----------
    path : Path or str
        The file.
    undirected : bool
        Whether each edge is read in both directions; a symmetric matrix has them anyway.
    watch : callable, optional
        Progress callback.
    on_note : callable, optional
        Called with one line if the content contradicts the suffix, an edge list is said to be undirected or may have a
        header, or a graph that is read as undirected has edges in both directions.

    Returns
    -------
    Graph
        With the ids of the input: those that occur in an edge list, 1 to n in .mtx and .gr, 0 to n - 1 in .npz.

    Raises
    ------
    InputError
        The file cannot be read as a graph, or the graph does not fit in 32 bits or in memory.
    """
    path = Path(path)
    note = ""
    try:
        with open_input(path, watch, what="graph") as file:
            form, note = _followed(path, file)
            notes = _notes(path, file, undirected=undirected) if form is _SNAP else []
            graph = lists.read_snap(file.stream, notes.append) if form is _SNAP else form.read(file.stream)
            check_degrees(graph.offsets)
            if undirected:
                graph = graph.mirrored(notes.append)
    except InputError as error:
        cause = f"{error.cause} ({note})" if note else error.cause
        raise InputError(cause, path=error.path, line=error.line) from None
    _tell(path, [note, *notes], on_note)
    return graph


def named_graph(given: Graph | str | PathLike[str], progress: Progress, *, undirected: bool) -> tuple[str, Graph]:
    """Return the name and the graph of a file, or a graph that is in memory already.

    Parameters
    ----------
    given : Graph, str or path
        The graph, or its file.
    progress : Progress
        Progress display.
    undirected : bool
        Whether each edge is taken in both directions.

    Raises
    ------
    InputError
        See `read_graph`.
    """
    name = "graph" if isinstance(given, Graph) else str(given)
    with progress.step(f"{name}: reading") as step:
        if not isinstance(given, Graph):
            return name, read_graph(name, undirected=undirected, watch=step, on_note=notice)
        return name, given.mirrored(lambda text: notice(f"{name}: {text}")) if undirected else given


def _tell(path: Path, notes: list[str], on_note: _OnNote) -> None:
    """Report notes about a file; empty and repeated ones are left out."""
    for note in dict.fromkeys(notes):
        if note and on_note is not None:
            on_note(f"{path}: {note}")


def check_graph(path: Path | str, *, undirected: bool = False, on_note: _OnNote = None) -> None:
    """Refuse a file that is no graph, soon: a large one by its beginning.

    Parameters
    ----------
    path : Path or str
        The file, which can be opened again.
    undirected, on_note
        See `read_graph`; of a large file, only notes about its beginning.

    Raises
    ------
    InputError
        See `read_graph`.
    """
    path = Path(path)
    with open_input(path, what="graph") as file:
        form, note = _followed(path, file)
        if path.stat().st_size > _SMALL and form in (_recognised(file.head), _SNAP):
            lines = _lines(file.head[: file.head.rfind(b"\n") + 1])
            notes = _notes(path, file, undirected=undirected) if form is _SNAP else []
            # Of an edge list, the beginning is one, too, if it is more than comments.
            if form is _SNAP and any(line.strip()[:1] not in b"#%" for line in lines):
                form.read(io.BytesIO(b"\n".join(lines)))
            _tell(path, [note, *notes], on_note)
            return
    read_graph(path, undirected=undirected, on_note=on_note)


def write_graph(graph: Graph, path: Path | str, *, watch: Watch | None = None) -> None:
    """Write a graph in the format of the suffix, as in `read_graph`.

    The file is written atomically. An edge list keeps the ids, but loses vertices without edges; the other formats keep
    every vertex, but renumber them from 1 (.mtx, .gr) or 0 (.npz).

    Parameters
    ----------
    graph : Graph
        The graph.
    path : Path or str
        The file.
    watch : callable, optional
        Progress callback.

    Raises
    ------
    InputError
        When the file cannot be written, or its suffix promises something else than a graph.
    """
    path = Path(path)
    check_suffix(str(path), Content.GRAPH)
    with open_output(path, watch) as stream:
        _FORMATS.get(suffix_of(path), _SNAP).write(graph, stream)
