"""Studies: the parameters that a sweep varies, read from a TOML file."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from math import log, prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec, graph_text
from cyscc.host.experiments.measuring.runs import PointRequest
from cyscc.host.experiments.sweep.space import SearchOptions, range_values, search_options, shaped
from cyscc.host.graph.formats import check_graph
from cyscc.host.graph.kinds import KINDS, KINDS_BY_DEGREE
from cyscc.host.output.errors import InputError, reason
from cyscc.host.specification.overrides import MEMORY, Overrides, toml_text
from cyscc.host.specification.run import ALGORITHMS, Option, RunSpec, run_options
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.documents import read_toml
from cyscc.sim.notices import notice
from cyscc.sim.trust import GivenText, rules_file

VARIANT = "variant"
"""Name of the axis of ``[[points]]`` if its entries set several parameters each."""

_WIDE = 30
"""Ratio of the largest to the smallest result from which their axis is logarithmic."""

_LONGEST = 44
"""Most letters of a value in a label."""

_MOST = 100_000
"""Most points of a study."""
_ALIASES = {"memory.profile": "memory", "graph.file": "graph", "seed": "graph.seed"}
_GENERATED = (
    Option(name="graph.kind", help="generator of the graph", choices=KINDS_BY_DEGREE),
    *(
        Option(name=f"graph.{name}", help=size.text, low=size.least, high=size.most)
        for name, size in KINDS[KINDS_BY_DEGREE[0]].sizes.items()
    ),
)
_GRAPH = tuple(option.name for option in _GENERATED)
_RUN = {option.name: option for name in ALGORITHMS for option in run_options(name).values() if option.varies}
_OPTIONS = {**_RUN, **{option.name: option for option in _GENERATED}}
_QUESTION = ("graph", *_GRAPH, "undirected", "algorithm", "source")
"""Parameters of what is computed, not of what computes it."""
_FIELDS = tuple(each.name for each in fields(AcceleratorConfig))
_KNOWN = (*_RUN, "graph", *_GRAPH, *_FIELDS)


@dataclass(frozen=True, kw_only=True)
class StudyPoint:
    """A point of a study.

    Parameters
    ----------
    values : dict
        Value of every parameter in the study, and of `VARIANT` if the study has it.
    point : PointRequest
        The run.
    """

    values: dict[str, Any]
    point: PointRequest


@dataclass(frozen=True, kw_only=True)
class SweepStudy:
    """A study: the parameters of a sweep and its points.

    Parameters
    ----------
    name, title : str
        Name of its files; title for reports.
    axes : dict of str to list
        The varied parameters, each with its values in order.
    points : tuple of StudyPoint
        All combinations of the values; of a study that searches, those chosen so far.
    search : SearchOptions or None
        The search, if the study does not ask for all combinations.
    point_at : callable, optional
        Returns the point with the given places in the lists of values, one for each axis; raises a `ValueError` if
        there is no such machine.
    """

    name: str
    title: str
    axes: dict[str, list[Any]]
    points: tuple[StudyPoint, ...]
    search: SearchOptions | None = None
    point_at: Callable[[Sequence[int]], StudyPoint] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The varied parameters of what is computed; others are settings of what computes it, of which one is best."""
        hidden = any(
            len({value_text(each.values.get(name)) for each in self.points}) > 1
            for name in _QUESTION
            if name not in self.axes
        )
        return tuple(name for name in self.axes if name in _QUESTION or (name == VARIANT and hidden))

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The varied parameters of what computes it."""
        return tuple(name for name in self.axes if name not in self.inputs)

    @cached_property
    def labels(self) -> dict[str, dict[Any, str]]:
        """Labels of the values of each varied parameter for charts: short, and different."""
        return {name: _labels(values) for name, values in self.axes.items()}

    def label(self, values: Mapping[str, Any], names: Iterable[str] | None = None) -> str:
        """Return the label of a point for charts: ``rmat 2^12 x 8, config=hc2, word_depth=16``.

        Parameters
        ----------
        values : mapping
            Its values by parameter.
        names : iterable of str, optional
            The parameters that it shows; by default all that vary.
        """
        plain = ("graph", "algorithm", VARIANT)  # their values say what they are
        texts = {name: self.labels[name].get(values[name], "") for name in (self.axes if names is None else names)}
        return ", ".join(text if name in plain else f"{name}={text}" for name, text in texts.items())


def value_text(value: Any) -> str:
    """Return the value of a parameter as text, with bytes of names that are not UTF-8 escaped."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    return "" if value is None else toml_text(value)


