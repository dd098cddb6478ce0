"""The catalogue of tables and figures for `cyscc reproduce`, defined without slow imports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cyscc.host.baselines.algorithms import PIVOTS
from cyscc.host.experiments.studies.paper import COMPONENT_MACHINES, SEARCH_MACHINES
from cyscc.host.specification.ask import SpecError
from cyscc.host.specification.numbers import number_text, whole_number
from cyscc.sim.configuration import PRESETS
from cyscc.sim.processors import available_cores

if TYPE_CHECKING:
    from cyscc.host.experiments.studies.study import Study

__all__ = ["REPRODUCTIONS", "Reproduction", "study_of"]


@dataclass(frozen=True)
class Reproduction:
    """A table or figure that can be reproduced; its study is imported only when it runs.

    Parameters
    ----------
    title : str
        Its title in the paper.
    text : str
        Its contents.
    study : str
        Module in `cyscc.host.experiments.studies` and class of its `Study`: ``module:Class``.
    options : mapping
        Its options, fields of the study, with their default values.
    quick : mapping
        The values of the study's fields for a quick reproduction; empty if there is none.
    machines : sequence of str
        Machines that it knows.
    """

    title: str
    text: str
    study: str
    options: Mapping[str, Any]
    quick: Mapping[str, Any] = field(default_factory=dict)
    machines: Sequence[str] = ()

    def defaults(self) -> str:
        """Return the options with their defaults: ``--vertices 2^20 --degrees 8,16``."""
        words = ["--quick"] if self.quick else []
        for name, value in self.options.items():
            told = () if value is None else value if isinstance(value, tuple) else (value,)
            texts = map(number_text if name in ("vertices", "max_edges") else str, told)
            words.append(f"--{name.replace('_', '-')} {','.join(texts)}".rstrip())
        return " ".join(words)


_CELLS = "throughput of breadth-first search, 16 cells"
_VERTICES = "throughput against vertices"
_TIME = "time for strongly connected components against degree, by phase"
_SPEED_UP = "speed-up over sequential software against degree"
_LI_DEGREE = "recursion depth against average degree, with and without Partition"
_LI_SOURCES = "recursion depth against the number of Partition's sources"
_LI_TIME = "time and recursion depth beside Tarjan's algorithm"
_LI_GENERATED = "run times on generated graphs, beside those of Barnat's algorithms"
_LI_REAL = "run times on real graphs"
_QUACH_NETWORKS = "concurrent pivots against Tarjan's algorithm, three real networks"
_QUACH = "concurrent pivots against Tarjan's algorithm, G(n, m) graphs"
_HARDWARE = "cycles of the published VHDL, level by level, beside the simulation"
_WIJS = "components of the graphs of Markov decision processes: Tarjan, and fbt in five configurations"
_WIJS_MECS = "maximal end components of Markov decision processes: the basic algorithm, and the parallel one with fbt"

_SIMULATED = {"memory": "hc2", "seed": 1}
_PLACE = {"device": "cpu", "threads": None, "seed": 1}
_PIVOTS = {"pivots": PIVOTS, **_PLACE}


def _grid(vertices: Sequence[int], degrees: Sequence[int], **given: Any) -> dict[str, Any]:
    """Return the options of a figure over graphs of several sizes and degrees."""
    sizes = {"vertices": tuple(1 << power for power in vertices), "degrees": tuple(degrees), "max_edges": 1 << 26}
    return {**sizes, "configs": ("published",), **_SIMULATED, **given}


_SEARCHES = _grid(range(16, 23), (8, 16, 32, 64))
_COMPONENTS = _grid((16, 18, 20, 22), (16, 32, 64, 128, 256))
_SEARCHED, _FOUND = tuple(SEARCH_MACHINES), tuple(COMPONENT_MACHINES)
_PUBLISHED = tuple(name for name, config in PRESETS.items() if config.engines == 1 and config.bfs_kernels == 16)
"""Presets with the number of AEs and kernels of the published hardware that was simulated."""
_SIZE = {"vertices": 100_000, "seed": 1}
_MILLION = {"vertices": (1 << 20,)}
_QUICK = {"quick": True}

REPRODUCTIONS = {
    "table1": Reproduction(
        "Table I",
        _CELLS,
        "searches:Table1",
        {**_MILLION, "configs": ("published", "hc2"), **_SIMULATED},
        quick={"vertices": (1 << 16,)},
        machines=_SEARCHED,
    ),
    "fig10": Reproduction(
        "Figure 10", f"{_VERTICES}, uniform random graphs", "searches:Throughput", _SEARCHES, machines=_SEARCHED
    ),
    "fig11": Reproduction(
        "Figure 11", f"{_VERTICES}, R-MAT graphs", "searches:Throughput", _SEARCHES, machines=_SEARCHED
    ),
    "fig12": Reproduction("Figure 12", _TIME, "components:Times", _COMPONENTS, machines=_FOUND),
    "fig13": Reproduction("Figure 13", _SPEED_UP, "components:SpeedUps", _COMPONENTS, machines=_FOUND),
    "vhdl": Reproduction(
        "Published hardware",
        _HARDWARE,
        "vhdl:PublishedHardware",
        {"configs": ("published-vhdl-1ae",), "graphs": (), "latencies": None, "reference": None, "folder": None},
        quick=_QUICK,
        machines=_PUBLISHED,
    ),
    "li-fig2": Reproduction("Figure 2 of Li et al. 2013", _LI_DEGREE, "li:Degrees", _SIZE),
    "li-fig3": Reproduction("Figure 3 of Li et al. 2013", _LI_SOURCES, "li:Sources", _SIZE),
    "li-table2": Reproduction(
        "Tables 1 and 2 of Li et al. 2013", _LI_TIME, "li:Times", {**_MILLION, "graphs": (), **_PLACE}
    ),
    "li-fig5": Reproduction("Figure 5 of Li et al. 2013", _LI_GENERATED, "li:RunTimes", {**_MILLION, **_PLACE}),
    "li-fig6": Reproduction(
        "Figure 6 of Li et al. 2013", _LI_REAL, "li:RealRunTimes", {"graphs": (), **_PLACE}, quick=_QUICK
    ),
    "quach-table1": Reproduction(
        "Table 1 of Quach et al. 2012", _QUACH_NETWORKS, "quach:Table1", {"graphs": (), **_PIVOTS}
    ),
    "quach-table2": Reproduction(
        "Table 2 of Quach et al. 2012", _QUACH, "quach:Table2", _PIVOTS, quick={"most": 10_000}
    ),
    "wijs-table1": Reproduction("Table 1 of Wijs et al. 2014", _WIJS, "wijs:Table1", _PLACE, quick=_QUICK),
    "wijs-table2": Reproduction(
        "Table 2 of Wijs et al. 2014", _WIJS_MECS, "wijs:Table2", {"models": None, **_PLACE}, quick=_QUICK
    ),
}
"""Tables and figures by name, which is that of their files, too."""

_POWERS = (1 << 4, 1 << 25)


def study_of(figure: str, given: Mapping[str, Any], *, quick: bool = False) -> "Study":
    """Return the study of a table or figure.

    Parameters
    ----------
    figure : str
        Its name.
    given : mapping
        Options that are given; a number or text, or several.
    quick : bool
        Whether it is a quick reproduction.

    Raises
    ------
    SpecError
        It has no such option, or a value is invalid.
    """
    about = REPRODUCTIONS[figure]
    for name in (
        *(["quick"] if quick and not about.quick else []),
        *(each for each in given if each not in about.options),
    ):
        raise SpecError(name, f"{figure} has no such option: it has {about.defaults()}")
    values = {**about.options, **(about.quick if quick else {})}
    for name, value in given.items():
        several = isinstance(about.options[name], tuple) or name in ("models", "latencies")
        values[name] = _checked(name, value, about) if several else value
    if isinstance(about.options.get("vertices"), int):
        values["vertices"] = _single(values["vertices"])
    if "threads" in values:
        values["threads"] = values["threads"] or available_cores()
    module, _, kind = about.study.partition(":")
    found: type[Study] = getattr(import_module(f"cyscc.host.experiments.studies.{module}"), kind)
    named: dict[str, Any] = {"figure": figure} if any(each.name == "figure" for each in fields(found)) else {}
    return found(**values, **named)


def _single(value: Any) -> int:
    """Return the number of vertices of the graphs of a figure."""
    values = [value] if isinstance(value, int) else list(value)
    if len(values) != 1:
        raise SpecError("vertices", "the figure has one number of vertices")
    try:
        return whole_number(str(values[0]), low=10, high=_POWERS[1])
    except ValueError as error:
        raise SpecError("vertices", str(error)) from None


def _checked(name: str, value: Any, about: Reproduction) -> tuple[Any, ...]:
    """Return several values of an option."""
    values = (value,) if isinstance(value, int | str) else tuple(value)
    for place, each in enumerate(values):
        if each in values[:place]:
            raise SpecError(name, f"{each} is given twice")
        if name == "configs" and each not in about.machines:
            raise SpecError(name, f"unknown machine {each!r}: there are {', '.join(about.machines)}")
        if name == "vertices" and (each & (each - 1) or not _POWERS[0] <= each <= _POWERS[1]):
            raise SpecError(name, f"must be powers of two from 2^4 to 2^25, not {each}")
    return values
