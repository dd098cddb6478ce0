"""Proofs about the ways into the exchange of ids and out of it, and about the barrier that tells when it is drained."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Value

from cyscc.hw.exchange.id_merger import IdMerger
from cyscc.hw.exchange.id_router import IdRouter
from cyscc.hw.exchange.reading_barrier import ReadingBarrier, ReadingGatherer
from cyscc.hw.exchange.wires import PLANES, owner_bits
from tests.formal.faults import breaking, driven, spoiled, sticks
from tests.formal.harness import Harness
from tests.formal.proof import Proof

KERNELS = 4
READERS = 2


def router() -> Harness:
    """Return the harness of `IdRouter`: pairs of any ids, slices with room at any time, and an id that is watched."""
    h = Harness()
    dut: Any = h.add("dut", IdRouter(kernels=KERNELS, lanes=2)).ports
    lanes = [dut.ids0, dut.ids1]
    for lane, ids in enumerate(lanes):
        h.offer(ids, f"ids{lane}")
    watched = h.constant(32, "watched")
    taken = [h.net(ids.valid & ids.ready, f"taken{lane}") for lane, ids in enumerate(lanes)]
    here = []
    for number, plane in enumerate(PLANES):
        sent = getattr(dut, f"sent_{plane}")
        room = h.free(KERNELS, f"room_{plane}")
        h.m.d.comb += getattr(dut, f"room_{plane}").eq(room)
        leaves = h.net(sent.valid & (room >> owner_bits(sent.id, KERNELS))[0], f"leaves_{plane}")
        h.prove(~sent.valid | (sent.id[0] == number), f"{plane}_ids_go_in_the_{plane}_plane")
        stalled = h.past(sent.valid & ~leaves, f"stalled_{plane}")
        h.prove(~stalled | (sent.valid & h.steady(sent.id, f"sent_{plane}")), f"{plane}_waits_unchanged")
        wants = [ids.valid & (ids.payload[0] == number) for ids in lanes]
        h.prove(
            ~(Cat(wants).any() & (leaves | ~sent.valid))
            | Cat(took & want for took, want in zip(taken, wants, strict=True)).any(),
            f"{plane}_takes_one_whenever_it_can",
        )
        h.prove(~(taken[1] & wants[0] & wants[1]), f"{plane}_first_stream_goes_first")
        here.append((h.net(sent.valid & (sent.id == watched), f"here_{plane}"), leaves))
    came = Cat(took & (ids.payload == watched) for took, ids in zip(taken, lanes, strict=True))
    left = Mux(watched[0], here[1][0] & here[1][1], here[0][0] & here[0][1])
    held = h.counter("held", width=3, up=came[0] + came[1], down=left)
    h.prove(held == Mux(watched[0], here[1][0], here[0][0]), "every_id_is_sent_once_as_it_came")
    valid = Cat(dut.sent_even.valid, dut.sent_odd.valid)
    h.prove(dut.idle == ~valid.any(), "idle_if_no_id_is_held")
    resting = h.past(~dut.moving, "resting")
    h.prove(~resting | h.steady(valid, "valid"), "rests_unless_moving")
    return h


def merger() -> Harness:
    """Return the harness of `IdMerger`: any ids of both planes, and one that is watched."""
    h = Harness()
    part = h.add("dut", IdMerger())
    dut: Any = part.ports
    watched = h.constant(32, "watched")
    h.m.d.comb += dut.ids.ready.eq(h.free(1, "ready"))
    taken: dict[str, Any] = {}
    for plane in PLANES:
        ids = getattr(dut, plane)
        h.offer(ids, plane)
        taken[plane] = h.net(ids.valid & ids.ready, f"taken_{plane}")
    leaves = h.net(dut.ids.valid & dut.ids.ready, "leaves")
    came = Cat(taken[plane] & (getattr(dut, plane).payload == watched) for plane in PLANES)
    held = h.counter("held", width=3, up=came[0] + came[1], down=leaves & (dut.ids.payload == watched))
    h.prove(held == (dut.ids.valid & (dut.ids.payload == watched)), "every_id_goes_on_once_as_it_came")
    free = ~dut.ids.valid | leaves
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
    inside = Cat(dut.ids.valid, Value.cast(dut.ids.payload), part.signal("turn"))
    h.prove(~resting | h.steady(inside, "inside"), "rests_unless_moving")
    return h


def barrier() -> Harness:
    """Return the harness of a `ReadingBarrier` for each of two kernels, and the `ReadingGatherer` between them.

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


def sends_in_the_other_plane(self: IdRouter, m: Module) -> None:
    """Change bit 0 of an id on its way."""
    m.d.sync += self.sent_even.id[0].eq(1)


def offers_an_id_again(self: IdRouter, m: Module) -> None:
    """Never free the register of the odd plane."""
    with m.If(self.sent_odd.valid):
        m.d.sync += self.sent_odd.valid.eq(1)