def _labels(values: Sequence[Any]) -> dict[Any, str]:
    """Return short texts of values: of files their names, if these differ, and nothing from the middle of long ones."""
    texts = [value_text(value) for value in values]
    names = [Path(text).name for text in texts]
    half = _LONGEST // 2
    cut = [
        text if len(text) <= _LONGEST else f"{text[: half - 1]}…{text[-half:]}"
        for text in (names if len(set(names)) == len(names) else texts)
    ]
    return dict(zip(values, cut if len(set(cut)) == len(cut) else texts, strict=True))


def is_ordered(name: str, values: Iterable[Any]) -> bool:
    """Whether the values of a parameter have an order: they are numbers, but neither vertices nor seeds."""
    named = name == "source" or name.endswith("seed")
    return not named and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def read_study(path: Path, rules: Sequence[str] = ()) -> SweepStudy:
    """Return the study in a file.

    Parameters
    ----------
    path : Path
        The file.
    rules : sequence of str
        The files of memory rules that the user named. They are code, so that a study may use no others.

    Raises
    ------
    InputError
        The file cannot be read, or is no valid study. The message is one line that names the file and quotes the error.
    """
    try:
        return _Reader(path.parent, path.stem, read_toml(path), rules).study()
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", path=path) from None
    except InputError as error:
        raise InputError(error.cause if error.path is None else str(error), path=path) from None
    except ValueError as error:
        raise InputError(str(error), path=path) from None


def line_study(graphs: Sequence[str | GraphFile], settings: Mapping[str, Any]) -> SweepStudy:
    """Return a study without a file: of some graphs, with settings as `read_study` finds them in a file.

    Parameters
    ----------
    graphs : sequence of str or GraphFile
        Files, or ``KIND:VERTICES:DEGREE:SEED`` of graphs that are generated; the last parts may be missing, and given
        as settings.
    settings : mapping
        Values by name. A list of values, or a range, varies. Memory rules that it names are code, and are loaded.

    Raises
    ------
    ValueError
        The study is invalid. One line, which quotes the error.
    InputError
        A graph cannot be read.
    """
    known = {each.name: each for each in graphs if isinstance(each, GraphFile)}
    texts = [each.name if isinstance(each, GraphFile) else each for each in graphs]
    named: list[Any] = [text if text in known else _generated(text) or text for text in texts]
    given = {"graph": named if len(named) > 1 else named[0], **settings}
    grid = {name: value for name, value in given.items() if isinstance(value, list) or _is_range(value)}
    for name in given:
        if not isinstance(given[name], dict):
            _check_name(_ALIASES.get(name, name))
    if not grid:
        several = "a sweep has several values of a parameter, or several graphs"
        raise ValueError(f"nothing varies: {several}, or is a study: a file that ends in .toml")
    of = "" if len(texts) > 1 else texts[0] if isinstance(named[0], dict) else value_text(Path(texts[0]).name)
    document = {
        **{name: value for name, value in given.items() if name not in grid},
        "title": f"Sweep {f'of {of} ' if of else ''}over {', '.join(grid)}",
        "grid": grid,
    }
    name = "-".join([*([of.partition(".")[0].replace(":", "-")] if of else []), *grid])
    memories = given.get("memory", [])
    files = (rules_file(str(each)) for each in (memories if isinstance(memories, list) else [memories]))
    return _Reader(Path(), name, document, [file for file in files if file is not None], known).study()


