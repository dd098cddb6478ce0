"""A process that does what may end or block it."""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Self

_FORK = multiprocessing.get_context("fork")


class Worker:
    """A process that looks at things one by one, and is replaced when one has ended or blocked it.

    Parameters
    ----------
    look : callable
        Looks at a thing; what it returns, and the thing, can be pickled.
    patience : float
        Seconds that it may take.
    """

    def __init__(self, look: Callable[[Any], Any], *, patience: float) -> None:
        self._look, self._patience = look, patience
        self._process: Any = None

    def ask(self, thing: object) -> Any:
        """Return what there is to say of a thing.

        Raises
        ------
        ChildProcessError
            It ended the process.
        TimeoutError
            It took too long.
        """
        if self._process is None:
            self._connection, theirs = _FORK.Pipe()
            # No daemon, which could have no children: commands have.
            self._process = _FORK.Process(target=_serve, args=(theirs, self._connection, self._look))
            self._process.start()
            theirs.close()
        try:
            self._connection.send(thing)
            if self._connection.poll(self._patience):
                return self._connection.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            status = self._process.exitcode
            self._end()
            raise ChildProcessError(f"the process ended with {status}") from None
        self._end()
        raise TimeoutError(f"no end after {self._patience:.0f} s")

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None

    def __enter__(self) -> Self:
        """Return the worker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._end()


def _serve(connection: Connection, other: Connection, look: Callable[[Any], Any]) -> None:
    """Answer until the other end is closed."""
    other.close()
    # An interrupt of the terminal is for whoever asks.
    os.setsid()
    while True:
        try:
            thing = connection.recv()
        except EOFError:
            return
        connection.send(look(thing))
