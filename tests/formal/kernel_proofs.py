"""The proofs about whole kernels, with their broken variants."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from amaranth.hdl import Module

from tests.formal.buffers import is_full_early
from tests.formal.faults import blinks, changes, spoiled, sticks
from tests.formal.kernels import CONFIG, FETCHING, FILTERING, PUBLISHED, SEARCHING, bfs_kernel, intersection_kernel
from tests.formal.proof import Broken, Proof
from tests.formal.slot_faults import forgets_a_demand_as_the_token_passes


def is_done_while_it_runs(self: Any, m: Module) -> None:
    """Report the end of a run as soon as it has begun."""
    with m.If(self.busy):
        m.d.sync += self.done.eq(1)


def does_not_wait_for_the_flush(self: Any, m: Module) -> None:
    """Be done when it has asked for the flush."""
    with m.If(self.flush):
        m.d.sync += self.done.eq(1)


def forgets_its_marks(self: Any, m: Module) -> None:
    """Be idle while a mark waits."""
    m.d.comb += self.idle.eq(~self.level.any())


def _broken(kind: str, *, reader: str, fifos: Sequence[str]) -> tuple[Broken, ...]:
    """Return the broken variants of a kernel.

    Parameters
    ----------
    kind : str
        Its package.
    reader : str
        Class of a process that may be idle too early.
    fifos : sequence of str
        Queues of its readers, in the order of a read's way: all of them are broken together.
    """
    here = f"tests.formal.kernels.{'BfsKernel' if kind == 'bfs' else 'IntersectionKernel'}"
    return (
        Broken(fault=blinks("port.read"), place=here, breaks="port_read_valid_stays", depth=16),
        Broken(fault=changes("port.read"), place=here, breaks="port_read_payload_steady", depth=16),
        *(
            Broken(
                fault=is_full_early,
                place="cyscc.hw.reading_process.Queue",
                breaks=f"{queue}_has_a_place_for_what_comes",
                depth=44,
            )
            for queue in fifos
        ),
        Broken(
            fault=sticks("idle", at=1),
            place=f"cyscc.hw.{kind}.kernel.{reader}",
            breaks="flushes_only_with_nothing_outstanding",
            depth=30,
        ),
        Broken(
            fault=is_done_while_it_runs,
            place="cyscc.hw.kernel.KernelControl",
            breaks="done_only_with_nothing_outstanding",
            depth=16,
        ),
    )


_WRITES = (
    *spoiled("cyscc.hw.kernel.RequestMux", 32, no_write_leaves_while_it_flushes=sticks("busy", at=0)),
    *spoiled(
        "cyscc.hw.kernel.KernelControl",
        36,
        done_only_after_the_last_write_is_flushed=does_not_wait_for_the_flush,
    ),
    *spoiled(
        "tests.formal.kernels.IntersectionKernel",
        32,
        port_write_valid_stays=blinks("port.write"),
        port_write_payload_steady=changes("port.write"),
    ),
)
_BFS = _broken(
    "bfs",
    reader="NeighbourReader",
    fifos=(
        "frontier_reader_fifo",
        "neighbour_reader_fifo",
        "word_reader_id_fifo",
        "word_reader_word_fifo",
    ),
)
_INTERSECTION = _broken(
    "intersection",
    reader="ColourReader",
    fifos=(
        "reach_reader_id_fifo",
        "reach_reader_direction_fifo",
        "colour_reader_colour_fifo",
        "colour_reader_word_fifo",
        "colour_reader_entry_fifo",
        "classifier_word_fifo",
        "classifier_entry_fifo",
    ),
)
_DEMAND = Broken(
    fault=forgets_a_demand_as_the_token_passes,
    place="cyscc.hw.bfs.kernel.SlotAllocator",
    breaks="every_vertex_queued_has_a_demand_or_a_slot",
    depth=36,
)
_FORGOTTEN = Broken(
    fault=forgets_its_marks,
    place="cyscc.hw.bfs.kernel.MarkingVisitor",
    breaks="flushes_only_with_nothing_outstanding",
    depth=44,
)
_LEFT = Broken(
    fault=sticks("idle", at=1),
    place="cyscc.hw.bfs.kernel.CopyFilter",
    breaks="flushes_only_with_nothing_outstanding",
    depth=30,
)
_UNASKED = Broken(
    fault=sticks("request.valid", at=1),
    place="cyscc.hw.bfs.kernel.RequestQueue",
    breaks="neighbour_reader_fifo_has_a_place_for_what_comes",
    depth=40,
)
_CLAIM = (
    "A run is flushed and done only when every read is answered, every queue is empty, no slot is demanded or "
    "reserved, and every write was sent; every response has its reserved place; the ports obey the stream rules."
)

PROOFS = (
    Proof(name="bfs-kernel", claim=_CLAIM, harness=partial(bfs_kernel, CONFIG), depth=1, broken=(*_BFS, _DEMAND)),
    Proof(
        name="bfs-kernel-published",
        claim=_CLAIM,
        harness=partial(bfs_kernel, PUBLISHED),
        depth=1,
        broken=_BFS[-1:],
    ),
    Proof(
        name="bfs-kernel-searching",
        claim=_CLAIM,
        harness=partial(bfs_kernel, SEARCHING),
        depth=1,
        broken=(_FORGOTTEN,),
    ),
    Proof(
        name="bfs-kernel-fetching",
        claim=_CLAIM,
        harness=partial(bfs_kernel, FETCHING),
        depth=1,
        broken=(_UNASKED,),
    ),
    Proof(name="bfs-kernel-filtering", claim=_CLAIM, harness=partial(bfs_kernel, FILTERING), depth=1, broken=(_LEFT,)),
    Proof(
        name="intersection-kernel",
        claim=_CLAIM,
        harness=partial(intersection_kernel, CONFIG),
        depth=1,
        broken=(*_INTERSECTION, *_WRITES),
    ),
    Proof(
        name="intersection-kernel-published",
        claim=_CLAIM,
        harness=partial(intersection_kernel, PUBLISHED),
        depth=1,
        broken=_INTERSECTION[-1:],
    ),
)
