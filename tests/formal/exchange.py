"""Proofs about the ways into the exchange of ids and out of it, and about the barrier that tells when it is drained."""

from typing import Any

from amaranth.hdl import Cat, Const, Mux, Value

from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.exchange.id_merger import IdMerger
from cyscc.hw.exchange.id_router import IdRouter
from cyscc.hw.exchange.reading_barrier import ReadingBarrier, ReadingGatherer
from cyscc.hw.exchange.wires import PLANES, owner_bits, rest_bits
from tests.formal.harness import Harness, opened
from tests.formal.proof import Proof
from tests.formal.watch import DEPTH, relate_room, watch_queues

KERNELS = 4
READERS = 2


def router() -> Harness:
    """Return the harness of `IdRouter`: pairs of any ids, slices with room at any time, and an id that is watched.

    Claim: Every id of process 2 is sent once and unchanged to the slice of its owner, in the plane of its bit 0, if
    there was room; of two ids of a plane the first goes first; one goes whenever all slices have room.
    """
    h, part, dut = opened(IdRouter(kernels=KERNELS, lanes=2))
    lanes = [dut.ids0, dut.ids1]
    for lane, ids in enumerate(lanes):
        h.offer(ids, f"ids{lane}")
    watched = h.constant(32, "watched")
    owner = owner_bits(watched, KERNELS)
    taken = [h.net(ids.valid & ids.ready, f"taken{lane}") for lane, ids in enumerate(lanes)]
    claims: dict[str, list[Value]] = {}
    waiting, state = [], []
    for number, plane in enumerate(PLANES):
        send, rest = getattr(dut, f"send_{plane}"), getattr(dut, f"id_{plane}")
        room = h.free(KERNELS, f"room_{plane}")
        h.m.d.comb += getattr(dut, f"room_{plane}").eq(room)
        own = [ids.payload[0] == number for ids in lanes]
        wants = Cat(ids.valid & mine for ids, mine in zip(lanes, own, strict=True))
        came = Cat(took & mine for took, mine in zip(taken, own, strict=True))
        sends = h.net(send.any(), f"{plane}_sends")
        held = h.counter(f"{plane}_held", width=3, up=came[0] + came[1], down=sends)
        kept = h.net((held - sends)[:3], f"{plane}_kept")
        waiting.append(kept > 0)

        alike = [ids.payload == watched for ids in lanes]
        arrived = Cat(c & same for c, same in zip(came, alike, strict=True))
        here = send.bit_select(owner, 1) & (rest == watched[-rest_bits(KERNELS) :]) & (watched[0] == number)
        copies = h.counter(f"{plane}_copies", width=3, up=arrived[0] + arrived[1], down=here)
        waited = h.past((kept > 0) & room.all(), f"{plane}_waited")
        for name, claim in (
            ("an_id_goes_to_one_slice", (send & (send - 1)[:KERNELS]) == 0),
            ("an_id_goes_where_there_was_room", (send & ~h.past(room, f"room_{plane}")) == 0),
            ("sends_one_whenever_there_is_room", ~waited | sends),
            ("takes_one_whenever_it_can", ~(wants.any() & (kept < 2)) | (came & wants).any()),
            ("the_first_stream_goes_first", ~(came[1] & wants[0])),
            ("sends_what_came_to_its_owner", ~here | (copies > 0)),
            ("has_sent_all_that_came_when_idle", ~dut.idle | (copies == here)),
        ):
            claims.setdefault(name, []).append(claim)

        places = part.part(plane)
        first, second, behind = places.ports.output, places.signal("entry"), places.signal("behind")
        h.invariant(kept == first.valid + behind, f"{plane}_keeps_what_came")
        h.invariant(~behind | first.valid, f"{plane}_second_is_behind_the_first")
        copy = [first.valid & (first.payload == watched[1:]), behind & (second == watched[1:])]
        mine = watched[0] == number
        h.invariant(copies == Mux(mine, copy[0] + copy[1] + here, 0), f"{plane}_keeps_copies")
        state += [sends, rest, first.valid, first.payload, behind]
    for name, each in claims.items():
        h.prove(Cat(each).all(), name)
    h.prove(dut.idle == ~Cat(waiting).any(), "idle_if_no_id_is_held")
    resting = h.past(~dut.moving, "resting")
    h.prove(~resting | h.steady(Cat(state), "state"), "rests_unless_moving")
    return h


