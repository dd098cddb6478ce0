"""Proofs about what only connects: an engine around its shell and kernels, the machine around its engines."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self
from unittest.mock import patch

from amaranth.hdl import Cat, Mux, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from cyscc.hw.accelerator import Accelerator
from cyscc.hw.application_engine import ApplicationEngine, application_engine_signature
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.exchange.wires import PLANES
from cyscc.hw.shell import STATION_BITS, Shell
from cyscc.hw.switch.kernel_slice import KernelSlice
from cyscc.hw.switch.link_slice import LinkSlice
from cyscc.hw.verilog import port_names
from tests.formal.harness import Harness, Stub, free_ports
from tests.formal.proof import Proof

CONFIG = PRESETS["test"]
SWITCHED = PRESETS["fast-test"].replace(memory_ports=4)


class _EmptyShell(Stub, Shell):
    """The same of a shell."""


def _same(h: Harness, name: str, pairs: Iterable[tuple[Any, Any]]) -> None:
    """Claim that the first of each pair is always the second."""
    claims = [Value.cast(first) == Value.cast(second) for first, second in pairs]
    h.prove(Cat(*claims).all(), name)


def _stream(first: Any, second: Any) -> list[tuple[Any, Any]]:
    """Return the pairs of a stream driven by another; payloads that are not valid are ignored."""
    valid = second.valid
    return [(first.valid, valid), (Mux(valid, Value.cast(first.payload), 0), Mux(valid, Value.cast(second.payload), 0))]


@dataclass(frozen=True)
class _Engine:
    """An engine whose shell, kernels and slices may do anything.

    Parameters
    ----------
    h : Harness
        The harness around it.
    ports : Component
        The engine.
    shell : interface
        The ports of its shell, from the other side.
    bfs, intersection : list of interface
        The same of its kernels.
    slices : mapping of type to list of interface
        The same of the slices of switch and exchange, by their kind.
    """

    h: Harness
    ports: Any
    shell: Any
    bfs: list[Any]
    intersection: list[Any]
    slices: dict[type, list[Any]]

    @classmethod
    def of(cls, config: AcceleratorConfig) -> Self:
        """Return the engine of a machine."""
        h = Harness()
        twins: list[Any] = []
        slices: dict[type, list[Any]] = {}

        def known(stub: Stub) -> wiring.Component:
            twins.append(stub.twin)
            return stub

        def kernel(kind: Any, config: AcceleratorConfig) -> wiring.Component:
            return known(Stub(kind.signature_of(config)))

        def part(sound: wiring.Component) -> wiring.Component:
            stub = Stub.of(sound)
            slices.setdefault(type(sound), []).append(stub.twin)
            return stub

        with patch("cyscc.hw.application_engine.Shell", lambda config: known(_EmptyShell(config))):
            dut = h.add("dut", ApplicationEngine(config, make_kernel=kernel, make_slice=part)).ports
        for number, each in enumerate([*twins, *(each for kind in slices.values() for each in kind)]):
            free_ports(h, f"part{number}", each, PortDirection.Output)
        free_ports(h, "dut", dut, PortDirection.Input)
        shell, kernels = twins[0], twins[1:]
        bfs, intersection = kernels[: config.bfs_kernels], kernels[config.bfs_kernels :]
        return cls(h, dut, shell, bfs, intersection, slices)

    def claim_shell(self) -> None:
        """Claim that the kernels of each module are in their order on chain and ring, and the shell is at its place."""
        h, shell = self.h, self.shell
        for place, own, module in (
            (shell.bfs, self.bfs, "bfs"),
            (shell.intersection, self.intersection, "intersection"),
        ):
            chains = [place.chain_out, *(each.chain_out for each in own)]
            links = [*zip((*(each.chain_in for each in own), place.chain_in), chains, strict=True)]
            if hasattr(place, "token_out"):
                tokens = [place.token_out, *(each.token_out for each in own)]
                links += zip((*(each.token_in for each in own), place.token_in), tokens, strict=True)
                name = f"chain_and_ring_pass_all_{module}_kernels"
            else:
                name = f"chain_passes_all_{module}_kernels"
                _same(
                    h,
                    f"station_serves_all_{module}_kernels",
                    [
                        *((getattr(place, bit), Cat(getattr(each, bit) for each in own)) for bit in STATION_BITS),
                        *(p for n, each in enumerate(own) for p in _stream(each.block, getattr(place, f"block{n}"))),
                    ],
                )
            _same(h, name, [pair for link in links for pair in _stream(*link)])
            ends = Cat(*(each.done for each in own)), Cat(*(each.error for each in own))
            _same(h, f"the_shell_hears_all_{module}_kernels", zip((place.done, place.error), ends, strict=True))
        given, told = [], []
        for name in ("write", "read", "instruction"):
            given += _stream(getattr(shell, name), getattr(self.ports, name))
            told.append((getattr(self.ports, name).ready, getattr(shell, name).ready))
        given += [*_stream(shell.link_in, self.ports.link_in), (shell.engine, self.ports.engine)]
        told += [*_stream(self.ports.data, shell.data), *_stream(self.ports.link_out, shell.link_out)]
        told += [(self.ports.idle, shell.idle), (self.ports.exception, shell.exception)]
        _same(h, "the_shell_gets_what_comes", given)
        _same(h, "the_shell_is_what_speaks", told)

    def claim_port(self, number: int, port: Any, name: str, *, flush: Any, flushed: Any) -> None:
        """Claim that a port of the kernels is its owner's; flushes come and go elsewhere."""
        asked, answered = [], []
        shared = number < len(self.intersection)
        owns = self.shell.intersection_owns
        for kernel, mine in (
            (self.bfs[number], ~owns if shared else Value.cast(1)),
            *([(self.intersection[number], owns)] if shared else []),
        ):
            own = kernel.port
            for channel in ("read", "write"):
                mouth, ear = getattr(port, channel), getattr(own, channel)
                asked += [(mine & mouth.valid, mine & ear.valid)]
                looked = mine & ear.valid
                asked += [(Mux(looked, Value.cast(mouth.payload), 0), Mux(looked, Value.cast(ear.payload), 0))]
                answered += [(ear.ready, mine & mouth.ready)]
            asked += [(mine & flush, mine & own.flush)]
            heard = own.response.valid
            answered += [
                (heard, mine & port.response.valid),
                (Mux(heard, Value.cast(own.response.payload), 0), Mux(heard, Value.cast(port.response.payload), 0)),
                (own.flushed, mine & flushed),
            ]
        _same(self.h, f"{name}_asks_what_its_owner_asks", asked)
        _same(self.h, f"{name}_answers_its_owner", answered)


