"""Tables 1 and 2 of Wijs, Katoen and Bošnački 2014: components and maximal end components of decision processes."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from cyscc.host.answer import charts
from cyscc.host.answer.charts import Figure
from cyscc.host.answer.colours import BLACK, BLUE, GREEN, ORANGE, PURPLE
from cyscc.host.baselines.mdp.families import FAMILIES
from cyscc.host.experiments.measuring.graphs import ModelSpec
from cyscc.host.experiments.plan.request import Measured
from cyscc.host.experiments.sheets import sheet_of
from cyscc.host.experiments.studies.rows import PAPERS, printed
from cyscc.host.experiments.studies.study import Case, Point, SoftwareStudy
from cyscc.host.specification.ask import SpecError


@dataclass(frozen=True, eq=False)
class Chosen:
    """A model that is measured in place of the paper's."""

    name: str
    """Name in the tables."""
    family: str
    """Its family, one of `cyscc.host.baselines.mdp.families.FAMILIES`."""
    like: str
    """The paper's models of similar structure: in the number of components, and in how trimming finds them."""
    sizes: dict[str, int]
    """Its sizes, such that it takes at most some seconds on two cores."""
    quick: dict[str, int]
    """Sizes of a small variant."""

    def spec(self, *, quick: bool, seed: int) -> ModelSpec:
        """Return the specification of the model; `seed` is used by random models only."""
        sizes = self.quick if quick else self.sizes
        drawn = {"seed": seed} if "seed" in FAMILIES[self.family].sizes else {}
        return ModelSpec(family=self.family, sizes=tuple((sizes | drawn).items()))


MODELS = msgspec.toml.decode((PAPERS / "wijs-models.toml").read_bytes(), type=dict[str, list[Chosen]])["models"]
"""The models."""

TARJAN, *CONFIGURATIONS = sheet_of("wijs-table1").contenders
"""Name of the baseline, and the configurations of ``fbt`` by their names in the paper."""

BEST = "F0,7"
"""The configuration of table 2."""


def _published() -> list[Point]:
    """Return the rows of table 1, with those of table 2 beside them; ``seconds`` has the times of both by series."""
    rows = []
    for row, mecs in zip(
        printed("wijs-table1", texts=("model", "components")), printed("wijs-table2", texts=("model",)), strict=True
    ):
        fbt = [row.pop(name) for name in CONFIGURATIONS]
        seconds = dict(zip((TARJAN, *CONFIGURATIONS), (row[TARJAN], *fbt), strict=True))
        rows.append(
            {**row, "fbt": fbt, "seconds": seconds, "mecs": {**mecs, TARJAN: row[TARJAN], "fbt": seconds[BEST]}}
        )
    return rows


PUBLISHED = _published()
"""The paper's rows; ``mecs`` has the times of table 2, and those of the component algorithms beside it."""


def _models(rows: Sequence[Point]) -> list[Point]:
    """Return the families and sizes of the models of a document."""
    sizes = [", ".join(f"{name} {size:,}" for name, size in row["sizes"].items()) for row in rows]
    return [
        {"model": row["model"], "family": row["family"], "like": row["like"], "sizes": text}
        for row, text in zip(rows, sizes, strict=True)
    ]


