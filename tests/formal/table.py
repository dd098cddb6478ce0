"""The table of all proofs."""

from tests.formal import (
    axi_control,
    axi_memory,
    barriers,
    buffers,
    chunks,
    convey,
    counters,
    exchange,
    filters,
    kernel_proofs,
    links,
    marks,
    masters,
    multiplexer,
    ports,
    readers,
    rest,
    slot_proofs,
    visits,
    wiring,
)
from tests.formal.proof import Proof

PROOFS: tuple[Proof, ...] = (
    *buffers.PROOFS,
    *readers.PROOFS,
    *visits.PROOFS,
    *chunks.PROOFS,
    *filters.PROOFS,
    *exchange.PROOFS,
    *barriers.PROOFS,
    *marks.PROOFS,
    *multiplexer.PROOFS,
    *ports.PROOFS,
    *slot_proofs.PROOFS,
    *kernel_proofs.PROOFS,
    *counters.PROOFS,
    *masters.PROOFS,
    *rest.PROOFS,
    *wiring.PROOFS,
    *axi_memory.PROOFS,
    *axi_control.PROOFS,
    *convey.PROOFS,
    *links.PROOFS,
)
"""All proofs, in the order in which they are run and documented."""