def engine() -> Harness:
    """Return the harness of an engine whose shell and kernels may do anything.

    Claim: In an engine, chain and ring pass all kernels in their order, each port belongs to its owner, and the shell
    is connected to all other inputs and outputs.
    """
    made = _Engine.of(CONFIG)
    made.claim_shell()
    for number, port in enumerate(made.ports.port):
        made.claim_port(number, port, f"port{number}", flush=port.flush, flushed=port.flushed)
    return made.h


def switched_engine() -> Harness:
    """Return the harness of an engine with switch and exchange, whose shell, kernels and slices may do anything.

    Claim: In an engine with switch and exchange, the port of each kernel and of the one that shares it is that of its
    slice, each slice of a kernel is connected to all links and to no other kernel's places there, each slice of a link
    has its number and its port; the barrier flushes all ports and knows of all slices; ids go to the slice of their
    owner and from there to it; chain, station and shell as in any engine.
    """
    made = _Engine.of(SWITCHED)
    made.claim_shell()
    h, shell, ports = made.h, made.shell, made.ports.port
    kernels, links = made.slices[KernelSlice], made.slices[LinkSlice]
    for number, part in enumerate(kernels):
        flushes = {"flush": shell.asks[number], "flushed": shell.flushed[number]}
        made.claim_port(number, part.port, f"kernel{number}", **flushes)
    requests, answers, outside, back = [], [], [], []
    for number, (link, port) in enumerate(zip(links, ports, strict=True)):
        requests.append((link.push, Cat(kernel.send[number] for kernel in kernels)))
        requests += [(getattr(link, f"request{n}"), kernel.request) for n, kernel in enumerate(kernels)]
        for n, kernel in enumerate(kernels):
            requests.append((kernel.room[number], link.room[n]))
            answers += [(kernel.arrives[number], link.answers[n]), (getattr(kernel, f"answer{number}"), link.answer)]
        for channel in ("read", "write"):
            outside += _stream(getattr(port, channel), getattr(link.port, channel))
            back.append((getattr(link.port, channel).ready, getattr(port, channel).ready))
        back += _stream(link.port.response, port.response)
    _same(h, "each_slice_of_a_link_has_its_number", [(link.number, number) for number, link in enumerate(links)])
    _same(h, "requests_and_room_pass_between_kernel_and_link", requests)
    _same(h, "answers_pass_from_link_to_kernel", answers)
    _same(h, "each_port_asks_what_its_link_asks", outside)
    _same(h, "each_link_hears_its_port", back)
    _same(h, "the_barrier_flushes_all_ports", [(port.flush, shell.flush) for port in ports])
    _same(h, "the_barrier_hears_all_ports", [(shell.answers, Cat(port.flushed for port in ports))])
    _same(h, "the_barrier_knows_of_all_slices", [(shell.busy, Cat(part.busy for part in (*kernels, *links)).any())])

    owners = made.slices[ExchangeSlice]
    sent, owned, told = [], [], [(shell.exchange_busy, Cat(part.busy for part in owners))]
    told.append((shell.read_epoch, Cat(kernel.read_epoch for kernel in made.bfs)))
    for number, (part, owner) in enumerate(zip(owners, made.bfs, strict=True)):
        told.append((owner.drained, shell.drained))
        for plane in PLANES:
            goes, comes = getattr(part, f"owned_{plane}"), getattr(owner, f"owned_{plane}")
            owned += [*_stream(comes, goes), (goes.ready, comes.ready)]
            for n, kernel in enumerate(made.bfs):
                sent += [
                    (getattr(part, f"push_{plane}")[n], getattr(kernel, f"send_{plane}")[number]),
                    (getattr(part, f"{plane}{n}"), getattr(kernel, f"id_{plane}")),
                    (getattr(kernel, f"room_{plane}")[number], getattr(part, f"room_{plane}")[n]),
                ]
    _same(h, "ids_go_to_the_slice_of_their_owner", sent)
    _same(h, "each_kernel_gets_the_ids_of_its_slice", owned)
    _same(h, "the_shell_knows_when_the_exchange_is_drained", told)
    return h


