"""Results for people: tables."""

from host.algorithms.driver import Level
from host.algorithms.kosaraju import ComponentRun
from host.algorithms.oracle import Checked
from host.algorithms.search import BfsRun
from host.graph.csr import Graph
from host.results.documents import Setting, Wall, input_name
from host.results.table_text import plain_table
from host.words import counted
from sim.notices import printable

__all__ = ["bfs_table", "graph_text", "largest_text", "model_text", "scc_table"]

_VERTEX = ("vertex", "vertices")
_FIRST_LEVELS = 24
_LAST_LEVELS = 6


def _time(seconds: float) -> str:
    """Return a simulated time in the unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def graph_text(name: str, vertices: int, edges: int) -> str:
    """Return a graph's name and size."""
    return f"{printable(name)}: {counted(vertices, *_VERTEX)}, {counted(edges, 'edge')}"


def model_text(name: str, states: int, choices: int, transitions: int) -> str:
    """Return the name and the size of a Markov decision process."""
    sizes = counted(states, "state"), counted(choices, "choice"), counted(transitions, "transition")
    return f"{printable(name)}: {', '.join(sizes)}"


def largest_text(components: int, largest: int) -> str:
    """Return the number of components and the size of the largest."""
    return f"{components:,}, the largest of {counted(largest, *_VERTEX)}"


def _run_table(
    run: ComponentRun | BfsRun, setting: Setting, wall: Wall, checked: Checked | None, rows: list[tuple[str, str]]
) -> str:
    """Return what every table holds, with the rows of one kind of run in between."""
    spec = setting.spec
    threads = counted(spec.threads, "thread")
    dropped = setting.dropped_edges
    left = setting.edges - (dropped or 0)
    simplified = [] if dropped is None else [("simplified", f"{counted(dropped, 'edge')} dropped, {left:,} left")]
    restarted = [("restarts", f"{run.retries}, the queues having overflowed")] if run.retries else []
    gteps = setting.gteps(run.edges_traversed, run.cycles)
    everything = [
        ("graph", graph_text(spec.graph, setting.vertices, setting.edges)),
        *simplified,
        ("machine", f"{spec.machine_text}, executor {spec.executor}, {threads}"),
        *rows,
        ("simulated", f"{_time(setting.seconds(run.cycles))} at {setting.clock_hz / 1e6:g} MHz"),
        ("traversed", f"{counted(run.edges_traversed, 'edge')}, {gteps:.3f} GTEPS"),
        ("verified", "not checked" if checked is None else "yes"),
        *restarted,
        (
            "wall time",
            f"load {wall.load:.1f} s, build {wall.build:.1f} s, simulate {wall.simulate:.1f} s "
            f"({wall.cycles_per_second:,.0f} cycles/s), verify {wall.verify:.1f} s",
        ),
    ]
    return plain_table(everything, words=2)


def scc_table(run: ComponentRun, setting: Setting, wall: Wall, *, largest: int, checked: Checked | None) -> str:
    """Return the result of `cyscc scc` as a table. The parameters are those of `scc_document`."""
    phases = (
        ("forward", run.forward.cycles),
        ("backward", run.backward.cycles),
        ("intersection", run.intersection_cycles),
        ("total", run.cycles),
    )
    width = len(f"{run.cycles:,}")
    rows = [
        ("components", largest_text(run.components, largest)),
        ("trimmed", counted(run.trimmed, *_VERTEX)),
        ("iterations", f"{run.iterations:,}"),
        *((name, f"{n:>{width},} cycles  {n / max(run.cycles, 1):>6.1%}") for name, n in phases),
    ]
    return _run_table(run, setting, wall, checked, rows)


def _level_table(levels: tuple[Level, ...]) -> str:
    """Return a line for each level; of very many, for the first and the last ones."""
    shown = ("frontier", "pushed", "cycles")
    rows = [(f"{number:,}", *(f"{getattr(level, name):,}" for name in shown)) for number, level in enumerate(levels)]
    if len(rows) > _FIRST_LEVELS + _LAST_LEVELS + 1:
        rows[_FIRST_LEVELS:-_LAST_LEVELS] = [("...",) * 4]
    return plain_table(rows, head=("level", *shown), words=0)


def bfs_table(run: BfsRun, setting: Setting, wall: Wall, *, graph: Graph, checked: Checked | None) -> str:
    """Return the result of `cyscc bfs` as a table. The parameters are those of `scc_document`."""
    rows = [
        ("source", f"{input_name(graph, run.source)}"),
        ("reached", f"{counted(run.reached, *_VERTEX)} in {counted(int(run.levels.max()) + 1, 'level')}"),
        ("duplicates", f"{counted(run.duplicates, *_VERTEX)} pushed again"),
        ("cycles", f"{run.cycles:,}"),
    ]
    return _level_table(run.level_records) + "\n" + _run_table(run, setting, wall, checked, rows)
