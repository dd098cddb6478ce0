"""The harness of proofs: free inputs around a component, assumptions, named properties, and stubs of parts."""

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any, Self

from amaranth.back import rtlil
from amaranth.hdl import Cat, ClockDomain, Elaboratable, Fragment, MemoryInstance, Module, Mux, ShapeLike, Signal, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import stream, wiring

from cyscc.hw.verilog import port_names

TOP = "harness"
PINS = "_pins"
"""How the names of modules end that are but pins of others."""


def _may_be_unused(elaboratable: Any) -> None:
    """Have Amaranth not warn if this is never elaborated."""
    elaboratable._MustUse__silence = True


class _Opened(Elaboratable):
    """A component that is already elaborated, so that its parts can be inspected."""

    def __init__(self, fragment: Fragment) -> None:
        self._fragment = fragment
        _may_be_unused(self)

    def elaborate(self, platform: object) -> Elaboratable:
        """Return the elaborated module."""
        return self._fragment


class _Pins(Elaboratable):
    """Connections between the ports of a component and the opposite ones, with a cell each that may be faulty."""

    def __init__(self, component: Any, twin: Any) -> None:
        self._component, self._twin = component, twin
        _may_be_unused(self)

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect both."""
        m = Module()
        for name, (port, way) in port_names(self._component).items():
            other, _ = port_names(self._twin)[name]
            m.d.comb += other.eq(port | 0) if way == PortDirection.Output else port.eq(other | 0)
        return m


class _Outside:
    """A component as it is seen from behind its pins."""

    def __init__(self, component: Any, pins: Any) -> None:
        self._component, self._pins = component, pins

    def __getattr__(self, name: str) -> Any:
        """Return a port, or what else the component has."""
        return getattr(self._pins if name in self._component.signature.members else self._component, name)


class Part:
    """A component of the hardware under proof, with access to its internals.

    Parameters
    ----------
    fragment : Fragment
        What the component was elaborated to.
    outside : object, optional
        The component with the ports by which it is reached, if these are not its own.
    """

    def __init__(self, fragment: Fragment, outside: Any = None) -> None:
        self.fragment = fragment
        self._outside = outside

    @property
    def ports(self) -> Any:
        """The component itself, for its ports."""
        return self._outside or self.fragment.origins[0]

    def part(self, path: str) -> "Part":
        """Return the submodule of this path, its names joined by dots."""
        fragment = self.fragment
        for name in path.split("."):
            fragment = fragment.find_subfragment(name)
        return Part(fragment)

    def signal(self, name: str) -> Any:
        """Return the signal of this name that the part itself drives.

        Raises
        ------
        KeyError
            There is none, or there are several.
        """
        found: dict[int, Signal] = {}
        for statements in self.fragment.statements.values():
            for statement in statements:
                found |= {id(signal): signal for signal in statement._lhs_signals() if signal.name == name}
        if len(found) != 1:
            raise KeyError(f"{len(found)} signals are named {name!r}")
        return next(iter(found.values()))

    def state(self, name: str, *, of: str = "fsm") -> Any:
        """Return whether the part's state machine `of` is in the state of this name."""
        machine = self.fragment.find_generated(of)
        return machine.state == machine.encoding[name]

    def word(self, memory: str, address: Value, *, name: str) -> Signal:
        """Return a signal with the content of a memory of the part, through a port of its own.

        Parameters
        ----------
        memory : str
            The memory's name in the part.
        address : Value
            Where to look.
        name : str
            Name of the signal.
        """
        instance = self._memory(memory)
        data = Signal(instance._data.shape, name=name)
        instance.read_port(domain="comb", addr=address, data=data, en=Value.cast(1), transparent_for=())
        return data

    def shown(self, memory: str) -> Value:
        """Return what the first read port of a memory of the part shows."""
        return Value.cast(self._memory(memory)._read_ports[0]._data)

    def _memory(self, name: str) -> MemoryInstance:
        instance = self.fragment.find_subfragment(name)
        if not isinstance(instance, MemoryInstance):
            raise KeyError(f"{name!r} is no memory")
        return instance


