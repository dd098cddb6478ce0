"""Results of the solver: proofs, counterexamples, failed inductions, contradictions."""

import pytest

from tests.formal.harness import Harness
from tests.formal.proof import PROOF_SECONDS
from tests.formal.solve import BMC, PROVE, Outcome, SolverError, solve


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
