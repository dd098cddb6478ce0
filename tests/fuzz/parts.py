"""Base of the parts: they draw cases and judge them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

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
