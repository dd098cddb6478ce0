"""Storm's explicit files (.drn)."""

import re
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.mdp.formats.buffers import NameBuffer, TransitionBuffer
from cyscc.host.baselines.mdp.formats.rows import write_states
from cyscc.host.baselines.mdp.model import Mdp, check_size
from cyscc.host.graph.formats import parsing
from cyscc.host.graph.formats.parsing import Column, Lines, shown, words
from cyscc.host.output.errors import InputError, locating_errors
from cyscc.host.output.text import count_text

_DRN_FORM = "TARGET : PROBABILITY"
_NOTHING, _STATE, _ACTION, _TRANSITION = range(4)
_GROUPS = {_STATE: "state", _ACTION: "action", _TRANSITION: "target"}
"""Kinds of lines, and the regular expression groups that identify them."""

_FOLLOWS = np.zeros((4, 4), np.bool_)
"""Table of the kinds of lines that may follow each other: a row for the first, a column for the second."""

_FOLLOWS[
    [_NOTHING, _STATE, _ACTION, _TRANSITION, _TRANSITION, _TRANSITION], [_STATE, _ACTION, _TRANSITION, *_GROUPS]
] = True
_PATTERN = (
    r"^[ \t]*(?:(?i:state)[ \t]+(?P<state>[0-9]+)(?:[ \t].*)?"
    rf"|(?P<action>(?i:action))(?P<name>(?:[ \t]+{parsing.WORD})?)(?:[ \t].*)?"
    rf"|(?P<target>[0-9]+)[ \t]*:[ \t]*(?P<weight>{parsing.WORD})[ \t]*|//.*|)\n$"
)
_VALUES = (b"double", b"rational")
_NAMELESS = rb"|[0-9]+|__NOLABEL__"
"""Names that Storm writes for actions without one."""


def _next(lines: Lines, what: str) -> list[bytes]:
    """Return the words of the next line of the header."""
    line = lines.next()
    if line is None:
        raise InputError(f"the header is cut short: nothing follows {what}", line=lines.number - 1)
    return words(line)


def _count(lines: Lines, key: bytes) -> int:
    """Read a count on a line of its own."""
    line, what = lines.number, key.removeprefix(b"@nr_").decode()
    with locating_errors(line=line):
        found = _next(lines, key.decode())
        if len(found) != 1:
            raise InputError(f"expected the number of {what}")
        return parsing.number(found[0], what)


def _drn_header(lines: Lines) -> tuple[int, int | None]:
    """Read the header; return the number of states, and of choices if it is given."""
    kind = key = b""
    counts: dict[bytes, int] = {}
    while key != b"@model":
        line, text = lines.number, lines.next()
        if text is None:
            raise InputError("has no line '@model'")
        key, _, value = (part.strip() for part in text.partition(b":"))
        with locating_errors(line=line):
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


def _cause(line: bytes, states: int, kind: int, state: int, choice: int) -> str:
    """Return the error in a line; `kind`, `state` and `choice` are those of the line before."""
    first, second, *_ = *words(line), b"", b""
    begins = first.lower()
    is_state, is_action = begins == b"state", begins == b"action"
    target, colon, rest = re.findall(rb"^[ \t]*([0-9]*)[ \t]*(:?)[ \t]*(.*)", line)[0]
    likely, more, *_ = *words(rest), b"", b""
    outside = Column("state", 0, states - 1).fault(target)
    causes = (
        ((is_state or is_action) and kind == _ACTION, f"choice {choice} of state {state} has no transitions"),
        (is_action, "an action before the first state"),
        (is_state and kind == _STATE, f"state {state} has no choices"),
        (is_state and not second.isdigit(), f"{shown(second)} is not a state"),
        (is_state and state + 1 == states, f"a state beyond the {states:,} that the header announces"),
        (is_state, f"expected state {state + 1}, not {shown(second)}"),
        (kind in (_NOTHING, _STATE), f"expected 'action NAME' before the transition, not {shown(first)}"),
        (not target, f"{shown(first)} is not a state"),
        (not colon, f"expected {_DRN_FORM!r}, not {shown(line.strip())}"),
        (outside is not None, outside),
        (parsing.probability(likely) is None, f"{shown(rest)} is not a probability"),
        (True, f"too many columns for {_DRN_FORM!r}, from {shown(more)} on"),
    )
    return next(str(cause) for applies, cause in causes if applies)


