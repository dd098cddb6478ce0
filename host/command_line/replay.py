"""`cyscc replay`: a recorded run made again up to a point, and recorded with waveforms from there."""

import argparse
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.errors import InputError
from host.options import UsageError, add_quiet, add_threads, add_wave_choice, at_least
from sim.executors.names import EXECUTORS

if TYPE_CHECKING:
    from host.checkpoints.folder import Checkpoint
    from host.replay.source import Source

__all__ = ["add_parser", "run"]

_EPILOG = """examples:
  cyscc bfs random.gr --source 1 --record seen
  cyscc replay seen --at 120000 --cycles 2000 -o middle.fst
  cyscc replay seen --at level=3 --before 100
  cyscc replay seen --at slot,engine=0,kernel=3,level=3 --cycles 500
  cyscc replay seen --at level=3 --cycles 500 --life level3.kanata --life-of engine0.bfs3
"""


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "replay",
        help="make a recorded run again up to a point, and write waveforms from there",
        description="Make a recorded run again, bit-identically and quickly, up to a point, and write waveforms there.",
        epilog=_EPILOG,
    )
    parser.add_argument("record", metavar="DIR", help="the folder that --record wrote")
    parser.add_argument(
        "--at",
        metavar="POINT",
        required=True,
        help="a cycle, level=N, or an event such as slot,engine=0,kernel=3,level=3",
    )
    parser.add_argument(
        "--cycles", type=at_least(1), default=1000, metavar="N", help="cycles to record (default: %(default)s)"
    )
    parser.add_argument(
        "--before", type=at_least(0), default=0, metavar="N", help="begin so many cycles earlier (default: %(default)s)"
    )
    add_wave_choice(parser)
    parser.add_argument(
        "-o", "--output", metavar="OUT.fst", help="the waveforms, .fst or .vcd (default: DIR-CYCLE.fst)"
    )
    parser.add_argument(
        "--life",
        metavar="OUT",
        help="write the life of the queue entries that begin there as Kanata text, for Konata ('-': standard output)",
    )
    parser.add_argument(
        "--life-of", nargs="+", default=(), metavar="WHAT", help="only these, as --of of `cyscc life` (default: all)"
    )
    parser.add_argument("--graph", metavar="FILE", help="the graph, where it is not where it was")
    parser.add_argument("--from", dest="checkpoint", metavar="DIR", help="go on from the checkpoint in this folder")
    parser.add_argument(
        "--executor", choices=EXECUTORS, help="what executes the cycles that are recorded (default: as in the run)"
    )
    add_threads(parser, "the way to the point")
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage; a record, a checkpoint or a graph that cannot be used, a point that is not in the run.
    SimulationError
        The machine could not be built, or the run failed before the point.
    """
    from host.output import STANDARD_OUTPUT, check_output, show
    from host.progress import Progress
    from host.record.reader import Record, read_failure
    from host.replay.failure import cycle_of_failure
    from host.replay.finding import Found, find
    from host.replay.point import Point
    from host.replay.run import Replay, Waveforms
    from host.replay.source import Source
    from host.words import sized

    try:
        point = Point.parse(arguments.at)
    except ValueError as error:
        raise UsageError(f"--at: {error}") from None
    _check_outputs(arguments)
    progress = Progress(quiet=arguments.quiet)
    place = Path(arguments.record)
    failure = read_failure(place)
    document = Record(place).document if failure is None else failure
    source = Source.of(document, place, threads=arguments.threads, graph=arguments.graph)
    with progress.step("reading the record"):
        found = find(point, Record(place)) if failure is None else Found(cycle=cycle_of_failure(point, failure, place))
    with ExitStack() as stack:
        checkpoint = None
        if arguments.checkpoint is not None:
            checkpoint = _checkpoint(stack, Path(arguments.checkpoint), source)
        elif failure is not None and failure["checkpoint"] is not None:
            # It may be gone by now, or that of another run.
            with suppress(InputError):
                checkpoint = _checkpoint(stack, Path(failure["run"]["folder"], failure["checkpoint"]), source)
        replay = Replay(source, progress, checkpoint)
        cycle = found.cycle if found.cycle is not None else replay.locate(point, found.spans)
        if cycle is None:
            raise InputError(f"there is no {point} in the run", path=arguments.record)
        first = max(cycle - arguments.before, 0)
        end = document["cycles"]["total"] if failure is None else failure["failure"]["cycle"]
        last = min(first + arguments.cycles, end) - 1
        path = Path(arguments.output or f"{place.resolve().name}-{first}.fst")
        if arguments.output is None:
            check_output(str(path), "-o")
        executor = arguments.executor or source.options.executor
        shown = Waveforms(path=path, scopes=tuple(arguments.scope), view=arguments.wave_view)
        replay.record(shown, (first, last), executor=executor)
    if arguments.life is not None:
        from host.life.kanata import write_kanata
        from host.life.reading import chosen_lives

        with progress.step("reading the waveforms"):
            window, lives = chosen_lives(path, of=arguments.life_of, option="--life-of")
        write_kanata(arguments.life, window, lives)
    if not arguments.quiet and arguments.life != STANDARD_OUTPUT:
        where = "" if point.cycle is not None else f"{point} is at cycle {cycle:,}\n"
        show(f"{where}{path}: cycles {first:,} to {last:,}, {sized(path.stat().st_size)}\n")


def _checkpoint(stack: ExitStack, path: Path, source: "Source") -> "Checkpoint":
    """Return the checkpoint of a run in a folder, which nobody else has until the stack is left."""
    from host.checkpoints.folder import CheckpointFolder

    with ExitStack() as held:
        folder = held.enter_context(closing(CheckpointFolder(path, create=False)))
        checkpoint = folder.read()
        source.check_checkpoint(checkpoint, folder.path)
        stack.enter_context(held.pop_all())
    return checkpoint


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse files that cannot be written, waveforms of no known kind, and lives that cannot be told."""
    from host.command_line.outputs import check_outputs
    from host.output import STANDARD_OUTPUT

    path = arguments.output
    if path == STANDARD_OUTPUT:
        raise UsageError("-o needs a file")
    if path is not None and Path(path).suffix not in (".fst", ".vcd"):
        raise UsageError(f"-o writes waveforms, which end in .fst or .vcd: {path}")
    if arguments.life_of and arguments.life is None:
        raise UsageError("--life-of needs --life")
    if arguments.life is not None and arguments.scope:
        raise UsageError("--life needs all signals of the kernels, and --scope leaves some out")
    others = {} if arguments.graph is None else {"the graph": arguments.graph}
    check_outputs({"-o": path, "--life": arguments.life}, others=others)
