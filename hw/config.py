"""Configuration of the machine: one validated object from which everything derives, and its named presets."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from operator import not_
from typing import Annotated, Any, NamedTuple, Self, get_type_hints

import msgspec
from msgspec import Meta

from cyscc.hw.values import plain

Depth = Annotated[int, Meta(ge=4, le=512)]
"""Places of a FIFO, a power of two."""

Remembered = Annotated[int, Meta(ge=0, le=4096)]
"""Entries of a memory that may be left out: 0, or a power of two from its least on."""

Requests = Annotated[int, Meta(ge=0, le=512)]
"""Places of a FIFO that may be left out: 0, or a power of two from its least on."""

LinkQueue = Annotated[int, Meta(ge=0, le=64)]
"""Places of a queue that may be left out: 0, or a power of two from its least on."""

Vertices = Annotated[int, Meta(ge=0, le=1 << 22)]
"""Vertices of which something is kept in block RAM: 0, or a power of two from its least on."""

Edges = Annotated[int, Meta(ge=0, le=4096, description="edges")]
"""Edges of a part of a vertex, if vertices are divided: 0, or a power of two from the least number on."""

_LEAST = {Remembered: 8, Requests: 4, LinkQueue: 4, Vertices: 64, Edges: 4}
"""By kind of what may be left out, the fewest entries if it is there."""

_LINK_BITS = (3, 6, 7, 8)
"""The address bits that choose one of 16 links: the upper three choose the memory controller."""

_LACKING = {
    "finds_components": "only searches: it keeps no reach queue to intersect",
    "keeps_reach_queue": "only searches: it keeps no reach queue",
}
"""By what a machine may be asked to do, what is said of one that does not."""


class ConfigError(ValueError):
    """A configuration that does not exist, cannot be read or describes no possible machine. One line."""


class Rule(NamedTuple):
    """A machine with an option is refused if another value is not as the option needs it.

    Parameters
    ----------
    option : str
        The option: the rule is for machines that have it.
    other : str
        The field or property of the configuration that it is about.
    wrong : callable
        Whether a value of it is refused.
    message : str
        What is said then, with fields of ``config`` to be filled in.
    """

    option: str
    other: str
    wrong: Callable[[int], bool]
    message: str

    def broken_by(self, config: "AcceleratorConfig") -> bool:
        """Return whether a configuration is refused."""
        return bool(getattr(config, self.option)) and self.wrong(getattr(config, self.other))


def _uneven(value: int) -> bool:
    """Return whether a positive number is no power of two."""
    return value & (value - 1) > 0


RULES = (
    Rule(
        "pair_reads",
        "queued_requests",
        bool,
        "pair_reads needs queued_requests of 0, not {config.queued_requests}: a kernel with FIFOs of requests reads "
        "ids one by one",
    ),
    *(
        Rule("lean_visits", other, bool, f"lean_visits and {other} cannot be set together")
        for other in ("blocking_reservation", "queued_requests", "bfs_only")
    ),
    Rule(
        "memory_ports",
        "link_queues",
        not_,
        "memory_ports is only for a machine with link_queues: else each kernel has its own port",
    ),
    Rule("link_queues", "ports", _uneven, "a switch needs memory_ports that are a power of two, not {config.ports}"),
    *(
        Rule("edge_chunk", other, bool, f"edge_chunk must be 0 with {other}, not {{config.edge_chunk}}")
        for other in ("queued_requests", "blocking_reservation", "bfs_only")
    ),
    *(
        Rule("short_ring", other, bool, f"short_ring and {other} cannot be set together")
        for other in ("blocking_reservation", "queued_requests")
    ),
    Rule(
        "visited_filter",
        "bfs_kernels",
        _uneven,
        "visited_filter needs bfs_kernels to be a power of two, not {config.bfs_kernels}: bits of an id tell the "
        "kernel that owns it",
    ),
    *(
        Rule("visited_filter", other, bool, f"visited_filter and {other} exclude each other: {why}")
        for other, why in (
            ("remembered_ids", "each of the two filters drops all that the other would"),
            ("queued_requests", "the published kernel has no exchange"),
            ("blocking_reservation", "a kernel that issues nothing would hold up all others"),
        )
    ),
)
"""Which options exclude or need each other, in the order in which they are looked at."""


@dataclass(frozen=True, kw_only=True)
class AcceleratorConfig:
    """Sizes of the accelerator. The defaults are the published machine's (Attia et al. 2015, sections 5 and 6).

    Parameters
    ----------
    engines : int
        Application Engines (AEs), 1 to 4.
    bfs_kernels : int
        CyGraph BFS kernels of an AE, 1 to 16; each has a memory port of its own.
    intersection_kernels : int
        Intersection kernels of an AE, 1 to `bfs_kernels`; each shares the memory port of the BFS kernel of its number.
    frontier_depth : int
        Places for current-queue words in a BFS kernel: reads of the current queue in flight or not yet expanded.
    neighbour_depth : int
        Places for neighbour ids in a BFS kernel, or for pairs of them (`pair_reads`).
    word_depth : int
        Places for the graph words of neighbours in a BFS kernel.
    visit_depth : int
        Places for vertices that wait for a slot of the next queue in a BFS kernel.
    reach_depth : int
        Places for reach-queue entries in an intersection kernel.
    colour_depth : int
        Places for colours, and as many for words, in an intersection kernel.
    unvisit_depth : int
        Places for words that are to be unvisited in an intersection kernel.
    issue_interval : int
        Cycles from one request of the multiplexer to the next, 1 or 2. The published multiplexer needs 2; a vertex's
        writes go back to back also there.
    blocking_reservation : bool
        The published behaviour: a kernel reserves slots only when it has used up its last reservation; a vertex that
        waits when the last slot is used up is taken by the multiplexer, which then issues nothing until the vertex has
        a slot. Otherwise reads go on, and the next reservation is made while the last one is being used.
    queued_requests : int
        Places of a FIFO between process 1 of a BFS kernel and the multiplexer, and as many behind process 2: 0, or a
        power of two from 4 to 512. With 0 there are none, and the multiplexer takes a process's read when the process
        asks for it. Otherwise the kernel takes from its FIFOs as the published one does, cycle by cycle: what it pops
        it has later, so that process 2 and 4 take an entry and then wait, and a vertex's first write follows its slot
        later, if the multiplexer has not taken the vertex before.
    bfs_only : bool
        The machine of a BFS build, which finds no components: a vertex gets its level written into its graph word by a
        write that waits for no slot, only vertices with neighbours are queued, and there is no reach queue. So was the
        published machine when it was measured for breadth-first search alone (Attia et al. 2014; a row of its own in
        table II of Attia et al. 2015).
    remembered_ids : int
        Size of a BFS kernel's filter of recently seen neighbour ids, which drops those that come again in a level: 0,
        or a power of two from 8 to 4096. With 0 there is no filter, as in the published machine: a kernel may push a
        vertex as often as it reads its word before its first write, and repeated edges multiply the copies level by
        level.
    pair_reads : bool
        Whether a BFS kernel reads neighbour ids by aligned pairs, 8 bytes a read: of a vertex about half as many reads,
        each of which brings one or two ids. The published machine reads them one by one. Not with `queued_requests`.
    lean_visits : bool
        Whether a BFS kernel writes the ids of two visits to the reach queue at once, 8 bytes a write, if their places
        share 8 aligned bytes: five writes for two visits instead of the published machine's six. Not with
        `blocking_reservation`, `queued_requests` or `bfs_only`.
    link_queues : int
        Depth of the queue for each link at each kernel (virtual output queues): 0, or a power of two from 4 to 64. With
        0, each kernel has a memory port of its own, and the vendor's crossbar brings its requests to the links.
        Otherwise a switch of the AE's own does that (`cyscc.hw.switch`), and memory port l carries what goes to link l
        only, so that requests never wait behind others that go elsewhere. (That an AE may choose the link of a port is
        an assumption; the vendor sells its crossbar as an option.)
    memory_ports : int
        Memory ports of an AE behind its switch, a power of two; 0: one a BFS kernel.
    visited_filter : int
        Vertices of an AE's filter of ids met in a search: 0, or a power of two from 64 to 2^22; `bfs_kernels` is then a
        power of two. Process 2 sends each id through an exchange to the kernel of its AE that owns it, which passes on
        to its process 3 only those ids that it has not met before, and all ids from `visited_filter` on. With 0 there
        is none, as in the published machine. Not with `remembered_ids`, `queued_requests` or `blocking_reservation`.
    edge_chunk : int
        Most edges of an entry of the next queue: 0, or a power of two from 4 to 4096. A vertex with more out-edges is
        queued in chunks, which different kernels expand. With 0 a vertex is one entry, as in the published machine,
        and one kernel reads all its edges. Not with `queued_requests`, `blocking_reservation` or `bfs_only`.
    short_ring : bool
        Whether the BFS kernels of an AE are one hop of the token ring instead of one each: a station
        (`cyscc.hw.bfs.slot_station`) counts their demands and reserves slots for all when the token comes. A turn of
        four AEs then takes 44 cycles instead of 104. Not with `blocking_reservation` or `queued_requests`.
    ring_stages : int
        Registers by which the ring passes the master of an AE's module, 1 to 64; so a turn of one AE takes its kernels
        plus this many cycles. The published AE has one register where the ring enters it, and one towards the link,
        which every AE of several has besides. One AE by itself sends the token through both, the loop outside and a
        register of the master: 4, a turn of 20 cycles.
    link_cycles : int
        Cycles of a hop between AEs, 1 to 1024 (an assumption: 32 bits at 668 Mbit/s take 7.2 cycles).
    clock_mhz : float
        Clock of the AEs in MHz; turns cycles into seconds.
    """

    engines: Annotated[int, Meta(ge=1, le=4)] = 4
    bfs_kernels: Annotated[int, Meta(ge=1, le=16)] = 16
    intersection_kernels: Annotated[int, Meta(ge=1, le=16)] = 8
    frontier_depth: Depth = 64
    neighbour_depth: Depth = 128
    word_depth: Depth = 128
    visit_depth: Depth = 64
    reach_depth: Depth = 64
    colour_depth: Depth = 128
    unvisit_depth: Depth = 64
    issue_interval: Annotated[int, Meta(ge=1, le=2)] = 1
    blocking_reservation: bool = False
    queued_requests: Requests = 0
    bfs_only: bool = False
    remembered_ids: Remembered = 0
    pair_reads: bool = False
    lean_visits: bool = False
    link_queues: LinkQueue = 0
    memory_ports: Annotated[int, Meta(ge=0, le=16)] = 0
    visited_filter: Vertices = 0
    edge_chunk: Edges = 0
    short_ring: bool = False
    ring_stages: Annotated[int, Meta(ge=1, le=64)] = 1
    link_cycles: Annotated[int, Meta(ge=1, le=1024)] = 8
    clock_mhz: Annotated[float, Meta(gt=0, le=10_000)] = 150.0

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(type(self), include_extras=True).items():
            value = plain(getattr(self, name))
            object.__setattr__(self, name, value)
            try:
                msgspec.convert(value, kind)
            except msgspec.ValidationError:
                raise ConfigError(f"{name} must be {_wanted(kind)}, not {value!r}") from None
            if kind is Depth and value & (value - 1):
                raise ConfigError(f"{name} must be a power of two, not {value}")
            if kind in _LEAST and value and (value & (value - 1) or value < _LEAST[kind]):
                raise ConfigError(f"{name} must be 0 or a power of two from {_LEAST[kind]} on, not {value}")
        if self.intersection_kernels > self.bfs_kernels:
            raise ConfigError(
                f"intersection_kernels must be at most bfs_kernels ({self.bfs_kernels}), whose ports they share, "
                f"not {self.intersection_kernels}"
            )
        for rule in RULES:
            if rule.broken_by(self):
                raise ConfigError(rule.message.format(config=self))

    @property
    def ports(self) -> int:
        """Memory ports of an AE."""
        return self.memory_ports or self.bfs_kernels

    @property
    def link_bits(self) -> tuple[int, ...]:
        """Positions of the address bits that make the number of a link, lowest first.

        With 16 links they are those of the HC-2: two to each of eight memory controllers.
        """
        bits = self.ports.bit_length() - 1
        return _LINK_BITS if bits == len(_LINK_BITS) else _LINK_BITS[1 : 1 + bits]

    @property
    def total_bfs_kernels(self) -> int:
        """BFS kernels of the whole machine: the stride at which each reads the current queue."""
        return self.engines * self.bfs_kernels

    @property
    def total_intersection_kernels(self) -> int:
        """Intersection kernels of the whole machine."""
        return self.engines * self.intersection_kernels

    @property
    def keeps_reach_queue(self) -> bool:
        """Whether searches keep a reach queue; else they write levels into the graph words."""
        return not self.bfs_only

    @property
    def finds_components(self) -> bool:
        """Whether it finds components: it needs reach queues to intersect."""
        return self.keeps_reach_queue

    @property
    def filters_copies(self) -> bool:
        """Whether BFS kernels drop neighbour ids that come again."""
        return self.remembered_ids > 0 or self.visited_filter > 0

    @property
    def exchange_kernels(self) -> int:
        """BFS kernels of an AE that exchange ids (`visited_filter`); 0 if each keeps its own."""
        return self.bfs_kernels if self.visited_filter else 0

    @property
    def reads_every_word(self) -> bool:
        """Whether a search reads the graph word of every neighbour, however often it comes."""
        return not self.filters_copies

    @property
    def reads_single_ids(self) -> bool:
        """Whether a search reads each neighbour id by a request of its own."""
        return not self.pair_reads

    @property
    def queues_whole_vertices(self) -> bool:
        """Whether a vertex is one entry of the next queue, however many edges it has."""
        return not self.edge_chunk

    def queue_entries(self, vertices: int, edges: int) -> int:
        """Return how many entries a queue has at most with each vertex of a graph in it once, whole or in chunks."""
        return vertices + (edges // self.edge_chunk if self.edge_chunk else 0)

    @property
    def writes_single_ids(self) -> bool:
        """Whether a search writes the id of each visited vertex to the reach queue by a request of its own."""
        return not self.lean_visits

    def require(self, *capabilities: str, name: str = "the machine") -> None:
        """Check what the machine can do.

        Parameters
        ----------
        *capabilities : str
            Properties that must hold: ``finds_components``, ``keeps_reach_queue``.
        name : str, optional
            What people call this configuration.

        Raises
        ------
        ConfigError
            One does not hold.
        """
        for capability in capabilities:
            if not getattr(self, capability):
                raise ConfigError(f"{name} {_LACKING[capability]}")

    @classmethod
    def limits(cls, name: str) -> tuple[int, int]:
        """Return the least and the greatest value of a field that is an integer."""
        (limits,) = get_type_hints(cls, include_extras=True)[name].__metadata__
        return limits.ge, limits.le

    def replace(self, **changes: Any) -> Self:
        """Return a variant with some values changed, validated like any other."""
        return replace(self, **changes)

    @classmethod
    def from_mapping(cls, values: dict[str, Any]) -> Self:
        """Build a configuration from keys and values.

        Parameters
        ----------
        values : dict
            Fields of this class, and optionally ``preset``: the preset whose values hold for what is not given.

        Raises
        ------
        ConfigError
            Unknown key, unknown preset or impossible value.
        """
        given = dict(values)
        base = given.pop("preset", "hc2")
        if not isinstance(base, str) or base not in PRESETS:
            raise ConfigError(f"unknown preset {base!r}: there are {', '.join(PRESETS)}")
        known = [field.name for field in fields(cls)]
        for key in given:
            if key not in known:
                raise ConfigError(f"unknown key {key!r}: there are preset, {', '.join(known)}")
        return PRESETS[base].replace(**given)  # type: ignore[return-value]  # the presets are of this very class


def _wanted(kind: Any) -> str:
    """Return what a field's value may be."""
    if kind is bool:
        return "true or false"
    (limits,) = kind.__metadata__
    if limits.gt is None:
        return f"an integer from {limits.ge} to {limits.le}"
    return f"a number above {limits.gt} and at most {limits.le}"


