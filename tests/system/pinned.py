"""Runs whose every trace is pinned: cycles, memory, counters, causes, what registers answer.

Executors that are compared with each other agree about faulty hardware as well; what a run on sound hardware leaves is
kept in `pins.json` instead.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Cat, Elaboratable, Signal
from amaranth.lib import wiring

from cyscc.hw.accelerator import Accelerator
from cyscc.hw.application_engine import ApplicationEngine
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.registers import kernel_register
from cyscc.hw.shell import Shell
from cyscc.sim.coprocessor import Instruction, Register, Status
from cyscc.sim.errors import MemoryAccessError
from cyscc.sim.executors.amaranth import AmaranthExecutor, Elaborated
from cyscc.sim.executors.pin_driver import Pins
from cyscc.sim.machine import Machine, create_machine
from cyscc.sim.memory import Memory, parse_profile
from tests.sim.executors.outcomes import CROWD, TANGLE
from tests.system.graphs import GRAPHS, SOURCES, graph_of
from tests.system.runs import MEMORIES, check_bfs, check_scc, made

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


_PINS = Path(__file__).with_name("pins.json")
_ADDRESSES = 1 << 48
_BASE = 4096

_Stray = Mapping[Register, int]
_HOME: _Stray = MappingProxyType({})


@dataclass(frozen=True)
class Trace:
    """Results of a run.

    Parameters
    ----------
    cycles : int
        Cycles since reset; 0 if a memory error ended the run.
    digest : str
        Of everything else: the memory, counters, causes, the registers of all AEs.
    shown : str
        What the AEs showed in each cycle besides, of executors that look at it, see `tests.system.pinned`.
    """

    cycles: int
    digest: str
    shown: str = ""

    def agrees(self, pin: "Trace") -> bool:
        """Return whether it equals its pin, for the values that the executor provides."""
        return self == replace(pin, shown=pin.shown if self.shown else "")


@dataclass(frozen=True, kw_only=True)
class PinnedRun:
    """A run.

    Parameters
    ----------
    name : str
        What it is called.
    preset : str
        Configuration of the machine.
    memory : str
        Memory profile.
    work : callable
        Makes it on a machine, checks its results, and returns what else is to be pinned.
    everywhere : bool
        It is short enough for every executor, and is made on each.
    watched : bool
        And it is short enough to be looked at cycle by cycle.
    """

    name: str
    preset: str = "test"
    memory: str
    work: Callable[[Machine], object]
    everywhere: bool = False
    watched: bool = False

    def trace(self, machine: Machine) -> Trace:
        """Perform the run on a new machine, and return its results."""
        found = self.work(machine)
        if machine.memory.error() is not None:
            # When exactly an executor stops is its own business, and the machine is of no more use.
            return Trace(0, hashlib.sha256(repr(found).encode()).hexdigest()[:16])
        answers = _registers(machine)
        counted = machine.statistics()
        image = machine.read(_BASE, np.uint8, machine.memory.allocated)
        digest = hashlib.sha256(repr((found, answers, counted["counters"], counted["causes"])).encode())
        digest.update(image.tobytes())
        traces = getattr(machine._executor, "traces", ()) if self.watched else ()
        return Trace(machine.cycle, digest.hexdigest()[:16], " ".join(f"{trace:016x}" for trace in traces))


def pins() -> dict[str, Trace]:
    """Return the traces of sound hardware by the run's name."""
    return {name: Trace(*values) for name, values in json.loads(_PINS.read_text()).items()}


def _registers(machine: Machine) -> list[list[int]]:
    """Read all registers, and some that do not exist."""
    kernels = machine.config.bfs_kernels + machine.config.intersection_kernels
    words = [kernel_register(kernel, word) for kernel in range(kernels + 1) for word in range(8)]
    answers: list[list[int]] = machine.get_registers([*range(20), 0x0FFF, 0x8000, *words]).tolist()
    return answers


def _scc(name: str, **options: int) -> Callable[[Machine], object]:
    def work(machine: Machine) -> object:
        run = check_scc(machine, GRAPHS[name], **options)
        return run.cycles, run.retries, run.colours.tolist()

    return work


