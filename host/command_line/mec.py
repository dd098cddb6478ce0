"""`cyscc mec`: the maximal end components of a Markov decision process."""

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.baselines.algorithms import MEC_KINDS
from cyscc.host.command_line.software import check_usable
from cyscc.host.output.files import Content
from cyscc.host.output.progress import Progress
from cyscc.host.specification import options
from cyscc.host.specification.run import RunSpec, option_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cyscc.host.baselines.mdp.formats.annotations import Annotations
    from cyscc.host.baselines.mdp.model import Mdp
    from cyscc.host.baselines.mec.basic import MecDecomposition

__all__ = ["TEXTS", "add_options", "run"]

_EPILOG = """examples:
  cyscc mec model.tra
  cyscc mec model.drn --algorithm parallel --threads 2 -o mecs.txt --json result.json
  cyscc mec model.tra --choices actions.txt
  zcat model.tra.gz | cyscc mec -
  cyscc mec model.tra --on accelerator --config hc2-1ae --memory fixed:75

MODEL: transitions of PRISM's explicit engine (.tra), or Storm's explicit format (.drn); each also .gz;
'-': either from standard input. Of PRISM's, states (.sta) and labels (.lab) are found beside it by name.

"""

_ROUND = ("states", "choices", "transitions", "edges", "components", "dropped", "removed", "mecs", "cycles")
"""Columns of the table of rounds on the accelerator."""

_SHOWN = 20
"""Most components in the table."""

_PLACES = ("processor", "accelerator")
_MACHINE = ("config", "memory", "executor", "overrides")
"""Options of the accelerator."""


