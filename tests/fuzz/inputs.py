"""Graph files changed at random: the product and readers of its tests must say the same of each.

``python -m tests.fuzz.inputs --seed 1 --count 10000`` makes a campaign; ``--only NUMBER`` repeats one of its files.
"""

import argparse
import io
import itertools
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.io import mmread
from scipy.sparse import coo_array, load_npz

from host.errors import InputError
from host.graph.csr import Graph
from host.graph.formats import read_graph
from host.memory_room import Room
from tests.fuzz.mutants import mutant
from tests.fuzz.readers import MOST_VERTICES, Edges, RefusedError, read_plainly

__all__ = ["Failure", "campaign", "difference"]

# What the vertices of the largest graph need, and as many edges as no small file has.
ROOM = Room(8 * MOST_VERTICES + 50_000, "of the test")


@dataclass(frozen=True)
class Failure:
    """A file of which two readers say different things.

    Parameters
    ----------
    seed, number : int
        Campaign and file: ``python -m tests.fuzz.inputs --seed SEED --only NUMBER`` repeats it.
    name : str
        Name of the file.
    data : bytes
        What is in it, made as short as it can be.
    what : str
        The difference.
    """

    seed: int
    number: int
    name: str
    data: bytes
    what: str

    def __str__(self) -> str:
        again = f"python -m tests.fuzz.inputs --seed {self.seed} --only {self.number}"
        return f"{self.name}: {self.what}\n  {self.data!r}\n  {again}"


def edges_of(graph: Graph) -> Edges:
    """Return a graph as the plain readers do."""
    sources = np.repeat(np.arange(graph.vertices), graph.out_degrees())
    pairs = zip(graph.original(sources).tolist(), graph.original(graph.targets).tolist(), strict=True)
    return graph.original(np.arange(graph.vertices)).tolist(), list(pairs)


def of_scipy(name: str, data: bytes) -> list[tuple[int, int]] | None:
    """Return the edges that scipy reads, sorted; None where it refuses the file or does not know such."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read, base = (load_npz, 0) if name.endswith(".npz") else (mmread, 1)
            found = coo_array(read(io.BytesIO(data)))
        except Exception:
            return None
    return sorted(zip((found.row + base).tolist(), (found.col + base).tolist(), strict=True))


def difference(path: Path, tally: Counter[str]) -> str | None:
    """Compare what the product and the other readers say of a file.

    Parameters
    ----------
    path : Path
        The file.
    tally : Counter
        Counts what came of it.

    Returns
    -------
    str or None
        In words; None where they agree.
    """
    name, data = path.name, path.read_bytes()
    expected: Edges | None = None
    cause = found = ""
    try:
        expected = read_plainly(name, data)
    except RefusedError as error:
        cause = str(error)
    try:
        with patch("host.memory_room.memory_room", lambda: ROOM), warnings.catch_warnings():
            warnings.simplefilter("error")  # people would see a line more
            graph = read_graph(path)
    except InputError as error:
        found = str(error)
        if "\n" in found or not found.startswith(str(path)):
            return f"refused by {found!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if bool(found) != (expected is None):
        return f"read, and to be refused: {cause}" if expected is None else f"refused: {found}"
    tally["refused" if found else "read"] += 1
    if expected is None:
        return None
    if edges_of(graph) != expected:
        return f"read as {edges_of(graph)}, and it is {expected}"
    if name.endswith((".mtx", ".npz")) and (others := of_scipy(name, data)) is not None:
        tally["read by scipy too"] += 1
        if others != sorted(expected[1]):
            return f"read as {sorted(expected[1])}, and by scipy as {others}"
    return None


def shrunk(path: Path) -> None:
    """Cut pieces out of a file as long as readers say different things of it."""
    data = path.read_bytes()
    size = len(data) // 2
    while size:
        for start in range(0, len(data), size):
            path.write_bytes(data[:start] + data[start + size :])
            if difference(path, Counter()) is not None:
                data = path.read_bytes()
                break
        else:
            size //= 2
    path.write_bytes(data)


def campaign(
    seed: int,
    *,
    count: int | None = None,
    seconds: float | None = None,
    first: int = 0,
    tally: Counter[str] | None = None,
) -> Iterator[Failure]:
    """Read files that were changed at random, and yield those of which readers say different things.

    Parameters
    ----------
    seed : int
        All that the files depend on, beside their number.
    count : int, optional
        How many.
    seconds : float, optional
        How long, when that is sooner.
    first : int
        Number of the first.
    tally : Counter, optional
        Counts what came of them: ``read``, ``refused``, ``read by scipy too``.
    """
    tally = Counter() if tally is None else tally
    end = time.monotonic() + (float("inf") if seconds is None else seconds)
    numbers = itertools.count(first) if count is None else range(first, first + count)
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            if time.monotonic() >= end:
                return
            name, data = mutant(random.Random(f"{seed}/{number}"))
            path = Path(folder) / name
            path.write_bytes(data)
            what = difference(path, tally)
            if what is not None:
                shrunk(path)
                yield Failure(seed, number, name, path.read_bytes(), difference(path, Counter()) or what)
            path.unlink()


def main() -> int:
    """Make a campaign, and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--only", type=int)
    arguments = parser.parse_args()
    count = 1 if arguments.only is not None else arguments.count
    tally: Counter[str] = Counter()
    failures = 0
    for failure in campaign(
        arguments.seed, count=count, seconds=arguments.seconds, first=arguments.only or 0, tally=tally
    ):
        failures += 1
        print(failure, flush=True)
    print(f"{failures} failures;", ", ".join(f"{number:,} {what}" for what, number in tally.items()))
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
