"""Decompositions in software: `software` and `compare` of graphs, `mec` of Markov decision processes."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from os.path import exists, isdir, isfile, join
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.answer.answer import Answer, Chart, Column, Table
from cyscc.host.baselines.algorithms import KINDS, MEC_KINDS, check_used
from cyscc.host.baselines.peers import PEERS, SCIPY, installed_peers
from cyscc.host.interface import notes
from cyscc.host.interface.experiments import several
from cyscc.host.interface.given import FORMS
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import check_distinct, open_output
from cyscc.host.output.progress import Progress
from cyscc.host.output.text import count_text, device_text, graph_text, largest_text, model_text
from cyscc.host.specification.ask import Rule, SpecError, question
from cyscc.host.specification.numbers import listed_values
from cyscc.host.specification.run import RunSpec

if TYPE_CHECKING:
    from cyscc.host.baselines.mdp.formats.annotations import Annotations
    from cyscc.host.baselines.mdp.model import Mdp
    from cyscc.host.baselines.mec.basic import MecDecomposition
    from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareRun
    from cyscc.host.baselines.software.limited import Reports
    from cyscc.host.experiments.studies.comparison import AlgorithmComparison
    from cyscc.sim.configuration import AcceleratorConfig
    from cyscc.sim.memory import Profile

ALGORITHMS, MEC_ALGORITHMS = ", ".join(KINDS), ", ".join(MEC_KINDS)

_OPTIONS = {name.replace("-", "_"): (name, ask) for kind in KINDS.values() for name, ask in kind.options.items()}
"""Options of single algorithms by keyword: their names there."""

_WIDTH = max(map(len, KINDS)) + 2
"""Width of the names in the help, with the colon and a space."""


@question(
    examples="".join(f"{name + ':':<{_WIDTH}}{kind.text}\n" for name, kind in KINDS.items()),
    options={keyword: ask for keyword, (_, ask) in _OPTIONS.items()},
    rules=tuple(
        Rule((keyword,), needs=tuple(f"algorithm={each}" for each, kind in KINDS.items() if name in kind.options))
        for keyword, (name, _) in _OPTIONS.items()
    ),
)
def software(
    algorithm: str,
    graph: notes.AnyGraph,
    *,
    undirected: bool = False,
    device: str = "cpu",
    order: str = "natural",
    threads: int | None = None,
    seed: int = 1,
    limit: int | None = None,
    verify: bool = True,
    progress: notes.Wanted = False,
    **options: Any,
) -> Answer:
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

    Examples
    --------
    cyscc software tarjan wiki-Vote.txt.gz
    cyscc software hong graph.mtx --threads 2 --json result.json
    cyscc software quach graph.mtx --pivots 4
    cyscc software kosaraju graph.mtx --limit 60
    """
    check_used([algorithm], device=device, order=order, threads=threads, seed=seed)

    from cyscc.host.baselines.devices import open_device
    from cyscc.host.baselines.devices.steps import Order
    from cyscc.host.baselines.software.decomposition import SoftwareSetting, run_software, transposed
    from cyscc.host.baselines.software.limited import in_child
    from cyscc.host.graph.formats import named_graph
    from cyscc.host.graph.reference import check_components, component_sizes
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

    def run(**how: Any) -> "SoftwareRun[Decomposition]":
        with open_device(device, threads=threads or notes.CORES, order=Order(order, seed)) as opened:
            setting = SoftwareSetting(device=opened, seed=seed, options=given, **how)
            return run_software(algorithm, read, None if transpose is None else transpose.graph, setting)

    def limited(reports: "Reports") -> None:
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


_NONE = "none"

_RECORDS = "cyscc.explain(A, B) and the command 'explain A B' compare records"


def _names(text: str) -> tuple[str, ...]:
    return listed_values(text, str)


