"""The proofs about whole kernels."""

from functools import partial

from tests.formal.buffers import is_full_early
from tests.formal.faults import changes, spoiled
from tests.formal.kernels import CONFIG, FETCHING, FILTERING, PUBLISHED, SEARCHING, bfs_kernel, intersection_kernel
from tests.formal.proof import Proof

_INTERSECTION = (
    *spoiled(
        "cyscc.hw.reading_process.Queue",
        44,
        classifier_word_fifo_has_a_place_for_what_comes=is_full_early,
        classifier_entry_fifo_has_a_place_for_what_comes=is_full_early,
    ),
    *spoiled("tests.formal.kernels.IntersectionKernel", 32, port_write_payload_steady=changes("port.write")),
)
_CLAIM = (
    "A run is flushed and done only when every read is answered, every queue is empty, no slot is demanded or "
    "reserved, and every write was sent; every response has its reserved place; the ports obey the stream rules."
)

_BFS = {"": CONFIG, "-published": PUBLISHED, "-searching": SEARCHING, "-fetching": FETCHING, "-filtering": FILTERING}
"""Configurations of BFS kernels, by the ends of their proofs' names."""

PROOFS = (
    *(
        Proof(name=f"bfs-kernel{suffix}", claim=_CLAIM, harness=partial(bfs_kernel, config), depth=1)
        for suffix, config in _BFS.items()
    ),
    Proof(
        name="intersection-kernel",
        claim=_CLAIM,
        harness=partial(intersection_kernel, CONFIG),
        depth=1,
        broken=_INTERSECTION,
    ),
    Proof(
        name="intersection-kernel-published",
        claim=_CLAIM,
        harness=partial(intersection_kernel, PUBLISHED),
        depth=1,
    ),
)
