"""Watching an entry through a queue, or through a bank of queues."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Array, Cat, Const, Mux, Value
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


DEPTH = 4
"""Depth of a bank in proofs, the least that there is."""
_ORDER = (1, 2, 5, 3, 7, 6, 4)
"""Places of a memory of this depth, in the order in which they are filled and emptied."""


def _looked_up(table: Mapping[int, int], key: Any) -> Value:
    """Return what a table has of a key, in gates: Yosys would make a memory of cases, whose content induction forgets.

    Parameters
    ----------
    table : mapping of int to int
        The table.
    key : Value
        The key.
    """
    bits = max(table.values()).bit_length()
    return Cat(Cat(key == each for each, value in table.items() if value >> bit & 1).any() for bit in range(bits))


@dataclass(frozen=True, kw_only=True)
class WatchedBank:
    """The entries of a bank, and one of them that is chosen by the solver.

    Parameters
    ----------
    held : list of Signal
        By queue: entries that came and have not gone.
    queue : Signal
        The queue of the entry that is watched.
    watching : Signal
        There is such an entry.
    value : Signal
        What the entry is.
    ahead : Signal
        Entries of its queue that go before it.
    outside : Signal
        It was read and has not gone.
    """

    held: list[Any]
    queue: Any
    watching: Any
    value: Any
    ahead: Any
    outside: Any


def watch_bank(
    h: Harness,
    bank: Part,
    name: str,
    *,
    pushed: Value,
    entries: Sequence[Any],
    gone: Value,
    outside: Value,
    queue: Any = None,
    choose: Any = None,
) -> WatchedBank:
    """Watch some entry, chosen by the solver, from its push until it has gone; adds the invariants of induction.

    Parameters
    ----------
    h : Harness
        The harness.
    bank : Part
        A `cyscc.hw.queue_bank.QueueBank`.
    name : str
        Name of the bank.
    pushed : Value
        By queue: an entry goes in.
    entries : sequence of Value
        What goes in, by the harness's own reckoning.
    gone : Value
        By queue: one of its entries goes, in the order of their coming.
    outside : Value
        By queue: an entry was read and has not gone.
    queue : Signal, optional
        Number of the queue whose entry is watched, a constant; the solver chooses otherwise.
    choose : Value, optional
        What goes into this queue is the entry to watch; the solver chooses otherwise.
    """
    dut = bank.ports
    capacity, bits = dut.capacity, len(_ORDER).bit_length()
    queues, width = len(entries), len(Value.cast(entries[0]))
    held = [h.counter(f"{name}_held{n}", width=bits + 2, up=pushed[n], down=gone[n]) for n in range(queues)]
    if queue is None:
        queue = h.constant(range(queues), f"{name}_queue")
        h.assume(queue < queues, f"{name}_queue_exists")
    watching, ahead = h.register(1, f"{name}_watching"), h.register(bits + 2, f"{name}_ahead")
    value = h.register(width, f"{name}_value")
    leaves = gone.bit_select(queue, 1)
    if choose is None:
        choose = h.free(1, f"{name}_choose")
    with h.m.If(~watching & choose & pushed.bit_select(queue, 1)):
        h.m.d.sync += [watching.eq(1), value.eq(Array(entries)[queue]), ahead.eq(Array(held)[queue] - leaves)]
    with h.m.Elif(leaves):
        h.m.d.sync += [watching.eq(watching & (ahead != 0)), ahead.eq(ahead - 1)]

    ranks = {place: rank for rank, place in enumerate(_ORDER)}
    places = dict(enumerate(3 * _ORDER))
    h.invariant((dut.pulling & (dut.pulling - 1)[:queues]) == 0, f"{name}_one_is_read_at_most")
    for n in range(queues):
        first, end, place, count = (bank.signal(f"{word}{n}") for word in ("first", "end", "place", "count"))
        reads, rank = dut.pulling[n], h.net(_looked_up(ranks, first), f"{name}_rank{n}")
        h.invariant(count + outside[n] == held[n], f"{name}_count{n}_is_exact")
        h.invariant(count >= reads, f"{name}_reads_what_queue{n}_holds")
        h.invariant(dut.available[n] == (count > reads), f"{name}_queue{n}_is_available")
        h.invariant((first != 0) & (end != 0), f"{name}_pointers{n}_are_no_place_0")
        h.invariant(end == _looked_up(places, rank + count - reads), f"{name}_pointers{n}_agree_with_count")
        h.invariant(
            place == Mux(reads, _looked_up(places, rank + capacity - 1), 0), f"{name}_place{n}_is_behind_the_first"
        )
        here = watching & (queue == n)
        its = h.net(_looked_up(places, rank + capacity + ahead - outside[n] - reads), f"{name}_place_of_watched{n}")
        stored = Value.cast(bank.word(f"entries{n}", its, name=f"{name}_stored{n}"))
        h.invariant(~here | (ahead < held[n]), f"{name}_watched_entry_of_queue{n}_is_held")
        h.invariant(~here | (outside[n] & (ahead == 0)) | (stored == value), f"{name}_stored_in_queue{n}_unaltered")
        unused = Value.cast(bank.word(f"entries{n}", Const(0, bits), name=f"{name}_unused{n}"))
        h.invariant(unused == 0, f"{name}_place_0_of_queue{n}_is_zero")
    out = h.net(watching & (ahead == 0) & outside.bit_select(queue, 1), f"{name}_watched_entry_is_outside")
    return WatchedBank(held=held, queue=queue, watching=watching, value=value, ahead=ahead, outside=out)


def watch_queues(
    h: Harness, queues: Part, name: str, *, pushed: Value, entries: Sequence[Any], taken: Value
) -> WatchedBank:
    """Watch some entry, chosen by the solver, from its push until it is taken from the output.

    Parameters
    ----------
    h : Harness
        The harness.
    queues : Part
        A `cyscc.hw.arbitrated_queues.ArbitratedQueues`.
    name : str
        Name of the queues.
    pushed : Value
        By queue: an entry goes in.
    entries : sequence of Value
        What goes in, by the harness's own reckoning.
    taken : Value
        The consumer takes an entry if there is one.
    """
    output, source, bank = queues.ports.output, queues.ports.source, queues.part("bank")
    shown = h.net(Cat(output.valid & (source == n) for n in range(len(entries))), f"{name}_shown")
    gone = h.net(Mux(taken, shown, 0), f"{name}_gone")
    watched = watch_bank(h, bank, name, pushed=pushed, entries=entries, gone=gone, outside=shown)
    shows = Value.cast(output.payload)
    h.invariant(~watched.outside | (shows == watched.value), f"{name}_output_unaltered")
    h.invariant(~output.valid | shown.any(), f"{name}_source_exists")
    h.invariant(output.valid | (shows == 0), f"{name}_output_is_zero_without_an_entry")
    return watched


def relate_room(h: Harness, bank: Part, name: str, *, pushed: Value, heeds: Value) -> None:
    """Add the invariants by which a queue never overflows whose writer pushes only what had room a cycle before.

    Parameters
    ----------
    h : Harness
        The harness.
    bank : Part
        A `cyscc.hw.queue_bank.QueueBank`.
    name : str
        Name of the bank.
    pushed : Value
        By queue: an entry goes in.
    heeds : Value
        By queue: its writer has always heeded the room.
    """
    room = bank.ports.room
    had_room = h.past(room, f"{name}_room_before", init=-1)
    pushed_before = h.past(pushed, f"{name}_pushed")
    had_room_then = h.past(had_room, f"{name}_room_then", init=-1)
    counts = [bank.signal(f"count{n}") for n in range(len(room))]
    before = [h.past(count, f"{name}_count{n}") for n, count in enumerate(counts)]
    h.invariant(
        h.first | (room == Cat(count < bank.ports.capacity - 2 for count in before)), f"{name}_room_follows_from_counts"
    )
    for n, count in enumerate(counts):
        h.invariant(count <= before[n] + pushed_before[n], f"{name}_queue{n}_grows_by_what_was_pushed")
        h.invariant(~(heeds[n] & pushed_before[n]) | had_room_then[n], f"{name}_room{n}_was_heeded")
        h.invariant(~(heeds[n] & had_room[n]) | (before[n] < bank.ports.capacity - 1), f"{name}_queue{n}_has_a_place")