@question(
    charts=("times",),
    examples=f"algorithms: {', '.join(KINDS)}; libraries, if installed: {', '.join(PEERS)}\n",
)
def compare(
    *graphs: notes.AnyGraph,
    algorithms: Sequence[str] | None = None,
    configs: "Sequence[str | AcceleratorConfig]" = ("hc2",),
    memory: "str | Profile" = "hc2",
    undirected: bool = False,
    device: str = "cpu",
    order: str = "natural",
    threads: int | None = None,
    seed: int = 1,
    runs: int = 3,
    limit: int = 300,
    area: bool = False,
    family: notes.Families = None,
    verify: bool = True,
    progress: notes.Wanted = False,
) -> Answer:
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

    Notes
    -----
    Times of software are real, of this machine; those of simulated machines are cycles by their clock. A total is from
    a graph in CSR form to its components: with the transpose, and the copy to a device or into a library's own form
    (upload). "over scipy" compares totals with scipy's algorithm alone, "over its total" with scipy and its upload.
    Edges are those inspected, passes are rounds that waited for the one before. JSON in a file is written anew after
    each algorithm and machine, so that an interrupted comparison leaves what it has found.

    Examples
    --------
    cyscc compare wiki-Vote.txt.gz
    cyscc compare random.gr rmat.gr --configs hc2,published --plot compared.svg --json compared.json
    cyscc compare graph.npz --algorithms tarjan,hong --configs none --threads 2
    cyscc compare graph.npz --configs hc2,hc2-1ae,published --area
    """
    names = (*installed_peers(), *KINDS) if algorithms is None else tuple(algorithms)
    chosen = () if tuple(configs) == (_NONE,) else configs
    _check_algorithms(names, device)
    check_used(names, device=device, order=order, threads=threads, seed=seed, machines=bool(chosen))
    threads = notes.CORES if threads is None else threads
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
        "cores": notes.CORES,
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
        from cyscc.host.baselines.software.limited import in_child

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


def _areas(machines: Sequence[RunSpec], family: Any, progress: Progress) -> Any:
    from cyscc.host.experiments.fpga.area import FAMILY, areas
    from cyscc.host.experiments.plan.plan import Plan

    families = tuple(several(family or FAMILY))
    plan = Plan(folder=Path(), jobs=notes.CORES, families=families, progress=progress)
    return areas(plan, [each.configuration for each in machines])


def _answer(fields: dict[str, Any], comparisons: "list[AlgorithmComparison]") -> Answer:
    from cyscc.host.experiments.fpga.area import AREA
    from cyscc.host.experiments.studies.comparison import comparison_figure

    many, first = len(comparisons) > 1, comparisons[0]
    left_out = [] if many else ["graph"]
    software, machines = (
        [row for each in comparisons for row in each.rows(simulated=simulated)] for simulated in (False, True)
    )
    columns = AREA if any(each.area for comparison in comparisons for each in comparison.entries) else {}
    areas = {name: Column(title, "{:,}") for name, title in columns.items()}
    return Answer(
        title=count_text(len(comparisons), "graph") if many else graph_text(first.graph, first.vertices, first.edges),
        facts={} if many else {"components": _components(first)},
        tables={
            "graphs": FORMS.table("graphs", [each.about() for each in comparisons], shown=many),
            "software": FORMS.table("software", software, without=left_out),
            "machines": FORMS.table(
                "machines", machines, columns=areas, without=left_out if areas else [*left_out, "cycles"]
            ),
        },
        charts={"times": Chart(title="times", draw=lambda: comparison_figure(comparisons))},
        fields=fields,
    )


def _components(comparison: "AlgorithmComparison") -> str:
    if comparison.components is None or comparison.largest is None:
        return "unknown"
    by = "" if comparison.reference == SCIPY else f" (by {comparison.reference})"
    return largest_text(comparison.components, comparison.largest) + by


_SHOWN = 20
"""Most components in the table."""


@question(examples="".join(f"{name + ':':10}{kind.text}\n" for name, kind in MEC_KINDS.items()))
def mec(
    model: notes.File,
    *,
    algorithm: str | None = None,
    on: str = "processor",
    output: notes.MaybeFile = None,
    choices: notes.MaybeFile = None,
    sta: notes.MaybeFile = None,
    lab: notes.MaybeFile = None,
    device: str = "cpu",
    order: str = "natural",
    config: notes.Machine = "hc2",
    memory: "str | Profile" = "hc2",
    executor: str = "compiled",
    overrides: notes.Values = None,
    threads: int | None = None,
    verify: bool = True,
    progress: notes.Wanted = False,
) -> Answer:
    """Find the maximal end components of a Markov decision process.

    They are checked by their definition.

    Raises
    ------
    SpecError
        The machine does not exist, or an option is not used.
    InputError
        The model cannot be read, or a file cannot be written.
    SimulationError
        The simulation failed, or the result is wrong.

    Notes
    -----
    MODEL: transitions of PRISM's explicit engine (.tra), or Storm's explicit format (.drn); each also .gz;
    '-': either from standard input. Of PRISM's, states (.sta) and labels (.lab) are found beside it by name.

    Examples
    --------
    cyscc mec model.tra
    cyscc mec model.drn --algorithm parallel --threads 2 -o mecs.txt --json result.json
    cyscc mec model.tra --choices actions.txt
    zcat model.tra.gz | cyscc mec -
    cyscc mec model.tra --on accelerator --config hc2-1ae --memory fixed:75
    """
    spec = None
    if on == "accelerator":
        algorithm = "basic"
        machine: dict[str, Any] = {"config": config, "memory": memory, "executor": executor, "overrides": overrides}
        spec = RunSpec(
            algorithm="scc", graph=str(model), threads=threads or notes.CORES, verify=verify, **machine
        ).checked()
    else:
        algorithm = algorithm or ("basic" if device == "cpu" else "parallel")
        check_used([algorithm], MEC_KINDS, device=device, order=order, threads=threads)

    from cyscc.host.baselines.mdp.formats import STANDARD_INPUT, read_mdp
    from cyscc.host.baselines.mdp.formats.annotations import files_beside, read_annotations
    from cyscc.host.baselines.mec.checker import check_mecs
    from cyscc.host.baselines.mec.listing import MOST_LISTED, list_components
    from cyscc.host.graph.reference import component_sizes
    from cyscc.host.runs.execution import check_result

    found_beside = (None, None) if str(model) == STANDARD_INPUT else files_beside(str(model))
    states, labels = (
        each if given is None else Path(given) for each, given in zip(found_beside, (sta, lab), strict=True)
    )
    check_distinct(
        {flag: str(path) for flag, path in (("-o", output), ("--choices", choices)) if path is not None},
        read={what: str(path) for what, path in (("the states", states), ("the labels", labels)) if path is not None},
    )
    steps, wall, begin = Progress.of(progress), {}, time.perf_counter()
    with steps.step("reading") as step:
        mdp = read_mdp(str(model), watch=step)
        annotations = read_annotations(states, labels, mdp.states)
    wall["load"] = time.perf_counter() - begin
    if spec is None:
        found, where, words, simulated, seconds = _on_processor(algorithm, mdp, device, order, threads, steps)
    else:
        begin = time.perf_counter()
        found, where, words, simulated, seconds = _on_accelerator(spec, mdp, steps)
        wall["simulate"] = time.perf_counter() - begin
    stays = mdp.staying(found.mecs)
    begin = time.perf_counter()
    if verify:
        with steps.step("verifying"):
            check_result(check_mecs(mdp, found.mecs, stays))
    wall["verify"] = time.perf_counter() - begin
    _write(output, choices, mdp, found, stays)

    listed = stays.sum() <= MOST_LISTED
    sizes = component_sizes(found.mecs[found.mecs >= 0])[1].tolist()
    model_sizes = {"states": mdp.states, "choices": mdp.choice_count, "transitions": mdp.transition_count}
    cycles = None if spec is None else sum(each["cycles"] for each in simulated)
    rounds = [
        {"round": number, **asdict(each), **more}
        for number, (each, more) in enumerate(zip(found.rounds, simulated, strict=True), start=1)
    ]
    return Answer(
        title=model_text(str(model), *model_sizes.values()),
        facts={
            "algorithm": f"{algorithm}, {words}",
            "MECs": f"{len(sizes):,}, the largest of {count_text(max(sizes, default=0), 'state')}",
            "states": f"{sum(sizes):,} in MECs, {mdp.states - sum(sizes):,} in none",
            "rounds": f"{len(rounds):,}",
            **{name.replace("_", " "): f"{count:,}" for name, count in found.counts.items()},
            **(
                {"time": f"{seconds * 1e3:,.1f} ms"}
                if cycles is None
                else {"simulated": f"{count_text(cycles, 'cycle')}, {seconds * 1e3:,.3f} ms"}
            ),
            "verified": "yes" if verify else "not checked",
        },
        tables={
            "rounds": FORMS.table("rounds", rounds, shown=spec is not None),
            **({"largest": _largest(mdp, found, stays, annotations, len(sizes))} if annotations and sizes else {}),
        },
        fields={
            "model": {"file": str(model), **model_sizes},
            "algorithm": algorithm,
            **where,
            "mecs": {"count": len(sizes), "states": sum(sizes), "largest": max(sizes, default=0)},
            "components": list_components(mdp, found.mecs, stays, annotations) if listed else None,
            "counts": dict(found.counts),
            **({} if cycles is None else {"cycles": {"total": cycles}}),
            "seconds": seconds,
            "verified": True if verify else None,
            "wall": wall,
        },
    )


def _largest(mdp: "Mdp", found: "MecDecomposition", stays: Any, beside: "Annotations", count: int) -> Table:
    """Return the table of some of `count` components, with the columns that are known."""
    from cyscc.host.baselines.mec.listing import first_components

    rows = first_components(mdp, found.mecs, stays, beside, _SHOWN)
    some = "" if len(rows) == count else f", those with labels first, then the largest: {len(rows)} of {count:,}"
    unknown = [name for name, known in (("name", beside.names), ("labels", beside.labels)) if known is None]
    return FORMS.table("largest", rows, {"some": some}, without=unknown)


def _on_processor(
    algorithm: str, mdp: "Mdp", device: str, order: str, threads: int | None, progress: Progress
) -> "tuple[MecDecomposition, dict[str, Any], str, list[dict[str, int]], float]":
    """Run an algorithm in software; return result, device (as document and text), a row for each round, and seconds."""
    from cyscc.host.baselines.devices import open_device, steps
    from cyscc.host.baselines.mec.basic import run_mec
    from cyscc.host.baselines.software.decomposition import SoftwareSetting

    with (
        open_device(device, threads=threads or notes.CORES, order=steps.Order(order)) as opened,
        progress.step(f"{algorithm}: compiling and running") as step,
    ):
        result = run_mec(algorithm, mdp, SoftwareSetting(device=opened, watch=step))
    where = {"on": "processor", "device": result.device, "threads": result.threads}
    words = device_text(result.device, result.threads)
    return result.found, where, words, [{} for _ in result.found.rounds], result.seconds


def _on_accelerator(
    spec: RunSpec, mdp: "Mdp", progress: Progress
) -> "tuple[MecDecomposition, dict[str, Any], str, list[dict[str, int]], float]":
    """Run the basic algorithm with the components of each round on the accelerator; return as `_on_processor`."""
    from cyscc.host.runs.mec import run_accelerated_mec

    found, rounds = run_accelerated_mec(mdp, spec, progress)
    where = {"on": "accelerator", **rounds[0].setting.machine_document()}
    simulated = [{"edges": each.graph.edges, "cycles": each.run.cycles} for each in rounds]
    words = f"components on the accelerator, {spec.machine_text}, executor {spec.executor}"
    return found, where, words, simulated, sum(each.seconds for each in rounds)


def _write(
    output: notes.MaybeFile, choices: notes.MaybeFile, mdp: "Mdp", found: "MecDecomposition", stays: Any
) -> None:
    """Write the files of states and of choices that are asked for."""
    import numpy as np

    from cyscc.host.baselines.mec.listing import write_choices
    from cyscc.host.graph.formats.writer import write_pairs

    if output is not None:
        states = np.flatnonzero(found.mecs >= 0)
        with open_output(str(output)) as file:
            write_pairs(file, states, found.mecs[states])
    if choices is not None:
        with open_output(str(choices)) as file:
            write_choices(file, mdp, found.mecs, stays)
