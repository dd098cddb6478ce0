"""Life of an item in a kernel: its stages, its waits, and its fate."""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class Stage(Enum):
    """Stage of an item. The value is its short name, and the item's activity in it.

    Konata draws its arrows from and to the stages that have an X in their name: from the expansion of a queue entry to
    the first read of a neighbour.
    """

    ENTRY_OFFERED = ("Qo", "process 1 is about to ask for the entry")
    ENTRY_PORT = ("Qp", "its read goes to the memory port")
    ENTRY_MEMORY = ("Qm", "its read is in the memory")
    ENTRY_KEPT = ("Qk", "what it brought waits for process 2")
    ENTRY_NEXT = ("Qn", "decoded, behind the vertex that is being expanded")
    ENTRY_EXPANDED = ("QX", "its neighbours are being asked for")
    ID_OFFERED = ("NX", "process 2 is about to ask for the neighbour's id")
    ID_PORT = ("Np", "that read goes to the memory port")
    ID_MEMORY = ("Nm", "that read is in the memory")
    ID_KEPT = ("Nk", "the id waits for process 3")
    FILTERED = ("Nf", "the id is in the filter of copies")
    FRESH = ("Ny", "no copy; the id waits for process 3")
    WORD_PORT = ("Wp", "the read of its graph word goes to the memory port")
    WORD_MEMORY = ("Wm", "that read is in the memory")
    WORD_KEPT = ("Wk", "the word waits for process 4")
    BEHIND = ("Vb", "unvisited; behind other vertices of process 4")
    SLOT = ("Vs", "waits for its slot")
    ENQUEUE = ("Ve", "its word is written to the next queue")
    MARK = ("Vm", "its visited flag is written")
    REACH = ("Vr", "its id is written to the reach queue")
    LEVEL = ("Vl", "its level is being written (machines that only search)")
    OTHER_OFFERED = ("Co", "its colour is asked for, and its word in the other graph is about to be")
    OTHER_PORT = ("Cp", "the read of that word goes to the memory port")
    OTHER_MEMORY = ("Cm", "that read is in the memory")
    OTHER_KEPT = ("Ck", "colour and word wait to be joined")
    CANDIDATE = ("Cd", "waits for process 3 to decide: coloured already, to be coloured, or an outsider")
    OWN_PORT = ("Op", "an outsider; the read of its own word goes to the memory port")
    OWN_MEMORY = ("Om", "that read is in the memory")
    UNVISIT = ("Ou", "the word with its visited flag cleared waits to be written")

    @property
    def short(self) -> str:
        """Two letters; the first one stands for what is read or written."""
        return self.value[0]

    @property
    def meaning(self) -> str:
        """The item's activity in this stage."""
        return self.value[1]


class Wait(Enum):
    """Reason why an item did not advance in a cycle."""

    CREDIT = "no free place for the answer"
    PORT = "memory port not ready"
    HELD = "multiplexer held for a slot"
    RESTING = "multiplexer rests"
    OTHER = "another process first"
    NEXT = "next process not ready"
    SLOT = "no slot"


class Fate(Enum):
    """How an item ended."""

    EXPANDED = "expanded"
    LEAF = "no neighbours"
    VISITED = "visited already"
    COPY = "copy"
    PUSHED = "pushed"
    MARKED = "marked"
    COLOURED = "coloured"
    COLOURED_ALREADY = "coloured already"
    UNVISITED = "unvisited"
    NO_ROOM = "dropped: no room in the queue"
    UNDER_WAY = "under way"

    @property
    def dropped(self) -> bool:
        """Whether the item was dropped."""
        return self in (Fate.VISITED, Fate.COPY, Fate.COLOURED_ALREADY, Fate.NO_ROOM)


class Span(NamedTuple):
    """A stage in the life of an item."""

    stage: Stage
    first: int
    """First cycle."""
    end: int | None
    """First cycle after it; None if the window ends earlier."""
    waits: tuple[tuple[Wait, int], ...]
    """Cycles in which the item did not advance, by reason. The rest is the latency of the path."""


@dataclass(eq=False, kw_only=True, slots=True)
class Life:
    """The life of a queue entry, or of a neighbour read for one, from its first read on.

    Parameters
    ----------
    kernel : str
        Path of the kernel, such as ``engine0.bfs1``.
    run : int
        Instruction of the window that it belongs to; 0 was running in the window's first cycle.
    parent : Life or None
        The queue entry of a neighbour; None for queue entries, and if the entry was read before the window.
    neighbour : bool
        A neighbour, not a queue entry.
    queue : str
        For a queue entry: ``queue``, the current queue of a search, or ``forward`` or ``backward``, a reach queue.
    index : int
        Index in that queue, or in C.
    graph : int
        Address of the graph words of the search's direction.
    vertex : int or None
        The vertex, if the signals identify it.
    word : int or None
        Its graph word, once it is read.
    slot : int or None
        Slot of the next queue.
    address : int or None
        Memory address of the entry; for a neighbour, of its entry in the next queue.
    reserved : int or None
        Cycle in which the token arrived and the slot was reserved.
    spans : list of Span
        Its consecutive stages.
    aside : list of Span
        Concurrent stages: the mark in machines that only search.
    fate : Fate
        How it ended.
    again : bool
        The same instruction had pushed the vertex before in this window.
    origin : Life or None
        The neighbour that was pushed as this queue entry, if it is in the window.
    """

    kernel: str
    run: int
    parent: "Life | None" = None
    neighbour: bool
    index: int
    graph: int
    queue: str = "queue"
    vertex: int | None = None
    word: int | None = None
    slot: int | None = None
    address: int | None = None
    reserved: int | None = None
    spans: list[Span] = field(default_factory=list)
    aside: list[Span] = field(default_factory=list)
    fate: Fate = Fate.UNDER_WAY
    again: bool = False
    origin: "Life | None" = None

    @property
    def first(self) -> int:
        """First cycle of its life."""
        return self.spans[0].first

    @property
    def end(self) -> int | None:
        """First cycle after its life, if that is in the window."""
        ends = [span.end for span in (self.spans[-1], *self.aside[-1:])]
        known = [end for end in ends if end is not None]
        return max(known) if len(known) == len(ends) and self.fate is not Fate.UNDER_WAY else None
