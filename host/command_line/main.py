"""The command line: `cyscc`."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

# What help and bad usage need, and nothing heavier: the commands import the rest when they run.
from host.command_line import bench, bfs, generate, reproduce, scc, software, synth, timing, verilog
from host.errors import InputError, error_line
from host.options import Parser, UsageError
from sim.errors import SimulationError

__all__ = ["main"]

_EPILOG = """examples:
  cyscc generate rmat --vertices 2^14 --degree 8 -o rmat.gr
  cyscc scc rmat.gr
  cyscc bfs rmat.gr --source 1

exit status: 0 done and verified, 2 bad input or usage, 3 the simulation failed
"""

_COMMANDS = (scc, bfs, generate, verilog, software, reproduce, bench, synth, timing)
_INTERRUPTED = 130
_BROKEN_PIPE = 141


class _ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from host.results.version import version

        sys.stdout.write(f"cyscc {version()}\n")
        parser.exit()


def _parser() -> Parser:
    parser = Parser(
        prog="cyscc",
        description="Cycle-accurate simulator of an accelerator that finds strongly connected components.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for command in _COMMANDS:
        command.add_parser(commands)
    return parser


def _fail(text: str, status: int, *, diagnosis: str = "") -> int:
    """Print one line, and a diagnosis below it, on standard error."""
    sys.stderr.write(error_line(text) + "\n")
    if diagnosis:
        sys.stderr.write(diagnosis.rstrip("\n") + "\n")
    return status


def _run(argv: Sequence[str] | None) -> int:
    """Run the command line; only a broken pipe is left to the caller."""
    prog = "cyscc"
    try:
        arguments = _parser().parse_args(argv)
        prog = f"cyscc {arguments.command}"
        arguments.run(arguments)
    except SystemExit as end:  # --help and --version
        return int(end.code or 0)
    except UsageError as error:
        return _fail(f"{error.prog or prog}: {error}", 2)
    except InputError as error:
        return _fail(f"{prog}: {error}", 2)
    except SimulationError as error:
        return _fail(f"{prog}: {error}", 3, diagnosis=error.diagnosis)
    except MemoryError as error:
        return _fail(f"{prog}: not enough memory{f': {error}' if str(error) else ''}", 2)
    except KeyboardInterrupt:
        return _fail(f"{prog}: interrupted", _INTERRUPTED)
    except BrokenPipeError:
        raise
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(f"{prog}: {place}{error.strerror or error}", 2)
    except Exception as error:
        if os.environ.get("CYSCC_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        return _fail(f"{prog}: internal error: {type(error).__name__}: {error}", 3)
    return 0


@contextmanager
def _ended_as_interrupted() -> Iterator[None]:
    """Let whoever ends the process interrupt it, so that nothing half-written is left."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, those of the process when absent.

    Returns
    -------
    int
        Exit status: 0 done and verified, 2 bad input or usage, 3 the simulation failed, 130 interrupted or ended,
        141 nobody read standard output to its end.
    """
    try:
        with _ended_as_interrupted():
            status = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read standard output is gone; without this the interpreter complains when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    return status


if __name__ == "__main__":
    sys.exit(main())
