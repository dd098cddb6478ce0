"""`generate`: synthetic graphs, and a real one from the machine's own netlist; `model`: Markov decision processes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyscc.host.answer.answer import Answer
from cyscc.host.baselines.mdp import families
from cyscc.host.graph.kinds import KINDS, Size
from cyscc.host.interface import notes
from cyscc.host.interface.given import machine
from cyscc.host.output.progress import Progress
from cyscc.host.output.text import graph_text, model_text
from cyscc.host.specification.ask import Ask, SpecError, question
from cyscc.host.specification.numbers import whole_number

if TYPE_CHECKING:
    from cyscc.host.graph.csr import Graph
    from cyscc.sim.configuration import AcceleratorConfig

_NETLIST = "netlist"
GRAPHS = {
    **{name: kind.text for name, kind in KINDS.items()},
    _NETLIST: "cells of the machine's own netlist, and the connections between them",
}
"""The kinds of graphs, and what they are."""
MODELS = tuple(families.FAMILIES)
_SIZES = {name: size for kind in KINDS.values() for name, size in kind.sizes.items()}


def _ask(name: str) -> Ask:
    size: Size = _SIZES[name]
    of = [kind for kind, about in KINDS.items() if name in about.sizes]
    which = "" if len(of) == len(KINDS) else f", of {', '.join(of)}"
    default = "" if size.default is None else f" (default: {size.default})"
    return Ask(f"{size.text}{which}{default}", flag=f"--{name}", metavar=size.letter, low=size.least, high=size.most)


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
    examples=f"""KIND:
{chr(10).join(f"  {name + ':':<9}{text}" for name, text in GRAPHS.items())}
"""
)
def generate(
    kind: str,
    vertices: Annotated[int | None, _ask("vertices")] = None,
    degree: Annotated[int | None, _ask("degree")] = None,
    seed: Annotated[int | None, _ask("seed")] = None,
    *,
    edges: Annotated[int | None, _ask("edges")] = None,
    config: "str | AcceleratorConfig | None" = None,
    overrides: notes.Values = None,
    output: notes.MaybeFile = None,
    progress: notes.Wanted = False,
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

    Notes
    -----
    OUT: .mtx, .gr, .npz, anything else a SNAP edge list; each also .gz

    Examples
    --------
    cyscc generate random --vertices 2^20 --degree 16 -o random.gr
    cyscc generate rmat --vertices 2^16 --degree 32 --seed 7 -o rmat.npz
    cyscc generate gnm --vertices 1e6 --edges 100000 -o sparse.npz
    cyscc generate netlist --config hc2 -o netlist.txt
    """
    from cyscc.host.graph.formats import write_graph
    from cyscc.host.graph.kinds import generate_graph

    given: dict[str, Any] = {"vertices": vertices, "degree": degree, "edges": edges, "seed": seed}
    given |= {"config": config, "overrides": overrides or None}
    takes: dict[str, Any] = {"config": None, "overrides": None} if kind == _NETLIST else KINDS[kind].sizes
    for name, value in given.items():
        if value is not None and name not in takes:
            raise SpecError(name, f"a graph of the kind {kind} has none")
    for name, size in takes.items():
        if given[name] is None and size is not None and size.default is None:
            raise SpecError(name, f"a graph of the kind {kind} needs one")
    shown = Progress.of(progress)
    if shown.command and output is None:
        raise SpecError("", "the following arguments are required: -o/--output")
    path = None if output is None else fspath(output)
    with shown.step("generating") as step:
        if kind == _NETLIST:
            from cyscc.host.graph.generators import netlist_graph

            graph = netlist_graph(machine(config or "hc2", overrides))
        else:
            sizes: dict[str, Any] = {
                name: size.default if given[name] is None else given[name] for name, size in takes.items()
            }
            graph = generate_graph(kind, on_step=step, **sizes)
    if path is not None:
        with shown.step("writing") as step:
            write_graph(graph, Path(path), watch=step)
    text = graph_text(path or kind, graph.vertices, graph.edges)
    return Generated(title=text, graph=graph, fields={"vertices": graph.vertices, "edges": graph.edges})


def _size(text: str) -> tuple[str, int]:
    """Parse a size, ``SIZE=N``.

    Raises
    ------
    ValueError
        The text is not a size.
    """
    name, equals, number = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is not SIZE=N")
    return name, whole_number(number, low=0)


@question(examples="families:\n" + "".join(f"  {name:<14}{each.text}\n" for name, each in families.FAMILIES.items()))
def model(
    family: str,
    sizes: Mapping[str, int] | Iterable[tuple[str, int]] = (),
    *,
    output: notes.File,
    progress: notes.Wanted = False,
) -> Answer:
    """Write a Markov decision process of a family.

    Raises
    ------
    SpecError
        A size is given twice.
    InputError
        A size is out of range, or the file cannot be written.

    Notes
    -----
    OUT: .tra (PRISM) or .drn (Storm); each also .gz

    Examples
    --------
    cyscc model grid width=1000 height=1000 room=10 -o grid.tra
    cyscc model random states=1e6 seed=7 -o random.drn.gz
    """
    from cyscc.host.baselines.mdp.formats import check_name, write_mdp

    members = notes.together("", sizes)
    check_name(str(output))
    steps = Progress.of(progress)
    with steps.step("generating") as step:
        mdp = families.family(family, on_step=step, **members)
    with steps.step("writing") as step:
        write_mdp(mdp, Path(output), watch=step)
    counts = {"states": mdp.states, "choices": mdp.choice_count, "transitions": mdp.transition_count}
    return Answer(
        title=model_text(str(output), *counts.values()),
        fields={"model": {"file": str(output), **counts}, "family": family, "sizes": members},
    )
