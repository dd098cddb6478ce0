"""Scheduling of requests on local processes, as many as memory allows, or on the workers of a cluster."""

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from cyscc.host.graph.available_memory import available_memory
from cyscc.host.output.errors import InputError
from cyscc.sim.caching.folder import usable_cache
from cyscc.sim.errors import BuildError, SimulationError
from cyscc.sim.notices import notice, notices_to


class Schedulable(Protocol):
    """A request; a value that can be sent to another process."""

    @property
    def label(self) -> str:
        """Name in messages."""

    @property
    def bytes(self) -> int:
        """Approximate peak memory."""


_Request = TypeVar("_Request", bound=Schedulable)


_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _block_ends() -> None:
    """Block SIGINT, SIGTERM and SIGHUP in this thread, and so in the processes that it starts."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)


def _live_apart() -> None:
    """Start a session, so that signals of the terminal do not reach this worker, and unblock its signals."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Kill this process and its children when the parent process has ended: no one else would."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has one"
    parent.join()
    os.killpg(0, signal.SIGKILL)


class EndedError(SimulationError):
    """A worker process has ended unexpectedly. One line."""


def _perform(work: Callable[[_Request], Any], request: _Request) -> tuple[Any, list[str]]:
    """Perform a request in a worker; return its result and its notices, which the parent writes once for all."""
    lines: list[str] = []
    try:
        with notices_to(lines.append):
            return work(request), lines
    except BaseException:
        for line in lines:
            notice(line)
        raise


