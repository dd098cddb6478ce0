"""Reading of waveform files: values of a signal in each cycle of the file's window.

The library that parses them panics, or ends the process, on files that declare what they do not have. A process of its
own therefore parses a file, with limits of memory and processor time that follow from the file's size.
"""

import faulthandler
import gc
import math
import multiprocessing
import os
import re
import resource
import signal
import time
import weakref
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pywellen

from cyscc.sim.documents import DocumentError, open_plain
from cyscc.sim.named_words import WORD

_TAIL = 1 << 16
"""Bytes at the end of a VCD file that contain its last time; a value change is far shorter."""

_FST_HEADER = 0
"""Kind of the first block of an FST file: a byte, then its length, the first time and the last, 8 bytes each."""

_MEMORY = 1 << 30, 50
"""Bytes that the parser may allocate, and how many more for each byte of the file."""
_SECONDS = 6, 1 << 21
"""Processor time of the parser for each question, and the bytes of the file for each further second."""
_CYCLES = 1 << 18, 10
"""Cycles that a file may have, and how many more for each of its bytes."""


class WaveFileError(ValueError):
    """A file without waveforms, or without the required signals. One line, without the file's name."""


class WaveReader:
    """A waveform file, VCD or FST, in which a unit of time stands for a cycle.

    Parameters
    ----------
    path : pathlib.Path
        The file.

    Attributes
    ----------
    first : int
        First cycle in the file.
    cycles : int
        Number of cycles in the file.

    Raises
    ------
    OSError
        The file cannot be read.
    WaveFileError
        It is neither VCD nor FST, is damaged, or is empty.
    """

    def __init__(self, path: Path) -> None:
        try:
            size, end = _size_and_end(path)
        except DocumentError as error:
            raise WaveFileError(str(error)) from None
        self._parser = _Parser(path, size)
        self._widths: dict[str, int]
        self._widths, times = self._parser.ask(None)
        if not times:
            raise WaveFileError("no waveforms: no signal has a value")
        self.first, last = times
        # A file truncated while it was written ends with changes instead of a time.
        self.cycles = max(end, last + 1) - self.first
        if self.cycles > _CYCLES[0] + _CYCLES[1] * size:
            raise WaveFileError(f"no waveforms: {size:,} bytes cannot have {self.cycles:,} cycles")

    def __contains__(self, name: str) -> bool:
        return name in self._widths

    @property
    def names(self) -> list[str]:
        """Dotted paths of all signals."""
        return list(self._widths)

    def width(self, name: str) -> int:
        """Return the bits of a signal.

        Raises
        ------
        WaveFileError
            There is no such signal.
        """
        try:
            return self._widths[name]
        except KeyError:
            raise WaveFileError(f"no signal {name}") from None

    def values(self, name: str) -> npt.NDArray[np.uint64]:
        """Return the value of a signal of at most 64 bits in each cycle, shape (cycles,).

        Raises
        ------
        WaveFileError
            There is no such signal, or a value of it is not a number.
        """
        times, numbers = self._changes(name)
        if numbers is None:
            raise WaveFileError(f"{name} has values that are no numbers of 64 bits")
        if len(times) == 0 or times[0] > self.first:
            raise WaveFileError(f"{name} has no value in the first cycle")
        lengths = np.diff(np.append(np.clip(times - self.first, 0, self.cycles), self.cycles))
        return np.repeat(numbers, lengths)

    def _changes(self, name: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64] | None]:
        """Return the times at which a signal changes, and its new values; None if these are no numbers."""
        self.width(name)
        times, values = self._parser.ask(name)
        return times, values


