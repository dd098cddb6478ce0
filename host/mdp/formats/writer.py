"""Models as text, formatted in blocks by compiled code."""

from typing import IO

import numpy as np
from numpy.typing import NDArray

from host.graph.formats.writer import put_bytes, put_number
from host.mdp.model import Mdp
from sim.caching.code import njit

__all__ = ["write_drn", "write_tra"]

_STATES = 1 << 13  # formatted at once
_LONGEST_LINE = 96  # bytes: three numbers of ten digits, a probability, and what stands between

_STATE, _INITIAL, _ACTION, _TARGET, _COLON, _SPACE, _NEWLINE = (
    np.frombuffer(text, np.uint8) for text in (b"state ", b" init", b"\taction ", b"\t\t", b" : ", b" ", b"\n")
)


@njit(cache=True, nogil=True)
def _format(
    first: int,
    last: int,
    choices: NDArray[np.int64],
    transitions: NDArray[np.int64],
    targets: NDArray[np.uint32],
    texts: NDArray[np.uint8],
    kinds: NDArray[np.int64],
    ends: NDArray[np.int64],
    drn: bool,
    out: NDArray[np.uint8],
) -> int:
    position = 0
    for state in range(first, last):
        if drn:
            position = put_number(state, out, put_bytes(_STATE, out, position))
            if state == 0:
                position = put_bytes(_INITIAL, out, position)
            position = put_bytes(_NEWLINE, out, position)
        for choice in range(choices[state], choices[state + 1]):
            number = choice - choices[state]
            likely = texts[ends[kinds[choice]] : ends[kinds[choice] + 1]]
            if drn:
                position = put_number(number, out, put_bytes(_ACTION, out, position))
                position = put_bytes(_NEWLINE, out, position)
            for index in range(transitions[choice], transitions[choice + 1]):
                if drn:
                    position = put_bytes(_TARGET, out, position)
                    position = put_number(np.int64(targets[index]), out, position)
                    position = put_bytes(_COLON, out, position)
                else:
                    for value in (state, number, np.int64(targets[index])):
                        position = put_bytes(_SPACE, out, put_number(value, out, position))
                position = put_bytes(_NEWLINE, out, put_bytes(likely, out, position))
    return position


def _write(stream: IO[bytes], mdp: Mdp, *, drn: bool) -> None:
    """Write the transitions, and in DRN states and actions: all transitions of a choice are equally likely."""
    lengths, kinds = np.unique(np.diff(mdp.transitions), return_inverse=True)
    probabilities = [repr(1 / length).removesuffix(".0").encode() for length in lengths.tolist()]
    texts = np.frombuffer(b"".join(probabilities), np.uint8)
    ends = np.cumsum([0, *map(len, probabilities)])
    for first in range(0, mdp.states, _STATES):
        last = min(first + _STATES, mdp.states)
        begin, end = mdp.choices[first], mdp.choices[last]
        lines = (last - first) + (end - begin) + (mdp.transitions[end] - mdp.transitions[begin])
        out = np.empty(lines * _LONGEST_LINE, np.uint8)
        size = _format(first, last, mdp.choices, mdp.transitions, mdp.targets, texts, kinds, ends, drn, out)
        stream.write(out[:size].data)


def write_tra(mdp: Mdp, stream: IO[bytes]) -> None:
    """Write a model as PRISM's explicit transition file, the transitions of each choice equally likely.

    Parameters
    ----------
    mdp : Mdp
        The model.
    stream : binary file
        Where to write.
    """
    stream.write(f"{mdp.states} {mdp.choice_count} {mdp.transition_count}\n".encode())
    _write(stream, mdp, drn=False)


def write_drn(mdp: Mdp, stream: IO[bytes]) -> None:
    """Write a model as Storm's explicit file, the transitions of each choice equally likely.

    State 0 is the initial one: Storm wants one.

    Parameters
    ----------
    mdp : Mdp
        The model.
    stream : binary file
        Where to write.
    """
    sizes = f"@nr_states\n{mdp.states}\n@nr_choices\n{mdp.choice_count}\n"
    stream.write(f"@type: MDP\n@parameters\n\n@reward_models\n\n{sizes}@model\n".encode())
    _write(stream, mdp, drn=True)
