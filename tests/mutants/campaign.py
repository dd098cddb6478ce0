"""Machines with a fault, and their pinned runs, up to the first that distinguishes them from sound hardware."""

import ctypes
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cyscc.hw.causes import Cause
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.caching.tools import Steps, Toolchain
from cyscc.sim.executors.cache import cached_runtime, machine_headers
from cyscc.sim.executors.comparison.build import TOP, connections_header
from cyscc.sim.executors.shared_object import LibraryExecutor
from cyscc.sim.machine import create_machine
from cyscc.sim.memory import Memory, parse_profile
from tests.mutants.design import Design
from tests.mutants.faults import Mutant, write_selectable
from tests.mutants.verdicts import Stage, Verdict
from tests.system.pinned import RUNS, PinnedRun, Trace, pins
from tests.worker import Worker

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


_ONLY_SIMULATED_BY_AMARANTH = frozenset({"accelerator", "application_engine", "port_share", "switch/switch"})
"""Components that the compiled executor has in C++, in which only runs on every executor find faults."""

_EXTRA_CYCLES = 500
_SECONDS = 240.0


def tell_apart(design: Design, preset: str, mutants: Sequence[Mutant], folder: Path) -> Iterator[Verdict]:
    """Yield the verdict of the runs on some mutants.

    Parameters
    ----------
    design, folder : Design, Path
        As of `build`.
    preset : str
        The machine.
    mutants : sequence of Mutant
        Mutants of it.

    Raises
    ------
    AssertionError
        The machine without a mutant does not give the pinned results.
    """
    library = build(design, preset, mutants, folder)
    with Worker(partial(_difference, library, preset), patience=_SECONDS) as worker:
        assert worker.ask((0, "")) == ("", ""), "the machine without a mutant does not leave what is pinned"
        for place, mutant in enumerate(mutants, start=1):
            try:
                by, how = worker.ask((place, mutant.file))
            except (ChildProcessError, TimeoutError) as error:
                by, how = "", str(error)
            yield Verdict(mutant.name, mutant.options, Stage.RUNS, by, how)


def _difference(library: Path, preset: str, mutant: tuple[int, str]) -> tuple[str, str]:
    """Return the shortest run with another result than is pinned, and what is different; nothing if there is none.

    A mutant is given by its place in the library, 0 for none, and its file.
    """
    with open(os.devnull, "w") as nowhere:
        # What a model says as it ends the process is of no interest.
        os.dup2(nowhere.fileno(), 2)
    (place, file), expected = mutant, pins()
    runs = [run for run in RUNS if run.preset == preset]
    for run in sorted(runs, key=lambda run: expected[run.name].cycles):
        if not run.everywhere and file in _ONLY_SIMULATED_BY_AMARANTH:
            continue
        pin = expected[run.name]
        try:
            found = _trace(library, run, place, limit=pin.cycles + _EXTRA_CYCLES)
        except Exception as error:  # whatever a fault leads to
            return run.name, type(error).__name__
        if found.cycles != pin.cycles:
            return run.name, "cycles"
        if not found.agrees(pin):
            return run.name, "digest" if found.digest != pin.digest else "what it shows"
    return "", ""


def _trace(library: Path, run: PinnedRun, place: int, *, limit: int) -> Trace:
    config = PRESETS[run.preset]

    def make(model: Memory, watchdog: int) -> _Executor:
        return _Executor(library, config, model, watchdog=watchdog, mutant=place)

    with closing(create_machine(config, parse_profile(run.memory), executor=make, cycle_limit=limit)) as machine:
        return run.trace(machine)
