"""Table 1 of Wijs, Katoen and Bošnački 2014: decompositions of the graphs of Markov decision processes."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from host.measuring.graphs import ModelSpec
from host.measuring.measurements import Measurements
from host.measuring.requests import Measured, Request
from host.measuring.setting import processor_name
from host.measuring.software import SoftwareRequest
from host.results.plots import BLUE, GREEN, ORANGE, PURPLE, SKY, add_legend, panel_grid
from host.results.table_text import markdown_table
from host.results.version import version
from host.studies.reproduction import Report
from host.words import place

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "BEST",
    "CONFIGURATIONS",
    "MODELS",
    "TABLE1",
    "TARJAN",
    "Chosen",
    "how_asked",
    "models_document",
    "sizes_text",
    "table1_document",
    "table1_figure",
    "table1_markdown",
    "table1_report",
]

CONFIGURATIONS: dict[str, dict[str, int]] = {
    "F0,1": {"segment": 1},
    "F0,7": {"segment": 7},
    "F3,1": {"cached": 3, "segment": 1},
    "F3,7": {"cached": 3, "segment": 7},
    "F0,1-nh": {"segment": 1, "no-hybrid": 1},
}
"""Configurations by the paper's names, as options of ``fbt``."""


BEST = "F0,7"
"""The configuration of table 2."""


class Published(NamedTuple):
    """A row of table 1."""

    model: str
    states: float
    """Millions."""
    transitions: float
    """Millions."""
    degree: float
    """Average out-degree."""
    components: str
    """As it is printed."""
    tarjan: float
    """Seconds."""
    fbt: tuple[float, ...]
    """Seconds, one for each of `CONFIGURATIONS`."""


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
"""The rows, from the top."""


class Chosen(NamedTuple):
    """A model of the table."""

    name: str
    """Name in the table."""
    family: str
    """Its family, of `host.mdp.families.FAMILIES`."""
    sizes: dict[str, int]
    """Its sizes."""
    quick: dict[str, int]
    """Those of a small one."""
    like: str
    """The paper's models whose shape it has: how many components there are, and how trimming finds them."""

    def spec(self, *, quick: bool, seed: int) -> ModelSpec:
        """Return the model that is measured; `seed` is that of models that are drawn at random."""
        sizes = self.quick if quick else self.sizes
        drawn = {"seed": seed} if self.family in _DRAWN else {}
        return ModelSpec(family=self.family, sizes=tuple((sizes | drawn).items()))


def sizes_text(rows: Iterable[dict[str, Any]]) -> str:
    """Return a line of Markdown for each model of a table: its family, and the sizes of that."""
    return "\n".join(
        f"- {row['model']}: {row['family']}, " + ", ".join(f"{name} {size:,}" for name, size in row["sizes"].items())
        for row in rows
    )


_DRAWN = ("random", "islands")
"""Families that have a seed."""

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
"""Sizes are such that on two cores each takes some seconds at most."""


TARJAN = "tarjan"
"""Name of the series that the others are compared with."""


def models_document(
    measurements: Measurements,
    figure: str,
    models: Sequence[Chosen],
    asked: Callable[[ModelSpec, dict[str, Any]], dict[str, Request]],
    shown: Callable[[dict[str, Measured]], tuple[dict[str, Any], Any]],
    *,
    quick: bool,
    device: str,
    threads: int,
    seed: int,
) -> dict[str, Any]:
    """Measure a table: for each model some requests by series, and fields of its row and counts made of the results."""
    specs = [chosen.spec(quick=quick, seed=seed) for chosen in models]
    requests = [asked(spec, {"threads": threads, "device": device}) for spec in specs]
    results = measurements.measure(each for own in requests for each in own.values())
    rows = []
    for chosen, spec, own in zip(models, specs, requests, strict=True):
        found = {name: results[request] for name, request in own.items()}
        fields, counts = shown(found)
        rows.append(
            {
                "model": chosen.name,
                "family": spec.family,
                "sizes": dict(spec.sizes),
                "like": chosen.like,
                **fields,
                "seconds": {name: each["seconds"] for name, each in found.items()},
                "counts": counts,
            }
        )
    return {
        "figure": figure,
        "version": version(),
        "seed": seed,
        "device": device,
        "threads": threads,
        "processor": processor_name(),
        "rows": rows,
    }


def table1_document(
    measurements: Measurements, *, models: Sequence[Chosen] = MODELS, seed: int, **how: Any
) -> dict[str, Any]:
    """Measure the table, and return it as a JSON document.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    models : sequence of Chosen
        The models.
    seed : int
        Of models that are drawn at random.
    **how
        ``quick``, whether models are small; ``device`` where ``fbt`` runs, and the ``threads`` that it may use.

    Returns
    -------
    dict
        ``rows``: ``model``, ``family``, ``sizes``, ``like`` (the paper's models of that shape), ``vertices``,
        ``edges``, ``degree``, ``components``, ``seconds`` by series (``tarjan`` or a configuration), and ``counts`` by
        configuration; and what was run.

    Raises
    ------
    InputError, SimulationError
        A measurement failed.
    """

    def asked(model: ModelSpec, where: dict[str, Any]) -> dict[str, Request]:
        return {
            TARJAN: SoftwareRequest(graph=model, algorithm=TARJAN, threads=1),
            **{
                name: SoftwareRequest(graph=model, algorithm="fbt", seed=seed, options=tuple(options.items()), **where)
                for name, options in CONFIGURATIONS.items()
            },
        }

    def shown(found: dict[str, Measured]) -> tuple[dict[str, Any], Any]:
        vertices, edges, components = (found[TARJAN][name] for name in ("vertices", "edges", "components"))
        sizes = {"vertices": vertices, "edges": edges, "degree": edges / vertices, "components": components}
        return sizes, {name: found[name]["counts"] for name in CONFIGURATIONS}

    return models_document(measurements, "wijs-table1", models, asked, shown, seed=seed, **how)


