"""Files of Markov decision processes: PRISM's explicit transitions (.tra) and Storm's explicit files (.drn)."""

import re
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.mdp.model import Mdp, check_size, offsets_of
from cyscc.host.graph.available_memory import GrowingColumns
from cyscc.host.graph.csr import MAX_EDGES, MAX_VERTICES
from cyscc.host.graph.formats import parsing
from cyscc.host.graph.formats.files import Watch, gzipped, open_input, open_output, suffix_of
from cyscc.host.graph.formats.parsing import Column, Lines, shown, words
from cyscc.host.graph.formats.writer import joined, write_rows
from cyscc.host.output.errors import InputError, locating_errors
from cyscc.host.output.text import count_text

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TOLERANCE", "check_name", "read_mdp", "write_mdp"]

TOLERANCE = 1e-5
"""Tolerance of the sum of a choice's probabilities: PRISM's bound for models that it builds, ``-sumroundoff``.

It is needed for rounded decimals: Storm writes ten digits of each probability, and many small errors add up."""

_TYPES = np.uint32, np.uint32, np.uint32, np.float64, np.int64
_BUILT = 28  # bytes of a row in the model and in temporary arrays


class TransitionBuffer:
    """Buffer of transitions while a file is read."""

    def __init__(self) -> None:
        self._columns = GrowingColumns(*_TYPES, of="transitions", extra=_BUILT)

    @property
    def count(self) -> int:
        """Number of transitions so far."""
        return self._columns.count

    def append(self, *values: NDArray[Any]) -> None:
        """Append transitions: source, number of the choice in its state, target, probability and line of each.

        Raises
        ------
        InputError
            The total exceeds 32 bits or the memory.
        """
        check_size(0, self.count + len(values[0]))
        self._columns.append(*values)

    def mdp(self, states: int | None, choices: int | None) -> Mdp:
        """Build the model, without transitions of probability 0, and empty the buffer.

        Parameters
        ----------
        states, choices : int, optional
            Numbers in the header.

        Raises
        ------
        InputError
            A state has no choice, a choice no transition, the probabilities of a choice do not sum to 1 within
            `TOLERANCE`, or the number of choices differs from the header.
        """
        if self.count == 0:
            raise InputError("the model is empty: it has no transitions")
        columns = self._columns.take()
        sources, numbers = columns[:2]
        same, later = sources[1:] == sources[:-1], sources[1:] > sources[:-1]
        if not (later | same & (numbers[1:] >= numbers[:-1])).all():
            order = np.lexsort((numbers, sources))
            columns = [column[order] for column in columns]
        sources, numbers, targets, probabilities, lines = columns
        if states is None:
            states = int(max(sources.max(), targets.max())) + 1
        begins = np.append(True, (sources[1:] != sources[:-1]) | (numbers[1:] != numbers[:-1]))
        firsts = np.flatnonzero(begins)
        owners, ordinals, totals = sources[firsts], numbers[firsts], np.add.reduceat(probabilities, firsts)
        same = np.append(False, owners[1:] == owners[:-1])
        skipped = np.append(owners[0] > 0, owners[1:] > owners[:-1] + 1)
        missing = ordinals != np.where(same, np.append(np.uint32(0), ordinals[:-1]) + 1, 0)
        wrong = skipped | missing | ~(np.abs(totals - 1) <= TOLERANCE)
        if wrong.any():
            first = int(wrong.argmax())
            state, before = int(owners[first]), int(ordinals[first - 1]) if same[first] else -1
            cause = (
                f"the probabilities of choice {ordinals[first]} of state {state} sum to {totals[first]:.10g}, "
                f"not to 1 within {TOLERANCE:g}"
            )
            if missing[first]:
                cause = f"choice {before + 1} of state {state} has no transitions"
            if skipped[first]:
                cause = f"state {int(owners[first - 1]) + 1 if first else 0} has no choices"
            raise InputError(cause, line=int(lines[firsts[first]]))
        if (last := int(owners[-1])) < states - 1:
            raise InputError(f"state {last + 1} has no choices")
        if choices not in (None, len(firsts)):
            raise InputError(f"the header announces {choices:,} choices, but there are {len(firsts):,}")
        kept = probabilities > 0
        return Mdp(
            choices=offsets_of(np.bincount(owners)),
            transitions=offsets_of(np.add.reduceat(kept, firsts, dtype=np.int64)),
            targets=targets[kept],
        )


