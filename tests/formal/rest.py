"""Proofs about quiescence: a part that reports it does not change, and one that does not change reports it.

A simulation leaves out what rests, so the first half is about its results, and the second about its speed.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from amaranth.hdl import C, Cat, Fragment, MemoryInstance, Module, Signal, Value
from amaranth.lib.fifo import SyncFIFOBuffered

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.bfs.neighbour_reader import NeighbourReader
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.dispatch import Dispatch
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.kernel_control import KernelControl
from cyscc.hw.queue import Queue
from cyscc.hw.shell import Shell
from tests.formal.faults import spoiled, sticks
from tests.formal.harness import Harness, Part
from tests.formal.kernels import FETCHING, SEARCHING
from tests.formal.proof import Proof


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


def _claim(
    h: Harness, part: Part, *, quiescent: Any, silent: Any, excuse: Any = 0, apart: tuple[str, ...] = ()
) -> None:
    """Claim that a quiescent part does not change while all inputs are silent, and the reverse.

    Parameters
    ----------
    h : Harness
        The harness.
    part : Part
        The component.
    quiescent : Signal
        Its output `quiescent`.
    silent : Value
        No input arrives, none of its outputs is taken.
    excuse : Value
        It may say that it changes although it does not.
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
    h = Harness()
    part = h.add("dut", kind(config, instrument=True))
    dut = part.ports
    port = dut.port
    arriving = []
    for name, stream in (("chain", dut.chain_in), ("token", dut.token_in), ("response", port.response)):
        h.m.d.comb += [
            stream.valid.eq(h.free(1, f"{name}_valid")),
            stream.payload.eq(h.free(stream.payload.shape(), name)),
        ]
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
    """Return the harness of a shell between a host, kernels and a link that do anything."""
    h = Harness()
    part = h.add("dut", Shell(config, instrument=True))
    dut = part.ports
    h.drive(h.constant, dut, "engine")
    h.drive(h.free, dut, "elapsed")
    arriving = []
    inputs = {name: getattr(dut, name) for name in ("write", "read", "instruction", "link_in")}
    for module in ("bfs", "intersection"):
        place = getattr(dut, module)
        inputs |= {f"{module}_chain": place.chain_in, f"{module}_token": place.token_in}
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
    dispatch = part.part("dispatch")
    reading = Cat(*(dispatch.state(state, of="reader") for state in ("ASK", "ANSWER"))).any()
    for name in ("bfs_master", "intersection_master"):
        machine = part.part(name).fragment.find_generated("fsm")
        h.invariant(machine.state < len(machine.encoding), f"{name}_is_in_a_state_that_there_is")
    silent = ~Cat(*(Value.cast(each).bool() for each in arriving)).any()
    _claim(h, part, quiescent=dut.quiescent, silent=silent, excuse=reading, apart=("quiescent", "dispatch_cycles"))
    return h


def overlooks_messages(self: KernelControl, m: Module) -> None:
    """Say that nothing changes although a message has come."""
    with m.If(self.chain_in.valid):
        m.d.sync += self.quiescent.eq(1)


def wakes_by_itself(self: KernelControl, m: Module) -> None:
    """Say in every second cycle that something changes."""
    awake = Signal()
    m.d.sync += awake.eq(~awake)
    with m.If(awake):
        m.d.sync += self.quiescent.eq(0)


def never_rests(self: KernelControl, m: Module) -> None:
    """Say always that something changes."""
    m.d.sync += self.quiescent.eq(0)


_CLAIM = (
    "A part that reports `quiescent` changes no register and no memory until it gets an input or a request is "
    "accepted; a part that would change nothing reports it."
)
_CONFIG = PRESETS["test"]
_CONTROL = "cyscc.hw.kernel.KernelControl"

PROOFS = (
    Proof(
        name="bfs-kernel-rest",
        claim=_CLAIM,
        harness=partial(kernel_rest, BfsKernel, _CONFIG),
        broken=(
            *spoiled(
                _CONTROL,
                nothing_changes_while_it_rests=overlooks_messages,
                it_rests_until_something_comes=wakes_by_itself,
                it_says_so_if_nothing_changes=never_rests,
            ),
        ),
    ),
    Proof(
        name="bfs-kernel-rest-searching",
        claim=_CLAIM,
        harness=partial(kernel_rest, BfsKernel, SEARCHING),
        broken=spoiled(_CONTROL, nothing_changes_while_it_rests=overlooks_messages),
    ),
    Proof(
        name="bfs-kernel-rest-fetching",
        claim=_CLAIM,
        harness=partial(kernel_rest, BfsKernel, FETCHING),
        broken=spoiled(_CONTROL, nothing_changes_while_it_rests=overlooks_messages),
    ),
    Proof(
        name="intersection-kernel-rest",
        claim=_CLAIM,
        harness=partial(kernel_rest, IntersectionKernel, _CONFIG),
        broken=spoiled(_CONTROL, nothing_changes_while_it_rests=overlooks_messages),
    ),
    Proof(
        name="shell-rest",
        claim=_CLAIM,
        harness=partial(shell_rest, _CONFIG),
        broken=spoiled("cyscc.hw.shell.RingMaster", nothing_changes_while_it_rests=sticks("moving", at=0)),
    ),
)
