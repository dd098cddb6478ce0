"""`compare`: every algorithm, scipy and simulated machines on the same graphs."""

from collections.abc import Sequence
from os import PathLike
from os.path import exists, isdir, isfile, join
from typing import TYPE_CHECKING, Annotated, Any

from cyscc.host.baselines.algorithms import KINDS, check_used
from cyscc.host.baselines.peers import PEERS, SCIPY, installed_peers
from cyscc.host.interface.notes import (
    CORES,
    Area,
    Device,
    Family,
    Memory,
    NoVerify,
    Order,
    Seed,
    Threads,
    Undirected,
    Wanted,
)
from cyscc.host.output.errors import InputError
from cyscc.host.output.progress import Progress
from cyscc.host.specification.ask import Ask, Rule, SpecError, question
from cyscc.host.specification.numbers import listed_values
from cyscc.host.specification.run import RunSpec

if TYPE_CHECKING:
    import pandas as pd

    from cyscc.host.answer.answer import Answer
    from cyscc.host.experiments.studies.comparison import AlgorithmComparison
    from cyscc.host.graph.csr import Graph
    from cyscc.sim.configuration import AcceleratorConfig

__all__ = ["compare"]

_NONE = "none"

_SIZES = ("vertices", "edges", "components", "largest")
_COUNTED = ("edges", "passes")
"""Columns of graphs, and of contenders, that are whole numbers."""

_RECORDS = "cyscc.explain(A, B) and the command 'explain A B' compare records"


def _names(text: str) -> tuple[str, ...]:
    return listed_values(text, str)


Graphs = Annotated["Graph | str | PathLike[str]", Ask(help="a graph", metavar="GRAPH", count="+", reads="the graph")]
Algorithms = Annotated[
    "Sequence[str] | None",
    Ask(help="software to run (default: all that is installed)", metavar="NAME[,...]", parse=_names),
]
Configs = Annotated[
    "Sequence[str | AcceleratorConfig]",
    Ask(help="machines to simulate, presets or TOML files, or none (default: hc2)", metavar="NAME[,...]", parse=_names),
]
Runs = Annotated[
    int, Ask(help="runs of software, of which the fastest counts (default: {default})", metavar="N", low=1, high=1000)
]
Limit = Annotated[
    int, Ask(help="time limit: an algorithm is ended then (default: {default})", metavar="SECONDS", low=1)
]