_FULL = AcceleratorConfig()
_PUBLISHED = _FULL.replace(issue_interval=2, blocking_reservation=True)
# An AE that closes its ring by itself still sends the token through the registers that face the link.
_ONE_ENGINE = {"engines": 1, "ring_stages": 4}
# The sizes of the published kernel's FIFOs.
_VHDL = _PUBLISHED.replace(
    queued_requests=512,
    frontier_depth=512,
    neighbour_depth=512,
    word_depth=128,
    visit_depth=512,
)

_NEXT = {
    "pair_reads": True,
    "lean_visits": True,
    "link_queues": 8,
    "visited_filter": 1 << 21,
    "edge_chunk": 256,
    "short_ring": True,
}
"""What the same board could have carried besides: each as deep or as large as it fits an LX330."""

_TEST = AcceleratorConfig(
    engines=2,
    bfs_kernels=2,
    intersection_kernels=1,
    frontier_depth=4,
    neighbour_depth=8,
    word_depth=8,
    visit_depth=4,
    reach_depth=4,
    colour_depth=8,
    unvisit_depth=4,
    ring_stages=2,
    link_cycles=3,
)

PRESETS: dict[str, AcceleratorConfig] = {
    "hc2": _FULL,
    "hc2-1ae": _FULL.replace(**_ONE_ENGINE),
    "published": _PUBLISHED,
    "published-1ae": _PUBLISHED.replace(**_ONE_ENGINE),
    "published-vhdl-1ae": _VHDL.replace(**_ONE_ENGINE),
    "published-bfs": _PUBLISHED.replace(bfs_only=True),
    "published-bfs-1ae": _PUBLISHED.replace(bfs_only=True, **_ONE_ENGINE),
    "fast": _FULL.replace(**_NEXT),
    "fast-1ae": _FULL.replace(**_NEXT, **_ONE_ENGINE),
    "fast-test": _TEST.replace(**_NEXT | {"link_queues": 4, "visited_filter": 64, "edge_chunk": 4}),
    "test": _TEST,
}
"""Named configurations: the full machine, one AE of it, both as published, for components and for searches, both with
what the same board could have carried besides, and small ones for tests."""