class _Parser:
    """A process that parses a file, and answers for its signals.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    size : int
        Its size in bytes.
    """

    def __init__(self, path: Path, size: int) -> None:
        context = multiprocessing.get_context("fork")
        self._answers, theirs = context.Pipe()
        process = context.Process(target=_parse, args=(path, size, theirs), daemon=True)
        process.start()
        theirs.close()
        weakref.finalize(self, _end, process, self._answers)

    def ask(self, name: str | None) -> Any:
        """Return the changes of a signal; without a name, the widths of all, and the first and last change of one.

        Raises
        ------
        WaveFileError
            The file is damaged.
        """
        try:
            self._answers.send(name)
            answer = self._answers.recv()
        except (EOFError, OSError):
            raise WaveFileError("no waveforms: damaged, or they declare more than such a file can have") from None
        if isinstance(answer, str):
            raise WaveFileError(answer)
        return answer


def _end(process: Any, answers: Connection) -> None:
    answers.close()
    process.kill()
    process.join()


def _parse(path: Path, size: int, questions: Connection) -> None:
    """Answer questions for a file until nobody asks any more; never returns."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Collecting garbage would touch, and so copy, all objects of the program.
    gc.disable()
    # The library prints its panics, and Python may print where the process was aborted.
    faulthandler.disable()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with suppress(ValueError, OSError):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _limit(resource.RLIMIT_AS, used + _MEMORY[0] + _MEMORY[1] * size)
        _limit(resource.RLIMIT_CORE, 0)
    try:
        _answer(path, questions, seconds=_SECONDS[0] + size // _SECONDS[1])
    finally:
        os._exit(0)


def _limit(kind: int, most: int) -> None:
    """Lower a limit of this process."""
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, hard))


def _answer(path: Path, questions: Connection, *, seconds: int) -> None:
    """Answer questions, each in at most so many seconds of processor time."""
    variables: dict[str, pywellen.Var] = {}
    while True:
        name = questions.recv()
        _limit(resource.RLIMIT_CPU, math.ceil(time.process_time()) + seconds)
        try:
            if name is None:
                # Single-threaded: starting threads would take as long as reading a window.
                # By its descriptor, since it takes only names that are UTF-8.
                with path.open("rb") as file:
                    waveform = pywellen.Waveform(f"/proc/self/fd/{file.fileno()}", multi_threaded=False)
                variables = {variable.full_name: variable for variable in waveform.all_vars()}
                widths = {name: int(variable.bitwidth or 0) for name, variable in variables.items()}
                questions.send((widths, _times(variables[name] for name, width in widths.items() if width <= WORD)))
            else:
                questions.send(_columns(list(variables[name].signal)))
        except RuntimeError as error:
            questions.send(f"no waveforms: {str(error).splitlines()[0].rstrip(': ')}")
        except BaseException as error:
            # A panic of its Rust code raises an exception that does not derive from `Exception`.
            if type(error).__name__ != "PanicException":
                raise
            questions.send("no waveforms: damaged" if name is None else f"damaged where {name} changes")


def _times(variables: Iterable[pywellen.Var]) -> tuple[int, int] | None:
    """Return the first and the last time at which the first signal with a value changes."""
    for variable in variables:
        times = [time for time, _ in variable.signal]
        if times:
            return times[0], times[-1]
    return None


def _columns(changes: list[tuple[int, Any]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64] | None]:
    """Return times and values of changes as arrays; None for values that are no numbers."""
    times = np.array([time for time, _ in changes], np.int64)
    try:
        return times, np.array([value for _, value in changes], np.uint64)
    except (ValueError, TypeError, OverflowError):
        return times, None


def _size_and_end(path: Path) -> tuple[int, int]:
    """Return the size of a file, and its last time, which the library's reader does not provide."""
    with open_plain(path) as file:
        head = file.read(25)
        size = file.seek(0, 2)
        if head[:1] == bytes([_FST_HEADER]) and len(head) == 25:
            return size, int.from_bytes(head[17:25], "big")
        file.seek(max(0, size - _TAIL))
        times = re.findall(rb"^#(\d{1,18})\s*$", file.read(), re.MULTILINE)
    return size, int(times[-1]) if times else 0
