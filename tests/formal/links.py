"""Proofs about the links between Application Engines: a token arrives unchanged, and once."""

from typing import Any

from amaranth.hdl import Mux, Value

from cyscc.hw.axi.link import AxiLink
from cyscc.hw.convey.link import ConveyLink
from cyscc.hw.interfaces import LinkToken
from tests.formal.harness import Harness, Part
from tests.formal.proof import Proof
from tests.formal.watch import channel, outlast


def _ends(h: Harness, kind: Any) -> tuple[Part, Part, Any, Any]:
    """Add two ends, of which one sends one token at a time; return both, whether one is under way, and which."""
    sender, receiver = h.add("sender", kind()), h.add("receiver", kind())
    sent, token = h.free(1, "sent"), h.free(LinkToken.size, "token")
    leaving, arriving = sender.ports.link_out, receiver.ports.link_in
    h.m.d.comb += [leaving.valid.eq(sent), Value.cast(leaving.payload).eq(token)]
    under_way = h.flag("under_way", set=sent, clear=arriving.valid)
    h.assume(~sent | ~under_way | arriving.valid, "one_token_at_a_time")
    held = h.register(LinkToken.size, "token_under_way")
    with h.m.If(sent):
        h.m.d.sync += held.eq(token)
    h.prove(~arriving.valid | under_way, "a_token_arrives_once")
    h.prove(~arriving.valid | (Value.cast(arriving.payload) == held), "a_token_arrives_unchanged")
    return sender, receiver, under_way, held


def axi_link() -> Harness:
    """Return the harness of two `AxiLink`, between them a stream that holds a token for any time.

    Claim: A token sent by one AE arrives at the next exactly once and unchanged, however the stream between them
    stalls; the sender obeys the rules of streams.
    """
    h = Harness()
    sender, receiver, under_way, held = _ends(h, AxiLink)
    leaving, arriving = sender.ports.next_engine, receiver.ports.previous_engine
    full, data = h.register(1, "full"), h.register(len(leaving.tdata), "data")
    moves = h.free(1, "moves")
    h.m.d.comb += [
        leaving.tready.eq(~full & h.free(1, "ready")),
        arriving.tvalid.eq(full & moves),
        arriving.tdata.eq(data),
    ]
    with h.m.If(leaving.tvalid & leaving.tready):
        h.m.d.sync += [full.eq(1), data.eq(leaving.tdata)]
    with h.m.Elif(arriving.tvalid & arriving.tready):
        h.m.d.sync += full.eq(0)
    stream = channel(h, "leaving", valid=leaving.tvalid, ready=leaving.tready, payload=[leaving.tdata])
    h.obeys_stream_rules(stream, "leaving")
    h.prove(~arriving.tvalid | arriving.tready, "an_arriving_token_is_taken_at_once")
    here = receiver.ports.link_in.valid
    waits = under_way & ~here & ~full & ~leaving.tvalid
    h.prove(~waits, "a_token_under_way_is_never_lost")
    h.invariant(leaving.tvalid + full + here == under_way, "a_token_is_in_one_place")
    h.invariant(~leaving.tvalid | (leaving.tdata == held), "a_leaving_token_is_unchanged")
    h.invariant(~full | (data == held), "a_token_on_the_stream_is_unchanged")
    return h


def convey_link() -> Harness:
    """Return the harness of two `ConveyLink`, between them a link that holds words for any time and stalls.

    Claim: A token sent by one AE arrives at the next exactly once and unchanged, however the link between them stalls;
    at most two words are sent after a stall begins.
    """
    h = Harness()
    sender, receiver, under_way, held = _ends(h, ConveyLink)
    leaving, arriving = sender.ports.ae, receiver.ports.ae
    count, words = h.register(2, "words_on_the_link"), h.register(64, "words")
    moves, stall = h.free(1, "moves"), h.free(1, "stall")
    pushed = leaving.nxtae_tx_vld
    popped = h.net(moves & (count > 0), "popped")
    h.m.d.comb += [
        leaving.nxtae_tx_stall.eq(stall),
        arriving.prvae_rx_vld.eq(popped),
        arriving.prvae_rx_data.eq(words[:32]),
    ]
    h.m.d.sync += count.eq(count + pushed - popped)
    rest = h.net(Mux(popped, words[32:], words)[:64], "rest")
    left = h.net((count - popped)[:2], "left")
    with h.m.If(pushed & (left == 0)):
        h.m.d.sync += words.eq(leaving.nxtae_tx_data)
    with h.m.Elif(pushed & (left == 1)):
        h.m.d.sync += [words[:32].eq(rest), words[32:].eq(leaving.nxtae_tx_data)]
    with h.m.Else():
        h.m.d.sync += words.eq(rest)

    h.prove(count + pushed <= 2, "two_words_are_on_the_link_at_most")
    slack = h.counter("words_in_a_stall", width=4, up=pushed, clear=~stall)
    h.prove(~stall | (slack + pushed <= 2), "a_stall_lets_two_words_leave")
    h.prove(~arriving.prvae_rx_stall, "the_previous_engine_is_never_stalled")
    here = receiver.ports.link_in.valid
    waits = under_way & ~here & ~stall & ((count == 0) | moves)
    outlast(h, "a_token_waits_for_the_link_only", waiting=waits, cycles=6)
    _halves(h, sender, receiver, under_way=under_way, held=held, count=count, words=words)
    return h


def _halves(h: Harness, sender: Part, receiver: Part, *, under_way: Any, held: Any, count: Any, words: Any) -> None:
    """Add the invariants about where both halves of the token are."""
    value, flags = held[:32], held[32:]
    idle, first, last = (sender.state(state, of="sender") for state in ("IDLE", "FLAGS", "VALUE"))
    pushed, data = sender.ports.ae.nxtae_tx_vld, sender.ports.ae.nxtae_tx_data
    second, here = receiver.signal("second"), receiver.ports.link_in.valid
    gone = h.net(Mux(first, 0, Mux(last, 1, Mux(under_way, 2, 0)))[:2], "gone")
    h.invariant(idle | first | last, "the_sender_is_somewhere")
    h.invariant(idle | (under_way & ~here), "what_is_sent_is_under_way")
    h.invariant(idle | (sender.signal("leaving") == held), "the_sender_has_the_token")
    h.invariant(count + pushed + second + (here << 1) == gone, "every_half_is_in_one_place")
    words_due = h.net(Mux(second, value, flags)[:32], "due")
    h.invariant((count == 0) | (words[:32] == words_due), "the_next_half_is_first")
    h.invariant((count != 2) | (words[32:] == value), "the_value_is_behind_the_flags")
    h.invariant(~pushed | (data == Mux(second | (count > 0), value, flags)), "the_half_that_leaves_is_next")
    arrived = Value.cast(receiver.ports.link_in.payload)
    h.invariant(~(second | here) | (arrived[32:] == flags), "the_flags_have_arrived")
    h.invariant(~here | (arrived == held), "the_token_has_arrived")


PROOFS = (
    Proof(name="axi-link", harness=axi_link),
    Proof(name="convey-link", harness=convey_link, depth=7),
)
