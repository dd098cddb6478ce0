"""Files beside a model's transitions, of PRISM: values of the variables in each state (.sta), and labels (.lab)."""

import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cyscc.host.graph.available_memory import GrowingColumns, check_available_memory
from cyscc.host.graph.formats import parsing
from cyscc.host.graph.formats.files import gzipped, open_input
from cyscc.host.graph.formats.parsing import Column, Lines, shown, words
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text

_Read = TypeVar("_Read")


@dataclass(frozen=True, eq=False)
class StateNames:
    """Values of the variables in each state.

    Parameters
    ----------
    variables : tuple of str
        Names of the variables.
    values : Array
        Values in each state, as Arrow texts, separated by commas.
    """

    variables: tuple[str, ...]
    values: pa.Array

    def of(self, states: NDArray[np.integer]) -> list[str]:
        """Return names of some states, such as ``x=1, y=0``."""
        values = (self.values[state].as_py().decode(errors="replace").split(",") for state in states.tolist())
        return [
            ", ".join(f"{name}={value.strip()}" for name, value in zip(self.variables, each, strict=False))
            for each in values
        ]


@dataclass(frozen=True, eq=False)
class StateLabels:
    """Labels of states.

    Parameters
    ----------
    names : tuple of str
        The labels.
    states, labels : ndarray of uint32, shape (k,)
        A state, and the number of a label that it has; each pair once, sorted.
    """

    names: tuple[str, ...]
    states: NDArray[np.uint32]
    labels: NDArray[np.uint32]

    def counts(self, mecs: NDArray[np.int64]) -> dict[int, Counter[str]]:
        """Return by component the number of its states with each label, if there are any."""
        own = mecs[self.states]
        found, counts = np.unique(np.stack([own, self.labels]), axis=1, return_counts=True)
        result: dict[int, Counter[str]] = {}
        for mec, label, count in zip(*found.tolist(), counts.tolist(), strict=True):
            result.setdefault(mec, Counter())[self.names[label]] = count
        return result


@dataclass(frozen=True, eq=False)
class Annotations:
    """Names and labels of the states of a model, as far as there are files of them."""

    names: StateNames | None = None
    labels: StateLabels | None = None

    def __bool__(self) -> bool:
        return self.names is not None or self.labels is not None


_FORM = "STATE:(VALUES)"
_VALUES = r"^[ \t]*(?:(?P<state>[0-9]+)[ \t]*:[ \t]*\((?P<values>[^()\x00\n]*)\)[ \t]*|#.*|)\n$"
_LABELLED = rf"^[ \t]*(?:(?P<state>[0-9]+)[ \t]*:?(?P<labels>(?:[ \t]+{parsing.WORD})*)[ \t]*|#.*|)\n$"
_CHECKED = 1 << 26
"""Bytes of values between two checks of the available memory."""


def _head(lines: Lines, what: str) -> bytes:
    """Return the first line that is neither empty nor a comment; of Storm's labels, the line that begins them."""
    line = lines.content(b"#", kept=_DECLARATION)
    if line is None:
        raise InputError(f"has no line of {what}")
    return line.strip(b" \t")


def _variables(lines: Lines) -> tuple[str, ...]:
    """Read the names of the variables."""
    line = _head(lines, "variables")
    if not (line.startswith(b"(") and line.endswith(b")")):
        raise InputError(f"expected the variables, '(NAME,NAME,...)', not {shown(line)}", line=lines.number - 1)
    inside = line[1:-1].decode(errors="replace")
    return tuple(name.strip() for name in inside.split(",")) if inside else ()


def _values_fault(line: bytes, state: Column, variables: int) -> str:
    """Return the error in a line of values."""
    number, colon, values = (part.strip(b" \t") for part in line.partition(b":"))
    if cause := state.fault(number):
        return cause
    if not (colon and values.startswith(b"(") and values.endswith(b")") and b"\0" not in values):
        return f"expected {_FORM!r}, not {shown(line.strip())}"
    count = values.count(b",") + (len(values) > len("()"))
    return f"{count_text(count, 'value')}, and there are {count_text(variables, 'variable')}"


