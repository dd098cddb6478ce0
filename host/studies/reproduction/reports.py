"""What `cyscc reproduce` makes: each is measured and turned into JSON, Markdown and a plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.measuring.campaign import Campaign
from host.results.documents import write_json
from host.results.output import write_output
from host.results.version import version
from host.studies.reproduction.components import measure_components, speed_up_document, time_document
from host.studies.reproduction.components_plot import speed_up_figure, time_figure
from host.studies.reproduction.components_report import speed_up_markdown, time_markdown
from host.studies.reproduction.plots import write_plot
from host.studies.reproduction.table1 import cells, table1_document, table1_requests
from host.studies.reproduction.table1_plot import table1_figure
from host.studies.reproduction.table1_report import table1_markdown
from host.studies.reproduction.throughput import (
    KIND_OF,
    bounded,
    throughput_document,
    throughput_markdown,
    throughput_requests,
)
from host.studies.reproduction.throughput_plot import throughput_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Report", "components", "table1", "throughput"]


@dataclass(frozen=True, kw_only=True)
class Report:
    """A table or figure of the paper.

    Parameters
    ----------
    document : dict
        For programs.
    markdown : str
        For people.
    figure : matplotlib.figure.Figure
        The plot.
    """

    document: dict[str, Any]
    markdown: str
    figure: "Figure"

    def write(self, folder: Path, name: str, *, json: str | None) -> None:
        """Write the files.

        Parameters
        ----------
        folder : Path
            Where they go.
        name : str
            Their name without suffix.
        json : str or None
            Where the JSON goes besides.

        Raises
        ------
        InputError
            One could not be written.
        """
        write_json(str(folder / f"{name}.json"), self.document)
        write_output(str(folder / f"{name}.md"), lambda file: _write_text(file, self.markdown))
        write_plot(self.figure, folder / f"{name}.svg")
        if json is not None:
            write_json(json, self.document)


def _write_text(file: Any, text: str) -> None:
    file.write(text.encode())


def table1(campaign: Campaign, configs: Sequence[str], vertices: Sequence[int], *, memory: str, seed: int) -> Report:
    """Make table I.

    Parameters
    ----------
    campaign : Campaign
        What measures.
    configs : sequence of str
        Configurations.
    vertices : sequence of int
        Numbers of vertices.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.

    Raises
    ------
    InputError, SimulationError
        A measurement failed.
    """
    requests = table1_requests(configs, vertices, memory=memory, seed=seed)
    results = campaign.measure(requests.values())
    clock = next(iter(results.values()))["clock_hz"]
    found = cells(requests, results)
    document = table1_document(found, memory=memory, seed=seed, clock=clock, version=version())
    return Report(document=document, markdown=table1_markdown(document), figure=table1_figure(document))


def throughput(
    campaign: Campaign,
    figure: str,
    *,
    configs: Sequence[str],
    vertices: Sequence[int],
    degrees: Sequence[int],
    most: int,
    memory: str,
    seed: int,
) -> Report:
    """Make figure 10 or 11.

    Parameters
    ----------
    campaign : Campaign
        What measures.
    figure : {"fig10", "fig11"}
        Which one.
    configs : sequence of str
        Configurations.
    vertices, degrees : sequence of int
        Sizes of the graphs: each with each.
    most : int
        Edges of the largest graph allowed; larger ones are left out.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.

    Raises
    ------
    InputError, SimulationError
        No graph is left, or a measurement failed.
    """
    kept, left_out = bounded(vertices, degrees, most=most)
    requests = throughput_requests(kept, kind=KIND_OF[figure], configs=configs, memory=memory, seed=seed)
    results = campaign.measure(requests.values())
    document = throughput_document(
        cells(requests, results),
        left_out,
        figure=figure,
        most=most,
        memory=memory,
        seed=seed,
        clock=next(iter(results.values()))["clock_hz"],
        version=version(),
    )
    return Report(document=document, markdown=throughput_markdown(document), figure=throughput_figure(document))


def components(
    campaign: Campaign,
    figure: str,
    *,
    configs: Sequence[str],
    vertices: Sequence[int],
    degrees: Sequence[int],
    most: int,
    memory: str,
    seed: int,
) -> Report:
    """Make figure 12 or 13.

    Parameters
    ----------
    figure : {"fig12", "fig13"}
        Which one.
    campaign, configs, vertices, degrees, most, memory, seed
        As of `throughput`.

    Raises
    ------
    InputError, SimulationError
        No graph is left, or a measurement failed.
    """
    kept, left_out = bounded(vertices, degrees, most=most)
    speed_up = figure == "fig13"
    times = measure_components(campaign, kept, configs=configs, memory=memory, seed=seed, hong=speed_up)
    make = speed_up_document if speed_up else time_document
    document = make(times, left_out, most=most, memory=memory, seed=seed, version=version())
    if speed_up:
        return Report(document=document, markdown=speed_up_markdown(document), figure=speed_up_figure(document))
    return Report(document=document, markdown=time_markdown(document), figure=time_figure(document))
