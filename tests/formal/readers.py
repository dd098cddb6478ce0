"""Proofs about the processes that read: every response finds its place, and idle means that nothing is under way."""

from typing import Any

from amaranth.hdl import Value

from cyscc.hw.bfs.frontier_reader import FrontierReader
from cyscc.hw.bfs.neighbour_reader import NeighbourReader
from cyscc.hw.bfs.word_reader import WordReader
from cyscc.hw.intersection.classifier import Classifier
from cyscc.hw.intersection.colour_reader import ColourReader, Step
from cyscc.hw.intersection.reach_reader import ReachReader
from tests.formal.harness import Harness, Part, opened
from tests.formal.proof import Proof
from tests.formal.watch import queue_counts

DEPTH = 4
EXPANSION_DEPTH = 8
"""Of the reader of neighbours, as the preset ``test`` has it: so its proof is about those very cells."""


def consumer(h: Harness, stream: Any, name: str) -> Any:
    """Let a stream be taken at any time; return whether it is in this cycle. Claims the stream rules."""
    h.m.d.comb += stream.ready.eq(h.free(1, f"{name}_ready"))
    h.obeys_stream_rules(stream, name)
    return h.net(stream.valid & stream.ready, f"{name}_taken")


def _memory(h: Harness, response: Any, name: str, *, requested: Any) -> Any:
    """Answer requests after any delay; return how many are outstanding."""
    valid = h.free(1, f"{name}_valid")
    h.m.d.comb += [response.valid.eq(valid), response.payload.eq(h.free(64, f"{name}_data"))]
    outstanding = h.counter(f"{name}s_outstanding", width=8, up=requested, down=valid)
    h.assume(~valid | (outstanding > 0), f"{name}_only_to_a_request")
    return outstanding


def requests(h: Harness, dut: Any) -> tuple[Any, Any]:
    """Serve a process that reads one array; return whether it requests, and how many answers are outstanding."""
    requested = consumer(h, dut.command, "command")
    return requested, _memory(h, dut.response, "response", requested=requested)


def account(
    h: Harness,
    part: Part,
    *,
    requested: Any,
    taken: Any,
    queues: dict[str, Any],
    behind: Any = 0,
    depth: int = DEPTH,
) -> None:
    """Claim that work is counted rightly.

    Parameters
    ----------
    h, part : Harness, Part
        The harness, and the process.
    requested, taken : Value
        An item of work begins; it has left the process.
    queues : dict
        By name of a queue: items that have begun, and have not come to it yet.
    behind : Value
        Items that have left the queues, and not the process.
    depth : int
        The process's places.
    """
    dut = part.ports
    held = h.counter("held", width=8, up=requested, down=taken)
    for name, missing in queues.items():
        queue = part.part(name).ports
        queue_counts(h, part.part(name), name)
        h.invariant(queue.level + missing + behind == held, f"{name}_has_what_has_come")
        h.prove(~queue.input.valid | queue.input.ready, f"{name}_has_a_place_for_what_comes")
    h.prove(dut.credits + held == depth, "free_places_and_work_under_way_are_all_places")
    h.prove(~dut.idle | (held == 0), "idle_only_with_nothing_under_way")


def frontier_reader() -> Harness:
    """Return the harness of process 1 of the BFS kernel."""
    h, part, dut = opened(
        FrontierReader(depth=DEPTH, stride=3), free=["first", "start"], constant=["current_queue", "count"]
    )
    h.assume(~dut.start | dut.idle, "starts_when_idle")
    requested, outstanding = requests(h, dut)
    account(h, part, requested=requested, taken=consumer(h, dut.words, "words"), queues={"fifo": outstanding})
    h.prove(~dut.idle | ~dut.command.valid, "idle_only_with_nothing_to_request")
    return h


