"""`mec`: the maximal end components of a Markov decision process."""

import time
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyscc.host.baselines.algorithms import MEC_KINDS, check_used
from cyscc.host.interface.notes import CORES, Config, Device, Memory, NoVerify, Order, Set, Threads, Wanted
from cyscc.host.output.files import Content, check_distinct
from cyscc.host.output.progress import Progress
from cyscc.host.specification.ask import Ask, Rule, question
from cyscc.host.specification.run import RunSpec, option_of

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer, Table
    from cyscc.host.baselines.mdp.formats.annotations import Annotations
    from cyscc.host.baselines.mdp.model import Mdp
    from cyscc.host.baselines.mec.basic import MecDecomposition

__all__ = ["mec"]

_ROUND = ("round", "states", "choices", "transitions", "edges", "components", "dropped", "removed", "mecs", "cycles")
"""Columns of the table of rounds on the accelerator."""

_SHOWN = 20
"""Most components in the table."""

_STATES = "write a line 'state MEC' for each state in a MEC ('-': standard output)"
_CHOICES = "write a line 'state choice MEC action' for each choice that stays in a MEC ('-': standard output)"
_ON = "where the components of each round are found: processor (default), or accelerator, a simulated one"

ModelFile = Annotated[
    "str | PathLike[str]", Ask(help="the model ('-': standard input)", metavar="MODEL", reads="the model")
]
Algorithm = Annotated[
    str | None,
    Ask(help=f"{', '.join(MEC_KINDS)} (default: basic, on a graphics processor parallel)", choices=tuple(MEC_KINDS)),
]
On = Annotated[str, Ask(help=_ON, choices=("processor", "accelerator"))]
Output = Annotated["str | PathLike[str] | None", Ask(help=_STATES, metavar="OUT", short="-o", writes=Content.LIST)]
Choices = Annotated["str | PathLike[str] | None", Ask(help=_CHOICES, metavar="OUT", writes=Content.LIST)]
Sta = Annotated[
    "str | PathLike[str] | None",
    Ask(help="values of the variables in each state (default: MODEL's .sta)", metavar="FILE", reads="the states"),
]
Lab = Annotated[
    "str | PathLike[str] | None",
    Ask(help="labels of the states (default: MODEL's .lab)", metavar="FILE", reads="the labels"),
]
Executor = Annotated[str, option_of("executor")]


@question(
    examples="""examples:
  cyscc mec model.tra
  cyscc mec model.drn --algorithm parallel --threads 2 -o mecs.txt --json result.json
  cyscc mec model.tra --choices actions.txt
  zcat model.tra.gz | cyscc mec -
  cyscc mec model.tra --on accelerator --config hc2-1ae --memory fixed:75

MODEL: transitions of PRISM's explicit engine (.tra), or Storm's explicit format (.drn); each also .gz;
'-': either from standard input. Of PRISM's, states (.sta) and labels (.lab) are found beside it by name.

"""
    + "\n".join(f"{name + ':':10}{kind.text}" for name, kind in MEC_KINDS.items()),
    rules=(
        Rule(("config", "memory", "executor", "overrides"), needs=("on=accelerator",)),
        Rule(("device", "order", "algorithm=parallel"), excludes=("on=accelerator",)),
    ),
)
def mec(
    model: ModelFile,
    *,
    algorithm: Algorithm = None,
    on: On = "processor",
    output: Output = None,
    choices: Choices = None,
    sta: Sta = None,
    lab: Lab = None,
    device: Device = "cpu",
    order: Order = "natural",
    config: Config = "hc2",
    memory: Memory = "hc2",
    executor: Executor = "compiled",
    overrides: Set = None,
    threads: Threads = None,
    verify: NoVerify = True,
    progress: Wanted = False,
) -> "Answer":
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
    """
    spec = None
    if on == "accelerator":
        algorithm = "basic"
        spec = RunSpec(
            algorithm="scc",
            graph=str(model),
            config=config,
            memory=memory,
            executor=executor,
            overrides=overrides,
            threads=threads or CORES,
            verify=verify,
        ).checked()
    else:
        algorithm = algorithm or ("basic" if device == "cpu" else "parallel")
        check_used([algorithm], MEC_KINDS, device=device, order=order, threads=threads)

    import pandas as pd

    from cyscc.host.answer.answer import Answer, Column, Table
    from cyscc.host.baselines.mdp.formats import STANDARD_INPUT, read_mdp
    from cyscc.host.baselines.mdp.formats.annotations import files_beside, read_annotations
    from cyscc.host.baselines.mec.checker import check_mecs
    from cyscc.host.baselines.mec.listing import MOST_LISTED, list_components, staying_choices
    from cyscc.host.graph.reference import component_sizes
    from cyscc.host.output.text import count_text, model_text
    from cyscc.host.runs.execution import check_result

    found_beside = (None, None) if str(model) == STANDARD_INPUT else files_beside(str(model))
    states, labels = (
        each if given is None else Path(given) for each, given in zip(found_beside, (sta, lab), strict=True)
    )
    check_distinct(
        {flag: str(path) for flag, path in (("--output", output), ("--choices", choices)) if path is not None},
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
    stays = staying_choices(mdp, found.mecs)
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
            "rounds": Table(
                title="rounds",
                frame=pd.DataFrame(rounds),
                columns=dict.fromkeys(_ROUND, "{:,}") | {"mecs": Column("MECs", "{:,}")},
                most=None,
                shown=spec is not None,
            ),
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


def _largest(mdp: "Mdp", found: "MecDecomposition", stays: Any, beside: "Annotations", count: int) -> "Table":
    """Return the table of some of `count` components, with the columns that are known."""
    import pandas as pd

    from cyscc.host.answer.answer import Column, Table
    from cyscc.host.baselines.mec.listing import first_components

    rows = first_components(mdp, found.mecs, stays, beside, _SHOWN)
    return Table(
        title="MECs"
        if len(rows) == count
        else f"MECs, those with labels first, then the largest: {len(rows)} of {count:,}",
        frame=pd.DataFrame(rows),
        columns={
            "mec": Column("MEC"),
            "states": "{:,}",
            "choices": "{:,}",
            **({"name": Column("smallest state")} if beside.names is not None else {}),
            **({"labels": Column()} if beside.labels is not None else {}),
        },
        most=None,
    )


def _on_processor(
    algorithm: str, mdp: "Mdp", device: str, order: str, threads: int | None, progress: Progress
) -> "tuple[MecDecomposition, dict[str, Any], str, list[dict[str, int]], float]":
    """Run an algorithm in software; return result, device (as document and text), a row for each round, and seconds."""
    from cyscc.host.baselines.devices import open_device, steps
    from cyscc.host.baselines.mec.basic import run_mec
    from cyscc.host.baselines.software.decomposition import SoftwareSetting
    from cyscc.host.output.text import device_text

    with (
        open_device(device, threads=threads or CORES, order=steps.Order(order)) as opened,
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
    output: "str | PathLike[str] | None",
    choices: "str | PathLike[str] | None",
    mdp: "Mdp",
    found: "MecDecomposition",
    stays: Any,
) -> None:
    """Write the files of states and of choices that are asked for."""
    import numpy as np

    from cyscc.host.baselines.mec.listing import write_choices
    from cyscc.host.graph.formats.writer import write_pairs
    from cyscc.host.output.files import open_output

    if output is not None:
        states = np.flatnonzero(found.mecs >= 0)
        with open_output(str(output)) as file:
            write_pairs(file, states, found.mecs[states])
    if choices is not None:
        with open_output(str(choices)) as file:
            write_choices(file, mdp, found.mecs, stays)
