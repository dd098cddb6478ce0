"""Where the time of a simulated cycle goes: samples of the compiled executor, and its instructions, by part."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict

from cyscc.host.experiments.benchmark.search import Preset, Workload, search
from cyscc.host.experiments.measuring.environment import describe_environment
from cyscc.host.experiments.measuring.measurements import Amount, Count, Measured, Measurements, Positive, Request
from cyscc.host.graph.csr import Graph
from cyscc.host.output.text import markdown_table
from cyscc.host.runs.environment import processor_name
from cyscc.host.runs.sources import digest_beside, sources_digest
from cyscc.sim.configuration import load_config
from cyscc.sim.executors.base import Executor
from cyscc.sim.executors.comparison.contenders import tool_versions
from cyscc.sim.executors.comparison.sampling import Sampler
from cyscc.sim.memory import Memory

__all__ = ["ProfileRequest", "profile_executor", "profile_markdown"]

_REPETITIONS = 20

_EVERY = 1009
"""Of how many rounds the instructions of one are counted; a prime, so that it is not always the same kind of round."""

_Record = dict[str, Any]


class _Row(TypedDict):
    threads: Count
    samples: Count
    real: Positive
    processor: dict[str, Amount]


class _Profile(TypedDict):
    rows: list[_Row]
    instructions: dict[str, Amount]
    requests: Positive


@dataclass(frozen=True, kw_only=True)
class ProfileRequest(Request):
    """A profile of the compiled executor, on one thread and on two.

    Parameters
    ----------
    workload : Workload
        The search; its graph is `graph`.
    repetitions : int
        Searches to sample for each number of threads.
    """

    alone: ClassVar[bool] = True
    kind: ClassVar[Any] = _Profile

    workload: Workload
    repetitions: int

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"profile, {self.workload.graph_text}"

    def setting(self) -> dict[str, Any]:
        """Return processor, tools and digest of the sources, as JSON values."""
        sources = [sources_digest(), digest_beside(__file__)]
        return {"processor": processor_name(), "tools": tool_versions(), "sources": sources}

    def measure(self, graph: Graph, *, verify: bool) -> Measured:
        """Run the searches, see `search`; their results are always verified.

        Returns
        -------
        dict
            For each number of threads in ``rows`` the ``real`` nanoseconds of a cycle, and those of ``processor`` time
            by part; also ``instructions`` by part, and ``requests``, of a cycle.

        Raises
        ------
        SimulationError
            The machine could not be built, or a search failed.
        """
        sampler = Sampler(load_config(self.workload.config))
        memories: list[Memory] = []

        def run(threads: int, every: int = 0) -> Measured:
            def make(memory: Memory, watchdog: int) -> Executor:
                memories[:] = [memory]
                return sampler.executor(memory, watchdog, threads=threads, every=every)

            return search(self.workload, graph, make)

        rows = []
        for threads in (1, 2):
            found = [run(threads) for _ in range(self.repetitions)]
            samples = sampler.take_samples()
            cycles = sum(each["cycles"] for each in found)
            spent = 1e9 * sum(each["user_seconds"] for each in found) / cycles
            rows.append(
                {
                    "threads": threads,
                    "samples": samples.total(),
                    "real": 1e9 * sum(each["seconds"] for each in found) / cycles,
                    "processor": {part: spent * count / samples.total() for part, count in samples.items()},
                }
            )
        run(1, _EVERY)
        instructions, cycles = sampler.instructions()
        statistics = memories[0].statistics()
        return {
            "rows": rows,
            "instructions": {part: count / cycles for part, count in instructions.items()},
            "requests": (statistics["reads"]["total"] + statistics["writes"]["total"]) / statistics["cycles"],
        }

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return " and ".join(f"{row['real']:,.0f} ns a cycle on {row['threads']}" for row in result["rows"])


def profile_executor(measurements: Measurements, preset: Preset, *, repetitions: int | None = None) -> _Record:
    """Profile the search of ``compiled-1``.

    Parameters
    ----------
    measurements : Measurements
        Performs the measurement, which stays in the store until it is complete.
    preset : Preset
        The search.
    repetitions : int, optional
        Searches to sample for each number of threads.

    Returns
    -------
    dict
        A JSON document: the setting, and the result of `ProfileRequest.measure`.

    Raises
    ------
    SimulationError
        The measurement failed.
    """
    workload = preset.workload("compiled-1")
    request = ProfileRequest(graph=workload.graph, workload=workload, repetitions=repetitions or _REPETITIONS)
    document = {
        **describe_environment(),
        "config": preset.config,
        "memory": preset.memory,
        "graph": workload.graph_text,
        **measurements.measure([request])[request],
    }
    measurements.forget([request])
    return document


_HEAD = ("part", "1 thread", "", "instructions", "an ns", "2 threads")


def profile_markdown(document: _Record) -> str:
    """Return the document of `profile_executor` as a Markdown table, with the setting of the measurement."""
    machine, revision = document["machine"], document["revision"] or "not in a repository"
    one, two = document["rows"]
    times, both, instructions = one["processor"], two["processor"], document["instructions"]
    parts = sorted({*times, *both}, key=lambda part: (part.partition(":")[0], -times.get(part, 0)))

    def cells(title: str, chosen: list[str]) -> tuple[str, ...]:
        first, second, steps = (sum(each.get(part, 0) for part in chosen) for each in (times, both, instructions))
        share, pace = f"{first / sum(times.values()):.1%}", f"{steps / first:.1f}" if first and steps else ""
        return (title, f"{first:,.0f}", share, f"{steps:,.0f}", pace, f"{second:,.0f}")

    memory = [part for part in parts if part.startswith("memory: ")]
    spent, steps = (sum(each.get(part, 0) for part in memory) for each in (times, instructions))
    requests = document["requests"]
    lines = [
        f"configuration {document['config']}, memory {document['memory']}, graph {document['graph']}; "
        f"{machine['processor']}, {machine['cores']} cores; revision {revision}",
        "",
        markdown_table(_HEAD, [*(cells(part, [part]) for part in parts), cells("all", parts)]),
        "nanoseconds of processor time of a cycle, and instructions of a cycle on one thread; "
        f"{one['samples']:,} and {two['samples']:,} samples",
        f"real time of a cycle: {one['real']:,.0f} ns on one thread, {two['real']:,.0f} ns on two",
        f"{requests:.1f} requests a cycle; for each {spent / requests:.1f} ns and {steps / requests:.0f} instructions "
        "of the memory",
    ]
    return "\n".join(lines) + "\n"
