"""Search for cases that fail: hypothesis draws them, makes the failing ones simple and keeps them."""

import multiprocessing
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any, Generic, Self, TypeVar

from hypothesis import HealthCheck, Phase, given, settings, strategies
from hypothesis import seed as hypothesis_seed

Case = TypeVar("Case")


@dataclass(frozen=True)
class Finding:
    """Result of a case.

    Parameters
    ----------
    kind : str
        In a word or two.
    good : bool
        Whether it is as it must be.
    what : str
        More of it, for people; always of one that is not.
    counts : dict
        What is to be counted besides.
    """

    kind: str
    good: bool
    what: str = ""
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Part(Generic[Case]):
    """A part.

    Parameters
    ----------
    name : str
        What it is called.
    turn : int
        Cases between those of the other parts.
    patience : float
        Seconds after which a case counts as endless.
    draw : callable
        Returns a case. All that is random in it is drawn by hypothesis, which makes it simpler when it fails: what is
        drawn first, and numbers near zero, count as simple.
    examine : callable
        Looks at a case, in an empty folder that is removed afterwards.
    """

    name: str
    turn: int
    patience: float
    draw: Callable[[Random], Case]
    examine: Callable[[Case, Path], Finding]


_MEMORY = Path("/dev/shm")  # a file there takes no disk


@cache
def failure(kind: str) -> type[AssertionError]:
    """Return the exception of a kind of finding: by their types hypothesis knows whether two cases fail alike."""
    return type(kind, (AssertionError,), {})


@strategies.composite
def _cases(draw: Callable[[Any], Random], part: Part[Any]) -> object:
    return part.draw(draw(strategies.randoms(use_true_random=False)))


def search(
    part: Part[Any],
    cases: int,
    *,
    examine: Callable[[Part[Any], object], Finding] | None = None,
    seed: str = "",
    using: settings | None = None,
) -> Counter[str]:
    """Look at cases of a part.

    Parameters
    ----------
    part : Part
        The part.
    cases : int
        How many.
    examine : callable, optional
        Looks at a case; by default `examined`, in this very process.
    seed : str, optional
        What the cases depend on; by default they are always the same.
    using : hypothesis.settings, optional
        What is to be set besides.

    Returns
    -------
    Counter
        Of the kinds of findings, and of what they count.

    Raises
    ------
    AssertionError
        Cases fail: of each kind the simplest is told in a note.
    """
    counts: Counter[str] = Counter()

    def look(case: object) -> None:
        finding = (examine or examined)(part, case)
        if not finding.good:
            raise failure(finding.kind)(finding.what)
        counts.update([finding.kind])
        counts.update(finding.counts)

    # Failing cases are kept by this name.
    look.__name__ = part.name
    checks, phases = list(HealthCheck), (Phase.reuse, Phase.generate, Phase.shrink)
    using = settings(using, max_examples=cases, deadline=None, suppress_health_check=checks, phases=phases)
    test = using(given(_cases(part))(look))
    (hypothesis_seed(seed)(test) if seed else test)()
    return counts


def examined(part: Part[Any], case: object, *, within: Path | None = None) -> Finding:
    """Look at a case, in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(dir=within) as folder:
        try:
            return part.examine(case, Path(folder))
        except Exception as error:
            frame = error.__traceback__
            while frame is not None and frame.tb_next is not None:
                frame = frame.tb_next
            place = "" if frame is None else f" ({Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno})"
            return Finding("error", False, f"{type(error).__name__}: {error}{place}")


class Worker:
    """A process that looks at cases, which they may kill or block."""

    def __init__(self) -> None:
        self._process: Any = None
        self._connection: Connection | None = None
        place = _MEMORY if _MEMORY.is_dir() else None
        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-", dir=place, ignore_cleanup_errors=True)

    def examine(self, part: Part[Any], case: object) -> Finding:
        """Look at a case."""
        if self._connection is None:
            self._connection, theirs = multiprocessing.get_context("fork").Pipe()
            arguments = (theirs, self._connection, part, Path(self._folder.name))
            # No daemon, which could have no children: commands have.
            self._process = multiprocessing.get_context("fork").Process(target=_serve, args=arguments)
            self._process.start()
            theirs.close()
        try:
            self._connection.send(case)
            if self._connection.poll(part.patience):
                finding: Finding = self._connection.recv()
                return finding
            found = Finding("endless", False, f"no end after {part.patience:.0f} s")
        except (EOFError, OSError):
            self._process.join()
            found = Finding("crash", False, f"the process ended with {self._process.exitcode}")
        self._end()
        return found

    def _end(self) -> None:
        if self._connection is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        """Return the worker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._end()
        self._folder.cleanup()


def _serve(connection: Connection, other: Connection, part: Part[Any], folder: Path) -> None:
    """Look at cases of a part until the other end is closed."""
    other.close()
    # An interrupt of the terminal is for whoever started the search.
    os.setsid()
    while True:
        try:
            case = connection.recv()
        except EOFError:
            return
        connection.send(examined(part, case, within=folder))
