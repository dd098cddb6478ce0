"""Graph files changed at random: the product and readers of its tests must say the same of each."""

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np
from scipy.io import mmread
from scipy.sparse import coo_array, load_npz

from cyscc.host.graph.available_memory import AvailableMemory
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import read_graph
from cyscc.host.output.errors import InputError
from tests.fuzz.mutants import mutant
from tests.fuzz.readers import MOST_VERTICES, Edges, RefusedError, read_plainly
from tests.fuzz.search import Finding, Part
from tests.host.graph.files import edges_of as pairs_of

# What the vertices of the largest graph need, and as many edges as no small file has.
ROOM = AvailableMemory(8 * MOST_VERTICES + 50_000, "of the test")


@dataclass(frozen=True)
class File:
    """A file.

    Parameters
    ----------
    name : str
        Its name.
    data : bytes
        What is in it.
    """

    name: str
    data: bytes


def draw(chance: Random) -> File:
    """Draw a file."""
    return File(*mutant(chance))


def edges_of(graph: Graph) -> Edges:
    """Return a graph as the plain readers do."""
    return graph.original(np.arange(graph.vertices)).tolist(), pairs_of(graph)


def of_scipy(name: str, data: bytes) -> list[tuple[int, int]] | None:
    """Return the edges that scipy reads, sorted; None if it refuses the file or does not support its format."""
    base = 0 if name.endswith(".npz") else 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # Without the line end, scipy's reader runs beyond the last line where that has more than it looks for.
            found = coo_array(load_npz(io.BytesIO(data)) if base == 0 else mmread(io.BytesIO(data + b"\n")))
        except Exception:
            return None
    return sorted(zip((found.row + base).tolist(), (found.col + base).tolist(), strict=True))


def examine(file: File, folder: Path) -> Finding:
    """Compare what the product and the other readers say of a file."""
    path = folder / file.name
    path.write_bytes(file.data)
    expected: Edges | None = None
    cause = refusal = ""
    try:
        expected = read_plainly(file.name, file.data)
    except RefusedError as error:
        cause = str(error)
    try:
        with patch("cyscc.host.graph.available_memory.available_memory", lambda: ROOM), warnings.catch_warnings():
            warnings.simplefilter("error")  # people would see a line more
            graph = read_graph(path)
    except InputError as error:
        refusal = str(error)
        if "\n" in refusal or not refusal.startswith(str(path)):
            return Finding("untidy", False, f"refused by {refusal!r}")
        if expected is not None:
            return Finding("refused wrongly", False, refusal)
        return Finding("refused", True)
    except Exception as error:
        return Finding("error", False, f"{type(error).__name__}: {error}")
    if expected is None:
        return Finding("read wrongly", False, f"read, and to be refused: {cause}")
    if edges_of(graph) != expected:
        return Finding("wrong", False, f"read as {edges_of(graph)}, and it is {expected}")
    if not file.name.endswith((".mtx", ".npz")) or (others := of_scipy(file.name, file.data)) is None:
        return Finding("read", True)
    if others != sorted(expected[1]):
        return Finding("wrong", False, f"read as {sorted(expected[1])}, and by scipy as {others}")
    return Finding("read", True, counts={"read by scipy too": 1})


INPUTS = Part("inputs", 200, 60, draw, examine)
"""The part."""
