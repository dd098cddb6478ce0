"""Base classes of studies: tables and figures that are measured, and stand beside those of a paper."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from cyscc.host.answer.answer import Answer, Chart
from cyscc.host.experiments.measuring.software import MecRequest, SoftwareRequest
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.plan.request import Measured, Request
from cyscc.host.experiments.sheets import Contender, Sheet, sheet_of, title_of
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import version
from cyscc.host.output.text import device_text
from cyscc.host.runs.environment import processor_name
from cyscc.host.specification.numbers import number_text
from cyscc.sim.processors import available_cores

if TYPE_CHECKING:
    from cyscc.host.answer.charts import Figure

Point = dict[str, Any]
"""A point of a figure, or a row or cell of a table, in a study's document."""


class Case(NamedTuple):
    """A graph or model, and who is measured on it."""

    known: Point
    """Fields of its points that are known before: names, and what the paper says."""
    requests: Mapping[str, Request]
    """The measurements by contender."""
    beside: Any = None
    """Further values of the paper from which its points are made."""


@dataclass(frozen=True, kw_only=True)
class Told(ABC):
    """A table or figure of a paper, however it is made; the fields are its options.

    Parameters
    ----------
    figure : str
        Its name.
    seed : int
        Seed of the graphs, if they are generated.
    """

    figure: str
    seed: int = 1

    points_name: ClassVar[str] = "points"
    """Field of the document with the points, or rows."""
    head_names: ClassVar[tuple[str, ...]] = ("seed",)
    """Options and properties of the study that are fields of the document, too."""
    sheet_name: ClassVar[str] = ""
    """Name of the sheet, if it is not that of the figure."""
    figure_of: ClassVar["staticmethod[[dict[str, Any]], Figure]"]
    """Function that draws the document."""

    def head(self, results: Mapping[Request, Measured]) -> dict[str, Any]:
        """Return the fields of the document other than the points."""
        return {"figure": self.figure, "version": version(), **{name: getattr(self, name) for name in self.head_names}}

    @abstractmethod
    def document(self, measurements: Plan) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document.

        Raises
        ------
        InputError, SimulationError
            There is nothing to measure, or a measurement failed.
        """

    @property
    def processor(self) -> str:
        """Name of this computer's processor."""
        return processor_name()

    @property
    def cores(self) -> int:
        """Number of its cores."""
        return available_cores()

    @property
    def sheet(self) -> Sheet:
        """How the answer is told."""
        return sheet_of(self.sheet_name or self.figure)

    def words(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return what stands for the words in braces in the texts of the sheet."""
        return document

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document: by default its points."""
        return {self.points_name: document[self.points_name]}

    def said(self, document: dict[str, Any]) -> list[str]:
        """Return what is said besides the sheet's sentences, given the document."""
        return []

    def answer_of(self, document: dict[str, Any]) -> Answer:
        """Return the document as an answer."""
        title, chart = title_of(self.figure), partial(self.figure_of, document)
        return self.sheet.answer(
            self.words(document),
            self.tables(document),
            title=title,
            said=self.said(document),
            fields=document,
            charts={"figure": Chart(title=title, draw=chart)},
        )

    def answer(self, measurements: Plan) -> Answer:
        """Perform the measurements, and return the answer, which has all fields of the document."""
        return self.answer_of(self.document(measurements))


@dataclass(frozen=True, kw_only=True)
class Study(Told):
    """A table or figure whose points are measured by a plan."""

    @abstractmethod
    def cases(self) -> Iterable[Case]:
        """Return what is to be measured.

        Raises
        ------
        InputError
            There is nothing to measure, or a file cannot be read.
        """

    @abstractmethod
    def points(self, case: Case, found: dict[str, Measured]) -> Iterator[Point]:
        """Yield the points of a case from its results by contender, without what is known before."""

    def document(self, measurements: Plan) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        cases = list(self.cases())
        results = measurements.measure(request for case in cases for request in case.requests.values())
        points = [
            {**case.known, **point}
            for case in cases
            for point in self.points(case, {name: results[request] for name, request in case.requests.items()})
        ]
        return {**self.head(results), self.points_name: points}


@dataclass(frozen=True, kw_only=True)
class SoftwareStudy(Study):
    """A table of software, of which Tarjan's algorithm is the baseline, on one thread of the processor.

    Parameters
    ----------
    device : str
        Device of the others.
    threads : int
        Most processor threads of the others.
    """

    points_name = "rows"
    head_names = (*Study.head_names, "processor", "device", "threads")

    device: str
    threads: int

    @property
    def where(self) -> dict[str, Any]:
        """Device and threads of a measurement that is not the baseline's."""
        return {"device": self.device, "threads": self.threads if self.device == "cpu" else 1}

    def head(self, results: Mapping[Request, Measured]) -> dict[str, Any]:
        """Return the fields of the document other than the points."""
        return {**super().head(results), **self.where}

    def words(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return what stands for the words in braces in the texts of the sheet."""
        where = device_text(document["device"], document["threads"])
        return {**document, "where": where, "baseline": f"one thread of {document['processor']}"}

    def requests(self, graph: Any) -> dict[str, Request]:
        """Return the measurements of a graph or model by contender of the sheet."""
        return {name: self._request(contender, graph) for name, contender in self.sheet.contenders.items()}

    def _request(self, contender: Contender, graph: Any) -> Request:
        how: dict[str, Any] = {
            "algorithm": contender.algorithm,
            "options": tuple((name, getattr(self, name, value)) for name, value in contender.options.items()),
            **({"threads": 1} if contender.sequential else self.where),
        }
        if contender.seeded:
            how["seed"] = self.seed
        return MecRequest(model=graph, **how) if contender.mec else SoftwareRequest(graph=graph, **how)


class MachineStudy(Study):
    """A table or figure of simulated machines."""

    memory: str

    head_names = (*Study.head_names, "memory", "clock_hz")
    clock_hz: ClassVar[float | None] = None
    """Clock of the machines, which only the results know."""

    def head(self, results: Mapping[Request, Measured]) -> dict[str, Any]:
        """Return the fields of the document other than the points."""
        clock = next(each["clock_hz"] for each in results.values() if "clock_hz" in each)
        return {**super().head(results), "clock_hz": clock}

    def words(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return what stands for the words in braces in the texts of the sheet."""
        return {**document, "clock": f"{document['clock_hz'] / 1e6:g} MHz"}


@dataclass(frozen=True, kw_only=True)
class Grid(MachineStudy):
    """A figure over graphs of all combinations of some sizes and degrees.

    Parameters
    ----------
    configs : tuple of str
        Names of machines, see `cyscc.host.experiments.studies.catalogue`.
    vertices, degrees : tuple of int
        Numbers of vertices; average degrees.
    max_edges : int
        Most edges of a graph; larger graphs are left out.
    memory : str
        Memory profile.
    """

    configs: tuple[str, ...]
    vertices: tuple[int, ...]
    degrees: tuple[int, ...]
    max_edges: int
    memory: str

    head_names = (*MachineStudy.head_names, "kind", "max_edges", "left_out")

    @property
    def kind(self) -> str:
        """Kind of the graphs."""
        return "rmat" if self.figure == "fig11" else "random"

    def _pairs(self, *, left_out: bool) -> list[tuple[int, int]]:
        """Return degree and number of vertices of the graphs that are too large, or of the others."""
        pairs = itertools.product(self.degrees, self.vertices)
        return [pair for pair in pairs if (pair[0] * pair[1] > self.max_edges) == left_out]

    @property
    def left_out(self) -> list[dict[str, int]]:
        """Degree and number of vertices of each graph that is too large."""
        return [{"degree": degree, "vertices": vertices} for degree, vertices in self._pairs(left_out=True)]

    def graphs(self) -> list[tuple[int, int]]:
        """Return degree and number of vertices of each graph.

        Raises
        ------
        InputError
            All graphs are too large.
        """
        kept = self._pairs(left_out=False)
        if not kept:
            least = min(self.degrees) * min(self.vertices)
            raise InputError(f"no graph has at most {self.max_edges} edges: the smallest one has {least} (--max-edges)")
        return kept

    def said(self, document: dict[str, Any]) -> list[str]:
        """Return a sentence that names the graphs left out; none if there are none."""
        names = [f"degree {each['degree']} with {number_text(each['vertices'])}" for each in document["left_out"]]
        if not names:
            return []
        return [f"Left out, more than {number_text(document['max_edges'])} edges: {', '.join(names)} vertices."]


def grouped(points: Iterable[Point], *names: str) -> dict[tuple[Any, ...], list[Point]]:
    """Return points grouped by the values of some fields, in their original order."""
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        groups.setdefault(tuple(point[name] for name in names), []).append(point)
    return groups


def quotient(value: float | None, by: float | None) -> float | None:
    """Return a quotient; None if either number is unknown."""
    return None if value is None or by is None else value / by
