"""Tables 1 and 2 of Wijs, Katoen and Bošnački 2014: components and maximal end components of decision processes."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from cyscc.host.answer.answer import Answer, Column, Table
from cyscc.host.experiments.measuring.graphs import ModelSpec
from cyscc.host.experiments.measuring.measurements import Measured, Measurements, Request
from cyscc.host.experiments.measuring.software import MecRequest, SoftwareRequest
from cyscc.host.experiments.studies.study import AS_ITS_PAPER, Columns, Study, table
from cyscc.host.output.figures import (
    BLACK,
    BLUE,
    GREEN,
    MARKERS,
    ORANGE,
    PURPLE,
    add_legend,
    log_axis,
    panel_grid,
    row_axis,
    row_places,
)
from cyscc.host.output.text import device_text
from cyscc.host.runs.environment import processor_name
from cyscc.host.specification.ask import SpecError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CONFIGURATIONS", "MODELS", "TABLE1", "TABLE2", "Table1", "Table2"]

CONFIGURATIONS: dict[str, dict[str, int]] = {
    "F0,1": {"segment": 1},
    "F0,7": {"segment": 7},
    "F3,1": {"cached": 3, "segment": 1},
    "F3,7": {"cached": 3, "segment": 7},
    "F0,1-nh": {"segment": 1, "no-hybrid": 1},
}
"""Configurations by their names in the paper, as options of ``fbt``."""


BEST = "F0,7"
"""The configuration of table 2."""


class Published(NamedTuple):
    """A row of table 1."""

    model: str
    states: float
    """Number of states in millions."""
    transitions: float
    """Number of transitions in millions."""
    degree: float
    """Average out-degree."""
    components: str
    """Number of components, as printed."""
    tarjan: float
    """Time of Tarjan's algorithm in seconds."""
    fbt: tuple[float, ...]
    """Time of ``fbt`` in seconds, for each of `CONFIGURATIONS`."""


TABLE1 = (
    Published("wlan.2500", 12.6, 28.1, 2.23, "12.5M", 6.17, (29.16, 20.71, 119.00, 61.90, 26.73)),
    Published("phil.7", 11.0, 98.5, 8.97, "1", 23.47, (0.70, 0.71, 1.14, 1.18, 0.73)),
    Published("diningcrypt.t.10.(0.5)", 42.9, 279.4, 6.51, "42.9M", 41.42, (1.63, 1.62, 1.74, 1.75, 2.08)),
    Published("test-and-set.7", 51.4, 468.5, 9.12, "4672", 103.92, (30.33, 36.04, 95.67, 92.40, 19.12)),
    Published("leader.7", 68.7, 280.5, 4.08, "42.2M", 68.08, (45.02, 5.35, 110.18, 12.27, 47.84)),
    Published("phil_1ss.5,10", 72.9, 425.6, 5.84, "1", 99.75, (3.28, 3.30, 6.46, 6.34, 3.25)),
    Published("coin.8.3", 87.9, 583.0, 6.63, "5.4M", 135.61, (125.94, 9.10, 582.59, 42.04, 179.00)),
    Published("mutual.7.13", 76.2, 653.7, 8.58, "1", 121.31, (4.08, 3.72, 4.97, 4.66, 4.71)),
    Published("zeroconf_dl.F.200.1k.6", 118.6, 273.5, 2.31, "118.6M", 97.91, (28.63, 6.12, 28.98, 6.23, 28.63)),
    Published("firewire_dl.800.36.(0.2)", 129.3, 293.6, 2.27, "129.3M", 104.07, (26.71, 6.71, 26.97, 6.87, 26.60)),
)
"""Rows of table 1."""


