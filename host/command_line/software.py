"""`cyscc software`: the paper's software baselines, on the processor or a graphics processor."""

import argparse
import time
from typing import TYPE_CHECKING, Any

from cyscc.host.baselines.algorithms import KINDS, Kind
from cyscc.host.output.progress import OnProgress, Progress
from cyscc.host.specification.options import Noted, UsageError, add_shared, add_threads, at_least, check_outputs

if TYPE_CHECKING:
    from cyscc.host.baselines.devices.steps import Order
    from cyscc.host.baselines.software import Decomposition, SoftwareRun
    from cyscc.host.graph.csr import Graph

__all__ = ["TEXTS", "add_options", "check_usable", "run", "uses_seed", "uses_threads"]

_EPILOG = """examples:
  cyscc software tarjan wiki-Vote.txt.gz
  cyscc software hong graph.mtx --threads 2 --json result.json
  cyscc software quach graph.mtx --pivots 4
  cyscc software kosaraju graph.mtx --limit 60

"""

_OPTIONS = {option.name: option for kind in KINDS.values() for option in kind.options}
"""Options specific to an algorithm, by name."""

_WIDTH = max(map(len, KINDS)) + 2
"""Width of the names in the help, with the colon and a space."""


TEXTS = {
    "help": "find the components in software, for comparison",
    "description": "Find the strongly connected components of a graph by software on this machine.",
    "epilog": _EPILOG + "\n".join(f"{name + ':':<{_WIDTH}}{kind.text}" for name, kind in KINDS.items()),
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("algorithm", metavar="ALGORITHM", choices=tuple(KINDS), help=", ".join(KINDS))
    parser.add_argument("graph", metavar="GRAPH", help="the graph")
    add_shared(parser, "--undirected", "--device", "--order")
    add_threads(parser, "the algorithm")
    add_shared(parser, "--seed")
    for option in _OPTIONS.values():
        how: dict[str, Any] = {"action": "store_true"}
        if option.metavar is not None:
            how = {"type": at_least(option.least, option.most), "metavar": option.metavar}
        parser.add_argument(f"--{option.name}", dest=option.name, default=None, help=option.text, **how)
    parser.add_argument(
        "--limit",
        type=at_least(1),
        metavar="SECONDS",
        help="time limit: the algorithm is ended then (default: none)",
    )
    add_shared(parser, "--json", "--no-verify", "--quiet")


def check_usable(arguments: argparse.Namespace, name: str, kind: Kind) -> None:
    """Refuse a device, an order, threads or a seed for an algorithm that does not use them.

    Raises
    ------
    UsageError
        One was given for such an algorithm.
    """
    if not uses_threads(kind, arguments.device) and arguments.threads > 1 and Noted.given(arguments, "threads"):
        raise UsageError(f"--threads: {name} uses one thread of the processor")
    if not uses_seed(kind, arguments.order) and Noted.given(arguments, "seed"):
        raise UsageError(f"--seed: {name} makes no random choices")
    if kind.devices:
        return
    if arguments.device != "cpu":
        raise UsageError(f"{name} runs on --device cpu only")
    if arguments.order != "natural":
        raise UsageError(f"{name} is not made of steps, which --order is of")


def uses_threads(kind: Kind, device: str) -> bool:
    """Return whether an algorithm uses several threads of the processor."""
    return kind.threads and (device == "cpu" or not kind.devices)


def uses_seed(kind: Kind, order: str) -> bool:
    """Return whether an algorithm, or the order of its threads, is random."""
    return kind.seeded or (kind.devices and order == "shuffled")


def _check_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the given options of the algorithm.

    Raises
    ------
    UsageError
        It has no option of that name, or does not use another one.
    """
    kind = KINDS[arguments.algorithm]
    given = {name: getattr(arguments, name) for name in _OPTIONS if getattr(arguments, name) is not None}
    for name in given:
        if _OPTIONS[name] not in kind.options:
            raise UsageError(f"{arguments.algorithm} has no option --{name}")
    check_usable(arguments, arguments.algorithm, kind)
    return given


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    InputError
        Bad input.
    SimulationError
        The result is wrong, or the time limit was reached.
    UsageError
        Conflicting options.
    """
    from cyscc.host.baselines.devices.steps import Order
    from cyscc.host.baselines.software import transposed
    from cyscc.host.graph.formats import read_graph
    from cyscc.host.graph.reference import check_components, component_sizes
    from cyscc.host.output.files import identity, output_result
    from cyscc.host.output.text import device_text, graph_text, largest_text, plain_table
    from cyscc.host.runs.execution import check_result
    from cyscc.sim.notices import notice

    options = _check_options(arguments)
    check_outputs({"--json": arguments.json}, others={"the graph": arguments.graph})
    order = Order(arguments.order, arguments.seed)
    progress = Progress(quiet=arguments.quiet)
    begin = time.perf_counter()
    with progress.step("reading") as step:
        graph = read_graph(arguments.graph, undirected=arguments.undirected, watch=step, on_note=notice)
    transpose = None
    if KINDS[arguments.algorithm].transpose:
        with progress.step("transposing"):
            transpose = transposed(graph)
    load = time.perf_counter() - begin
    with progress.step(f"{arguments.algorithm}: compiling and running") as step:
        result = _found(arguments, graph, None if transpose is None else transpose.graph, order, options, step)
    if not arguments.no_verify:
        with progress.step("verifying"):
            check_result(check_components(result.found.labels, graph))
    sizes = component_sizes(result.found.labels)[1]
    transposing = 0.0 if transpose is None else transpose.seconds
    total = transposing + result.upload_seconds + result.seconds
    document = {
        **identity(),
        "algorithm": result.algorithm,
        "graph": {"file": arguments.graph, "vertices": graph.vertices, "edges": graph.edges},
        "undirected": arguments.undirected,
        "device": result.device,
        "order": arguments.order,
        "threads": result.threads,
        "options": options,
        "counts": dict(result.found.counts),
        "components": {"count": int(sizes.size), "largest": int(sizes.max())},
        "seconds": result.seconds,
        "transpose_seconds": None if transpose is None else transpose.seconds,
        "upload_seconds": result.upload_seconds,
        "total_seconds": total,
        "verified": None if arguments.no_verify else True,
        "wall": {"load": load},
    }
    where = device_text(result.device, result.threads)
    rows = [
        ("graph", graph_text(arguments.graph, graph.vertices, graph.edges)),
        ("algorithm", f"{result.algorithm}, {where}"),
        ("components", largest_text(sizes.size, int(sizes.max()))),
        ("time", f"{result.seconds * 1e3:.1f} ms{_beside(transposing, result.upload_seconds, total)}"),
        *((name.replace("_", " "), f"{count:,}") for name, count in result.found.counts.items()),
        ("verified", "not checked" if arguments.no_verify else "yes"),
    ]
    output_result(document, plain_table(rows, words=2), path=arguments.json, quiet=arguments.quiet)


def _beside(transposing: float, upload: float, total: float) -> str:
    """Return the times that a decomposition takes besides the algorithm's own."""
    parts = (("transpose", transposing), ("upload", upload))
    shown = "".join(f", {name} {seconds * 1e3:.1f} ms" for name, seconds in parts if seconds)
    return f"{shown}, total {total * 1e3:.1f} ms" if shown else ""


def _found(
    arguments: argparse.Namespace,
    graph: "Graph",
    transpose: "Graph | None",
    order: "Order",
    options: dict[str, Any],
    watch: OnProgress,
) -> "SoftwareRun[Decomposition]":
    """Run the algorithm; with a time limit, in a process of its own."""
    from cyscc.host.baselines.devices import open_device
    from cyscc.host.baselines.software import Reports, SoftwareSetting, in_child, run_software

    def run(**how: Any) -> "SoftwareRun[Decomposition]":
        with open_device(arguments.device, threads=arguments.threads, order=order) as device:
            setting = SoftwareSetting(device=device, seed=arguments.seed, options=options, **how)
            return run_software(arguments.algorithm, graph, transpose, setting)

    def limited(reports: Reports) -> None:
        reports.result(run(watch=reports.progress, begin=reports.start_limit))

    if arguments.limit is None:
        return run(watch=watch)
    found: SoftwareRun[Decomposition] = in_child(arguments.algorithm, limited, limit=arguments.limit, watch=watch)
    return found
