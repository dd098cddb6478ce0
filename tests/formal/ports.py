"""Proofs about requests and responses between processes and port, about unvisiting, and about stations of rings."""

from functools import partial
from typing import Any

from amaranth.hdl import C, Cat, Mux, Signal, Value
from amaranth.lib import data

from cyscc.hw.address_generator import ReadCommand, WriteCommand
from cyscc.hw.interfaces import SIZE_8, ReadRequest, WriteRequest
from cyscc.hw.intersection.start_finder import StartFinder
from cyscc.hw.intersection.unvisit_writer import UnvisitWriter
from cyscc.hw.port_share import PortShare
from cyscc.hw.registers import NO_START
from cyscc.hw.request_mux import READ, WRITE, RequestMux
from cyscc.hw.response_decoder import ResponseDecoder
from cyscc.hw.ring_master import RingMaster
from tests.formal.harness import Harness, Part, opened
from tests.formal.proof import Proof


def unvisit_writer() -> Harness:
    """Return the harness of `UnvisitWriter`.

    Claim: Each vertex outside the component causes one write, of its word with the visited flag cleared.
    """
    h, _, dut = opened(UnvisitWriter(), constant=["words", "transposed_words"])
    stream = dut.outsiders
    h.offer(stream, "outsiders")
    h.m.d.comb += dut.command.ready.eq(h.free(1, "ready"))
    granted = dut.command.valid & dut.command.ready
    h.prove(granted == (stream.valid & stream.ready), "one_write_for_each_outsider")
    word = stream.payload.word & ~C(1, 64)
    right = (dut.command.payload.data == word) & (dut.command.payload.size == SIZE_8)
    h.prove(~granted | right, "only_the_flag_is_cleared")
    h.obeys_stream_rules(dut.command, "command")
    return h


def response_decoder() -> Harness:
    """Return the harness of `ResponseDecoder`.

    Claim: Each response is delivered to the process of its tag and to no other.
    """
    h, _, dut = opened(ResponseDecoder(4))
    response = h.free(dut.response.payload.shape(), "response")
    valid = h.free(1, "valid")
    h.m.d.comb += [dut.response.valid.eq(valid), dut.response.payload.eq(response)]
    for tag in range(4):
        process = getattr(dut, f"process{tag}")
        h.prove(process.valid == (valid & (response.tag == tag)), f"process{tag}_has_the_responses_with_its_tag")
        h.prove(~process.valid | (process.payload == response.data), f"process{tag}_has_their_data")
    return h


def port_share() -> Harness:
    """Return the harness of `PortShare`: two kernels that obey the rules, an owner that changes between runs.

    Claim: Only the owner's requests are passed on, unchanged, and only the owner gets responses; the stream rules hold
    while the owner does not change.
    """
    h, _, dut = opened(PortShare())
    owns = h.free(1, "intersection_owns")
    h.m.d.comb += dut.intersection_owns.eq(owns)
    users = (dut.bfs, dut.intersection)
    for name in ("read", "write"):
        channel = getattr(dut.port, name)
        h.m.d.comb += channel.ready.eq(h.free(1, f"{name}_ready"))
        for which, user in zip(("bfs", "intersection"), users, strict=True):
            source = getattr(user, name)
            h.offer(source, f"{which}_{name}")
            mine = owns if which == "intersection" else ~owns
            left, entered = source.valid & source.ready, channel.valid & channel.ready
            same = Value.cast(channel.payload) == Value.cast(source.payload)
            h.prove(left == (entered & mine), f"{which}_{name}s_leave_while_it_owns_the_port")
            h.prove(~left | same, f"{which}_{name}s_leave_unchanged")
        h.assume(
            ~h.past(channel.valid, f"{name}_valid") | h.steady(owns, f"{name}_owner"), f"no_change_of_owner_on_a_{name}"
        )
        h.obeys_stream_rules(channel, name)
    answer, flushed = h.free(1, "response_valid"), h.free(1, "flushed")
    h.m.d.comb += [dut.port.response.valid.eq(answer), dut.port.flushed.eq(flushed)]
    for which, user in zip(("bfs", "intersection"), users, strict=True):
        mine = owns if which == "intersection" else ~owns
        h.prove(user.response.valid == (answer & mine), f"{which}_hears_responses_while_it_owns_the_port")
        h.prove(user.flushed == (flushed & mine), f"{which}_hears_of_its_flush")
    return h


