"""Search for cases that fail: hypothesis draws them, makes the failing ones simple and keeps them."""

import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Generic, TypeVar

from hypothesis import HealthCheck, Phase, given, settings, strategies
from hypothesis import seed as hypothesis_seed
from hypothesis.database import DirectoryBasedExampleDatabase

from tests.worker import Worker

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
        Cases that are drawn together, after those kept that failed before.
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


_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where a file takes no disk."""


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
    examine: Callable[[Any], Finding] | None = None,
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
    examine = examine or partial(examined, part)

    def look(case: object) -> None:
        finding = examine(case)
        if not finding.good:
            raise failure(finding.kind)(finding.what)
        counts.update([finding.kind])
        counts.update(finding.counts)

    # Failing cases are kept by this name.
    look.__name__ = part.name
    checks, phases = list(HealthCheck), (Phase.reuse, Phase.generate, Phase.shrink)
    using = settings(using, max_examples=cases, deadline=None, suppress_health_check=checks, phases=phases)
    test = given(_cases(part))(look)
    # Settings come last: a seed takes the database away.
    using(hypothesis_seed(seed)(test) if seed else test)()
    return counts


def hunt(part: Part[Any], folder: Path, *, seed: str, seconds: float) -> Counter[str]:
    """Look at cases of a part in another process, until the time is over; those that failed before come first.

    Parameters
    ----------
    part : Part
        The part.
    folder : Path
        Keeps the cases that fail.
    seed : str
        What the cases depend on.
    seconds : float
        How long; there is one turn at least.

    Returns
    -------
    Counter
        As of `search`, whose exceptions it raises.
    """
    kept = settings(database=DirectoryBasedExampleDatabase(folder), derandomize=False)
    end = time.monotonic() + seconds
    counts: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-", dir=_MEMORY, ignore_cleanup_errors=True) as place,
        Worker(partial(examined, part, within=Path(place)), patience=part.patience) as worker,
    ):

        def examine(case: object) -> Finding:
            try:
                finding: Finding = worker.ask(case)
            except (ChildProcessError, TimeoutError) as error:
                return Finding(type(error).__name__, False, str(error))
            return finding

        for turn in count():
            counts += search(part, part.turn, examine=examine, seed=f"{seed}/{turn}", using=kept)
            if time.monotonic() >= end:
                break
    return counts


def examined(part: Part[Any], case: object, *, within: Path | None = None) -> Finding:
    """Look at a case, in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(dir=within) as folder:
        try:
            return part.examine(case, Path(folder))
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno}"
            return Finding("error", False, f"{type(error).__name__}: {error} ({place})")
