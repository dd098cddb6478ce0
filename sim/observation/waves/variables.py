"""The variables of a waveform file, with their scopes and selection."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate
from typing import Any, Literal

from cyscc.sim.observation.waves.signals import Names, Path

_MOST_SHOWN = 8
"""Most names in a message."""


class Scopes:
    """Selection by globs: each selects signals, or scopes with all of their contents.

    Parameters
    ----------
    globs : sequence of str
        Globs over dotted paths; ``*`` also matches dots. None selects everything.
    """

    def __init__(self, globs: Sequence[str] = ()) -> None:
        self._globs = tuple(globs)
        self._wanted = [re.compile(f"{translate(glob)}|{translate(f'{glob}.*')}") for glob in self._globs]

    def __contains__(self, path: Path) -> bool:
        """Whether a signal is selected."""
        if not self._wanted:
            return True
        dotted = ".".join(path)
        return any(wanted.match(dotted) for wanted in self._wanted)

    def check(self, paths: Iterable[Path]) -> None:
        """Refuse a glob that selects nothing.

        Parameters
        ----------
        paths : iterable of Path
            The available signals.

        Raises
        ------
        ValueError
            One line, with some of the scopes available where the glob fails.
        """
        if not self._globs:
            return
        known = list(paths)
        dotted = [".".join(path) for path in known]
        for glob, wanted in zip(self._globs, self._wanted, strict=True):
            if not any(map(wanted.match, dotted)):
                raise ValueError(f"scope {glob}: matches no signal: {_nearest(glob, known)}")


def _nearest(glob: str, paths: list[Path]) -> str:
    """Return the contents of the deepest scope matched by the beginning of a glob."""
    scope: Path = ()
    for depth, part in enumerate(glob.split(".")):
        inside = [path for path in paths if len(path) > depth + 1 and fnmatchcase(path[depth], part)]
        if not inside:
            break
        paths, scope = inside, inside[0][: depth + 1]
    depth = len(scope)
    inside = [path for path in paths if path[:depth] == scope]
    scopes = [path for path in inside if len(path) > depth + 1]
    names = sorted({path[depth] for path in scopes or inside}, key=_natural)
    shown = ", ".join([*names[:_MOST_SHOWN], *(["..."] if len(names) > _MOST_SHOWN else [])])
    return f"{'.'.join(scope) or 'the machine'} has {shown}"


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key for natural sorting, with numbers in numeric order."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


Step = tuple[Literal["scope"], str] | tuple[Literal["variable"], "Variable"] | tuple[Literal["up"], None]
"""A step through the scopes and variables of a file."""


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A variable of the file.

    Parameters
    ----------
    number : int
        Its number in the file; variables that always have the same value share one.
    path : Path
        Its path in the file.
    width : int
        Bits.
    names : Names, optional
        Names of its values; a value without a name is shown as a number.
    """

    number: int
    path: Path
    width: int
    names: Names | None = None

    def text(self, value: int) -> str:
        """Return the text of a named value."""
        return (self.names or {}).get(value, str(value))


def walk(variables: Sequence[Variable]) -> Iterator[Step]:
    """Yield the steps through a file: the variables of a scope, then its inner scopes."""
    tree: dict[Any, Any] = {}
    for variable in variables:
        scope = tree
        for name in variable.path[:-1]:
            scope = scope.setdefault(name, {})
        # No scope has a signal and an inner scope of the same name.
        scope[variable.path[-1], variable.number] = variable
    yield from _steps(tree)


def _steps(scope: dict[Any, Any]) -> Iterator[Step]:
    for content in scope.values():
        if isinstance(content, Variable):
            yield "variable", content
    for name, content in scope.items():
        if isinstance(content, dict):
            yield "scope", name
            yield from _steps(content)
            yield "up", None
