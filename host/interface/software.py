"""`software`: software that finds components, on the processor or a graphics processor."""

import time
from typing import TYPE_CHECKING, Annotated, Any

from cyscc.host.baselines.algorithms import KINDS, check_used
from cyscc.host.interface.notes import CORES, Device, GraphFile, NoVerify, Order, Seed, Threads, Undirected, Wanted
from cyscc.host.output.progress import Progress
from cyscc.host.specification.ask import Ask, Rule, question

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer

__all__ = ["software"]

Algorithm = Annotated[str, Ask(help=", ".join(KINDS), metavar="ALGORITHM", choices=tuple(KINDS))]
Limit = Annotated[
    int | None, Ask(help="time limit: the algorithm is ended then (default: none)", metavar="SECONDS", low=1)
]

_OPTIONS = {name.replace("-", "_"): (name, ask) for kind in KINDS.values() for name, ask in kind.options.items()}
"""Options of single algorithms by keyword: their names there."""

_WIDTH = max(map(len, KINDS)) + 2
"""Width of the names in the help, with the colon and a space."""


@question(
    examples="""examples:
  cyscc software tarjan wiki-Vote.txt.gz
  cyscc software hong graph.mtx --threads 2 --json result.json
  cyscc software quach graph.mtx --pivots 4
  cyscc software kosaraju graph.mtx --limit 60

"""
    + "\n".join(f"{name + ':':<{_WIDTH}}{kind.text}" for name, kind in KINDS.items()),
    options={keyword: ask for keyword, (_, ask) in _OPTIONS.items()},
    rules=tuple(
        Rule((keyword,), needs=tuple(f"algorithm={each}" for each, kind in KINDS.items() if name in kind.options))
        for keyword, (name, _) in _OPTIONS.items()
    ),
)
def software(
    algorithm: Algorithm,
    graph: GraphFile,
    *,
    undirected: Undirected = False,
    device: Device = "cpu",
    order: Order = "natural",
    threads: Threads = None,
    seed: Seed = 1,
    limit: Limit = None,
    verify: NoVerify = True,
    progress: Wanted = False,
    **options: Any,
) -> "Answer":
    """Find the components in software, for comparison.

    They are the strongly connected components of a graph; the software runs on this machine.

    Raises
    ------
    SpecError
        An option is not one of the algorithm.
    InputError
        The graph cannot be read, or the device does not exist.
    SimulationError
        The result is wrong, or the time limit was reached.
    """
    check_used([algorithm], device=device, order=order, threads=threads, seed=seed)

    from cyscc.host.answer.answer import Answer
    from cyscc.host.baselines.devices import open_device
    from cyscc.host.baselines.devices.steps import Order as StepOrder
    from cyscc.host.baselines.software import (
        Decomposition,
        Reports,
        SoftwareRun,
        SoftwareSetting,
        in_child,
        run_software,
        transposed,
    )
    from cyscc.host.graph.formats import named_graph
    from cyscc.host.graph.reference import check_components, component_sizes
    from cyscc.host.output.text import device_text, graph_text, largest_text
    from cyscc.host.runs.execution import check_result

    given = {_OPTIONS[keyword][0]: value for keyword, value in options.items() if value is not None}
    steps = Progress.of(progress)
    begin = time.perf_counter()
    name, read = named_graph(graph, steps, undirected=undirected)
    transpose = None
    if KINDS[algorithm].transpose:
        with steps.step("transposing"):
            transpose = transposed(read)
    load = time.perf_counter() - begin

    def run(**how: Any) -> SoftwareRun[Decomposition]:
        with open_device(device, threads=threads or CORES, order=StepOrder(order, seed)) as opened:
            setting = SoftwareSetting(device=opened, seed=seed, options=given, **how)
            return run_software(algorithm, read, None if transpose is None else transpose.graph, setting)

    def limited(reports: Reports) -> None:
        reports.result(run(watch=reports.progress, begin=reports.start_limit))

    with steps.step(f"{algorithm}: compiling and running") as step:
        result: SoftwareRun[Decomposition] = (
            run(watch=step) if limit is None else in_child(algorithm, limited, limit=limit, watch=step)
        )
    if verify:
        with steps.step("verifying"):
            check_result(check_components(result.found.labels, read))
    sizes = component_sizes(result.found.labels)[1]
    besides = {"transpose": 0.0 if transpose is None else transpose.seconds, "upload": result.upload_seconds}
    total = result.seconds + sum(besides.values())
    told = [f"{what} {seconds * 1e3:.1f} ms" for what, seconds in besides.items() if seconds]
    told += [f"total {total * 1e3:.1f} ms"] if told else []
    return Answer(
        title=graph_text(name, read.vertices, read.edges),
        facts={
            "algorithm": f"{result.algorithm}, {device_text(result.device, result.threads)}",
            "components": largest_text(sizes.size, int(sizes.max())),
            "time": ", ".join([f"{result.seconds * 1e3:.1f} ms", *told]),
            **{what.replace("_", " "): f"{count:,}" for what, count in result.found.counts.items()},
            "verified": "yes" if verify else "not checked",
        },
        fields={
            "algorithm": result.algorithm,
            "graph": {"file": name, "vertices": read.vertices, "edges": read.edges},
            "undirected": undirected,
            "device": result.device,
            "order": order,
            "threads": result.threads,
            "options": given,
            "counts": dict(result.found.counts),
            "components": {"count": int(sizes.size), "largest": int(sizes.max())},
            "seconds": result.seconds,
            "transpose_seconds": None if transpose is None else transpose.seconds,
            "upload_seconds": result.upload_seconds,
            "total_seconds": total,
            "verified": True if verify else None,
            "wall": {"load": load},
        },
    )
