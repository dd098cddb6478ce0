"""The compiled executor: kernels as lanes, a shell for each AE, a native loop over cycles."""

import ctypes
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.errors import SimulationError
from cyscc.sim.executors.accesses import AccessRequest, AccessRows, reads_under_way
from cyscc.sim.executors.base import Command, RunState, sync_interval
from cyscc.sim.executors.compiled.parts import build_library
from cyscc.sim.executors.samples import Samples, sample_dtype
from cyscc.sim.executors.shared_object import LibraryExecutor, Pieces, command_table
from cyscc.sim.executors.spells import SpellBuffer, SpellRequest
from cyscc.sim.executors.tools import OnStep
from cyscc.sim.memory import Memory
from cyscc.sim.named_words import NamedWords
from cyscc.sim.observation.waves import Waves
from cyscc.sim.observation.waves.variables import Variable


class _Target(ctypes.Structure):
    """`WaveTarget` of `native/waves.h`."""

    _fields_ = [
        ("source", ctypes.c_char_p),
        ("key", ctypes.c_char_p),
        ("number", ctypes.c_int64),
        ("names", ctypes.c_int64),
    ]


class _Sink(ctypes.Structure):
    """`WaveSink` of `native/waves.h`."""

    _fields_ = [
        ("targets", ctypes.POINTER(_Target)),
        ("count", ctypes.c_int64),
        ("names", ctypes.POINTER(ctypes.c_char_p)),
        ("descriptor", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("writer", "time", "bits", "text", "flush")),
    ]


class Drawing:
    """Waveform output of a compiled machine; begins the file.

    Parameters
    ----------
    library : ctypes.CDLL
        The machine's library.
    machine : ctypes.c_void_p
        The machine, which must not outlive this.
    waves : Waves
        The file.

    Raises
    ------
    ValueError, cyscc.sim.errors.SimulationError
        See `Waves.begin`.
    """

    def __init__(self, library: ctypes.CDLL, machine: ctypes.c_void_p, waves: Waves) -> None:
        library.cyscc_wave_head.restype = ctypes.c_char_p
        library.cyscc_wave_head.argtypes = [ctypes.c_void_p]
        library.cyscc_draw.restype = None
        library.cyscc_draw.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        writer, variables = waves.begin(library.cyscc_wave_head(machine).splitlines())
        # Variables that share a number always have the same value.
        distinct = list({variable.number: variable for variable in variables}.values())
        self._texts, places = _texts(distinct)
        keys = [writer.key(variable) for variable in distinct]
        self._targets = (_Target * len(distinct))(
            *(
                _Target(source=variable.source, key=key, number=number, names=place)
                for variable, (number, key), place in zip(distinct, keys, places, strict=True)
            )
        )
        self._sink = _Sink(targets=self._targets, count=len(distinct), names=self._texts, **writer.native)
        library.cyscc_draw(machine, ctypes.byref(self._sink))
        library.cyscc_recall.restype = None
        library.cyscc_recall.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
        self._recall = partial(library.cyscc_recall, machine)

    def recall(self, commands: Sequence[Command]) -> None:
        """Show the host's last commands after a state was loaded; all other signals follow from registers."""
        self._recall(command_table(commands), len(commands))


def _texts(variables: Sequence[Variable]) -> tuple["ctypes.Array[ctypes.c_char_p]", list[int]]:
    """Return the texts of all named values, and each variable's first index in them, or -1 if its bits are shown."""
    texts: list[bytes] = []
    tables: dict[tuple[str, ...], int] = {}
    places = []
    for variable in variables:
        if variable.names is None:
            places.append(-1)
            continue
        table = tuple(variable.texts)
        if table not in tables:
            tables[table] = len(texts)
            texts += [text.encode() for text in table]
        places.append(tables[table])
    return (ctypes.c_char_p * len(texts))(*texts), places


_LEAST_ROUND = 4
"""Least cycles of a round that pay for a sync point."""

_SPELL_CYCLES = 4096
"""Most cycles run at a time while spells are logged."""