def start_finder() -> Harness:
    """Return the harness of `StartFinder`: any rejections and any tokens.

    Claim: A station of the intersection forwards any token within one cycle; an empty token gets the first vertex that
    was found in this run.
    """
    h, part, dut = opened(StartFinder())
    token = h.free(dut.token_in.payload.shape(), "token")
    vertex, rejected, start = dut.rejected_vertex, dut.rejected, dut.start
    h.drive(h.free, dut, "start", "rejected", "rejected_vertex", "done", "epoch")
    h.m.d.comb += [dut.token_in.valid.eq(h.free(1, "token_valid")), dut.token_in.payload.eq(token)]
    found = h.flag("found_one", set=rejected & ~start, clear=start)
    first = h.register(32, "first_found")
    with h.m.If(rejected & ~start & ~found):
        h.m.d.sync += first.eq(vertex)
    current = token.epoch == dut.epoch
    arrived = h.past(dut.token_in.valid, "arrived")
    offers = h.net(found & current & (token.value == NO_START), "offers")
    value = h.past(Mux(offers, first, token.value), "value")
    h.prove(dut.token_out.valid == arrived, "the_token_leaves_a_cycle_after_it_came")
    h.prove(~arrived | (dut.token_out.payload.value == value), "an_empty_token_takes_the_first_vertex_found")
    finished = h.past(token.done & dut.done & current, "finished")
    h.prove(~arrived | (dut.token_out.payload.done == finished), "done_stays_only_if_this_run_is_finished")
    h.invariant(part.signal("found") == found, "found_agrees")
    h.invariant(~found | (part.signal("vertex") == first), "vertex_agrees")
    return h


def follower() -> Harness:
    """Return the harness of a `RingMaster` in an AE that does not lead: any tokens.

    Claim: In an AE other than AE 0, every token passes unchanged; none is created or removed.
    """
    stages = 2
    h, _, dut = opened(RingMaster(stages=stages, initial=0))
    token = h.free(dut.ring_in.payload.shape(), "token")
    valid = h.free(1, "valid")
    h.m.d.comb += [
        dut.start.eq(h.free(1, "start")),
        dut.ring_in.valid.eq(valid),
        dut.ring_in.payload.eq(token),
    ]
    then, what = valid, Value.cast(token)
    for stage in range(stages):
        then, what = h.past(then, f"valid_{stage}"), h.past(what, f"token_{stage}")
    h.prove(dut.ring_out.valid == then, "a_token_leaves_after_its_stages_and_no_other_does")
    h.prove(~then | (Value.cast(dut.ring_out.payload) == what), "it_leaves_as_it_came")
    h.prove(~dut.running, "no_run_is_its_own")
    return h


BFS_SOURCES = (READ, READ, READ, WRITE)
"""Sources of the BFS kernel's multiplexer."""
INTERSECTION_SOURCES = (READ, READ, READ, WRITE, WRITE)
"""Sources of the intersection kernel's multiplexer."""


def expected_request(h: Harness, command: Any, name: str, *, writes: bool) -> Any:
    """Return the request that a command asks for: element `index` of the array at `base`, of 4 or 8 bytes."""
    request = Signal(WriteRequest if writes else ReadRequest, name=name)
    h.m.d.comb += [
        request.address.eq(command.base + Mux(command.size, Cat(C(0, 3), command.index), Cat(C(0, 2), command.index))),
        request.size.eq(command.size),
        request.data.eq(command.data) if writes else request.tag.eq(command.tag),
    ]
    return request


