"""The command line within this process, some hundred times a second."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import cyscc.sim.machine
from cyscc.host.command_line.main import main
from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.executors.compiled.parts import build_library
from cyscc.sim.machine import Machine

STATUSES = (0, 2, 3, 130, 141)
"""All that the program may end with."""


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The first line on standard error."""
        return self.err.partition("\n")[0]


@cache
def _library(config: AcceleratorConfig, waves: bool) -> Path:
    """Look for a library once: asking the tools for their versions takes as long as a small run."""
    return build_library(config, waves=waves)


def _found(config: AcceleratorConfig, *, waves: bool, on_step: object = None) -> Path:
    return _library(config, waves)


@contextmanager
def _machines(use: Callable[[Machine], None]) -> Iterator[None]:
    """Have a function called with each machine that is made in the block, before it runs."""
    create = cyscc.sim.machine.create_machine

    def make(*arguments: Any, **options: Any) -> Machine:
        machine = create(*arguments, **options)
        use(machine)
        return machine

    with patch("cyscc.sim.machine.create_machine", make):
        yield


def run_cyscc(*arguments: str, on_machine: Callable[[Machine], None] = lambda machine: None) -> Ended:
    """Run the command line.

    Parameters
    ----------
    *arguments : str
        Its arguments.
    on_machine : callable, optional
        Called with its machine before that runs.
    """
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch("cyscc.sim.executors.compiled.executor.build_library", _found),
        _machines(on_machine),
    ):
        status = main(arguments)
    out.seek(0)
    return Ended(status, out.read(), err.getvalue())
