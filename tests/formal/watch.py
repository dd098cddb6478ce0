"""Helpers of proofs: channels as streams, a watched entry of a queue, and invariants of queues."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Mux, Value
from amaranth.lib import stream

from tests.formal.harness import Harness, Part


@dataclass(frozen=True, kw_only=True)
class Watched:
    """An entry of a queue, chosen by the solver.

    Parameters
    ----------
    held : Signal
        Entries in the queue.
    watching : Signal
        There is such an entry.
    value : Signal
        What the entry is.
    first : Signal
        It is the one that leaves next.
    leaves : Signal
        It leaves the queue in this cycle.
    """

    held: Any
    watching: Any
    value: Any
    first: Any
    leaves: Any


def channel(h: Harness, name: str, *, valid: Any, ready: Any, payload: Sequence[Any]) -> Any:
    """Return the stream that separate signals are.

    Parameters
    ----------
    h : Harness
        The harness.
    name : str
        Name of the channel.
    valid, ready : Value
        Its handshake.
    payload : sequence of Value
        All that must be steady.
    """
    what = Cat(*payload)
    bundle: Any = stream.Signature(len(what)).create(path=(name,))
    h.m.d.comb += [bundle.valid.eq(valid), bundle.ready.eq(ready), bundle.payload.eq(what)]
    return bundle


def outlast(h: Harness, name: str, *, waiting: Any, cycles: int) -> None:
    """Claim that a condition never holds for more than this many consecutive cycles."""
    so_far = h.waited(f"{name}_so_far", width=4, waiting=waiting)
    h.prove(~Value.cast(waiting).bool() | (so_far < cycles), name)


def queue_counts(h: Harness, part: Part, name: str) -> None:
    """Add the invariants of a queue's own counters to a harness."""
    fifo = part.part("fifo")
    inner, produce, consume = (fifo.signal(register) for register in ("inner_level", "produce", "consume"))
    depth = 1 << len(produce)
    h.invariant(inner <= depth, f"{name}_memory_within_depth")
    h.invariant((produce - consume)[: len(produce)] == inner[: len(produce)], f"{name}_pointers_agree_with_level")


def watch(h: Harness, queue: Part, name: str, *, pushed: Any, popped: Any, entry: Any) -> Watched:
    """Watch some entry, chosen by the solver, from its push to its pop; adds the invariants that induction needs.

    Parameters
    ----------
    h : Harness
        The harness.
    queue : Part
        A `cyscc.hw.queue.Queue`.
    name : str
        Name of the queue.
    pushed, popped : Value
        An entry goes in, one comes out.
    entry : Value
        What goes in, by the harness's own reckoning.
    """
    fifo, output = queue.part("fifo"), queue.ports.output
    held = h.counter(f"{name}_held", width=8, up=pushed, down=popped)
    watching, ahead = h.register(1, f"{name}_watching"), h.register(8, f"{name}_ahead")
    value = h.register(len(entry), f"{name}_value")
    first = h.net(watching & (ahead == 0), f"{name}_watched_is_first")
    leaves = h.net(first & popped, f"{name}_watched_leaves")
    with h.m.If(~watching & h.free(1, f"{name}_choose") & pushed):
        h.m.d.sync += [watching.eq(1), value.eq(entry), ahead.eq(held - popped)]
    with h.m.Elif(leaves):
        h.m.d.sync += watching.eq(0)
    with h.m.Elif(watching & popped):
        h.m.d.sync += ahead.eq(ahead - 1)

    queue_counts(h, queue, name)
    awaited = h.net((held > 0) & ~output.valid, f"{name}_awaited")
    stuck = h.waited(f"{name}_stuck", width=4, waiting=awaited)
    in_time = (stuck <= 1) & ((stuck == 0) | fifo.signal("r_rdy"))
    h.invariant(~awaited | in_time, f"{name}_come_out_within_three_cycles")
    h.invariant(queue.ports.level == held, f"{name}_level_is_exact")
    h.invariant(~watching | (ahead < held), f"{name}_watched_entry_is_held")
    behind_output = h.net((ahead - output.valid)[:8], f"{name}_behind_output")
    in_memory = h.net((behind_output - fifo.signal("r_rdy"))[:8], f"{name}_place_in_memory")
    consume = fifo.signal("consume")
    address = h.net((consume + in_memory)[: len(consume)], f"{name}_watched_address")
    stored = fifo.word("storage", address, name=f"{name}_stored")
    h.invariant(
        ~watching
        | Mux(
            output.valid & (ahead == 0),
            Value.cast(output.payload) == value,
            Mux(fifo.signal("r_rdy") & (behind_output == 0), fifo.signal("r_data") == value, stored == value),
        ),
        f"{name}_watched_entry_is_at_its_place",
    )
    return Watched(held=held, watching=watching, value=value, first=first, leaves=leaves)
