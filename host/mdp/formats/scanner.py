"""What the scanners of models share: states, probabilities, and what can be wrong with them."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.graph.formats.text import shown
from host.graph.formats.tokens import LOWER_CASE, MINUS, NINE, PLUS, POINT, ZERO, digits_end, token_end
from sim.caching.code import njit

__all__ = ["Fault", "probability", "raise_fault", "whole"]


class Fault(IntEnum):
    """What stopped a scanner."""

    NONE = 0
    NOT_A_STATE = 1
    NOT_A_CHOICE = 2
    NOT_A_PROBABILITY = 3
    OUTSIDE = 4
    TOO_FEW_COLUMNS = 5
    TOO_MANY_COLUMNS = 6
    SURPLUS_TRANSITION = 7
    SURPLUS_STATE = 8
    OTHER_STATE = 9
    NO_STATE = 10
    NO_ACTION = 11
    NO_CHOICES = 12
    NO_TRANSITIONS = 13
    NO_COLON = 14


_CAUSES = {
    Fault.NOT_A_STATE: "{token} is not a state",
    Fault.NOT_A_CHOICE: "{token} is not a choice",
    Fault.NOT_A_PROBABILITY: "{token} is not a probability",
    Fault.OUTSIDE: "state {number} is outside 0..{last}",
    Fault.TOO_FEW_COLUMNS: "too few columns for {form!r}",
    Fault.TOO_MANY_COLUMNS: "too many columns for {form!r}, from {token} on",
    Fault.SURPLUS_TRANSITION: "a transition beyond the {expected:,} that the header announces",
    Fault.SURPLUS_STATE: "a state beyond the {states:,} that the header announces",
    Fault.OTHER_STATE: "expected state {state}, not {token}",
    Fault.NO_STATE: "an action before the first state",
    Fault.NO_ACTION: "expected 'action NAME' before the transition, not {token}",
    Fault.NO_CHOICES: "state {state} has no choices",
    Fault.NO_TRANSITIONS: "choice {choice} of state {state} has no transitions",
    Fault.NO_COLON: "expected {form!r}, not {token}",
}
_E, _SLASH = 101, 47
_MOST_DIGITS = 18  # as many always fit in 64 bits
_LONGEST_FRACTION = 300  # digits of either number, so that both are floats
_LARGEST = 2**63 - 1
_SMALLEST_POSITIVE = 5e-324
_ROUNDED = 1e-9  # by which a probability may be above 1


def raise_fault(fault: Fault, token: NDArray[np.uint8], line: int, **values: object) -> None:
    """Raise what is wrong at a token.

    Raises
    ------
    InputError
        Always.
    """
    text = token.tobytes()
    cause = _CAUSES[fault].format(token=shown(text), number=shown(text)[1:-1], **values)
    raise InputError(cause, line=line)


@njit(cache=True, nogil=True, inline="always")
def whole(buffer: NDArray[np.uint8], position: int) -> tuple[int, int]:
    """Return the number at `position` and where its digits end; the largest of 64 bits where it has too many."""
    start = position
    while buffer[position] == ZERO:
        position += 1
    significant = position
    value = 0
    while ZERO <= buffer[position] <= NINE:
        value = value * 10 + int(buffer[position] - ZERO) if position - significant < _MOST_DIGITS else _LARGEST
        position += 1
    return (value if position > start else -1), position


@njit(cache=True, nogil=True)
def probability(buffer: NDArray[np.uint8], start: int) -> tuple[float, int]:
    """Return the probability at `start`, -1 when there is none, and where its token ends.

    It is a decimal number from 0 to 1 (as much as rounding adds allowed), or a fraction of whole numbers as ``1/3``.
    What is not 0 in the text is above 0 also where it is too small for a float.
    """
    stop = token_end(buffer, start)
    position = start + 1 if buffer[start] == PLUS or buffer[start] == MINUS else start
    negative = buffer[start] == MINUS
    value, digits, scale, used = 0.0, 0, 0, 0
    point = False
    while position < stop and (ZERO <= buffer[position] <= NINE or (buffer[position] == POINT and not point)):
        if buffer[position] == POINT:
            point = True
        else:
            digits += 1
            if used > 0 or buffer[position] != ZERO:
                used += 1
            if used <= _MOST_DIGITS:
                value = value * 10 + np.float64(buffer[position] - ZERO)
                scale -= 1 if point else 0
            else:
                scale += 0 if point else 1
        position += 1
    if digits == 0:
        return -1.0, stop
    positive = value > 0
    if position < stop and buffer[position] == _SLASH and not point:
        end = digits_end(buffer, position + 1)
        if end != stop or max(digits, end - position - 1) > _LONGEST_FRACTION:
            return -1.0, stop
        # Doubles as fractions have powers of two below, which 64 bits may not hold.
        below = 0.0
        for place in range(position + 1, end):
            below = below * 10 + np.float64(buffer[place] - ZERO)
        if below == 0:
            return -1.0, stop
        value = value * 10.0**scale / below
    else:
        if position < stop and buffer[position] | LOWER_CASE == _E:
            position += 1
            sign = -1 if buffer[position] == MINUS else 1
            if buffer[position] == PLUS or buffer[position] == MINUS:
                position += 1
            end = digits_end(buffer, position)
            if end == position:
                return -1.0, stop
            exponent, position = whole(buffer, position)
            # Beyond, every float is 0 or infinite: so that the sum of both cannot overflow.
            scale += sign * min(exponent, 1 << 40)
        if position != stop:
            return -1.0, stop
        # In two steps: the digits of a small number are a large one, whose scale alone may be no float.
        half = min(max(scale, -300), 300)
        value = value * 10.0**half * 10.0 ** min(max(scale - half, -300), 300)
    if negative and positive:
        return -1.0, stop
    if value > 1:
        return (1.0 if value <= 1 + _ROUNDED else -1.0), stop
    return (max(value, _SMALLEST_POSITIVE) if positive else 0.0), stop
