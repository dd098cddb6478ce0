"""The command line: `cyscc`."""

import gc
import os
import sys

try:
    from collections.abc import Sequence
    from contextlib import suppress
    from typing import Any, NoReturn

    from cyscc.host.command_line.signals import BROKEN_PIPE, INTERRUPTED, Interrupts, ignore_signals
    from cyscc.host.command_line.streams import give_up_output, open_missing, print_error
except KeyboardInterrupt:
    # A signal during the imports: nothing to clean up yet.
    os._exit(130)

_YOUNG = 50_000
"""Objects made before Python looks for garbage; nearly all that a command imports and reads stays until its end."""


def _fail(text: str, status: int, *, diagnosis: str = "") -> int:
    print_error(text, diagnosis=diagnosis)
    return status


def _run(argv: Sequence[str] | None, interrupts: Interrupts) -> int:
    """Run the command line; handles every exception but a broken pipe."""
    prog = "cyscc"
    arguments = None
    try:
        # Imported here so that errors during the import are handled too.
        from cyscc.host.command_line.commands import check_limits, make_parser

        try:
            arguments = make_parser(argv).parse_args(argv)
        except SystemExit:  # --help and --version
            return 0
        prog = f"cyscc {arguments.command}"
        check_limits()
        arguments.words = ["cyscc", *(sys.argv[1:] if argv is None else argv)]
        arguments.run(arguments)
    except BrokenPipeError:
        raise
    except BaseException as error:
        # Some libraries turn an interrupt into an error of their own.
        if interrupts.seen or isinstance(error, KeyboardInterrupt):
            kept, _, then = _kept(arguments).partition("\n")
            return _fail(f"{prog}: interrupted{kept and '; '}{kept}", INTERRUPTED, diagnosis=then)
        return _status_of(error, prog)
    return 0


def _kept(arguments: Any) -> str:
    """Return what an interrupted command leaves, by the function `kept` that it has set; empty if it says nothing."""
    kept = getattr(arguments, "kept", None)
    return "" if kept is None or getattr(arguments, "quiet", False) else str(kept())


def _status_of(error: BaseException, prog: str) -> int:
    """Report an error, and return the exit status."""
    match error:
        # Before the next imports, which fail as well when no more files can be opened.
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            return _fail(f"{prog}: {place}{error.strerror or error}", 2)
        case MemoryError():
            return _fail(f"{prog}: not enough memory{f': {error}' if str(error) else ''}", 2)
        case RuntimeError() if str(error) == "can't start new thread":
            return _fail(f"{prog}: no further thread can be started (ulimit -u, or too little memory)", 2)

    from cyscc.host.command_line.parser import UsageError
    from cyscc.host.output.errors import InputError
    from cyscc.sim.errors import SimulationError

    match error:
        case UsageError():
            return _fail(f"{error.prog or prog}: {error}", 2)
        case InputError():
            return _fail(f"{prog}: {error}", 2)
        case SimulationError():
            return _fail(f"{prog}: {error}", 3, diagnosis=error.diagnosis)
    # Amaranth runs Yosys; an error of that comes after its import.
    amaranth = sys.modules.get("amaranth._toolchain.yosys")
    if amaranth is not None and isinstance(error, amaranth.YosysError):
        *_, cause = str(error).strip().splitlines() or [""]
        return _fail(f"{prog}: Yosys failed: {cause}", 3)
    if os.environ.get("CYSCC_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    return _fail(f"{prog}: internal error: {type(error).__name__}: {error}", 3)


def _flush(status: int) -> int:
    """Flush standard output; return the exit status."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        give_up_output()
        return _fail(f"cyscc: standard output: cannot be written: {error.strerror}", status or 2)
    return status


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        Exit status: 0 success, 2 bad input or usage, or output that cannot be written, 3 failed simulation or
        verification, 130 interrupted or terminated, 141 broken pipe on standard output.
    """
    with Interrupts() as interrupts:
        return _end(argv, interrupts)


def _end(argv: Sequence[str] | None, interrupts: Interrupts) -> int:
    """Run the command line and flush its output; return the exit status."""
    try:
        return _flush(_run(argv, interrupts))
    except BrokenPipeError:
        give_up_output()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        # The interrupt came outside the other handlers.
        give_up_output()
        return INTERRUPTED


def command() -> NoReturn:
    """Entry point of the installed command."""
    status = INTERRUPTED
    with suppress(KeyboardInterrupt):
        gc.set_threshold(_YOUNG)
        open_missing()
        # OpenBLAS threads take address space, and print to standard error when they cannot be started.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        # Arrow's own allocator takes huge pages, which may take longer to clear than a record takes to write.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        # Python in worker processes imports nothing from the working folder, which may be a stranger's.
        os.environ["PYTHONSAFEPATH"] = "1"
        with Interrupts() as interrupts:
            status = _end(None, interrupts)
            ignore_signals()
    if status == INTERRUPTED:
        # Do not wait for background threads.
        folder = sys.modules.get("cyscc.sim.caching.folder")
        if folder is not None:
            folder.remove_temporary_cache()
        os._exit(status)
    # Otherwise Python would look through all of it once more, which takes longer than reading a small graph.
    gc.freeze()
    sys.exit(status)


if __name__ == "__main__":
    command()