class CompiledExecutor(LibraryExecutor):
    """Runs the machine as compiled code.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles without progress and without outstanding memory requests after which a run counts as hung.
    threads : int
        Threads that share the AEs and the memory, at most one for each of them. Results do not depend on it.
    waves : Waves, optional
        Waveform file to write; each kernel is then an object of its own instead of a lane, and the AEs run on one
        thread.
    objects : bool
        Each kernel is an object of its own even without waveforms: slower, and only for comparison.
    on_build : callable, optional
        Progress callback of a build, see `cyscc.sim.executors.tools.OnStep`.

    Raises
    ------
    cyscc.sim.errors.BuildError
        The library could not be built.
    ValueError
        The waveforms would be empty.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        memory: Memory,
        *,
        watchdog: int,
        threads: int = 1,
        waves: Waves | None = None,
        objects: bool = False,
        on_build: OnStep | None = None,
    ) -> None:
        self._waves = waves
        self._drawing: Drawing | None = None
        with ExitStack() as failing:
            if waves is not None:
                failing.callback(waves.discard)
            library = build_library(config, waves=waves is not None, objects=objects, on_step=on_build)
            if waves is None:
                round_ = _round(sync_interval(config, memory), memory)
                memory.divide(threads if round_ else 1)
                options: dict[str, int | bytes] = {"round": round_, "threads": min(threads, config.engines + 1)}
            else:
                first, last = waves.window
                drawn = " ".join(waves.models).encode()
                options = {"threads": 1, "drawn": drawn, "first_wave": first, "last_wave": last}
            super().__init__(library, config, memory, watchdog=watchdog, **options)
            if waves is not None:
                failing.callback(super().close)
                self._drawing = Drawing(self._library, self._machine, waves)
            failing.pop_all()
        self._config = config
        self._interval = sync_interval(config, memory)
        self._spells: SpellBuffer | None = None
        self._accesses = AccessRows(self._library, self._machine, config.engines)
        self._request: AccessRequest | None = None
        self._log_begins = False
        self._rests = True  # nothing of the list of commands is under way yet
        self._row = sample_dtype(config)

    def record(self, interval: int, places: int) -> Samples:
        """Start sampling: every AE writes a row at each multiple of an interval, with FIFO occupancy."""
        self.samples = Samples(self._config, interval=interval, places=places, cycle=self.cycle)
        self._record()
        return self.samples

    def _record(self) -> None:
        if self.samples is not None:
            rows = self.samples.rows.ctypes.data
            self._library.cyscc_record(self._machine, self.samples.interval, self.samples.places, rows)

    def sample(self) -> npt.NDArray[np.void]:
        """Return the current row of each AE; call between two runs."""
        rows = np.zeros(self._config.engines, self._row)
        self._library.cyscc_sample(self._machine, rows.ctypes.data)
        return rows

    def begin_instruction_marks(self) -> None:
        """Reset the rows' ``instruction_most``; call between two runs."""
        self._library.cyscc_begin_instruction(self._machine)

    def log_spells(self, request: SpellRequest) -> None:
        """Start logging spells of kernels, instead of those logged before; call between two runs."""
        self._spells = SpellBuffer(self._config, request, cycles=_SPELL_CYCLES + self._interval)
        self._library.cyscc_log_spells(self._machine, ctypes.byref(self._spells.log))

    def take_spells(self, *, under_way: bool = False) -> npt.NDArray[np.void]:
        """Return the logged spells that have ended since the last call, in no order; call between two runs."""
        assert self._spells is not None, "they are logged"
        self._library.cyscc_write_spells(self._machine, False)
        self._spells.drain()
        if under_way:
            self._library.cyscc_write_spells(self._machine, True)
        return self._spells.take()

    def begin(self, commands: Sequence[Command]) -> None:
        """Start a list of commands."""
        super().begin(commands)
        self._rests = True

    def log_accesses(self, request: AccessRequest) -> None:
        """Start logging accesses of kernels, instead of those logged before; call between two runs."""
        self._request = request
        self._log_begins = True

    def take_accesses(self) -> npt.NDArray[np.void]:
        """Return the logged accesses since the last call, in no order; call between two runs."""
        return self._accesses.take()

    def open_reads(self) -> int:
        """Return how many reads of the cycles that are logged are not answered yet; call between two runs."""
        return self._accesses.open()

    def run(self, budget: int) -> RunState:
        """Run until the list is done (after a dispatch, until all AEs are idle), or for about `budget` cycles."""
        if self._log_begins:
            assert self._request is not None, "accesses are logged"
            self._log_begins = False
            save = None if self._rests else self._pieces.save
            self._accesses.want(self._request, reads_under_way(self._config, self._memory, save))
        self._rests = False
        if self._spells is None:
            return super().run(budget)
        end = self.cycle + budget
        while True:
            state = super().run(min(end - self.cycle, _SPELL_CYCLES))
            self._spells.drain()
            if state != RunState.RUNNING or self.cycle >= end:
                return state

    def save(self) -> NamedWords:
        """Return the state, after updating idle kernels that were skipped."""
        return self._pieces.save()

    def load(self, state: NamedWords) -> None:
        """Load a state, after `begin` with the same list of commands.

        Raises
        ------
        ValueError
            The state is of other hardware.
        """
        self._pieces.load(state)
        if self.samples is not None:
            self.samples.restart(self.cycle)
        if self._spells is not None:
            self._spells.restart()
        # Only once the memory has its state too, it is known what is under way.
        self._log_begins = self._request is not None
        self._rests = False

    def take_over(self, other: "CompiledExecutor", commands: Sequence[Command], played: Sequence[Command]) -> None:
        """Take over the state of another machine with the same memory.

        Parameters
        ----------
        other : CompiledExecutor
            The machine.
        commands : sequence of Command
            Its current list.
        played : sequence of Command
            The last command of each kind before that list.
        """
        self.begin(commands)
        self.samples = other.samples
        self._record()
        state = other.save()
        self._pieces.load(state)
        if self._drawing is not None:
            position = state.signed("engine0.host.position")
            self._drawing.recall([*played, *commands[:position]])

    @cached_property
    def _pieces(self) -> Pieces:
        return Pieces(self._library, self._machine)

    def close(self) -> None:
        """Stop the threads, and complete the waveform file."""
        if self._machine:
            cycles = self.cycle
            try:
                super().close()
            except SimulationError:
                if self._waves is not None:
                    self._waves.discard()
                raise
            if self._waves is not None:
                self._waves.finish(cycles)


def _round(interval: int, memory: Memory) -> int:
    """Return the most cycles of a round if requests can be performed one round late, otherwise 0.

    A response must not be due before the round after the next one, and a round must be long enough to pay for a
    sync point.
    """
    cycles = memory.quantum // 2
    return cycles if min(interval, cycles) >= _LEAST_ROUND else 0
