"""Machines with a fault, and their pinned runs, up to the first that distinguishes them from sound hardware."""

import ctypes
import hashlib
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.hw.causes import Cause
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.caching.tools import Steps, Toolchain
from cyscc.sim.executors.cache import cached_runtime, machine_headers
from cyscc.sim.executors.comparison.build import TOP, connections_header
from cyscc.sim.executors.shared_object import LibraryExecutor
from cyscc.sim.machine import Machine, create_machine
from cyscc.sim.memory import Memory, parse_profile
from tests.mutants.design import Design
from tests.mutants.faults import Mutant, write_selectable
from tests.mutants.verdicts import Fate, Stage, Verdict
from tests.system.pinned import RUNS, PinnedRun, Trace, pins

_HERE = Path(__file__).parent / "native"
_OPTIONS = ("--output-split-cfuncs", "500")


class _Executor(LibraryExecutor):
    """Runs the machine with one of the library's mutants, or none."""

    def __init__(self, path: Path, config: AcceleratorConfig, memory: Memory, *, watchdog: int, mutant: int) -> None:
        super().__init__(path, config, memory, watchdog=watchdog)
        self._shape = (config.engines, config.bfs_kernels + config.intersection_kernels, len(Cause))
        self._library.cyscc_select.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self._library.cyscc_select(self._machine, mutant)
        self._library.cyscc_causes.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self._library.cyscc_causes.restype = None
        self._library.cyscc_traces.argtypes = [ctypes.c_void_p]
        self._library.cyscc_traces.restype = ctypes.POINTER(ctypes.c_uint64)

    @property
    def traces(self) -> list[int]:
        """Traces of each AE, see `tests.system.pinned`."""
        return self._library.cyscc_traces(self._machine)[: self._shape[0]]

    def causes(self) -> npt.NDArray[np.int64]:
        """Cycles by AE, kernel (BFS kernels first) and `cyscc.hw.causes.Cause`, since reset."""
        counts = np.zeros(self._shape, np.int64)
        self._library.cyscc_causes(self._machine, counts.ctypes.data)
        return counts


def build(design: Design, preset: str, mutants: Sequence[Mutant], folder: Path) -> Path:
    """Return the library of a machine with some mutants, built now if it is not in the folder.

    Parameters
    ----------
    design : Design
        What has the machine in it, and `tests.mutants.faults.prepare` has written to the folder.
    preset : str
        The machine.
    mutants : sequence of Mutant
        Those to choose from, by their place from 1.
    folder : Path
        Where to build.
    """
    config, module = PRESETS[preset], design.machines[preset].top
    key = hashlib.sha256(repr([design.text, preset, mutants]).encode()).hexdigest()[:16]
    library = folder / f"mutants-{key}.so"
    if library.exists():
        return library
    tools = Toolchain.find(verilator=True)
    place = folder / f"build-{key}"
    place.mkdir(exist_ok=True)
    top = write_selectable(module, place, mutants, name=TOP)
    connections = connections_header(top)
    kernels = config.bfs_kernels + config.intersection_kernels
    cases = " ".join(f"case {n}: return get(pins.cause_{n});" for n in range(kernels))
    cause = f"inline uint64_t cause_of(const EnginePins& pins, int n) {{ switch (n) {{ {cases} default: return 0; }} }}"
    end = connections.rindex("}  // namespace cyscc")
    texts = {
        **machine_headers(config),
        "connections.h": f"{connections[:end]}{cause}\n{connections[end:]}",
    }
    for name, text in texts.items():
        (place / name).write_text(text)
    units = tools.verilate([top], top=TOP, folder=place, options=_OPTIONS)
    runtime, flags = cached_runtime(tools)
    # There is more of it than of a machine without mutants, and it runs for less long.
    compiled = [
        tools.compile_object(source, folder=place, flags=flags, level="-O1", steps=Steps(None))
        for source in (_HERE / "machine.cpp", *units)
    ]
    tools.link([*compiled, runtime], place / library.name)
    return (place / library.name).replace(library)


@contextmanager
def mutated(
    library: Path, config: AcceleratorConfig, memory: str, mutant: int, *, cycle_limit: int
) -> Iterator[Machine]:
    """Make a machine with a mutant, and close it at the end of the block.

    Parameters
    ----------
    library : Path
        What `build` returned.
    config : AcceleratorConfig
        The machine's sizes.
    memory : str
        Memory profile.
    mutant : int
        The mutant's place in the library, or 0 for none.
    cycle_limit : int
        Cycles of instructions in all.
    """

    def make(model: Memory, watchdog: int) -> _Executor:
        return _Executor(library, config, model, watchdog=watchdog, mutant=mutant)

    machine = create_machine(config, parse_profile(memory), executor=make, cycle_limit=cycle_limit)
    try:
        yield machine
    finally:
        machine.close()