class _Channel:
    """A channel of the port, with the requests that are due on it by the commands granted so far.

    Parameters
    ----------
    h : Harness
        Where it is.
    generator : Part
        The channel's address generator.
    name : str
        `READ` or `WRITE`.
    port : stream
        The channel's output.
    ready : Value
        The port takes a request.
    """

    def __init__(self, h: Harness, *, generator: Part, name: str, port: Any, ready: Value) -> None:
        self.name = name
        self.ready = ready
        self.port = port
        self.command = generator.ports.command
        writes = name == WRITE
        staged = generator.signal("staged__valid")
        staged_command = data.View(WriteCommand if writes else ReadCommand, generator.signal("staged__payload"))
        granted = h.net(self.command.valid & self.command.ready, f"{name}_granted")
        left = h.net(port.valid & ready, f"{name}_left")
        self.inside = h.counter(f"{name}s_inside", width=4, up=granted, down=left)
        layout = WriteRequest if writes else ReadRequest
        due = [Signal(layout, name=f"{name}_due_{place}") for place in range(2)]
        asked = expected_request(h, self.command.payload, f"{name}_asked", writes=writes)
        place = h.net((self.inside - left)[:4], f"{name}_place")
        with h.m.If(left):
            h.m.d.sync += due[0].eq(due[1])
        for number, request in enumerate(due):
            with h.m.If(granted & (place == number)):
                h.m.d.sync += request.eq(asked)
        h.prove(~port.valid | (self.inside > 0), f"no_{name}_that_was_not_granted")
        h.prove(~port.valid | (port.payload == due[0]), f"{name}s_leave_as_granted_and_in_order")
        h.prove(self.inside <= 2, f"no_{name}_is_lost_for_want_of_room")
        h.obeys_stream_rules(port, f"{name}_port")
        h.prove(self.command.ready | ~ready, f"a_ready_port_makes_room_for_a_{name}")
        h.prove(self.command.ready | (self.inside == 2), f"{name}s_stop_only_when_two_wait")
        last = expected_request(h, staged_command, f"{name}_staged", writes=writes)
        h.invariant(self.inside == staged + port.valid, f"{name}s_inside_are_in_the_registers")
        h.invariant(
            ~staged | (last.as_value() == Mux(port.valid, due[1].as_value(), due[0].as_value())),
            f"staged_{name}_is_due",
        )


def request_mux(sources: tuple[str, ...], *, issue_interval: int) -> Harness:
    """Return the harness of `RequestMux`: sources that obey the stream rules, a port that stalls as it likes.

    Parameters
    ----------
    sources : tuple of str
        `READ` or `WRITE` per source.
    issue_interval : int
        Cycles from one grant to the next.
    """
    h, part, dut = opened(RequestMux(sources=sources, issue_interval=issue_interval))
    hold = h.free(1, "hold")
    h.m.d.comb += dut.hold.eq(hold)
    commands = []
    for number, kind in enumerate(sources):
        source = getattr(dut, f"source{number}")
        h.offer(source, f"source{number}")
        commands.append((kind, source))
    channels = {}
    for name in (READ, WRITE):
        ready = h.free(1, f"{name}_ready")
        port = getattr(dut, name)
        h.m.d.comb += port.ready.eq(ready)
        generator = part.part(f"{name}_address")
        channels[name] = _Channel(h, generator=generator, name=name, port=port, ready=ready)
    h.prove(dut.busy == Cat(*(channel.inside for channel in channels.values())).any(), "busy_while_one_is_inside")
    _grants(h, dut, commands, channels, hold=hold, issue_interval=issue_interval)
    return h


