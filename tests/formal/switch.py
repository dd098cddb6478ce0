"""Proofs about the slices of the switch: what a kernel asks of the links, and what these ask of their ports."""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Array, Cat, Const, Mux, Value

from cyscc.hw.interfaces import ADDRESS_WIDTH
from cyscc.hw.switch.kernel_slice import KernelSlice
from cyscc.hw.switch.link_slice import LinkSlice
from tests.formal.harness import Harness, Part, opened
from tests.formal.proof import Proof
from tests.formal.watch import DEPTH, outlast, queue_counts, relate_room, watch_bank, watch_queues

KERNELS = 2
LINKS = 2
LINK_BITS = (4,)
MANY_LINK_BITS = (3, 6)


def _short(address: Value, link_bits: tuple[int, ...]) -> Value:
    """Return the bits of an address that its link does not know and that are not always 0."""
    return Cat(address[bit] for bit in range(2, ADDRESS_WIDTH) if bit not in link_bits)


def link_slice() -> Harness:
    """Return the harness of `LinkSlice`: kernels that heed the room, any port, and a request that is watched.

    Claim: Each request of each kernel is offered to the port once and unaltered, in the order of its kernel, with the
    link's own address bits; a kernel that heeds the room never overflows its queue; each answer goes to the kernel of
    its tag; `busy` from the cycle after a request came until the port has taken it.
    """
    h, part, dut = opened(LinkSlice(kernels=KERNELS, link_bits=MANY_LINK_BITS, depth=DEPTH))
    read, write, response = dut.port.read, dut.port.write, dut.port.response
    h.drive(h.constant, dut, "number")
    h.drive(h.free, dut, "push")
    requests = [h.free(dut.request0.shape(), f"request{n}") for n in range(KERNELS)]
    answered, answer = h.free(1, "answered"), h.free(response.payload.shape(), "response")
    h.m.d.comb += [
        *(getattr(dut, f"request{n}").eq(request) for n, request in enumerate(requests)),
        read.ready.eq(h.free(1, "read_ready")),
        write.ready.eq(h.free(1, "write_ready")),
        response.valid.eq(answered),
        response.payload.eq(answer),
    ]
    h.assume((dut.push & ~h.past(dut.room, "room", init=-1)) == 0, "room_is_heeded")
    reads, writes = h.net(read.valid & read.ready, "reads"), h.net(write.valid & write.ready, "writes")

    queues = part.part("queues")
    entries = [Value.cast(request) for request in requests]
    relate_room(h, queues.part("bank"), "queues", pushed=dut.push, heeds=Const(-1, KERNELS))
    watched = watch_queues(h, queues, "queues", pushed=dut.push, entries=entries, taken=reads | writes)
    value = h.net(watched.value, "value")
    request: Any = dut.request0.shape()(value)
    offers = read.valid | write.valid
    address = h.net(Mux(request.write, write.payload.address, read.payload.address), "address")
    size = Mux(request.write, write.payload.size, read.payload.size)
    h.prove(~(read.valid & write.valid), "offers_one_request_at_a_time")
    h.prove(~watched.outside | Mux(request.write, write.valid, read.valid), "requests_leave_in_their_kernels_order")
    h.prove(~watched.outside | (size == request.size), "size_is_unaltered")
    h.prove(~watched.outside | ~request.write | (write.payload.data == request.data), "written_data_are_unaltered")
    h.prove(~watched.outside | request.write | (read.payload.tag == watched.queue), "a_read_names_its_kernel")
    known = Cat(address[bit] for bit in MANY_LINK_BITS) == dut.number
    whole = known & (address[:2] == 0) & (_short(address, MANY_LINK_BITS) == request.address)
    h.prove(~watched.outside | whole, "address_is_that_of_its_link")
    count = h.counter("count", width=5, up=dut.push[0] + dut.push[1], down=reads + writes)
    h.prove(~offers | (count > 0), "offers_only_what_came")
    h.prove(dut.busy == (count > 0), "busy_while_a_request_is_held")
    outlast(h, "a_request_is_out_within_three_cycles", waiting=(count > 0) & ~offers, cycles=2)
    h.obeys_stream_rules(read, "read")
    h.obeys_stream_rules(write, "write")
    h.prove(~dut.port.flush, "asks_for_no_flush")
    told = [h.past(answered & (answer.tag == n), f"answered{n}") for n in range(KERNELS)]
    h.prove(dut.answers == Cat(told), "answers_the_kernel_that_has_asked")
    h.prove((dut.answers == 0) | (dut.answer == h.past(answer.data, "data")), "answers_are_unaltered")
    h.invariant(count == watched.held[0] + watched.held[1], "count_is_that_of_its_queues")
    h.invariant(h.first | (part.signal("number") == dut.number), "it_knows_its_number")
    h.invariant(~h.first | (count == 0), "nothing_is_held_at_first")
    return h


