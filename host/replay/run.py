"""Runs made again from a record: the source that they are made of, from their beginning or from a checkpoint."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.checkpoints.checkpoints import Checkpoints
from host.checkpoints.folder import Checkpoint
from host.errors import InputError
from host.graph.csr import Graph
from host.graph.digests import graph_digest
from host.progress import Progress
from host.replay.finding import Span
from host.replay.point import Point
from host.replay.search import Reached, Search, sign_of, stop_behind
from host.runs.execution import Session, execute
from host.runs.specification import RunSpec, option_of
from host.sources import sources_digest
from sim.errors import SimulationError
from sim.memory import Profile, changed_profile, parse_profile, profile_from

if TYPE_CHECKING:
    from host.checkpoints.folder import Checkpoint
    from host.graph.memory_map import PlacedGraph
    from sim.machine import Machine

__all__ = ["Replay", "Source", "Waveforms"]

Watch = Callable[["Machine", Sequence["PlacedGraph"]], None]


@dataclass(frozen=True, kw_only=True)
class Waveforms:
    """Where waveforms go.

    Parameters
    ----------
    path : Path
        The file.
    scopes : tuple of str
        What to write there, see `sim.machine.create_machine`.
    view : bool
        Write views for viewers beside it.
    """

    path: Path
    scopes: tuple[str, ...] = ()
    view: bool = False


class Replay:
    """A run that is made again, as often as need be.

    Parameters
    ----------
    source : Source
        What it was made of.
    progress : Progress
        Shows how far it is.
    checkpoint : Checkpoint, optional
        Where to go on from, if that is before what is wanted.
    graph : Graph, optional
        The graph; where there is none, it is read from the file that the source names.

    Attributes
    ----------
    source : Source
    words : tuple of int
        Of the run as it was made last, the addresses of the graph words: those of the graph, and of its transpose
        where that was placed too.

    Raises
    ------
    InputError
        The graph cannot be read; the checkpoint is of another run.
    """

    def __init__(
        self,
        source: "Source",
        progress: Progress,
        checkpoint: "Checkpoint | None" = None,
        graph: Graph | None = None,
    ) -> None:
        self.source = source
        self.words: tuple[int, ...] = ()
        self._progress = progress
        self._checkpoint = checkpoint
        self._given = graph
        self._graph: Graph | None = None

    def graph(self) -> Graph:
        """Return the graph as it was read.

        Raises
        ------
        InputError
            It cannot be read, or is another one.
        """
        if self._graph is None:
            source = self.source
            graph = Session(source.spec, self._progress, self._given).read_graph()
            source.check_graph(graph.simplified() if source.spec.simplify else graph)
            self._graph = graph
        return self._graph

    def make(self, watch: Watch, *, by: int, aim: str, spec: RunSpec | None = None) -> None:
        """Make the run, to its end or as far as it is watched.

        Parameters
        ----------
        watch : callable
            Called with machine and graphs before anything is simulated. It ends the run by `Reached`.
        by : int
            Cycle from which on it is watched.
        aim : str
            What progress says.
        spec : RunSpec, optional
            The run, where that is not as it was.

        Raises
        ------
        InputError
            The graph is another one.
        SimulationError
            The run failed.
        """

        def keep(session: Session, machine: "Machine", graphs: Sequence["PlacedGraph"]) -> Checkpoints | None:
            self.words = tuple(graph.words_address for graph in graphs)
            watch(machine, graphs)
            return self._keeper(machine, graphs, by)

        try:
            execute(spec or self.source.spec, self._progress, graph=self.graph(), aim=aim, keep=keep)
        except Reached:
            return

    def _keeper(self, machine: "Machine", graphs: Sequence["PlacedGraph"], by: int) -> Checkpoints | None:
        """Return what brings the machine to the checkpoint, if that helps."""
        checkpoint = self._checkpoint
        if checkpoint is None or checkpoint.about["cycle"] > by:
            return None
        without = [graph.neighbours_address for graph in graphs]
        return Checkpoints(machine, without=without, resumed=checkpoint)

    def locate(self, point: Point, spans: Sequence[Span]) -> int | None:
        """Return the cycle of an event in some spans of cycles, None if it is in none of them.

        Raises
        ------
        InputError, SimulationError
            As of `make`.
        """
        searches: list[Search] = []

        def watch(machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
            searches.append(
                Search(
                    machine,
                    spans,
                    sign_of(point, machine),
                    executor=self.source.spec.executor,
                    without=[graph.neighbours_address for graph in graphs],
                )
            )

        self.make(watch, by=spans[0].start, aim=f"looking for {point} from cycle {spans[0].first:,} on")
        return searches[0].cycle

    def record(self, waveforms: Waveforms, window: tuple[int, int], *, executor: str) -> None:
        """Write the waveforms of a window of cycles; they end where the run does.

        Parameters
        ----------
        waveforms : Waveforms
            Where to.
        window : (int, int)
            Its first and last cycle.
        executor : str
            What executes the hardware.

        Raises
        ------
        InputError, SimulationError
            As of `make`; also where the run fails before the window.
        """
        first, last = window
        spec = replace(
            self.source.spec,
            executor=executor,
            waves=str(waveforms.path),
            wave_window=window,
            scopes=waveforms.scopes,
            wave_view=waveforms.view,
        )

        def watch(machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
            stop_behind(machine, last)

        before = _stamp(waveforms.path)
        try:
            self.make(watch, by=first, aim=f"to cycle {last:,}", spec=spec)
        except SimulationError:
            # A window of a run that fails may well end with that.
            if _stamp(waveforms.path) == before:
                raise


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return what changes when a file is written, None where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


@dataclass(frozen=True, kw_only=True)
class Source:
    """Source of a run: all that it was made of.

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