@question(
    charts=("times",),
    examples=f"""examples:
  cyscc compare wiki-Vote.txt.gz
  cyscc compare random.gr rmat.gr --configs hc2,published --plot compared.svg --json compared.json
  cyscc compare graph.npz --algorithms tarjan,hong --configs none --threads 2
  cyscc compare graph.npz --configs hc2,hc2-1ae,published --area

Times of software are real, of this machine; those of simulated machines are cycles by their clock. A total is from a
graph in CSR form to its components: with the transpose, and the copy to a device or into a library's own form (upload).
"over scipy" compares totals with scipy's algorithm alone, "over its total" with scipy and its upload. Edges are those
inspected, passes are rounds that waited for the one before. JSON in a file is written anew after each algorithm and
machine, so that an interrupted comparison leaves what it has found.

algorithms: {", ".join(KINDS)}; libraries, if installed: {", ".join(PEERS)}
""",
    rules=(Rule(("family",), needs=("area",)), Rule(("memory", "area"), excludes=("configs=none",))),
)
def compare(
    *graphs: Graphs,
    algorithms: Algorithms = None,
    configs: Configs = ("hc2",),
    memory: Memory = "hc2",
    undirected: Undirected = False,
    device: Device = "cpu",
    order: Order = "natural",
    threads: Threads = None,
    seed: Seed = 1,
    runs: Runs = 3,
    limit: Limit = 300,
    area: Area = False,
    family: Family = None,
    verify: NoVerify = True,
    progress: Wanted = False,
) -> "Answer":
    """Run every algorithm and the simulated machine on the same graphs.

    Find the components of graphs by every algorithm here, by scipy and other libraries, and on simulated machines;
    check them, and compare time, edges and passes.

    Raises
    ------
    SpecError
        There is no such algorithm or machine, or an option is not used.
    InputError
        A graph cannot be read; a record is given.
    SimulationError
        A simulation failed, or a result is wrong.
    """
    names = (*installed_peers(), *KINDS) if algorithms is None else tuple(algorithms)
    chosen = () if tuple(configs) == (_NONE,) else configs
    _check_algorithms(names, device)
    check_used(names, device=device, order=order, threads=threads, seed=seed, machines=bool(chosen))
    threads = CORES if threads is None else threads
    machines = []
    for config in chosen:
        try:
            spec = RunSpec(algorithm="scc", graph="", config=config, memory=memory, threads=threads, verify=verify)
            machines.append(spec.checked())
        except SpecError as error:
            raise SpecError("configs" if error.field == "config" else error.field, str(error)) from None
    _check_graphs(graphs)
    # Imported here because the import is slow.
    from importlib.metadata import version

    from cyscc.host.baselines.devices import steps
    from cyscc.host.experiments.studies.comparison import Contenders
    from cyscc.host.runs.environment import processor_name

    shown = Progress.of(progress)
    shared: dict[str, Any] = {"threads": threads, "device": device, "undirected": undirected, "seed": seed}
    contenders = Contenders(
        algorithms=names,
        machines=tuple(machines),
        areas=_areas(machines, family, shown) if area else {},
        order=steps.Order(order, seed),
        runs=runs,
        limit=limit,
        verify=verify,
        **shared,
    )
    about = {
        "processor": processor_name(),
        "cores": CORES,
        **shared,
        "order": order,
        "best_of": runs,
        "memory": str(memory) if isinstance(memory, str) else memory.name,
        "versions": {name: version(name) for name in names if name in PEERS},
        "verified": True if verify else None,
    }
    found: list[AlgorithmComparison] = []

    def keep(part: "AlgorithmComparison") -> None:
        shown.tell(f"{part.graph}: {part.entries[-1].told}")
        if shown.on_part is not None:
            shown.on_part(_answer({**about, "complete": False}, [*found, part]))

    for graph in graphs:
        found.append(contenders.compare(graph, shown, on_entry=keep))
    return _answer({**about, "complete": True}, found)


def _check_algorithms(names: Sequence[str], device: str) -> None:
    """Refuse what cannot run before anything does, instead of failing late.

    Raises
    ------
    SpecError
        There is no such algorithm, or its library is not installed.
    InputError
        There is no such device.
    """
    for name in names:
        if name not in PEERS and name not in KINDS:
            raise SpecError("algorithms", f"unknown algorithm {name!r}: there are {', '.join((*PEERS, *KINDS))}")
        if name in PEERS and name not in installed_peers():
            raise SpecError("algorithms", f"{name} is not installed: pip install 'cyscc[peers]'")
    if device != "cpu" and any(name in KINDS and KINDS[name].devices for name in names):
        from cyscc.host.baselines.devices import open_device
        from cyscc.host.baselines.software import in_child

        # In another process: CUDA does not survive a fork, and each algorithm has a process of its own.
        in_child(device, lambda _: open_device(device).close())


def _check_graphs(graphs: Sequence[Any]) -> None:
    """Refuse what is no graph before any algorithm runs.

    Raises
    ------
    SpecError, InputError
        There is none, or one is a record or no graph.
    """
    from cyscc.host.graph.csr import Graph
    from cyscc.host.graph.formats import check_graph

    if not graphs:
        raise SpecError("graphs", "no graph is given")
    for given in graphs:
        if isinstance(given, Graph):
            continue
        if not isinstance(given, str | PathLike):
            raise SpecError("graphs", f"a {type(given).__name__} is no graph: {_RECORDS}")
        path = str(given)
        if not exists(path):
            raise InputError("does not exist", path=path)
        if isdir(path) and exists(join(path, "record.json")):
            raise InputError(f"is a record, no graph: {_RECORDS}", path=path)
        if isfile(path):  # a pipe can be read only once
            check_graph(path)


