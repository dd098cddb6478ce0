"""`cyscc replay`: replay of a recorded run up to a point, with waveforms from there."""

import argparse
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from cyscc.host.specification import options
from cyscc.host.specification.options import UsageError, at_least
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    from cyscc.host.output.progress import Progress
    from cyscc.host.replay.life import VertexLife
    from cyscc.host.replay.point import Point
    from cyscc.host.replay.replaying import Window
    from cyscc.host.runs.rerun import RerunSetting

__all__ = ["TEXTS", "add_options", "rerun_setting", "run"]

_ROWS = 24
"""Most single lives listed."""


TEXTS = {
    "help": "make a recorded run again up to a point, and write waveforms from there",
    "description": "Make a recorded run again, bit-identically and quickly, up to a point, and write waveforms there; "
    "or show the life of a vertex.",
    "epilog": """examples:
  cyscc bfs random.gr --source 1 --record seen
  cyscc replay seen --at 120000 --cycles 2000 -o middle.fst
  cyscc replay seen --at level=3 --before 100
  cyscc replay seen --at slot,engine=0,kernel=3,level=4 --cycles 500
  cyscc replay seen --life-of 4711
  cyscc replay seen --at vertex=4711 --before 200
  cyscc replay seen --at level=3 --cycles 500 --trace level3.pftrace
  cyscc replay seen --at wait=any,longer=100,nth=3
  cyscc replay seen --at fifo=visits,above=60
  cyscc replay seen --at level=3 --cycles 500 --life level3.kanata --life-of engine0.bfs3
  cyscc replay seen --record-detail level=3 --record-detail-interval 32
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("record", metavar="DIR", help="the folder that --record wrote")
    parser.add_argument(
        "--at",
        metavar="POINT",
        help="a cycle, level=N, vertex=V, or an event such as slot,engine=0,kernel=3,level=4 or wait=slot,longer=60",
    )
    parser.add_argument(
        "--cycles", type=at_least(1), default=1000, metavar="N", help="cycles to record (default: %(default)s)"
    )
    parser.add_argument(
        "--before", type=at_least(0), default=0, metavar="N", help="begin N cycles earlier (default: %(default)s)"
    )
    options.add_run_options(parser, "scopes")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT.fst",
        help="the waveforms, .fst or .vcd (default: DIR-CYCLE.fst); a folder for --record-detail (DIR/detail)",
    )
    parser.add_argument(
        "--life",
        metavar="OUT",
        help="write the life of the queue entries of the window as Kanata text, for Konata ('-': standard output)",
    )
    parser.add_argument(
        "--life-of",
        nargs="+",
        default=(),
        metavar="WHAT",
        help="without --at: vertices whose whole life is shown; with it: selection of the window's lives, as --of of "
        "`cyscc life` (default: all)",
    )
    parser.add_argument("--json", metavar="OUT", help="write the life of the vertices as JSON ('-': standard output)")
    parser.add_argument(
        "--trace",
        metavar="OUT.pftrace",
        help="write every cycle of the kernels in the window, and every memory access, as a trace for Perfetto; "
        "waveforms only with -o",
    )
    options.add_run_options(parser, "record_detail", "record_detail_interval")
    parser.add_argument("--graph", metavar="FILE", help="the graph, if its file was moved")
    parser.add_argument(
        "--memory", type=GivenText, metavar="FILE.py", help="the run's memory rules, if they are in a file"
    )
    parser.add_argument("--from", dest="checkpoint", metavar="DIR", help="start from the checkpoint in this folder")
    parser.add_argument(
        "--executor", choices=EXECUTORS, help="simulator of the recorded cycles (default: as in the run)"
    )
    options.add_threads(parser, "the simulation up to the point")
    options.add_shared(parser, "--quiet")


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage; a record, a checkpoint or a graph that cannot be used, a point that is not in the run.
    SimulationError
        The machine could not be built, or the run failed before the point.
    """
    from cyscc.host.output.files import STANDARD_OUTPUT, show
    from cyscc.host.output.progress import Progress
    from cyscc.host.output.text import bytes_text
    from cyscc.host.replay.point import Point
    from cyscc.host.replay.replaying import WindowRequest, replay_window
    from cyscc.sim.observation.waves.views import VIEWS

    if hasattr(arguments, "record_detail"):
        _record_detail(arguments)
        return
    if hasattr(arguments, "record_detail_interval"):
        raise UsageError("--record-detail-interval needs --record-detail")
    _check_outputs(arguments)
    if arguments.at is None:
        _check_vertices(arguments)
        first, *_ = _show_vertices(arguments)
        if not _writes_window(arguments):
            return
        _choose_window(arguments, first)
    try:
        point = Point.parse(arguments.at)
    except ValueError as error:
        raise UsageError(f"--at: {error}") from None
    progress = Progress(quiet=arguments.quiet)
    if arguments.trace is not None:
        _write_trace(arguments, point, progress)
        if arguments.output is None and arguments.life is None:
            return
    wanted = WindowRequest(
        point=point,
        cycles=arguments.cycles,
        before=arguments.before,
        path=None if arguments.output is None else Path(arguments.output),
        scopes=tuple(getattr(arguments, "scopes", ())),
        executor=arguments.executor,
        kernels=tuple(word for word in arguments.life_of if not word.isdecimal()),
    )
    setting = rerun_setting(arguments, progress)
    window = replay_window(Path(arguments.record), wanted, setting, checkpoint=arguments.checkpoint)
    lives = ""
    if arguments.life is not None or arguments.life_of:
        try:
            lives = _lives(arguments, window, progress)
        except BaseException:
            window.remove()
            raise
    if not arguments.quiet and arguments.life != STANDARD_OUTPUT:
        event = f": {window.event}" if window.event else ""
        where = "" if point.cycle is not None else f"{point} is at cycle {window.cycle:,}{event}\n"
        size = bytes_text(window.path.stat().st_size)
        waves, gtkw, sucl = (quote(str(window.path.with_suffix(each))) for each in (window.path.suffix, *VIEWS))
        show(
            f"{where}{window.path}: cycles {window.first:,} to {window.last:,}, {size}\n"
            f"open it with: gtkwave {waves} {gtkw}   or: surfer -c {sucl} {waves}\n{lives}"
        )


def rerun_setting(arguments: argparse.Namespace, progress: "Progress") -> "RerunSetting":
    """Return how the options of a command say that a recorded run is made again."""
    from cyscc.host.runs.rerun import RerunSetting

    given = {name: getattr(arguments, name) for name in ("threads", "graph", "memory")}
    return RerunSetting(progress=progress, **given)


def _record_detail(arguments: argparse.Namespace) -> None:
    """Record a region of the run in detail."""
    from cyscc.host.output.files import show
    from cyscc.host.output.progress import Progress
    from cyscc.host.record.reader import Record
    from cyscc.host.replay.parts import record_region
    from cyscc.host.specification.region import Region

    for name in ("at", "life", "life_of", "json", "trace", "executor", "scopes"):
        if getattr(arguments, name, None):
            raise UsageError(f"--record-detail writes a record, and --{name.replace('_', '-')} is about something else")
    made = record_region(
        Record(arguments.record),
        Region.parse(arguments.record_detail),
        rerun_setting(arguments, Progress(quiet=arguments.quiet)),
        output=None if arguments.output is None else Path(arguments.output),
        interval=getattr(arguments, "record_detail_interval", None),
        checkpoint=arguments.checkpoint,
    )
    if not arguments.quiet:
        assert made.part is not None, "it is that of a region"
        begin, end = made.part
        show(f"{made.folder}: cycles {begin:,} to {end - 1:,} in intervals of {made.interval}\n")


def _lives(arguments: argparse.Namespace, window: "Window", progress: "Progress") -> str:
    """Write the lives of a window as Kanata text, if a file is given; otherwise return them as text."""
    from cyscc.host.analysis.lives import MissingLifeError, chosen_lives, life_text, name_lives, write_kanata
    from cyscc.host.output.errors import InputError

    directions = {address: [graph] for address, graph in window.directions().items()}
    with progress.step("reading the waveforms"):
        try:
            shown, lives = chosen_lives(
                window.path, of=arguments.life_of, option="--life-of", name=lambda lives: name_lives(lives, directions)
            )
        except MissingLifeError as error:
            raise InputError(f"{error.cause}; without --at, its whole life is found", path=error.path) from None
    if arguments.life is None:
        return "\n" + life_text(shown, lives, rows=_ROWS)
    write_kanata(arguments.life, shown, lives)
    return ""


def _check_vertices(arguments: argparse.Namespace) -> None:
    """Refuse a replay without a point that is not that of vertices."""
    if not arguments.life_of:
        raise UsageError("give a point (--at POINT), or the vertices whose life is to be shown (--life-of V)")
    for word in arguments.life_of:
        if not word.isdecimal():
            raise UsageError(f"--life-of: {word!r} is no vertex, a number; kernels need --at")
    if arguments.checkpoint is not None:
        raise UsageError("--from needs --at: the life of a vertex is that of the whole run")
    if _writes_window(arguments) and len(arguments.life_of) > 1:
        raise UsageError("-o, --life and --trace are of one window: give one vertex, or --at")


def _writes_window(arguments: argparse.Namespace) -> bool:
    """Whether something of a window is to be written to a file."""
    return any(getattr(arguments, name) is not None for name in ("output", "life", "trace"))


def _choose_window(arguments: argparse.Namespace, life: "VertexLife") -> None:
    """Select the window of a vertex's first visit."""
    history = life.history
    arguments.at = f"vertex={history.vertex}"
    if not arguments.before and life.windows and history.visit is not None:
        arguments.before = int(history.events.loc[history.visit]["cycle"]) - life.windows[0].lives.first
    if arguments.life is None:
        arguments.life_of = ()


def _show_vertices(arguments: argparse.Namespace) -> "list[VertexLife]":
    """Show the whole life of vertices."""
    from cyscc.host.output.files import STANDARD_OUTPUT, output_result
    from cyscc.host.output.progress import Progress
    from cyscc.host.replay.life import vertex_lives

    quiet = arguments.quiet or STANDARD_OUTPUT in (arguments.json, arguments.life)
    vertices = [int(word) for word in arguments.life_of]
    lives = vertex_lives(Path(arguments.record), vertices, rerun_setting(arguments, Progress(quiet=quiet)))
    document = {"vertices": [life.document() for life in lives]}
    output_result(document, "\n".join(map(str, lives)), path=arguments.json, quiet=quiet)
    return lives


def _write_trace(arguments: argparse.Namespace, point: "Point", progress: "Progress") -> None:
    """Write the trace of the window, and say where it is."""
    from cyscc.host.output.files import STANDARD_OUTPUT, show
    from cyscc.host.output.text import count_text
    from cyscc.host.replay.trace import trace_window

    window = {name: getattr(arguments, name) for name in ("cycles", "before", "checkpoint")}
    setting = rerun_setting(arguments, progress)
    traced = trace_window(Path(arguments.record), point, arguments.trace, setting, **window)
    if not arguments.quiet and arguments.trace != STANDARD_OUTPUT:
        event = f": {traced.event}" if traced.event else ""
        where = "" if point.cycle is not None else f"{point} is at cycle {traced.cycle:,}{event}\n"
        cycles = f"cycles {traced.first:,} to {traced.last:,}"
        show(f"{where}{arguments.trace}: {cycles}, {count_text(traced.slices, 'slice')} of kernels\n")


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse files that cannot be written, unknown waveform formats, and lives without the signals they need."""
    from cyscc.host.output.files import STANDARD_OUTPUT

    path = arguments.output
    if path == STANDARD_OUTPUT:
        raise UsageError("-o needs a file")
    if path is not None and Path(path).suffix not in (".fst", ".vcd"):
        raise UsageError(f"-o writes waveforms, which end in .fst or .vcd: {path}")
    if arguments.json is not None and arguments.at is not None:
        raise UsageError("--json is the life of vertices (--life-of V), without --at")
    for option, given in (("--life", arguments.life is not None), ("--life-of", arguments.life_of)):
        if given and hasattr(arguments, "scopes"):
            raise UsageError(f"{option} needs all signals of the kernels, and --scope leaves some out")
    others = {} if arguments.graph is None else {"the graph": arguments.graph}
    outputs = {f"--{name}": getattr(arguments, name) for name in ("life", "trace", "json")}
    options.check_outputs({"-o": path, **outputs}, others=others)
