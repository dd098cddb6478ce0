"""Figures 12 and 13: time for the strongly connected components, and speed-up over sequential software."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from host.measuring.campaign import Campaign, Measured
from host.measuring.graphs import GraphSpec
from host.measuring.processor import cores, processor_name
from host.studies.reproduction.measure_scc import SccRequest, SoftwareRequest

__all__ = ["PHASES", "SOFTWARE", "ComponentTimes", "measure_components", "speed_up_document", "time_document"]

PHASES = ("searches", "intersections", "starts")
"""Parts of a time, from the bottom of a bar to its top."""

SOFTWARE = "kosaraju"
"""Name of the series that the others are compared with."""


@dataclass(frozen=True, kw_only=True)
class ComponentTimes:
    """What was measured of one graph.

    Parameters
    ----------
    graph : GraphSpec
        The graph.
    software : dict
        Sequential Kosaraju, see `host.studies.reproduction.measure_scc.SoftwareRequest`.
    machines : dict of str to dict
        By configuration, see `host.studies.reproduction.measure_scc.SccRequest`.
    hong : dict or None
        Hong's algorithm, when it was measured.
    """

    graph: GraphSpec
    software: Measured
    machines: Mapping[str, Measured]
    hong: Measured | None


def measure_components(
    campaign: Campaign,
    pairs: Sequence[tuple[int, int]],
    *,
    configs: Sequence[str],
    memory: str,
    seed: int,
    hong: bool,
) -> list[ComponentTimes]:
    """Measure uniform random graphs, the software first and alone, since it is this processor that it measures.

    Parameters
    ----------
    campaign : Campaign
        What measures.
    pairs : sequence of (int, int)
        Degree and vertices of each graph.
    configs : sequence of str
        Configurations.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.
    hong : bool
        Whether to measure Hong's algorithm too, on all cores.

    Raises
    ------
    InputError, SimulationError
        A measurement failed.
    """
    graphs = [GraphSpec(kind="random", degree=degree, vertices=vertices, seed=seed) for degree, vertices in pairs]
    sequential = {graph: SoftwareRequest(graph=graph, algorithm=SOFTWARE, threads=1) for graph in graphs}
    parallel = {
        graph: SoftwareRequest(graph=graph, algorithm="hong", threads=cores()) for graph in (graphs if hong else ())
    }
    software = campaign.measure([*sequential.values(), *parallel.values()], alone=True)
    machines = {
        (graph, config): SccRequest(graph=graph, preset=config, memory=memory) for graph in graphs for config in configs
    }
    simulated = campaign.measure(machines.values())
    return [
        ComponentTimes(
            graph=graph,
            software=software[sequential[graph]],
            machines={config: simulated[machines[graph, config]] for config in configs},
            hong=software[parallel[graph]] if hong else None,
        )
        for graph in graphs
    ]


def _machine_phases(result: Measured) -> dict[str, float]:
    """Return the milliseconds of the machine by phase, and of the host's search for a start, which is real time."""
    clock = result["clock_hz"]
    return {
        "searches": 1e3 * result["cycles"]["searches"] / clock,
        "intersections": 1e3 * result["cycles"]["intersections"] / clock,
        "starts": 1e3 * result["start_seconds"],
    }


def _head(
    figure: str, left_out: Sequence[tuple[int, int]], *, clock: float, most: int, memory: str, seed: int, version: str
) -> dict[str, Any]:
    return {
        "figure": figure,
        "version": version,
        "memory": memory,
        "clock_hz": clock,
        "seed": seed,
        "kind": "random",
        "max_edges": most,
        "processor": processor_name(),
        "cores": cores(),
        "left_out": [{"degree": degree, "vertices": vertices} for degree, vertices in left_out],
    }


def _clock(times: Sequence[ComponentTimes]) -> float:
    return float(next(iter(times[0].machines.values()))["clock_hz"])


def time_document(
    times: Sequence[ComponentTimes],
    left_out: Sequence[tuple[int, int]],
    *,
    most: int,
    memory: str,
    seed: int,
    version: str,
) -> dict[str, Any]:
    """Return figure 12 as a JSON document.

    Its ``points`` are a bar each: ``degree``, ``vertices``, ``series`` (``kosaraju`` or a configuration),
    ``milliseconds`` by phase and ``total``. Trimming is in none of them.

    Parameters
    ----------
    times : sequence of ComponentTimes
        What was measured.
    left_out : sequence of (int, int)
        Degree and vertices of the graphs that were too large.
    most : int
        Edges of the largest graph allowed.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.
    version : str
        Version of the program.
    """

    def bars(each: ComponentTimes) -> Iterator[tuple[str, dict[str, float], Measured]]:
        yield SOFTWARE, {phase: 1e3 * each.software[phase] for phase in PHASES}, {"runs": each.software["runs"]}
        for config, result in each.machines.items():
            further = {name: result[name] for name in ("cycles", "components", "trimmed", "iterations", "wall")}
            yield config, _machine_phases(result), further

    points = [
        {
            "degree": each.graph.degree,
            "vertices": each.graph.vertices,
            "series": series,
            "milliseconds": phases,
            "total": sum(phases.values()),
            **further,
        }
        for each in times
        for series, phases, further in bars(each)
    ]
    head = _head("fig12", left_out, clock=_clock(times), most=most, memory=memory, seed=seed, version=version)
    return {**head, "points": points}


def speed_up_document(
    times: Sequence[ComponentTimes],
    left_out: Sequence[tuple[int, int]],
    *,
    most: int,
    memory: str,
    seed: int,
    version: str,
) -> dict[str, Any]:
    """Return figure 13 as a JSON document.

    Its ``points`` are ``degree``, ``vertices``, ``series`` (a configuration or ``hong``), ``milliseconds``, those of
    sequential Kosaraju as ``kosaraju``, and ``speed_up``. Trimming is only in Hong's time, whose algorithm it is a part
    of.

    Parameters
    ----------
    times, left_out, most, memory, seed, version
        As of `time_document`.
    """
    points = []
    for each in times:
        base = 1e3 * each.software["seconds"]
        series = {config: sum(_machine_phases(result).values()) for config, result in each.machines.items()}
        if each.hong is not None:
            series["hong"] = 1e3 * each.hong["seconds"]
        points += [
            {
                "degree": each.graph.degree,
                "vertices": each.graph.vertices,
                "series": name,
                "milliseconds": time,
                "kosaraju": base,
                "speed_up": base / time,
            }
            for name, time in series.items()
        ]
    head = _head("fig13", left_out, clock=_clock(times), most=most, memory=memory, seed=seed, version=version)
    return {**head, "points": points}