@dataclass(frozen=True, kw_only=True)
class _Channel:
    """The reads or writes of a kernel on their way to the links, and one of them that is chosen by the solver.

    Parameters
    ----------
    taken : Signal
        One is taken from the kernel.
    held : Signal
        Those that were taken and not sent.
    kept : Signal
        The same without the one that is sent in this cycle.
    watching : Signal
        The chosen one was taken, and not sent in an earlier cycle.
    value : View
        What it is.
    first : Signal
        It is the next to leave the registers in which it waits.
    place : Signal
        Those before it in these registers.
    """

    taken: Any
    held: Any
    kept: Any
    watching: Any
    value: Any
    first: Any
    place: Any


def _watch_channel(h: Harness, part: Part, name: str, *, choose: Any) -> _Channel:
    """Watch some request of a kernel slice, chosen by the solver, from the kernel's port to the links."""
    dut: Any = part.ports
    channel, places = getattr(dut.port, name), part.part(f"{name}s")
    taken = h.net(channel.valid & channel.ready, f"{name}_taken")
    sends = h.net(dut.send.any() & (dut.request.write == (name == "write")), f"{name}_sends")
    held = h.counter(f"{name}s_held", width=3, up=taken, down=sends)
    kept = h.net((held - sends)[:3], f"{name}s_kept")
    watching, ahead = h.register(1, f"{name}_watching"), h.register(3, f"{name}_ahead")
    value: Any = channel.payload.shape()(h.register(len(Value.cast(channel.payload)), f"{name}_value"))
    goes = h.net(watching & sends & (ahead == 0), f"{name}_watched_goes")
    with h.m.If(~watching & h.free(1, f"{name}_choose") & taken & choose):
        h.m.d.sync += [watching.eq(1), value.eq(channel.payload), ahead.eq(kept)]
    with h.m.Elif(goes):
        h.m.d.sync += watching.eq(0)
    with h.m.Else():
        h.m.d.sync += ahead.eq(ahead - sends)
    first, behind = places.ports.output, places.signal("full")
    turn = places.ports.first
    second = Mux(turn, Value.cast(places.ports.even), Value.cast(places.ports.odd))
    h.invariant(kept == first.valid + behind, f"{name}s_are_kept")
    h.invariant(first.valid | (turn == places.signal("end")), f"next_{name}_is_shown_at_once")
    h.invariant(~first.valid | (places.ports.link == _link(first.payload.address)), f"link_of_{name}_is_known")
    h.invariant(~watching | (ahead < held), f"watched_{name}_is_held")
    place = h.net((ahead - sends)[:3], f"{name}_place")
    is_first = h.net(watching & ~goes & (place == 0), f"{name}_is_first")
    is_second = watching & ~goes & (place == 1)
    whole = Value.cast(value)
    h.invariant(~is_first | (Value.cast(first.payload) == whole), f"first_{name}_is_unaltered")
    h.invariant(~is_second | (second == whole), f"second_{name}_is_unaltered")
    request = dut.request
    right = (request.size == value.size) & (request.address == _short(value.address, LINK_BITS))
    if name == "write":
        right &= request.data == value.data
    right &= dut.send == Cat(_link(value.address) == n for n in range(LINKS))
    h.prove(~goes | right, f"{name}s_go_to_their_link_in_order_unaltered")
    h.prove(~sends | (held > 0), f"sends_only_{name}s_that_came")
    return _Channel(
        taken=taken, held=held, kept=kept, watching=watching & ~goes, value=value, first=is_first, place=place
    )


