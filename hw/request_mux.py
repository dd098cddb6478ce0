"""Request multiplexer: the requests of a kernel's processes onto its memory port (Attia et al. 2015, section 5.2)."""

from collections.abc import Sequence
from typing import ClassVar

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from cyscc.hw.address_generator import AddressGenerator, ReadCommand, WriteCommand
from cyscc.hw.interfaces import ReadRequest, WriteRequest

READ = "read"
"""Kind of a source that reads."""
WRITE = "write"
"""Kind of a source that writes."""


class RequestMux(wiring.Component):
    """Priority multiplexer with address generation, shared by both kinds of kernel.

    The latest process has the highest priority, since to serve it empties the queues before it. Reads and writes have
    address generators of their own behind the grant, so that a stalled read never stops a write, nor the reverse.

    Parameters
    ----------
    sources : sequence of str
        `READ` or `WRITE` per source, first process first.
    issue_interval : int
        Cycles from one grant to the next, 1 or 2; the published multiplexer needs 2. A write with `last` low is
        followed by the next one at once also then.

    Members
    -------
    source0, source1, ... : In(stream of ReadCommand or WriteCommand)
        The sources. A command is taken in the cycle in which it is granted.
    hold : In(1)
        Grant nothing.
    read : Out(stream of ReadRequest)
        Read channel of the memory port, registered.
    write : Out(stream of WriteRequest)
        Write channel of the memory port, registered.
    busy : Out(1)
        A request is on its way to the port.
    moving : Out(1)
        One moves on in this cycle.
    granted : Out(1)
        A command is taken in this cycle.
    resting : Out(1)
        Nothing is granted in this cycle because of the issue interval.
    blocked : Out(1)
        A command waits for its channel.

    Notes
    -----
    Throughput: a request every `issue_interval` cycles. Latency: `LATENCY` cycles from grant to
    port.
    """

    LATENCY: ClassVar[int] = AddressGenerator.LATENCY

    def __init__(self, *, sources: Sequence[str], issue_interval: int) -> None:
        for kind in sources:
            if kind not in (READ, WRITE):
                raise ValueError(f"a source is {READ!r} or {WRITE!r}, not {kind!r}")
        if issue_interval not in (1, 2):
            raise ValueError(f"issue_interval must be 1 or 2, not {issue_interval!r}")
        self._kinds = tuple(sources)
        self._issue_interval = issue_interval
        super().__init__(
            {
                **{
                    f"source{number}": In(stream.Signature(ReadCommand if kind == READ else WriteCommand))
                    for number, kind in enumerate(sources)
                },
                "hold": In(1),
                "read": Out(stream.Signature(ReadRequest)),
                "write": Out(stream.Signature(WriteRequest)),
                "busy": Out(1),
                "moving": Out(1),
                "granted": Out(1),
                "resting": Out(1),
                "blocked": Out(1),
            }
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        """`READ` or `WRITE` per source."""
        return self._kinds

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the arbiter and its two address generators."""
        m = Module()
        m.submodules.read_address = read_address = AddressGenerator(writes=False)
        m.submodules.write_address = write_address = AddressGenerator(writes=True)
        connect(m, read_address.request, flipped(self.read))
        connect(m, write_address.request, flipped(self.write))
        commands = {READ: read_address.command, WRITE: write_address.command}

        free = Signal()
        last = Signal(init=1)
        blocked = Signal(len(self._kinds))
        m.d.comb += [
            free.eq(~self.resting & ~self.hold),
            self.busy.eq(read_address.busy | write_address.busy),
            self.moving.eq(read_address.moving | write_address.moving),
            self.blocked.eq(blocked.any()),
        ]
        sources: list[tuple[str, stream.Interface]] = [
            (kind, getattr(self, f"source{number}")) for number, kind in enumerate(self._kinds)
        ]
        for number, (kind, source) in enumerate(sources):
            m.d.comb += blocked[number].eq(source.valid & ~commands[kind].ready)
        condition = m.If
        for kind, source in reversed(sources):
            command = commands[kind]
            with condition(source.valid & command.ready):
                m.d.comb += [source.ready.eq(free), self.granted.eq(free), command.valid.eq(free)]
                if kind == WRITE:
                    m.d.comb += last.eq(source.payload.last)
            condition = m.Elif
        for kind, command in commands.items():
            # The payload is selected without regard to readiness, which shortens its path; it only matters if
            # valid.
            condition = m.If
            for source_kind, source in reversed(sources):
                if source_kind == kind:
                    with condition(source.valid):
                        m.d.comb += command.payload.eq(source.payload)
                    condition = m.Elif
        if self._issue_interval == 2:
            m.d.sync += self.resting.eq(self.granted & last)
        return m
