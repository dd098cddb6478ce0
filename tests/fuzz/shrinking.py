"""Making a case that fails as simple as it can be, and keeping it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tests.fuzz.parts import Finding, Part

Case = TypeVar("Case")

_CASE = "case.json"


def shrunk(
    case: Case,
    finding: Finding,
    simpler: Callable[[Case], Iterator[Case]],
    examine: Callable[[Case], Finding],
    *,
    seconds: float,
) -> tuple[Case, Finding]:
    """Return a case than which none simpler fails in the same way, and what becomes of it.

    Parameters
    ----------
    case, finding : Case, Finding
        A case that fails, and how.
    simpler : callable
        Yields simpler cases.
    examine : callable
        Looks at a case.
    seconds : float
        Time after which what has been found is simple enough.
    """
    end = time.monotonic() + seconds
    begin = 0
    while True:
        for position, candidate in enumerate(simpler(case)):
            # What did not fail before the last success will hardly fail now; all are tried again at the end.
            if position < begin:
                continue
            if time.monotonic() > end:
                return case, finding
            found = examine(candidate)
            if not found.good and found.kind == finding.kind:
                case, finding, begin = candidate, found, position
                break
        else:
            if not begin:
                return case, finding
            begin = 0


def keep(part: Part[Any], case: object, finding: Finding, folder: Path, *, again: str) -> None:
    """Write a case into a folder, with what became of it and the lines that repeat it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _CASE).write_bytes(msgspec.json.encode({"part": part.name, "case": case}) + b"\n")
    small = f"python -m tests.fuzz --case {folder / _CASE}"
    (folder / "failure").write_text(f"{finding.kind}: {finding.what}\n{small}\n{again}\n")
    part.save(case, folder)


def kept_case(path: Path, parts: dict[str, Part[Any]]) -> tuple[Part[Any], Any]:
    """Return a stored case, and its part."""
    document = msgspec.json.decode(path.read_bytes())
    part = parts[document["part"]]
    return part, msgspec.convert(document["case"], part.case)
