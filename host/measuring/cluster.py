"""Requests measured by the workers of a Dask cluster."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, TypeVar
from uuid import uuid4

from host.errors import InputError
from host.measuring.schedule import Asked, EndedError
from sim.errors import SimulationError

__all__ = ["run_on_cluster"]

_Request = TypeVar("_Request", bound=Asked)

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
