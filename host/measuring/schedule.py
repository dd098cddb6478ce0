"""Requests measured by processes of this machine, as many as fit in memory, or by the workers of a cluster."""

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from host.errors import InputError
from host.memory_room import memory_room
from sim.errors import SimulationError

__all__ = ["Asked", "EndedError", "run_groups", "run_on_cluster"]


class Asked(Protocol):
    """What is to be measured: a value, so that another process can be given it."""

    @property
    def label(self) -> str:
        """Name in messages."""

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about."""


_Request = TypeVar("_Request", bound=Asked)


_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _block_ends() -> None:
    """Block interrupts in a thread, and so in the processes that it starts."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)


def _live_apart() -> None:
    """Begin a session, in a process born with its interrupts blocked: those at the terminal are not for it."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process, and all that it started, when its parent is gone: nobody would end them any more."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has one"
    parent.join()
    os.killpg(0, signal.SIGKILL)


class EndedError(SimulationError):
    """A process that measured has ended. One line."""


class _Worker:
    """A process that measures, one request at a time.

    Parameters
    ----------
    starter : ThreadPoolExecutor
        The thread that starts it.
    """

    def __init__(self, starter: ThreadPoolExecutor) -> None:
        self._starter = starter
        # A pool of one, since a process that is killed takes its whole pool with it. In a session of its own, so that
        # an interrupt at the terminal does not reach it, and that whatever it has started (a compiler, a simulator) can
        # be ended with it.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_live_apart)
        self._process: Any = None

    def begin(self, work: Callable[[_Request], Any], request: _Request) -> Future[Any]:
        """Hand it a request."""
        if self._process is not None:
            return self._pool.submit(work, request)
        return self._starter.submit(self._start, work, request).result()

    def _start(self, work: Callable[[_Request], Any], request: _Request) -> Future[Any]:
        before = set(multiprocessing.active_children())
        future = self._pool.submit(work, request)
        (self._process,) = set(multiprocessing.active_children()) - before
        return future

    def result(self, future: Future[Any], request: Asked) -> Any:
        """Return what came of a request.

        Raises
        ------
        EndedError
            The process has ended.
        """
        try:
            return future.result()
        except BrokenProcessPool:
            # The pool waits for it too, in a thread of its own, and only one of the two is told how it ended.
            while (code := self._process.exitcode) is None:
                self._process.join(0.01)
            how = f"killed by signal {-code}" if code < 0 else f"ended with status {code}"
            raise EndedError(f"{request.label}: the process that measured it was {how}") from None

    def end(self) -> None:
        """End the process, and all that it started, at once."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        self._pool.shutdown()


def run_groups(
    groups: Sequence[Sequence[_Request]],
    work: Callable[[_Request], Any],
    *,
    jobs: int,
    memory: int | None = None,
    on_result: Callable[[_Request, Any], None],
    apart: bool = False,
    on_lost: Callable[[_Request, EndedError], None] | None = None,
) -> None:
    """Measure groups of requests; those of a group one after the other in the same process.

    Parameters
    ----------
    groups : sequence of sequences of Asked
        What to measure, none of them empty.
    work : callable
        Measures a request. A function of a module when other processes are to call it.
    jobs : int
        Processes; with one, everything runs in this one unless `apart`. The largest groups come first.
    memory : int, optional
        Bytes that groups which run side by side may take together; one always runs. By default most of what there is.
    on_result : callable
        Called with the request and its result, in this process, as soon as the result is there.
    apart : bool
        Whether each group has a process that no other had before it; they come in the order given.
    on_lost : callable, optional
        Called in the place of an end with a request whose process has ended, and how; the rest of its group goes on in
        another.

    Raises
    ------
    Exception
        What the measurement of a request raised, or EndedError if its process has ended: no more are begun and
        those that run are ended.
    """

    def size(group: Sequence[_Request]) -> int:
        return max(request.bytes for request in group)

    room = memory_room().bytes * 9 // 10 if memory is None else memory
    waiting = list(groups) if apart else sorted(groups, key=size, reverse=True)
    if not apart and min(jobs, len(groups)) <= 1:
        for request in (request for group in waiting for request in group):
            on_result(request, work(request))
        return
    # It blocks interrupts, which would reach a process until it has its session; and it goes on where one comes to this
    # thread, so that every process that was started is known, and ended.
    starter = ThreadPoolExecutor(1, thread_name_prefix="starter", initializer=_block_ends)
    idle: list[_Worker] = []
    running: dict[Future[Any], tuple[_Worker, Sequence[_Request]]] = {}
    workers: list[_Worker] = []
    try:
        while waiting or running:
            for group in list(waiting):
                used = sum(size(each) for _, each in running.values())
                if len(running) == jobs or (running and used + size(group) > room):
                    continue
                waiting.remove(group)
                if not idle:
                    workers.append(_Worker(starter))
                    idle.append(workers[-1])
                worker = idle.pop()
                running[worker.begin(work, group[0])] = worker, group
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            # What succeeded first: a failure ends everything.
            for future in sorted(done, key=lambda each: each.exception() is not None):
                worker, (request, *rest) = running.pop(future)
                try:
                    on_result(request, worker.result(future, request))
                except EndedError as error:
                    if on_lost is None:
                        raise
                    on_lost(request, error)
                    worker.end()
                    if rest:
                        waiting.append(rest)
                    continue
                if rest:
                    running[worker.begin(work, rest[0])] = worker, rest
                elif apart:
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
"""Seconds to reach the scheduler, to see its first worker, and to part."""


def run_on_cluster(
    requests: Sequence[_Request],
    work: Callable[[_Request], Any],
    *,
    address: str,
    on_result: Callable[[_Request, Any], None],
    on_lost: Callable[[_Request, EndedError], None],
) -> None:
    """Measure requests. What a worker that ends was at, another one does.

    Parameters
    ----------
    requests : sequence of Asked
        What to measure; those in front are begun first.
    work : callable
        Measures a request; a function of a module that the workers have too. It may be called again for a request that
        is done, when the worker that did it has ended.
    address : str
        Of the scheduler.
    on_result : callable
        Called with the request and its result, in this process, as soon as the result is there.
    on_lost : callable
        Called with a request at which several workers have ended, and how.

    Raises
    ------
    InputError
        There is no scheduler at the address, it has no workers, or what talks to it is not installed.
    SimulationError
        A worker has raised an error, or the scheduler is gone.
    """
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise InputError("--scheduler needs the package distributed: pip install 'cyscc[cluster]'") from None
    # What is wrong is told by the exceptions.
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
        # Keys that nobody else has: a scheduler keeps what it knows by them.
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
    finally:
        with suppress(Exception):
            client.cancel(list(asked), force=True)
        with suppress(Exception):
            client.close(timeout=_CLOSING)


def _line(error: BaseException) -> str:
    """Return the first line of what an error says, and its kind where it says nothing."""
    text = str(error).strip().partition("\n")[0]
    return text if isinstance(error, SimulationError) else f"{type(error).__name__}: {text}" if text else repr(error)
