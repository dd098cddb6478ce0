"""Runs a command of the program, whose simulation advances by slices, each when this script is told.

It is run as a file by the Python of any revision, and so uses nothing of the program but two functions of its
executors' libraries, ``cyscc_run`` and ``cyscc_cycle``. Its arguments are the entry point as ``module:function``, the
descriptors that it is told by and that it tells by, the cycles of a slice, and the command's own arguments.
"""

import ctypes
import importlib
import os
import sys
from collections.abc import Callable
from time import perf_counter, thread_time
from typing import Any

__all__: list[str] = []


class _Slices:
    """Waits for its turn before each slice, and tells what the one before took.

    Parameters
    ----------
    orders, reports : int
        Descriptors: a byte from the first allows a slice; to the second goes a line for each, with its cycles, and the
        seconds of real time and of this thread's processor time.
    cycles : int
        Cycles of a slice.
    """

    def __init__(self, orders: int, reports: int, cycles: int) -> None:
        self._orders = orders
        self._reports = reports
        self._cycles = cycles
        self._done = 0
        self._began: tuple[float, float] | None = None
        self.left = 0

    def advance(self, cycles: int) -> None:
        """Count cycles that were simulated."""
        self._done += cycles
        self.left -= cycles

    def take_turn(self) -> None:
        """End a slice, and wait until the next one may begin."""
        wall, own = perf_counter(), thread_time()
        spent = (0.0, 0.0) if self._began is None else (wall - self._began[0], own - self._began[1])
        os.write(self._reports, f"{self._done} {spent[0]} {spent[1]}\n".encode())
        if not os.read(self._orders, 1):
            os._exit(1)
        self._done = 0
        self.left += self._cycles
        self._began = perf_counter(), thread_time()


class _SlicedRun:
    """Stands for a library's ``cyscc_run``."""

    _run: Any
    _cycle: Callable[[Any], int]
    _slices: _Slices

    def __init__(self, run: Any, cycle: Callable[[Any], int], slices: _Slices) -> None:
        self.__dict__.update(_run=run, _cycle=cycle, _slices=slices)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._run, name, value)

    def __call__(self, machine: Any, budget: int) -> int:
        end = self._cycle(machine) + budget
        while True:
            if self._slices.left <= 0:
                self._slices.take_turn()
            before = self._cycle(machine)
            state: int = self._run(machine, min(self._slices.left, end - before))
            now = self._cycle(machine)
            self._slices.advance(now - before)
            if state != 0 or now >= end:
                return state


def _slice_libraries(slices: _Slices) -> None:
    """Have the libraries loaded from now on run by slices."""

    class Library(ctypes.CDLL):
        def __getattr__(self, name: str) -> Any:
            function: Any = super().__getattr__(name)
            if name == "cyscc_run":
                cycle = self["cyscc_cycle"]
                cycle.restype, cycle.argtypes = ctypes.c_int64, [ctypes.c_void_p]
                function = _SlicedRun(function, cycle, slices)
                setattr(self, name, function)
            return function

    ctypes.CDLL = Library  # type: ignore[misc]  # that is the purpose


if __name__ == "__main__":
    _, entry, orders, reports, cycles, *arguments = sys.argv
    if cycles != "0":
        _slice_libraries(_Slices(int(orders), int(reports), int(cycles)))
    sys.argv = ["cyscc", *arguments]
    module, _, function = entry.partition(":")
    sys.exit(getattr(importlib.import_module(module), function)())
