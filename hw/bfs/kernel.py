"""The CyGraph BFS kernel: one share of a level of a breadth-first search (Attia et al. 2015, section 5.2, figure 4)."""

from functools import reduce
from operator import and_, or_
from types import MappingProxyType
from typing import Any, NamedTuple

from amaranth.hdl import C, Elaboratable, Module, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Signature, connect

from cyscc.hw.bfs.chunk_splitter import ChunkSplitter
from cyscc.hw.bfs.copy_filter import CopyFilter
from cyscc.hw.bfs.frontier_reader import FrontierReader
from cyscc.hw.bfs.lean_visitor import LeanVisitor
from cyscc.hw.bfs.marking_visitor import MarkingVisitor
from cyscc.hw.bfs.neighbour_fetcher import NeighbourFetcher
from cyscc.hw.bfs.neighbour_reader import NeighbourReader
from cyscc.hw.bfs.pair_reader import LanePairReader, PairReader
from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.bfs.slot_dispenser import SlotDispenser
from cyscc.hw.bfs.slot_gate import SlotGate
from cyscc.hw.bfs.tags import Tag
from cyscc.hw.bfs.visitor import Step, Visitor
from cyscc.hw.bfs.word_reader import WordReader
from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.exchange.bank_sweeper import BankSweeper
from cyscc.hw.exchange.id_merger import IdMerger
from cyscc.hw.exchange.id_router import IdRouter
from cyscc.hw.exchange.reading_barrier import ReadingBarrier
from cyscc.hw.exchange.visited_bank import VisitedBank
from cyscc.hw.exchange.wires import PLANES
from cyscc.hw.interfaces import KernelSignature, drive
from cyscc.hw.kernel import BaseKernel, Fifo
from cyscc.hw.registers import NEW_SEARCH_BIT, Counter, KernelWord, Register
from cyscc.hw.request_mux import READ, WRITE
from cyscc.hw.request_queue import RequestQueue

BfsState = data.StructLayout(
    {
        "done": 1,
        "started": 1,
        "frontier_idle": 1,
        "neighbours_idle": 1,
        "words_idle": 1,
        "visitor_idle": 1,
        "slots_idle": 1,
        "requests_idle": 1,
        "error": 1,
        "read_stalled": 1,
        "write_stalled": 1,
        "slot_awaited": 1,
        "visits": 10,
    }
)
"""Status word `KernelWord.STATE` of a BFS kernel."""

BfsCredits = data.StructLayout({"frontier": 10, "neighbours": 10, "words": 10})
"""Status word `KernelWord.CREDITS` of a BFS kernel: free places."""

BfsReservation = data.StructLayout({"demanded": 10, "reserved": 10})
"""Status word `KernelWord.RESERVATION` of a BFS kernel."""


