"""`generate`: synthetic graphs, and a real one from the machine's own netlist."""

from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Annotated, Any

from cyscc.host.answer.answer import Answer
from cyscc.host.graph.kinds import KINDS, Size
from cyscc.host.interface.notes import Set, Wanted
from cyscc.host.output.files import Content
from cyscc.host.specification.ask import Ask, SpecError, question
from cyscc.host.specification.run import option_of

if TYPE_CHECKING:
    from cyscc.host.graph.csr import Graph
    from cyscc.sim.configuration import AcceleratorConfig

__all__ = ["GRAPHS", "Generated", "generate"]

_NETLIST = "netlist"
GRAPHS = {
    **{name: kind.text for name, kind in KINDS.items()},
    _NETLIST: "cells of the machine's own netlist, and the connections between them",
}
"""The kinds of graphs, and what they are."""
_SIZES = {name: size for kind in KINDS.values() for name, size in kind.sizes.items()}


def _ask(name: str) -> Ask:
    size: Size = _SIZES[name]
    of = [kind for kind, about in KINDS.items() if name in about.sizes]
    which = "" if len(of) == len(KINDS) else f", of {', '.join(of)}"
    default = "" if size.default is None else f" (default: {size.default})"
    return Ask(
        help=f"{size.text}{which}{default}", flag=f"--{name}", metavar=size.letter, low=size.least, high=size.most
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Generated(Answer):
    """A generated graph.

    Parameters
    ----------
    graph : Graph
        The graph.
    **others
        Parameters of `Answer`.
    """

    graph: "Graph"


@question(
    examples=f"""examples:
  cyscc generate random --vertices 2^20 --degree 16 -o random.gr
  cyscc generate rmat --vertices 2^16 --degree 32 --seed 7 -o rmat.npz
  cyscc generate gnm --vertices 1e6 --edges 100000 -o sparse.npz
  cyscc generate netlist --config hc2 -o netlist.txt

KIND:
{chr(10).join(f"  {name + ':':<9}{text}" for name, text in GRAPHS.items())}

OUT: .mtx, .gr, .npz, anything else a SNAP edge list; each also .gz
""",
)
def generate(
    kind: Annotated[str, Ask(help="kind of graph, see below", metavar="KIND", choices=tuple(GRAPHS))],
    vertices: Annotated[int | None, _ask("vertices")] = None,
    degree: Annotated[int | None, _ask("degree")] = None,
    seed: Annotated[int | None, _ask("seed")] = None,
    *,
    edges: Annotated[int | None, _ask("edges")] = None,
    config: Annotated["str | AcceleratorConfig | None", option_of("config")] = None,
    overrides: Set = None,
    output: Annotated[
        "str | PathLike[str] | None",
        Ask(help="the file to write", metavar="OUT", short="-o", writes=Content.GRAPH),
    ] = None,
    progress: Wanted = False,
) -> Generated:
    """Generate a graph after GTgraph, or the signal-dependency graph of the machine itself.

    The same arguments give the same graph on every machine.

    Parameters
    ----------
    kind : str
        A key of `KINDS`, or ``netlist``.
    vertices, degree, edges : int, optional
        Sizes of the kind: number of vertices, and average number of edges of a vertex, or number of edges.
    seed : int, optional
        Seed of random choices; 0 by default.
    config, overrides : optional
        The machine of a netlist.
    output : str or path, optional
        File that the graph is written to; the command needs one.
    progress : bool
        Show progress on standard error if it is a terminal.

    Raises
    ------
    SpecError
        The kind does not exist, or lacks a size, or has none of this name; the machine does not exist.
    InputError
        The graph would be too large, or the generator has none of this size; the file cannot be written.
    """
    from pathlib import Path

    from cyscc.host.graph.formats import write_graph
    from cyscc.host.graph.kinds import generate_graph
    from cyscc.host.output.files import check_output
    from cyscc.host.output.progress import Progress
    from cyscc.host.output.text import graph_text

    given = {"vertices": vertices, "degree": degree, "edges": edges, "seed": seed}
    given |= {"config": config, "overrides": overrides or None}
    takes: dict[str, Any] = {"config": None, "overrides": None} if kind == _NETLIST else KINDS[kind].sizes
    for name, value in given.items():
        if value is not None and name not in takes:
            raise SpecError(name, f"a graph of the kind {kind} has none")
        if value is None and name in takes and takes[name] is not None and takes[name].default is None:
            raise SpecError(name, f"a graph of the kind {kind} needs one")
    shown = Progress.of(progress)
    if shown.command and output is None:
        raise SpecError("", "the following arguments are required: --output")
    path = None if output is None else fspath(output)
    if path is not None:
        check_output(path, "--output", Content.GRAPH)
    with shown.step("generating") as step:
        if kind == _NETLIST:
            from cyscc.host.graph.generators import netlist_graph
            from cyscc.host.interface.machines import machine

            graph = netlist_graph(machine(config or "hc2", overrides))
        else:
            sizes = {name: size.default if given[name] is None else given[name] for name, size in takes.items()}
            graph = generate_graph(kind, on_step=step, **sizes)
    if path is not None:
        with shown.step("writing") as step:
            write_graph(graph, Path(path), watch=step)
    text = graph_text(path or kind, graph.vertices, graph.edges)
    return Generated(title=text, graph=graph, fields={"vertices": graph.vertices, "edges": graph.edges})