TABLE2 = (
    *((32.33, 21.46), (51.22, 0.73), (140.85, 1.80), (203.50, 36.70), (239.80, 7.48)),
    *((281.32, 3.45), (363.07, 12.63), (302.66, 3.83), (390.05, 6.23), (470.96, 6.90)),
)
"""Rows of table 2, in the order of table 1: seconds of the basic algorithm with Tarjan's on the processor (BM), and of
the parallel one on the graphics processor (GM)."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """A model that is measured in place of the paper's."""

    name: str
    """Name in the tables."""
    family: str
    """Its family, one of `cyscc.host.baselines.mdp.families.FAMILIES`."""
    sizes: dict[str, int]
    """Its sizes."""
    quick: dict[str, int]
    """Sizes of a small variant."""
    like: str
    """The paper's models of similar structure: in the number of components, and in how trimming finds them."""

    def spec(self, *, quick: bool, seed: int) -> ModelSpec:
        """Return the specification of the model; `seed` is used by random models only."""
        sizes = self.quick if quick else self.sizes
        drawn = {"seed": seed} if self.family in _DRAWN else {}
        return ModelSpec(family=self.family, sizes=tuple((sizes | drawn).items()))


_DRAWN = ("random", "islands")
"""Random families, which have a seed."""

MODELS = (
    Chosen("phil", "philosophers", {"philosophers": 7, "risky": 0}, {"philosophers": 4, "risky": 0}, "phil, phil_1ss"),
    Chosen(
        "phil-risky", "philosophers", {"philosophers": 6, "risky": 1}, {"philosophers": 4, "risky": 1}, "test-and-set"
    ),
    Chosen("coin", "coin", {"processes": 5, "bound": 3}, {"processes": 3, "bound": 2}, "coin"),
    Chosen("leader", "leader", {"processes": 7, "numbers": 5, "restart": 0}, {"processes": 4, "numbers": 3}, "leader"),
    Chosen("grid", "grid", {"width": 512, "height": 512, "room": 64}, {"width": 48, "height": 48, "room": 8}, ""),
    Chosen("islands", "islands", {"islands": 100_000}, {"islands": 400}, "mutual"),
    Chosen(
        "random", "random", {"states": 1 << 19, "choices": 3, "transitions": 4}, {"states": 1 << 11}, "phil, mutual"
    ),
    Chosen(
        "walk",
        "random",
        {"states": 1 << 18, "choices": 1, "transitions": 1},
        {"states": 1 << 11, "choices": 1, "transitions": 1},
        "wlan, zeroconf, firewire",
    ),
)
"""The models; sized to take at most some seconds each on two cores."""


TARJAN = "tarjan"
"""Name of the baseline series."""


def _models_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Return the table of the models of a document: their families and sizes."""
    sizes = [", ".join(f"{name} {size:,}" for name, size in row["sizes"].items()) for row in rows]
    shown = [
        {"model": row["model"], "family": row["family"], "like": row["like"], "sizes": text}
        for row, text in zip(rows, sizes, strict=True)
    ]
    return table("the models", shown, {"model": "{}", "family": "{}", "like": Column("shape of"), "sizes": "{}"})


def _ratios(seconds: dict[str, float]) -> dict[str, float]:
    """Return the speed-up of each configuration over Tarjan's algorithm."""
    return {name: seconds[TARJAN] / seconds[name] for name in CONFIGURATIONS}


_SERIES = (TARJAN, *CONFIGURATIONS)
_PUBLISHED = [dict(zip(_SERIES, (row.tarjan, *row.fbt), strict=True)) for row in TABLE1]
"""Seconds by series for the rows of table 1."""

_GRAPH_COLUMNS: Columns = {
    "model": "{}",
    "vertices": Column("|V|", "{:,}"),
    "edges": Column("|E|", "{:,}"),
    "states": Column("|V| (10⁶)", "{:.1f}"),
    "transitions": Column("|E| (10⁶)", "{:.1f}"),
    "degree": Column("out", "{:.2f}"),
    "components": Column(left=False),
    **{f"seconds.{name}": Column("Tarjan" if name == TARJAN else name, "{:.3f}") for name in _SERIES},
}
_COUNTS = ("rounds", "pivots", "trimming_rounds", "search_iterations", "passes", "edges")
_DONE: Columns = {"model": "{}", "configuration": "{}", **dict.fromkeys(_COUNTS, "{:,}")}
_SPEED_UPS: Columns = {"model": "{}", "like": Column("shape of"), **dict.fromkeys(CONFIGURATIONS, "{:.2f}")}
_ORIGIN = (
    "The models are of families of our own. The paper's are PRISM's, on an Intel E5-2620 at 2 GHz and an NVIDIA K20m."
)