def _check_name(name: str) -> None:
    """Refuse a name that is no parameter."""
    if name not in _KNOWN and not name.startswith(MEMORY):
        hint = "".join(f"; did you mean {match}?" for match in get_close_matches(name, _KNOWN, n=1))
        raise ValueError(f"unknown parameter {name!r}: there are {', '.join(_KNOWN)}, {MEMORY}KEY{hint}")


def _generated(text: str) -> dict[str, Any]:
    """Return the table of a generated graph; empty if the text names a file."""
    parts = text.split(":")
    if parts[0] not in KINDS_BY_DEGREE or len(parts) > len(_GRAPH) or Path(text).exists():
        return {}
    return dict(zip((name.removeprefix("graph.") for name in _GRAPH), parts, strict=False))


def _is_range(value: Any) -> bool:
    return isinstance(value, dict) and "from" in value


def is_wide(results: Sequence[float]) -> bool:
    """Whether results differ so much that their axis is logarithmic."""
    return bool(results) and min(results) > 0 and max(results) > _WIDE * min(results)


def is_logarithmic(values: Sequence[float]) -> bool:
    """Whether ascending numbers are spaced more evenly on a logarithmic axis than on a linear one."""
    if len(values) < 3 or values[0] <= 0:
        return False
    gaps = [second - first for first, second in itertools.pairwise(values)]
    ratios = [log(second / first) for first, second in itertools.pairwise(values)]
    return max(ratios) / min(ratios) < max(gaps) / min(gaps)


class _Named(msgspec.Struct):
    """The name of an entry of ``[[points]]``, which has parameters besides."""

    name: str = ""


class _Document(msgspec.Struct):
    """What a study's document has besides parameters; its search is `SearchOptions`."""

    title: str = ""
    grid: dict[str, Any] = {}
    points: list[_Named] = []


@dataclass(frozen=True, kw_only=True)
class _Choice:
    """A value of an axis.

    Parameters
    ----------
    shown : dict
        Columns of the table as they were given: the axis itself, and the parameters of an entry of ``[[points]]``.
    sets : dict
        The parameters that it sets: several, if it is an entry or a table of a graph.
    """

    shown: dict[str, Any] = field(default_factory=dict)
    sets: dict[str, Any] = field(default_factory=dict)