def takes_the_second_first(self: IdRouter, m: Module) -> None:
    """Take an id of the second stream whenever the register is free."""
    m.d.comb += self.ids1.ready.eq(Mux(self.ids1.payload[0], driven(m, "free_odd"), driven(m, "free_even")))


def replaces_what_waits(self: IdRouter, m: Module) -> None:
    """Let an even id that waits for room lose its upper bits."""
    with m.If(self.sent_even.valid):
        m.d.sync += self.sent_even.id[8:].eq(0)


def drops_what_waits(self: IdRouter, m: Module) -> None:
    """Let an odd id that waits for room lose its upper bits."""
    with m.If(self.sent_odd.valid):
        m.d.sync += self.sent_odd.id[8:].eq(0)


def sends_odd_ones_in_the_even_plane(self: IdRouter, m: Module) -> None:
    """Clear bit 0 of an id on its way."""
    m.d.sync += self.sent_odd.id[0].eq(0)


def serves_only_the_even_plane(self: IdMerger, m: Module) -> None:
    """Let odd ids wait as long as there are even ones."""
    m.d.comb += driven(m, "odd").eq(self.odd.valid & ~self.even.valid)


def serves_only_the_odd_plane(self: IdMerger, m: Module) -> None:
    """Let even ids wait as long as there are odd ones."""
    m.d.comb += driven(m, "odd").eq(self.odd.valid)


def loses_a_bit(self: IdMerger, m: Module) -> None:
    """Clear the lowest bit of an id."""
    m.d.sync += self.ids.payload[0].eq(0)


def forgets_the_exchange(self: ReadingGatherer, m: Module) -> None:
    """Take the exchange as empty."""
    m.d.sync += self.drained.eq(Cat(~self.read_epoch.any(), self.read_epoch.all()))


def takes_one_for_all(self: ReadingGatherer, m: Module) -> None:
    """Look at the first kernel only."""
    m.d.sync += self.drained.eq(Mux(self.exchange_busy.any(), 0, Cat(~self.read_epoch[0], self.read_epoch[0])))


_ROUTER, _MERGER = f"{__name__}.IdRouter", f"{__name__}.IdMerger"
_BARRIER, _GATHERER = f"{__name__}.ReadingBarrier", f"{__name__}.ReadingGatherer"

PROOFS = (
    Proof(
        name="id-router",
        claim="Every id of process 2 is sent once and unchanged, in the plane of its bit 0; of two ids of a plane the "
        "first goes first, and one goes whenever the plane is free.",
        harness=router,
        depth=1,
        broken=(
            *spoiled(
                _ROUTER,
                even_ids_go_in_the_even_plane=sends_in_the_other_plane,
                odd_ids_go_in_the_odd_plane=sends_odd_ones_in_the_even_plane,
                even_waits_unchanged=replaces_what_waits,
                odd_waits_unchanged=drops_what_waits,
                even_takes_one_whenever_it_can=sticks("ids0.ready", at=0),
                odd_takes_one_whenever_it_can=sticks("ids0.ready", at=0),
                even_first_stream_goes_first=takes_the_second_first,
                odd_first_stream_goes_first=takes_the_second_first,
                every_id_is_sent_once_as_it_came=offers_an_id_again,
                idle_if_no_id_is_held=sticks("idle", at=1),
                rests_unless_moving=sticks("moving", at=0),
            ),
        ),
    ),
    Proof(
        name="id-merger",
        claim="Every new id of either plane goes on once and unchanged; neither plane waits for more than one id of "
        "the other.",
        harness=merger,
        depth=1,
        broken=(
            *spoiled(
                _MERGER,
                every_id_goes_on_once_as_it_came=loses_a_bit,
                takes_one_whenever_it_can=sticks("odd.ready", at=0),
                even_waits_for_one_other=serves_only_the_odd_plane,
                odd_waits_for_one_other=serves_only_the_even_plane,
                idle_if_no_id_is_held=sticks("idle", at=1),
                rests_unless_moving=sticks("moving", at=0),
            ),
            *breaking(_MERGER, "ids", registered=True),
        ),
    ),
    Proof(
        name="reading-barrier",
        claim="A kernel at work takes its ids for complete only when each kernel of its AE has started and sent all "
        "its ids, and the exchange is empty; and then within two cycles.",
        harness=barrier,
        depth=1,
        broken=(
            *spoiled(_GATHERER, kernel0_is_idle_only_when_no_id_can_come=forgets_the_exchange),
            *spoiled(_GATHERER, kernel1_is_idle_only_when_no_id_can_come=takes_one_for_all),
            *spoiled(
                _BARRIER,
                kernel0_knows_it_soon=sticks("idle", at=0),
                kernel0_moves_while_it_waits=sticks("moving", at=0),
            ),
            *spoiled(_GATHERER, drained_changes_only_if_it_says_so=sticks("moving", at=0)),
        ),
    ),
)
