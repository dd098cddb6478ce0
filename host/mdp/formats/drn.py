"""Storm's explicit files (.drn) of Markov decision processes."""

from typing import IO

import numpy as np

from host.errors import InputError, placed
from host.graph.formats.scanner import At, Fault, scan_states
from host.graph.formats.text import Column, Layout, Lines, number, shown, words
from host.mdp.formats.rows import Rows
from host.mdp.model import Mdp, check_size
from host.words import counted

__all__ = ["read_drn"]

_SHORTEST = 4  # bytes of "0:1\n"
_VALUES = (b"double", b"rational")


def _next(lines: Lines, what: str) -> list[bytes]:
    """Return the words of the line after one of the header's."""
    line = lines.next()
    if line is None:
        raise InputError(f"the header is cut short: nothing follows {what}", line=lines.number - 1)
    return words(line)


def _count(lines: Lines, key: bytes) -> int:
    """Read a count, which has a line of its own."""
    line, what = lines.number, key.removeprefix(b"@nr_").decode()
    with placed(line=line):
        found = _next(lines, key.decode())
        if len(found) != 1:
            raise InputError(f"expected the number of {what}")
        return number(found[0], what)


def _header(lines: Lines) -> tuple[int, int | None]:
    """Read the lines up to the model: the number of states, and of choices if there is one."""
    kind = key = b""
    counts: dict[bytes, int] = {}
    while key != b"@model":
        line, text = lines.number, lines.next()
        if text is None:
            raise InputError("has no line '@model'")
        key, _, value = (part.strip() for part in text.partition(b":"))
        with placed(line=line):
            if key == b"@type":
                kind = value.lower()
                if kind != b"mdp":
                    raise InputError(f"expected a model of type 'MDP', not {shown(value)}")
            elif key == b"@value_type":
                if value not in _VALUES:
                    raise InputError(f"expected values of type 'double' or 'rational', not {shown(value)}")
            elif key in (b"@parameters", b"@reward_models"):
                names = _next(lines, key.decode())
                if names and key == b"@parameters":
                    raise InputError(f"has parameters ({shown(names[0])}), which have no values here")
            elif key in (b"@nr_states", b"@nr_choices"):
                counts[key] = _count(lines, key)
                check_size(counts.get(b"@nr_states", 0), 0)
            elif key not in (b"", b"@model") and not text.lstrip().startswith(b"//"):
                raise InputError(f"{shown(key)} is no line of the header")
    if not kind:
        raise InputError("has no line '@type: MDP' before '@model'", line=line)
    if b"@nr_states" not in counts:
        raise InputError("has no line '@nr_states' before '@model'", line=line)
    if counts[b"@nr_states"] == 0:
        raise InputError("the model is empty: it has no states")
    return counts[b"@nr_states"], counts.get(b"@nr_choices")


def read_drn(stream: IO[bytes]) -> Mdp:
    """Read a model.

    A header with ``@type: MDP``, ``@nr_states`` and perhaps ``@nr_choices``; after ``@model`` the states in their
    order, of each its actions, of each its transitions, ``TARGET : PROBABILITY``. Rewards, labels and names are
    ignored.

    Parameters
    ----------
    stream : binary file
        The file.

    Returns
    -------
    Mdp

    Raises
    ------
    InputError
        At the first line at fault, or when the model is incomplete.
    """
    lines = Lines(stream)
    states, choices = _header(lines)
    at = np.array([-1, -1, 0, 0], np.int64)
    columns = (Column("state", 0, states - 1),)
    layout = Layout(form="TARGET : PROBABILITY", comments="//", columns=columns, fewest=2, most=2, weighed=True)
    rows = Rows()
    while len(text := lines.block()):
        room = len(text) // _SHORTEST + 1
        block = np.empty((3, room), np.int64), np.empty(room, np.float64), np.empty(room, np.int64)
        count, fault, line, start, stop = scan_states(text, lines.number, states, at, *block)
        lines.number = line
        if fault:
            where = {"state": at[At.STATE] + (fault == Fault.OTHER_STATE), "choice": at[At.CHOICE], "states": states}
            raise layout.error(fault, text[start:stop].tobytes(), line, **where)
        rows.append(*(each[..., :count] for each in (*block[0], *block[1:])))
    found = int(at[At.STATE]) + 1
    if found < states:
        raise InputError(f"the header announces {counted(states, 'state')}, but only {found:,} follow")
    if at[At.CHOICE] >= 0 and at[At.TRANSITIONS] == 0:
        raise InputError(f"choice {at[At.CHOICE]} of state {found - 1} has no transitions")
    return rows.mdp(states, choices)
