"""Compiled loops on several threads: they release the interpreter's lock, so ordinary threads run side by side."""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

__all__ = ["Workers"]


class Workers:
    """Threads that share the ranges of a loop.

    Parameters
    ----------
    threads : int
        How many; with one, everything runs in the calling thread.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def each(self, work: Callable[[int], int]) -> list[int]:
        """Run a function in every thread, given the thread's number, and return what it returns."""
        if self._pool is None:
            return [work(0)]
        return list(self._pool.map(work, range(self.threads)))

    def ranges(self, size: int, chunk: int, work: Callable[[int, int, int, int], int]) -> list[int]:
        """Hand out the ranges of 0 to `size` to whichever thread is free.

        Parameters
        ----------
        size, chunk : int
            Size of the loop, and of a range.
        work : callable
            Takes the thread's number, first and last of a range, and what it returned for this thread before (0 at
            first).

        Returns
        -------
        list of int
            What it returned last, for each thread.
        """
        numbers = itertools.count()

        def run(thread: int) -> int:
            result = 0
            while (first := next(numbers) * chunk) < size:
                result = work(thread, first, min(first + chunk, size), result)
            return result

        return self.each(run)

    @staticmethod
    def joined(parts: list[NDArray[np.uint32]], counts: list[int]) -> NDArray[np.uint32]:
        """Return what each thread has found, one behind the other."""
        return np.concatenate([part[:count] for part, count in zip(parts, counts, strict=True)])
