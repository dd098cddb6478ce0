"""Proofs about what only connects: an engine around its shell and kernels, the machine around its engines."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any
from unittest.mock import patch

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from cyscc.hw.accelerator import Accelerator
from cyscc.hw.application_engine import ApplicationEngine, application_engine_signature
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.shell import Shell
from cyscc.hw.verilog import port_names
from tests.formal.faults import spoiled
from tests.formal.harness import Harness
from tests.formal.proof import Proof

CONFIG = PRESETS["test"]


class _Stub(wiring.Component):
    """Stub with the ports of a component, which connects them to those of its twin."""

    @cached_property
    def twin(self) -> Any:
        """The opposite ports, by which a harness drives and reads the component."""
        return self.signature.create(path=("twin",))

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect both."""
        m = Module()
        for name, (port, way) in port_names(self).items():
            inner, _ = port_names(self.twin)[name]
            # A mere wire would leave no part in the netlist, with pins that may be faulty.
            m.d.comb += port.eq(inner | 0) if way == PortDirection.Output else inner.eq(port | 0)
        return m


class _EmptyShell(_Stub, Shell):
    """The same of a shell."""


def _free(h: Harness, name: str, component: Any, way: PortDirection) -> None:
    """Drive the ports of a direction with anything."""
    for port, (value, its) in port_names(component).items():
        if its == way:
            h.m.d.comb += value.eq(h.free(len(value), f"{name}_{port}"))


def _same(h: Harness, name: str, pairs: Iterable[tuple[Any, Any]]) -> None:
    """Claim that the first of each pair is always the second."""
    claims = [Value.cast(first) == Value.cast(second) for first, second in pairs]
    h.prove(Cat(*claims).all(), name)


def _stream(first: Any, second: Any) -> list[tuple[Any, Any]]:
    """Return the pairs of a stream driven by another; payloads that are not valid are ignored."""
    valid = second.valid
    return [(first.valid, valid), (Mux(valid, Value.cast(first.payload), 0), Mux(valid, Value.cast(second.payload), 0))]


def engine() -> Harness:
    """Return the harness of an engine whose shell and kernels may do anything."""
    h = Harness()
    twins: list[Any] = []

    def known(stub: _Stub) -> wiring.Component:
        twins.append(stub.twin)
        return stub

    def kernel(kind: Any, config: AcceleratorConfig) -> wiring.Component:
        return known(_Stub(kind.signature_of(config)))

    with patch("cyscc.hw.application_engine.Shell", lambda config: known(_EmptyShell(config))):
        dut = h.add("dut", ApplicationEngine(CONFIG, make_kernel=kernel)).ports
    for number, each in enumerate(twins):
        _free(h, f"part{number}", each, PortDirection.Output)
    _free(h, "dut", dut, PortDirection.Input)
    shell_, *kernels = twins
    bfs, intersection = kernels[: CONFIG.bfs_kernels], kernels[CONFIG.bfs_kernels :]
    for place, own in ((shell_.bfs, bfs), (shell_.intersection, intersection)):
        module = "bfs" if own is bfs else "intersection"
        chains = [place.chain_out, *(each.chain_out for each in own)]
        tokens = [place.token_out, *(each.token_out for each in own)]
        links = [
            *zip((*(each.chain_in for each in own), place.chain_in), chains, strict=True),
            *zip((*(each.token_in for each in own), place.token_in), tokens, strict=True),
        ]
        _same(h, f"chain_and_ring_pass_all_{module}_kernels", [pair for link in links for pair in _stream(*link)])
        ends = Cat(*(each.done for each in own)), Cat(*(each.error for each in own))
        _same(h, f"the_shell_hears_all_{module}_kernels", zip((place.done, place.error), ends, strict=True))
    owns = shell_.intersection_owns
    for number, port in enumerate(dut.port):
        _port(h, number, port, owns, bfs[number], intersection[number] if number < len(intersection) else None)
    given, told = [], []
    for name in ("write", "read", "instruction"):
        given += _stream(getattr(shell_, name), getattr(dut, name))
        told.append((getattr(dut, name).ready, getattr(shell_, name).ready))
    given += [*_stream(shell_.link_in, dut.link_in), (shell_.engine, dut.engine)]
    told += [*_stream(dut.data, shell_.data), *_stream(dut.link_out, shell_.link_out)]
    told += [(dut.idle, shell_.idle), (dut.exception, shell_.exception)]
    _same(h, "the_shell_gets_what_comes", given)
    _same(h, "the_shell_is_what_speaks", told)
    return h


def _port(h: Harness, number: int, port: Any, owns: Any, bfs: Any, intersection: Any) -> None:
    """Claim that a port is its owner's."""
    asked, answered = [], []
    for kernel in (bfs, intersection):
        if kernel is None:
            continue
        own = kernel.port
        mine = Value.cast(1) if intersection is None else owns if kernel is intersection else ~owns
        for name in ("read", "write"):
            mouth, ear = getattr(port, name), getattr(own, name)
            asked += [(mine & mouth.valid, mine & ear.valid)]
            looked = mine & ear.valid
            asked += [(Mux(looked, Value.cast(mouth.payload), 0), Mux(looked, Value.cast(ear.payload), 0))]
            answered += [(ear.ready, mine & mouth.ready)]
        asked += [(mine & port.flush, mine & own.flush)]
        heard = own.response.valid
        answered += [
            (heard, mine & port.response.valid),
            (Mux(heard, Value.cast(own.response.payload), 0), Mux(heard, Value.cast(port.response.payload), 0)),
            (own.flushed, mine & port.flushed),
        ]
    _same(h, f"port{number}_asks_what_its_owner_asks", asked)
    _same(h, f"port{number}_answers_its_owner", answered)


