"""Pools that perform requests: processes of this machine, as many as memory allows, or the workers of a cluster."""

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any
from uuid import uuid4

from cyscc.host.experiments.plan.request import AnyRequest
from cyscc.host.graph.available_memory import available_memory
from cyscc.host.output.errors import InputError
from cyscc.sim.caching.folder import usable_cache
from cyscc.sim.errors import BuildError, SimulationError
from cyscc.sim.notices import notice, notices_to


class EndedError(SimulationError):
    """The process that performed a request has ended unexpectedly. One line."""


_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _end_with_parent() -> None:
    """Kill this process and its children when the parent process has ended: no one else would."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has one"
    parent.join()
    os.killpg(0, signal.SIGKILL)


def _serve(pipe: Connection) -> None:
    """Perform the requests that come out of a pipe, and return their outcomes and notices."""
    # In a session of its own, signals of the terminal do not reach this process.
    os.setsid()
    os.set_inheritable(pipe.fileno(), False)  # it ends with this process, whatever this one starts
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The pipe breaks when the parent process has ended.
    with suppress(EOFError, BrokenPipeError):
        while True:
            work, request = pipe.recv()
            lines: list[str] = []
            raised = False
            try:
                with notices_to(lines.append):
                    outcome = work(request)
            except BaseException as error:
                error.add_note(traceback.format_exc())
                outcome, raised = error, True
            pipe.send((outcome, raised, lines))


class _Worker:
    """A process that performs one request at a time; it and its children are killed together.

    Attributes
    ----------
    pipe : Connection
        Has the outcome of its request, or ends with the process.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, self._other = context.Pipe()
        self._process = context.Process(target=_serve, args=(self._other,))

    def start(self) -> None:
        """Start the process."""
        self._process.start()
        self._other.close()

    def begin(self, work: Callable[[AnyRequest], Any], request: AnyRequest) -> None:
        """Send a request."""
        # A process that has just ended is noticed when its outcome is awaited.
        with suppress(BrokenPipeError):
            self.pipe.send((work, request))

    def outcome(self) -> Any:
        """Return the outcome of its request; an EndedError if the process has ended, and raise what it has raised."""
        try:
            outcome, raised, lines = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode or 0
            how = f"killed by signal {-code}" if code < 0 else f"ended with status {code}"
            return EndedError(f"the process that measured it was {how}")
        for line in lines:
            notice(line, once=not raised)
        if raised:
            raise outcome
        return outcome

    def end(self) -> None:
        """Kill the process and its children."""
        if self._process.pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.join()
        self.pipe.close()


_PATIENCE = 0.2
"""Seconds after which an interrupt or the end of the time is noticed at the latest."""


def perform_here(
    requests: Iterable[AnyRequest],
    work: Callable[[AnyRequest], Any],
    on_outcome: Callable[[AnyRequest, Any], None],
    *,
    jobs: int = 1,
    memory: int | None = None,
    until: float | None = None,
) -> None:
    """Perform requests on processes of this machine, which are started anew when they end.

    Parameters
    ----------
    requests : iterable of Request
        The requests, which begin in this order as far as their memory allows.
    work : callable
        Performs a request and returns its outcome. With worker processes it must be a module-level function, or a
        partial one.
    on_outcome : callable
        Called in this process with each request and its outcome: an `EndedError` if its process has ended.
    jobs : int
        Number of processes; with one, requests that need not be alone run in this process, unless there is a time
        limit.
    memory : int, optional
        Bytes that concurrent requests may take together; one always runs. By default most of the available memory.
    until : float, optional
        Moment of `time.monotonic` at which this ends, and running requests are killed; but not before the first
        outcome.

    Raises
    ------
    InputError
        No process can be started, since the user may not execute Python.
    Exception
        What a request, or `on_outcome`, has raised. No further request is begun, and running ones are killed.
    """
    waiting = list(requests)
    room = available_memory().bytes * 9 // 10 if memory is None else memory
    if until is None and min(jobs, len(waiting)) <= 1 and not any(each.alone for each in waiting):
        for request in waiting:
            on_outcome(request, work(request))
        return
    if not os.access(sys.executable, os.X_OK):
        raise InputError("this user may not execute it, so no process can measure", path=sys.executable)
    # Workers share a temporary cache, if there is one.
    with suppress(BuildError):
        usable_cache()
    resource_tracker.ensure_running()  # it unblocks signals where it is started
    # This thread blocks the signals, so that none hits a process before it has its session. If a signal interrupts the
    # main thread, the starter still completes, so that every started process is known and can be killed.
    blocked = signal.SIG_BLOCK, _ENDS
    starter = ThreadPoolExecutor(1, "starter", initializer=signal.pthread_sigmask, initargs=blocked)
    workers: list[_Worker] = []
    idle: list[_Worker] = []
    running: dict[Any, tuple[_Worker, AnyRequest]] = {}
    results = 0
    try:
        while (waiting or running) and not (results and until is not None and time.monotonic() >= until):
            for request in list(waiting):
                others = [other for _, other in running.values()]
                if len(others) == jobs or any(other.alone for other in others):
                    break
                if others and (request.alone or sum(each.bytes for each in (request, *others)) > room):
                    continue
                waiting.remove(request)
                if request.alone or not idle:
                    workers.append(_Worker())
                    starter.submit(workers[-1].start).result()
                    idle.append(workers[-1])
                worker = idle.pop()
                running[worker.pipe] = worker, request
                worker.begin(work, request)
            # Not without end: a signal that arrives just before the wait begins is handled only after it.
            for pipe in wait(list(running), timeout=_PATIENCE):
                worker, request = running.pop(pipe)
                results += 1
                outcome = worker.outcome()
                if request.alone or isinstance(outcome, EndedError):
                    worker.end()
                    workers.remove(worker)
                else:
                    idle.append(worker)
                on_outcome(request, outcome)
    finally:
        starter.shutdown()
        for worker in workers:
            worker.end()


