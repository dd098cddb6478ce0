"""The maximal end components of a model, each with the choices that stay in it."""

from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.mdp.formats.annotations import Annotations
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.graph.formats.writer import write_rows
from cyscc.host.graph.reference import component_sizes
from cyscc.sim.notices import printable

MOST_LISTED = 100_000
"""Most choices for which components are listed one by one."""

_LINES = 1 << 18
"""Lines formatted at once."""


def _owners(mdp: Mdp, choices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the state of each choice."""
    return np.searchsorted(mdp.choices, choices, side="right") - 1


def list_components(
    mdp: Mdp, mecs: NDArray[np.int64], stays: NDArray[np.bool_], beside: Annotations
) -> list[dict[str, Any]]:
    """List the components, each with its choices.

    Parameters
    ----------
    mdp : Mdp
        The model.
    mecs : ndarray of int64, shape (n,)
        For each state the smallest state of its component, or -1.
    stays : ndarray of bool, shape (c,)
        Whether each choice stays in its component, see `Mdp.staying`.
    beside : Annotations
        Names and labels of the states.

    Returns
    -------
    list of dict
        By smallest state: ``mec``, that state; ``states``, their number; ``labels``, the number of states with each
        label, if labels are known; ``choices``, each with ``state``, ``name`` of the state if names are known,
        ``choice``, its number in the state, and ``action``, its name or None.
    """
    choices = np.flatnonzero(stays)
    states = _owners(mdp, choices)
    order = np.argsort(mecs[states], kind="stable")
    choices, states = choices[order], states[order]
    names, sizes = component_sizes(mecs[mecs >= 0])
    columns: dict[str, list[Any]] = {"state": states.tolist()}
    if beside.names is not None:
        columns["name"] = beside.names.of(states)
    columns["choice"] = (choices - mdp.choices[states]).tolist()
    columns["action"] = [None] * len(choices) if mdp.actions is None else mdp.actions.of(choices)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    starts = np.searchsorted(mecs[states], names).tolist()
    labels = None if beside.labels is None else beside.labels.counts(mecs)
    return [
        {
            "mec": mec,
            "states": size,
            **({} if labels is None else {"labels": dict(labels.get(mec, {}))}),
            "choices": rows[first:last],
        }
        for mec, size, first, last in zip(names.tolist(), sizes.tolist(), starts, [*starts[1:], len(rows)], strict=True)
    ]


def first_components(
    mdp: Mdp, mecs: NDArray[np.int64], stays: NDArray[np.bool_], beside: Annotations, most: int
) -> list[dict[str, Any]]:
    """Return the sizes of some components: of those with labels first, then of the largest.

    Parameters
    ----------
    mdp, mecs, stays, beside
        See `list_components`.
    most : int
        Most components.

    Returns
    -------
    list of dict
        ``mec`` and ``states`` as in `list_components`; ``choices``, their number; ``name`` of the smallest state, and
        ``labels``, as texts, empty if unknown.
    """
    names, sizes = component_sizes(mecs[mecs >= 0])
    counts = np.bincount(np.searchsorted(names, mecs[_owners(mdp, np.flatnonzero(stays))]), minlength=len(names))
    labels = {} if beside.labels is None else beside.labels.counts(mecs)
    labelled = np.isin(names, list(labels))
    first = np.lexsort((-sizes, ~labelled))[:most]
    texts = [""] * len(first) if beside.names is None else beside.names.of(names[first])
    return [
        {
            "mec": mec,
            "states": size,
            "choices": count,
            "name": printable(name),
            "labels": printable(", ".join(f"{label} ({number:,})" for label, number in labels.get(mec, {}).items())),
        }
        for mec, size, count, name in zip(
            names[first].tolist(), sizes[first].tolist(), counts[first].tolist(), texts, strict=True
        )
    ]


def write_choices(stream: IO[bytes], mdp: Mdp, mecs: NDArray[np.int64], stays: NDArray[np.bool_]) -> None:
    """Write a line ``STATE CHOICE MEC ACTION`` for each choice in a component, without ``ACTION`` if it has no name.

    Parameters
    ----------
    stream : binary file
        Where to write.
    mdp, mecs, stays
        See `list_components`.
    """
    import pyarrow as pa

    actions = mdp.actions
    names = [b"", *(() if actions is None else (b" " + name.encode() for name in actions.names))]
    ends = np.cumsum([0, *map(len, names)], dtype=np.int32)
    texts = pa.StringArray.from_buffers(len(names), pa.py_buffer(ends), pa.py_buffer(b"".join(names)))
    for choices in np.array_split(np.flatnonzero(stays), range(_LINES, np.count_nonzero(stays), _LINES)):
        states = _owners(mdp, choices)
        numbers = np.zeros(len(choices), np.int64) if actions is None else actions.numbers[choices] + np.int64(1)
        index = pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])
        row = states, b" ", choices - mdp.choices[states], b" ", mecs[states], texts.take(index), b"\n"
        write_rows(stream, *row)
