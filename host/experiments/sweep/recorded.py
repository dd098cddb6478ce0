"""Points of a sweep that are a recorded run, with changed settings or as it was."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cyscc.host.analysis.report.facts import origin_facts
from cyscc.host.answer.answer import Answer
from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.measuring.runs import PointRequest, stored_graph
from cyscc.host.experiments.plan.plan import OnStep, Plan
from cyscc.host.experiments.plan.request import Measured
from cyscc.host.experiments.sweep.definition import value_text
from cyscc.host.graph.csr import Graph
from cyscc.host.output.errors import InputError
from cyscc.host.record.display import record_title, run_document, selection_facts
from cyscc.host.record.reader import Record
from cyscc.host.runs.rerun import Rerun, RerunSetting
from cyscc.host.specification.ask import SpecError
from cyscc.host.specification.overrides import MEMORY
from cyscc.host.specification.run import RECORD_INTERVAL, RunSpec, run_options
from cyscc.sim.errors import SimulationError
from cyscc.sim.memory import Profile
from cyscc.sim.trust import GivenText, rules_file

_CHANGEABLE = ("config", "memory", "simplify", "queue_slack")
"""Options of a run that are settings of its machine, besides the values of configuration and memory."""


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return the display text of settings: ``word_depth=64, memory.banks=256``; of none: ``as it is``."""
    return ", ".join(f"{name}={value_text(value)}" for name, value in settings.items()) or "as it is"


def cycles_of(record: Record) -> int:
    """Return the cycles of a recorded run as its result has them: without those of the host."""
    return int(record.result["cycles"]["total"])


class RecordedPoints:
    """Points made of a recorded run by changing its settings.

    Parameters
    ----------
    record : Record
        The record of the run.
    plan : Plan
        How the points are made; a graph that is in no file is kept in its store.
    graph : Graph or str, optional
        The graph or its file, if the recorded file has moved, or there was none.
    memory : Profile or str, optional
        The memory profile, or its text as the user gave it, for a run with rules of its own.

    Attributes
    ----------
    threads : int
        Number of threads of each run, 1 unless it is set.

    Raises
    ------
    InputError
        The run is not complete, or its memory cannot be had.
    """

    def __init__(
        self,
        record: Record,
        plan: Plan,
        *,
        graph: Graph | str | None = None,
        memory: Profile | str | None = None,
    ) -> None:
        self.record, self.plan, self.threads = record, plan, 1
        setting = RerunSetting(progress=plan.progress, threads=1, graph=graph, memory=memory)
        if record.interrupted is not None:
            raise InputError("is not the record of a complete run, which could be made again", path=record.folder)
        try:
            again = Rerun(record.document, record.folder, setting)
        except SpecError as error:
            raise InputError(str(error), path=record.folder) from None
        # As in a study, so that points are shared: recorded, and with a verified result.
        spec = replace(again.spec, verify=True, record=again.spec.graph, record_interval=RECORD_INTERVAL)
        if isinstance(memory, str) and rules_file(memory) is not None:
            spec = replace(spec, memory=_rules_text(memory, spec.profile))
        self._spec, self._again = spec, again
        self._given = isinstance(graph, Graph)

    def spec(self, settings: Mapping[str, Any]) -> RunSpec:
        """Return the specification of the run with some settings changed, without reading the graph.

        Parameters
        ----------
        settings : mapping
            Values by name, as in a study: ``word_depth``, ``memory.banks``, ``simplify``.

        Raises
        ------
        SpecError
            A setting is unknown, a value is invalid, or the machine cannot run the algorithm.
        """
        options = run_options(self._spec.algorithm).items()
        for name in settings:
            if any(name in (field, option.name) and field not in _CHANGEABLE for field, option in options):
                others = f"values of the configuration, {MEMORY}KEY, {', '.join(_CHANGEABLE)}"
                raise SpecError("overrides", f"{name} cannot be changed in a run that is made again: only {others}")
        return replace(self._spec, threads=self.threads).changed(settings).checked()

    def elsewhere(self, settings: Mapping[str, Any], graph: GraphFile) -> PointRequest:
        """Return the run with some settings changed on another graph; a search begins where `SOURCE_RULE` says.

        Raises
        ------
        SpecError
            See `spec`.
        """
        return PointRequest(graph=graph, spec=replace(self.spec(settings), graph=str(graph.path), source=None))

    def point(self, settings: Mapping[str, Any]) -> PointRequest:
        """Return the run with some settings changed, see `spec`.

        Raises
        ------
        SpecError
            See `spec`.
        InputError
            The graph cannot be read, or is not that of the run.
        """
        spec = self.spec(settings)
        # A graph's file in the folder has the edges as they were read, and numbers vertices from 0.
        if self._given:
            source = None if spec.source is None else self._again.graph.index(spec.source)
            spec = replace(spec, source=source, undirected=False)
        return PointRequest(graph=self._graph, spec=spec)

    def make(self, points: Sequence[PointRequest], on_step: OnStep, **how: Any) -> dict[str, Measured]:
        """Return the results of points by their digests, see `Plan.results`; steps count those before, too."""
        before = self.plan.found + self.plan.made
        return self.plan.results(points, lambda done, total, what: on_step(before + done, before + total, what), **how)

    def cycles(self, points: Sequence[PointRequest], on_step: OnStep) -> list[int]:
        """Return the cycles of points, which are made if they are missing.

        Raises
        ------
        SimulationError
            A run failed.
        """
        results = self.make(points, on_step)
        for failure in self.plan.failures.values():
            raise SimulationError(str(failure))
        return [results[point.digest]["row"]["cycles"] for point in points]

    @cached_property
    def _graph(self) -> GraphFile:
        """The file of the graph, which is that of the run."""
        graph = self._again.graph
        return stored_graph(graph, self.plan.store) if self._given else GraphFile.of(Path(self._spec.graph))


def rerun_answer(
    record: Record, plan: Plan, *, facts: Mapping[str, str], fields: Mapping[str, Any], **more: Any
) -> Answer:
    """Return an answer about a recorded run that was made again.

    Parameters
    ----------
    record : Record
        The record of the run.
    plan : Plan
        How the runs were made.
    facts, fields : mapping
        Facts and fields besides those of the run.
    **more
        Further fields of `Answer`.
    """
    own = {**selection_facts(record, record.instructions), **origin_facts(record)}
    folder = {"folder": str(plan.folder.resolve())}
    return Answer(
        title=record_title(record), facts={**own, **facts}, fields={**run_document(record), **folder, **fields}, **more
    )


def _rules_text(text: str, profile: Profile) -> GivenText:
    """Return the text of a profile of rules, which other processes, in other folders, load by the name of its file."""
    file = rules_file(text)
    assert file is not None, "the profile has rules of its own"
    values = ", ".join(f"{name}={value}" for name, value in asdict(profile).items())
    return GivenText(f"{Path(file).resolve()} ({values})" if values else Path(file).resolve())
