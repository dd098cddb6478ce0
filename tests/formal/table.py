"""The table of all proofs."""

from tests.formal import (
    axi,
    barriers,
    buffers,
    convey,
    exchange,
    filters,
    kernels,
    links,
    masters,
    pairs,
    ports,
    readers,
    rest,
    slots,
    station,
    switch,
    visits,
    wiring,
)
from tests.formal.proof import Proof, any_place, family, kept_mutants

PROOFS: tuple[Proof, ...] = (
    *buffers.PROOFS,
    *readers.PROOFS,
    *pairs.PROOFS,
    *visits.PROOFS,
    *filters.PROOFS,
    *exchange.PROOFS,
    *switch.PROOFS,
    *barriers.PROOFS,
    *ports.PROOFS,
    *slots.PROOFS,
    *station.PROOFS,
    *kernels.PROOFS,
    *masters.PROOFS,
    *rest.PROOFS,
    *wiring.PROOFS,
    *axi.PROOFS,
    *convey.PROOFS,
    *links.PROOFS,
)
"""All proofs, in the order in which they are run and documented."""


def shown_to_fail(proof: Proof) -> set[str]:
    """Return the names of properties, in `any_place`, that a mutant of like hardware violates."""
    alike = [other for other in PROOFS if family(other) == family(proof)]
    return {any_place(name) for other in alike for name in kept_mutants(other)}
