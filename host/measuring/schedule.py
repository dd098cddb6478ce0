"""Tasks on several processes, as many at a time as fit in memory."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar

from host.errors import InputError
from sim.errors import SimulationError

__all__ = ["Task", "available_memory", "run_tasks"]


class Task(Protocol):
    """What a worker does at a time."""

    @property
    def label(self) -> str:
        """What messages call it."""

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about."""


_Task = TypeVar("_Task", bound=Task)
_Work = Callable[[_Task], Iterator[Any]]


def available_memory() -> int:
    """Return the bytes of memory that can be had without swapping."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _transferable(error: Exception) -> Exception:
    if isinstance(error, InputError | SimulationError):
        return error
    if isinstance(error, MemoryError):
        return InputError("not enough memory")
    return SimulationError(f"internal error: {type(error).__name__}: {error}")


def _serve(connection: Connection, work: _Work[Any]) -> None:
    """Do what comes through a connection until it is closed: the main function of a worker."""
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        try:
            try:
                for result in work(task):
                    connection.send(("result", result))
            except BrokenPipeError:
                raise
            except Exception as error:
                connection.send(("failed", _transferable(error)))
            else:
                connection.send(("done", None))
        except BrokenPipeError:  # whoever asked is gone
            return


class _Worker:
    """A process that does tasks, one at a time."""

    def __init__(self, work: _Work[Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(other, work), daemon=True)
        # An interrupt reaches all processes of a terminal; it is the main one that ends the others.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.process.start()
        finally:
            signal.signal(signal.SIGINT, before)
        other.close()

    def receive(self, task: Task) -> tuple[str, Any]:
        """Return what the worker says of its task.

        Raises
        ------
        SimulationError
            It has ended.
        """
        try:
            message: tuple[str, Any] = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            code = self.process.exitcode or 0
            how = f"killed by signal {-code}" if code < 0 else f"ended with status {code}"
            raise SimulationError(f"{task.label}: the process that measured it was {how}") from None
        return message

    def end(self) -> None:
        """End the process at once."""
        self.process.terminate()
        self.process.join()
        self.connection.close()


def run_tasks(
    tasks: Sequence[_Task],
    work: _Work[_Task],
    *,
    jobs: int,
    memory: int,
    on_result: Callable[[_Task, Any], None],
) -> None:
    """Do tasks, the largest first.

    Parameters
    ----------
    tasks : sequence of Task
        What to do.
    work : callable
        Does a task: takes it, and yields its results one after the other. A function of a module when there are
        several jobs.
    jobs : int
        Processes; with one, everything runs in this one.
    memory : int
        Bytes that tasks which run side by side may take together; one always runs.
    on_result : callable
        Called with the task and a result, in this process, as soon as the result is there.

    Raises
    ------
    InputError, SimulationError
        A task failed: no more are begun and those that run are ended.
    """
    waiting = sorted(tasks, key=lambda task: -task.bytes)
    if min(jobs, len(tasks)) <= 1:
        for task in waiting:
            for result in work(task):
                on_result(task, result)
        return
    workers: list[_Worker] = []
    idle: list[_Worker] = []
    running: dict[Any, tuple[_Worker, _Task]] = {}
    try:
        while waiting or running:
            for task in list(waiting):
                used = sum(each.bytes for _, each in running.values())
                if len(running) == jobs or (running and used + task.bytes > memory):
                    continue
                if not idle:
                    workers.append(_Worker(work))
                    idle.append(workers[-1])
                worker = idle.pop()
                worker.connection.send(task)
                running[worker.connection] = worker, task
                waiting.remove(task)
            for connection in wait(list(running)):
                worker, task = running[connection]
                kind, content = worker.receive(task)
                if kind == "result":
                    on_result(task, content)
                elif kind == "failed":
                    raise content
                else:
                    del running[connection]
                    idle.append(worker)
    finally:
        for worker in workers:
            worker.end()
