"""Every proof holds, and each of its properties fails for a mutant; results of the solver for a counter."""

from dataclasses import replace

import pytest

from tests.formal.harness import Harness
from tests.formal.proof import (
    PROOF_SECONDS,
    Proof,
    any_place,
    check,
    digest,
    kept_mutants,
    mutants_of,
    proven,
)
from tests.formal.solve import BMC, PROVE, Outcome, SolverError, solve
from tests.formal.table import PROOFS, shown_to_fail

_MUTATED = [proof for proof in PROOFS if kept_mutants(proof)]

each_proof = pytest.mark.parametrize("proof", [pytest.param(proof, id=proof.name) for proof in PROOFS])
each_mutated = pytest.mark.parametrize("proof", [pytest.param(proof, id=proof.name) for proof in _MUTATED])


@each_proof
def test_proof_holds_of_the_present_hardware(proof: Proof) -> None:
    # What was proven before, of the very same netlist by the same tools, is not proven again.
    if not _is_known(proof):
        _prove(proof)


@pytest.mark.long
@each_proof
def test_what_was_proven_before_is_proven_again(proof: Proof) -> None:
    _prove(proof)
    assert _is_known(proof), "python -m tests.formal --keep writes it"


def test_a_proof_of_other_hardware_has_another_digest() -> None:
    proof, registered = (proof for proof in PROOFS if proof.name in ("credits", "registered-credits"))
    assert (
        len({digest(proof), digest(replace(proof, harness=registered.harness)), digest(replace(proof, depth=3))}) == 3
    )


def test_no_proof_is_kept_that_is_none() -> None:
    assert sorted(proven()) == sorted(proof.name for proof in PROOFS)


def _is_known(proof: Proof) -> bool:
    return proof.name in proven() and bool(proven()[proof.name]["digest"] == digest(proof))


def _prove(proof: Proof) -> None:
    result = check(proof)
    assert (result.outcome, result.failed) == (proof.expected, ()), result.log


@each_mutated
def test_mutants_of_the_present_hardware_violate_what_they_did(proof: Proof) -> None:
    # Of the very same netlist they still do.
    if not _is_known(proof):
        _violate(proof)


@pytest.mark.long
@each_mutated
def test_mutants_violate_again_what_they_did(proof: Proof) -> None:
    _violate(proof)


def _violate(proof: Proof) -> None:
    missing = kept_mutants(proof).keys() - mutants_of(proof).keys()
    assert not missing, "python -m tests.formal --keep finds other mutants"


@each_proof
def test_every_property_is_shown_able_to_fail(proof: Proof) -> None:
    shown = shown_to_fail(proof)
    assert kept_mutants(proof)
    assert [name for name in proof.harness().properties if any_place(name) not in shown] == []


def counter(*, limit: int) -> Harness:
    """Return a counter that wraps at 6, claimed to stay below a limit."""
    h = Harness()
    count = h.register(3, "count")
    with h.m.If(count == 5):
        h.m.d.sync += count.eq(0)
    with h.m.Elif(h.free(1, "up")):
        h.m.d.sync += count.eq(count + 1)
    h.prove(count < limit, "count_is_below_the_limit")
    return h


@pytest.mark.long
def test_proof_by_induction() -> None:
    result = solve(counter(limit=6), mode=PROVE, depth=2, timeout=PROOF_SECONDS)
    assert (result.outcome, result.failed, result.step) == (Outcome.PROVEN, (), None)


@pytest.mark.long
def test_what_holds_but_is_not_inductive() -> None:
    result = solve(counter(limit=7), mode=PROVE, depth=1, timeout=PROOF_SECONDS)
    assert (result.outcome, result.failed) == (Outcome.UNKNOWN, ("count_is_below_the_limit",))


@pytest.mark.long
def test_bounded_pass() -> None:
    result = solve(counter(limit=5), mode=BMC, depth=5, timeout=PROOF_SECONDS)
    assert (result.outcome, result.failed, result.step) == (Outcome.BOUNDED, (), None)


@pytest.mark.long
@pytest.mark.parametrize("mode", [BMC, PROVE])
def test_counterexample_with_its_step(mode: str) -> None:
    result = solve(counter(limit=5), mode=mode, depth=6, timeout=PROOF_SECONDS)
    assert (result.outcome, result.failed, result.step) == (Outcome.COUNTEREXAMPLE, ("count_is_below_the_limit",), 5)


@pytest.mark.long
def test_contradicting_assumptions_prove_nothing() -> None:
    h = counter(limit=6)
    level = h.free(1, "level")
    h.assume(level, "level_is_high")
    h.assume(~level, "level_is_low")
    with pytest.raises(SolverError, match=r"^no answer \(ERROR\):\n"):
        solve(h, mode=BMC, depth=3, timeout=PROOF_SECONDS)


def test_names_are_unique() -> None:
    h = counter(limit=6)
    with pytest.raises(ValueError, match=r"^there is a condition 'count_is_below_the_limit' already$"):
        h.prove(1, "count_is_below_the_limit")


@pytest.mark.long
def test_a_constant_keeps_any_value() -> None:
    h = Harness()
    constant = h.constant(4, "level")
    h.prove(h.steady(constant, "again"), "level_is_steady")
    assert solve(h, mode=PROVE, depth=2, timeout=PROOF_SECONDS).outcome == Outcome.PROVEN
    h = Harness()
    h.prove(h.constant(4, "level") != 9, "level_is_not_9")
    assert solve(h, mode=BMC, depth=2, timeout=PROOF_SECONDS).outcome == Outcome.COUNTEREXAMPLE