def _link(address: Value) -> Value:
    """Return the number of the link of an address."""
    return Cat(address[bit] for bit in LINK_BITS)


def kernel_slice() -> Harness:
    """Return the harness of `KernelSlice`: any requests, links with room at any time, and answers after any delay.

    Claim: Each request of the kernel is sent once and unaltered to the link of its address, if that had room, reads and
    writes each in their order; each read is answered once, in the order of the reads, with its tag and the answer of
    its link, four cycles after the last answer came at the latest; an answer always finds a place; `busy` until the
    last request is sent.
    """
    h, part, dut = opened(KernelSlice(link_bits=LINK_BITS, places=DEPTH))
    for name in ("read", "write"):
        channel = getattr(dut.port, name)
        h.offer(channel, name)
        h.assume(channel.payload.address[:2] == 0, f"{name}s_are_aligned")
    h.drive(h.free, dut, "room", "arrives")
    answers = [h.free(64, f"answer{n}") for n in range(LINKS)]
    h.m.d.comb += [getattr(dut, f"answer{n}").eq(answer) for n, answer in enumerate(answers)]
    sends_read = h.net(Mux(dut.request.write, 0, dut.send), "sends_read")
    asked = [h.counter(f"asked{n}", width=4, up=sends_read[n], down=dut.arrives[n]) for n in range(LINKS)]
    h.assume((dut.arrives & ~Cat(count > 0 for count in asked)) == 0, "links_answer_what_was_sent")

    link = h.constant(range(LINKS), "link")  # that of the read that is watched
    in_order, coming, back = (h.register(1, f"watched_{name}") for name in ("in_order", "coming", "back"))
    reads = _watch_channel(
        h, part, "read", choose=~(in_order | coming | back) & (_link(dut.port.read.payload.address) == link)
    )
    writes = _watch_channel(h, part, "write", choose=1)
    h.prove((dut.send & (dut.send - 1)[:LINKS]) == 0, "sends_to_one_link")
    h.prove((dut.send & ~h.past(dut.room, "room")) == 0, "sends_where_there_was_room")
    h.prove(dut.busy == ((reads.held > 0) | (writes.held > 0)), "busy_until_all_requests_are_sent")

    # Reads that were sent, in their order, until their answers are pulled: of each its link and its tag.
    bank, credits = part.part("answers"), part.part("credits")
    take, pull = h.net(part.part("reads").ports.output.ready, "take"), bank.ports.pull
    order = part.part("order")
    queue, fifo = order.ports, order.part("fifo")
    sent = h.counter("sent", width=4, up=take, down=pull.any())
    head = part.part("reads").ports.output.payload
    entry = h.net(Cat(_link(head.address), head.tag), "entry")
    capacity = bank.ports.capacity
    places = LINKS * capacity
    shadow = [h.register(len(entry), f"shadow{n}") for n in range(places)]
    out, read = queue.output.valid, fifo.signal("r_rdy")
    queue_counts(h, order, "order")
    on_its_way = queue.input.valid
    h.invariant(queue.level + on_its_way == sent, "order_has_what_was_sent")
    h.invariant(sent <= places, "order_is_never_full")
    for n, (own, following) in enumerate(zip(shadow, (*shadow[1:], shadow[-1]), strict=True)):
        comes = take & ((sent - pull.any())[:4] == n)
        h.m.d.sync += own.eq(Mux(comes, entry, Mux(pull.any(), following, own)))
        address = h.net((fifo.signal("consume") + n - out - read)[: len(fifo.signal("consume"))], f"order_address{n}")
        stored = fifo.word("storage", address, name=f"order_stored{n}")
        at_output, in_register = (out, ~out & read) if n == 0 else (Const(0), out & read if n == 1 else Const(0))
        held = Mux(
            on_its_way & (queue.level == n),
            Value.cast(queue.input.payload),
            Mux(at_output, Value.cast(queue.output.payload), Mux(in_register, fifo.signal("r_data"), stored)),
        )
        h.invariant((sent <= n) | (held == own), f"order_holds_entry{n}")

    taken = h.net(reads.first & take, "watched_taken")
    position = h.register(4, "position")
    pulled = h.net(in_order & pull.any() & (position == 0), "watched_pulled")
    h.m.d.sync += [
        in_order.eq(taken | (in_order & ~pulled)),
        position.eq(Mux(taken, sent, position) - pull.any()),
        coming.eq(pulled),
        back.eq(coming),
    ]

    pulling = bank.ports.pulling
    unanswered = [h.net(asked[n] + sends_read[n], f"unanswered{n}") for n in range(LINKS)]
    before = h.register(4, "before")  # answers of its link that come before that of the watched read
    waits = h.register(1, "waits")
    arrives = dut.arrives.bit_select(link, 1)
    arrival = h.net(waits & arrives & (before == 0), "arrival")
    h.m.d.sync += [
        waits.eq(taken | (waits & ~arrival)),
        before.eq(Mux(taken, Array(unanswered)[link], before) - arrives),
    ]
    nothing = Const(0, LINKS)
    watched = watch_bank(
        h,
        bank,
        "answers",
        pushed=dut.arrives,
        entries=answers,
        gone=pulling,
        outside=nothing,
        queue=link,
        choose=arrival,
    )
    full = Cat(count == capacity for count in watched.held)
    h.prove((dut.arrives & full) == 0, "an_answer_finds_its_place")
    for n in range(LINKS):
        used, available = credits.signal(f"used{n}"), credits.ports.available[n]
        in_use = [(sent > place) & (own[0] == n) for place, own in enumerate(shadow)]
        total = h.net(sum(in_use[1:], in_use[0]), f"total{n}")
        used_before = h.past(used, f"used{n}")
        had_credit = h.past(available, f"credit{n}", init=1)
        h.invariant(used + sends_read[n] == total + pulling[n], f"credits{n}_are_those_of_what_was_sent")
        h.invariant(used == asked[n] + watched.held[n], f"credits{n}_are_asked_or_answered")
        h.invariant(used <= capacity - sends_read[n], f"credits{n}_are_within_capacity")
        h.invariant(used <= used_before + 1, f"takes_one_credit{n}_a_cycle")
        h.invariant(h.first | (available == (used_before < capacity - 2)), f"credit{n}_is_available")
        h.invariant(~sends_read[n] | had_credit, f"credit{n}_was_available")

    response = dut.port.response
    pending = h.counter("pending", width=5, up=reads.taken, down=response.valid)
    active = h.net(reads.watching | in_order | coming | back, "watched_is_under_way")
    ahead = h.register(5, "ahead")
    with h.m.If(~active):
        h.m.d.sync += ahead.eq(pending - response.valid)
    with h.m.Else():
        h.m.d.sync += ahead.eq(ahead - response.valid)
    own = active & response.valid & (ahead == 0)
    h.prove(~response.valid | (pending > 0), "answers_only_what_was_asked")
    h.prove(~own | (response.payload.tag == reads.value.tag), "answers_come_in_order_with_their_tags")
    h.prove(~own | (response.payload.data == watched.value), "answers_have_the_data_of_their_link")

    every = dut.room.all()
    few = h.net(pending - reads.kept < capacity - 2, "few_are_under_way")
    wants_to_write = h.past((writes.kept > 0) & every, "wants_to_write")
    wants_to_read = h.past((reads.kept > 0) & (writes.kept == 0) & every & few & h.past(few, "few"), "wants_to_read")
    h.prove(~wants_to_write | (dut.send.any() & dut.request.write), "a_write_goes_if_there_is_room")
    h.prove(~wants_to_read | sends_read.any(), "a_read_goes_if_no_write_does_and_few_are_under_way")
    all_here = ~Cat(*unanswered).any() & (pending > reads.kept)
    overdue = h.net(all_here & ~response.valid, "overdue")
    so_far = h.waited("overdue_so_far", width=4, waiting=overdue)
    h.prove(~overdue | (so_far < 3), "answers_that_are_here_come_within_four_cycles")

    stage, pulled_tag = part.signal("coming"), part.signal("pulled")
    h.invariant(~overdue | (so_far < 1) | out | stage, "the_first_that_is_here_is_at_the_output")
    h.invariant(~overdue | (so_far < 2) | stage, "the_first_that_is_here_is_read")
    h.invariant((fifo.signal("inner_level") == 0) | read | Cat(*asked).any(), "what_is_on_its_way_was_just_sent")
    h.invariant(on_its_way == sends_read.any(), "what_is_sent_is_on_its_way")
    lined = h.net(
        sum(
            ((shadow[n][0] == link) & (position > n) for n in range(1, places)), (shadow[0][0] == link) & (position > 0)
        ),
        "lined",
    )
    unread = h.net((watched.ahead - pulling.bit_select(link, 1))[:4], "unread")
    to_read = h.net((Array(watched.held)[link] - pulling.bit_select(link, 1))[:4], "to_read")
    h.invariant(pending == reads.kept + sent + stage + response.valid, "pending_reads_are_somewhere")
    h.invariant(stage == pulling.any(), "an_answer_is_read_with_its_tag")
    h.invariant((in_order + coming + back + reads.watching) <= 1, "watched_read_is_at_one_place")
    h.invariant(~in_order | (position < sent), "watched_read_is_in_order")
    its = Cat(link, reads.value.tag)
    h.invariant(~active | (_link(reads.value.address) == link), "watched_read_is_of_the_link")
    h.invariant(~in_order | (Array(shadow)[position] == its), "watched_read_is_in_order_unaltered")
    h.invariant(~reads.watching | (ahead == reads.place + sent + stage + response.valid), "ahead_while_kept")
    h.invariant(~in_order | (ahead == position + stage + response.valid), "ahead_in_order")
    h.invariant(~coming | ((ahead == response.valid) & stage & (pulled_tag == reads.value.tag)), "ahead_while_coming")
    h.invariant(~back | ((ahead == 0) & response.valid & (response.payload.tag == reads.value.tag)), "ahead_at_the_end")
    h.invariant(~waits | (in_order & (before < Array(unanswered)[link])), "its_answer_is_to_come")
    h.invariant(~waits | (lined == before + to_read), "answers_before_its_own_are_to_come_or_here")
    h.invariant(~waits | ~watched.watching, "its_answer_is_not_here")
    is_here = in_order & ~waits
    h.invariant(~is_here | (watched.watching & (lined == unread)), "answers_before_its_own_are_here")
    h.invariant(~is_here | (watched.ahead >= pulling.bit_select(link, 1)), "its_answer_is_not_read_yet")
    h.invariant(~coming | (watched.watching & (watched.ahead == 0) & pulling.bit_select(link, 1)), "its_answer_is_read")
    h.invariant(~back | (response.payload.data == watched.value), "its_answer_is_shown")
    h.invariant(watched.watching == (is_here | coming), "only_its_answer_is_watched")
    return h


_LINK = f"{__name__}.LinkSlice"

PROOFS = (
    Proof(name="link-slice", harness=link_slice),
    Proof(name="kernel-slice", harness=kernel_slice),
)
