"""Runs that are recorded, on the command line: `--record`, `--record-interval`, `--trace`."""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from host.options import RECORD_INTERVAL, UsageError
from host.running.recording import Recording

if TYPE_CHECKING:
    from host.running.session import RunOptions

__all__ = ["opened_recording"]


@contextmanager
def opened_recording(arguments: argparse.Namespace, command: str, options: "RunOptions") -> Iterator[Recording | None]:
    """Give what records a run, until the end of the block, at which the trace is written; None if nothing is recorded.

    Parameters
    ----------
    arguments : argparse.Namespace
        The options of `host.options.add_record_options` and `add_checkpoint_options`; what is not given is settled.
    command : str
        The command.
    options : RunOptions
        How the run is made.

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
                    options=options,
                    source=getattr(arguments, "source", None),
                    resumed=arguments.resume is not None,
                    kept=arguments.checkpoint is not None,
                )
            )
        )
        yield recording
        if arguments.trace is not None:
            from host.record.reader import Record
            from host.trace.trace import write_trace

            write_trace(Record(recording.folder), arguments.trace)
