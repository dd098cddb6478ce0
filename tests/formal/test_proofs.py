"""Every proof holds, and every broken variant has its counterexample."""

import re
from functools import partial
from typing import Any

import pytest

from tests.formal.proof import Broken, Proof, check, check_broken
from tests.formal.solve import Outcome
from tests.formal.table import PROOFS


def _mark(proof: Proof) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.long,) if proof.long else ()


@pytest.mark.parametrize("proof", [pytest.param(proof, id=proof.name, marks=_mark(proof)) for proof in PROOFS])
def test_proof_holds(proof: Proof) -> None:
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
