"""PRISM's explicit transition files (.tra) of Markov decision processes."""

from typing import IO

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError, placed
from host.graph.csr import MAX_EDGES, MAX_VERTICES
from host.graph.formats.header import number
from host.graph.formats.text import Lines, shown, words
from host.graph.formats.tokens import line_end, next_line, rest_end, skip_blanks, token_end
from host.mdp.formats.rows import Block, Rows, empty_block
from host.mdp.formats.scanner import Fault, probability, raise_fault, whole
from host.mdp.model import Mdp, check_size
from host.words import counted
from sim.caching.code import njit

__all__ = ["NAME", "read"]

NAME = "PRISM"
_HEADER = "STATES CHOICES TRANSITIONS"
_FORM = "SOURCE CHOICE TARGET PROBABILITY ACTION"
_COMMENT = ord("#")
_SHORTEST = 8  # bytes of "0 0 0 1\n"


@njit(cache=True, nogil=True)
def _scan(
    buffer: NDArray[np.uint8], line: int, states: int, room: int, block: Block
) -> tuple[int, Fault, int, int, int]:
    """Scan whole lines into transitions.

    Returns how many there are, why it ended, on which line (one past the last when nothing is wrong), and the token
    that is wrong.
    """
    sources, numbers, targets, probabilities, lines = block
    position = 0
    count = 0
    while position < len(buffer):
        position = skip_blanks(buffer, position)
        if line_end(buffer[position]) or buffer[position] == _COMMENT:
            position = next_line(buffer, rest_end(buffer, position))
            line += 1
            continue
        if count == room:
            return count, Fault.SURPLUS_TRANSITION, line, position, position
        for column in range(3):
            start = position
            if line_end(buffer[position]):
                return count, Fault.TOO_FEW_COLUMNS, line, start, start
            value, position = whole(buffer, position)
            stop = token_end(buffer, position)
            if value < 0 or stop != position or (column == 1 and value > MAX_EDGES):
                return count, Fault.NOT_A_CHOICE if column == 1 else Fault.NOT_A_STATE, line, start, stop
            if column != 1 and value >= states:
                return count, Fault.OUTSIDE, line, start, stop
            if column == 0:
                sources[count] = value
            elif column == 1:
                numbers[count] = value
            else:
                targets[count] = value
            position = skip_blanks(buffer, position)
        if line_end(buffer[position]):
            return count, Fault.TOO_FEW_COLUMNS, line, position, position
        start = position
        likely, position = probability(buffer, position)
        if likely < 0:
            return count, Fault.NOT_A_PROBABILITY, line, start, position
        probabilities[count] = likely
        # The name of an action is one word.
        position = skip_blanks(buffer, token_end(buffer, skip_blanks(buffer, position)))
        if not line_end(buffer[position]):
            return count, Fault.TOO_MANY_COLUMNS, line, position, token_end(buffer, position)
        lines[count] = line
        count += 1
        position = next_line(buffer, position)
        line += 1
    return count, Fault.NONE, line, position, position


def _header(lines: Lines) -> tuple[int, int, int] | None:
    """Read the first line that is no comment: numbers of states, choices and transitions; none in Storm's variant."""
    found = words(lines.next() or b"")
    while found and found[0].startswith(b"#"):
        found = words(lines.next() or b"")
    with placed(line=lines.number - 1):
        if len(found) == 1 and found[0].lower() == b"mdp":
            return None
        if len(found) == 1 and found[0].isalpha():
            raise InputError(f"expected a model of type 'mdp', not {shown(found[0])}")
        if len(found) == 2 and all(word.isdigit() for word in found):
            raise InputError(f"expected the header {_HEADER!r} of an MDP: two numbers begin a Markov chain")
        if len(found) != 3:
            raise InputError(f"expected the header {_HEADER!r}")
        states, choices, transitions = (
            number(word, what) for word, what in zip(found, ("states", "choices", "transitions"), strict=True)
        )
        if states == 0:
            raise InputError("the model is empty: it has no states")
        check_size(states, transitions)
        return states, choices, transitions


def read(stream: IO[bytes]) -> Mdp:
    """Read a model.

    The first line has the numbers of states, choices and transitions, or the word ``mdp`` (Storm's variant); then comes
    a line for each transition: source, number of the choice in its state, target, probability, and perhaps the name of
    an action, which is ignored. They come in any order. Lines that begin with ``#`` are comments, as PRISM writes them.

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
    sizes = _header(lines)
    states, choices, expected = sizes or (None, None, None)
    limit = states or MAX_VERTICES
    rows = Rows()
    while len(text := lines.block()):
        block = empty_block(len(text) // _SHORTEST + 1)
        room = MAX_EDGES if expected is None else expected
        count, fault, line, start, stop = _scan(text, lines.number, limit, room - rows.count, block)
        lines.number = line
        if fault:
            raise_fault(fault, text[start:stop], line, last=limit - 1, expected=room, form=_FORM)
        rows.append(block, count)
    if expected is not None and rows.count < expected:
        raise InputError(f"the header announces {counted(expected, 'transition')}, but only {rows.count:,} follow")
    return rows.mdp(states, choices)