def _ratios(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the speed-up of each configuration over Tarjan's algorithm."""
    return {name: seconds[TARJAN] / seconds[name] for name in CONFIGURATIONS}


def _speed_up_figure(
    document: dict[str, Any], part: str, speed_ups: Callable[[Mapping[str, float]], dict[str, float]], over: str
) -> Figure:
    """Return a panel of our results and one of the paper's: for each model, a mark of each series.

    Parameters
    ----------
    document : dict
        The document.
    part : str
        Field of the paper's rows that has the seconds by series.
    speed_ups : callable
        Returns the speed-ups of a model by series, given the seconds.
    over : str
        What they are the speed-up over.
    """
    # The paper's names of models have sizes behind a point.
    paper = {row["model"].partition(".")[0]: speed_ups(row[part]) for row in PUBLISHED}
    ours = {row["model"]: speed_ups(row["seconds"]) for row in document["rows"]}
    parts = []
    for name, models in ((f"here: {document['device']}", ours), ("paper: NVIDIA K20m", paper)):
        frame = charts.frame_of(list(models.values())).set_axis(list(models))
        looks = charts.points_of(frame, (BLUE, ORANGE, GREEN, PURPLE, BLACK))
        parts.append(charts.rows_panel(name, frame, looks, f"speed-up over {over}", one="x"))
    return charts.panels(parts)


def _mec_ratios(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the speed-ups of ``parallel`` over ``basic``, and of their component algorithms."""
    return {
        "end components: parallel over basic": seconds["basic"] / seconds["parallel"],
        "components: fbt over Tarjan": seconds[TARJAN] / seconds["fbt"],
    }


def _quotients(model: str, seconds: Mapping[str, float]) -> Point:
    """Return a row of seconds, with ratios that do not depend on the speed of the machine."""
    basic, parallel = seconds["basic"], seconds["parallel"]
    quotients = {"of_tarjan": basic / seconds[TARJAN], "of_fbt": parallel / seconds["fbt"]}
    return {"model": model, "basic": basic, "parallel": parallel, "speed_up": basic / parallel, **quotients}


@dataclass(frozen=True, kw_only=True)
class _Models(SoftwareStudy):
    """A table of results on models.

    The rows of its document have ``model``, ``family``, ``sizes``, ``like`` (the paper's models of similar structure),
    ``seconds`` by contender, and ``counts``.

    Parameters
    ----------
    models : tuple of str, optional
        Names of the models, of `MODELS`; by default all.
    quick : bool
        Whether to use the small variants.
    """

    models: tuple[str, ...] | None = None
    quick: bool = False

    @property
    def where(self) -> dict[str, Any]:
        """Device and threads of ``fbt``."""
        return {"device": self.device, "threads": self.threads}

    def cases(self) -> Iterator[Case]:
        """Yield the selected models.

        Raises
        ------
        SpecError
            A name is unknown.
        """
        known = {chosen.name: chosen for chosen in MODELS}
        for name in dict.fromkeys(self.models or known):
            if name not in known:
                raise SpecError("models", f"unknown model {name!r}: there are {', '.join(known)}")
            spec = known[name].spec(quick=self.quick, seed=self.seed)
            about = {"family": spec.family, "sizes": dict(spec.sizes), "like": known[name].like}
            yield Case({"model": name, **about}, self.requests(spec))

    def points(self, case: Case, found: dict[str, Measured]) -> Iterator[Point]:
        """Yield the row of a model."""
        yield {**self.shown(found), "seconds": {name: each["seconds"] for name, each in found.items()}}

    @abstractmethod
    def shown(self, found: dict[str, Measured]) -> Point:
        """Return sizes and counters of a model, given its results."""


class Table1(_Models):
    """Table 1: components of the models' graphs, by Tarjan's algorithm and by each configuration of ``fbt``.

    Rows also have ``vertices``, ``edges``, ``degree`` and ``components``; ``counts`` are by configuration.
    """

    figure_of = staticmethod(partial(_speed_up_figure, part="seconds", speed_ups=_ratios, over="Tarjan"))

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        rows = document["rows"]
        paper = [{name: value for name, value in row.items() if name != "mecs"} for row in PUBLISHED]
        speed_ups = [{"model": row["model"], "like": row["like"], **_ratios(row["seconds"])} for row in rows]
        speed_ups += [{"model": f"paper: {row['model']}", **_ratios(row["seconds"])} for row in paper]
        counts = [
            {"model": row["model"], "configuration": name, **each}
            for row in rows
            for name, each in row["counts"].items()
        ]
        return {"rows": rows, "paper": paper, "speed_ups": speed_ups, "counts": counts, "models": _models(rows)}

    def shown(self, found: dict[str, Measured]) -> Point:
        """Return sizes and counters of a model, given its results."""
        sizes = {name: found[TARJAN][name] for name in ("vertices", "edges", "components")}
        counts = {name: found[name]["counts"] for name in CONFIGURATIONS}
        return {**sizes, "degree": sizes["edges"] / sizes["vertices"], "counts": counts}


class Table2(_Models):
    """Table 2: maximal end components of the models, by the basic and by the parallel algorithm.

    Rows also have ``states``, ``choices``, ``transitions``, ``components``, ``mecs``, ``in_mecs`` (states), ``rounds``,
    and the ``counts`` of ``parallel``. The contenders are ``basic`` and ``parallel``, and the component algorithms of
    their rounds, ``tarjan`` and ``fbt``, which here decompose the whole graph once.
    """

    figure_of = staticmethod(
        partial(_speed_up_figure, part="mecs", speed_ups=_mec_ratios, over="the sequential algorithm")
    )

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        rows = document["rows"]
        times = [_quotients(row["model"], row["seconds"]) for row in rows]
        times += [_quotients(f"paper: {row['model']}", row["mecs"]) for row in PUBLISHED]
        counts = [{"model": row["model"], **row["counts"]} for row in rows]
        return {"rows": rows, "times": times, "counts": counts, "models": _models(rows)}

    def shown(self, found: dict[str, Measured]) -> Point:
        """Return sizes and counters of a model, given its results."""
        sizes = {name: found["basic"][name] for name in ("states", "choices", "transitions", "mecs", "in_mecs")}
        sizes |= {"components": found[TARJAN]["components"], "rounds": len(found["basic"]["rounds"])}
        return {**sizes, "counts": found["parallel"]["counts"]}