TEXTS = {
    "help": "find the maximal end components of a Markov decision process",
    "description": "Find the maximal end components of a Markov decision process, and check them.",
    "epilog": _EPILOG + "\n".join(f"{name + ':':10}{kind.text}" for name, kind in MEC_KINDS.items()),
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", metavar="MODEL", help="the model ('-': standard input)")
    parser.add_argument(
        "--algorithm",
        choices=tuple(MEC_KINDS),
        help=f"{', '.join(MEC_KINDS)} (default: basic, on a graphics processor parallel)",
    )
    parser.add_argument(
        "--on",
        choices=_PLACES,
        default=_PLACES[0],
        help="where the components of each round are found: processor (default), or accelerator, a simulated one",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write a line 'state MEC' for each state in a MEC ('-': standard output)",
    )
    parser.add_argument(
        "--choices",
        metavar="OUT",
        help="write a line 'state choice MEC action' for each choice that stays in a MEC ('-': standard output)",
    )
    parser.add_argument("--sta", metavar="FILE", help="values of the variables in each state (default: MODEL's .sta)")
    parser.add_argument("--lab", metavar="FILE", help="labels of the states (default: MODEL's .lab)")
    options.add_shared(parser, "--device", "--order")
    options.add_run_options(parser, *_MACHINE)
    options.add_threads(parser, "the algorithm, or the executor,")
    options.add_shared(parser, "--json", "--no-verify", "--quiet")


def _algorithm(arguments: argparse.Namespace) -> str:
    """Return the selected algorithm.

    Raises
    ------
    UsageError
        Conflicting options.
    """
    if arguments.on == "accelerator":
        if arguments.device != "cpu":
            raise options.UsageError("--device is of what runs without the accelerator")
        if arguments.order != "natural":
            raise options.UsageError("--order is of what runs without the accelerator")
        if arguments.algorithm == "parallel":
            raise options.UsageError("--on accelerator finds components for the basic algorithm only")
        return "basic"
    for name in _MACHINE:
        if hasattr(arguments, name):
            raise options.UsageError(f"{option_of(name).flag} needs --on accelerator")
    algorithm = arguments.algorithm or ("basic" if arguments.device == "cpu" else "parallel")
    check_usable(arguments, algorithm, MEC_KINDS[algorithm])
    return algorithm


def _spec(arguments: argparse.Namespace) -> RunSpec:
    """Return the specification of the machine's runs.

    Raises
    ------
    UsageError
        Invalid options, or a machine without intersection kernels.
    """
    given = options.given_options(arguments)
    with options.as_usage():
        return RunSpec(
            **{**given, "algorithm": "scc", "graph": str(arguments.model), "verify": not arguments.no_verify}
        ).checked()


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    InputError
        Bad input.
    SimulationError
        The simulation failed, or the result is wrong.
    UsageError
        Conflicting options.
    """
    algorithm = _algorithm(arguments)
    spec = _spec(arguments) if arguments.on == "accelerator" else None

    from cyscc.host.baselines.mdp.formats import STANDARD_INPUT, read_mdp
    from cyscc.host.baselines.mdp.formats.annotations import read_annotations
    from cyscc.host.baselines.mec.checker import check_mecs
    from cyscc.host.baselines.mec.listing import MOST_LISTED, first_components, list_components, staying_choices
    from cyscc.host.graph.reference import component_sizes
    from cyscc.host.output.files import STANDARD_OUTPUT, identity, output_result
    from cyscc.host.runs.execution import check_result

    beside = _beside(arguments)
    given = {"the model": arguments.model, "the states": beside[0], "the labels": beside[1]}
    options.check_outputs(
        {"-o": arguments.output, "--choices": arguments.choices, "--json": arguments.json},
        others={name: str(path) for name, path in given.items() if path not in (None, STANDARD_INPUT)},
        content=Content.LIST,
    )
    progress = Progress(quiet=arguments.quiet)
    begin = time.perf_counter()
    with progress.step("reading") as step:
        mdp = read_mdp(arguments.model, watch=step)
        annotations = read_annotations(*beside, mdp.states)
    wall = {"load": time.perf_counter() - begin}
    if spec is None:
        found, where, words, simulated, seconds = _on_processor(arguments, algorithm, mdp, progress)
    else:
        begin = time.perf_counter()
        found, where, words, simulated, seconds = _on_accelerator(spec, mdp, progress)
        wall["simulate"] = time.perf_counter() - begin
    stays = staying_choices(mdp, found.mecs)
    begin = time.perf_counter()
    if not arguments.no_verify:
        with progress.step("verifying"):
            check_result(check_mecs(mdp, found.mecs, stays))
    wall["verify"] = time.perf_counter() - begin
    _write(arguments, mdp, found, stays)
    listed = stays.sum() <= MOST_LISTED
    components = list_components(mdp, found.mecs, stays, annotations) if listed else None
    sizes = component_sizes(found.mecs[found.mecs >= 0])[1].tolist()
    document = {
        **identity(),
        "model": {
            "file": arguments.model,
            "states": mdp.states,
            "choices": mdp.choice_count,
            "transitions": mdp.transition_count,
        },
        "algorithm": algorithm,
        **where,
        "mecs": {"count": len(sizes), "states": sum(sizes), "largest": max(sizes, default=0)},
        "components": components,
        "rounds": [{**asdict(each), **more} for each, more in zip(found.rounds, simulated, strict=True)],
        "counts": dict(found.counts),
        **({} if spec is None else {"cycles": {"total": sum(each["cycles"] for each in simulated)}}),
        "seconds": seconds,
        "verified": None if arguments.no_verify else True,
        "wall": wall,
    }
    quiet = arguments.quiet or STANDARD_OUTPUT in (arguments.output, arguments.choices)
    text = _table(document, words)
    if annotations and sizes:
        rows = first_components(mdp, found.mecs, stays, annotations, _SHOWN)
        text += _components_table(rows, len(sizes), annotations)
    output_result(document, text, path=arguments.json, quiet=quiet)


def _table(document: dict[str, Any], where: str) -> str:
    """Format the result as a table."""
    from cyscc.host.output.text import column_table, count_text, model_text, plain_table

    model, mecs, rounds = document["model"], document["mecs"], document["rounds"]
    simulated = "cycles" in document
    milliseconds = f"{document['seconds'] * 1e3:,.3f} ms" if simulated else f"{document['seconds'] * 1e3:,.1f} ms"
    rows = [
        ("model", model_text(*model.values())),
        ("algorithm", f"{document['algorithm']}, {where}"),
        ("MECs", f"{mecs['count']:,}, the largest of {count_text(mecs['largest'], 'state')}"),
        ("states", f"{mecs['states']:,} in MECs, {model['states'] - mecs['states']:,} in none"),
        ("rounds", f"{len(rounds):,}"),
        *((name.replace("_", " "), f"{count:,}") for name, count in document["counts"].items()),
        *([("simulated", f"{count_text(document['cycles']['total'], 'cycle')}, {milliseconds}")] if simulated else []),
        *([] if simulated else [("time", milliseconds)]),
        ("verified", "yes" if document["verified"] else "not checked"),
    ]
    text = plain_table(rows, words=2)
    if not simulated:
        return text
    columns = [("round", "{number:,}"), *((name.replace("mecs", "MECs"), f"{{{name}:,}}") for name in _ROUND)]
    numbered = ({"number": number, **each} for number, each in enumerate(rounds, start=1))
    return f"{text}\n{column_table(columns, numbered, plain=True)}"


def _components_table(rows: list[dict[str, Any]], count: int, beside: "Annotations") -> str:
    """Format the first of `count` components as a table, with the columns that are known."""
    from cyscc.host.output.text import column_table

    columns = [("MEC", "{mec}"), ("states", "{states:,}"), ("choices", "{choices:,}")]
    known = [("smallest state", "{name}")] if beside.names is not None else []
    known += [("labels", "{labels}")] if beside.labels is not None else []
    words = range(len(columns), len(columns + known))
    more = f"and {count - len(rows):,} more\n" if count > len(rows) else ""
    return f"\n{column_table(columns + known, rows, plain=True, words=words)}{more}"


def _on_processor(
    arguments: argparse.Namespace, algorithm: str, mdp: "Mdp", progress: Progress
) -> "tuple[MecDecomposition, dict[str, Any], str, list[dict[str, int]], float]":
    """Run an algorithm in software; return result, device (as document and text), a row for each round, and seconds."""
    from cyscc.host.baselines.devices import open_device
    from cyscc.host.baselines.devices.steps import Order
    from cyscc.host.baselines.mec.basic import run_mec
    from cyscc.host.baselines.software.decomposition import SoftwareSetting
    from cyscc.host.output.text import device_text

    with (
        open_device(arguments.device, threads=arguments.threads, order=Order(arguments.order)) as device,
        progress.step(f"{algorithm}: compiling and running") as step,
    ):
        result = run_mec(algorithm, mdp, SoftwareSetting(device=device, watch=step))
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


def _beside(arguments: argparse.Namespace) -> "tuple[Path | None, Path | None]":
    """Return the files of states and labels: those given, or those beside the model."""
    from cyscc.host.baselines.mdp.formats import STANDARD_INPUT
    from cyscc.host.baselines.mdp.formats.annotations import files_beside

    states, labels = (None, None) if arguments.model == STANDARD_INPUT else files_beside(arguments.model)
    return (
        states if arguments.sta is None else Path(arguments.sta),
        labels if arguments.lab is None else Path(arguments.lab),
    )


def _write(arguments: argparse.Namespace, mdp: "Mdp", found: "MecDecomposition", stays: "NDArray[np.bool_]") -> None:
    """Write the files of states and of choices that are asked for."""
    import numpy as np

    from cyscc.host.baselines.mec.listing import write_choices
    from cyscc.host.graph.formats.writer import write_pairs
    from cyscc.host.output.files import open_output

    if arguments.output is not None:
        states = np.flatnonzero(found.mecs >= 0)
        with open_output(arguments.output) as file:
            write_pairs(file, states, found.mecs[states])
    if arguments.choices is not None:
        with open_output(arguments.choices) as file:
            write_choices(file, mdp, found.mecs, stays)