def _bfs(name: str, *, times: int = 1, **options: int) -> Callable[[Machine], object]:
    def work(machine: Machine) -> object:
        runs = [check_bfs(machine, GRAPHS[name], SOURCES.get(name, 0), **options) for _ in range(times)]
        return [(run.cycles, run.retries, run.level_records) for run in runs]

    return work


def _both(machine: Machine) -> object:
    """Find the components of a graph, and search another."""
    components, search = check_scc(machine, TANGLE, slack=500), check_bfs(machine, CROWD, 0, slack=500)
    return components.cycles, search.level_records


_SPREAD = graph_of(120, [(v, (7 * v + step) % 120) for v in range(120) for step in (1, 5, 11)])


def _spread(machine: Machine) -> object:
    return check_bfs(machine, _SPREAD, 0).level_records, check_scc(machine, _SPREAD).cycles


def _noise(seed: int, count: int) -> list[int]:
    """Return graph words of vertices that were not visited, every other bit of which is random."""
    words = np.random.default_rng(seed).integers(0, 1 << 63, count, np.uint64, endpoint=False)
    return [2 * int(word) for word in words]


def _level(machine: Machine, *, shift: int = 0, capacity: int = 0xFFFF_FFFF, stray: _Stray = _HOME) -> None:
    """Dispatch a level by hand.

    Parameters
    ----------
    machine : Machine
        Where.
    shift : int
        Added to the ids of all vertices and to the places of their neighbours, and taken off the arrays' addresses, so
        that all bits of both are used.
    capacity : int
        Entries that the queues take.
    stray : mapping of Register to int
        Added to addresses.
    """
    if machine.config.pair_reads:
        # Pairs stay aligned.
        shift &= -2
    words = _noise(shift, 12)
    if machine.config.edge_chunk:
        # Few chunks of each, so that all have a place in the next queue.
        words = [word & ~0xFFFF_FFF0 for word in words]
    targets = [[8, 9, 4], [8, 5], [], [10, 11, 6, 7]]
    begins = np.cumsum([0, *map(len, targets)])
    for vertex, (begin, own) in enumerate(zip(begins, targets, strict=False)):
        words[vertex] = (int(begin) + shift) % 2**32 << 32 | len(own) << 1 | 1
    arrays: dict[Register, npt.NDArray[Any]] = {
        Register.WORDS: np.array(words, np.uint64),
        Register.NEIGHBOURS: np.array([(v + shift) % 2**32 for own in targets for v in own], np.uint32),
        Register.CURRENT_QUEUE: np.array(words[:4], np.uint64),
        Register.NEXT_QUEUE: np.zeros(16, np.uint64),
        Register.REACH_QUEUE: np.zeros(16, np.uint32),
    }
    values = {Register.CURRENT_COUNT: 4, Register.CAPACITY: capacity}
    for register, array in arrays.items():
        values[register] = machine.allocate(array.nbytes)
        machine.write(values[register], array)
    values[Register.WORDS] -= 8 * shift
    values[Register.NEIGHBOURS] -= 4 * shift
    for register, offset in stray.items():
        values[register] += offset
    machine.set_registers({register: value % _ADDRESSES for register, value in values.items()})
    machine.dispatch(Instruction.BFS_LEVEL)


def _intersect(machine: Machine, *, shift: int = 0, colour: int = 3, stray: _Stray = _HOME) -> None:
    """Dispatch an intersection by hand; parameters as of `_level`."""
    seen = {Register.WORDS: (0, 1, 2, 5), Register.TRANSPOSED_WORDS: (1, 2, 3, 4)}
    values = {Register.COLOUR: colour}
    for place, (register, visited) in enumerate(seen.items()):
        words = [word | (v in visited) for v, word in enumerate(_noise(shift + place, 6))]
        values[register] = machine.allocate(48)
        machine.write(values[register], np.array(words, np.uint64))
        values[register] -= 8 * shift
    colours = machine.allocate(24)
    machine.write(colours, np.array([0, 0, 7, 0, 9, 0], np.uint32))
    values[Register.COLOURS] = colours - 4 * shift
    for queue, count, visited in zip(
        (Register.FORWARD_QUEUE, Register.BACKWARD_QUEUE),
        (Register.FORWARD_COUNT, Register.BACKWARD_COUNT),
        seen.values(),
        strict=True,
    ):
        values[queue] = machine.allocate(16)
        machine.write(values[queue], np.array([(v + shift) % 2**32 for v in visited], np.uint32))
        values[count] = len(visited)
    for register, offset in stray.items():
        values[register] += offset
    machine.set_registers({register: value % _ADDRESSES for register, value in values.items()})
    machine.dispatch(Instruction.INTERSECTION)


