"""`cyscc compare`: every algorithm, scipy and simulated machines on the same graphs."""

import argparse
from os.path import exists, isfile

from cyscc.host.baselines.algorithms import KINDS
from cyscc.host.baselines.peers import PEERS, installed_peers
from cyscc.host.command_line.experiment import add_area, area_families
from cyscc.host.command_line.software import uses_seed, uses_threads
from cyscc.host.specification import options

__all__ = ["TEXTS", "add_options", "run"]

_NONE = "none"


TEXTS = {
    "help": "run every algorithm and the simulated machine on the same graphs",
    "description": "Find the components of graphs by every algorithm here, by scipy and other libraries, and on "
    "simulated machines; check them, and compare time, edges and passes.",
    "epilog": f"""examples:
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
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("graphs", metavar="GRAPH", nargs="+", help="a graph")
    parser.add_argument(
        "--algorithms",
        type=options.listed(options.one_of((*PEERS, *KINDS), "algorithm")),
        default=(*installed_peers(), *KINDS),
        metavar="NAME[,...]",
        help="software to run (default: all that is installed)",
    )
    parser.add_argument(
        "--configs",
        type=options.listed(str),
        default=("hc2",),
        metavar="NAME[,...]",
        help="machines to simulate, presets or TOML files, or none (default: hc2)",
    )
    options.add_shared(parser, "--memory", "--undirected", "--device", "--order")
    options.add_threads(parser, "an algorithm, or the executor,")
    options.add_shared(parser, "--seed")
    parser.add_argument(
        "--runs",
        type=options.at_least(1, 1000),
        default=3,
        metavar="N",
        help="runs of software, of which the fastest counts (default: 3)",
    )
    parser.add_argument(
        "--limit",
        type=options.at_least(1),
        default=300,
        metavar="SECONDS",
        help="time limit: an algorithm is ended then (default: 300)",
    )
    parser.add_argument("--plot", metavar="OUT.svg", help="draw the times")
    add_area(parser, "synthesise each machine too: LUTs, registers, block RAM of all its AEs")
    options.add_shared(parser, "--json")
    parser.add_argument("--no-verify", action="store_true", help="do not check the results")
    options.add_shared(parser, "--quiet")


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage or input.
    SimulationError
        A simulation failed, or a result is wrong.
    """
    from importlib.metadata import version

    from cyscc.host.output.files import STANDARD_OUTPUT, is_replaced, show, write_json
    from cyscc.host.output.progress import Progress
    from cyscc.host.specification.run import RunSpec, SpecError

    if arguments.plot == STANDARD_OUTPUT:
        raise options.UsageError("--plot needs a file")
    options.check_outputs(
        {"--json": arguments.json, "--plot": arguments.plot},
        others={f"the graph {path}": path for path in arguments.graphs},
    )
    _check_usable(arguments)
    _check_used(arguments)
    shared = {"memory": arguments.memory, "threads": arguments.threads, "verify": not arguments.no_verify}
    configs = arguments.configs if arguments.configs != (_NONE,) else ()
    families = area_families(arguments)
    try:
        machines = [RunSpec(algorithm="scc", graph="", config=name, **shared).checked() for name in configs]
    except SpecError as error:
        raise options.UsageError(f"--{'configs' if error.field == 'config' else error.field}: {error}") from None
    # Imported here because the import is slow.
    from cyscc.host.baselines.devices.steps import Order
    from cyscc.host.experiments.fpga.area import areas
    from cyscc.host.experiments.studies.comparison import (
        AlgorithmComparison,
        Contenders,
        comparison_figure,
        comparison_text,
    )
    from cyscc.host.output.figures import write_plot
    from cyscc.host.output.files import identity
    from cyscc.host.runs.environment import processor_name
    from cyscc.host.specification.run import available_cores

    progress = Progress(quiet=arguments.quiet)
    sizes = {}
    if families:
        with progress.step("synthesising") as step:
            configurations = [machine.configuration for machine in machines]
            sizes = areas(configurations, families=families, jobs=available_cores(), on_step=step)
    contenders = Contenders(
        machines=tuple(machines),
        areas=sizes,
        order=Order(arguments.order, arguments.seed),
        verify=not arguments.no_verify,
        undirected=arguments.undirected,
        **{name: getattr(arguments, name) for name in ("algorithms", "device", "threads", "seed", "runs", "limit")},
    )
    quiet = arguments.quiet or arguments.json == STANDARD_OUTPUT
    comparisons: list[AlgorithmComparison] = []
    about = {
        **identity(),
        "processor": processor_name(),
        "cores": available_cores(),
        "threads": arguments.threads,
        "device": arguments.device,
        "undirected": arguments.undirected,
        "order": arguments.order,
        "seed": arguments.seed,
        "best_of": arguments.runs,
        "memory": arguments.memory,
        "versions": {name: version(name) for name in arguments.algorithms if name in PEERS},
        "verified": None if arguments.no_verify else True,
    }

    def write(*unfinished: AlgorithmComparison, complete: bool = False) -> None:
        graphs = [comparison.document() for comparison in (*comparisons, *unfinished)]
        write_json(arguments.json, {**about, "complete": complete, "graphs": graphs})

    # So that a comparison that is interrupted leaves what it has found; a device or a pipe takes one document only.
    keep = write if arguments.json is not None and is_replaced(arguments.json) else None
    for path in arguments.graphs:
        comparisons.append(contenders.compare(path, progress, on_entry=keep))
        if not quiet:
            show(("\n" if len(comparisons) > 1 else "") + comparison_text(comparisons[-1]))
    if arguments.json is not None:
        write(complete=True)
    if arguments.plot is not None:
        write_plot(lambda: comparison_figure(comparisons), arguments.plot)


def _check_usable(arguments: argparse.Namespace) -> None:
    """Check device and graph files before any algorithm runs, instead of failing late.

    Raises
    ------
    UsageError, InputError
        The device does not exist, or no algorithm runs on it; a library is not installed; a graph file is missing, or
        is no graph.
    """
    from cyscc.host.baselines.devices import open_device
    from cyscc.host.baselines.software import in_child
    from cyscc.host.graph.formats import check_graph
    from cyscc.host.output.errors import InputError

    for name in arguments.algorithms:
        if name in PEERS and name not in installed_peers():
            raise options.UsageError(f"--algorithms: {name} is not installed: pip install 'cyscc[peers]'")
    if arguments.device != "cpu":
        if not any(name in KINDS and KINDS[name].devices for name in arguments.algorithms):
            raise options.UsageError(
                f"--device {arguments.device}: none of {', '.join(arguments.algorithms)} is made of steps"
            )
        # In another process: CUDA does not survive a fork, and each algorithm has a process of its own.
        in_child(arguments.device, lambda _: open_device(arguments.device).close())
    for path in arguments.graphs:
        if not exists(path):
            raise InputError("does not exist", path=path)
        if isfile(path):  # a pipe can be read only once
            check_graph(path)


def _check_used(arguments: argparse.Namespace) -> None:
    """Refuse options that no contender uses.

    Raises
    ------
    UsageError
        One was given.
    """
    kinds = [KINDS[name] for name in arguments.algorithms if name in KINDS]
    machines, names = arguments.configs != (_NONE,), ", ".join(arguments.algorithms)
    threads = machines or any(uses_threads(kind, arguments.device) for kind in kinds)
    if not threads and arguments.threads > 1 and options.Noted.given(arguments, "threads"):
        raise options.UsageError(f"--threads: none of {names} uses more than one thread of the processor")
    if not any(uses_seed(kind, arguments.order) for kind in kinds) and options.Noted.given(arguments, "seed"):
        raise options.UsageError(f"--seed: none of {names} makes random choices")
    for name, given in (("memory", options.Noted.given(arguments, "memory")), ("area", arguments.area)):
        if not machines and given:
            raise options.UsageError(f"--{name} is of machines, and --configs says none")
