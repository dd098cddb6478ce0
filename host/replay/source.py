"""What a recorded run was made of, so that it can be made again: the same program, machine, graph and options."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from host.runs.overrides import Overrides
from host.checkpoints.folder import Checkpoint
from host.errors import InputError
from host.graph.csr import Graph
from host.graph.digests import graph_digest
from host.measuring.sources import sources_digest
from host.runs.session import RunOptions
from sim.configuration import AcceleratorConfig
from sim.memory import Profile, changed_profile, parse_profile, profile_from

__all__ = ["Source"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a run was made of.

    Parameters
    ----------
    folder : Path
        The folder that tells.
    command : str
        The command that ran: bfs or scc.
    digest : str
        Digest of the graph as the machine had it.
    vertex : int or None
        Where a search started, as the graph's file names it.
    options : RunOptions
        How it was made; nothing is checked again.
    """

    folder: Path
    command: str
    digest: str
    vertex: int | None
    options: RunOptions

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
        here = Path(run["folder"])
        options = run["options"]
        return cls(
            folder=folder,
            command=document["command"],
            digest=run["digest"],
            vertex=options["source"],
            options=RunOptions(
                graph=str(here / run["graph"]) if graph is None else graph,
                config=AcceleratorConfig(**document["configuration"]),
                config_name=options["config"],
                memory=_memory(document["memory_profile"], options["memory"], here, folder, memory),
                memory_name=options["memory"],
                changes=Overrides.of(options["set"]),
                executor=options["executor"],
                threads=threads,
                simplify=options["simplify"],
                verify=False,
                cycle_limit=options["cycle_limit"],
                queue_slack=options["queue_slack"],
            ),
        )

    def check_checkpoint(self, checkpoint: Checkpoint, path: Path) -> None:
        """Refuse a checkpoint that is not the run's.

        Raises
        ------
        InputError
            It is of another one.
        """
        about, options = checkpoint.about, self.options
        identity = about["identity"]
        own = {
            "graph": self.digest,
            "configuration": asdict(options.config),
            "memory": options.memory.describe(),
        }
        taken = {"source": self.vertex, "queue_slack": options.queue_slack}
        if (
            about["command"] != self.command
            or about["program"] != sources_digest()
            or any(identity[name] != value for name, value in own.items())
            or any(identity["options"].get(name) != value for name, value in taken.items())
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
            raise InputError(f"is not the graph of the run in {self.folder}", path=self.options.graph)


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