class Harness:
    """A design to be proven: components, free inputs, assumptions about them, and properties.

    All registers begin with their initial values; there is no reset. Names are unique.

    Members
    -------
    m : Module
        The harness's own logic.
    parts : dict of str to Part
        The components by their names.
    properties : list of str
        Names of what is claimed.
    invariants : list of str
        Names of what holds as well and is proven along, so that induction succeeds.
    """

    with_pins = False
    """Whether components are reached by pins that may be faulty, in search of mutants."""

    def __init__(self) -> None:
        self.m = Module()
        # It may be made for the names of its properties alone.
        _may_be_unused(self.m)
        self._domain = ClockDomain("sync", reset_less=True)
        self.m.domains += self._domain
        self.parts: dict[str, Part] = {}
        self._inputs: list[Signal] = []
        self._conditions: dict[str, tuple[str, Signal]] = {}
        self.properties: list[str] = []
        self.invariants: list[str] = []
        self.first = self.register(1, "first", init=1)
        """High in the first cycle."""
        self.m.d.sync += self.first.eq(0)

    def add(self, name: str, component: Any) -> Part:
        """Add a component under a name, and return it opened."""
        fragment = Fragment.get(component, None)
        self.m.submodules[name] = _Opened(fragment)
        outside = None
        if Harness.with_pins:
            twin = component.signature.create(path=(name,))
            self.m.submodules[f"{name}{PINS}"] = _Pins(component, twin)
            outside = _Outside(component, twin)
        self.parts[name] = Part(fragment, outside)
        return self.parts[name]

    def free(self, shape: ShapeLike, name: str) -> Any:
        """Return an input that may have any value in any cycle."""
        signal = Signal(shape, name=name)
        self._inputs.append(Value.cast(signal))
        return signal

    def constant(self, shape: ShapeLike, name: str) -> Any:
        """Return an input that may have any value and keeps it."""
        signal = self.free(shape, name)
        self.assume(self.steady(Value.cast(signal), name), f"{name}_is_constant")
        return signal

    def register(self, shape: ShapeLike, name: str, *, init: int = 0) -> Any:
        """Return a register of the harness."""
        return Signal(shape, name=name, init=init)

    def past(self, value: Any, name: str, *, init: int = 0) -> Any:
        """Return a register with what the value was a cycle ago."""
        value = Value.cast(value)
        before = self.register(value.shape(), f"past_{name}", init=init)
        self.m.d.sync += before.eq(value)
        return before

    def steady(self, value: Any, name: str) -> Value:
        """Return whether the value is that of the previous cycle; true in the first cycle."""
        return self.first | (Value.cast(value) == self.past(value, name))

    def net(self, condition: Any, name: str) -> Signal:
        """Return a signal that has the value of an expression."""
        value = Value.cast(condition)
        signal = Signal(value.shape(), name=name)
        self.m.d.comb += signal.eq(value)
        return signal

    def counter(self, name: str, *, width: int, up: Any, down: Any = 0, clear: Any = 0) -> Any:
        """Return a register that counts events; `clear` comes first."""
        count = self.register(width, name)
        self.m.d.sync += count.eq(Mux(clear, 0, count + Value.cast(up) - Value.cast(down)))
        return count

    def flag(self, name: str, *, set: Any, clear: Any) -> Any:
        """Return a register that is set and cleared; `set` comes first."""
        flag = self.register(1, name)
        self.m.d.sync += flag.eq(Value.cast(set) | (flag & ~Value.cast(clear)))
        return flag

    def waited(self, name: str, *, width: int, waiting: Any) -> Any:
        """Return a register with the number of cycles, up to the last one, in which a condition held without break."""
        return self.counter(name, width=width, up=1, clear=~Value.cast(waiting).bool())

    def assume(self, condition: Any, name: str) -> None:
        """Assume a condition in every cycle."""
        self._add("assume", condition, name)

    def prove(self, condition: Any, name: str) -> None:
        """Claim that a condition holds in every cycle."""
        self._add("assert", condition, name)
        self.properties.append(name)

    def assume_sound_at_first(self, cycles: int) -> None:
        """Assume that all properties hold in the first cycles."""
        late = self.register(cycles, "late")
        self.m.d.sync += late.eq(Cat(1, late))
        for name in self.properties:
            self.assume(late[-1] | self._conditions[name][1], f"{name}_at_first")

    def invariant(self, condition: Any, name: str) -> None:
        """Have a condition proven along, for the induction."""
        self._add("assert", condition, name)
        self.invariants.append(name)

    def obeys_stream_rules(self, producer: stream.Interface, name: str, *, unless: Any = 0) -> None:
        """Claim that a valid payload stays valid and unchanged until it is accepted.

        Parameters
        ----------
        producer : stream.Interface
            The stream.
        name : str
            Name of the stream.
        unless : Value
            Excuse, in the cycle before.
        """
        valid, payload = self._stalled(producer, name, unless)
        self.prove(valid, f"{name}_valid_stays")
        self.prove(payload, f"{name}_payload_steady")

    def drive(self, make: Callable[[ShapeLike, str], Any], component: Any, *names: str) -> None:
        """Give inputs of a component, by name, what `make` makes: `free` or `constant`."""
        for name in names:
            port = Value.cast(getattr(component, name))
            self.m.d.comb += port.eq(make(port.shape(), name))

    def feed(self, producer: stream.Interface, valid: str, payload: str) -> None:
        """Give anything on a stream at any time, by inputs of these names."""
        self.m.d.comb += [
            producer.valid.eq(self.free(1, valid)),
            producer.payload.eq(self.free(producer.payload.shape(), payload)),
        ]

    def offer(self, producer: stream.Interface, name: str) -> None:
        """Offer anything on a stream at any time, by the rules."""
        self.feed(producer, f"{name}_valid", f"{name}_payload")
        self.assume_stream_rules(producer, name)

    def assume_stream_rules(self, producer: stream.Interface, name: str) -> None:
        """Assume that a stream's producer obeys the same rules."""
        valid, payload = self._stalled(producer, name, 0)
        self.assume(valid, f"{name}_valid_stays")
        self.assume(payload, f"{name}_payload_steady")

    def _stalled(self, producer: stream.Interface, name: str, unless: Any) -> tuple[Value, Value]:
        """Return whether a stalled stream has remained valid, with the same payload."""
        stalled = self.past(producer.valid & ~producer.ready & ~Value.cast(unless).bool(), f"{name}_stalled")
        return ~stalled | producer.valid, ~stalled | self.steady(producer.payload, f"{name}_payload")

    def _add(self, kind: str, condition: Any, name: str) -> None:
        if name in self._conditions:
            raise ValueError(f"there is a condition {name!r} already")
        self._conditions[name] = kind, self.net(Value.cast(condition).bool(), f"{kind}_{name}")

    def rtlil(self, *, only: Collection[str] | None = None, also: Collection[Signal] = ()) -> str:
        """Return the netlist, in which conditions are cells of their names.

        Parameters
        ----------
        only : collection of str, optional
            Leave out all properties and invariants but these.
        also : collection of Signal
            Signals that are to be outputs too: what drives them stays.
        """
        ports = [self._domain.clk, *self._inputs, *(signal for _, signal in self._conditions.values())]
        ports += [(None, signal, PortDirection.Output) for signal in also]
        text = rtlil.convert(self.m, name=TOP, ports=ports, emit_src=False)
        cells = [
            f"  cell ${kind} \\{name}\n    connect \\A \\{signal.name}\n    connect \\EN 1'1\n  end\n"
            for name, (kind, signal) in self._conditions.items()
            if kind == "assume" or only is None or name in only
        ]
        end = text.index("\nend\n", text.index(f"module \\{TOP}\n"))
        return "\n".join((text[:end], *cells, text[end:]))


