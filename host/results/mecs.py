"""Maximal end components, for programs and for people."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from host.algorithms.mec.basic import MecDecomposition
from host.algorithms.verification import component_sizes
from host.mdp.model import Mdp
from host.results.table_text import plain_table
from host.results.version import identity
from host.words import counted
from sim.notices import printable

__all__ = ["MecSummary", "mec_document", "mec_table"]

_ROUND = ("states", "choices", "transitions", "edges", "components", "dropped", "removed", "mecs", "cycles")
"""Columns of the table of rounds on the accelerator."""


@dataclass(frozen=True, kw_only=True)
class MecSummary:
    """What there is of maximal end components.

    Parameters
    ----------
    count : int
        How many.
    states : int
        States in any.
    largest : int
        States of the largest one, 0 where there is none.
    """

    count: int
    states: int
    largest: int

    @classmethod
    def of(cls, found: MecDecomposition) -> "MecSummary":
        """Count them."""
        _, sizes = component_sizes(found.mecs[found.mecs >= 0])
        return cls(count=sizes.size, states=int(sizes.sum()), largest=int(np.max(sizes, initial=0)))


def mec_document(
    *,
    model: str,
    mdp: Mdp,
    algorithm: str,
    found: MecDecomposition,
    where: Mapping[str, Any],
    simulated: Sequence[Mapping[str, int]] | None,
    seconds: float,
    verified: bool,
    wall: Mapping[str, float],
) -> dict[str, Any]:
    """Return the result of `cyscc mec` as a JSON document.

    Parameters
    ----------
    model : str
        The model's file, as given.
    mdp : Mdp
        The model.
    algorithm : str
        Name of the algorithm.
    found : MecDecomposition
        What was found.
    where : mapping
        Fields that say where it ran.
    simulated : sequence of mapping or None
        For each round the ``edges`` of its graph as the machine had it, and its ``cycles``; None where it was not
        simulated.
    seconds : float
        Time of the algorithm; simulated time where there are cycles.
    verified : bool
        Whether the result was checked.
    wall : mapping
        Real time of the rest by name, in seconds.
    """
    rounds = [asdict(each) for each in found.rounds]
    cycles = {}
    if simulated is not None:
        rounds = [{**each, **machine} for each, machine in zip(rounds, simulated, strict=True)]
        cycles = {"cycles": {"total": sum(each["cycles"] for each in rounds)}}
    return {
        **identity(),
        "model": {
            "file": model,
            "states": mdp.states,
            "choices": mdp.choice_count,
            "transitions": mdp.transition_count,
        },
        "algorithm": algorithm,
        **where,
        "mecs": asdict(MecSummary.of(found)),
        "rounds": rounds,
        "counts": dict(found.counts),
        **cycles,
        "seconds": seconds,
        "verified": True if verified else None,
        "wall": dict(wall),
    }


def mec_table(document: Mapping[str, Any], where: str) -> str:
    """Return the result of `cyscc mec` as a table.

    Parameters
    ----------
    document : mapping
        What `mec_document` returned.
    where : str
        Where it ran, in words.
    """
    model, mecs, rounds = document["model"], document["mecs"], document["rounds"]
    size = ", ".join(counted(model[name], name[:-1]) for name in ("states", "choices", "transitions"))
    simulated = "cycles" in document
    milliseconds = f"{document['seconds'] * 1e3:,.3f} ms" if simulated else f"{document['seconds'] * 1e3:,.1f} ms"
    rows = [
        ("model", f"{printable(model['file'])}: {size}"),
        ("algorithm", f"{document['algorithm']}, {where}"),
        ("MECs", f"{mecs['count']:,}, the largest of {counted(mecs['largest'], 'state')}"),
        ("states", f"{mecs['states']:,} in MECs, {model['states'] - mecs['states']:,} in none"),
        ("rounds", f"{len(rounds):,}"),
        *((name.replace("_", " "), f"{count:,}") for name, count in document["counts"].items()),
        *([("simulated", f"{counted(document['cycles']['total'], 'cycle')}, {milliseconds}")] if simulated else []),
        *([] if simulated else [("time", milliseconds)]),
        ("verified", "yes" if document["verified"] else "not checked"),
    ]
    text = plain_table(rows, words=2)
    if not simulated:
        return text
    head = ("round", *(name.replace("mecs", "MECs") for name in _ROUND))
    cells = [[f"{number:,}", *(f"{each[key]:,}" for key in _ROUND)] for number, each in enumerate(rounds, start=1)]
    return f"{text}\n{plain_table(cells, head=head)}"
