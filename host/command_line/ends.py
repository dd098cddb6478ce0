"""How the process ends when it is asked to: the first time in good order, the second time at once."""

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Any, Self

__all__ = ["BROKEN_PIPE", "INTERRUPTED", "Interrupts", "be_deaf", "end_now"]

INTERRUPTED = 130
"""Exit status after an interrupt."""
BROKEN_PIPE = 141
"""Exit status when nobody reads standard output to its end."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_SAME = 0.5
"""Seconds within which further signals are the same request: ``timeout`` sends two, make and a terminal one each."""


class Interrupts:
    """Makes the signals that ask a process to end interrupts, for a block.

    The first raises `KeyboardInterrupt` where Python code runs, so that nothing half-written is left. One that comes
    half a second later or more ends the process there and then, whatever it does. Signals that are ignored stay so.

    Attributes
    ----------
    seen : bool
        Whether there was one.
    """

    def __init__(self) -> None:
        self.seen = False
        self._number = signal.SIGINT
        self._first = 0.0
        self._before: dict[int, Any] = {}
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        self._main = threading.get_ident()
        # A thread hears of signals also while the main one is in compiled code.
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._lost
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._interrupt)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is None:
            return
        for number, handler in self._before.items():
            if signal.getsignal(number) == self._interrupt:
                signal.signal(number, handler)
        sys.unraisablehook = self._hook
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._writer)
        self._thread.join()
        os.close(self._reader)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self.seen:
            self.seen = True
            self._number = signal.Signals(number)
            raise KeyboardInterrupt

    def _lost(self, what: Any) -> None:
        """Interrupt again when an interrupt came where Python drops exceptions, as in a destructor."""
        if issubclass(what.exc_type, KeyboardInterrupt):
            # A moment later, as one that came now would be dropped too.
            threading.Timer(0.01, self._again).start()
        else:
            self._hook(what)

    def _again(self) -> None:
        self.seen = False
        # A signal ends what blocks, too.
        signal.pthread_kill(self._main, self._number)

    def _listen(self) -> None:
        while numbers := os.read(self._reader, 16):
            now = time.monotonic()
            if not any(number in self._before for number in numbers):
                continue
            if self._first and now - self._first > _SAME:
                end_now()
            self._first = self._first or now


def be_deaf() -> None:
    """Ignore further signals: the process is done, and Python's own end takes a while."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def end_now() -> None:
    """End the process, and what it started, at once; what it leaves the next one removes."""
    # Here, as nobody else should wait for it.
    from sim.processes import end_descendants

    end_descendants()
    with suppress(OSError):
        os.write(2, b"cyscc: ended at once\n")
    os._exit(INTERRUPTED)
