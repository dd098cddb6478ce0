"""Round-robin arbiter: of many that ask, one at a time, in turn."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Elaboratable, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

_GROUP = 4
"""Requests that are looked at together: as many as a LUT has inputs on the smallest FPGAs."""


class RoundRobin(wiring.Component):
    """Grants the first request after the one that was granted last, in a circle.

    Parameters
    ----------
    width : int
        Requests.

    Members
    -------
    requests : In(width)
        Who asks.
    advance : In(1)
        The grant is used: the next one begins behind it.
    grant : Out(width)
        At most one bit: who is granted. A function of `requests` and registers.

    Notes
    -----
    Latency 0 cycles. Requests are looked at in groups of four, so that 16 of them take five LUTs in a row.
    """

    def __init__(self, width: int) -> None:
        if width < 1:
            raise ValueError(f"width must be at least 1, not {width!r}")
        self._width = width
        super().__init__(
            {
                "requests": In(width),
                "advance": In(1),
                "grant": Out(width),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the choice among those behind the last grant, that among all, and the register between the two."""
        m = Module()
        above = Signal(self._width)  # behind the one that was granted last
        later = Signal(self._width)
        m.d.comb += later.eq(self.requests & above)
        first, rest = _Choice(m, later, "later"), _Choice(m, self.requests, "any")
        grant, beyond = [], []
        any_later = Signal()
        m.d.comb += any_later.eq(Cat(first.filled).any())
        for number in range(len(first.groups)):
            chosen, other = first.selects(number), rest.selects(number) & ~any_later
            lower = Cat(first.selects(below) | (rest.selects(below) & ~any_later) for below in range(number)).any()
            for place in range(len(first.groups[number])):
                mine, theirs = first.groups[number], rest.groups[number]
                early, late = mine[:place].any(), theirs[:place].any()
                grant.append((chosen & mine[place] & ~early) | (other & theirs[place] & ~late))
                beyond.append(lower | (chosen & early) | (other & late))
        m.d.comb += self.grant.eq(Cat(grant))
        with m.If(self.advance & self.requests.any()):
            m.d.sync += above.eq(Cat(beyond))
        return m


class _Choice:
    """Some requests in groups, of which the first group with a request is selected.

    Parameters
    ----------
    m : Module
        The arbiter.
    requests : Value
        The requests.
    name : str
        Prefix of signals.
    """

    def __init__(self, m: Module, requests: Value, name: str) -> None:
        self.groups: Sequence[Value] = [requests[first : first + _GROUP] for first in range(0, len(requests), _GROUP)]
        self.filled = Signal(len(self.groups), name=f"{name}_filled")
        m.d.comb += self.filled.eq(Cat(group.any() for group in self.groups))

    def selects(self, number: int) -> Value:
        """Return whether a group is the first one with a request."""
        return self.filled[number] & ~self.filled[:number].any()
