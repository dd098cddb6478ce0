"""Runs of records, made again: their specification, and their graph, each checked against the record."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cyscc.host.graph.csr import Graph, graph_digest
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import is_special
from cyscc.host.output.progress import Progress
from cyscc.host.runs.execution import Session
from cyscc.host.specification.ask import SpecError
from cyscc.host.specification.run import OWN_RULES, RunSpec, resolved_profile
from cyscc.sim.memory import Profile, changed_profile, profile_from


@dataclass(frozen=True, kw_only=True)
class RerunSetting:
    """How a recorded run is made again.

    Parameters
    ----------
    progress : Progress
        Progress display.
    threads : int
        Number of threads of the simulation.
    graph : Graph or str, optional
        The graph or its file, if the recorded file has moved, or there was none.
    memory : Profile or str, optional
        The memory profile, or its text as the user gave it, for a run with rules of its own.
    """

    progress: Progress
    threads: int
    graph: Graph | str | None = None
    memory: Profile | str | None = None


class Rerun:
    """A recorded run that can be made again.

    Parameters
    ----------
    document : dict
        The document of the record, or of the failed run.
    folder : Path
        The folder of the document.
    setting : RerunSetting
        How it is made again.

    Attributes
    ----------
    document, folder
        The parameters.
    progress : Progress
        Progress display.
    spec : RunSpec
        Specification of the run, without its outputs and without verification.

    Raises
    ------
    InputError
        The memory is not that of the run, or the document describes no run.
    """

    def __init__(self, document: dict[str, Any], folder: Path, setting: RerunSetting) -> None:
        if "part" in document:
            raise InputError("is the record of a part of a run: name that of the whole run", path=folder)
        graph = setting.graph
        named = {"graph": graph} if isinstance(graph, str) else {}
        memory = _memory(document["memory_profile"], document["run"]["options"]["memory"], folder, setting.memory)
        try:
            self.spec = RunSpec.of_record(document, memory=memory, threads=setting.threads, **named)
        except SpecError as error:
            if error.field == "threads":
                raise
            raise InputError(f"is the record of no run: {error}", path=folder) from None
        self.document, self.folder, self.progress = document, folder, setting.progress
        self._given = graph if isinstance(graph, Graph) else None
        self._named = graph is None  # by the record alone, which may name a pipe or a device

    @cached_property
    def graph(self) -> Graph:
        """The graph as read from its file.

        Raises
        ------
        InputError
            The graph cannot be read, or is not that of the run.
        """
        if self._named and is_special(Path(self.spec.graph)):
            raise InputError("is no plain file: name the graph of the run: --graph FILE", path=self.spec.graph)
        graph = Session(self.spec, self.progress, self._given).read_graph()
        if graph_digest(graph.simplified() if self.spec.simplify else graph) != self.document["run"]["digest"]:
            raise InputError(f"is not the graph of the run in {self.folder}", path=self.spec.graph)
        return graph


def _memory(described: dict[str, Any], text: str, folder: Path, given: Profile | str | None) -> Profile:
    """Return the memory profile that a record describes.

    Parameters
    ----------
    described : dict
        Its description in the record.
    text : str
        The run's option ``--memory``.
    folder : Path
        The record's folder.
    given : Profile, str or None
        The profile, or its text, if the user gave it.
    """
    values = {name: value for name, value in described.items() if name not in ("profile", "source")}
    try:
        if isinstance(given, str):
            profile = changed_profile(resolved_profile(given), values)
        elif given is not None:
            profile = given
        else:
            profile = profile_from({"profile": described["profile"], **values})
    except ValueError as error:
        cause = f"the memory of the run cannot be had: {error}"
        raise InputError(OWN_RULES.format(text) if given is None else cause, path=folder) from None
    if profile.describe() != described:
        raise InputError(f"the memory {text} is not what it was in the run", path=folder)
    return profile
