"""`sweep`: a parameter study over machine, memory, graph and algorithm."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from cyscc.host.experiments.sweep.measures import MEASURES
from cyscc.host.interface import notes
from cyscc.host.interface.experiments import check_files, plan_of
from cyscc.host.output.files import write_text
from cyscc.host.specification.ask import SpecError, question
from cyscc.host.specification.numbers import checked_number, whole_number
from cyscc.host.specification.run import ALGORITHMS
from cyscc.hw.values import plain
from cyscc.sim.configuration import PRESETS, AcceleratorConfig

if TYPE_CHECKING:
    from cyscc.host.experiments.plan.plan import Plan
    from cyscc.host.experiments.sweep.answer import Sweep
    from cyscc.host.experiments.sweep.definition import SweepStudy
    from cyscc.host.graph.csr import Graph

_SUFFIX = ".toml"
"""Suffix of a study; other inputs of a sweep are graphs."""


def _values(text: str) -> Any:
    """Return the value in a text, or several: numbers such as 2^10, values of TOML, or texts, which need no quotes."""
    found: list[Any] = []
    # A comma in brackets is part of a value: {from=16,to=64,times=2}, own.py (a=1, b=2).
    for part in re.split(r",(?![^{(]*[})])", text):
        value = part.strip()
        if not value:
            raise ValueError(f"{text!r} lacks a value")
        with suppress(ValueError):
            found.append(whole_number(value, low=0))
            continue
        try:
            found.append(tomllib.loads(f"value = {value}")["value"])
        except tomllib.TOMLDecodeError:
            found.append(value)
    return found if len(found) > 1 else found[0]


def _setting(text: str) -> tuple[str, Any]:
    """Return name and values of a parameter.

    Raises
    ------
    ValueError
        The text is not KEY=VALUE.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals):
        raise ValueError(f"{text!r} is not KEY=VALUE")
    try:
        return name, _values(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


EITHER, PRESET_NAMES, MEASURED = " or ".join(ALGORITHMS), ", ".join(PRESETS), tuple(MEASURES)


@question(charts=("sweep",))
def sweep(
    graph: "Graph | str | PathLike[str] | Sequence[Graph | str | PathLike[str]]",
    settings: Mapping[str, Any] | None = None,
    *,
    algorithm: str | Sequence[str] | None = None,
    source: int | Sequence[int] | None = None,
    config: str | Sequence[str] | None = None,
    memory: str | Sequence[str] | None = None,
    undirected: bool = False,
    folder: notes.File = "build/sweep",
    measure: str = "cycles",
    **many: Unpack[notes.Many],
) -> "Sweep":
    """Simulate a study of one's own over many parameters.

    A graph is simulated on machines that differ in some parameters, or all points of a study are; the answer has the
    effect of each parameter.

    Parameters
    ----------
    graph : Graph, str, path, or a list of them
        Graphs, their files, or ``KIND:VERTICES:DEGREE:SEED``; or one study, a file that ends in ``.toml``.
    settings : mapping
        Values by parameter, as in a study: ``{"visit_depth": [16, 32, 64], "issue_interval": 2}``. Lists vary.
    algorithm, source, config, memory : optional
        Values of these parameters; lists vary. Of a study, only `memory` with the files of rules that it uses.
    undirected : bool
        Whether each edge is read in both directions.
    folder : str or path
        Folder of points, table and page. Points are found there again.
    measure : str
        What the chart shows: ``cycles``, ``gteps`` or ``seconds``.
    **many
        ``jobs``, the number of processes, by default one (with several, a script needs
        ``if __name__ == "__main__":``), or a ``scheduler``, the address of that of a Dask cluster, whose workers make
        the points instead; ``area``, whether to synthesise the machines too, and for which ``family``, ``xc5v`` or
        ``xc6v``, or both; and ``progress``, whether to show it if standard error is a terminal.

    Raises
    ------
    ValueError
        A parameter is unknown, a value is invalid, or nothing varies.
    InputError
        A study, a graph or the folder cannot be used.
    SimulationError
        No further points can be made. A failed point does not raise: its row has the ``reason``.

    Notes
    -----
    All combinations of the values are simulated. A graph is a file, or is generated: KIND:VERTICES:DEGREE:SEED, of kind
    random, rmat or ssca2. Parts at the end may be missing, and varied: random:2^16 --set graph.degree=4,8,16.
    STUDY.toml: parameters that vary, as a [grid] or as [[points]], and others that do not. With search = N, a search
    chooses N points of them instead of making all. Complete points are kept
    in DIR/results: a sweep that was interrupted goes on where it was, and studies share what is equal.

    Examples
    --------
    cyscc sweep random.gr --set visit_depth=16,32,64 --plot depths.svg
    cyscc sweep random.gr --set visit_depth=16,32,64 --set memory.bank_busy=8,15
    cyscc sweep random:2^16:8 rmat:2^16:8 --config hc2,published --memory hc2,fixed:75 --plot machines.svg
    cyscc sweep depths.toml
    cyscc sweep depths.toml --area -o results
    cyscc sweep depths.toml --scheduler tcp://127.0.0.1:8786
    """
    from cyscc.host.experiments.sweep.answer import Sweep
    from cyscc.host.experiments.sweep.search import make_study, study_files

    plan = plan_of(folder, **many)
    named = {"algorithm": algorithm, "config": config, "memory": _joined(memory), "source": source}
    given = [(name, value) for name, value in named.items() if value is not None]
    given += [("undirected", True)] if undirected else []
    given += settings.items() if isinstance(settings, Mapping) else settings or []
    values = {name: _plain(value) for name, value in notes.together("", given).items()}
    inputs = [graph] if isinstance(graph, str | PathLike) or not isinstance(graph, Sequence) else list(graph)
    if not inputs:
        raise ValueError("there is no graph")
    study = _study(inputs, values, plan)
    check_files({f"the {name}": path for name, path in study_files(study, plan.folder).items()}, plan.progress)
    swept = Sweep(make_study(study, plan), measure)
    with plan.progress.step("drawing"):
        write_text(str(swept.files["page"]), swept.page())
    return swept


def _joined(values: Any) -> Any:
    """Return a value, or several, of which some are lists."""
    if not isinstance(values, list | tuple):
        return values
    found = [each for value in values for each in (value if isinstance(value, list) else [value])]
    return found if len(found) > 1 else found[0]


def _study(inputs: Sequence[Any], values: dict[str, Any], plan: "Plan") -> "SweepStudy":
    """Return the study in a file, or that of graphs and settings."""
    from cyscc.host.experiments.measuring.runs import stored_graph
    from cyscc.host.experiments.sweep.definition import line_study, read_study
    from cyscc.host.graph.csr import Graph

    texts = [each if isinstance(each, Graph) else fspath(each) for each in inputs]
    study = next((each for each in texts if isinstance(each, str) and each.endswith(_SUFFIX)), None)
    if study is not None:
        others = sorted(set(values) - {"memory"})
        if len(texts) > 1 or others:
            raise SpecError("", f"{study} is a study, which has its own {others[0] if others else 'graphs'}")
        rules = values.get("memory", [])
        return read_study(Path(study), rules if isinstance(rules, list) else [rules])
    graphs: list[Any] = list(texts)
    for place, each in enumerate(texts):
        if isinstance(each, Graph):
            if "source" in values:
                values["source"] = _indices(each, values["source"], alone=len(texts) == 1)
            with plan.opened() as store:
                name = "graph" if len(texts) == 1 else f"graph {place + 1}"
                graphs[place] = replace(stored_graph(each, store), name=name)
    try:
        return line_study(graphs, values)
    except ValueError as error:
        raise SpecError("", str(error)) from None


def _indices(graph: "Graph", sources: Any, *, alone: bool) -> Any:
    """Return the numbers of vertices in the file of a graph, which numbers them from 0."""
    if not alone:
        raise ValueError("source: a sweep over several graphs in memory has none: each has its own names of vertices")
    if isinstance(sources, list):
        return [_indices(graph, each, alone=True) for each in sources]
    return graph.index(checked_number("source", sources, low=0))


def _plain(value: Any) -> Any:
    """Return a value, or several, as a study has them."""
    from cyscc.sim.memory import Profile

    if hasattr(value, "tolist"):  # an array, or a number of one
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    if isinstance(value, AcceleratorConfig | Profile):
        raise ValueError("a sweep takes configurations and memories by name or file; settings change their values")
    return fspath(value) if isinstance(value, PathLike) else plain(value)
