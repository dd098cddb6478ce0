"""A machine with outputs that executors do not read: quiescence, exceptions, readiness for the host.

Its trace is a number that depends on all of that in each cycle.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from amaranth.hdl import Cat, Elaboratable, Signal
from amaranth.lib import wiring

from cyscc.hw.accelerator import Accelerator
from cyscc.hw.application_engine import ApplicationEngine
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.shell import Shell
from cyscc.sim.executors.amaranth import AmaranthExecutor, Elaborated
from cyscc.sim.executors.pin_driver import Pins
from cyscc.sim.machine import Machine, create_machine
from cyscc.sim.memory import Memory, parse_profile

FACTOR = 6364136223846793005
"""A trace is multiplied by it, modulo 2^64, before what a cycle shows is added."""


class WatchedEngine(ApplicationEngine):
    """An AE with a port more.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.

    Attributes
    ----------
    seen : Signal
        Who is quiescent, the exception, and what is ready for the host.
    """

    def __init__(self, config: AcceleratorConfig) -> None:
        self._kernels: list[Any] = []
        super().__init__(config, instrument=True, make_kernel=self._kernel)
        self.seen = Signal(5 + config.bfs_kernels + config.intersection_kernels)

    def _kernel(self, kind: type[wiring.Component], config: AcceleratorConfig) -> wiring.Component:
        make: Callable[..., wiring.Component] = kind
        self._kernels.append(make(config, instrument=True))
        return self._kernels[-1]

    def elaborate(self, platform: object) -> Elaboratable:
        """Add the port."""
        with patch("cyscc.hw.application_engine.Shell", partial(Shell, instrument=True)):
            m: Any = super().elaborate(platform)
        quiet = [part.quiescent for part in (m.submodules.shell, *self._kernels)]
        ready = [stream.ready for stream in (self.write, self.read, self.instruction)]
        m.d.comb += self.seen.eq(Cat(*quiet, self.exception, *ready))
        return m


def watched_accelerator(config: AcceleratorConfig) -> Accelerator:
    """Return a machine of such AEs."""
    return Accelerator(config, instrument=True, make_engine=WatchedEngine)


class _Executor(AmaranthExecutor):
    """Keeps the trace of each AE."""

    def __init__(self, config: AcceleratorConfig, memory: Memory, *, watchdog: int) -> None:
        self._accelerator = watched_accelerator(config)
        self.traces = [0] * config.engines
        with patch("cyscc.sim.executors.amaranth.elaborated", lambda _: Elaborated(self._accelerator)):
            super().__init__(config, memory, watchdog=watchdog)

    def _drive(self, engines: Sequence[Pins]) -> None:
        pins: Any = engines[0]
        idle = pins.context.get(self._accelerator.idle)
        for number, engine in enumerate(self._accelerator.engines):
            shown = pins.context.get(engine.seen) | idle << 32
            self.traces[number] = (self.traces[number] * FACTOR + shown) % 2**64
        super()._drive(engines)


@contextmanager
def watched(config: AcceleratorConfig, memory: str, *, cycle_limit: int) -> Iterator[Machine]:
    """Make a watched machine in Amaranth's simulator, whose executor has `traces`; close it at the end of the block."""
    machine = create_machine(config, parse_profile(memory), executor=partial(_make, config), cycle_limit=cycle_limit)
    try:
        yield machine
    finally:
        machine.close()


def _make(config: AcceleratorConfig, model: Memory, watchdog: int) -> _Executor:
    return _Executor(config, model, watchdog=watchdog)
