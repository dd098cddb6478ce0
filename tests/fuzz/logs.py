"""Logs of a campaign: a file for each seed, with a line for each batch of cases."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import msgspec

from cyscc.sim.files import locked


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A case that is not as it must be.

    Parameters
    ----------
    seed : int
        Its campaign.
    part : str
        Its part.
    index : int
        Its number there.
    kind, what : str
        What became of it.
    """

    seed: int
    part: str
    index: int
    kind: str
    what: str

    @property
    def name(self) -> str:
        """Its name for `--only`."""
        return f"{self.part}:{self.index}"

    @property
    def again(self) -> str:
        """The line that repeats it."""
        return f"python -m tests.fuzz --seed {self.seed} --only {self.name}"


@dataclass(kw_only=True)
class Batch:
    """Cases of a part, one after the other.

    Parameters
    ----------
    part : str
        The part.
    first, count : int
        Number of the first, and how many.
    seconds : float
        What they took.
    kinds, counts : dict
        How many became what, and what else was counted.
    failures : list of Failure
        Those that are not as they must be.
    mended : bool
        Whether these are cases that failed before, and are looked at again; the failures that are not there now are
        mended.
    """

    part: str
    first: int
    count: int = 0
    seconds: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    mended: bool = False


def _path(folder: Path, seed: int) -> Path:
    return folder / f"seed-{seed}.jsonl"


def seeds_in(folder: Path) -> list[int]:
    """Return the seeds of the campaigns in a folder, ascending."""
    return sorted(int(path.stem.partition("-")[2]) for path in folder.glob("seed-*.jsonl"))


def batches_in(folder: Path, seed: int) -> Iterator[Batch]:
    """Yield what a campaign has done so far."""
    if not _path(folder, seed).exists():
        return
    for line in _path(folder, seed).read_text().splitlines():
        # The process may have been ended while it wrote the line.
        if line.startswith("{") and line.endswith("}"):
            yield msgspec.json.decode(line, type=Batch)


def failures_of(batches: list[Batch]) -> list[Failure]:
    """Return the failures that have not been fixed since."""
    left: dict[tuple[int, str], Failure] = {}
    for batch in batches:
        for failure in batch.failures:
            if batch.mended:
                left.pop((failure.seed, failure.name), None)
            else:
                left[failure.seed, failure.name] = failure
    return list(left.values())


class Log:
    """The file of a seed, which one process at a time writes.

    Parameters
    ----------
    folder : Path
        Where it is; made if need be.
    seed : int
        The seed.

    Raises
    ------
    BlockingIOError
        Another process writes it.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = _path(folder, seed)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        if not locked(self._descriptor, path):
            os.close(self._descriptor)
            raise BlockingIOError(f"another process goes on with seed {seed}")
        size = os.fstat(self._descriptor).st_size
        if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            os.write(self._descriptor, b"\n")

    def add(self, batch: Batch) -> None:
        """Add a batch."""
        os.write(self._descriptor, msgspec.json.encode(batch) + b"\n")

    def close(self) -> None:
        """Let others write."""
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        """Return the log."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()
