"""Work in a child process, which a time limit ends: compiled code cannot be ended within its own process."""

import gc
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from cyscc.host.output.progress import OnProgress
from cyscc.sim.errors import SimulationError

_INTERVAL = 0.1
"""Least seconds between two reports of progress."""
_PATIENCE = 0.5
"""Seconds after which an interrupt is noticed at the latest."""
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ChildError(SimulationError):
    """A child process has ended unexpectedly."""


class LimitError(SimulationError):
    """The time limit has ended the work."""


class Reports:
    """Reports of a child process to its parent.

    Parameters
    ----------
    connection : multiprocessing.connection.Connection
        Where they are sent.
    limit : float or None
        Seconds after `start_limit` at which the process ends.
    """

    def __init__(self, connection: Connection, limit: float | None) -> None:
        self._connection = connection
        self._limit = limit
        self._next = 0.0

    def start_limit(self) -> None:
        """Start the time limit, unless it has been started."""
        if self._limit is not None:
            # The system itself ends the process with all its threads, whatever these do, and even without the parent.
            signal.setitimer(signal.ITIMER_REAL, self._limit)
            self._limit = None

    def progress(self, done: int, total: int) -> None:
        """Report progress, unless it was just reported."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _INTERVAL
            self._connection.send((done, total))

    def result(self, value: Any) -> None:
        """Report a result, which replaces those before."""
        self._connection.send((None, value))


def in_child(
    name: str, work: Callable[[Reports], None], *, limit: float | None = None, watch: OnProgress | None = None
) -> Any:
    """Run a function in a child process, which has a copy of everything here, and return the last result it reports.

    An interrupt, and every other end of this function, ends the child.

    Parameters
    ----------
    name : str
        Name of the work in messages.
    work : callable
        The function. Nothing that it changes is changed here.
    limit : float, optional
        Seconds after which the child is ended, from the moment that it asks for.
    watch : callable, optional
        Progress callback.

    Raises
    ------
    LimitError
        The limit was reached before the first result.
    ChildError
        The process was killed, or could not report the function's error.
    Exception
        An error of the function.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_perform, args=(work, ours, theirs, limit), daemon=True)
    result = None
    # No interrupt until the process is known; the child leaves interrupts to its parent.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        try:
            process.start()
        finally:
            theirs.close()
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        while (report := _next_report(ours)) is not None:
            done, value = report
            if done is not None:
                if watch is not None:
                    watch(done, value)
            elif isinstance(value, BaseException):
                raise value
            else:
                result = value
        process.join()
        if process.exitcode == -signal.SIGALRM:
            if result is None:
                raise LimitError(f"{name}: given up after {limit:g} s")
        elif process.exitcode != 0:
            code = process.exitcode or 0
            cause = f"ended with status {code}" if code >= 0 else f"was killed by signal {-code}"
            raise ChildError(f"{name}: its process {cause}{', for lack of memory?' * (code == -signal.SIGKILL)}")
        return result
    finally:
        ours.close()
        if process.pid is not None:
            process.kill()
            process.join()


def _next_report(connection: Connection) -> tuple[int | None, Any] | None:
    """Return the next report; None at the end of the process."""
    try:
        # Not without end: a signal that arrives just before the wait begins is handled only after it.
        while not connection.poll(_PATIENCE):
            pass
        report: tuple[int | None, Any] = connection.recv()
    except (EOFError, OSError):
        return None
    return report


def _perform(work: Callable[[Reports], None], theirs: Connection, connection: Connection, limit: float | None) -> None:
    """Run the function, and report its error; never returns."""
    status = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
        theirs.close()
        # Collecting garbage would touch, and so copy, all objects of the program.
        gc.freeze()
        try:
            work(Reports(connection, limit))
        except BaseException as error:
            connection.send((None, error))
        status = 0
    finally:
        os._exit(status)
