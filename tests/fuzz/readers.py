"""Readers of graph files that share nothing with the product's: plain Python and numpy, by the rules of the docs."""

import io
import re
import warnings
import zipfile
import zlib
from typing import Any

import numpy as np

Edges = tuple[list[int], list[tuple[int, int]]]
"""Ids of the vertices, ascending, and the edges by source, in the order of the file."""

MOST_VERTICES = 2_000_000
"""Vertices for which there is memory."""

LARGEST = 2**63 - 1
MOST_EDGES = 2**32 - 1
ID = re.compile(rb"[0-9]+")
NUMBER = re.compile(rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)", re.IGNORECASE)
BANNER = b"%%matrixmarket"
NEITHER = (
    *(b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c"),
    *(b"Rar!", b"%PDF", b"\x93NUMPY", b"\x89HDF", b"MATLAB"),
)


class RefusedError(Exception):
    """No graph."""


def need(condition: bool, cause: str) -> None:
    """Refuse unless a condition holds."""
    if not condition:
        raise RefusedError(cause)


def unpacked(data: bytes) -> bytes:
    """Return the content of all members of gzip data, which may end in zeros."""
    result = bytearray()
    while data:
        part = zlib.decompressobj(wbits=31)
        # Flags that no version of gzip has given a meaning are passed over, as Python's gzip does.
        known = data[:3] + bytes([data[3] & 0x1F]) + data[4:] if len(data) > 3 else data
        try:
            result += part.decompress(known)
        except zlib.error as error:
            raise RefusedError(str(error)) from None
        need(part.eof, "cut short")
        data = part.unused_data.lstrip(b"\0")
    return bytes(result)


def words(line: bytes) -> list[bytes]:
    """Return what stands between blanks."""
    return [word for word in line.replace(b"\t", b" ").split(b" ") if word]


def kind_of(name: str, data: bytes, gzipped: bool) -> str:
    """Return the format: by the content where that is unmistakable, else by the name."""
    need(data != b"", "empty")
    need(not data.startswith(NEITHER) and data[257:262] != b"ustar", "foreign")
    need(not data.lstrip(b" \t\n\r\x0b\x0c").startswith(b"<"), "HTML")
    if data.startswith((b"PK\3\4", b"PK\5\6")):
        return "npz"
    lines = [words(line) for line in re.split(rb"\r\n|\r|\n", data.removeprefix(b"\xef\xbb\xbf"))]
    for found in (line for line in lines if line):
        if found[0].startswith(b"%") and found[0].lower().lstrip(b"%").startswith(BANNER.lstrip(b"%")):
            return "mtx"
        if not found[0].startswith((b"#", b"%")):
            if found[0] in (b"a", b"c", b"p"):
                return "gr"
            break
    packed = name.lower().endswith(".gz")
    need(gzipped or not packed, "not gzipped")
    suffix = (name[:-3] if packed else name).lower().rpartition(".")[2]
    need(suffix != "npz", "no archive")
    return suffix if suffix in ("mtx", "gr") else "txt"


def vertex(word: bytes, low: int, high: int) -> int:
    """Read a vertex id."""
    need(ID.fullmatch(word) is not None, "no id")
    digits = word.lstrip(b"0") or b"0"
    need(len(digits) < 20, "too large")
    need(low <= int(digits) <= high, "outside")
    return int(digits)


def count(word: bytes) -> int:
    """Read a number of a header."""
    need(ID.fullmatch(word) is not None and len(word) < 4300, "no number")
    return int(word)


def check_sizes(vertices: int, edges: int) -> None:
    """Refuse what 32 bits or the memory do not hold."""
    need(0 < vertices <= MOST_VERTICES and edges <= MOST_EDGES, "sizes")


def body(
    lines: list[bytes], comments: bytes, fewest: int, most: int, low: int, high: int, letter: bytes, *, alike: bool
) -> list[tuple[int, int]]:
    """Read lines of edges."""
    edges = []
    columns = set()
    for line in lines:
        text = line.lstrip(b" \t")
        if not text:
            continue
        if text[:1] in [comments[i : i + 1] for i in range(len(comments))]:
            need(b"\0" not in text and not text.lower().startswith(BANNER), "comment")
            continue
        found = words(text)
        if letter:
            need(found[0] == letter, "letter")
            found = found[1:]
        need(fewest <= len(found) <= most, "columns")
        edges.append((vertex(found[0], low, high), vertex(found[1], low, high)))
        need(all(NUMBER.fullmatch(word) for word in found[2:]), "no number")
        columns.add(len(found))
    need(len(columns) < 2 or not alike, "columns differ")
    return edges


def by_source(ids: range | list[int], edges: list[tuple[int, int]]) -> Edges:
    """Sort edges by their source alone."""
    return list(ids), sorted(edges, key=lambda edge: edge[0])


def read_list(lines: list[bytes]) -> Edges:
    """Read an edge list."""
    edges = body(lines, b"#%", 2, 4, 0, LARGEST, b"", alike=True)
    need(bool(edges), "no edges")
    return by_source(sorted({end for edge in edges for end in edge}), edges)


def read_matrix_market(lines: list[bytes]) -> Edges:
    """Read a Matrix Market file."""
    banner = [word.lower() for word in words(lines[0])]
    need(len(banner) == 5 and banner[:3] == [BANNER, b"matrix", b"coordinate"], "banner")
    need(banner[3] in (b"pattern", b"integer", b"real"), "field")
    need(banner[4] in (b"general", b"symmetric", b"skew-symmetric"), "symmetry")
    need(b"\0" not in lines[0], "binary")
    place = 1
    while place < len(lines) and lines[place].lstrip(b" \t")[:1] in (b"", b"%"):
        need(b"\0" not in lines[place], "binary")
        need(not lines[place].lstrip(b" \t").lower().startswith(BANNER), "banner")
        place += 1
    need(place < len(lines), "sizes")
    sizes = [count(word) for word in words(lines[place])]
    need(len(sizes) == 3 and sizes[0] == sizes[1], "sizes")
    check_sizes(sizes[0], sizes[2])
    columns = 2 if banner[3] == b"pattern" else 3
    edges = body(lines[place + 1 :], b"%", columns, columns, 1, sizes[0], b"", alike=True)
    need(len(edges) == sizes[2], "entries")
    if banner[4] != b"general":
        edges = [each for s, t in edges for each in ([(s, t), (t, s)] if s != t else [(s, t)])]
    return by_source(range(1, sizes[0] + 1), edges)


def read_dimacs(lines: list[bytes]) -> Edges:
    """Read a DIMACS file."""
    place = 0
    while place < len(lines) and (not words(lines[place]) or words(lines[place])[0] != b"p"):
        need(lines[place].lstrip(b" \t")[:1] in (b"", b"c") and b"\0" not in lines[place], "no header")
        place += 1
    need(place < len(lines) and b"\0" not in lines[place], "no header")
    found = words(lines[place])
    need(len(found) == 4 and found[1] == b"sp", "header")
    vertices, announced = count(found[2]), count(found[3])
    check_sizes(vertices, announced)
    edges = body(lines[place + 1 :], b"c", 2, 3, 1, vertices, b"a", alike=False)
    need(len(edges) == announced, "edges")
    return by_source(range(1, vertices + 1), edges)


def arrays_of(data: bytes) -> dict[str, Any]:
    """Return the arrays of an archive; each member is one array and nothing else."""
    arrays = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        need(len(set(names)) == len(names), "doubled")
        for name in ("format", "shape", "indptr", "indices", "row", "col", "data"):
            if f"{name}.npy" in names:
                member = io.BytesIO(archive.read(f"{name}.npy"))
                need(archive.getinfo(f"{name}.npy").file_size == len(member.getbuffer()), "announced size")
                arrays[name] = np.lib.format.read_array(member, allow_pickle=False)
                need(member.read(1) == b"", "surplus")
    return arrays


def read_archive(data: bytes) -> Edges:
    """Read a matrix as scipy saves it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Python 2 wrote
            arrays = arrays_of(data)
    except RefusedError:
        raise
    except Exception as error:
        raise RefusedError(f"{type(error).__name__}: {error}") from None
    need({"format", "shape", "data"} <= set(arrays), "members")
    layout, shape = arrays["format"], arrays["shape"]
    need(layout.shape == () and layout.dtype.kind in "SU", "format")
    name = layout.item() if layout.dtype.kind == "U" else layout.item().decode("latin-1")
    need(name in ("csr", "csc", "coo"), "format")
    need(shape.shape == (2,) and shape.dtype.kind in "iu", "shape")
    vertices = int(shape[0])
    names = ("row", "col") if name == "coo" else ("indptr", "indices")
    need(set(names) <= set(arrays), "members")
    first, second = (arrays[each] for each in names)
    need(all(each.ndim == 1 and each.dtype.kind in "iu" for each in (first, second)), "arrays")
    need(arrays["data"].shape == second.shape and arrays["data"].dtype.kind in "biufc", "data")
    check_sizes(vertices, len(second))
    need(int(shape[1]) == vertices, "square")
    starts, ends = first.tolist(), second.tolist()
    if name != "coo":
        need(len(starts) == vertices + 1 and starts[0] == 0 and starts[-1] == len(ends), "indptr")
        need(starts == sorted(starts), "indptr")
        starts = [row for row in range(vertices) for _ in range(starts[row + 1] - starts[row])]
    need(len(starts) == len(ends), "lengths")
    need(all(0 <= end < vertices for end in starts + ends), "range")
    pairs = list(zip(ends, starts, strict=True) if name == "csc" else zip(starts, ends, strict=True))
    return by_source(range(vertices), sorted(pairs) if name == "csc" else pairs)


def read_plainly(name: str, data: bytes) -> Edges:
    """Read a graph.

    Parameters
    ----------
    name : str
        Name of the file.
    data : bytes
        What is in it.

    Raises
    ------
    RefusedError
        When it is none.
    """
    gzipped = data.startswith(b"\x1f\x8b")
    data = unpacked(data) if gzipped else data
    kind = kind_of(name, data, gzipped)
    if kind == "npz":
        return read_archive(data)
    lines = re.split(rb"\r\n|\r|\n", data.removeprefix(b"\xef\xbb\xbf"))
    return {"mtx": read_matrix_market, "gr": read_dimacs, "txt": read_list}[kind](lines)
