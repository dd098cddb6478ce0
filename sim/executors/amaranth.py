"""Executor on Amaranth's own simulator, with its counters and its state by name."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Fragment, Signal, Value
from amaranth.hdl._ir import Design
from amaranth.sim import Simulator

from cyscc.hw.accelerator import Accelerator
from cyscc.hw.application_engine import ApplicationEngine
from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.interfaces import FILL_WIDTH
from cyscc.sim.executors.amaranth_drawing import AmaranthDrawing
from cyscc.sim.executors.base import LINK_PLACES, RunState
from cyscc.sim.executors.pin_driver import PinDriver, Pins, Saved
from cyscc.sim.executors.registers import memories, registers
from cyscc.sim.executors.samples import MODULES, Samples, fifos, sample_dtype
from cyscc.sim.executors.spells import SpellRequest, SpellTracker
from cyscc.sim.memory import Memory
from cyscc.sim.named_words import NamedWords
from cyscc.sim.observation.waves import Waves


class KernelCounts:
    """Counters of a sample row for each AE, and the ring of rows.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.

    Attributes
    ----------
    samples : Samples or None
        The ring, if recording.
    spells : SpellTracker or None
        The spells, if logged.
    """

    def __init__(self, config: AcceleratorConfig) -> None:
        self._now = np.zeros(config.engines, sample_dtype(config))
        self._kernels = {module: getattr(config, f"{module}_kernels") for module in MODULES}
        self._fifos = {module: len(names) for module, names in fifos(config).items()}
        self._idle = np.ones((config.engines, sum(self._kernels.values())), bool)
        for module in MODULES:
            self._now[module]["begun"] = self._now[module]["ended"] = -1
        self.samples: Samples | None = None
        self.spells: SpellTracker | None = None

    def arrive(self, engines: Sequence[Pins]) -> None:
        """Count the tokens that reach a module in this cycle, before the clock edge."""
        for number, pins in enumerate(engines):
            for module in MODULES:
                self._now["turns"][module][number] += pins.get(f"{module}_arrival")

    def count(self, engines: Sequence[Pins], cycle: int) -> None:
        """Count a cycle, from register values after it."""
        for number, pins in enumerate(engines):
            place = 0
            for module, kernels in self._kernels.items():
                for kernel in range(kernels):
                    counts = self._now[module][number, kernel]
                    cause = pins.get(f"cause_{place}")
                    counts["causes"][cause] += 1
                    if self._idle[number, place] != (cause == Cause.IDLE):
                        self._idle[number, place] ^= True
                        counts["ended" if cause == Cause.IDLE else "begun"] = cycle
                    if self.samples is not None or self.spells is not None:
                        shown = pins.get(f"{module}_fill_{kernel}")
                        held = [shown >> FILL_WIDTH * n & ((1 << FILL_WIDTH) - 1) for n in range(self._fifos[module])]
                        if self.samples is not None:
                            self._count_fill(counts, held)
                        if self.spells is not None:
                            self.spells.show(number, place, cycle, cause=cause, held=held, module=module)
                    place += 1
        if self.samples is not None and (cycle + 1) % self.samples.interval == 0:
            self.samples.rows[:, (cycle + 1) // self.samples.interval % self.samples.places] = self.sample(cycle + 1)
            for module in MODULES:
                self._now[module]["interval_most"] = 0

    @staticmethod
    def _count_fill(counts: np.void, held: list[int]) -> None:
        counts["fill"] += held
        for name in ("interval_most", "instruction_most"):
            np.maximum(counts[name], held, out=counts[name])

    def sample(self, cycle: int) -> npt.NDArray[np.void]:
        """Return the current rows, stamped with a cycle."""
        self._now["cycle"] = cycle
        return self._now.copy()

    def begin_instruction_marks(self) -> None:
        """Reset ``instruction_most``."""
        for module in MODULES:
            self._now[module]["instruction_most"] = 0

    def _places(self) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
        """Yield each saved counter by name."""
        for engine in range(len(self._now)):
            for module, kernels in self._kernels.items():
                yield f"engine{engine}.{module}.turns", self._now["turns"][module][engine : engine + 1]
                for kernel in range(kernels):
                    counts = self._now[module][engine, kernel : kernel + 1]
                    for name in counts.dtype.names or ():
                        yield f"engine{engine}.{module}{kernel}.{name}", counts[name].reshape(-1)

    def saved(self) -> Saved:
        """Yield everything, by name."""
        for name, values in self._places():
            yield name, 64, values.tolist()

    def load(self, state: NamedWords, cycle: int) -> None:
        """Restore all counters from a saved state."""
        for name, values in self._places():
            values[:] = state.rows(name)[:, 0].view(np.int64)
        # A kernel is running if its last run has not ended.
        runs = [self._now[module]["ended"] >= self._now[module]["begun"] for module in MODULES]
        self._idle = np.concatenate(runs, axis=1)
        if self.samples is not None:
            self.samples.restart(cycle)
        if self.spells is not None:
            self.spells.restart()


class AmaranthState:
    """State of an accelerator in Amaranth's simulator, by name.

    Parameters
    ----------
    design : Design
        The accelerator. Its registers outside the AEs are the hops of the links.
    engines, link_cycles : int
        AEs, and hops of a link.
    """

    def __init__(self, design: Design, *, engines: int, link_cycles: int) -> None:
        inner = {register.name: register.signal for register in registers(design)}
        self._engines = engines
        self._links: list[list[tuple[Signal, Signal]]] = []
        if engines > 1:
            self._links = [
                [(inner.pop(f"link{n}_valid{hop}"), inner.pop(f"link{n}_token{hop}")) for hop in range(link_cycles)]
                for n in range(engines)
            ]
        self._rows: dict[str, list[Value]] = {name: [signal] for name, signal in inner.items()}
        self._rows |= {
            memory.name: [Value.cast(memory.data[row]) for row in range(memory.depth)] for memory in memories(design)
        }

    def _hops(self, cycle: int) -> Iterator[tuple[int, int, Signal, Signal]]:
        """Yield each hop of a link: the link, the arrival cycle of its token, and its registers."""
        for n, hops in enumerate(self._links):
            for hop, (valid, token) in enumerate(hops):
                yield n, cycle + len(hops) - 1 - hop, valid, token

    def saved(self, context: Any, cycle: int) -> Saved:
        """Yield the state before a cycle, by name."""
        for name, rows in self._rows.items():
            yield name, len(rows[0]), [context.get(row) for row in rows]
        cycles = [[-1] * LINK_PLACES for _ in range(self._engines)]
        payloads = [[0] * LINK_PLACES for _ in range(self._engines)]
        for link, arrival, valid, token in self._hops(cycle):
            if context.get(valid):
                cycles[link][arrival % LINK_PLACES] = arrival
                payloads[link][arrival % LINK_PLACES] = context.get(Value.cast(token))
        for n in range(self._engines):
            yield f"link{n}.cycle", 64, cycles[n]
            yield f"link{n}.payload", 64, payloads[n]

    def check(self, state: NamedWords) -> None:
        """Refuse the state of other hardware.

        Raises
        ------
        ValueError
            A memory has another size.
        """
        for name, rows in self._rows.items():
            if name in state.places and (found := state.places[name][1].rows) != len(rows):
                raise ValueError(f"{name} has {len(rows)} rows, not {found}")

    def load(self, context: Any, state: NamedWords, cycle: int) -> None:
        """Restore the known bits of a state before a cycle."""
        for name, rows in self._rows.items():
            if name not in state.places:
                continue
            _, field = state.places[name]
            for row, value in zip(rows, state.values(name), strict=True):
                before = int(context.get(row)) & ((1 << len(row)) - 1)
                after = before & ~field.known | value & field.known
                if after != before:
                    context.set(row, after)
        for link, arrival, valid, token in self._hops(cycle):
            place = arrival % LINK_PLACES
            taken = int(state.rows(f"link{link}.cycle")[place, 0]) == arrival
            context.set(valid, int(taken))
            if taken:
                context.set(Value.cast(token), int(state.rows(f"link{link}.payload")[place, 0]))


_CYCLE = 8e-9
"""Period of the simulated clock in seconds, of which an eighth must be whole picoseconds."""


class Elaborated(Fragment):
    """An elaborated accelerator, which any number of simulators take as it is: two thirds of the time of their start.

    Parameters
    ----------
    accelerator : Accelerator
        The accelerator.

    Attributes
    ----------
    accelerator : Accelerator
        The same, for its ports.
    """

    def __init__(self, accelerator: Accelerator) -> None:
        super().__init__()
        self.accelerator = accelerator
        self._design: Design = Fragment.get(accelerator, platform=None).prepare()

    def prepare(self) -> Design:
        """Return the design; a simulator asks for it first."""
        return self._design


@lru_cache(maxsize=1)
def elaborated(config: AcceleratorConfig) -> Elaborated:
    """Return the accelerator of a configuration, elaborated once for executors that follow each other."""
    return Elaborated(Accelerator(config, instrument=True))


class AmaranthExecutor(PinDriver):
    """Runs the whole accelerator in Amaranth's simulator.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles without progress and without outstanding memory requests after which a run counts as hung.
    waves : Waves, optional
        Waveform file to write.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        memory: Memory,
        *,
        watchdog: int,
        waves: Waves | None = None,
    ) -> None:
        super().__init__(config, memory, watchdog=watchdog)
        self._config = config
        fragment = elaborated(config)
        self._engines = [_Pins(engine) for engine in fragment.accelerator.engines]
        self._counts = KernelCounts(config)
        self._loaded: NamedWords | None = None  # state to load before the next cycle
        self._begun = 0  # first cycle that is simulated
        self._simulator = Simulator(fragment)
        design = self._simulator._design
        self._state = AmaranthState(design, engines=config.engines, link_cycles=config.link_cycles)
        self._simulator.add_clock(_CYCLE)
        self._simulator.add_testbench(self._bench, background=True)
        self.waves = waves
        self._drawing: AmaranthDrawing | None = None
        if waves is not None:
            self._drawing = AmaranthDrawing(self._simulator, waves)

    def run(self, budget: int) -> RunState:
        """Run until the list is done (after a dispatch, until all AEs are idle), or for about `budget` cycles."""
        end = self._cycle + budget
        while True:
            target = self._cycle + self._interval
            while self._cycle < target:
                self._simulator.advance()
            state = self._settle()
            if state != RunState.RUNNING or self._cycle >= end:
                return state

    def record(self, interval: int, places: int) -> Samples:
        """Start sampling: every AE writes a row at each multiple of an interval, with FIFO occupancy."""
        self.samples = self._counts.samples = Samples(self._config, interval=interval, places=places, cycle=self._cycle)
        return self.samples

    def sample(self) -> npt.NDArray[np.void]:
        """Return the current row of each AE; call between two runs."""
        return self._counts.sample(self._cycle)

    def begin_instruction_marks(self) -> None:
        """Reset the rows' ``instruction_most``; call between two runs."""
        self._counts.begin_instruction_marks()

    def log_spells(self, request: SpellRequest) -> None:
        """Start logging spells of kernels, instead of those logged before; call between two runs."""
        self._counts.spells = SpellTracker(self._config, request)

    def take_spells(self, *, under_way: bool = False) -> npt.NDArray[np.void]:
        """Return the logged spells that have ended since the last call, in no order; call between two runs."""
        assert self._counts.spells is not None, "they are logged"
        return self._counts.spells.take(self._cycle, under_way=under_way)

    def save(self) -> NamedWords:
        """Return the state."""
        if self._loaded is not None:
            return self._loaded
        while self._engines[0].context is None:
            self._simulator.advance()
        registers = self._state.saved(self._engines[0].context, self._cycle)
        return NamedWords.of([*self._saved_progress(), *self._counts.saved(), *registers])

    def load(self, state: NamedWords) -> None:
        """Load a state, after `begin` with the same list of commands.

        Raises
        ------
        ValueError
            The state is of other hardware.
        """
        self._state.check(state)
        self._load_progress(state)
        self._begun = self._cycle
        self._counts.load(state, self._cycle)
        self._loaded = state

    def close(self) -> None:
        """Complete the waveform file."""
        if self.waves is not None:
            self.waves.finish(self._begun, self._cycle)

    async def _bench(self, context: Any) -> None:
        for pins in self._engines:
            pins.context = context
        while True:
            # Inputs are set between clock edges, so that the host can add commands at the start of a cycle.
            await context.delay(_CYCLE / 4)
            if self._loaded is not None:
                self._state.load(context, self._loaded, self._cycle)
                self._loaded = None
            self._drive(self._engines)
            self._counts.arrive(self._engines)
            if self._drawing is not None:
                await context.delay(_CYCLE / 8)
                self._drawing.show(self._cycle)
            await context.tick()
            # A register shows the new value in the next cycle.
            self._counts.count(self._engines, self._cycle)
            self._cycle += 1


class _Pins:
    """The ports of an AE; an input is touched only when its value changes."""

    def __init__(self, engine: ApplicationEngine) -> None:
        self.context: Any = None
        self._values = {
            "_".join(map(str, path)): Value.cast(value) for path, _, value in engine.signature.flatten(engine)
        }
        self._driven: dict[str, int] = {}

    def get(self, name: str) -> int:
        return int(self.context.get(self._values[name]))

    def set(self, name: str, value: int) -> None:
        if self._driven.get(name) != value:
            self._driven[name] = value
            self.context.set(self._values[name], value)
