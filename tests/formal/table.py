"""The table of all proofs."""

from tests.formal import (
    axi,
    barriers,
    buffers,
    convey,
    exchange,
    filters,
    kernels,
    lean,
    links,
    masters,
    multiplexer,
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
    *lean.PROOFS,
    *filters.PROOFS,
    *exchange.PROOFS,
    *switch.PROOFS,
    *barriers.PROOFS,
    *multiplexer.PROOFS,
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
    """Return the names of properties, in `any_place`, that a mutant or broken variant of like hardware violates."""
    alike = [other for other in PROOFS if family(other) == family(proof)]
    names = [name for other in alike for name in (*kept_mutants(other), *(broken.breaks for broken in other.broken))]
    return {any_place(name) for name in names}