def exchange_slice() -> Harness:
    """Return the harness of `ExchangeSlice`: kernels that heed the room, any consumer, an id watched in each plane.

    Claim: Every id of each kernel is handed on once and unchanged, in its plane and in its kernel's order; a kernel
    that heeds the room never overflows its queue; `busy` from the cycle after an id came until it left.
    """
    h, part, dut = opened(ExchangeSlice(kernels=READERS, depth=DEPTH))
    claims: dict[str, list[Value]] = {}
    held = []
    for plane in PLANES:
        owned, queues = getattr(dut, f"owned_{plane}"), part.part(plane)
        ids = [h.free(rest_bits(READERS), f"{plane}{n}") for n in range(READERS)]
        push, ready = h.free(READERS, f"push_{plane}"), h.free(1, f"ready_{plane}")
        h.m.d.comb += [
            getattr(dut, f"push_{plane}").eq(push),
            owned.ready.eq(ready),
            *(getattr(dut, f"{plane}{n}").eq(sent) for n, sent in enumerate(ids)),
        ]
        had_room = h.past(getattr(dut, f"room_{plane}"), f"room_{plane}", init=-1)
        h.assume((push & ~had_room) == 0, f"{plane}_room_is_heeded")
        relate_room(h, queues.part("bank"), plane, pushed=push, heeds=Const(-1, READERS))
        watched = watch_queues(h, queues, plane, pushed=push, entries=ids, taken=ready)
        count = h.counter(f"{plane}_count", width=5, up=push[0] + push[1], down=owned.valid & ready)
        waits = h.net((count > 0) & ~owned.valid, f"{plane}_waits")
        so_far = h.waited(f"{plane}_so_far", width=4, waiting=waits)
        for name, claim in (
            ("ids_leave_unaltered_in_their_kernels_order", ~watched.outside | (owned.payload == watched.value)),
            ("offers_only_what_came", ~owned.valid | (count > 0)),
            ("an_id_is_out_within_three_cycles", ~waits | (so_far < 2)),
        ):
            claims.setdefault(name, []).append(claim)
        h.obeys_stream_rules(owned, f"owned_{plane}")
        h.invariant(count == watched.held[0] + watched.held[1], f"{plane}_count_is_that_of_its_queues")
        held.append(count > 0)
    for name, each in claims.items():
        h.prove(Cat(each).all(), name)
    h.prove(dut.busy == Cat(held).any(), "busy_while_an_id_is_held")
    return h


def merger() -> Harness:
    """Return the harness of `IdMerger`: any ids of both planes, and one that is watched.

    Claim: Every new id of either plane goes on once and unchanged; neither plane waits for more than one id of the
    other.
    """
    h, part, dut = opened(IdMerger(kernels=KERNELS))
    places = part.part("places")
    watched = h.constant(32, "watched")
    h.m.d.comb += [dut.ids.ready.eq(h.free(1, "ready")), dut.owner.eq(h.constant(len(dut.owner), "owner"))]
    taken: dict[str, Any] = {}
    for plane in PLANES:
        ids = getattr(dut, plane)
        h.offer(ids, plane)
        taken[plane] = h.net(ids.valid & ids.ready, f"taken_{plane}")
    leaves = h.net(dut.ids.valid & dut.ids.ready, "leaves")
    came = Cat(
        taken[plane] & (Cat(Const(number, 1), dut.owner, getattr(dut, plane).payload) == watched)
        for number, plane in enumerate(PLANES)
    )
    held = h.counter("held", width=3, up=came[0] + came[1], down=leaves & (dut.ids.payload == watched))
    behind, entry = places.signal("behind"), places.signal("entry")
    waits_behind = behind & (Cat(entry[0], dut.owner, entry[1:]) == watched)
    shown = dut.ids.valid & (dut.ids.payload == watched)
    h.prove(held == shown + waits_behind, "every_id_goes_on_once_as_it_came")
    h.invariant(dut.ids.valid | ~behind, "the_first_place_is_filled_first")
    free = ~behind
    h.prove(~(free & (dut.even.valid | dut.odd.valid)) | Cat(taken.values()).any(), "takes_one_whenever_it_can")
    for plane, other in (PLANES, PLANES[::-1]):
        waits = getattr(dut, plane).valid & ~taken[plane]
        ahead = h.counter(f"ahead_of_{plane}", width=2, up=taken[other], clear=~waits)
        h.prove(ahead <= 1, f"{plane}_waits_for_one_other")
        served = part.signal("turn") == (0 if other == "odd" else 1)
        h.invariant((ahead == 0) | (served & getattr(dut, plane).valid), f"what_waits_in_{plane}_is_next")
    h.obeys_stream_rules(dut.ids, "ids")
    h.prove(dut.idle == ~dut.ids.valid, "idle_if_no_id_is_held")
    resting = h.past(~dut.moving & ~leaves, "resting")
    inside = Cat(dut.ids.valid, Value.cast(dut.ids.payload), behind, part.signal("turn"))
    h.prove(~resting | h.steady(inside, "inside"), "rests_unless_moving")
    return h


