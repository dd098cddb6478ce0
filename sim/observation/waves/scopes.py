"""Which signals are wanted: globs over their dotted paths."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase, translate

from sim.observation.waves.signals import Path

__all__ = ["Scopes"]

_MOST_SHOWN = 8
"""Names that a message shows."""


class Scopes:
    """What globs select: each names signals, or scopes with all that is below them.

    Parameters
    ----------
    globs : sequence of str
        Globs over dotted paths; ``*`` also stands for dots. None: everything is wanted.
    """

    def __init__(self, globs: Sequence[str] = ()) -> None:
        self._globs = tuple(globs)
        self._wanted = [re.compile(f"{translate(glob)}|{translate(f'{glob}.*')}") for glob in self._globs]

    def __contains__(self, path: Path) -> bool:
        """Whether a signal is wanted."""
        if not self._wanted:
            return True
        dotted = ".".join(path)
        return any(wanted.match(dotted) for wanted in self._wanted)

    def check(self, paths: Iterable[Path]) -> None:
        """Refuse a glob that selects nothing.

        Parameters
        ----------
        paths : iterable of Path
            The signals that there are.

        Raises
        ------
        ValueError
            One line, with some scopes that there are where the glob goes wrong.
        """
        if not self._globs:
            return
        known = list(paths)
        dotted = [".".join(path) for path in known]
        for glob, wanted in zip(self._globs, self._wanted, strict=True):
            if not any(map(wanted.match, dotted)):
                raise ValueError(f"scope {glob}: matches no signal: {_nearest(glob, known)}")


def _nearest(glob: str, paths: list[Path]) -> str:
    """Return what there is in the deepest scope that the beginning of a glob names."""
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
    """Return a key by which numbers in names are in their order."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