class _Reader:
    """Parser of a study's document. All its errors are a `ValueError` with one line."""

    def __init__(
        self,
        folder: Path,
        name: str,
        document: dict[str, Any],
        rules: Sequence[str],
        graphs: Mapping[str, GraphFile] = MappingProxyType({}),
    ) -> None:
        self._folder = folder
        self._rules = {Path(each).resolve() for each in rules}
        self._name = name
        self._graphs: dict[Path, GraphFile] = {folder / name: file for name, file in graphs.items()}
        shape = shaped(document, _Document)
        own = ("title", "grid", "points", "search")
        self._title = shape.title or name
        self._search = search_options(document["search"]) if "search" in document else None
        self._fixed = _flat({key: value for key, value in document.items() if key not in own})
        self._grid = _grid(shape.grid)
        self._listed = _entries(document.get("points", []), [each.name for each in shape.points])
        self._check()
        self._axes = {**self._grid, **self._listed}
        every = [choice for choices in self._axes.values() for choice in choices]
        columns = (name for choices in ("shown", "sets") for each in every for name in getattr(each, choices))
        self._names = list(dict.fromkeys((*self._axes, *columns, *self._fixed)))

    def _check(self) -> None:
        """Refuse unknown parameters, parameters set twice, and repeated values."""
        listed = {name for choices in self._listed.values() for each in choices for name in each.sets}
        sources = [{axis}.union(*(each.sets for each in choices)) for axis, choices in self._grid.items()]
        sources.append(listed | set(self._fixed))
        for name in dict.fromkeys((*self._fixed, *self._grid, *sorted(set().union(*sources)))):
            _check_name(name)
            if sum(name in each for each in sources) > 1:
                raise ValueError(f"{name} is in the grid, and has another value besides")
        axes = {**self._grid, **self._listed}
        for name, choices in axes.items():
            seen: set[tuple[type, Any]] = set()
            for value in (each.shown[name] for each in choices):
                if (type(value), value_text(value)) in seen:
                    raise ValueError(f"{name}: {value_text(value)} is given twice")
                seen.add((type(value), value_text(value)))
        if self._search is not None:
            varied = [name for name in axes if name in _QUESTION]
            if varied:
                raise ValueError(f"search: {varied[0]} is varied, and cycles of different runs are not comparable")
            if not axes:
                raise ValueError("search: there is no [grid] to search")
        elif (count := prod(map(len, axes.values()))) > _MOST:
            raise ValueError(f"{count:,} points are too many: at most {_MOST:,}")

    def study(self) -> SweepStudy:
        """Return the study. Points of one that searches are made when they are chosen."""
        axes = {name: [_checked(name, each.shown[name]) for each in choices] for name, choices in self._axes.items()}
        points: tuple[StudyPoint, ...] = ()
        if self._search is None:
            # Entries of [[points]] vary last.
            listed = next(iter(self._listed.values()), [_Choice()])
            chosen = itertools.product(listed, *self._grid.values())
            points = tuple(self._point((*in_grid, entry)) for entry, *in_grid in chosen)
            axes = {name: list(dict.fromkeys(each.values[name] for each in points)) for name in self._axes}
        return SweepStudy(
            name=self._name,
            title=self._title,
            axes=axes,
            points=points,
            search=self._search,
            point_at=lambda places: self._point(
                [choices[place] for choices, place in zip(self._axes.values(), places, strict=True)]
            ),
        )

    def _point(self, chosen: Sequence[_Choice]) -> StudyPoint:
        """Return a point, with the resolved values of its parameters."""
        shown = {name: value for each in chosen for name, value in each.shown.items()}
        given = self._fixed | {name: value for each in chosen for name, value in each.sets.items()}
        try:
            point = self._asked({name: _checked(name, value) for name, value in given.items()})
        except InputError:
            raise
        except ValueError as error:
            varied = ", ".join(f"{name}={value_text(shown[name])}" for name in self._axes)
            raise ValueError(f"{varied}: {error}" if varied else str(error)) from None
        return StudyPoint(values={name: _shown(name, point, {**given, **shown}) for name in self._names}, point=point)

    def _asked(self, values: dict[str, Any]) -> PointRequest:
        overrides = {name: value for name, value in values.items() if name in _FIELDS or name.startswith(MEMORY)}
        named = {name: self._file(values.get(name, "hc2"), name) for name in ("config", "memory")}
        options = {name: value for name, value in values.items() if name in _RUN}
        graph = self._graph(values)
        # The record's folder is set when the point is made.
        given: dict[str, Any] = {"algorithm": "bfs", **options, **named, "record": graph.label}
        spec = RunSpec(**given, graph=graph.label, overrides=Overrides.of(overrides), threads=1).checked()
        return PointRequest(graph=graph, spec=spec)

    def _file(self, name: Any, parameter: str) -> str:
        """Return the name of a configuration or memory; paths of files are relative to the study's folder."""
        if not isinstance(name, str):
            raise ValueError(f"{parameter} must be a string, not {name!r}")
        rules = rules_file(name)
        if rules is None:
            return str((self._folder / name).resolve()) if name.endswith(".toml") else name
        file = (self._folder / rules).resolve()
        text = f"{file}{name.removeprefix(rules)}"
        # The reader of profiles refuses the others.
        return GivenText(text) if file in self._rules else text

    def _graph(self, values: dict[str, Any]) -> GraphSpec | GraphFile:
        given = {name: values[name] for name in _GRAPH if name in values}
        if "graph" in values:
            if given:
                raise ValueError(f"graph is a file, and {next(iter(given))} is of one that is generated")
            if not isinstance(values["graph"], str):
                raise ValueError(f"graph must be a file or a table, not {values['graph']!r}")
            path = self._folder / values["graph"]
            if path not in self._graphs:
                self._graphs[path] = GraphFile.of(path)
                check_graph(path, undirected=values.get("undirected", False), on_note=notice)
            return self._graphs[path]
        for name in ("graph.vertices", "graph.degree"):
            if name not in given:
                raise ValueError(f"{name} is missing: a graph is a file, or has vertices and degree")
        return GraphSpec(
            kind=given.get("graph.kind", "random"),
            vertices=given["graph.vertices"],
            degree=given["graph.degree"],
            seed=given.get("graph.seed", 0),
        )


