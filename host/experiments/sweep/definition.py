"""Studies: the parameters that a sweep varies, read from a TOML file."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from math import log, prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec, graph_text
from cyscc.host.experiments.sweep.measures import SUFFIX
from cyscc.host.experiments.sweep.points import SweepPoint
from cyscc.host.experiments.sweep.space import SearchOptions, range_values, search_options
from cyscc.host.graph.formats import check_graph
from cyscc.host.graph.kinds import KINDS, KINDS_BY_DEGREE
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import reason
from cyscc.host.specification.overrides import MEMORY, Overrides, toml_text
from cyscc.host.specification.run import ALGORITHMS, Option, RunSpec, run_options
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.documents import DocumentError, read_toml
from cyscc.sim.notices import notice
from cyscc.sim.trust import GivenText, rules_file

__all__ = [
    "VARIANT",
    "StudyPoint",
    "SweepStudy",
    "is_logarithmic",
    "is_ordered",
    "is_wide",
    "line_study",
    "read_study",
    "value_text",
]

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
    point : SweepPoint
        The run.
    """

    values: dict[str, Any]
    point: SweepPoint


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
        there is no such machine. Only for a study that searches.
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
        document = read_toml(path)
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", path=path) from None
    except DocumentError as error:
        raise InputError(str(error), path=path) from None
    try:
        return _Reader(path.parent, path.stem, document, rules).study()
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
        raise ValueError(f"nothing varies: {several}, or is a study: a file that ends in {SUFFIX}")
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
        rest = dict(document)
        self._title = rest.pop("title", self._name)
        if not isinstance(self._title, str):
            raise ValueError(f"title must be a string, not {self._title!r}")
        grid, entries = rest.pop("grid", {}), rest.pop("points", [])
        self._search = search_options(rest.pop("search")) if "search" in rest else None
        if not isinstance(grid, dict):
            raise ValueError("grid must be a table: [grid]")
        if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
            raise ValueError("points must be a list of tables: [[points]]")
        self._fixed = _flat(rest)
        self._grid = _flat(_listing(grid))
        for name, values in self._grid.items():
            if not isinstance(values, list) or not values:
                raise ValueError(f"grid: {name} must be a list of values, not {values!r}")
        self._tables: dict[str, dict[str, Any]] = {}  # tables of graphs, by their display names
        if "graph" in self._grid:
            self._grid["graph"] = [self._named(value) for value in self._grid["graph"]]
        self._axes: dict[str, list[Any]] = dict(self._grid)
        self._entries = self._listed(entries)
        self._graphs: dict[Path, GraphFile] = {folder / name: file for name, file in graphs.items()}
        self._check()

    def _listed(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the entries of ``[[points]]``, each with a name if they set several parameters."""
        listed = []
        for entry in entries:
            name = entry.get("name")
            values = _flat({key: value for key, value in entry.items() if key != "name"})
            parts = {key: values[key] for key in _GRAPH if key in values}
            if len(parts) > 1 and "graph" not in values:
                # The parameters of a graph form one value, not separate axes.
                kept = {key: value for key, value in values.items() if key not in parts}
                values = {"graph": self._called(parts), **kept}
            text = ", ".join(f"{key}={value_text(value)}" for key, value in values.items())
            if name is not None and not isinstance(name, str):
                raise ValueError(f"points: name must be a string, not {name!r}")
            listed.append({**values, VARIANT: name or text or "as it is"})
        if not listed:
            return [{}]
        only = {key for values in listed for key in values if key != VARIANT}
        if (
            len(only) == 1
            and all(len(values) == 2 for values in listed)
            and not any("name" in each for each in entries)
        ):
            (axis,) = only
            listed = [{axis: values[axis]} for values in listed]
        else:
            axis = VARIANT
        self._axes[axis] = [values[axis] for values in listed]
        return listed

    def _named(self, value: Any) -> Any:
        """Return the name of a graph in the grid: the file as given, or the display name of a table."""
        if not isinstance(value, dict):
            return value
        table = _flat(value, "graph.")
        if not table:
            raise ValueError("grid: a table of graph is empty")
        return table["graph"] if list(table) == ["graph"] else self._called(table)

    def _called(self, table: dict[str, Any]) -> str:
        """Return the display name of a graph's table, and register the table by it."""
        if "graph" in table:
            other = next(name for name in table if name != "graph")
            raise ValueError(f"graph is a file, and {other} is of one that is generated")
        checked = {name: _checked(name, value) for name, value in table.items()}
        text = graph_text(checked)
        self._tables[text] = checked
        return text

    def _table(self, graph: Any) -> dict[str, Any]:
        """Return the table registered by a graph's name; empty for a file."""
        return self._tables.get(graph, {}) if isinstance(graph, str) else {}

    def _check(self) -> None:
        """Refuse unknown parameters, parameters set twice, and repeated values."""
        listed = {key for each in self._entries for key in (*each, *self._table(each.get("graph")))} - {VARIANT}
        within = {key for value in self._grid.get("graph", ()) for key in self._table(value)}
        for name in (*self._fixed, *self._grid, *sorted(within | listed)):
            _check_name(name)
            if sum((name in self._grid, name in within, name in self._fixed or name in listed)) > 1:
                raise ValueError(f"{name} is in the grid, and has another value besides")
        for name, values in self._axes.items():
            for place, value in enumerate(values):
                if value in values[:place] and type(value) in map(type, values[:place]):
                    raise ValueError(f"{name}: {value_text(value)} is given twice")
        if self._search is not None:
            varied = [name for name in self._axes if name in _QUESTION]
            if varied:
                raise ValueError(f"search: {varied[0]} is varied, and cycles of different runs are not comparable")
            if not self._axes:
                raise ValueError("search: there is no [grid] to search")
            return
        count = prod(len(values) for values in self._grid.values()) * len(self._entries)
        if count > _MOST:
            raise ValueError(f"{count:,} points are too many: at most {_MOST:,}")

    def study(self) -> SweepStudy:
        """Return the study."""
        listed = [name for values in self._entries for name in values]
        tables = [name for table in self._tables.values() for name in table]
        names = list(dict.fromkeys((*self._axes, *listed, *tables, *self._fixed)))
        if self._search is not None:
            return self._searching(names)
        points = tuple(self._point(values, names) for values in self._combined())
        axes = {name: list(dict.fromkeys(each.values[name] for each in points)) for name in self._axes}
        return SweepStudy(name=self._name, title=self._title, axes=axes, points=points)

    def _searching(self, names: list[str]) -> SweepStudy:
        """Return a study that searches; its points are made when they are chosen."""

        def point_at(places: Sequence[int]) -> StudyPoint:
            *in_grid, entry = places if len(places) > len(self._grid) else (*places, 0)
            chosen = {name: self._grid[name][place] for name, place in zip(self._grid, in_grid, strict=True)}
            combined = {**self._fixed, **chosen, **self._entries[entry]}
            return self._point({**combined, **self._table(combined.get("graph"))}, names)

        axes = {name: [_checked(name, value) for value in values] for name, values in self._axes.items()}
        return SweepStudy(
            name=self._name, title=self._title, axes=axes, points=(), search=self._search, point_at=point_at
        )

    def _combined(self) -> Iterator[dict[str, Any]]:
        for entry in self._entries:
            for values in itertools.product(*self._grid.values()):
                combined = {**self._fixed, **dict(zip(self._grid, values, strict=True)), **entry}
                yield {**combined, **self._table(combined.get("graph"))}

    def _point(self, given: dict[str, Any], names: list[str]) -> StudyPoint:
        """Return a point, with the resolved values of its parameters."""
        varied = ", ".join(f"{name}={value_text(given[name])}" for name in self._axes)
        try:
            named = [VARIANT, *(["graph"] if self._table(given.get("graph")) else [])]
            values = {name: _checked(name, value) for name, value in given.items() if name not in named}
            point = self._asked(values)
        except InputError:
            raise
        except ValueError as error:
            raise ValueError(f"{varied}: {error}" if varied else str(error)) from None
        shown = {name: _shown(name, point, given) for name in names}
        return StudyPoint(values=shown, point=point)

    def _asked(self, values: dict[str, Any]) -> SweepPoint:
        overrides = {name: value for name, value in values.items() if name in _FIELDS or name.startswith(MEMORY)}
        named = {name: self._file(values.get(name, "hc2"), name) for name in ("config", "memory")}
        options = {name: value for name, value in values.items() if name in _RUN}
        graph = self._graph(values)
        # The record's folder is set when the point is made.
        given: dict[str, Any] = {"algorithm": "bfs", **options, **named, "record": graph.label}
        spec = RunSpec(**given, graph=graph.label, overrides=Overrides.of(overrides), threads=1).checked()
        return SweepPoint(graph=graph, spec=spec)

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


def _listing(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a table of the grid with its ranges as lists."""
    listed: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            name = prefix + key
            value = range_values(name, value) if _is_range(value) else _listing(value, f"{name}.")
        listed[key] = value
    return listed


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of nested tables by dotted names."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = prefix + key
        inner = _flat(value, f"{name}.") if isinstance(value, dict) else {_ALIASES.get(name, name): value}
        for each, what in inner.items():
            if each in found:
                raise ValueError(f"{each} is given twice")
            found[each] = what
    return found


def _checked(name: str, value: Any) -> Any:
    """Return the checked value of an option; configuration and memory check their own parameters."""
    option = _OPTIONS.get(name)
    return value if option is None else option.checked(name, value)


def _shown(name: str, point: SweepPoint, given: Mapping[str, Any]) -> Any:
    """Return a parameter's value for tables: those of machine, memory and graph are resolved."""
    if name in _FIELDS:
        return getattr(point.spec.configuration, name)
    if name.startswith(MEMORY):
        return getattr(point.spec.profile, name.removeprefix(MEMORY), None)
    if name in _GRAPH:
        return getattr(point.graph, name.removeprefix("graph.")) if isinstance(point.graph, GraphSpec) else None
    value = given.get(name)
    return value if value is None else _checked(name, value)