def barrier() -> Harness:
    """Return the harness of a `ReadingBarrier` for each of two kernels, and the `ReadingGatherer` between them.

    Claim: A kernel at work takes its ids for complete only when each kernel of its AE has started and sent all its ids,
    and the exchange is empty; and then within two cycles.

    Kernels start a run one after the other, in any order. Each sends ids into the exchange until it has read all, and
    ends its run at any time from when it may; the next run begins when all have ended theirs.
    """
    h = Harness()
    gatherer: Any = h.add("gatherer", ReadingGatherer(READERS)).ports
    run = h.register(1, "run")
    content = h.register(3, "content")
    sends, ends, states = [], [], []
    for number in range(READERS):
        dut: Any = h.add(f"kernel{number}", ReadingBarrier()).ports
        busy, epoch, reading = (h.register(1, f"{name}{number}") for name in ("busy", "epoch", "reading"))
        starts = h.net(h.free(1, f"may_start{number}") & ~busy & (epoch != run), f"starts{number}")
        sending = h.net(h.free(1, f"may_send{number}") & reading & (content < 7), f"sends{number}")
        read_all = h.free(1, f"read_all{number}") & ~sending
        end = h.net(h.free(1, f"may_end{number}") & busy & dut.idle & ~reading, f"ends{number}")
        h.m.d.sync += [
            busy.eq(starts | (busy & ~end)),
            epoch.eq(epoch ^ starts),
            reading.eq(starts | (reading & ~read_all)),
        ]
        h.m.d.comb += [
            dut.busy.eq(busy),
            dut.epoch.eq(epoch),
            dut.sent.eq(~reading),
            dut.drained.eq(gatherer.drained),
            gatherer.read_epoch[number].eq(dut.read_epoch),
        ]
        sends.append(sending)
        ends.append(end)
        states.append((dut, busy, epoch, reading))
    leaves = h.net(h.free(1, "may_leave") & content.any(), "leaves")
    h.m.d.sync += content.eq(content + sum((each for each in sends[1:]), Value.cast(sends[0])) - leaves)
    h.m.d.comb += gatherer.exchange_busy.eq(content.any())
    over = Cat(~busy & (epoch == run) for _, busy, epoch, _ in states).all()
    h.m.d.sync += run.eq(run ^ (over & h.free(1, "begins")))

    nothing = Cat((epoch == run) & ~reading for _, _, epoch, reading in states).all() & (content == 0)
    all_shown = Cat(dut.read_epoch == run for dut, *_ in states).all()
    for number, (dut, busy, epoch, reading) in enumerate(states):
        h.prove(~(busy & dut.idle) | nothing, f"kernel{number}_is_idle_only_when_no_id_can_come")
        waits = h.waited(f"waits{number}", width=3, waiting=busy & nothing & ~dut.idle)
        h.prove(waits < 3, f"kernel{number}_knows_it_soon")
        h.invariant((waits < 2) | dut.idle | ~nothing, f"kernel{number}_waits_for_two_registers")
        h.prove(dut.moving == (busy & ~dut.idle), f"kernel{number}_moves_while_it_waits")
        h.invariant(~reading | (busy & (dut.read_epoch != epoch)), f"kernel{number}_reads_in_a_run")
        h.invariant(busy | (dut.read_epoch == epoch), f"kernel{number}_has_sent_all_of_a_run_that_is_over")
        h.invariant(~busy | (epoch == run), f"kernel{number}_is_at_work_in_the_run")
        h.invariant(~(busy & dut.idle) | (dut.read_epoch == epoch), f"kernel{number}_has_shown_that_it_sent_all")
        shown = h.past(busy & ~reading & ~ends[number], f"sent{number}")
        h.invariant(~shown | (dut.read_epoch == epoch), f"kernel{number}_shows_it_a_cycle_later")
        h.invariant((waits == 0) | all_shown, f"kernel{number}_waits_when_all_have_shown_it")
    changed = h.past(gatherer.moving, "changing")
    h.prove(changed | h.steady(gatherer.drained, "drained"), "drained_changes_only_if_it_says_so")
    return h


PROOFS = (
    Proof(name="id-router", harness=router, depth=1),
    Proof(name="exchange-slice", harness=exchange_slice),
    Proof(name="id-merger", harness=merger, depth=1),
    Proof(name="reading-barrier", harness=barrier, depth=1),
)