class Kernel(BaseKernel):
    """Processes 1 to 4 with their multiplexer, decoder and slot allocator.

    In a machine that only searches (`config.bfs_only`), process 4 is `MarkingVisitor`, with `config.lean_visits` it is
    `LeanVisitor`, and otherwise `Visitor`. With `config.pair_reads`, process 2 is `PairReader`, and otherwise
    `NeighbourReader`. With `config.remembered_ids`, a `CopyFilter` stands between processes 2 and 3; with
    `config.visited_filter`, process 2 hands its ids to the exchange by an `IdRouter`, and process 3 gets those that a
    `VisitedBank` of either plane lets pass, by an `IdMerger`, while a `ReadingBarrier` tells when all have come. With
    `config.queued_requests`, a `RequestQueue` stands behind processes 1 and 2 each, a `NeighbourFetcher` between
    processes 3 and 4, and a `SlotGate` behind the slot allocator. With `config.edge_chunk`, a `ChunkSplitter` stands
    between processes 3 and 4. With `config.short_ring`, a `SlotDispenser` stands in for the slot allocator.

    Work is counted by credits: a credit is given back only after what it stood for has taken its place in the next
    process, so "all idle" cannot be seen while anything is under way.

    Parameters and members are those of `cyscc.hw.kernel.BaseKernel`.

    Attributes
    ----------
    READS_PER_ENTRY, READS_PER_EDGE, WRITES_PER_VISIT : int
        Requests for an entry of the current queue, for an edge (one if its id is dropped by a filter; with
        `config.pair_reads`, two ids are often read by one request), and for a vertex pushed (where the machine only
        searches, a write to mark a vertex, and another if it has neighbours; with `config.lean_visits`, at most; with
        `config.edge_chunk`, at most two writes for each further chunk of a vertex).
    """

    READS_PER_ENTRY = 1
    READS_PER_EDGE = 2
    WRITES_PER_VISIT = len(Step)

    PARAMETERS = (
        Register.WORDS,
        Register.NEIGHBOURS,
        Register.CURRENT_QUEUE,
        Register.NEXT_QUEUE,
        Register.REACH_QUEUE,
        Register.CURRENT_COUNT,
        Register.CAPACITY,
    )
    WORDS = MappingProxyType(
        {KernelWord.STATE: BfsState, KernelWord.CREDITS: BfsCredits, KernelWord.RESERVATION: BfsReservation}
    )
    READS = MappingProxyType(
        {
            Tag.FRONTIER_WORD: ("frontier_reader", "queues"),
            Tag.NEIGHBOUR_ID: ("neighbour_reader", "neighbours"),
            Tag.NEIGHBOUR_WORD: ("word_reader", "words"),
        }
    )
    WRITES = MappingProxyType({"queues": "visitor", "words": "visitor"})

    @classmethod
    def signature_of(cls, config: AcceleratorConfig, *, instrument: bool = False) -> Signature:
        """Return the signature of a kernel, with its members towards exchange or station if there are."""
        return KernelSignature(
            instrument=instrument,
            fifos=len(cls.fifos(config)),
            exchange=config.exchange_kernels,
            short_ring=config.short_ring,
        )

    @classmethod
    def fifos(cls, config: AcceleratorConfig) -> tuple[Fifo, ...]:
        """Return the FIFOs of a kernel, in the order of its output `fill`."""
        found = (
            Fifo("frontier", "frontier_depth", Cause.ISSUE_1),
            Fifo("neighbours", "neighbour_depth", Cause.ISSUE_2),
            Fifo("words", "word_depth", Cause.ISSUE_3),
            Fifo("visits", "visit_depth"),
        )
        return (*found, Fifo("marks", "visit_depth")) if config.bfs_only else found

    def elaborate(self, platform: object) -> Elaboratable:
        """Add the processes, the multiplexer and the decoder, and connect them."""
        m, control = self._begin(late_events=self._config.exchange_kernels > 0)
        parts = self._add_parts(m)
        fetching = self._add_fetching(m, parts) if self._config.queued_requests else None
        mux = self._add_port(
            m,
            control,
            parts.allocator,
            sources=[READ, READ, READ, WRITE] + [WRITE] * self._config.bfs_only,
            commands=(
                fetching.frontier.request if fetching else parts.frontier.command,
                fetching.neighbours.request if fetching else parts.neighbour.command,
                parts.word.command,
                parts.visitor.command,
            ),
            answers={
                Tag.FRONTIER_WORD: parts.frontier.response,
                Tag.NEIGHBOUR_ID: parts.neighbour.response,
                Tag.NEIGHBOUR_WORD: parts.word.response,
            },
        )
        neighbours = self._connect_streams(m, control, mux, parts, fetching)
        if self._config.blocking_reservation:
            held = self._hold_requests(m, mux, parts)
            if fetching:
                m.d.comb += fetching.gate.held.eq(held)
        self._connect_registers(m, control, parts)
        self._observe(m, control, mux, parts, neighbours, fetching)
        return m

    def _add_parts(self, m: Module) -> "_Parts":
        """Add the processes and the slot allocator."""
        config, instrument = self._config, self._instrument
        fetching = config.queued_requests > 0
        # A kernel with banks and router is too large for counts of places on the way to a grant.
        registered = config.exchange_kernels > 0
        m.submodules.frontier_reader = frontier = FrontierReader(
            depth=config.frontier_depth,
            stride=config.total_bfs_kernels,
            fetching=fetching,
            registered=registered,
            instrument=instrument,
        )
        neighbour: NeighbourReader | PairReader | LanePairReader
        if config.pair_reads and config.visited_filter:
            neighbour = LanePairReader(depth=config.neighbour_depth, registered=registered, instrument=instrument)
        elif config.pair_reads:
            neighbour = PairReader(depth=config.neighbour_depth, instrument=instrument)
        else:
            neighbour = NeighbourReader(
                depth=config.neighbour_depth, fetching=fetching, registered=registered, instrument=instrument
            )
        m.submodules.neighbour_reader = neighbour
        m.submodules.word_reader = word = WordReader(
            depth=config.word_depth, registered=registered, instrument=instrument
        )
        visitor: Visitor | MarkingVisitor
        if config.bfs_only:
            visitor = MarkingVisitor(depth=config.visit_depth, instrument=instrument)
        else:
            kind = LeanVisitor if config.lean_visits else Visitor
            visitor = kind(depth=config.visit_depth, chunk=config.edge_chunk)
        m.submodules.visitor = visitor
        allocator: SlotAllocator | SlotDispenser
        if config.short_ring:
            allocator = SlotDispenser(depth=config.visit_depth)
        else:
            allocator = SlotAllocator(depth=config.visit_depth, blocking=config.blocking_reservation)
        m.submodules.allocator = allocator
        splitter = None
        if config.edge_chunk:
            m.submodules.splitter = splitter = ChunkSplitter(chunk=config.edge_chunk)
        return _Parts(frontier, neighbour, word, splitter, visitor, allocator)

    def _add_fetching(self, m: Module, parts: "_Parts") -> "_Fetching":
        """Add the parts that take from FIFOs as the published kernel does, and the FIFOs of requests."""
        depth = self._config.queued_requests
        m.submodules.frontier_requests = first = RequestQueue(depth=depth)
        m.submodules.neighbour_requests = second = RequestQueue(depth=depth)
        m.submodules.fetcher = fetcher = NeighbourFetcher()
        m.submodules.gate = gate = SlotGate()
        connect(m, parts.frontier.command, first.command)
        connect(m, parts.neighbour.command, second.command)
        return _Fetching(first, second, fetcher, gate)

    def _connect_streams(
        self, m: Module, control: Any, mux: Any, parts: "_Parts", fetching: "_Fetching | None"
    ) -> tuple[Any, ...]:
        """Connect each process to the next; return process 2, and what stands between it and process 3."""
        neighbours: tuple[Any, ...] = (parts.neighbour,)
        connect(m, parts.frontier.words, parts.neighbour.words)
        if self._config.remembered_ids:
            m.submodules.copy_filter = copies = CopyFilter(depth=self._config.remembered_ids)
            connect(m, parts.neighbour.ids, copies.ids)
            connect(m, copies.fresh, parts.word.ids)
            m.d.comb += copies.start.eq(control.start)
            neighbours = (parts.neighbour, copies)
        elif self._config.visited_filter:
            neighbours = self._add_exchange(m, control, parts)
        else:
            connect(m, parts.neighbour.ids, parts.word.ids)
        if fetching:
            connect(m, parts.word.neighbours, fetching.fetcher.neighbours)
            connect(m, fetching.fetcher.fetched, parts.visitor.neighbours)
            connect(m, parts.allocator.slot, fetching.gate.reserved)
            connect(m, fetching.gate.slot, parts.visitor.slot)
        else:
            if parts.splitter:
                connect(m, parts.word.neighbours, parts.splitter.neighbours)
                connect(m, parts.splitter.pieces, parts.visitor.neighbours)
            else:
                connect(m, parts.word.neighbours, parts.visitor.neighbours)
            connect(m, parts.allocator.slot, parts.visitor.slot)
        if isinstance(parts.visitor, MarkingVisitor):
            connect(m, parts.visitor.mark, mux.source4)
            # The register of the reach queue's address holds the level in this machine.
            m.d.comb += parts.visitor.distance.eq(control.register_reach_queue)
        else:
            m.d.comb += parts.visitor.reach_queue.eq(control.register_reach_queue)
        return neighbours

    def _add_exchange(self, m: Module, control: Any, parts: "_Parts") -> tuple[Any, ...]:
        """Add what lies between process 2, the exchange and process 3; return it, process 2 included."""
        config, neighbour = self._config, parts.neighbour
        lanes = [neighbour.low, neighbour.high] if isinstance(neighbour, LanePairReader) else [neighbour.ids]
        m.submodules.router = router = IdRouter(kernels=config.bfs_kernels, lanes=len(lanes))
        m.submodules.merger = merger = IdMerger(kernels=config.bfs_kernels)
        m.submodules.barrier = barrier = ReadingBarrier()
        for lane, ids in enumerate(lanes):
            connect(m, ids, getattr(router, f"ids{lane}"))
        banks = [VisitedBank(kernels=config.bfs_kernels, vertices=config.visited_filter) for _ in PLANES]
        m.submodules.sweeper = sweeper = BankSweeper(kernels=config.bfs_kernels, rows=banks[0].rows)
        m.d.comb += [
            sweeper.clear.eq(control.start & control.register_current_count[NEW_SEARCH_BIT]),
            sweeper.last.eq(control.register_capacity),
            merger.owner.eq(control.number),
        ]
        for plane, bank in zip(PLANES, banks, strict=True):
            m.submodules[f"{plane}_bank"] = bank
            owned = getattr(self, f"owned_{plane}")
            m.d.comb += [
                *(getattr(self, f"{name}_{plane}").eq(getattr(router, f"{name}_{plane}")) for name in ("send", "id")),
                getattr(router, f"room_{plane}").eq(getattr(self, f"room_{plane}")),
                *drive(bank, sweep=sweeper.sweep, row=sweeper.row),
                # Another kernel may have started before, and its ids come before the bank is cleared.
                *drive(bank.ids, valid=owned.valid & control.busy, payload=owned.payload),
                owned.ready.eq(bank.ids.ready & control.busy),
            ]
            connect(m, bank.fresh, getattr(merger, plane))
        connect(m, merger.ids, parts.word.ids)
        m.d.comb += [
            *drive(barrier, busy=control.busy, epoch=control.epoch, drained=self.drained),
            barrier.sent.eq(parts.frontier.idle & neighbour.idle & router.idle),
            self.read_epoch.eq(barrier.read_epoch),
        ]
        return (neighbour, router, *banks, merger, barrier)

    def _hold_requests(self, m: Module, mux: Any, parts: "_Parts") -> Signal:
        """Block all requests while a vertex waits that was selected before its slot was there; return that it does.

        The published multiplexer selects its next request before it knows that the last slot is used up: it then takes
        a waiting vertex, which blocks all other requests.
        """
        visitor, allocator = parts.visitor, parts.allocator
        chosen_first = visitor.marking if isinstance(visitor, MarkingVisitor) else C(0)
        held = Signal()
        m.d.comb += mux.hold.eq(held & ~allocator.slot.valid)
        with m.If(visitor.pushed & ~allocator.reserved.any() & (visitor.level > 1) & ~chosen_first):
            m.d.sync += held.eq(1)
        with m.Elif((visitor.command.valid & visitor.command.ready) | visitor.overflow):
            m.d.sync += held.eq(0)
        return held

    def _connect_registers(self, m: Module, control: Any, parts: "_Parts") -> None:
        """Connect the parameters of the run."""
        m.d.comb += [
            parts.frontier.current_queue.eq(control.register_current_queue),
            parts.frontier.count.eq(control.register_current_count),
            parts.frontier.first.eq(control.number),
            parts.frontier.start.eq(control.start),
            parts.neighbour.neighbours.eq(control.register_neighbours),
            parts.word.words.eq(control.register_words),
            *drive(parts.visitor, words=control.register_words, next_queue=control.register_next_queue),
            *drive(parts.allocator, capacity=control.register_capacity, demand=parts.visitor.demand),
        ]

    def _observe(
        self,
        m: Module,
        control: Any,
        mux: Any,
        parts: "_Parts",
        neighbours: tuple[Any, ...],
        fetching: "_Fetching | None",
    ) -> None:
        """Connect counters, status words and causes."""
        frontier, neighbour, word, splitter, visitor, allocator = parts
        checked = (splitter or visitor).neighbours
        visitor_idle = visitor.idle & splitter.idle if splitter else visitor.idle
        fill = {"visits": visitor.level}
        if self._instrument and isinstance(visitor, MarkingVisitor):
            fill["marks"] = visitor.fill
        exchanging = {}
        if self._instrument and self._config.visited_filter:
            others = (frontier, *neighbours[:-1], word, visitor, allocator)
            finished = control.busy & visitor_idle & reduce(and_, [part.idle for part in others]) & ~mux.busy
            exchanging = self._exchange_reasons(neighbours, finished=finished)
        self._report(
            m,
            control,
            mux,
            allocator,
            (frontier, *neighbours, word, *([splitter] if splitter else ()), visitor, allocator, *(fetching or ())),
            readers={"frontier": frontier, "neighbours": neighbour, "words": word},
            events={
                Counter.ITEMS: checked.valid & checked.ready,
                Counter.PUSHED: visitor.pushed,
            },
            status={
                KernelWord.STATE: {
                    "frontier_idle": frontier.idle,
                    "neighbours_idle": reduce(and_, [part.idle for part in neighbours]),
                    "words_idle": word.idle,
                    "visitor_idle": visitor_idle,
                    "slots_idle": allocator.idle,
                    "slot_awaited": visitor.waiting,
                    "visits": visitor.level,
                },
                KernelWord.RESERVATION: {"demanded": allocator.demanded, "reserved": allocator.reserved},
            },
            reasons={Cause.SLOT: visitor.waiting} | exchanging,
            fill=fill,
        )

    def _exchange_reasons(self, parts: tuple[Any, ...], *, finished: Value) -> dict[Cause, Value]:
        """Return the conditions of the causes that only a kernel with an exchange has.

        Parameters
        ----------
        parts : tuple of component
            What `_add_exchange` returned.
        finished : Value
            The kernel has work only if another one sends it ids.
        """
        neighbour, router, *banks, merger, barrier = parts
        streams = (neighbour.low, neighbour.high) if isinstance(neighbour, LanePairReader) else (neighbour.ids,)
        waits = [ids.valid & ~ids.ready for ids in streams]
        waits.append(router.waiting)
        # What process 3 does not take waits for process 3, and not for a bank.
        going_on = ~merger.ids.valid | merger.ids.ready
        waits += [bank.ids.valid & ~bank.ids.ready & going_on for bank in banks]
        return {Cause.EXCHANGE: reduce(or_, waits), Cause.IDS: finished & ~barrier.idle}


class _Parts(NamedTuple):
    """The processes of a kernel, and its slot allocator."""

    frontier: FrontierReader
    neighbour: NeighbourReader | PairReader | LanePairReader
    word: WordReader
    splitter: ChunkSplitter | None
    visitor: Visitor | MarkingVisitor
    allocator: SlotAllocator | SlotDispenser


class _Fetching(NamedTuple):
    """Parts that take from FIFOs as those of the published kernel do."""

    frontier: RequestQueue
    neighbours: RequestQueue
    fetcher: NeighbourFetcher
    gate: SlotGate