_COUNTS = ("rounds", "pivots", "trimming_rounds", "search_iterations", "passes", "edges")


_HEAD = ["model", "\\|V\\|", "\\|E\\|", "out", "components", "Tarjan", *CONFIGURATIONS]


def _times(rows: Iterable[dict[str, Any]]) -> str:
    cells = [
        [
            row["model"],
            f"{row['vertices']:,}",
            f"{row['edges']:,}",
            f"{row['degree']:.2f}",
            f"{row['components']:,}",
            *(f"{row['seconds'][name]:.3f}" for name in (TARJAN, *CONFIGURATIONS)),
        ]
        for row in rows
    ]
    return markdown_table(_HEAD, cells)


def _published() -> str:
    cells = []
    for row in TABLE1:
        sizes = (f"{row.states:.1f}M", f"{row.transitions:.1f}M", f"{row.degree:.2f}", row.components)
        cells.append([row.model, *sizes, *(f"{seconds:.2f}" for seconds in (row.tarjan, *row.fbt))])
    return markdown_table(_HEAD, cells)


def _ratios(row: dict[str, Any]) -> list[float]:
    """Return the speed-up of each configuration over Tarjan's algorithm."""
    return [row["seconds"][TARJAN] / row["seconds"][name] for name in CONFIGURATIONS]


def _speed_ups(rows: Iterable[dict[str, Any]]) -> str:
    head = ["model", "shape of", *CONFIGURATIONS]
    ours = [[row["model"], row["like"], *(f"{ratio:.2f}" for ratio in _ratios(row))] for row in rows]
    theirs = [[f"paper: {row.model}", "", *(f"{row.tarjan / seconds:.2f}" for seconds in row.fbt)] for row in TABLE1]
    return markdown_table(head, [*ours, *theirs], words=2)


def _counts(rows: Iterable[dict[str, Any]]) -> str:
    head = ["model", "configuration", *(name.replace("_", " ") for name in _COUNTS)]
    cells = [
        [row["model"], name, *(f"{counts[each]:,}" for each in _COUNTS)]
        for row in rows
        for name, counts in row["counts"].items()
    ]
    return markdown_table(head, cells, words=2)


def table1_markdown(document: dict[str, Any]) -> str:
    """Return the table as Markdown: times, the paper's, both as speed-ups over Tarjan, and what ``fbt`` counts.

    Parameters
    ----------
    document : dict
        What `table1_document` returned.
    """
    rows = document["rows"]
    where = place(document["device"], document["threads"])
    return "\n".join(
        [
            "# Table 1 of Wijs et al. 2014: components of graphs of models\n\n"
            f"Seconds, the best of three runs. Tarjan: one thread of {document['processor']}; `fbt`: {where}.\n"
            "The models are of families of our own. The paper's are PRISM's, on an Intel E5-2620 at 2 GHz and an\n"
            "NVIDIA K20m.\n",
            "## Here\n",
            _times(rows),
            "## In the paper\n",
            _published(),
            "## Speed-up over Tarjan\n",
            _speed_ups(rows),
            "## What was done\n",
            _counts(rows),
            f"## The models\n\n{sizes_text(rows)}\n",
        ]
    )


_WIDTH = 0.16


def table1_figure(document: dict[str, Any]) -> "Figure":
    """Return a panel of each side: for each model a bar of each configuration.

    Parameters
    ----------
    document : dict
        What `table1_document` returned.
    """
    sides = {
        f"here: {document['device']}": {row["model"]: _ratios(row) for row in document["rows"]},
        "paper: NVIDIA K20m": {
            row.model.partition(".")[0]: [row.tarjan / seconds for seconds in row.fbt] for row in TABLE1
        },
    }
    figure, panels = panel_grid(list(sides), row=4.2)
    for axes, models in zip(panels, sides.values(), strict=True):
        for number, (name, colour) in enumerate(zip(CONFIGURATIONS, (BLUE, ORANGE, GREEN, PURPLE, SKY), strict=True)):
            axes.bar(
                [model + (number - 2) * _WIDTH for model in range(len(models))],
                [values[number] for values in models.values()],
                _WIDTH,
                color=colour,
                label=name,
            )
        axes.set_xticks(range(len(models)), list(models), rotation=40, ha="right")
        axes.set_yscale("log")
        axes.axhline(1, color="0.5", linewidth=1)
        axes.set_ylabel("speed-up over Tarjan")
    add_legend(figure, len(CONFIGURATIONS))
    return figure


def how_asked(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return how options ask for a table to be measured."""
    return {name: getattr(arguments, name) for name in ("quick", "device", "threads", "seed")}


def table1_report(measurements: Measurements, arguments: argparse.Namespace) -> Report:
    """Measure the table that options ask for, and return it."""
    document = table1_document(measurements, **how_asked(arguments))
    return Report(document=document, markdown=table1_markdown(document), figure=table1_figure(document))
