"""Every proof holds of the present hardware, and each of its properties fails for a mutant or broken variant of it."""

from dataclasses import replace

import pytest

from tests.formal.proof import Broken, Proof, any_place, check, check_broken, digest, kept_mutants, mutants_of, proven
from tests.formal.solve import Outcome
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


@pytest.mark.long
@pytest.mark.parametrize(
    ("proof", "broken"),
    [pytest.param(proof, broken, id=f"{proof.name}-{broken.name}") for proof in PROOFS for broken in proof.broken],
)
def test_broken_hardware_is_found(proof: Proof, broken: Broken) -> None:
    result = check_broken(proof, broken)
    assert (result.outcome, result.failed) == (Outcome.COUNTEREXAMPLE, (broken.breaks,)), result.log


@each_proof
def test_every_property_is_shown_able_to_fail(proof: Proof) -> None:
    shown = shown_to_fail(proof)
    assert kept_mutants(proof) or proof.broken
    assert [name for name in proof.harness().properties if any_place(name) not in shown] == []