def machine() -> Harness:
    """Return the harness of a machine whose engines may do anything.

    Claim: Each engine has its number and its part of the machine's ports, and receives tokens of the previous engine
    after the cycles of a hop; the machine is idle when all engines are.
    """
    h = Harness()
    engines: list[Any] = []

    def make(config: AcceleratorConfig) -> wiring.Component:
        made = Stub(application_engine_signature(config))
        engines.append(made.twin)
        return made

    dut = h.add("dut", Accelerator(CONFIG, make_engine=make)).ports
    boundary = []
    for number, (outer, inner) in enumerate(zip(dut.engines, engines, strict=True)):
        inside = port_names(inner)
        for name, (port, way) in port_names(outer).items():
            if name.startswith(("engine", "link_in", "link_out")):
                continue
            if way == PortDirection.Input:
                h.m.d.comb += port.eq(h.free(len(port), f"boundary{number}_{name}"))
            boundary.append((port, inside[name][0]))
    _same(h, "each_engine_has_its_share_of_the_boundary", boundary)
    tokens = []
    for number, each in enumerate(engines):
        free_ports(h, f"engine{number}", each, PortDirection.Output)
        link = Cat(each.link_out.valid, Value.cast(each.link_out.payload))
        for hop in range(CONFIG.link_cycles):
            link = h.past(link, f"link{number}_{hop}")
        tokens.append(link)
    pairs = []
    for link, following in zip(tokens, (*engines[1:], engines[0]), strict=True):
        valid, payload = following.link_in.valid, Value.cast(following.link_in.payload)
        pairs += [(valid, link[0]), (Mux(valid, payload, 0), Mux(valid, link[1:], 0))]
    _same(h, "each_engine_hears_the_one_before_after_the_hop", pairs)
    _same(h, "each_engine_has_its_number", [(each.engine, number) for number, each in enumerate(engines)])
    _same(h, "the_machine_is_idle_with_all_engines", [(dut.idle, Cat(*(each.idle for each in engines)).all())])
    return h


PROOFS = (
    Proof(name="engine-wiring", harness=engine, depth=1),
    Proof(name="switched-engine-wiring", harness=switched_engine, depth=1),
    Proof(name="machine-wiring", harness=machine, depth=CONFIG.link_cycles + 1),
)
