"""Results for people: tables."""

from host.algorithms.driver import Level
from host.algorithms.kosaraju import ComponentRun
from host.algorithms.search import BfsRun
from host.graph.csr import Graph
from host.results.documents import Setting, Wall, input_name

__all__ = ["bfs_table", "scc_table"]

_FIRST_LEVELS = 24
_LAST_LEVELS = 6


def _time(seconds: float) -> str:
    """Return a simulated time in the unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _table(rows: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in rows)
    return "".join(f"{name:<{width}}  {text}\n" for name, text in rows)


def _head(setting: Setting) -> list[tuple[str, str]]:
    threads = f"{setting.threads} thread{'s' if setting.threads != 1 else ''}"
    return [
        ("graph", f"{setting.graph}: {setting.vertices:,} vertices, {setting.edges:,} edges"),
        ("machine", f"{setting.config}, memory {setting.memory}, executor {setting.executor}, {threads}"),
    ]


def _tail(
    setting: Setting, wall: Wall, *, edges: int, cycles: int, verified: bool | None, retries: int
) -> list[tuple[str, str]]:
    restarted = [("restarts", f"{retries}, the queues having overflowed")] if retries else []
    return [
        ("simulated", f"{_time(setting.seconds(cycles))} at {setting.clock / 1e6:g} MHz"),
        ("traversed", f"{edges:,} edges, {setting.gteps(edges, cycles):.3f} GTEPS"),
        ("verified", {True: "yes", False: "no", None: "not checked"}[verified]),
        *restarted,
        (
            "wall time",
            f"load {wall.load:.1f} s, build {wall.build:.1f} s, simulate {wall.simulate:.1f} s "
            f"({wall.cycles_per_second:,.0f} cycles/s), verify {wall.verify:.1f} s",
        ),
    ]


def scc_table(run: ComponentRun, setting: Setting, wall: Wall, *, largest: int, verified: bool | None) -> str:
    """Return the result of `cyscc scc` as a table. The parameters are those of `scc_document`."""
    phases = (
        ("forward", run.forward.cycles),
        ("backward", run.backward.cycles),
        ("intersection", run.intersection_cycles),
        ("total", run.cycles),
    )
    width = len(f"{run.cycles:,}")
    return _table(
        [
            *_head(setting),
            ("components", f"{run.components:,}, the largest of {largest:,} vertices"),
            ("trimmed", f"{run.trimmed:,} vertices"),
            ("iterations", f"{run.iterations:,}"),
            *((name, f"{n:>{width},} cycles  {n / max(run.cycles, 1):>6.1%}") for name, n in phases),
            *_tail(
                setting,
                wall,
                edges=run.edges_traversed,
                cycles=run.cycles,
                verified=verified,
                retries=run.retries,
            ),
        ]
    )


def _level_table(levels: tuple[Level, ...]) -> str:
    """Return a line for each level; of very many, for the first and the last ones."""
    rows = [(f"{number:,}", *(f"{value:,}" for value in level)) for number, level in enumerate(levels)]
    if len(rows) > _FIRST_LEVELS + _LAST_LEVELS + 1:
        rows[_FIRST_LEVELS:-_LAST_LEVELS] = [("...",) * 4]
    rows.insert(0, ("level", *Level._fields))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "".join("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) + "\n" for row in rows)


def bfs_table(run: BfsRun, setting: Setting, wall: Wall, *, graph: Graph, verified: bool | None) -> str:
    """Return the result of `cyscc bfs` as a table. The parameters are those of `scc_document`."""
    return (
        _level_table(run.level_records)
        + "\n"
        + _table(
            [
                *_head(setting),
                ("source", f"{input_name(graph, run.source)}"),
                ("reached", f"{run.reached:,} vertices in {int(run.levels.max()) + 1:,} levels"),
                ("duplicates", f"{run.duplicates:,} vertices pushed again"),
                ("cycles", f"{run.cycles:,}"),
                *_tail(
                    setting,
                    wall,
                    edges=run.edges_traversed,
                    cycles=run.cycles,
                    verified=verified,
                    retries=run.retries,
                ),
            ]
        )
    )
