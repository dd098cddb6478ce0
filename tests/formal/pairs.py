"""Proofs about neighbour ids that are read in pairs: the aligned pairs of a vertex, and each of its ids once."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from amaranth.hdl import C, Cat, Mux, Value
from amaranth.lib import data

from cyscc.hw.bfs.pair_reader import LanePairReader, PairReader
from cyscc.hw.bfs.tags import Tag
from cyscc.hw.graph_word import GraphWord
from cyscc.hw.interfaces import SIZE_8
from tests.formal.harness import Harness, Part, opened
from tests.formal.proof import Proof
from tests.formal.readers import CLAIM, account, consumer, requests
from tests.formal.watch import watch

DEPTH = 4


def _pairs(start: Any, size: Any) -> Value:
    """Return the number of aligned pairs with an edge of a range."""
    return Mux(size == 0, 0, (size + start[0] + 1) >> 1)[:32]


def _expander(kind: Any, outputs: Sequence[str]) -> tuple[Harness, Part, Any, Any, list[Any]]:
    """Return a harness with a reader of pairs in it; whether it requests, a pair leaves it, and each stream an id."""
    registered = kind is LanePairReader  # as in a machine
    h, part, dut = opened(kind(depth=DEPTH, registered=registered), constant=["neighbours"])
    if registered:
        h.invariant(~part.part("credits").ports.available | dut.credits.any(), "available_only_while_one_is_free")
    h.offer(dut.words, "words")
    requested, outstanding = requests(h, dut)
    taken = [consumer(h, getattr(dut, name), name) for name in outputs]
    decoded, ahead, late, short, odd, start, size = (
        part.signal(name) for name in ("decoded", "ahead", "late", "short", "odd", "start", "size")
    )
    h.invariant(~decoded | (odd == (start[0] & size.any())), "odd_if_it_starts_at_a_high_half")
    h.invariant(ahead[-1] | ~(late & short) | (ahead > 0), "no_pair_is_of_another_vertex_alone")
    pair = part.part("fifo").ports.output
    left = h.net(pair.valid & pair.ready, "pair_left")
    account(h, part, requested=requested, taken=left, queues={"half_fifo": 0, "fifo": outstanding}, depth=DEPTH)
    h.prove(~dut.idle | ~dut.command.valid, "idle_only_with_nothing_to_request")
    return h, part, requested, left, taken


def _reads(kind: Any, outputs: Sequence[str]) -> Harness:
    """Return the harness of what a reader reads: of a word, chosen by the solver, in edges that are left.

    Claim: Of each vertex exactly the aligned pairs with an edge of its own are read, in order and once, and beside each
    is kept which halves are its edges; `idle` is high only if every pair was requested.
    """
    h, part, requested, _, _ = _expander(kind, outputs)
    dut = part.ports
    decoded, ahead, pointer, late, short, start, size = (
        part.signal(name) for name in ("decoded", "ahead", "pointer", "late", "short", "start", "size")
    )
    word_taken = h.net(dut.words.valid & dut.words.ready, "word_taken")
    word = data.View(GraphWord, dut.words.payload)
    owed, before = h.register(32, "owed"), h.register(32, "before")
    watching, edge, left = h.register(1, "watching"), h.register(32, "edge"), h.register(31, "left")
    h.m.d.sync += owed.eq(owed + Mux(word_taken, _pairs(word.start, word.degree), 0) - requested)
    own = h.net(watching & (before == 0) & requested, "read_of_watched")
    halves = h.net(Cat(~edge[0], edge[0] | (left > 1)), "halves_of_watched")
    edges = 1 + halves.all()
    with h.m.If(~watching & word_taken & h.free(1, "choose") & word.degree.any()):
        h.m.d.sync += [watching.eq(1), edge.eq(word.start), left.eq(word.degree), before.eq(owed - requested)]
    with h.m.Elif(own):
        h.m.d.sync += [watching.eq(left != edges), edge.eq(edge + edges), left.eq(left - edges)]
    with h.m.Elif(watching & requested):
        h.m.d.sync += before.eq(before - 1)

    command, kept = dut.command.payload, part.part("half_fifo").ports.input
    is_pair = (command.base == dut.neighbours) & (command.size == SIZE_8) & (command.tag == Tag.NEIGHBOUR_ID)
    h.prove(~requested | is_pair, "reads_pairs_of_neighbour_ids")
    h.prove(~requested | (owed > 0), "reads_nothing_that_no_vertex_has")
    h.prove(~own | (command.index == edge[1:]), "reads_the_aligned_pairs_of_a_vertex_in_order")
    h.prove(~own | (kept.valid & (kept.payload == halves)), "the_halves_that_count_are_the_vertex_s_edges")
    h.prove(~dut.idle | (owed == 0), "idle_only_when_every_pair_was_requested")
    expanding = ~ahead[-1]
    now = h.net(Mux(expanding, (ahead + 1)[:32], 0), "pairs_of_expanded")
    waits = Mux(decoded, _pairs(start, size), 0)
    h.invariant(owed == (now + waits)[:32], "what_is_owed_is_decoded_or_expanding")
    is_waiting = decoded & (before == now) & (start == edge) & (size == left)
    at = expanding & (before == 0) & (pointer == edge[1:]) & (now == _pairs(edge, left)) & (late == edge[0])
    is_expanding = at & (short == (edge[0] ^ left[0]))
    h.invariant(~watching | ((left > 0) & (is_waiting | is_expanding)), "the_watched_word_is_decoded_or_expanding")
    return h


def _reader(kind: Any, outputs: Sequence[str], register: str) -> Harness:
    """Return the harness of a reader of pairs, of which the solver chooses one to watch.

    Parameters
    ----------
    kind : type
        The reader's class.
    outputs : sequence of str
        Its streams of ids: one for both halves, the low one first, or one for each.
    register : str
        The reader's register for what of a pair has left.
    """
    h, part, requested, left, taken = _expander(kind, outputs)
    dut = part.ports
    ids = [getattr(dut, name) for name in outputs]
    pairs, kept = part.part("fifo"), part.part("half_fifo")
    pair, counts = pairs.ports.output, kept.ports.output
    h.prove(left == (counts.valid & counts.ready), "a_pair_and_its_halves_leave_together")
    answer = watch(h, pairs, "pair", pushed=dut.response.valid, popped=left, entry=dut.response.payload)
    half = watch(h, kept, "halves", pushed=requested, popped=left, entry=kept.ports.input.payload)
    h.invariant(~half.watching | half.value.any(), "some_half_counts")

    # Answers come in the order of the reads. So what is first in both queues is one pair.
    first = h.net(answer.first & half.first, "watched_pair_is_first")
    gone = h.register(2, "gone")
    if len(ids) > 1:
        here = Cat(taken)
        offered = Cat(output.valid for output in ids)
        right = [output.payload == answer.value.word_select(lane, 32) for lane, output in enumerate(ids)]
    else:
        here = Cat(lower := h.net(half.value[0] & ~gone[0], "low_half_is_next"), ~lower) & taken[0].replicate(2)
        offered = Cat(lower, ~lower) & ids[0].valid.replicate(2)
        right = [ids[0].payload == answer.value.word_select(lane, 32) for lane in range(2)]
    h.m.d.sync += gone.eq(Mux(left | ~first, 0, gone | here))
    open_ = h.net(half.value & ~gone, "open_halves")
    there = first & pair.valid & counts.valid
    h.prove(~first | ((offered & ~open_) == 0), "only_halves_that_count_leave_and_once")
    for lane, name in enumerate(("low", "high")):
        h.prove(~(first & offered[lane]) | right[lane], f"the_{name}_id_is_the_{name}_half")
    waits = open_ & ~offered if len(ids) > 1 else ~offered.any()
    h.prove(~there | ~waits.any(), "what_is_open_is_offered_at_once")
    h.prove(~(first & left) | ((gone | here) == half.value), "a_pair_leaves_with_the_last_of_its_ids")
    sent = part.signal(register)
    h.invariant(~sent.any() | (pair.valid & counts.valid), "what_has_left_is_of_a_pair_that_is_there")
    if len(ids) > 1:
        h.invariant(~first | (sent == gone), "what_has_left_is_known")
        h.invariant(~sent.any() | (((sent & ~counts.payload) == 0) & (sent != counts.payload)), "something_is_open")
    else:
        h.invariant(~first | (Cat(sent, C(0, 1)) == gone), "what_has_left_is_known")
        h.invariant(~sent | counts.payload.all(), "the_high_half_is_open")

    resting = h.past(~dut.moving & ~requested & ~dut.response.valid, "resting")
    inside = Cat(
        part.signal("decoded"), part.signal("ahead"), part.signal("pointer"), sent, pair.valid, counts.valid, dut.idle
    )
    h.prove(~resting | h.steady(inside, "inside"), "rests_unless_moving")
    return h


def _proofs(kind: type, name: str, order: str, outputs: Sequence[str], register: str) -> tuple[Proof, ...]:
    """Return the proofs about what a reader reads, and about what it hands on, in an order."""
    return (
        Proof(name=f"{name}-reads", harness=partial(_reads, kind, outputs)),
        Proof(
            name=f"{name}-reader",
            claim="Of each pair exactly the halves that are its vertex's edges leave, once, in order of the reads, "
            f"{order}; nothing changes unless `moving`. {CLAIM}",
            harness=partial(_reader, kind, outputs, register),
        ),
    )


PROOFS = (
    *_proofs(PairReader, "pair", "the low one first", ("ids",), "second"),
    *_proofs(
        LanePairReader,
        "lane-pair",
        "each in its lane, neither waiting for the other",
        ("low", "high"),
        "earlier",
    ),
)