def machine() -> Harness:
    """Return the harness of a machine whose engines may do anything."""
    h = Harness()
    engines: list[Any] = []

    def make(config: AcceleratorConfig) -> wiring.Component:
        made = _Stub(application_engine_signature(config))
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
        _free(h, f"engine{number}", each, PortDirection.Output)
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


def skips_a_kernel(self: ApplicationEngine, m: Module) -> None:
    """Give the second kernel nothing of what the first one passes on."""
    m.d.comb += [m.submodules.bfs1.chain_in.valid.eq(0), m.submodules.bfs1.token_in.valid.eq(0)]


def loses_a_chain(self: ApplicationEngine, m: Module) -> None:
    """Give the intersection kernel no message."""
    m.d.comb += m.submodules.intersection0.chain_in.valid.eq(0)


def hears_one_kernel_twice(self: ApplicationEngine, m: Module) -> None:
    """Take the first kernel's end for the second's."""
    m.d.comb += m.submodules.shell.bfs.done[1].eq(m.submodules.bfs0.done)


def overhears_an_error(self: ApplicationEngine, m: Module) -> None:
    """Take no notice of the intersection kernel's errors."""
    m.d.comb += m.submodules.shell.intersection.error.eq(0)


def mixes_up_ports(self: ApplicationEngine, m: Module) -> None:
    """Send the second kernel's reads to the first one's address, and answer it when the first one is answered."""
    m.d.comb += [
        Value.cast(self.port[0].read.payload).eq(Value.cast(m.submodules.bfs1.port.read.payload)),
        Value.cast(self.port[1].read.payload).eq(Value.cast(m.submodules.bfs0.port.read.payload)),
        *(m.submodules[f"bfs{n}"].port.flushed.eq(self.port[1 - n].flushed) for n in range(2)),
    ]


def is_deaf(self: ApplicationEngine, m: Module) -> None:
    """Keep the host's writes from the shell."""
    m.d.comb += m.submodules.shell.write.valid.eq(0)


def keeps_quiet(self: ApplicationEngine, m: Module) -> None:
    """Report no exception."""
    m.d.comb += self.exception.eq(0)


def links_an_engine_to_itself(self: Accelerator, m: Module) -> None:
    """Take what the first engine sends for what the last one sends."""
    m.d.comb += self.engines[0].link_in.valid.eq(self.engines[0].link_out.valid)


def numbers_all_alike(self: Accelerator, m: Module) -> None:
    """Take every engine for the first."""
    m.d.comb += [engine.engine.eq(0) for engine in self.engines]


def asks_one_engine(self: Accelerator, m: Module) -> None:
    """Be idle when the first engine is."""
    m.d.comb += self.idle.eq(self.engines[0].idle)


def mixes_up_the_boundary(self: Accelerator, m: Module) -> None:
    """Take the engines for each other."""
    self.engines.reverse()


_ENGINE = f"{__name__}.ApplicationEngine"

PROOFS = (
    Proof(
        name="engine-wiring",
        claim="In an engine, chain and ring pass all kernels in their order, each port belongs to its owner, and the "
        "shell is connected to all other inputs and outputs.",
        harness=engine,
        depth=1,
        broken=spoiled(
            _ENGINE,
            chain_and_ring_pass_all_bfs_kernels=skips_a_kernel,
            chain_and_ring_pass_all_intersection_kernels=loses_a_chain,
            the_shell_hears_all_bfs_kernels=hears_one_kernel_twice,
            the_shell_hears_all_intersection_kernels=overhears_an_error,
            port0_asks_what_its_owner_asks=mixes_up_ports,
            port0_answers_its_owner=mixes_up_ports,
            port1_asks_what_its_owner_asks=mixes_up_ports,
            port1_answers_its_owner=mixes_up_ports,
            the_shell_gets_what_comes=is_deaf,
            the_shell_is_what_speaks=keeps_quiet,
        ),
    ),
    Proof(
        name="machine-wiring",
        claim="Each engine has its number and its part of the machine's ports, and receives tokens of the previous "
        "engine after the cycles of a hop; the machine is idle when all engines are.",
        harness=machine,
        depth=CONFIG.link_cycles + 1,
        broken=spoiled(
            f"{__name__}.Accelerator",
            each_engine_hears_the_one_before_after_the_hop=links_an_engine_to_itself,
            each_engine_has_its_number=numbers_all_alike,
            the_machine_is_idle_with_all_engines=asks_one_engine,
            each_engine_has_its_share_of_the_boundary=mixes_up_the_boundary,
        ),
    ),
)