_ONLY_SIMULATED_BY_AMARANTH = frozenset({"accelerator", "application_engine", "port_share", "switch/switch"})
"""Components that the compiled executor has in C++, in which only runs on every executor find faults."""

_SHORT_CYCLES = 9000
"""Runs up to this length are made first; most mutants do not outlive them."""

_EXTRA_CYCLES = 500
_SECONDS = 120.0


def sound(library: Path, preset: str) -> None:
    """Check that a library's machine without a mutant gives the pinned results.

    Parameters
    ----------
    library : Path
        Machine with mutants.
    preset : str
        Which machine it is.

    Raises
    ------
    AssertionError
        It does not; the run that differs is named on standard error.
    """
    # In a process of its own: what its memories had mapped is in the way of those that are begun after it.
    process = multiprocessing.get_context("fork").Process(target=_check_sound, args=(library, preset))
    process.start()
    process.join()
    assert process.exitcode == 0, "the machine without a mutant does not leave what is pinned"


def _check_sound(library: Path, preset: str) -> None:
    for run in _runs_of(preset):
        with mutated(library, PRESETS[preset], run.memory, 0, cycle_limit=5_000_000) as machine:
            assert run.trace(machine).agrees(pins()[run.name]), run.name


def _runs_of(preset: str) -> list[PinnedRun]:
    return [run for run in RUNS if run.preset == preset]


def tell_apart(
    library: Path, preset: str, mutants: Sequence[Mutant], wanted: Sequence[Mutant], *, stage: Stage
) -> Iterator[Verdict]:
    """Yield the verdict of the runs on some mutants.

    Parameters
    ----------
    library : Path
        Machine with mutants.
    preset : str
        Which machine it is.
    mutants : sequence of Mutant
        All that it has.
    wanted : sequence of Mutant
        Those to run.
    stage : Stage
        Which runs to make: `Stage.SHORT_RUNS` or `Stage.LONG_RUNS`.
    """
    places = {mutant.name: place for place, mutant in enumerate(mutants, start=1)}
    worker: _Worker | None = None
    for mutant in wanted:
        worker = worker or _Worker(library, preset)
        verdict = worker.ask(mutant, places[mutant.name], stage)
        if verdict is None:
            verdict = Verdict(mutant.name, mutant.options, stage, Fate.KILLED, how="the process ended or did not")
            worker = None
        yield verdict
    if worker:
        worker.close()


class _Worker:
    """A process that makes runs: a fault may end it."""

    def __init__(self, library: Path, preset: str) -> None:
        context = multiprocessing.get_context("fork")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, library, preset), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, mutant: Mutant, place: int, stage: Stage) -> Verdict | None:
        """Return the verdict on a mutant, or None if that ended the process, which is gone then."""
        try:
            self._connection.send((mutant, place, stage))
            if self._connection.poll(_SECONDS):
                return self._connection.recv()
        except EOFError:
            pass
        self.close()
        return None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


def _serve(connection: Connection, library: Path, preset: str) -> None:
    """Answer with verdicts until the other end is closed."""
    # What a model says as it ends the process is of no interest.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    expected, useful = pins(), Counter[str]()
    while True:
        mutant, place, stage = connection.recv()
        own = [
            run
            for run in _runs_of(preset)
            if (run.everywhere or mutant.file not in _ONLY_SIMULATED_BY_AMARANTH)
            and (expected[run.name].cycles <= _SHORT_CYCLES) == (stage == Stage.SHORT_RUNS)
        ]
        verdict = Verdict(mutant.name, mutant.options, stage, Fate.SURVIVED)
        # What finds many in little time comes first.
        worth = {run.name: (1 + useful[run.name]) / (500 + expected[run.name].cycles) for run in own}
        for run in sorted(own, key=lambda run: -worth[run.name]):
            how = _difference(partial(_trace, library, run, place), expected[run.name])
            if how:
                useful[run.name] += 1
                verdict = Verdict(mutant.name, mutant.options, stage, Fate.KILLED, run.name, how)
                break
        connection.send(verdict)


def _trace(library: Path, run: PinnedRun, place: int, limit: int) -> Trace:
    with mutated(library, PRESETS[run.preset], run.memory, place, cycle_limit=limit) as machine:
        return run.trace(machine)


def _difference(trace: Callable[[int], Trace], expected: Trace) -> str:
    """Return the first difference of a run from its pin, in a word, or nothing."""
    try:
        found: Any = trace(expected.cycles + _EXTRA_CYCLES)
    except Exception as error:  # whatever a fault leads to
        return type(error).__name__
    if found.cycles != expected.cycles:
        return "cycles"
    if found.digest != expected.digest:
        return "digest"
    return "" if found.agrees(expected) else "what it shows"
