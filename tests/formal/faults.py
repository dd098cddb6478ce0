"""Faults that many components can have."""

from functools import reduce
from typing import Any

from amaranth.hdl import Module, Signal, Value

from tests.formal.proof import Broken, Fault


def _named(fault: Fault, name: str, says: str) -> Fault:
    fault.__name__ = name
    fault.__doc__ = says
    return fault


def _member(component: Any, path: str) -> Value:
    return Value.cast(reduce(getattr, path.split("."), component))


def _every_second_cycle(path: str, *, registered: bool) -> Fault:
    """Return the fault that an output is 0 in every second cycle, not yet named."""

    def fault(self: Any, m: Module) -> None:
        fails = Signal(name="fails")
        m.d.sync += fails.eq(~fails)
        with m.If(fails):
            m.d["sync" if registered else "comb"] += _member(self, path).eq(0)

    return fault


def falls(signal: str, *, registered: bool = False) -> Fault:
    """Return the fault that an output is 0 in every second cycle.

    Parameters
    ----------
    signal : str
        The output's path in the component.
    registered : bool
        The component drives it from a register.
    """
    fault = _every_second_cycle(signal, registered=registered)
    return _named(fault, f"{signal.replace('.', '_')}_falls", f"`{signal}` is 0 in every second cycle.")


def blinks(stream: str, *, registered: bool = False) -> Fault:
    """Return the fault that a stream is not valid in every second cycle, taken or not; parameters as of `falls`."""
    fault = _every_second_cycle(f"{stream}.valid", registered=registered)
    return _named(fault, f"{stream.replace('.', '_')}_blinks", f"`{stream}` is offered every second cycle only.")


def changes(stream: str, *, registered: bool = False) -> Fault:
    """Return the fault that the payload of a stream is another in every second cycle; parameters as of `falls`."""
    fault = _every_second_cycle(f"{stream}.payload", registered=registered)
    says = f"The payload of `{stream}` is lost every second cycle."
    return _named(fault, f"{stream.replace('.', '_')}_changes", says)


def sticks(signal: str, *, at: int) -> Fault:
    """Return the fault that an output always has one value.

    Parameters
    ----------
    signal : str
        The output's path in the component.
    at : int
        The value.
    """

    def fault(self: Any, m: Module) -> None:
        m.d.comb += _member(self, signal).eq(at)

    return _named(fault, f"{signal.replace('.', '_')}_sticks_at_{at}", f"`{signal}` is always {at}.")


def spoiled(place: str, depth: int = 16, /, **faults: Fault) -> tuple[Broken, ...]:
    """Return broken variants of a class.

    Parameters
    ----------
    place : str
        The class, by a name under which the harness or its hardware finds it.
    depth : int
        Cycles in which they must fail.
    **faults : Fault
        By the property that each breaks.
    """
    return tuple(Broken(fault=fault, place=place, breaks=breaks, depth=depth) for breaks, fault in faults.items())


def breaking(place: str, stream: str, *, name: str | None = None, registered: bool = False) -> tuple[Broken, ...]:
    """Return the broken variants of a class whose output stream does not obey the rules.

    Parameters
    ----------
    place : str
        The class, by a name under which the harness or its hardware finds it.
    stream : str
        The stream's path in the component.
    name : str, optional
        Its name in the harness, if that is another.
    registered : bool
        The component drives it from a register.
    """
    name = name or stream
    return spoiled(
        place,
        **{
            f"{name}_valid_stays": blinks(stream, registered=registered),
            f"{name}_payload_steady": changes(stream, registered=registered),
        },
    )