def _areas(machines: Sequence[RunSpec], family: "Sequence[str] | str | None", progress: Progress) -> Any:
    from cyscc.host.experiments.fpga.area import FAMILY, areas

    families = (family,) if isinstance(family, str) else tuple(dict.fromkeys(family or (FAMILY,)))
    with progress.step("synthesising") as step:
        return areas([each.configuration for each in machines], families=families, jobs=CORES, on_step=step)


def _answer(fields: dict[str, Any], comparisons: "list[AlgorithmComparison]") -> "Answer":
    import pandas as pd

    from cyscc.host.answer.answer import Answer, Chart, Column, Table
    from cyscc.host.experiments.fpga.area import AREA
    from cyscc.host.experiments.studies.comparison import comparison_figure
    from cyscc.host.output.text import count_text, graph_text

    several, first = len(comparisons) > 1, comparisons[0]
    leading = {"graph": "{}"} if several else {}
    work: dict[str, Column | str] = {"edges": Column("edges inspected", "{:,}"), "passes": "{:,}"}
    software, machines = (
        [row for each in comparisons for row in each.rows(simulated=simulated)] for simulated in (False, True)
    )
    columns = AREA if any(each.area for comparison in comparisons for each in comparison.entries) else {}
    milliseconds = "{:,.3f}"
    return Answer(
        title=count_text(len(comparisons), "graph")
        if several
        else graph_text(first.graph, first.vertices, first.edges),
        facts={} if several else {"components": _components(first)},
        tables={
            "graphs": Table(
                title="graphs",
                frame=pd.DataFrame([each.about() for each in comparisons]),
                columns={"graph": "{}", **dict.fromkeys(_SIZES, "{:,}"), "reference": "{}"},
                most=None,
                shown=several,
            ),
            "software": Table(
                title="software, real time in ms",
                frame=_frame(software),
                columns={
                    **leading,
                    "name": Column("software"),
                    "where": Column("ran on"),
                    "transpose_milliseconds": Column("transpose", milliseconds),
                    "upload_milliseconds": Column("upload", milliseconds),
                    "milliseconds": Column("algorithm", milliseconds),
                    "total_milliseconds": Column("total", milliseconds),
                    **work,
                    "over_scipy": "{:.2f}",
                    "over_scipy_total": Column("over its total", "{:.2f}"),
                    "trouble": Column(""),
                },
                most=None,
            ),
            "machines": Table(
                title="machines, simulated time",
                frame=_frame(machines),
                columns={
                    **leading,
                    "name": Column("machine"),
                    "where": Column("ran on"),
                    "milliseconds": Column("ms", milliseconds),
                    **work,
                    "over_scipy": Column("real time of scipy / simulated time", "{:.2f}"),
                    **({"cycles": "{:,}"} if columns else {}),
                    **{name: Column(title, "{:,}") for name, title in columns.items()},
                },
                most=None,
            ),
        },
        charts={"times": Chart(title="times", draw=lambda: comparison_figure(comparisons))},
        fields=fields,
    )


def _frame(rows: list[dict[str, Any]]) -> "pd.DataFrame":
    """Return rows as a frame, whose counts are whole numbers though some are missing."""
    import pandas as pd

    return pd.DataFrame(rows).astype({name: "Int64" for name in _COUNTED if rows})


def _components(comparison: "AlgorithmComparison") -> str:
    from cyscc.host.output.text import largest_text

    if comparison.components is None or comparison.largest is None:
        return "unknown"
    by = "" if comparison.reference == SCIPY else f" (by {comparison.reference})"
    return largest_text(comparison.components, comparison.largest) + by
