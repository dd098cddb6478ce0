"""PRISM's explicit transitions (.tra), one transition or one choice a line."""

from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.mdp.formats.buffers import NameBuffer, TransitionBuffer
from cyscc.host.baselines.mdp.formats.rows import write_states
from cyscc.host.baselines.mdp.model import Mdp, check_size
from cyscc.host.graph.csr import MAX_EDGES, MAX_VERTICES
from cyscc.host.graph.formats import parsing
from cyscc.host.graph.formats.parsing import Column, Lines, shown, words
from cyscc.host.output.errors import InputError, locating_errors

_HEADER = "STATES CHOICES TRANSITIONS"
_OTHERS = {2: "two numbers begin a Markov chain", 4: "four numbers begin a POMDP"}
_FORM = "SOURCE CHOICE TARGET PROBABILITY ACTION"
_PAIR_FORM = "PROBABILITY:TARGET"
_ROW_FORM = f"SOURCE {_PAIR_FORM}... ACTION"
_ROW = (
    r"^[ \t]*(?:(?P<source>[0-9]+)(?P<pairs>(?:[ \t]+[^ \t\n:]+:[0-9]+)+)(?P<action>(?:[ \t]+[^ \t\n:]+)?)[ \t]*"
    r"|#[^\x00\n]*|)\n$"
)
_PAIR = r"^(?P<weight>[^\n:]+):(?P<target>[0-9]+)\n$"


def _header(lines: Lines) -> tuple[int, int, int] | None:
    """Read the header: numbers of states, choices and transitions, which Storm's variant omits."""
    found = words(lines.content(b"#") or b"")
    with locating_errors(line=max(lines.number - 1, 1)):
        if len(found) == 1 and found[0].lower() == b"mdp":
            return None
        if len(found) == 1 and found[0].isalpha():
            raise InputError(f"expected a model of type 'mdp', not {shown(found[0])}")
        if len(found) in _OTHERS and all(word.isdigit() for word in found) and found[0].strip(b"0"):
            raise InputError(f"expected the header {_HEADER!r} of an MDP: {_OTHERS[len(found)]}")
        if len(found) != 3:
            raise InputError(f"expected the header {_HEADER!r}")
        states, choices, transitions = parsing.numbers(found, "states", "choices", "transitions")
        if states == 0:
            raise InputError("the model is empty: it has no states")
        check_size(states, transitions)
        return states, choices, transitions


def _by_choice(lines: Lines) -> bool:
    """Return whether the first line after the header is a choice, which has a colon in its second column."""
    line = lines.content(b"#")
    if line is None:
        return False
    lines.unread(line)
    return any(b":" in word for word in words(line)[1:2])


def _row_fault(line: bytes, state: Column) -> str | None:
    """Return the error in the line of a choice, or None if the line is valid by itself."""
    source, *pairs = words(line)
    cause = state.fault(source) or (None if pairs else f"too few columns for {_ROW_FORM!r}")
    for place, pair in enumerate(pairs):
        likely, colon, target = pair.partition(b":")
        if not colon and place and place == len(pairs) - 1:
            break
        if cause is None and not colon:
            cause = f"expected {_PAIR_FORM!r}, not {shown(pair)}"
        if cause is None and parsing.probability(likely) is None:
            cause = f"{shown(likely)} is not a probability"
        cause = cause or state.fault(target)
    return cause


_Block = list[NDArray[Any]]
"""Source, number of the choice, target, probability, line and number of the action of each transition."""


def _transitions(lines: Lines, state: Column, expected: int | None, names: NameBuffer) -> Iterator[_Block]:
    """Read the lines of transitions, block by block."""
    columns = state, Column("choice", 0, MAX_EDGES), state
    layout = parsing.Layout(form=_FORM, comments="#", columns=columns, fewest=4, most=5, weighed=True)
    for *found, rest in parsing.read_lines(lines, layout, expected=expected):
        yield [*found, names.numbers(rest)]


def _choices(lines: Lines, state: Column, expected: int | None, names: NameBuffer) -> Iterator[_Block]:
    """Read the lines of choices, block by block; a choice is numbered by its place in the file."""
    import pyarrow.compute as pc

    room, before, line = MAX_EDGES if expected is None else expected, 0, lines.number
    while text := lines.block():
        faults, groups = parsing.matched(text, _ROW)
        filled = pc.binary_length(groups["source"]).cast("bool")
        rows = np.flatnonzero(parsing.flags(filled))
        sources, pairs, actions = (groups[name].filter(filled) for name in ("source", "pairs", "action"))
        lengths = np.from_dlpack(pc.count_substring(pairs, ":")).astype(np.int64)
        owners = np.repeat(np.arange(len(rows)), lengths)
        found = parsing.matched(parsing.tokens_of(pairs), _PAIR)[1]
        ids = parsing.whole_numbers(sources)[owners], parsing.whole_numbers(found["target"])
        likely = parsing.probabilities(found["weight"])
        wrong = np.isnan(likely)
        for each in ids:
            wrong |= (each < 0) | (each > state.largest)
        wrong[room:] = True
        faults[rows[owners[wrong]]] = True
        if faults.any():
            place = int(faults.argmax())
            cause = _row_fault(text.split(b"\n", place + 1)[place], state)
            raise InputError(cause or parsing.surplus_text(expected or MAX_EDGES, "transition"), line=line + place)
        lines.check_yield(len(owners), "a transition")
        yield [ids[0], before + owners, ids[1], likely, line + rows[owners], names.numbers(actions)[owners]]
        room, before, line = room - len(owners), before + len(rows), lines.number
    if expected is not None and room:
        raise InputError(parsing.shortage_text(expected, expected - room, "transition"))


def read_tra(stream: IO[bytes]) -> Mdp:
    """Read a model.

    The first line has the numbers of states, choices and transitions, or the word ``mdp`` (Storm's variant). Then comes
    a line for each transition, in any order: source, number of the choice in its state, target, probability, and
    optionally the name of the action. In PRISM's row form (``-exportrows``) it is a line for each choice, numbered in
    their order in each state: source, ``PROBABILITY:TARGET`` of each transition, and optionally the name. Empty lines
    are skipped, and so are comments, which begin with ``#``.

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
    by_choice, names = _by_choice(lines), NameBuffer()
    rows = TransitionBuffer(ordered=by_choice)
    for block in (_choices if by_choice else _transitions)(lines, state, expected, names):
        rows.append(*block)
    return rows.mdp(states, choices, names.names())


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
    write_states(stream, mdp, drn=False)
