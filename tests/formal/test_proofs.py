"""Every proof holds of the present hardware, and every broken variant has its counterexample."""

import json
import re
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.formal.proof import PROVEN, Broken, Proof, check, check_broken, digest
from tests.formal.solve import Outcome
from tests.formal.table import PROOFS


@pytest.mark.parametrize("proof", [pytest.param(proof, id=proof.name) for proof in PROOFS])
def test_proof_holds_of_the_present_hardware(proof: Proof) -> None:
    # What was proven before, of the very same netlist by the same tools, is not proven again.
    if json.loads(PROVEN.read_text()).get(proof.name) != digest(proof):
        _prove(proof)


@pytest.mark.long
@pytest.mark.parametrize("proof", [pytest.param(proof, id=proof.name) for proof in PROOFS])
def test_what_was_proven_before_is_proven_again(proof: Proof) -> None:
    _prove(proof)
    assert json.loads(PROVEN.read_text())[proof.name] == digest(proof), "python -m tests.formal --keep writes it"


def test_a_proof_of_other_hardware_has_another_digest() -> None:
    (proof,) = (proof for proof in PROOFS if proof.name == "credits")
    digests = {digest(replace(proof, harness=partial(broken.harness, proof.harness))) for broken in proof.broken}
    assert len(digests | {digest(proof), digest(replace(proof, depth=3))}) == len(proof.broken) + 2


def test_no_proof_is_kept_that_is_none() -> None:
    assert sorted(json.loads(PROVEN.read_text())) == sorted(proof.name for proof in PROOFS)


def _prove(proof: Proof) -> None:
    result = check(proof)
    assert (result.outcome, result.failed) == (proof.expected, ()), result.log


@pytest.mark.long
@pytest.mark.parametrize(
    ("proof", "broken"),
    [pytest.param(proof, broken, id=f"{proof.name}-{broken.name}") for proof in PROOFS for broken in proof.broken],
)
def test_broken_hardware_is_found(proof: Proof, broken: Broken) -> None:
    result = check_broken(proof, broken)
    assert (result.outcome, result.failed) == (Outcome.COUNTEREXAMPLE, (broken.breaks,)), result.log


def _family(proof: Proof) -> str:
    """Return the module that the proof is from: its harnesses claim the same of like hardware."""
    factory: Any = proof.harness
    while isinstance(factory, partial):
        factory = factory.func
    return factory.__module__


def _any_place(name: str) -> str:
    """Return a property's name without the number of its kernel, which are all alike."""
    return re.sub(r"^kernel\d+", "kernel", name)


@pytest.mark.parametrize("proof", [pytest.param(proof, id=proof.name) for proof in PROOFS])
def test_every_property_is_shown_able_to_fail(proof: Proof) -> None:
    shown = {
        _any_place(broken.breaks) for other in PROOFS if _family(other) == _family(proof) for broken in other.broken
    }
    assert proof.broken
    assert [name for name in proof.harness().properties if _any_place(name) not in shown] == []