class Stub(wiring.Component):
    """Stub with the ports of a component, which connects them to those of its twin."""

    @classmethod
    def of(cls, component: Any) -> Self:
        """Return the stub of a component that was made for its signature alone."""
        _may_be_unused(component)
        return cls(component.signature)

    @cached_property
    def twin(self) -> Any:
        """The opposite ports, by which a harness drives and reads the component."""
        return self.signature.create(path=("twin",))

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect both."""
        pins = _Pins(self.twin, self)
        if not Harness.with_pins:
            return pins.elaborate(platform)
        m = Module()
        m.submodules[f"stub{PINS}"] = pins
        return m


def free_ports(h: Harness, name: str, component: Any, way: PortDirection) -> None:
    """Drive the ports of a direction with anything."""
    for port, (value, its) in port_names(component).items():
        if its == way:
            h.m.d.comb += value.eq(h.free(len(value), f"{name}_{port}"))


def opened(component: Any, *, free: Sequence[str] = (), constant: Sequence[str] = ()) -> tuple[Harness, Part, Any]:
    """Return a harness with a component in it, some of whose inputs are free, some constant; the part, and its ports.

    Parameters
    ----------
    component : Component
        The component, which is called `dut`.
    free, constant : sequence of str
        Names of inputs.
    """
    h = Harness()
    part = h.add("dut", component)
    h.drive(h.free, part.ports, *free)
    h.drive(h.constant, part.ports, *constant)
    return h, part, part.ports
