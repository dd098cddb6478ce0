"""The table of all proofs."""

from tests.formal import buffers, kernel_proofs, masters, multiplexer, ports, readers, slot_proofs, visits
from tests.formal.proof import Proof

__all__ = ["PROOFS"]

PROOFS: tuple[Proof, ...] = (
    *buffers.PROOFS,
    *readers.PROOFS,
    *visits.PROOFS,
    *multiplexer.PROOFS,
    *ports.PROOFS,
    *slot_proofs.PROOFS,
    *kernel_proofs.PROOFS,
    *masters.PROOFS,
)
"""All proofs, in the order in which they are run and documented."""