def _grants(
    h: Harness,
    dut: Any,
    commands: list[tuple[str, Any]],
    channels: dict[str, _Channel],
    *,
    hold: Value,
    issue_interval: int,
) -> None:
    """Claim that the right source is granted, and in time."""
    grants = [h.net(source.valid & source.ready, f"grant{number}") for number, (_, source) in enumerate(commands)]
    can = [h.net(source.valid & channels[kind].command.ready, f"can{n}") for n, (kind, source) in enumerate(commands)]
    for number, grant in enumerate(grants):
        later = can[number + 1 :]
        h.prove(
            ~grant | ~Cat(*later).any() if later else ~grant | can[number], f"source{number}_waits_for_later_processes"
        )
    any_grant = h.net(Cat(*grants).any(), "any_grant")
    for name, channel in channels.items():
        mine = [(grant, source) for grant, (kind, source) in zip(grants, commands, strict=True) if kind == name]
        chosen: Any = channel.command.payload.as_value()
        for grant, source in mine:
            chosen = Mux(grant, source.payload.as_value(), chosen)
        taken = channel.command.valid & channel.command.ready
        right = (taken == Cat(*(grant for grant, _ in mine)).any()) & (channel.command.payload.as_value() == chosen)
        h.prove(right, f"a_{name}_granted_is_the_{name}_taken")
    h.prove(dut.granted == any_grant, "granted_tells_of_every_grant")
    h.prove(~hold | ~any_grant, "hold_stops_grants")
    if issue_interval == 1:
        h.prove(~dut.resting, "never_rests")
    else:
        ends = Value.cast(0)
        for (kind, source), grant in zip(commands, grants, strict=True):
            ends |= grant & (source.payload.last if kind == WRITE else 1)
        h.prove(dut.resting == h.past(ends, "ends"), "rests_only_after_a_group")
        h.prove(~dut.resting | ~any_grant, "grants_nothing_while_it_rests")
    served = [source.valid & channels[kind].ready for kind, source in commands]
    waiting = h.net(Cat(*served).any() & ~hold, "waiting")
    waited = h.waited("waited", width=4, waiting=waiting & ~any_grant)
    h.prove(~waiting | any_grant | (waited < issue_interval - 1), "grants_within_the_issue_interval")
    for name, other in ((READ, WRITE), (WRITE, READ)):
        asks = Cat(*(source.valid for kind, source in commands if kind == name)).any()
        grants_of = Cat(*(grant for grant, (kind, _) in zip(grants, commands, strict=True) if kind == name)).any()
        others_stalled = ~channels[other].command.ready
        free = channels[name].ready & ~hold & ~dut.resting
        h.prove(~(asks & others_stalled & free) | grants_of, f"a_stalled_{other}_channel_stops_no_{name}")


_MUX = "tests.formal.multiplexer.RequestMux"


_CLAIM = (
    "Every granted command is sent once, in order, with the right address; later processes have priority; neither "
    "channel blocks the other; a waiting command is granted within the issue interval."
)


PROOFS = (
    Proof(name="unvisit-writer", harness=unvisit_writer),
    Proof(name="response-decoder", harness=response_decoder),
    Proof(name="port-share", harness=port_share),
    Proof(name="ring-follower", harness=follower),
    Proof(name="start-finder", harness=start_finder),
    Proof(
        name="multiplexer-bfs",
        claim=_CLAIM,
        harness=partial(request_mux, BFS_SOURCES, issue_interval=1),
    ),
    Proof(
        name="multiplexer-bfs-published",
        claim=_CLAIM,
        harness=partial(request_mux, BFS_SOURCES, issue_interval=2),
    ),
    Proof(
        name="multiplexer-intersection",
        claim=_CLAIM,
        harness=partial(request_mux, INTERSECTION_SOURCES, issue_interval=1),
    ),
    Proof(
        name="multiplexer-intersection-published",
        claim=_CLAIM,
        harness=partial(request_mux, INTERSECTION_SOURCES, issue_interval=2),
    ),
)