_CONNECTING = 10
_WORKERS = 60
_CLOSING = 1
"""Timeouts in seconds: for the scheduler's answer, for its first worker, and for disconnecting."""


def perform_on_cluster(
    requests: Iterable[AnyRequest],
    work: Callable[[AnyRequest], Any],
    on_outcome: Callable[[AnyRequest, Any], None],
    *,
    address: str,
    until: float | None = None,
) -> None:
    """Perform requests on a Dask cluster. If a worker ends, another one takes over its requests.

    Parameters
    ----------
    requests : iterable of Request
        The requests, by descending priority.
    work : callable
        Performs a request and returns its outcome; a module-level function that the workers can import, or a partial
        one. It may be called again for a completed request if the worker with its outcome has ended.
    on_outcome : callable
        Called in this process with each request and its outcome: an `EndedError` if several workers have died on it.
    address : str
        Address of the scheduler.
    until : float, optional
        Moment of `time.monotonic` from which on this ends with the next outcome, and all others are cancelled.

    Raises
    ------
    InputError
        No scheduler answers at the address, it has no workers, or the package `distributed` is not installed.
    SimulationError
        A worker raised an error, or the connection to the scheduler was lost.
    """
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise InputError("--scheduler needs the package distributed: pip install 'cyscc[cluster]'") from None
    # Errors are reported by exceptions.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=_CONNECTING, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"--scheduler: {address}: no scheduler answers: {_line(error)}") from None
    asked: dict[Any, AnyRequest] = {}
    try:
        try:
            client.wait_for_workers(1, timeout=_WORKERS)
        except TimeoutError:
            raise InputError(f"--scheduler: {address}: the scheduler has no workers") from None
        # Unique keys: a scheduler reuses results with the same key.
        run = uuid4().hex
        for number, request in enumerate(requests):
            asked[client.submit(work, request, key=f"cyscc-{run}-{number}", priority=-number, pure=False)] = request
        for future in as_completed(list(asked), loop=client.loop):
            request = asked.pop(future)
            try:
                outcome = future.result()
            except KilledWorker:
                outcome = EndedError("several workers have ended at it")
            except (CancelledError, OSError):
                raise SimulationError(f"--scheduler: {address}: the scheduler is gone") from None
            except Exception as error:
                raise SimulationError(f"--scheduler: {address}: a worker fails: {_line(error)}") from None
            on_outcome(request, outcome)
            future.release()
            if until is not None and time.monotonic() >= until:
                return
    finally:
        with suppress(Exception):
            client.cancel(list(asked), force=True)
        with suppress(Exception):
            client.close(timeout=_CLOSING)


def _line(error: BaseException) -> str:
    """Return the first line of an error's message, after its type unless it is a `SimulationError`."""
    text = str(error).strip().partition("\n")[0]
    return text if isinstance(error, SimulationError) else f"{type(error).__name__}: {text}" if text else repr(error)
