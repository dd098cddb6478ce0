"""Recording of the calls to an executor and its memory, in order to repeat a run without Python."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from cyscc.sim.executors.base import Command, RunState
from cyscc.sim.machine import Machine
from cyscc.sim.memory import Memory

BASE = 1 << 36
"""Where the memory is put in the process that makes the run again."""

_STORAGE = 1 << 20
"""Bytes of the simulated memory that a recorded run may use."""

_PATCH, _BEGIN, _RUN = range(3)
_PAGE = 4096

Words = npt.NDArray[np.uint64]


class Image:
    """A memory as one array of words: its records, and its storage behind them, linked as if it began at `BASE`.

    Parameters
    ----------
    memory : Memory
        The memory.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._arenas = (memory._arena, memory._logs)
        self._arrays = [array.view(np.uint64) for arena in self._arenas for array in arena._arrays.values()]
        self._arrays.append(memory._storage.words[: _STORAGE // 8])
        sizes = [-(-array.nbytes // _PAGE) * _PAGE for array in self._arrays]
        self._places = (np.cumsum([0, *sizes]) // 8).tolist()
        self._starts = np.array([array.ctypes.data for array in self._arrays])

    def at(self, address: npt.ArrayLike) -> Any:
        """Return the addresses in the image of what is at addresses in this process."""
        addresses = np.asarray(address, np.int64)
        order = np.argsort(self._starts)
        found = order[np.searchsorted(self._starts[order], addresses, side="right") - 1]
        return BASE + 8 * np.array(self._places)[found] + addresses - self._starts[found]

    def words(self) -> Words:
        """Return the present image."""
        assert self._memory.allocated < _STORAGE - _PAGE
        links = [link for arena in self._arenas for link in arena._links]
        held = [owners[field].copy() for owners, field in links]
        for (owners, field), addresses in zip(links, held, strict=True):
            owners[field] = self.at(addresses)
        image = np.zeros(self._places[-1], np.uint64)
        for place, array in zip(self._places, self._arrays, strict=False):
            image[place : place + array.size] = array
        for (owners, field), addresses in zip(links, held, strict=True):
            owners[field] = addresses
        return image


def digest(image: Words) -> int:
    """Return a number that another value of any word would change."""
    with np.errstate(over="ignore"):
        return int((image * (2 * np.arange(image.size, dtype=np.uint64) + np.uint64(1))).sum(dtype=np.uint64))


class Recording:
    """All that happens to a machine's executor while a function uses it.

    Parameters
    ----------
    machine : Machine
        A new machine with the compiled executor.
    use : callable
        Uses it.

    Attributes
    ----------
    steps : list of int
        What a program needs to make the run again: numbers, see `replay.cpp`.
    first, last : ndarray of uint64
        The memory before and afterwards.
    lines : list of str
        What that program prints if all goes as it went here.
    context, mailboxes : int
        Where these are in the image.
    parts : int
        Parts in which the memory serves a round.
    """

    def __init__(self, machine: Machine, use: Callable[[Machine], object]) -> None:
        self._image = Image(machine.memory)
        self._executor = executor = machine._executor
        self.context, self.mailboxes = (
            int(self._image.at(address)) for address in (machine.memory._pointer, machine.memory.mailboxes.ctypes.data)
        )
        self.parts = machine.memory.parts
        self.steps: list[int] = []
        self.lines: list[str] = []
        self.first = self.last = self._image.words()
        self._begin, self._run = executor.begin, executor.run
        with patch.object(executor, "begin", self._recorded_begin), patch.object(executor, "run", self._recorded_run):
            use(machine)
        self.lines.append("sample " + " ".join(map(str, executor.sample().view(np.int64).ravel().tolist())))

    def _recorded_begin(self, commands: Sequence[Command]) -> None:
        now = self._image.words()
        changed = np.flatnonzero(now != self.last)
        if changed.size:
            pairs = np.stack([changed.astype(np.uint64), now[changed]], axis=1)
            self.steps += [_PATCH, changed.size, *pairs.ravel().tolist()]
        numbers = [number for each in commands for number in (each.kind, each.index, each.value)]
        self.steps += [_BEGIN, len(commands), *map(int, numbers)]
        self._begin(commands)

    def _recorded_run(self, budget: int) -> RunState:
        state = self._run(budget)
        self.last = self._image.words()
        self.steps += [_RUN, budget]
        executor = self._executor
        answers = executor.answers.ravel().tolist() if state == RunState.DONE else []
        taken = executor.instruction_cycles if state == RunState.DONE else 0
        self.lines.append(" ".join(map(str, (int(state), executor.cycle, taken, digest(self.last), *answers))))
        return state

    def write(self, folder: Path) -> None:
        """Write `image` and `steps` into a folder, as 64-bit words."""
        self.first.tofile(folder / "image")
        np.array([self.context, self.mailboxes, self.parts, *self.steps], np.uint64).tofile(folder / "steps")