_SHIFTS = (0x5555_5555, 0xAAAA_AAAA)


def _every_bit(machine: Machine) -> object:
    """Run instructions that use every bit of ids, addresses and data."""
    found = []
    for shift in _SHIFTS:
        _level(machine, shift=shift)
        found.append((machine.wait(), machine.get_registers([Register.CURRENT_COUNT]).tolist()))
        _intersect(machine, shift=shift, colour=shift)
        found.append((machine.wait(), machine.get_registers([Register.NEXT_START]).tolist()))
    return found


def _every_capacity(machine: Machine) -> object:
    """Run levels in queues of as many entries as one bit of the capacity says."""
    found = []
    for bit in range(2, 32):
        _level(machine, capacity=1 << bit)
        found.append((machine.wait(), machine.get_registers([Register.STATUS]).tolist()))
    return found


def _full(machine: Machine) -> object:
    """Run a level for which the queues are too short."""
    _level(machine, capacity=2)
    cycles = machine.wait()
    return cycles, machine.get_registers([Register.STATUS, Register.CURRENT_COUNT]).tolist()


def _registers_alone(machine: Machine) -> object:
    """Write and read registers, with every bit as 0 and as 1; dispatch what does not exist."""
    found: list[object] = []
    for pattern in (0x5555_5555_5555_5555, 0xAAAA_AAAA_AAAA_AAAA):
        machine.set_registers({register: (pattern + 0x1111 * register) % 2**64 for register in Register})
        found.append(_registers(machine))
    for unknown in (2, 7, 16, 31):
        machine.dispatch(unknown)  # type: ignore[arg-type]  # that is the purpose
        found.append((machine.wait(), machine.get_registers([Register.STATUS]).tolist()))
    return found


def _watched(machine: Machine) -> object:
    """Read the state of all kernels repeatedly while they work."""
    found: list[object] = []
    for dispatch in (
        lambda: _level(machine),
        lambda: _intersect(machine),
        lambda: _level(machine, shift=1, capacity=2),
    ):
        dispatch()
        machine._executor.run(40)  # more than the host takes for its writes
        for _ in range(40):
            found.append(_registers(machine))
            if not any(status & Status.BUSY for status in machine.get_registers([Register.STATUS])[0].tolist()):
                break
        else:
            raise AssertionError("the instruction does not end")
    return found


def _astray(dispatch: Callable[..., None], register: Register, offset: int) -> Callable[[Machine], object]:
    """Return the run that a stray address ends, which the error names."""

    def work(machine: Machine) -> object:
        dispatch(machine, stray={register: offset})
        try:
            machine.wait()
        except MemoryAccessError as error:
            return str(error)
        raise AssertionError("no access went astray")

    return work


def _stray_runs() -> Iterator[PinnedRun]:
    addresses: dict[Callable[..., None], tuple[Register, ...]] = {
        _level: (
            Register.WORDS,
            Register.NEIGHBOURS,
            Register.CURRENT_QUEUE,
            Register.NEXT_QUEUE,
            Register.REACH_QUEUE,
        ),
        _intersect: (
            Register.WORDS,
            Register.TRANSPOSED_WORDS,
            Register.COLOURS,
            Register.FORWARD_QUEUE,
            Register.BACKWARD_QUEUE,
        ),
    }
    for dispatch, registers in addresses.items():
        for register in registers:
            for offset in (0xAAAA_AAAA_0000, 0x5555_5555_0000):
                name = f"{dispatch.__name__[1:]} with {register.name.lower()} astray by {offset:x}"
                yield PinnedRun(name=name, memory="fixed:9", work=_astray(dispatch, register, offset))