def _table1_answer(document: dict[str, Any]) -> Answer:
    """Return times here and in the paper, speed-ups over Tarjan, and the counters of ``fbt``.

    Parameters
    ----------
    document : dict
        The document of `Table1.document`.
    """
    rows = document["rows"]
    paper = [{**row._asdict(), "seconds": seconds} for row, seconds in zip(TABLE1, _PUBLISHED, strict=True)]
    speed_ups = [{"model": row["model"], "like": row["like"], **_ratios(row["seconds"])} for row in rows]
    speed_ups += [{"model": f"paper: {row['model']}", **_ratios(row["seconds"])} for row in paper]
    counts = [
        {"model": row["model"], "configuration": name, **each} for row in rows for name, each in row["counts"].items()
    ]
    return Answer(
        title="Table 1 of Wijs et al. 2014: components of graphs of models",
        facts={
            "Tarjan": f"one thread of {document['processor']}",
            "fbt": device_text(document["device"], document["threads"]),
        },
        said=[f"Seconds are the best of three runs. {_ORIGIN}"],
        tables={
            "rows": table("seconds, here", rows, _GRAPH_COLUMNS),
            "paper": table("seconds, in the paper", paper, _GRAPH_COLUMNS),
            "speed_ups": table("speed-up over Tarjan", speed_ups, _SPEED_UPS),
            "counts": table("what was done", counts, _DONE),
            "models": _models_table(rows),
        },
    )


def _speed_up_figure(sides: dict[str, dict[str, dict[str, float]]], over: str) -> "Figure":
    """Return a panel of our results and one of the paper's: for each model, a point of each series.

    Parameters
    ----------
    sides : dict
        Speed-ups of series by model, by title of the panel.
    over : str
        What they are the speed-up over.
    """
    most = max(map(len, sides.values()))
    figure, panels = panel_grid(list(sides), row=0.8 + 0.45 * most)
    series = list(dict.fromkeys(name for models in sides.values() for values in models.values() for name in values))
    colours = (BLUE, ORANGE, GREEN, PURPLE, BLACK)
    for axes, models in zip(panels, sides.values(), strict=True):
        for number, (name, colour) in enumerate(zip(series, colours, strict=False)):
            axes.plot(
                [values[name] for values in models.values()],
                row_places(len(models), number, len(series)),
                color=colour,
                marker=MARKERS[number],
                linestyle="none",
                label=name,
            )
        row_axis(axes, list(models))
        axes.set_xlabel(f"speed-up over {over}")
        axes.axvline(1, color="0.5", linewidth=1)
        log_axis(axes, "x")
    add_legend(figure, len(series))
    return figure


_PAPER = "paper: NVIDIA K20m"


def _short(model: str) -> str:
    """Return the paper's name of a model without its sizes."""
    return model.partition(".")[0]


def _table1_figure(document: dict[str, Any]) -> "Figure":
    """Return the plot of table 1: speed-ups of all configurations over Tarjan's algorithm.

    Parameters
    ----------
    document : dict
        The document of `Table1.document`.
    """
    sides = {
        f"here: {document['device']}": {row["model"]: _ratios(row["seconds"]) for row in document["rows"]},
        _PAPER: {_short(row.model): _ratios(seconds) for row, seconds in zip(TABLE1, _PUBLISHED, strict=True)},
    }
    return _speed_up_figure(sides, "Tarjan")


