"""The command line of the benchmark."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence

from host.command_line.options import Parser, UsageError, at_least
from host.errors import InputError
from host.results.documents import write_json
from host.results.output import check_output
from host.studies.benchmark.workloads import PRESETS, Workload
from sim.errors import SimulationError
from sim.executors.comparison.contenders import CONTENDERS

__all__ = ["main"]

_PROG = "bench"
_INTERRUPTED = 130


def _contenders(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in CONTENDERS:
            raise argparse.ArgumentTypeError(f"unknown row {name!r}: there are {', '.join(CONTENDERS)}")
    return [name for name in CONTENDERS if name in names]


def _parser() -> Parser:
    parser = Parser(
        prog=_PROG,
        description="Measure how fast the machine is simulated, by the compiled executor and by other means.",
    )
    parser.add_argument("--quick", action="store_true", help="small graphs and a small machine, to see that it works")
    parser.add_argument(
        "--rows",
        type=_contenders,
        default=list(CONTENDERS),
        metavar="NAMES",
        help=f"what to measure, separated by commas (default: {','.join(CONTENDERS)})",
    )
    parser.add_argument(
        "--repetitions", type=at_least(1), metavar="N", help="repetitions (default: 3 to 5, 1 with --quick)"
    )
    parser.add_argument("--json", metavar="OUT", help="write the figures as JSON ('-': standard output)")
    parser.add_argument(
        "--compare", metavar="REVISION", help="instead, compare the compiled executor with that of REVISION"
    )
    one = parser.add_argument_group("a single measurement, as JSON on standard output")
    one.add_argument("--one", choices=CONTENDERS, metavar="ROW", help="the row")
    one.add_argument("--config", default="hc2", help=argparse.SUPPRESS)
    one.add_argument("--memory", default="hc2", help=argparse.SUPPRESS)
    one.add_argument("--vertices", type=at_least(1), default=2**18, help="vertices of the graph (default: 2^18)")
    one.add_argument("--degree", type=at_least(1), default=16, help="edges per vertex (default: 16)")
    return parser


def _progress() -> Callable[[str], None]:
    """Return what shows on a terminal what is being measured."""

    def show(label: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"{label}\n")

    return show


def _run(argv: Sequence[str] | None) -> None:
    arguments = _parser().parse_args(argv)
    if arguments.one is not None:
        from host.studies.benchmark.measure import measure

        workload = Workload(
            config=arguments.config, memory=arguments.memory, vertices=arguments.vertices, degree=arguments.degree
        )
        print(json.dumps(measure(arguments.one, workload)))
        return
    if arguments.json is not None:
        check_output(arguments.json, "--json")
    preset = PRESETS["quick" if arguments.quick else "full"]
    if arguments.compare is not None:
        from host.measuring.setting import root_folder
        from host.studies.benchmark.compare import compare_revisions, comparison_table

        document = compare_revisions(
            root_folder(),
            arguments.compare,
            workload=preset.workload("compiled-2"),
            repetitions=arguments.repetitions or preset.repetitions["compiled-2"],
            on_measurement=_progress(),
        )
        text = comparison_table(document)
    else:
        from host.studies.benchmark.campaign import run_benchmark
        from host.studies.benchmark.table import benchmark_table

        document = run_benchmark(preset, arguments.rows, repetitions=arguments.repetitions, on_measurement=_progress())
        text = benchmark_table(document)
    if arguments.json is not None:
        write_json(arguments.json, document)
    if arguments.json != "-":
        sys.stdout.write(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, those of the process when absent.

    Returns
    -------
    int
        Exit status: 0 measured, 2 bad usage or input, 3 a measurement failed, 130 interrupted.
    """
    # Being ended is an interrupt too, after which nothing is left behind.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _guarded(argv)
    finally:
        signal.signal(signal.SIGTERM, before)


def _guarded(argv: Sequence[str] | None) -> int:
    """Run the benchmark; return the exit status."""
    try:
        _run(argv)
    except SystemExit as end:  # --help
        return int(end.code or 0)
    except (UsageError, InputError) as error:
        return _fail(str(error), 2)
    except SimulationError as error:
        return _fail(str(error), 3, diagnosis=error.diagnosis)
    except KeyboardInterrupt:
        return _fail("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(f"{place}{error.strerror or error}", 2)
    return 0


def _fail(text: str, status: int, *, diagnosis: str = "") -> int:
    """Print one line, and a diagnosis below it, on standard error."""
    sys.stderr.write(f"{_PROG}: {' '.join(text.split())}\n")
    if diagnosis:
        sys.stderr.write(diagnosis.rstrip("\n") + "\n")
    return status
