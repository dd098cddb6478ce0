"""The token ring on the AE-to-AE signals of the HC-2, which are 32 bits wide."""

from amaranth.hdl import Cat, Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import LINK, LinkToken


def ConveyLinkSignature() -> wiring.Signature:  # noqa: N802 - signatures are named like classes
    """Return the signature of the links to the neighbouring AEs, seen from the AE.

    Members
    -------
    nxtae_tx_data, nxtae_tx_vld, nxtae_tx_stall : Out(32), Out(1), In(1)
        To the next AE: the token.
    prvae_rx_data, prvae_rx_vld, prvae_rx_stall : In(32), In(1), Out(1)
        From the previous AE: the token. Never stalled.
    nxtae_rx_data, nxtae_rx_vld, nxtae_rx_stall : In(32), In(1), Out(1)
        The other way, which is not used.
    prvae_tx_data, prvae_tx_vld, prvae_tx_stall : Out(32), Out(1), In(1)
        Not used.
    """
    return wiring.Signature(
        {
            "nxtae_tx_data": Out(32),
            "nxtae_tx_vld": Out(1),
            "nxtae_tx_stall": In(1),
            "prvae_rx_data": In(32),
            "prvae_rx_vld": In(1),
            "prvae_rx_stall": Out(1),
            "nxtae_rx_data": In(32),
            "nxtae_rx_vld": In(1),
            "nxtae_rx_stall": Out(1),
            "prvae_tx_data": Out(32),
            "prvae_tx_vld": Out(1),
            "prvae_tx_stall": In(1),
        }
    )


class ConveyLink(wiring.Component):
    """Sends a token as two words, first its flags, then its value, and puts two words that arrive together again.

    There is one token on a ring, and the modules never run at once, so one register each way is enough.

    Members
    -------
    link_in : Out(stream of LinkToken, always ready)
        To the AE: tokens from the previous one.
    link_out : In(stream of LinkToken, always ready)
        From the AE: tokens to the next one.
    ae : Out(ConveyLinkSignature())
        The links.

    Notes
    -----
    Latency, both ends together: four cycles besides the link's own.
    """

    link_in: Out(LINK)
    link_out: In(LINK)
    ae: Out(ConveyLinkSignature())

    def elaborate(self, platform: object) -> Elaboratable:
        """Build sender and receiver."""
        m = Module()
        ae = self.ae
        leaving = Signal(LinkToken)
        stalled = Signal()
        m.d.sync += [stalled.eq(ae.nxtae_tx_stall), ae.nxtae_tx_vld.eq(0)]
        with m.FSM(name="sender"):
            with m.State("IDLE"):
                m.d.sync += leaving.eq(self.link_out.payload)
                with m.If(self.link_out.valid):
                    m.next = "FLAGS"
            with m.State("FLAGS"):
                with m.If(~stalled):
                    m.d.sync += [
                        ae.nxtae_tx_vld.eq(1),
                        ae.nxtae_tx_data.eq(Cat(leaving.token.done, leaving.token.epoch, leaving.intersection)),
                    ]
                    m.next = "VALUE"
            with m.State("VALUE"):
                with m.If(~stalled):
                    m.d.sync += [ae.nxtae_tx_vld.eq(1), ae.nxtae_tx_data.eq(leaving.token.value)]
                    m.next = "IDLE"

        second = Signal()
        arrived = self.link_in.payload
        m.d.sync += self.link_in.valid.eq(ae.prvae_rx_vld & second)
        with m.If(ae.prvae_rx_vld):
            m.d.sync += second.eq(~second)
            with m.If(second):
                m.d.sync += arrived.token.value.eq(ae.prvae_rx_data)
            with m.Else():
                m.d.sync += Cat(arrived.token.done, arrived.token.epoch, arrived.intersection).eq(ae.prvae_rx_data)
        return m