def _graph_runs() -> Iterator[PinnedRun]:
    for name, memory in {
        "one vertex": "hc2",
        "isolated between": "stress",
        "self-loops": "fixed:75",
        "repeated edges": "hc2",
        "bow tie": "hc2",
        "components in a row": "fixed:1",
        "complete, loops too": "fixed:75",
        "zero-degree neighbours": "fixed:9",
        "hub, every edge three times": "fixed:75",
        "random dense": "hc2",
        "random sparse": "fixed:1",
    }.items():
        yield PinnedRun(name=f"components of {name}, {memory}", memory=memory, work=_scc(name))
    for name, memory in {"star out": "fixed:1", "hub of leaves": "hc2", "R-MAT": "fixed:75"}.items():
        yield PinnedRun(name=f"searches of {name}, {memory}", memory=memory, work=_bfs(name, times=2))
    for name, memory in {"random dense": "fixed:75", "repeated edges": "fixed:1"}.items():
        yield PinnedRun(name=f"overflow of {name}, {memory}", memory=memory, work=_scc(name, slack=0))


def _hub(machine: Machine) -> object:
    """Search from a vertex before a hub, whose edges are in many chunks, and from the hub; leaves are beyond a row."""
    leaves = range(2, 90)
    graph = graph_of(90, [(0, 1), *((1, leaf) for leaf in leaves), *((leaf, 0) for leaf in leaves if leaf % 9 == 0)])
    return [check_bfs(machine, graph, source).level_records for source in (0, 1)]


def _fast_runs() -> Iterator[PinnedRun]:
    """Yield the runs of the preset ``fast-test``."""
    make = partial(PinnedRun, preset="fast-test")
    for memory in ("fixed:1", "fixed:75", "hc2", "stress:5"):
        shown = memory == "fixed:1"
        name = f"fast: components and search, {memory}"
        yield make(name=name, memory=memory, work=_both, everywhere=shown, watched=shown)
    yield make(name="fast: registers", memory="fixed:9", work=_registers_alone, everywhere=True, watched=True)
    yield make(name="fast: every bit", memory="fixed:9", work=_every_bit, everywhere=True, watched=True)
    yield make(name="fast: every capacity", memory="fixed:9", work=_every_capacity)
    yield make(name="fast: full queues", memory="fixed:9", work=_full, everywhere=True, watched=True)
    yield make(name="fast: watched", memory="fixed:400", work=_watched)
    yield make(name="fast: ids beyond the filter, hc2", memory="hc2", work=_spread)
    yield make(name="fast: hub, stress", memory="stress", work=_hub)
    yield make(name="fast: overflow of random dense, fixed:75", memory="fixed:75", work=_scc("random dense", slack=0))
    for name, memory in {"repeated edges": "fixed:1", "hub of leaves": "hc2", "R-MAT": "fixed:75"}.items():
        yield make(name=f"fast: searches of {name}, {memory}", memory=memory, work=_bfs(name, times=2))
    for name, memory in {"hub, every edge three times": "stress", "ladder": "fixed:1"}.items():
        yield make(name=f"fast: components of {name}, {memory}", memory=memory, work=_scc(name))
    for run in _stray_runs():
        yield replace(run, preset="fast-test", name=f"fast: {run.name}")


RUNS: tuple[PinnedRun, ...] = (
    *(
        PinnedRun(
            name=f"components and search, {memory}",
            memory=memory,
            work=_both,
            everywhere=memory != "fixed:400",
            watched=memory == "fixed:1",
        )
        for memory in (*MEMORIES[:-1], "stress:5")
    ),
    PinnedRun(name="registers", memory="fixed:9", work=_registers_alone, everywhere=True, watched=True),
    PinnedRun(name="every bit", memory="fixed:9", work=_every_bit, everywhere=True, watched=True),
    PinnedRun(name="every capacity", memory="fixed:9", work=_every_capacity),
    PinnedRun(name="full queues", memory="fixed:9", work=_full, everywhere=True, watched=True),
    PinnedRun(name="watched", memory="fixed:400", work=_watched),
    PinnedRun(name="spread, hc2", memory="hc2", work=_spread),
    *_graph_runs(),
    *_stray_runs(),
    *_fast_runs(),
)
"""All pinned runs."""


@contextmanager
def slowly(run: PinnedRun) -> Iterator[Machine]:
    """Make the machine for a run in Amaranth's simulator, watched if the run is; close it at the end of the block."""
    make = watched if run.watched else partial(made, executor="amaranth")
    with make(PRESETS[run.preset], run.memory, cycle_limit=100_000) as machine:
        yield machine