def _table2_figure(document: dict[str, Any]) -> "Figure":
    """Return the plot of table 2: speed-ups of ``parallel`` over ``basic``, and those of their component algorithms.

    Parameters
    ----------
    document : dict
        The document of `Table2.document`.
    """
    rows = {row["model"]: row["seconds"] for row in document["rows"]}
    paper = {
        _short(row.model): {"basic": basic, "parallel": parallel, TARJAN: seconds[TARJAN], "fbt": seconds[BEST]}
        for (basic, parallel), row, seconds in zip(TABLE2, TABLE1, _PUBLISHED, strict=True)
    }

    def speed_ups(models: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        return {
            name: {
                "end components: parallel over basic": seconds["basic"] / seconds["parallel"],
                "components: fbt over Tarjan": seconds[TARJAN] / seconds["fbt"],
            }
            for name, seconds in models.items()
        }

    return _speed_up_figure(
        {f"here: {document['device']}": speed_ups(rows), _PAPER: speed_ups(paper)}, "the sequential algorithm"
    )


_MODELS: Columns = {
    "model": "{}",
    "like": Column("shape of"),
    **dict.fromkeys(("states", "choices", "transitions", "components"), "{:,}"),
    "mecs": Column("MECs", "{:,}"),
    "in_mecs": Column("states in MECs", "{:,}"),
    "rounds": "{:,}",
}
_TIMES: Columns = {
    "model": "{}",
    "basic": "{:.3f}",
    "parallel": "{:.3f}",
    "speed_up": Column("speed-up", "{:.2f}"),
    "of_tarjan": Column("basic / Tarjan", "{:.2f}"),
    "of_fbt": Column("parallel / fbt", "{:.2f}"),
}
_STEPS = ("passes", "edges")
_PARALLEL: Columns = {"model": "{}", **dict.fromkeys(_STEPS, "{:,}")}


def _quotients(model: str, basic: float, parallel: float, tarjan: float, fbt: float) -> dict[str, Any]:
    """Return a row of seconds, with ratios that do not depend on the speed of the machine."""
    quotients = {"speed_up": basic / parallel, "of_tarjan": basic / tarjan, "of_fbt": parallel / fbt}
    return {"model": model, "basic": basic, "parallel": parallel, **quotients}


def _table2_answer(document: dict[str, Any]) -> Answer:
    """Return models, times here and in the paper, and the parallel algorithm's counters.

    Parameters
    ----------
    document : dict
        The document of `Table2.document`.
    """
    rows = document["rows"]
    times = [_quotients(row["model"], **row["seconds"]) for row in rows]
    times += [
        _quotients(f"paper: {row.model}", *mecs, seconds[TARJAN], seconds[BEST])
        for mecs, row, seconds in zip(TABLE2, TABLE1, _PUBLISHED, strict=True)
    ]
    counts = [{"model": row["model"], **row["counts"]} for row in rows]
    return Answer(
        title="Table 2 of Wijs et al. 2014: maximal end components",
        facts={
            "basic and Tarjan": f"one thread of {document['processor']}",
            f"parallel and fbt, as {BEST}": device_text(document["device"], document["threads"]),
        },
        said=[
            f"Seconds are the best of three runs. {_ORIGIN}",
            "The last two columns of times divide by the time of one decomposition of the whole graph.",
        ],
        tables={
            "rows": table("results", rows, _MODELS),
            "times": table("times", times, _TIMES),
            "counts": table("what the parallel algorithm did", counts, _PARALLEL),
            "models": _models_table(rows),
        },
    )


@dataclass(frozen=True, kw_only=True)
class _Models(Study):
    """A table of results on models.

    Parameters
    ----------
    models : tuple of str, optional
        Names of the models, of `MODELS`; by default all.
    quick : bool
        Whether to use the small variants.
    device : str
        Device of ``fbt``.
    threads : int
        Most threads of ``fbt``.
    seed : int
        Seed of random models.
    """

    models: tuple[str, ...] | None = None
    quick: bool = False
    device: str
    threads: int

    figure: ClassVar[str]

    def chosen(self) -> list[Chosen]:
        """Return the selected models.

        Raises
        ------
        SpecError
            A name is unknown.
        """
        known = {chosen.name: chosen for chosen in MODELS}
        for name in self.models or ():
            if name not in known:
                raise SpecError("models", f"unknown model {name!r}: there are {', '.join(known)}")
        return [known[name] for name in dict.fromkeys(self.models or known)]

    @property
    def where(self) -> dict[str, Any]:
        """Device and threads of ``fbt``, as fields of a request."""
        return {"threads": self.threads, "device": self.device}

    @abstractmethod
    def asked(self, model: ModelSpec) -> dict[str, Request]:
        """Return the measurements for a model, by series."""

    @abstractmethod
    def shown(self, found: dict[str, Measured]) -> tuple[dict[str, Any], Any]:
        """Return the fields and the counters of a row, given its results."""

    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        specs = {chosen: chosen.spec(quick=self.quick, seed=self.seed) for chosen in self.chosen()}
        requests = {chosen: self.asked(spec) for chosen, spec in specs.items()}
        results = measurements.measure(each for own in requests.values() for each in own.values())
        rows = []
        for chosen, spec in specs.items():
            found = {name: results[request] for name, request in requests[chosen].items()}
            shown, counts = self.shown(found)
            rows.append(
                {
                    "model": chosen.name,
                    "family": spec.family,
                    "sizes": dict(spec.sizes),
                    "like": chosen.like,
                    **shown,
                    "seconds": {name: each["seconds"] for name, each in found.items()},
                    "counts": counts,
                }
            )
        return {
            **self.head(self.figure),
            "device": self.device,
            "threads": self.threads,
            "processor": processor_name(),
            "rows": rows,
        }


class Table1(_Models):
    """Table 1: components of the models' graphs, by Tarjan's algorithm and by each configuration of ``fbt``.

    The ``rows`` of its document have ``model``, ``family``, ``sizes``, ``like`` (the paper's models of similar
    structure), ``vertices``, ``edges``, ``degree``, ``components``, ``seconds`` by series (``tarjan`` or a
    configuration), and ``counts`` by configuration. The parameters are those of all tables of models.
    """

    figure = "wijs-table1"
    answer_of = staticmethod(_table1_answer)
    figure_of = staticmethod(_table1_figure)

    def asked(self, model: ModelSpec) -> dict[str, Request]:
        """Return the measurements for a model, by series."""
        how: dict[str, Any] = {"graph": model, "algorithm": "fbt", "seed": self.seed, "counters": _COUNTS, **self.where}
        return {
            TARJAN: SoftwareRequest(graph=model, algorithm=TARJAN, threads=1),
            **{
                name: SoftwareRequest(options=(*options.items(), *AS_ITS_PAPER), **how)
                for name, options in CONFIGURATIONS.items()
            },
        }

    def shown(self, found: dict[str, Measured]) -> tuple[dict[str, Any], Any]:
        """Return the fields and the counters of a row, given its results."""
        vertices, edges, components = (found[TARJAN][name] for name in ("vertices", "edges", "components"))
        sizes = {"vertices": vertices, "edges": edges, "degree": edges / vertices, "components": components}
        return sizes, {name: found[name]["counts"] for name in CONFIGURATIONS}


class Table2(_Models):
    """Table 2: maximal end components of the models, by the basic and by the parallel algorithm.

    The ``rows`` of its document have ``model``, ``family``, ``sizes``, ``like`` (the paper's models of similar
    structure), ``states``, ``choices``, ``transitions``, ``components``, ``mecs``, ``in_mecs`` (states), ``rounds``,
    ``seconds`` by series, and ``counts`` of ``parallel``. The series are ``basic`` and ``parallel``, and the component
    algorithms of their rounds, ``tarjan`` and ``fbt``, which here decompose the whole graph once. The parameters are
    those of all tables of models.
    """

    figure = "wijs-table2"
    answer_of = staticmethod(_table2_answer)
    figure_of = staticmethod(_table2_figure)

    def asked(self, model: ModelSpec) -> dict[str, Request]:
        """Return the measurements for a model, by series."""
        how: dict[str, Any] = {"options": (*CONFIGURATIONS[BEST].items(), *AS_ITS_PAPER), **self.where}
        return {
            "basic": MecRequest(model=model, algorithm="basic", threads=1),
            "parallel": MecRequest(model=model, algorithm="parallel", counters=_STEPS, **how),
            TARJAN: SoftwareRequest(graph=model, algorithm=TARJAN, threads=1),
            "fbt": SoftwareRequest(graph=model, algorithm="fbt", seed=self.seed, **how),
        }

    def shown(self, found: dict[str, Measured]) -> tuple[dict[str, Any], Any]:
        """Return the fields and the counters of a row, given its results."""
        sizes = {name: found["basic"][name] for name in ("states", "choices", "transitions", "mecs", "in_mecs")}
        sizes |= {"components": found[TARJAN]["components"], "rounds": len(found["basic"]["rounds"])}
        return sizes, found["parallel"]["counts"]
