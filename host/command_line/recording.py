"""Runs that are recorded, on the command line: `--record`, `--record-interval`, `--trace`."""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from host.options import RECORD_INTERVAL, UsageError
from host.runs.recording import Recording
from sim.errors import SimulationError

if TYPE_CHECKING:
    from host.command_line.keeping import Keeping
    from host.runs.session import Session

__all__ = ["opened_recording"]


@contextmanager
def opened_recording(
    arguments: argparse.Namespace, command: str, session: "Session", keeping: "Keeping"
) -> Iterator[Recording | None]:
    """Give what records a run, until the end of the block, at which the trace is written; None if nothing is recorded.

    Parameters
    ----------
    arguments : argparse.Namespace
        The options of `host.options.add_record_options` and `add_checkpoint_options`; what is not given is settled.
    command : str
        The command.
    session : Session
        The run in the making.
    keeping : Keeping
        Keeps it.

    Raises
    ------
    UsageError, InputError
        Options that make no sense; a folder that cannot be used.
    """
    if arguments.record is None and arguments.trace is None:
        if arguments.record_interval is not None:
            raise UsageError("--record-interval needs --record or --trace")
        yield None
        return
    if arguments.record is None and arguments.checkpoint is not None:
        raise UsageError("--trace of a run that is kept needs --record")
    if arguments.record_interval is None:
        arguments.record_interval = RECORD_INTERVAL
    with ExitStack() as stack:
        folder = arguments.record or stack.enter_context(TemporaryDirectory(prefix="cyscc-record-"))
        recording = stack.enter_context(
            closing(
                Recording(
                    Path(folder),
                    interval=arguments.record_interval,
                    command=command,
                    options=session.options,
                    source=getattr(arguments, "source", None),
                    resumed=arguments.resume is not None,
                    kept=arguments.checkpoint is not None,
                )
            )
        )
        try:
            yield recording
        except SimulationError as error:
            if arguments.record is not None:
                from host.replay.failure import show_failure

                show_failure(
                    recording,
                    error,
                    threads=arguments.threads,
                    progress=session.progress,
                    checkpoint=keeping.latest(),
                    kept=arguments.checkpoint,
                )
            raise
        if arguments.trace is not None:
            from host.record.reader import Record
            from host.trace.trace import write_trace

            write_trace(Record(recording.folder), arguments.trace)