def read_states(stream: IO[bytes], states: int) -> StateNames:
    """Read the values of the variables in each state.

    The first line has the names of the variables, ``(x,y)``; then comes a line for each state, in any order:
    ``0:(1,true)``. Empty lines and comments (``#``) are skipped.

    Parameters
    ----------
    stream : binary file
        The file.
    states : int
        Number of states.

    Raises
    ------
    InputError
        A line is malformed (the first one is named), or a state is missing or has two lines.
    """
    lines = Lines(stream)
    variables, state = _variables(lines), Column("state", 0, states - 1)
    columns, values = GrowingColumns(np.uint32, np.int64, of="states"), []
    line, size, checked = lines.number, 0, _CHECKED
    # A surplus line is one of a state that has another.
    while columns.count <= states and (text := lines.block()):
        faults, groups = parsing.matched(text, _VALUES)
        filled = pc.binary_length(groups["state"]).cast("bool")
        rows = np.flatnonzero(parsing.flags(filled))
        numbers, found = parsing.whole_numbers(groups["state"].filter(filled)), groups["values"].filter(filled)
        counts = np.from_dlpack(pc.count_substring(found, ",")) + parsing.flags(pc.binary_length(found))
        faults[rows] = (numbers < 0) | (numbers >= states) | (counts != len(variables))
        if faults.any():
            place = int(faults.argmax())
            cause = _values_fault(text.split(b"\n", place + 1)[place], state, len(variables))
            raise InputError(cause, line=line + place)
        lines.check_yield(len(rows), "a state")
        columns.append(numbers, line + rows)
        values.append(found.cast(pa.large_binary()))
        size, line = size + found.nbytes, lines.number
        if size > checked:
            check_available_memory("the values of the variables", size)
            checked = 2 * size
    numbers, places = columns.take()
    order = np.lexsort((places, numbers))
    twice = order[1:][numbers[order[1:]] == numbers[order[:-1]]]
    if len(twice):
        first = twice[places[twice].argmin()]
        raise InputError(f"state {numbers[first]} has two lines", line=int(places[first]))
    if len(numbers) < states:
        found = numbers[order]
        missing = int(np.append(found != np.arange(len(found)), True).argmax())
        raise InputError(f"state {missing} has no line")
    whole = pa.concat_arrays(values)
    if (order[1:] < order[:-1]).any():
        index = pa.Array.from_buffers(pa.int64(), len(order), [None, pa.py_buffer(order)])
        whole = whole.take(index)
    return StateNames(variables, whole)


_DECLARATION, _END = b"#DECLARATION", b"#END"
_DECLARED = re.compile(rb'([0-9]+)="([^"]*)"')


def _declared(lines: Lines) -> tuple[tuple[str, ...], dict[bytes, int]]:
    """Read the names of the labels; return them, and the number of each token that stands for one."""
    line, first = _head(lines, "labels"), lines.number - 1
    if line == _DECLARATION:
        tokens: list[bytes] = []
        while (more := lines.next()) is not None and more.strip(b" \t") != _END:
            tokens += words(more)
        if more is None:
            raise InputError(f"has no line {_END.decode()!r}")
        names = tokens
    else:
        if _DECLARED.sub(b"", line).strip(b" \t"):
            raise InputError(f"""expected the labels, '0="NAME" 1="NAME" ...', not {shown(line)}""", line=first)
        tokens, names = ([each[place] for each in _DECLARED.findall(line)] for place in (0, 1))
    for token, count in Counter(tokens).items():
        if count > 1:
            raise InputError(f"label {shown(token)} is declared twice", line=first)
    return tuple(name.decode(errors="replace") for name in names), {token: place for place, token in enumerate(tokens)}


