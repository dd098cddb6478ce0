"""Transitions as text, for all formats of models."""

from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.graph.formats.writer import joined, write_rows

if TYPE_CHECKING:
    import pyarrow as pa

_STATES = 1 << 16  # states formatted at once


def _spread(texts: "pa.Array", rows: NDArray[np.int64], count: int) -> "pa.Array":
    """Expand texts of some rows to all rows, empty elsewhere."""
    import pyarrow as pa

    ends = np.zeros(count + 1, np.int32)
    ends[rows + 1] = np.diff(np.frombuffer(texts.buffers()[1], np.int32))
    return pa.StringArray.from_buffers(count, pa.py_buffer(np.cumsum(ends, dtype=np.int32)), texts.buffers()[2])


def write_states(stream: IO[bytes], mdp: Mdp, *, drn: bool) -> None:
    """Write the transitions, in DRN also states and actions; transitions of a choice are equally likely."""
    # The line of the first state has a different form.
    for first in (0, *range(1, mdp.states, _STATES)):
        last = min(first + _STATES, mdp.states) if first else 1
        choices = mdp.choices[first : last + 1]
        transitions = mdp.transitions[choices[0] : choices[-1] + 1]
        lengths = np.diff(transitions)
        states = np.repeat(np.arange(first, last), np.diff(choices))
        numbers = np.arange(choices[0], choices[-1]) - mdp.choices[states]
        targets = mdp.targets[transitions[0] : transitions[-1]]
        likely = np.repeat(1 / lengths, lengths)
        if drn:
            starts = transitions[:-1] - transitions[0]
            begins = joined(b"state ", np.arange(first, last), b"\n" if first else b" init\n")
            heads = (
                _spread(begins, starts[choices[:-1] - choices[0]], len(targets)),
                _spread(joined(b"\taction ", numbers, b"\n"), starts, len(targets)),
            )
            write_rows(stream, *heads, b"\t\t", targets, b" : ", likely, b"\n")
        else:
            ids = np.repeat(states, lengths), b" ", np.repeat(numbers, lengths)
            write_rows(stream, *ids, b" ", targets, b" ", likely, b"\n")
