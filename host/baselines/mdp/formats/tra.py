"""PRISM's explicit transition files (.tra) of Markov decision processes."""

from typing import IO

from cyscc.host.baselines.mdp.formats.rows import Rows
from cyscc.host.baselines.mdp.model import Mdp, check_size
from cyscc.host.graph.csr import MAX_EDGES, MAX_VERTICES
from cyscc.host.graph.formats.text import Column, Layout, Lines, number, read_lines, shown, words
from cyscc.host.output.errors import InputError, locating_errors

__all__ = ["read_tra"]

_HEADER = "STATES CHOICES TRANSITIONS"
_FORM = "SOURCE CHOICE TARGET PROBABILITY ACTION"


def _header(lines: Lines) -> tuple[int, int, int] | None:
    """Read the first line after comments: numbers of states, choices and transitions, which Storm's variant omits."""
    found = words(lines.next() or b"")
    while found and found[0].startswith(b"#"):
        found = words(lines.next() or b"")
    with locating_errors(line=lines.number - 1):
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


def read_tra(stream: IO[bytes]) -> Mdp:
    """Read a model.

    The first line has the numbers of states, choices and transitions, or the word ``mdp`` (Storm's variant). Then comes
    a line for each transition, in any order: source, number of the choice in its state, target, probability, and
    optionally the name of an action, which is ignored. Lines that begin with ``#`` are comments, as PRISM writes them.

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
        A line is malformed (the first one is named), or the model is incomplete.
    """
    lines = Lines(stream)
    sizes = _header(lines)
    states, choices, expected = sizes or (None, None, None)
    state = Column("state", 0, (states or MAX_VERTICES) - 1)
    choice = Column("choice", 0, MAX_EDGES)
    columns = state, choice, state
    layout = Layout(form=_FORM, comments="#", columns=columns, fewest=4, most=5, weighed=True)
    rows = Rows()
    for block in read_lines(lines, layout, expected=expected):
        rows.append(*block)
    return rows.mdp(states, choices)