class _Transitions:
    """Parser of transitions in blocks of lines.

    Parameters
    ----------
    states : int
        Number of states.
    names : NameBuffer
        Where the names of actions are kept.

    Attributes
    ----------
    kind, state, choice : int
        Kind of the last line, its state, and the number of its choice there; the numbers are -1 before the first.
    """

    def __init__(self, states: int, names: NameBuffer) -> None:
        self._states, self._names = states, names
        self.kind, self.state, self.choice = _NOTHING, -1, -1
        self._action = -1

    def read(self, text: bytes, line: int) -> list[NDArray[Any]]:
        """Return source, number of the choice, target, probability, line and action of each transition in a block."""
        import pyarrow.compute as pc

        faults, groups = parsing.matched(text, _PATTERN)
        told = {kind: pc.binary_length(groups[name]).cast("bool") for kind, name in _GROUPS.items()}
        every = np.sum([kind * parsing.flags(mask) for kind, mask in told.items()], axis=0)
        places = np.flatnonzero(every)
        kinds = np.append(self.kind, every[places])
        begins, ends = kinds == _STATE, kinds == _TRANSITION
        begins[0] = ends[0] = False
        order = np.cumsum(kinds == _ACTION) - (self.kind == _ACTION)
        actions = self.choice + order
        states = self.state + np.cumsum(begins)
        # Choices are numbered within their state.
        choices = actions - np.maximum.accumulate(np.where(begins, actions + 1, 0))
        named = parsing.whole_numbers(groups["state"].filter(told[_STATE]))
        targets = parsing.whole_numbers(groups["target"].filter(told[_TRANSITION]))
        likely = parsing.probabilities(groups["weight"].filter(told[_TRANSITION]))
        numbers = np.append(self._action, self._names.numbers(groups["name"].filter(told[_ACTION])))[order]
        wrong = np.append(False, ~_FOLLOWS[kinds[:-1], kinds[1:]])
        wrong[begins] |= (named != states[begins]) | (named >= self._states)
        wrong[ends] |= (targets < 0) | (targets >= self._states) | np.isnan(likely)
        faults[places] = wrong[1:]
        if faults.any():
            place = int(faults.argmax())
            last = np.searchsorted(places, place)
            at = int(kinds[last]), int(states[last]), int(choices[last])
            raise InputError(_cause(text.split(b"\n", place + 1)[place], self._states, *at), line=line + place)
        self.kind, self.state, self.choice = int(kinds[-1]), int(states[-1]), int(choices[-1])
        self._action = int(numbers[-1])
        return [states[ends], choices[ends], targets, likely, line + places[ends[1:]], numbers[ends]]


def read_drn(stream: IO[bytes]) -> Mdp:
    """Read a model.

    The header has ``@type: MDP``, ``@nr_states`` and optionally ``@nr_choices``. After ``@model`` come the states in
    order, each with its actions, each with its transitions ``TARGET : PROBABILITY``. Rewards and labels are ignored.

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
    states, choices = _drn_header(lines)
    names, rows, line = NameBuffer(_NAMELESS), TransitionBuffer(), lines.number
    found = _Transitions(states, names)
    while text := lines.block():
        columns = found.read(text, line)
        lines.check_yield(len(columns[0]), "a transition")
        rows.append(*columns)
        line = lines.number
    if found.state + 1 < states:
        raise InputError(f"the header announces {count_text(states, 'state')}, but only {found.state + 1:,} follow")
    if found.kind == _ACTION:
        raise InputError(f"choice {found.choice} of state {found.state} has no transitions")
    return rows.mdp(states, choices, names.names())


def recognises_drn(head: bytes) -> bool:
    """Return whether a file is of this format by its first lines: a header of keys, perhaps after comments."""
    return head.removeprefix(parsing.BYTE_ORDER_MARK).lstrip().startswith((b"@", b"//"))


def write_drn(mdp: Mdp, stream: IO[bytes]) -> None:
    """Write a model as Storm's explicit file, the transitions of each choice equally likely.

    State 0 becomes the initial state, which Storm requires.

    Parameters
    ----------
    mdp : Mdp
        The model.
    stream : binary file
        Where to write.
    """
    sizes = f"@nr_states\n{mdp.states}\n@nr_choices\n{mdp.choice_count}\n"
    stream.write(f"@type: MDP\n@parameters\n\n@reward_models\n\n{sizes}@model\n".encode())
    write_states(stream, mdp, drn=True)