def _grid(table: Mapping[str, Any]) -> dict[str, list[_Choice]]:
    """Return the axes of the grid with their values."""
    axes: dict[str, list[_Choice]] = {}
    for name, values in _flat(table, ranges=True).items():
        if not isinstance(values, list) or not values:
            raise ValueError(f"grid: {name} must be a list of values, not {values!r}")
        axes[name] = [
            _graph_choice(_flat(value, "graph."))
            if name == "graph" and isinstance(value, dict)
            else _Choice(shown={name: value}, sets={name: value})
            for value in values
        ]
    return axes


def _graph_choice(table: dict[str, Any]) -> _Choice:
    """Return a graph that is a table, of a file or of what is generated."""
    if not table:
        raise ValueError("grid: a table of graph is empty")
    table = {name: _checked(name, value) for name, value in table.items()}
    return _Choice(shown={"graph": table.get("graph") or graph_text(table)}, sets=table)


def _entries(entries: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[_Choice]]:
    """Return the entries of ``[[points]]`` as the values of an axis: a parameter, or `VARIANT` if they set several."""
    choices = []
    for entry in entries:
        values = _flat({key: value for key, value in entry.items() if key != "name"})
        graph = {key: value for key, value in values.items() if key in _GRAPH}
        if len(graph) > 1 and "graph" not in values:
            # The parameters of a graph form one value, not separate axes.
            table, kept = _graph_choice(graph), {key: value for key, value in values.items() if key not in graph}
            choices.append(_Choice(shown={**table.shown, **kept}, sets={**table.sets, **kept}))
        else:
            choices.append(_Choice(shown=dict(values), sets=values))
    only = {key for each in choices for key in each.shown}
    if len(only) == 1 and all(each.shown for each in choices) and not any("name" in each for each in entries):
        return {only.pop(): choices}
    for each, name in zip(choices, names, strict=True):
        text = ", ".join(f"{key}={value_text(value)}" for key, value in each.shown.items())
        each.shown[VARIANT] = name or text or "as it is"
    return {VARIANT: choices} if choices else {}


def _flat(table: Mapping[str, Any], prefix: str = "", *, ranges: bool = False) -> dict[str, Any]:
    """Return the values of nested tables by dotted names; with `ranges`, those are lists."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = prefix + key
        if ranges and _is_range(value):
            value = range_values(name, value)
        nested = isinstance(value, dict)
        inner = _flat(value, f"{name}.", ranges=ranges) if nested else {_ALIASES.get(name, name): value}
        for each, what in inner.items():
            if each in found:
                raise ValueError(f"{each} is given twice")
            found[each] = what
    return found


def _checked(name: str, value: Any) -> Any:
    """Return the checked value of an option; configuration and memory check their own parameters."""
    option = _OPTIONS.get(name)
    return value if option is None else option.checked(name, value)


def _shown(name: str, point: PointRequest, given: Mapping[str, Any]) -> Any:
    """Return a parameter's value for tables: those of machine, memory and graph are resolved."""
    if name in _FIELDS:
        return getattr(point.spec.configuration, name)
    if name.startswith(MEMORY):
        return getattr(point.spec.profile, name.removeprefix(MEMORY), None)
    if name in _GRAPH:
        return getattr(point.graph, name.removeprefix("graph.")) if isinstance(point.graph, GraphSpec) else None
    value = given.get(name)
    return value if value is None or name in ("graph", VARIANT) else _checked(name, value)
