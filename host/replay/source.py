"""What a recorded run was made of, so that it can be made again: the same program, machine, graph and options."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host.checkpoints.folder import Checkpoint
from host.errors import InputError
from host.graph.csr import Graph
from host.graph.digests import graph_digest
from host.runs.specification import RunSpec, option_of
from host.sources import sources_digest
from sim.memory import Profile, changed_profile, parse_profile, profile_from

__all__ = ["Source"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a run was made of.

    Parameters
    ----------
    folder : Path
        The folder that tells.
    digest : str
        Digest of the graph as the machine had it.
    spec : RunSpec
        The run.
    """

    folder: Path
    digest: str
    spec: RunSpec

    @classmethod
    def of(
        cls,
        document: dict[str, Any],
        folder: Path,
        *,
        threads: int,
        graph: str | None = None,
        memory: Profile | None = None,
    ) -> "Source":
        """Return what a run was made of.

        Parameters
        ----------
        document : dict
            That of a record, or of a run that failed.
        folder : Path
            The folder that it is in.
        threads : int
            Threads to make it again with.
        graph : str, optional
            The graph's file, where it is not where it was.
        memory : Profile, optional
            The memory, where no file has its rules.

        Raises
        ------
        InputError
            It cannot be made again by this program.
        """
        run = document["run"]
        if document.get("program") != sources_digest():
            raise InputError("the run was made by another version of this program", path=folder)
        named = {} if graph is None else {"graph": graph}
        memory = _memory(document["memory_profile"], run["options"]["memory"], Path(run["folder"]), folder, memory)
        return cls(
            folder=folder,
            digest=run["digest"],
            spec=RunSpec.of_record(document, memory=memory, threads=threads, **named),
        )

    def check_checkpoint(self, checkpoint: Checkpoint, path: Path) -> None:
        """Refuse a checkpoint that is not the run's.

        Raises
        ------
        InputError
            It is of another one.
        """
        about = checkpoint.about
        if about["program"] != sources_digest() or _deciding(about["identity"]) != _deciding(
            json.loads(json.dumps(self.spec.identity(self.digest)))
        ):
            raise InputError(f"is not the checkpoint of the run in {self.folder}", path=path)

    def check_graph(self, graph: Graph) -> None:
        """Refuse a graph that is not the run's.

        Raises
        ------
        InputError
            It is another one.
        """
        if graph_digest(graph) != self.digest:
            raise InputError(f"is not the graph of the run in {self.folder}", path=self.spec.graph)


def _deciding(identity: dict[str, Any]) -> dict[str, Any]:
    """Return what of the identity of a run decides about its cycles: a record may have been made by one of two runs."""
    options = {name: value for name, value in identity["options"].items() if option_of(name).decides}
    return {**identity, "options": options}


def _memory(described: dict[str, Any], text: str, here: Path, folder: Path, profile: Profile | None) -> Profile:
    """Return the memory profile that a record describes.

    Parameters
    ----------
    described : dict
        What the record has of it.
    text : str
        What the run called it.
    here, folder : Path
        Where the run was, and where its record is.
    profile : Profile or None
        The profile itself, where it is at hand.
    """
    values = {name: value for name, value in described.items() if name not in ("profile", "source")}
    if profile is None:
        try:
            try:
                profile = profile_from({"profile": described["profile"], **values})
            except ValueError:
                # Rules of one's own are in a file.
                profile = changed_profile(parse_profile(str(here / text)), values)
        except ValueError as error:
            raise InputError(f"the memory of the run cannot be had: {error}", path=folder) from None
    if profile.describe() != described:
        raise InputError(f"the memory {text} is not what it was in the run", path=folder)
    return profile
