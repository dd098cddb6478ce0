"""Termination by signals: the first one ends the process in good order, the second one at once."""

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Any, Self

INTERRUPTED = 130
"""Exit status after an interrupt."""
BROKEN_PIPE = 141
"""Exit status after a broken pipe on standard output."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_SAME = 0.5
"""Seconds within which signals count as one request: ``timeout`` sends two, make and a terminal one each."""


class Interrupts:
    """Context manager that turns termination signals into `KeyboardInterrupt`.

    The first signal raises `KeyboardInterrupt` in Python code, so that cleanup runs and no half-written file is left.
    A signal half a second later or more ends the process at once. Signals that were ignored stay ignored.

    Attributes
    ----------
    seen : bool
        Whether a signal arrived.
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
        # Listen in a thread, which sees signals even while the main thread is in compiled code.
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
        """Repeat an interrupt that was raised where Python drops exceptions, as in a destructor."""
        if issubclass(what.exc_type, KeyboardInterrupt):
            # With a delay: an interrupt raised right now would be dropped too.
            threading.Timer(0.01, self._again).start()
        else:
            self._hook(what)

    def _again(self) -> None:
        self.seen = False
        # By a signal, which also interrupts blocking system calls.
        signal.pthread_kill(self._main, self._number)

    def _listen(self) -> None:
        while numbers := os.read(self._reader, 16):
            now = time.monotonic()
            if not any(number in self._before for number in numbers):
                continue
            if self._first and now - self._first > _SAME:
                terminate_now()
            self._first = self._first or now


def ignore_signals() -> None:
    """Ignore further signals while Python shuts down."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def terminate_now() -> None:
    """End the process and its descendants at once; the next process removes leftover temporary files."""
    # Imported here to keep start-up fast.
    from cyscc.sim.processes import end_descendants

    end_descendants()
    with suppress(OSError):
        os.write(2, b"cyscc: ended at once\n")
    os._exit(INTERRUPTED)