def _labelled_fault(line: bytes, state: Column, known: Collection[bytes]) -> str:
    """Return the error in the line of a labelled state."""
    number, own = re.findall(rb"^[ \t]*([^ \t:]*)[ \t]*:?(.*)", line)[0]
    unknown = [f"{shown(token)} is no label of the header" for token in words(own) if token not in known]
    return state.fault(number) or next(iter(unknown), f"expected 'STATE: LABEL...', not {shown(line.strip())}")


def read_labels(stream: IO[bytes], states: int) -> StateLabels:
    """Read the labels of the states.

    The first line names the labels, ``0="init" 1="deadlock"``; then comes a line for each state that has some,
    ``3: 0 1``. In Storm's variant, lines ``#DECLARATION`` and ``#END`` enclose the names, which are used as they are:
    ``3 init deadlock``. Empty lines and other comments (``#``) are skipped.

    Parameters
    ----------
    stream : binary file
        The file.
    states : int
        Number of states.

    Raises
    ------
    InputError
        A line is malformed (the first one is named).
    """
    lines = Lines(stream)
    names, known = _declared(lines)
    state, line = Column("state", 0, states - 1), lines.number
    pairs = GrowingColumns(np.uint32, np.uint32, of="labels of states")
    while text := lines.block():
        faults, groups = parsing.matched(text, _LABELLED)
        filled = pc.binary_length(groups["state"]).cast("bool")
        rows = np.flatnonzero(parsing.flags(filled))
        numbers, found = parsing.whole_numbers(groups["state"].filter(filled)), groups["labels"].filter(filled)
        lengths = np.from_dlpack(pc.count_substring_regex(found, parsing.WORD)).astype(np.int64)
        owners = np.repeat(np.arange(len(rows)), lengths)
        tokens = parsing.matched(parsing.tokens_of(found), r"^(?P<token>[^\n]*)\n$")[1]["token"].dictionary_encode()
        labels = np.array([known.get(token, -1) for token in tokens.dictionary.to_pylist()], np.int64)
        labels = labels[np.from_dlpack(tokens.indices)]
        faults[rows] = (numbers < 0) | (numbers >= states)
        faults[rows[owners[labels < 0]]] = True
        if faults.any():
            place = int(faults.argmax())
            cause = _labelled_fault(text.split(b"\n", place + 1)[place], state, known)
            raise InputError(cause, line=line + place)
        lines.check_yield(len(rows), "a state")
        pairs.append(numbers[owners], labels)
        line = lines.number
    columns = pairs.take()
    kept = np.unique(np.stack(columns), axis=1)
    return StateLabels(names, kept[0], kept[1])


def _beside(model: Path, suffix: str) -> Path | None:
    base = model.with_suffix("") if gzipped(model) else model
    return next((path for end in ("", ".gz") if (path := base.with_suffix(suffix + end)).is_file()), None)


def files_beside(model: Path | str) -> tuple[Path | None, Path | None]:
    """Return the files of the same name as a model's that end in ``.sta`` and ``.lab``, if there are any."""
    return _beside(Path(model), ".sta"), _beside(Path(model), ".lab")


def _read(path: Path | None, read: Callable[[IO[bytes], int], _Read], states: int, what: str) -> _Read | None:
    if path is None:
        return None
    with open_input(path, what=what) as file:
        return read(file.stream, states)


def read_annotations(names: Path | None, labels: Path | None, states: int) -> Annotations:
    """Read the files beside a model, gzipped or not.

    Parameters
    ----------
    names, labels : Path, optional
        The files, a ``.sta`` and a ``.lab``.
    states : int
        Number of states of the model.

    Raises
    ------
    InputError
        A file cannot be read as such.
    """
    return Annotations(
        _read(names, read_states, states, "list of state"), _read(labels, read_labels, states, "list of label")
    )