class _Worker:
    """A worker process, which performs one request at a time.

    Parameters
    ----------
    starter : ThreadPoolExecutor
        The thread in which worker processes are started.
    """

    def __init__(self, starter: ThreadPoolExecutor) -> None:
        self._starter = starter
        # Each worker is a pool of one process, since a killed process breaks its whole pool. It runs in a session of
        # its own, so that SIGINT from the terminal does not reach it, and its children (compilers, simulators) can be
        # killed with it.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_live_apart)
        self._process: Any = None

    def begin(self, work: Callable[[_Request], Any], request: _Request) -> Future[Any]:
        """Submit a request."""
        if self._process is not None:
            return self._pool.submit(_perform, work, request)
        return self._starter.submit(self._start, work, request).result()

    def _start(self, work: Callable[[_Request], Any], request: _Request) -> Future[Any]:
        before = set(multiprocessing.active_children())
        future = self._pool.submit(_perform, work, request)
        (self._process,) = set(multiprocessing.active_children()) - before
        return future

    def result(self, future: Future[Any], request: Schedulable) -> Any:
        """Return the result of a request.

        Raises
        ------
        EndedError
            The process has ended.
        """
        try:
            found, lines = future.result()
        except BrokenProcessPool:
            # The pool's thread waits for the process too, and only one of the two gets the exit code.
            while (code := self._process.exitcode) is None:
                self._process.join(0.01)
            how = f"killed by signal {-code}" if code < 0 else f"ended with status {code}"
            raise EndedError(f"{request.label}: the process that measured it was {how}") from None
        for line in lines:
            notice(line, once=True)
        return found

    def end(self) -> None:
        """Kill the process and its children."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        self._pool.shutdown()


def run_requests(
    requests: Sequence[_Request],
    work: Callable[[_Request], Any],
    *,
    jobs: int,
    memory: int | None = None,
    on_result: Callable[[_Request, Any], None],
    apart: bool = False,
    on_lost: Callable[[_Request, EndedError], None] | None = None,
    until: float | None = None,
) -> None:
    """Perform requests on processes of this machine.

    Parameters
    ----------
    requests : sequence of Schedulable
        The requests. The largest come first; equal ones in the given order.
    work : callable
        Performs a request. With worker processes it must be a module-level function.
    jobs : int
        Number of processes; with one, all requests run in this process unless `apart`.
    memory : int, optional
        Bytes that concurrent requests may take together; one always runs. By default most of the available memory.
    on_result : callable
        Called in this process with each request and its result.
    apart : bool
        Whether each request gets a fresh process; they then run in the given order.
    on_lost : callable, optional
        Called with a request whose process has ended, and the error, instead of ending the schedule.
    until : float, optional
        Moment of `time.monotonic` at which the schedule ends, and running requests are killed; but not before the
        first result.

    Raises
    ------
    InputError
        No process can be started, since the user may not execute Python.
    Exception
        The error of a request, or EndedError if its process has ended. No further request is started, and running
        ones are killed.
    """
    room = available_memory().bytes * 9 // 10 if memory is None else memory
    waiting = list(requests) if apart else sorted(requests, key=lambda request: request.bytes, reverse=True)
    if not apart and until is None and min(jobs, len(waiting)) <= 1:
        for request in waiting:
            on_result(request, work(request))
        return
    if not os.access(sys.executable, os.X_OK):
        raise InputError("this user may not execute it, so no process can measure", path=sys.executable)
    # Workers share a temporary cache, if there is one.
    with suppress(BuildError):
        usable_cache()
    # This thread blocks the signals, so that none hits a process before it has its session. If a signal interrupts the
    # main thread, the starter still completes, so that every started process is known and can be killed.
    starter = ThreadPoolExecutor(1, thread_name_prefix="starter", initializer=_block_ends)
    idle: list[_Worker] = []
    running: dict[Future[Any], tuple[_Worker, _Request]] = {}
    workers: list[_Worker] = []
    results = 0
    try:
        while waiting or running:
            for request in list(waiting):
                used = sum(other.bytes for _, other in running.values())
                if len(running) == jobs or (running and used + request.bytes > room):
                    continue
                waiting.remove(request)
                if not idle:
                    workers.append(_Worker(starter))
                    idle.append(workers[-1])
                worker = idle.pop()
                running[worker.begin(work, request)] = worker, request
            left = None if until is None or not results else max(until - time.monotonic(), 0)
            done, _ = wait(running, timeout=left, return_when=FIRST_COMPLETED)
            if not done:
                return
            # Handle successful requests first: a failure ends the schedule.
            for future in sorted(done, key=lambda each: each.exception() is not None):
                worker, request = running.pop(future)
                results += 1
                try:
                    on_result(request, worker.result(future, request))
                except EndedError as error:
                    if on_lost is None:
                        raise
                    on_lost(request, error)
                    worker.end()
                else:
                    if apart:
                        worker.end()
                    else:
                        idle.append(worker)
    finally:
        starter.shutdown()
        for worker in workers:
            worker.end()


_CONNECTING = 10
_WORKERS = 60
_CLOSING = 1
"""Timeouts in seconds: for the scheduler's answer, for its first worker, and for disconnecting."""


def run_on_cluster(
    requests: Sequence[_Request],
    work: Callable[[_Request], Any],
    *,
    address: str,
    on_result: Callable[[_Request, Any], None],
    on_lost: Callable[[_Request, EndedError], None],
    until: float | None = None,
) -> None:
    """Perform requests on a Dask cluster. If a worker ends, another one takes over its requests.

    Parameters
    ----------
    requests : sequence of Schedulable
        The requests, by descending priority.
    work : callable
        Performs a request; a module-level function that the workers can import. It may be called again for a completed
        request if the worker with its result has ended.
    address : str
        Address of the scheduler.
    on_result : callable
        Called in this process with each request and its result.
    on_lost : callable
        Called with a request that several workers have died on, and the error.
    until : float, optional
        Moment of `time.monotonic` from which on the schedule ends with the next result, and all others are cancelled.

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
    asked: dict[Any, _Request] = {}
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
                result = future.result()
            except KilledWorker:
                on_lost(request, EndedError(f"{request.label}: several workers have ended at it"))
            except (CancelledError, OSError):
                raise SimulationError(f"--scheduler: {address}: the scheduler is gone") from None
            except Exception as error:
                raise SimulationError(f"--scheduler: {address}: a worker fails: {_line(error)}") from None
            else:
                on_result(request, result)
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
