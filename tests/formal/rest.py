"""Proofs about quiescence: a part that reports it does not change, and one that does not change reports it.

A simulation leaves out what rests, so the first half is about its results, and the second about its speed.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from amaranth.hdl import C, Cat, Fragment, MemoryInstance, Mux, Value
from amaranth.lib.fifo import SyncFIFOBuffered

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.bfs.neighbour_reader import NeighbourReader
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.dispatch import Dispatch
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.exchange.wires import PLANES
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.queue import Queue
from cyscc.hw.shell import STATION_BITS, Shell
from cyscc.hw.switch.kernel_slice import KernelSlice
from cyscc.hw.switch.link_slice import LinkSlice
from cyscc.hw.switch.request_skid import RequestSkid
from tests.formal.harness import Harness, Part, opened
from tests.formal.kernels import FETCHING, SEARCHING
from tests.formal.proof import Proof
from tests.formal.switch import KERNELS, LINK_BITS, LINKS, MANY_LINK_BITS
from tests.formal.watch import DEPTH


class _Register(NamedTuple):
    """A register, or a memory's port.

    Parameters
    ----------
    path : str
        Its name, with those of the parts that it is in.
    value : Value
        What it holds.
    means : Value
        Whether that is looked at.
    """

    path: str
    value: Any
    means: Any


def _meanings(part: Part) -> dict[str, Any]:
    """Return when a part's registers are observable, for those that may change although nothing happens.

    What port n of its memory has read is ``data<n>``.
    """
    component = part.ports if part.fragment.origins else None
    if isinstance(component, Queue):
        return {"entry": component.output.valid}
    if isinstance(component, SyncFIFOBuffered):
        return {"data0": component.r_rdy}
    if isinstance(component, NeighbourReader):
        return dict.fromkeys(("start", "size"), part.signal("decoded"))
    if isinstance(component, Dispatch):
        return {"index": ~part.state("IDLE", of="reader"), "data1": part.state("LOOK", of="reader")}
    if isinstance(component, RequestSkid):
        return {"link": component.output.valid}
    if isinstance(component, KernelSlice):
        return {"input__payload": part.part("order").ports.input.valid}
    return {}


def _registers(
    fragment: Fragment, path: str = "", around: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[_Register]:
    """Yield all that a component keeps from cycle to cycle; `around` has the meanings of the part that it is in."""
    meanings = _meanings(Part(fragment))
    signals = {id(s): s for each in fragment.statements.get("sync", ()) for s in each._lhs_signals()}
    for signal in signals.values():
        yield _Register(f"{path}{signal.name}", signal, meanings.get(signal.name, C(1)))
    if isinstance(fragment, MemoryInstance):
        for number, port in enumerate(fragment._read_ports):
            yield _Register(f"{path}data{number}", port._data, around.get(f"data{number}", C(1)))
        for port in fragment._write_ports:
            # What is written is not looked at here, but that something is.
            yield _Register(f"{path}write", None, port._en)
    for number, (inner, name, _) in enumerate(fragment.subfragments):
        yield from _registers(inner, f"{path}{name or number}_", meanings)


def _claim_rest(
    h: Harness, part: Part, *, quiescent: Any, silent: Any, apart: tuple[str, ...] = ()
) -> tuple[Value, Value]:
    """Claim that a quiescent part does not change while all inputs are silent; return whether it stayed, and they were.

    Parameters
    ----------
    h : Harness
        The harness.
    part : Part
        The component.
    quiescent : Signal
        It reports that it rests.
    silent : Value
        No input arrives, none of its outputs is taken.
    apart : tuple of str
        Registers that are no part of the state.
    """
    silent = h.net(silent, "silent")
    was_silent = h.past(silent, "silent")
    rested = h.past(quiescent & silent, "rests")
    same = []
    for register in _registers(part.fragment):
        if register.path in apart:
            continue
        if register.value is None:
            same.append(~h.past(register.means, register.path))
        else:
            same.append(~Value.cast(register.means) | h.steady(register.value, register.path))
    stays = h.net(Cat(*(Value.cast(each).bool() for each in same)).all(), "stays")
    h.prove(~rested | stays, "nothing_changes_while_it_rests")
    h.prove(~rested | quiescent, "it_rests_until_something_comes")
    return stays, was_silent


def _claim(
    h: Harness, part: Part, *, quiescent: Any, silent: Any, excuse: Any = 0, apart: tuple[str, ...] = ()
) -> None:
    """Claim the same, and the reverse; `excuse`: it may say that it changes although it does not."""
    stays, was_silent = _claim_rest(h, part, quiescent=quiescent, silent=silent, apart=apart)
    told = h.net(h.first | ~was_silent | ~stays | quiescent | h.past(excuse, "excuse"), "told")
    h.prove(told, "it_says_so_if_nothing_changes")


def kernel_rest(kind: Any, config: AcceleratorConfig) -> Harness:
    """Return the harness of a kernel between a memory and a master that do anything.

    Parameters
    ----------
    kind : type
        Class of the kernel.
    config : AcceleratorConfig
        Sizes.
    """
    h, part, dut = opened(kind(config, instrument=True))
    port = dut.port
    arriving = []
    for name, stream in (("chain", dut.chain_in), ("token", dut.token_in), ("response", port.response)):
        h.feed(stream, f"{name}_valid", name)
        arriving.append(stream.valid)
    for name in ("read", "write"):
        channel = getattr(port, name)
        h.m.d.comb += channel.ready.eq(h.free(1, f"{name}_ready"))
        arriving.append(channel.valid & channel.ready)
    h.m.d.comb += port.flushed.eq(h.free(1, "flushed"))
    arriving.append(port.flushed)
    excuse = C(0)
    if config.bfs_only:
        # It takes a vertex that waits for its mark's place for one that goes on.
        marks = part.part("visitor.marks").ports.input
        excuse = marks.valid & ~marks.ready
    told = ("control_quiescent", "control_cause")
    _claim(h, part, quiescent=dut.quiescent, silent=~Cat(*arriving).any(), excuse=excuse, apart=told)
    return h


def shell_rest(config: AcceleratorConfig) -> Harness:
    """Return the harness of a shell between a host, kernels, a switch and a link that do anything.

    The slot station, which tells of itself, is no part of the shell's state.
    """
    h, part, dut = opened(Shell(config, instrument=True), constant=["engine"])
    h.drive(h.free, dut, "elapsed")
    arriving = []
    inputs = {name: getattr(dut, name) for name in ("write", "read", "instruction", "link_in")}
    for module in ("bfs", "intersection"):
        place = getattr(dut, module)
        inputs[f"{module}_chain"] = place.chain_in
        if module == "bfs" and config.short_ring:
            h.drive(h.free, place, *STATION_BITS)
        else:
            inputs[f"{module}_token"] = place.token_in
        for name in ("done", "error"):
            value = Value.cast(getattr(place, name))
            h.m.d.comb += value.eq(h.free(len(value), f"{module}_{name}"))
            arriving.append(~h.steady(value, f"{module}_{name}"))
    for name, stream in inputs.items():
        h.m.d.comb += [
            stream.valid.eq(h.free(1, f"{name}_valid")),
            Value.cast(stream.payload).eq(h.free(len(Value.cast(stream.payload)), name)),
        ]
        arriving.append(stream.valid)
    if config.link_queues:
        h.drive(h.free, dut, "asks", "busy", "answers")
        arriving += [dut.asks, dut.answers]
    if config.exchange_kernels:
        h.drive(h.free, dut, "read_epoch", "exchange_busy")
        busy = h.net(dut.exchange_busy.any(), "any_is_busy")
        arriving += [~h.steady(dut.read_epoch, "read_epoch"), ~h.steady(busy, "any_is_busy")]
    dispatch = part.part("dispatch")
    reading = Cat(*(dispatch.state(state, of="reader") for state in ("ASK", "ANSWER"))).any()
    for name in ("bfs_master", "intersection_master"):
        machine = part.part(name).fragment.find_generated("fsm")
        h.invariant(machine.state < len(machine.encoding), f"{name}_is_in_a_state_that_there_is")
    silent = ~Cat(*(Value.cast(each).bool() for each in arriving)).any()
    station = [each.path for each in _registers(part.fragment) if each.path.startswith("slot_station_")]
    apart = ("quiescent", "dispatch_cycles", *station)
    if config.link_queues:
        # The flush barrier says that it moves as long as the switch is busy when all have asked.
        _claim_rest(h, part, quiescent=dut.quiescent, silent=silent, apart=apart)
    else:
        _claim(h, part, quiescent=dut.quiescent, silent=silent, excuse=reading, apart=apart)
    return h


def _bank_rests(h: Harness, bank: Part, name: str, *, quiescent: Any, idle: Any) -> None:
    """Add the invariants of a `QueueBank` whose registers follow what goes in and out.

    Parameters
    ----------
    h : Harness
        The harness.
    bank : Part
        The bank.
    name : str
        Its name.
    quiescent : Value
        Nothing came or went in the cycle before.
    idle : Value
        No entry is shown, so that what is read goes on.
    """
    dut = bank.ports
    room = []
    for n in range(len(dut.push)):
        first, end, place, count = (bank.signal(f"{word}{n}") for word in ("first", "end", "place", "count"))
        unused = Value.cast(bank.word(f"entries{n}", Value.cast(C(0, len(place))), name=f"{name}_unused{n}"))
        h.invariant((first != 0) & (end != 0), f"{name}_pointers{n}_are_no_place_0")
        h.invariant(unused == 0, f"{name}_place_0_of_queue{n}_is_zero")
        h.invariant(dut.pulling[n] | (place == 0), f"{name}_place{n}_is_0_unless_read")
        room.append(count < dut.capacity - dut.SLACK)
    h.invariant(~quiescent | (dut.room == Cat(room)), f"{name}_room_is_known_at_rest")
    h.invariant(~(quiescent & idle) | ((dut.pulling == 0) & (Value.cast(dut.shown) == 0)), f"{name}_shows_nothing")


def _queues_rest(h: Harness, queues: Part, name: str, *, quiescent: Any) -> None:
    """Add the invariants of `ArbitratedQueues`; parameters as of `_bank_rests`."""
    dut, bank = queues.ports, queues.part("bank")
    valid = dut.output.valid
    _bank_rests(h, bank, name, quiescent=quiescent, idle=~valid)
    h.invariant(valid | (dut.source == 0), f"{name}_source_is_0_without_an_entry")
    h.invariant(~quiescent | valid | (bank.ports.available == 0), f"{name}_output_is_filled_at_rest")


def kernel_slice_rest() -> Harness:
    """Return the harness of a kernel slice between a kernel and links that do anything."""
    h, part, dut = opened(KernelSlice(link_bits=LINK_BITS, places=DEPTH, instrument=True))
    h.drive(h.free, dut, "room", "arrives", *(f"answer{n}" for n in range(LINKS)))
    arriving = [dut.arrives.any(), ~h.steady(dut.room, "room")]
    for name in ("read", "write"):
        channel = getattr(dut.port, name)
        h.feed(channel, f"{name}_valid", name)
        arriving.append(channel.valid & channel.ready)
    _claim(h, part, quiescent=dut.quiescent, silent=~Cat(*arriving).any(), apart=("quiescent",))
    bank, credits = part.part("answers"), part.part("credits")
    _bank_rests(h, bank, "answers", quiescent=dut.quiescent, idle=C(1))
    used = [credits.signal(f"used{n}") for n in range(LINKS)]
    sent = Mux(dut.request.write, 0, dut.send)
    for n in range(LINKS):
        # The proof of the kernel slice has this as an invariant.
        h.assume(used[n] <= bank.ports.capacity - sent[n], f"credits{n}_are_within_capacity")
    left = Cat(count < credits.ports.depth - 1 for count in used)
    h.invariant(~dut.quiescent | (credits.ports.available == left), "credits_are_known_at_rest")
    h.invariant(~(left & ~credits.ports.available).any() | dut.port.response.valid, "a_credit_is_new_with_its_answer")
    h.invariant(part.signal("coming") == bank.ports.pulling.any(), "an_answer_is_read_with_its_tag")
    h.invariant(~part.part("order").ports.input.valid | dut.send.any(), "what_is_on_its_way_was_just_sent")
    return h


def link_slice_rest() -> Harness:
    """Return the harness of a link slice between kernels and a port that do anything."""
    h, part, dut = opened(
        LinkSlice(kernels=KERNELS, link_bits=MANY_LINK_BITS, depth=DEPTH, instrument=True), constant=["number"]
    )
    h.drive(h.free, dut, "push")
    response = dut.port.response
    h.m.d.comb += [
        *(getattr(dut, f"request{n}").eq(h.free(dut.request0.shape(), f"request{n}")) for n in range(KERNELS)),
        response.valid.eq(h.free(1, "response_valid")),
        response.payload.eq(h.free(response.payload.shape(), "response")),
    ]
    arriving = [dut.push.any(), response.valid]
    for name in ("read", "write"):
        channel = getattr(dut.port, name)
        h.m.d.comb += channel.ready.eq(h.free(1, f"{name}_ready"))
        arriving.append(channel.valid & channel.ready)
    _claim(h, part, quiescent=dut.quiescent, silent=~Cat(*arriving).any(), apart=("quiescent",))
    _queues_rest(h, part.part("queues"), "queues", quiescent=dut.quiescent)
    return h


def exchange_slice_rest() -> Harness:
    """Return the harness of an exchange slice between kernels that do anything; it shows that it rests by `busy`.

    Claim: An exchange slice that held no id in a cycle, and into which none came in it, changes no register and no
    memory from the next cycle on until an id comes.
    """
    h, part, dut = opened(ExchangeSlice(kernels=KERNELS, depth=DEPTH))
    for plane in PLANES:
        h.drive(h.free, dut, f"push_{plane}", *(f"{plane}{n}" for n in range(KERNELS)))
        h.m.d.comb += getattr(dut, f"owned_{plane}").ready.eq(h.free(1, f"ready_{plane}"))
    pushed = h.net(dut.push_even.any() | dut.push_odd.any(), "pushed")
    quiescent = h.past(~(dut.busy | pushed), "nothing_was_held")
    h.invariant(~quiescent | ~dut.busy, "nothing_is_held_then")
    _claim_rest(h, part, quiescent=quiescent, silent=~pushed)
    for plane in PLANES:
        _queues_rest(h, part.part(plane), plane, quiescent=quiescent)
    return h


_CLAIM = (
    "A part that reports `quiescent` changes no register and no memory until it gets an input or a request is "
    "accepted; a part that would change nothing reports it."
)
_CONFIG = PRESETS["test"]

PROOFS = (
    Proof(
        name="bfs-kernel-rest",
        claim=_CLAIM,
        harness=partial(kernel_rest, BfsKernel, _CONFIG),
    ),
    Proof(
        name="bfs-kernel-rest-searching",
        claim=_CLAIM,
        harness=partial(kernel_rest, BfsKernel, SEARCHING),
    ),
    Proof(
        name="bfs-kernel-rest-fetching",
        claim=_CLAIM,
        harness=partial(kernel_rest, BfsKernel, FETCHING),
    ),
    Proof(
        name="intersection-kernel-rest",
        claim=_CLAIM,
        harness=partial(kernel_rest, IntersectionKernel, _CONFIG),
    ),
    Proof(
        name="shell-rest",
        claim=_CLAIM,
        harness=partial(shell_rest, _CONFIG),
    ),
    Proof(
        name="shell-rest-all-options",
        claim="A shell that reports `quiescent` changes no register but those of its slot station until it gets an "
        "input; which slices of the exchange are busy is none, only whether any is.",
        harness=partial(shell_rest, PRESETS["fast-test"]),
    ),
    Proof(
        name="kernel-slice-rest",
        claim=_CLAIM,
        harness=kernel_slice_rest,
    ),
    Proof(
        name="link-slice-rest",
        claim=_CLAIM,
        harness=link_slice_rest,
    ),
    Proof(name="exchange-slice-rest", harness=exchange_slice_rest),
)
