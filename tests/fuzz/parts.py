"""Base of the parts of a campaign: they draw, judge, simplify and print cases."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

Case = TypeVar("Case")
Item = TypeVar("Item")


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
    share : float
        Of the campaign's time.
    patience : float
        Seconds after which a case counts as endless.
    case : type
        Of its cases: a dataclass that JSON can hold.
    draw : callable
        Returns the case of a seed and an index, on which alone it depends.
    examine : callable
        Looks at a case, in an empty folder that is removed afterwards.
    simpler : callable
        Yields cases that are simpler than one, those first that would save most.
    save : callable
        Writes a case into a folder, as people would want to look at it.
    """

    name: str
    share: float
    patience: float
    case: type[Case]
    draw: Callable[[int, int], Case]
    examine: Callable[[Case, Path], Finding]
    simpler: Callable[[Case], Iterator[Case]]
    save: Callable[[Case, Path], None]


def shorter(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Yield a sequence without its halves, then without its quarters, and so on to single items."""
    size = len(items)
    while size:
        for start in range(0, len(items), size):
            yield [*items[:start], *items[start + size :]]
        size //= 2
