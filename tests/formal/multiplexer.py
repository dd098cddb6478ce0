"""Proofs about requests on their way to the memory port: the multiplexer and its address generators."""

from functools import partial
from typing import Any

from amaranth.hdl import C, Cat, Mux, Signal, Value
from amaranth.lib import data

from cyscc.hw.address_generator import ReadCommand, WriteCommand
from cyscc.hw.interfaces import ReadRequest, WriteRequest
from cyscc.hw.request_mux import READ, WRITE, RequestMux
from tests.formal.harness import Harness, Part
from tests.formal.proof import Broken, Proof, sticks

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
    h = Harness()
    part = h.add("dut", RequestMux(sources=sources, issue_interval=issue_interval))
    dut = part.ports
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
    Proof(
        name="multiplexer-bfs",
        claim=_CLAIM,
        harness=partial(request_mux, BFS_SOURCES, issue_interval=1),
        broken=(Broken(fault=sticks("resting", at=1), place=_MUX, breaks="never_rests"),),
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