_TRA_HEADER = "STATES CHOICES TRANSITIONS"
_TRA_FORM = "SOURCE CHOICE TARGET PROBABILITY ACTION"


def _tra_header(lines: Lines) -> tuple[int, int, int] | None:
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
            raise InputError(f"expected the header {_TRA_HEADER!r} of an MDP: two numbers begin a Markov chain")
        if len(found) != 3:
            raise InputError(f"expected the header {_TRA_HEADER!r}")
        states, choices, transitions = (
            parsing.number(word, what) for word, what in zip(found, ("states", "choices", "transitions"), strict=True)
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
    sizes = _tra_header(lines)
    states, choices, expected = sizes or (None, None, None)
    state = Column("state", 0, (states or MAX_VERTICES) - 1)
    choice = Column("choice", 0, MAX_EDGES)
    columns = state, choice, state
    layout = parsing.Layout(form=_TRA_FORM, comments="#", columns=columns, fewest=4, most=5, weighed=True)
    rows = TransitionBuffer()
    for block in parsing.read_lines(lines, layout, expected=expected):
        rows.append(*block)
    return rows.mdp(states, choices)


_DRN_FORM = "TARGET : PROBABILITY"
_NOTHING, _STATE, _ACTION, _TRANSITION = range(4)
_GROUPS = {_STATE: "state", _ACTION: "action", _TRANSITION: "target"}
"""Kinds of lines, and the regular expression groups that identify them."""

_FOLLOWS = np.zeros((4, 4), np.bool_)
"""Whether a kind of line may follow another."""

_FOLLOWS[
    [_NOTHING, _STATE, _ACTION, _TRANSITION, _TRANSITION, _TRANSITION], [_STATE, _ACTION, _TRANSITION, *_GROUPS]
] = True
_PATTERN = (
    rf"^[ \t]*(?:(?i:state)[ \t]+(?P<state>[0-9]+)(?:[ \t].*)?|(?P<action>(?i:action))(?:[ \t].*)?"
    rf"|(?P<target>[0-9]+)[ \t]*:[ \t]*(?P<weight>{parsing.WORD})[ \t]*|//.*|)\n$"
)
_VALUES = (b"double", b"rational")


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
    if begins in (b"state", b"action") and kind == _ACTION:
        return f"choice {choice} of state {state} has no transitions"
    if begins == b"action":
        return "an action before the first state"
    if begins == b"state" and kind == _STATE:
        return f"state {state} has no choices"
    if begins == b"state" and not second.isdigit():
        return f"{shown(second)} is not a state"
    if begins == b"state":
        surplus = f"a state beyond the {states:,} that the header announces"
        return surplus if state + 1 == states else f"expected state {state + 1}, not {shown(second)}"
    if kind in (_NOTHING, _STATE):
        return f"expected 'action NAME' before the transition, not {shown(first)}"
    target, colon, rest = re.findall(rb"^[ \t]*([0-9]*)[ \t]*(:?)[ \t]*(.*)", line)[0]
    if not target:
        return f"{shown(first)} is not a state"
    if not colon:
        return f"expected {_DRN_FORM!r}, not {shown(line.strip())}"
    likely, more, *_ = *words(rest), b"", b""
    if outside := Column("state", 0, states - 1).fault(target):
        return outside
    return (
        f"{shown(rest)} is not a probability"
        if parsing.probability(likely) is None
        else f"too many columns for {_DRN_FORM!r}, from {shown(more)} on"
    )


class _Transitions:
    """Parser of transitions in blocks of lines.

    Parameters
    ----------
    states : int
        Number of states.

    Attributes
    ----------
    kind, state, choice : int
        Kind of the last line, its state, and the number of its choice there; the numbers are -1 before the first.
    """

    def __init__(self, states: int) -> None:
        self._states = states
        self.kind, self.state, self.choice = _NOTHING, -1, -1

    def read(self, text: bytes, line: int) -> list[NDArray[Any]]:
        """Return source, number of the choice, target, probability and line of each transition in a block."""
        import pyarrow.compute as pc

        faults, groups = parsing.matched(text, _PATTERN)
        told = {kind: pc.binary_length(groups[name]).cast("bool") for kind, name in _GROUPS.items()}
        every = np.sum([kind * parsing.flags(mask) for kind, mask in told.items()], axis=0)
        places = np.flatnonzero(every)
        kinds = np.append(self.kind, every[places])
        begins, ends = kinds == _STATE, kinds == _TRANSITION
        begins[0] = ends[0] = False
        actions = self.choice + np.cumsum(kinds == _ACTION) - (self.kind == _ACTION)
        states = self.state + np.cumsum(begins)
        # Choices are numbered within their state.
        choices = actions - np.maximum.accumulate(np.where(begins, actions + 1, 0))
        named = parsing.whole_numbers(groups["state"].filter(told[_STATE]))
        targets = parsing.whole_numbers(groups["target"].filter(told[_TRANSITION]))
        likely = parsing.probabilities(groups["weight"].filter(told[_TRANSITION]))
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
        return [states[ends], choices[ends], targets, likely, line + places[ends[1:]]]


def read_drn(stream: IO[bytes]) -> Mdp:
    """Read a model.

    The header has ``@type: MDP``, ``@nr_states`` and optionally ``@nr_choices``. After ``@model`` come the states in
    order, each with its actions, each with its transitions ``TARGET : PROBABILITY``. Rewards, labels and names are
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
        A line is malformed (the first one is named), or the model is incomplete.
    """
    lines = Lines(stream)
    states, choices = _drn_header(lines)
    found, rows, line = _Transitions(states), TransitionBuffer(), lines.number
    while text := lines.block():
        columns = found.read(text, line)
        lines.check_yield(len(columns[0]), "a transition")
        rows.append(*columns)
        line = lines.number
    if found.state + 1 < states:
        raise InputError(f"the header announces {count_text(states, 'state')}, but only {found.state + 1:,} follow")
    if found.kind == _ACTION:
        raise InputError(f"choice {found.choice} of state {found.state} has no transitions")
    return rows.mdp(states, choices)


_STATES = 1 << 16  # states formatted at once


def _spread(texts: "pa.Array", rows: NDArray[np.int64], count: int) -> "pa.Array":
    """Expand texts of some rows to all rows, empty elsewhere."""
    import pyarrow as pa

    ends = np.zeros(count + 1, np.int32)
    ends[rows + 1] = np.diff(np.frombuffer(texts.buffers()[1], np.int32))
    return pa.StringArray.from_buffers(count, pa.py_buffer(np.cumsum(ends, dtype=np.int32)), texts.buffers()[2])


def _write(stream: IO[bytes], mdp: Mdp, *, drn: bool) -> None:
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
    _write(stream, mdp, drn=True)


_READERS = {".tra": read_tra, ".drn": read_drn}
_WRITERS = {".tra": write_tra, ".drn": write_drn}


def check_name(path: Path | str) -> str:
    """Return the suffix of a model's file, ``.tra`` or ``.drn``, without ``.gz``.

    Raises
    ------
    InputError
        The suffix is another.
    """
    path = Path(path)
    suffix = suffix_of(path)
    if suffix not in _READERS:
        raise InputError("is no file of a model by its name: they end in .tra or .drn, or these and .gz", path=path)
    return suffix


def read_mdp(path: Path | str, *, watch: Watch | None = None) -> Mdp:
    """Read a model in the format that the suffix names, gzipped or not.

    ``.tra`` is PRISM's explicit transition file, ``.drn`` Storm's explicit file. Only the support of the distributions
    is kept: transitions of probability 0 are dropped.

    Parameters
    ----------
    path : Path or str
        The file.
    watch : callable, optional
        Progress callback.

    Returns
    -------
    Mdp

    Raises
    ------
    InputError
        When the file cannot be read as such a model, a choice's probabilities do not sum to 1 within `TOLERANCE`, or
        the model does not fit in 32 bits or in memory.
    """
    path = Path(path)
    read = _READERS[check_name(path)]
    with open_input(path, watch, what="model") as file:
        if gzipped(path) and not file.gzipped:
            raise InputError("not gzip data")
        return read(file.stream)


def write_mdp(mdp: Mdp, path: Path | str, *, watch: Watch | None = None) -> None:
    """Write a model in the format that the suffix names, as in `read_mdp`; it appears whole or not at all.

    The transitions of each choice become equally likely, because the model only has their support.

    Parameters
    ----------
    mdp : Mdp
        The model.
    path : Path or str
        The file.
    watch : callable, optional
        Progress callback.

    Raises
    ------
    InputError
        When the file cannot be written.
    """
    path = Path(path)
    write = _WRITERS[check_name(path)]
    with locating_errors(path=path), open_output(path, watch) as stream:
        write(mdp, stream)
