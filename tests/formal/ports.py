"""Proofs about unvisiting, the decoder, the shared port, and the ring in an AE that does not lead."""

from amaranth.hdl import C, Module, Mux, Value

from cyscc.hw.interfaces import SIZE_8
from cyscc.hw.intersection.start_finder import StartFinder
from cyscc.hw.intersection.unvisit_writer import UnvisitWriter
from cyscc.hw.port_share import PortShare
from cyscc.hw.registers import NO_START
from cyscc.hw.response_decoder import ResponseDecoder
from cyscc.hw.ring_master import RingMaster
from tests.formal.harness import Harness
from tests.formal.proof import Proof, breaking, changes, spoiled, sticks


def unvisit_writer() -> Harness:
    """Return the harness of `UnvisitWriter`."""
    h = Harness()
    dut = h.add("dut", UnvisitWriter()).ports
    h.drive(h.constant, dut, "words", "transposed_words")
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
    """Return the harness of `ResponseDecoder`."""
    h = Harness()
    dut = h.add("dut", ResponseDecoder(4)).ports
    response = h.free(dut.response.payload.shape(), "response")
    valid = h.free(1, "valid")
    h.m.d.comb += [dut.response.valid.eq(valid), dut.response.payload.eq(response)]
    for tag in range(4):
        process = getattr(dut, f"process{tag}")
        h.prove(process.valid == (valid & (response.tag == tag)), f"process{tag}_has_the_responses_with_its_tag")
        h.prove(~process.valid | (process.payload == response.data), f"process{tag}_has_their_data")
    return h


def port_share() -> Harness:
    """Return the harness of `PortShare`: two kernels that obey the rules, an owner that changes between runs."""
    h = Harness()
    dut = h.add("dut", PortShare()).ports
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
    """Return the harness of `StartFinder`: any rejections and any tokens."""
    h = Harness()
    part = h.add("dut", StartFinder())
    dut = part.ports
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
    """Return the harness of a `RingMaster` in an AE that does not lead: any tokens."""
    stages = 2
    h = Harness()
    dut = h.add("dut", RingMaster(stages=stages, initial=0)).ports
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


def clears_the_word(self: UnvisitWriter, m: Module) -> None:
    """Lose what else is in the word."""
    m.d.comb += self.command.payload.data.eq(0)


PROOFS = (
    Proof(
        name="unvisit-writer",
        claim="Each vertex outside the component causes one write, of its word with the visited flag cleared.",
        harness=unvisit_writer,
        broken=(
            *spoiled(
                f"{__name__}.UnvisitWriter",
                one_write_for_each_outsider=sticks("outsiders.ready", at=1),
                only_the_flag_is_cleared=clears_the_word,
            ),
            *breaking(f"{__name__}.UnvisitWriter", "command"),
        ),
    ),
    Proof(
        name="response-decoder",
        claim="Each response is delivered to the process of its tag and to no other.",
        harness=response_decoder,
        broken=spoiled(
            f"{__name__}.ResponseDecoder",
            **{f"process{tag}_has_their_data": changes(f"process{tag}") for tag in range(4)},
        ),
    ),
    Proof(
        name="port-share",
        claim="Only the owner's requests are passed on, unchanged, and only the owner gets responses; the stream rules"
        " hold while the owner does not change.",
        harness=port_share,
    ),
    Proof(
        name="ring-follower",
        claim="In an AE other than AE 0, every token passes unchanged; none is created or removed.",
        harness=follower,
    ),
    Proof(
        name="start-finder",
        claim="A station of the intersection forwards any token within one cycle; an empty token gets the first vertex"
        " that was found in this run.",
        harness=start_finder,
    ),
)
