"""Graph files changed at random: the product and readers of its tests must say the same of each."""

import gzip
import io
import random
import re
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.io import mmread
from scipy.sparse import coo_array, load_npz

from cyscc.host.graph.available_memory import AvailableMemory
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import read_graph
from cyscc.host.output.errors import InputError
from tests.fuzz.readers import MOST_VERTICES, Edges, RefusedError, read_plainly
from tests.fuzz.search import Finding, Part
from tests.host.graph.files import array_bytes
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


NUMBERS = (0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64, 10**30)
TOKENS = (
    *(b"\n", b"\r", b"\r\n", b" ", b"\t", b"\0", b"\x0b", b"\x0c", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3\xa9", b"\xc3"),
    *(b"#", b"%", b"c", b"a ", b"p ", b"p sp 5 4\n", b"%%MatrixMarket matrix coordinate pattern general\n", b"1 2\n"),
    *(b"nan", b"inf", b"1e3", b"+5", b"-", b".", b"1,5", b"1_0", b"0x1F", b"\xd9\xa3"),
    *(b"<html>", b"PK\3\4", b"3 4 5\n"),
    *(b"symmetric", b"skew-symmetric", b"hermitian", b"real", b"complex", b"array", b"integer", b"pattern", b"csc"),
)
SUFFIXES = (".txt", ".mtx", ".gr", ".npz", ".edges", "", ".MTX", ".dat")
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
Chance = random.Random


def numbers(chance: Chance) -> tuple[int, list[tuple[int, int]]]:
    """Draw a small graph: its number of vertices and its edges."""
    vertices = chance.randint(1, 12)
    return vertices, [(chance.randrange(vertices), chance.randrange(vertices)) for _ in range(chance.randint(0, 20))]


def some_value(chance: Chance) -> str:
    """Draw a weight."""
    return chance.choice(["1", "0", "-2", "0.5", "1e-3", ".25", "3.", "NaN", "+inf", "7E2"])


def edge_list(chance: Chance) -> bytes:
    """Write an edge list."""
    base = chance.choice([0, 0, 1, 5, 10**6, 2**40])
    _, edges = numbers(chance)
    columns = chance.choice([0, 0, 1, 2])
    lines = [" ".join([f"{s + base}", f"{t + base}", *(some_value(chance) for _ in range(columns))]) for s, t in edges]
    lines[:0] = ["# a comment", "% another", ""][: chance.randint(0, 3)]
    return chance.choice(["\n", "\n", "\r\n", "\r"]).join([*lines, ""]).encode()


def matrix_market(chance: Chance) -> bytes:
    """Write a Matrix Market file."""
    vertices, edges = numbers(chance)
    field = chance.choice(["pattern", "real", "integer"])
    symmetry = chance.choice(["general", "general", "symmetric", "skew-symmetric"])
    lines = [f"%%MatrixMarket matrix coordinate {field} {symmetry}", *(["% a comment"] * chance.randint(0, 2))]
    lines += [f"{vertices} {vertices} {len(edges)}"]
    for source, target in edges:
        row, column = (source, target) if symmetry == "general" else (max(source, target), min(source, target))
        lines.append(f"{row + 1} {column + 1}" + (f" {some_value(chance)}" if field != "pattern" else ""))
    return "\n".join([*lines, ""]).encode()


def dimacs(chance: Chance) -> bytes:
    """Write a DIMACS file."""
    vertices, edges = numbers(chance)
    lines = [*(["c a comment"] * chance.randint(0, 2)), f"p sp {vertices} {len(edges)}"]
    lines += [f"a {s + 1} {t + 1}{chance.choice([' 1', ' 1', ' 27', ''])}" for s, t in edges]
    return "\n".join([*lines, ""]).encode()


def matrix(chance: Chance) -> dict[str, Any]:
    """Draw the arrays of a sparse matrix."""
    vertices, edges = numbers(chance)
    width = chance.choice(["<i4", "<i4", "<i8", ">i4", "<u2"])
    layout = chance.choice(["csr", "csr", "csc", "coo"])
    rows, columns = (np.array([edge[end] for edge in sorted(edges)], dtype=width) for end in (0, 1))
    arrays: dict[str, Any] = {"row": rows, "col": columns}
    if layout != "coo":
        starts = np.searchsorted(rows, np.arange(vertices + 1))
        arrays = {"indices": columns, "indptr": starts.astype(width)}
    name = np.array(layout if chance.randrange(3) == 2 else layout.encode())
    values = np.ones(len(edges), dtype=chance.choice(["f8", "i1", "?", "c16"]))
    return {**arrays, "format": name, "shape": np.array([vertices, vertices]), "data": values}


def damaged_array(chance: Chance, array: Any) -> Any:
    """Change an array, possibly to an invalid one."""
    array = np.atleast_1d(array).copy()
    change = chance.randrange(7)
    if change == 0:
        return array[:-1]
    if change == 1:
        return np.append(array, array[:1])
    if change == 2:
        return array.astype("f4") if array.dtype.kind in "iuf" else array
    if change == 3:
        return array.reshape(1, -1)
    if change == 4:
        return array[::-1]
    if change == 5:
        return np.array(["csr", None], dtype=object)
    if array.dtype.kind == "i" and len(array):
        array[chance.randrange(len(array))] = chance.choice([-1, 0, 1, 100, np.iinfo(array.dtype).max])
    return array


def archive(chance: Chance) -> bytes:
    """Write a sparse matrix, now and then with a member that is missing, doubled, changed, or not as it should be."""
    members = {f"{name}.npy": array_bytes(array) for name, array in matrix(chance).items()}
    names = list(members)
    change = chance.randrange(12)
    if change == 0:
        names.remove(chance.choice(names))
    elif change == 1:
        names.append(chance.choice(names))
    elif change == 2:
        arrays = matrix(chance)
        name = chance.choice(sorted(arrays))
        members[f"{name}.npy"] = array_bytes(damaged_array(chance, arrays[name]))
    elif change == 3:
        name = chance.choice(names)
        members[name] = mutated_bytes(chance, members[name])
    file = io.BytesIO()
    kind = chance.choice([zipfile.ZIP_STORED, *METHODS])
    with zipfile.ZipFile(file, "w", kind) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a doubled member
        for name in names:
            # Times of their own would make each file another.
            archive.writestr(zipfile.ZipInfo(name), members[name], kind)
    data = bytearray(file.getvalue())
    if change == 4:  # the flag for encryption, where the list of members has it
        at = data.rfind(b"PK\1\2")
        data[at + 8] |= 1
    return bytes(data)


def mutated_bytes(chance: Chance, data: bytes) -> bytes:
    """Change bytes, whatever they mean."""
    at = chance.randrange(len(data) + 1)
    length = min(chance.choice([1, 1, 2, 5, 30]), len(data) - at)
    change = chance.randrange(6)
    if change == 0:
        return data[:at]
    if change == 1:
        return data[:at] + data[at + length :]
    if change == 2:
        return data[:at] + chance.randbytes(length) + data[at + length :]
    if change == 3:
        return data[:at] + chance.choice(TOKENS) + data[at:]
    if change == 4:
        return data + chance.choice([*TOKENS, data, chance.randbytes(9), bytes(3)])
    flipped = bytearray(data)
    for _ in range(min(length, len(data))):
        flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(flipped)


def mutated_text(chance: Chance, data: bytes) -> bytes:
    """Change lines, words and numbers."""
    change = chance.randrange(6)
    if change == 0:
        return chance.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"# c\n", b"\n", b" ", b"\r"]) + data
    if change == 1:
        return data.replace(b"\n", chance.choice([b"\r", b"\r\n", b"\n\n", b" \n", b"\t7\n"]))
    if change == 2:
        found = list(re.finditer(rb"[0-9]+", data))
        if found:
            match = chance.choice(found)
            value = chance.choice([*NUMBERS, int(match[0][:30]) + 1, int(match[0][:30]) - 1])
            return data[: match.start()] + str(value).encode() + data[match.end() :]
        return data
    if change == 3:
        found = list(re.finditer(rb"[^ \n]+", data))
        if found:
            match = chance.choice(found)
            return data[: match.start()] + chance.choice(TOKENS) + data[match.end() :]
        return data
    lines = data.split(b"\n")
    first, second = (chance.randrange(len(lines)) for _ in range(2))
    if change == 4:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines.insert(first, lines[second])
    return b"\n".join(lines)


KINDS: dict[str, Callable[[Chance], bytes]] = {
    ".txt": edge_list,
    ".mtx": matrix_market,
    ".gr": dimacs,
    ".npz": archive,
}


def draw(chance: Chance) -> File:
    """Draw a file."""
    suffix = chance.choice(list(KINDS))
    data = KINDS[suffix](chance)
    for _ in range(chance.choice([0, 1, 1, 1, 2, 4])):
        data = (mutated_text if suffix != ".npz" and chance.randrange(5) < 3 else mutated_bytes)(chance, data)
    packed = chance.randrange(4) == 3
    if packed:
        parts = [data[: len(data) // 2], data[len(data) // 2 :]] if chance.randrange(5) == 4 else [data]
        data = b"".join(gzip.compress(part, mtime=0) for part in parts)
        if chance.randrange(2):
            data = mutated_bytes(chance, data)
    if chance.randrange(7) == 6:
        suffix = chance.choice(SUFFIXES)
    if packed != (chance.randrange(20) == 19):
        suffix += ".gz"
    return File(f"graph{suffix}", data)


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
