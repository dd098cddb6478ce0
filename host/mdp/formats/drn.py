"""Storm's explicit files (.drn) of Markov decision processes."""

from enum import IntEnum
from typing import IO

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError, placed
from host.graph.formats.scanner import (
    Fault,
    line_end,
    next_line,
    probability,
    rest_end,
    skip_blanks,
    token_end,
    whole,
    word_at,
)
from host.graph.formats.text import Column, Layout, Lines, number, shown, words
from host.mdp.formats.rows import Rows
from host.mdp.model import Mdp, check_size
from host.words import counted
from sim.caching.code import njit

__all__ = ["read_drn"]

_SHORTEST = 4  # bytes of "0:1\n"
_STATE, _ACTION = b"state", b"action"
_COLON, _SLASH = 58, 47
_VALUES = (b"double", b"rational")


class _At(IntEnum):
    """Where the scanner is: places in an array that goes from block to block."""

    STATE = 0
    """The state, -1 before the first."""
    CHOICE = 1
    """The number of the choice in its state, -1 before the first."""
    TRANSITIONS = 2
    """Transitions of the choice so far."""
    CHOICES = 3
    """Choices of all states so far."""


@njit(cache=True, nogil=True, inline="always")
def _unfinished(at: NDArray[np.int64]) -> Fault:
    """Say what the choice, or the state, does not have that must have come before the next."""
    if at[_At.STATE] < 0:
        return Fault.NONE
    if at[_At.CHOICE] < 0:
        return Fault.NO_CHOICES
    return Fault.NO_TRANSITIONS if at[_At.TRANSITIONS] == 0 else Fault.NONE


@njit(cache=True, nogil=True)
def _scan(
    buffer: NDArray[np.uint8],
    line: int,
    states: int,
    at: NDArray[np.int64],
    numbers: NDArray[np.int64],
    weights: NDArray[np.float64],
    lines: NDArray[np.int64],
) -> tuple[int, Fault, int, int, int]:
    """Scan whole lines into transitions.

    Returns how many there are, why it ended, on which line (one past the last when nothing is wrong), and the token
    that is wrong.
    """
    position = 0
    count = 0
    while position < len(buffer):
        start = position = skip_blanks(buffer, position)
        stop = token_end(buffer, position)
        if line_end(buffer[position]) or (buffer[position] == _SLASH and buffer[position + 1] == _SLASH):
            pass
        elif word_at(buffer, start, stop, _STATE):
            fault = _unfinished(at)
            if fault != Fault.NONE:
                return count, fault, line, start, stop
            start = skip_blanks(buffer, stop)
            stop = token_end(buffer, start)
            state, position = whole(buffer, start)
            if state < 0 or position != stop:
                return count, Fault.NOT_AN_ID, line, start, stop
            if at[_At.STATE] + 1 == states:
                return count, Fault.SURPLUS_STATE, line, start, stop
            if state != at[_At.STATE] + 1:
                return count, Fault.OTHER_STATE, line, start, stop
            at[_At.STATE], at[_At.CHOICE], at[_At.TRANSITIONS] = state, -1, 0
        elif word_at(buffer, start, stop, _ACTION):
            if at[_At.STATE] < 0:
                return count, Fault.NO_STATE, line, start, stop
            if at[_At.CHOICE] >= 0 and at[_At.TRANSITIONS] == 0:
                return count, Fault.NO_TRANSITIONS, line, start, stop
            at[_At.CHOICE] += 1
            at[_At.CHOICES] += 1
            at[_At.TRANSITIONS] = 0
        else:
            if at[_At.CHOICE] < 0:
                return count, Fault.NO_ACTION, line, start, stop
            target, position = whole(buffer, start)
            if target < 0:
                return count, Fault.NOT_AN_ID, line, start, stop
            colon = skip_blanks(buffer, position)
            if buffer[colon] != _COLON:
                return count, Fault.NO_COLON, line, start, rest_end(buffer, start)
            if target >= states:
                return count, Fault.OUTSIDE, line, start, position
            start = skip_blanks(buffer, colon + 1)
            likely, position = probability(buffer, start)
            if likely < 0:
                return count, Fault.NOT_A_PROBABILITY, line, start, rest_end(buffer, start)
            position = skip_blanks(buffer, position)
            if not line_end(buffer[position]):
                return count, Fault.TOO_MANY_COLUMNS, line, position, token_end(buffer, position)
            numbers[0, count], numbers[1, count], numbers[2, count] = at[_At.STATE], at[_At.CHOICE], target
            weights[count], lines[count] = likely, line
            at[_At.TRANSITIONS] += 1
            count += 1
        position = next_line(buffer, rest_end(buffer, position))
        line += 1
    return count, Fault.NONE, line, position, position


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
    layout = Layout(form="TARGET : PROBABILITY", comments="//", columns=columns, fewest=2, most=2, escaped=True)
    rows = Rows()
    while len(text := lines.block()):
        room = len(text) // _SHORTEST + 1
        block = np.empty((3, room), np.int64), np.empty(room, np.float64), np.empty(room, np.int64)
        count, fault, line, start, stop = _scan(text, lines.number, states, at, *block)
        lines.number = line
        if fault:
            where = {"state": at[_At.STATE] + (fault == Fault.OTHER_STATE), "choice": at[_At.CHOICE], "states": states}
            raise layout.error(fault, text[start:stop].tobytes(), line, **where)
        rows.append(*(each[..., :count] for each in (*block[0], *block[1:])))
    found = int(at[_At.STATE]) + 1
    if found < states:
        raise InputError(f"the header announces {counted(states, 'state')}, but only {found:,} follow")
    if at[_At.CHOICE] >= 0 and at[_At.TRANSITIONS] == 0:
        raise InputError(f"choice {at[_At.CHOICE]} of state {found - 1} has no transitions")
    return rows.mdp(states, choices)
