"""The compiled scanner of the text formats: bytes to numbers, line by line."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from sim.caching.code import njit

__all__ = ["At", "Fault", "scan", "scan_states"]


class Fault(IntEnum):
    """Reasons for which a scanner stops."""

    NONE = 0
    LINE_TYPE = 1
    NOT_AN_ID = 2
    NEGATIVE = 3
    TOO_LARGE = 4
    OUTSIDE = 5
    TOO_FEW_COLUMNS = 6
    TOO_MANY_COLUMNS = 7
    NOT_A_NUMBER = 8
    NOT_A_PROBABILITY = 9
    OTHER_COLUMNS = 10
    SURPLUS = 11
    NOT_TEXT = 12
    BANNER = 13
    SURPLUS_STATE = 14
    OTHER_STATE = 15
    NO_STATE = 16
    NO_ACTION = 17
    NO_CHOICES = 18
    NO_TRANSITIONS = 19
    NO_COLON = 20


class At(IntEnum):
    """Where the scanner is: places in an array that goes from block to block."""

    STATE = 0
    """The state, -1 before the first."""
    CHOICE = 1
    """The number of the choice in its state, -1 before the first."""
    TRANSITIONS = 2
    """Transitions of the choice so far."""
    CHOICES = 3
    """Choices of all states so far."""


_NEWLINE, _SPACE, _TAB, _RETURN = 10, 32, 9, 13
_ZERO, _NINE, _PLUS, _MINUS, _POINT, _SLASH, _COLON, _E = 48, 57, 43, 45, 46, 47, 58, 101
_LOWER_CASE = 32  # the bit by which a small letter differs from the large one
_BANNER, _STATE, _ACTION = b"%%matrixmarket", b"state", b"action"
_MOST_DIGITS = 19  # as many always fit in 64 bits without a sign
_EXACT_DIGITS = 18
_LARGEST = 2**63 - 1
_LONGEST_FRACTION = 300  # digits of either number, so that both are floats
_SMALLEST_POSITIVE = 5e-324
_ROUNDED = 1e-9  # by which a _probability may be above 1


@njit(cache=True, nogil=True)
def _blank(byte: int) -> bool:
    """Whether a byte stands between tokens of a line."""
    return byte in (_SPACE, _TAB)


@njit(cache=True, nogil=True)
def _line_end(byte: int) -> bool:
    """Whether a byte ends a line, alone or as one of two."""
    return byte in (_NEWLINE, _RETURN)


@njit(cache=True, nogil=True)
def _ends_token(byte: int) -> bool:
    """Whether a byte can follow a token."""
    return _blank(byte) or _line_end(byte)


@njit(cache=True, nogil=True)
def _next_line(buffer: NDArray[np.uint8], position: int) -> int:
    """Return where the line after the line end at `position` begins: CR LF is one."""
    following = position + 1
    if buffer[position] == _RETURN and following < len(buffer) and buffer[following] == _NEWLINE:
        following += 1
    return following


@njit(cache=True, nogil=True)
def _skip_blanks(buffer: NDArray[np.uint8], position: int) -> int:
    """Return the first place from `position` on that is not blank."""
    while _blank(buffer[position]):
        position += 1
    return position


@njit(cache=True, nogil=True)
def _token_end(buffer: NDArray[np.uint8], position: int) -> int:
    """Return where the token at `position` ends."""
    while not _ends_token(buffer[position]):
        position += 1
    return position


@njit(cache=True, nogil=True)
def _rest_end(buffer: NDArray[np.uint8], position: int) -> int:
    """Return where the line that `position` is in ends."""
    while not _line_end(buffer[position]):
        position += 1
    return position


@njit(cache=True, nogil=True)
def _digits_end(buffer: NDArray[np.uint8], position: int) -> int:
    """Return where the digits at `position` end; `position` itself when there are none."""
    while _ZERO <= buffer[position] <= _NINE:
        position += 1
    return position


@njit(cache=True, nogil=True)
def _word_at(buffer: NDArray[np.uint8], start: int, stop: int, word: bytes) -> bool:
    """Whether a token is a word of small letters, in letters of any size."""
    same = stop - start == len(word)
    for index in range(len(word) if same else 0):
        same = same and buffer[start + index] | _LOWER_CASE == word[index]
    return same


@njit(cache=True, nogil=True)
def _number_end(buffer: NDArray[np.uint8], start: int) -> int:
    """Return where the decimal number, infinity or NaN at `start` ends; `start` itself when there is none."""
    position = start + 1 if buffer[start] == _PLUS or buffer[start] == _MINUS else start
    stop = _token_end(buffer, position)
    if buffer[position] > _NINE and (
        _word_at(buffer, position, stop, b"nan")
        or _word_at(buffer, position, stop, b"inf")
        or _word_at(buffer, position, stop, b"infinity")
    ):
        return stop
    _whole = _digits_end(buffer, position)
    digits = _whole - position
    position = _whole
    if buffer[position] == _POINT:
        fraction = _digits_end(buffer, position + 1)
        digits += fraction - position - 1
        position = fraction
    if digits == 0:
        return start
    if buffer[position] | _LOWER_CASE == _E:
        exponent = position + 1
        if buffer[exponent] == _PLUS or buffer[exponent] == _MINUS:
            exponent += 1
        stop = _digits_end(buffer, exponent)
        if stop > exponent:
            return stop
    return position


@njit(cache=True, nogil=True)
def _whole(buffer: NDArray[np.uint8], start: int) -> tuple[int, int]:
    """Return the _whole number at `start`, -1 without one, and where its digits end; the largest of too many digits."""
    value, used = 0, 0
    position = start
    while _ZERO <= buffer[position] <= _NINE:
        used += used > 0 or buffer[position] != _ZERO
        value = value * 10 + int(buffer[position] - _ZERO) if used < _MOST_DIGITS else _LARGEST
        position += 1
    return (value if position > start else -1), position


@njit(cache=True, nogil=True)
def _decimal(buffer: NDArray[np.uint8], start: int, stop: int) -> tuple[float, int]:
    """Return digits, perhaps with a point among them, as a number that is still to be scaled by a power of ten."""
    value, scale, used, after = 0.0, 0, 0, 0
    for position in range(start, stop):
        if buffer[position] == _POINT:
            after = 1
            continue
        used += used > 0 or buffer[position] != _ZERO
        if used <= _EXACT_DIGITS:
            value = value * 10 + np.float64(buffer[position] - _ZERO)
            scale -= after
        else:
            scale += 1 - after
    return value, scale


@njit(cache=True, nogil=True)
def _probability(buffer: NDArray[np.uint8], start: int) -> tuple[float, int]:
    """Return the _probability at `start`, -1 when there is none, and where its token ends.

    It is a decimal number from 0 to 1 (as much as rounding adds allowed), or a fraction of _whole numbers as ``1/3``.
    What is not 0 in the text is above 0 also where it is too small for a float.
    """
    stop = _token_end(buffer, start)
    position = start + 1 if buffer[start] == _PLUS or buffer[start] == _MINUS else start
    end = _digits_end(buffer, position)
    if buffer[end] == _SLASH:
        below, down = _decimal(buffer, end + 1, stop)
        longest = max(end - position, stop - end - 1)
        if end == position or _digits_end(buffer, end + 1) != stop or longest > _LONGEST_FRACTION or below == 0:
            return -1.0, stop
        above, scale = _decimal(buffer, position, end)
        value = above * 10.0**scale / (below * 10.0**down)
    else:
        if start == stop or buffer[position] > _NINE or _number_end(buffer, start) != stop:
            return -1.0, stop
        if buffer[end] == _POINT:
            end = _digits_end(buffer, end + 1)
        above, scale = _decimal(buffer, position, end)
        if end < stop:
            sign = -1 if buffer[end + 1] == _MINUS else 1
            exponent, _ = _whole(buffer, end + 1 + (buffer[end + 1] == _PLUS or buffer[end + 1] == _MINUS))
            # Beyond, every float is 0 or infinite: so that the sum of both cannot overflow.
            scale += sign * min(exponent, 1 << 40)
        # In two steps: the digits of a small number are a large one, whose scale alone may be no float.
        half = min(max(scale, -300), 300)
        value = above * 10.0**half * 10.0 ** min(max(scale - half, -300), 300)
    if above == 0:
        return 0.0, stop
    if buffer[start] == _MINUS or value > 1 + _ROUNDED:
        return -1.0, stop
    return min(max(value, _SMALLEST_POSITIVE), 1.0), stop


@njit(cache=True, nogil=True)
def _id_fault(buffer: NDArray[np.uint8], start: int) -> Fault:
    """Say what is wrong with a token that is not digits only."""
    if buffer[start] == _MINUS:
        stop = _digits_end(buffer, start + 1)
        if stop > start + 1 and stop == _token_end(buffer, start):
            return Fault.NEGATIVE
    return Fault.NOT_AN_ID


@njit(cache=True, nogil=True)
def _comment_end(buffer: NDArray[np.uint8], position: int) -> tuple[int, Fault]:
    """Return where the comment at `position` ends, or what is wrong and where."""
    length = len(_BANNER)
    if position + length < len(buffer) and _word_at(buffer, position, position + length, _BANNER):
        return position, Fault.BANNER
    while not _line_end(buffer[position]):
        if buffer[position] == 0:
            return position, Fault.NOT_TEXT
        position += 1
    return position, Fault.NONE


@njit(cache=True, nogil=True)
def scan(
    buffer: NDArray[np.uint8],
    line: int,
    rules: tuple[int, int, int, int, int, int, int, int, int, int],
    seen: NDArray[np.int64],
    room: int,
    numbers: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    weights: NDArray[np.float64],
    lines: NDArray[np.int64],
) -> tuple[int, Fault, int, int, int, int]:
    """Scan _whole lines into numbers.

    A line ends with LF, CR LF or CR. Empty lines and comments are passed over. A line is two or three ids; and either
    numbers that are checked and ignored, or a _probability and perhaps a word.

    Parameters
    ----------
    buffer : ndarray of uint8
        The text; the last byte ends a line.
    line : int
        Number of the first line.
    rules : tuple of int
        Letter that begins each line with ids (0: none), two characters that begin comments, fewest and most columns,
        whether there is a _probability; number of ids, the smallest and the largest, and the largest second one.
    seen : ndarray of int64, shape (2,)
        Columns that all lines have (0: as long as none has come; -1: they may differ) and the line that was the first;
        updated.
    room : int
        Number of lines with ids that may follow; one more is a fault.
    numbers : tuple of ndarray of int64
        Where the ids go, by column; those that are used are large enough for the text.
    weights, lines : ndarray
        Where probabilities and the lines that they are on go; used only if there are any.

    Returns
    -------
    count, fault, line, start, stop, columns : int
        Number of lines with ids; why the scan ended; the line it ended on, one past the last when there is no
        fault; the token at fault, ``buffer[start:stop]``; and the columns before it.
    """
    letter, comment, other_comment, fewest, most, weighed, ids, smallest, largest, middle = rules
    position, count, columns = 0, 0, 0
    first, second, third = numbers
    while position < len(buffer):
        position = _skip_blanks(buffer, position)
        byte = np.int64(buffer[position])
        if byte in (comment, other_comment):
            position, fault = _comment_end(buffer, position)
            if fault != Fault.NONE:
                return count, fault, line, position, position + 1, columns
        if _line_end(buffer[position]):
            position = _next_line(buffer, position)
            line += 1
            continue
        if letter:
            start = position
            position += 1
            if byte != letter or not _ends_token(buffer[position]):
                return count, Fault.LINE_TYPE, line, start, _token_end(buffer, start), columns
            position = _skip_blanks(buffer, position)
        if count == room:
            return count, Fault.SURPLUS, line, position, position, columns
        columns = 0
        while not _line_end(buffer[position]):
            start = position
            if columns < ids:
                # As `_whole` does, but faster: most of the time is spent here.
                value = np.uint64(0)
                while buffer[position] == _ZERO:
                    position += 1
                significant = position
                digit = np.uint64(buffer[position]) - np.uint64(_ZERO)
                while digit <= np.uint64(9):
                    value = value * np.uint64(10) + digit
                    position += 1
                    digit = np.uint64(buffer[position]) - np.uint64(_ZERO)
                if position == start or not _ends_token(buffer[position]):
                    return count, _id_fault(buffer, start), line, start, _token_end(buffer, start), columns
                number = np.int64(value)
                if position - significant > _MOST_DIGITS or number < 0:
                    return count, Fault.TOO_LARGE, line, start, position, columns
                if number < smallest or number > (middle if columns == 1 else largest):
                    return count, Fault.OUTSIDE, line, start, position, columns
                if columns == 0:
                    first[count] = number
                elif columns == 1:
                    second[count] = number
                else:
                    third[count] = number
            elif columns == most:
                return count, Fault.TOO_MANY_COLUMNS, line, start, _token_end(buffer, start), columns
            elif not weighed:
                position = _number_end(buffer, start)
                if position == start or not _ends_token(buffer[position]):
                    return count, Fault.NOT_A_NUMBER, line, start, _token_end(buffer, start), columns
            elif columns == ids:
                weights[count], position = _probability(buffer, start)
                lines[count] = line
                if weights[count] < 0:
                    return count, Fault.NOT_A_PROBABILITY, line, start, position, columns
            else:
                position = _token_end(buffer, start)
            columns += 1
            position = _skip_blanks(buffer, position)
        if columns < fewest:
            return count, Fault.TOO_FEW_COLUMNS, line, position, position, columns
        if columns != seen[0] and seen[0] >= 0:
            if seen[0]:
                return count, Fault.OTHER_COLUMNS, line, position, position, columns
            seen[0], seen[1] = columns, line
        count += 1
        position = _next_line(buffer, position)
        line += 1
    return count, Fault.NONE, line, position, position, columns


@njit(cache=True, nogil=True)
def _unfinished(at: NDArray[np.int64]) -> Fault:
    """Say what the choice, or the state, does not have that must have come before the next."""
    if at[At.STATE] < 0:
        return Fault.NONE
    if at[At.CHOICE] < 0:
        return Fault.NO_CHOICES
    return Fault.NO_TRANSITIONS if at[At.TRANSITIONS] == 0 else Fault.NONE


@njit(cache=True, nogil=True)
def scan_states(
    buffer: NDArray[np.uint8],
    line: int,
    states: int,
    at: NDArray[np.int64],
    numbers: NDArray[np.int64],
    weights: NDArray[np.float64],
    lines: NDArray[np.int64],
) -> tuple[int, Fault, int, int, int]:
    """Scan _whole lines into transitions.

    Returns how many there are, why it ended, on which line (one past the last when nothing is wrong), and the token
    that is wrong.
    """
    position = 0
    count = 0
    while position < len(buffer):
        start = position = _skip_blanks(buffer, position)
        stop = _token_end(buffer, position)
        if _line_end(buffer[position]) or (buffer[position] == _SLASH and buffer[position + 1] == _SLASH):
            pass
        elif _word_at(buffer, start, stop, _STATE):
            fault = _unfinished(at)
            if fault != Fault.NONE:
                return count, fault, line, start, stop
            start = _skip_blanks(buffer, stop)
            stop = _token_end(buffer, start)
            state, position = _whole(buffer, start)
            if state < 0 or position != stop:
                return count, Fault.NOT_AN_ID, line, start, stop
            if at[At.STATE] + 1 == states:
                return count, Fault.SURPLUS_STATE, line, start, stop
            if state != at[At.STATE] + 1:
                return count, Fault.OTHER_STATE, line, start, stop
            at[At.STATE], at[At.CHOICE], at[At.TRANSITIONS] = state, -1, 0
        elif _word_at(buffer, start, stop, _ACTION):
            if at[At.STATE] < 0:
                return count, Fault.NO_STATE, line, start, stop
            if at[At.CHOICE] >= 0 and at[At.TRANSITIONS] == 0:
                return count, Fault.NO_TRANSITIONS, line, start, stop
            at[At.CHOICE] += 1
            at[At.CHOICES] += 1
            at[At.TRANSITIONS] = 0
        else:
            if at[At.CHOICE] < 0:
                return count, Fault.NO_ACTION, line, start, stop
            target, position = _whole(buffer, start)
            if target < 0:
                return count, Fault.NOT_AN_ID, line, start, stop
            colon = _skip_blanks(buffer, position)
            if buffer[colon] != _COLON:
                return count, Fault.NO_COLON, line, start, _rest_end(buffer, start)
            if target >= states:
                return count, Fault.OUTSIDE, line, start, position
            start = _skip_blanks(buffer, colon + 1)
            likely, position = _probability(buffer, start)
            if likely < 0:
                return count, Fault.NOT_A_PROBABILITY, line, start, _rest_end(buffer, start)
            position = _skip_blanks(buffer, position)
            if not _line_end(buffer[position]):
                return count, Fault.TOO_MANY_COLUMNS, line, position, _token_end(buffer, position)
            numbers[0, count], numbers[1, count], numbers[2, count] = at[At.STATE], at[At.CHOICE], target
            weights[count], lines[count] = likely, line
            at[At.TRANSITIONS] += 1
            count += 1
        position = _next_line(buffer, _rest_end(buffer, position))
        line += 1
    return count, Fault.NONE, line, position, position