def neighbour_reader() -> Harness:
    """Return the harness of process 2 of the BFS kernel."""
    h, part, dut = opened(NeighbourReader(depth=EXPANSION_DEPTH), constant=["neighbours"])
    h.offer(dut.words, "words")
    requested, outstanding = requests(h, dut)
    taken = consumer(h, dut.ids, "ids")
    account(h, part, requested=requested, taken=taken, queues={"fifo": outstanding}, depth=EXPANSION_DEPTH)
    h.prove(~dut.idle | ~dut.command.valid, "idle_only_with_nothing_to_request")
    # Words taken less words whose last neighbour, if any, has been requested.
    left = h.register(32, "left")
    decoded, ahead = part.signal("decoded"), part.signal("ahead")
    word_taken = h.net(dut.words.valid & dut.words.ready, "word_taken")
    more = Value.cast(dut.words.payload[1:32])
    h.m.d.sync += left.eq(left + (more & word_taken.replicate(31)) - requested)
    size = part.signal("size")
    waits = (size & decoded.replicate(31)).as_unsigned()
    now = ((ahead + 1)[:32] & (~ahead[-1]).replicate(32)).as_unsigned()
    h.prove(~dut.idle | (left == 0), "idle_only_when_every_neighbour_was_requested")
    h.invariant(left == (waits + now)[:32], "what_is_left_is_decoded_or_expanding")
    return h


def word_reader() -> Harness:
    """Return the harness of process 3 of the BFS kernel."""
    h, part, dut = opened(WordReader(depth=DEPTH), constant=["words"])
    h.offer(dut.ids, "ids")
    requested, outstanding = requests(h, dut)
    taken = consumer(h, dut.neighbours, "neighbours")
    account(h, part, requested=requested, taken=taken, queues={"id_fifo": 0, "word_fifo": outstanding})
    return h


def reach_reader() -> Harness:
    """Return the harness of process 1 of the intersection kernel."""
    names = [f"{way}_{what}" for way in ("forward", "backward") for what in ("queue", "count")]
    h, part, dut = opened(ReachReader(depth=DEPTH, stride=3), free=["first", "start"], constant=names)
    h.assume(~dut.start | dut.idle, "starts_when_idle")
    requested, outstanding = requests(h, dut)
    taken = consumer(h, dut.entries, "entries")
    account(h, part, requested=requested, taken=taken, queues={"direction_fifo": 0, "id_fifo": outstanding})
    h.prove(~dut.idle | ~dut.command.valid, "idle_only_with_nothing_to_request")
    return h


def colour_reader() -> Harness:
    """Return the harness of process 2 of the intersection kernel."""
    h, part, dut = opened(ColourReader(depth=DEPTH), constant=["colours", "words", "transposed_words"])
    h.offer(dut.entries, "entries")
    granted = consumer(h, dut.command, "command")
    second = part.signal("step") == Step.WORD
    colour, word = h.net(granted & ~second, "colour_requested"), h.net(granted & second, "word_requested")
    colours = _memory(h, dut.colour_response, "colour", requested=colour)
    words = _memory(h, dut.word_response, "word", requested=word)
    taken = consumer(h, dut.candidates, "candidates")
    account(
        h,
        part,
        requested=colour,
        taken=taken,
        queues={"entry_fifo": second, "colour_fifo": colours, "word_fifo": words + second},
        behind=dut.candidates.valid,
    )
    return h


def classifier() -> Harness:
    """Return the harness of process 3 of the intersection kernel."""
    h, part, dut = opened(Classifier(depth=DEPTH), constant=["colours", "words", "transposed_words", "colour"])
    h.offer(dut.candidates, "candidates")
    painted = consumer(h, dut.paint, "paint")
    requested, outstanding = requests(h, dut)
    taken = consumer(h, dut.outsiders, "outsiders")
    account(h, part, requested=requested, taken=taken, queues={"entry_fifo": 0, "word_fifo": outstanding})
    done = dut.candidates.valid & dut.candidates.ready
    candidate = dut.candidates.payload
    h.prove(~done | (painted == (~candidate.coloured & candidate.met)), "painted_if_met_and_uncoloured")
    h.prove(~done | (requested == (~candidate.coloured & ~candidate.met)), "rejected_if_not_met_and_uncoloured")
    return h


CLAIM = (
    "Every response has its reserved place, whatever its delay; free places are counted exactly; `idle` is high "
    "only if nothing is requested, outstanding or stored; the outputs obey the stream rules."
)
"""What is proven of all readers."""

PROOFS = tuple(
    Proof(name=harness.__name__.replace("_", "-"), claim=CLAIM, harness=harness)
    for harness in (frontier_reader, neighbour_reader, word_reader, reach_reader, colour_reader, classifier)
)
