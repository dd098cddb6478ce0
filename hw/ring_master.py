"""Ring master: starts the token of a run, keeps it going round, and takes it off (Attia et al. 2015, section 5.4)."""

from itertools import pairwise

from amaranth.hdl import Cat, Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import RING, Token, drive


class RingMaster(wiring.Component):
    """The station of an AE's module where the ring enters it.

    In the AE that leads, the token of a run is made here, and sent round again whenever it comes back, until it comes
    back with `done` still set: then every kernel of every AE had finished when the token passed, the token's value is
    final, and the token is taken off. So there is one token at most, none survives its run, and it goes on circulating
    through AEs that have finished. In the other AEs the token only passes.

    Parameters
    ----------
    stages : int
        Registers between the ring's entrance and the first kernel.
    initial : int
        The token's value at the start of a run.
    instrument : bool
        With the output that only simulation needs.

    Members
    -------
    lead : In(1)
        This AE leads.
    start : In(1)
        A run begins.
    ring_in : In(stream of Token, always ready)
        From the last kernel (one AE) or the link.
    ring_out : Out(stream of Token, always ready)
        To the first kernel, registered.
    running : Out(1)
        The token is on its way (leading AE).
    result : Out(32)
        The final value of the last run (leading AE).
    moving : Out(1), instrumented only
        State changes in this cycle.

    Notes
    -----
    Latency `stages` cycles.
    """

    def __init__(self, *, stages: int, initial: int, instrument: bool = False) -> None:
        if stages < 1:
            raise ValueError(f"stages must be at least 1, not {stages!r}")
        self._stages = stages
        self._initial = initial
        self._instrument = instrument
        super().__init__(
            {
                "lead": In(1),
                "start": In(1),
                "ring_in": In(RING),
                "ring_out": Out(RING),
                "running": Out(1),
                "result": Out(32),
                **({"moving": Out(1)} if instrument else {}),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the master and its registers."""
        m = Module()
        stages = [(Signal(name=f"valid{n}"), Signal(Token, name=f"token{n}")) for n in range(self._stages - 1)]
        stages.append((self.ring_out.valid, self.ring_out.payload))
        for (valid, token), (next_valid, next_token) in pairwise(stages):
            m.d.sync += next_valid.eq(valid)
            with m.If(valid):
                m.d.sync += next_token.eq(token)

        valid, token = stages[0]
        epoch = Signal()
        arrived = self.ring_in.payload
        m.d.sync += valid.eq(self.ring_in.valid)
        with m.If(self.ring_in.valid):
            m.d.sync += token.eq(arrived)
        with m.If(self.lead):
            with m.If(self.ring_in.valid):
                with m.If(arrived.done):
                    m.d.sync += [valid.eq(0), self.running.eq(0), self.result.eq(arrived.value)]
                with m.Else():
                    m.d.sync += token.done.eq(1)
            with m.If(self.start):
                m.d.sync += [
                    epoch.eq(~epoch),
                    self.running.eq(1),
                    valid.eq(1),
                    *drive(token, value=self._initial, done=1, epoch=~epoch),
                ]
        if self._instrument:
            valids = Cat(valid for valid, _ in stages)
            m.d.comb += self.moving.eq(self.ring_in.valid | self.start | valids.any())
        return m
