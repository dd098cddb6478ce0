"""Rules for the inputs of components beyond those of streams, such as answers to requests only."""

from collections import deque
from collections.abc import Mapping

from amaranth.lib import wiring

from cyscc.hw.bfs.slot_allocator import Slot
from cyscc.hw.bfs.word_reader import Neighbour
from cyscc.hw.graph_word import GraphWord
from cyscc.hw.interfaces import ChainMessage, ChainOp, Token
from cyscc.hw.intersection.tags import Tag
from cyscc.hw.registers import NO_START, Register
from tests.alone.engines import BfsKernelStimuli, EngineStimuli, KernelStimuli, ShellStimuli, register_number
from tests.alone.parts import file_of
from tests.alone.sharing import (
    BankSweeperStimuli,
    CreditBankStimuli,
    ExchangeSliceStimuli,
    ExchangingKernelStimuli,
    ExchangingShellStimuli,
    FlushBarrierStimuli,
    GatheringStimuli,
    IdMergerStimuli,
    IdRouterStimuli,
    KernelSliceStimuli,
    LinkSliceStimuli,
    QueueBankStimuli,
    RoundRobinStimuli,
    SlotDispenserStimuli,
    SlotStationStimuli,
    SwitchStimuli,
    VisitedBankStimuli,
)
from tests.alone.stimuli import Ports, Stimuli, field_of, number_of, packed


class _Credits(Stimuli):
    """Take only what is available, and return only what was taken."""

    _out = 0

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        self._out += before.get("take", 0) - before.get("give", 0)
        now["take"] &= self._out < self.component.depth
        now["give"] &= self._out > 0


class _Reader(Stimuli):
    """Answers come to requests only."""

    def restart(self, run: int) -> None:
        super().restart(run)
        self._owed = {name[:-6]: 0 for name in self.inputs if name.endswith("response_valid")}

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        if before.get("command_valid") and before.get("command_ready"):
            self._owed[self.asked(before["command_payload"])] += 1
        for name in self._owed:
            self._owed[name] -= before.get(f"{name}_valid", 0)
            now[f"{name}_valid"] &= self._owed[name] > 0

    def asked(self, command: int) -> str:
        """Return by which stream a command is answered."""
        return "response"


class _ColourReader(_Reader):
    LENGTHS = (700,)

    def asked(self, command: int) -> str:
        tag = field_of(self.component.command.payload.shape(), command, "tag")
        return "colour_response" if tag == number_of(Tag.COLOUR) else "word_response"

    def value(self, name: str) -> int:
        value = super().value(name)
        # A colour is none, or often one bit; above it is what nobody looks at.
        colour = self.random.choice((0, 1 << self.random.randrange(32), value % 2**32))
        return value >> 32 << 32 | colour if name == "colour_response_payload" else value


class _NeighbourReader(_Reader):
    """Words of few neighbours; and, in a run each, of as many as one bit says, of which the first are asked for."""

    LENGTHS = (600, *[24] * 31)

    def value(self, name: str) -> int:
        if name != "words_payload":
            return super().value(name)
        degree = 1 + (1 << self.run - 1) if self.run and self.cycle > 4 else self.random.randrange(4)
        return packed(GraphWord, visited=1, degree=degree, start=self.field(32))


class _PairReader(_NeighbourReader):
    """The same with more neighbours, so that lists begin and end in the middle of pairs."""

    LENGTHS = (900, *[24] * 31)

    def value(self, name: str) -> int:
        value = super().value(name)
        if name == "words_payload" and not self.run:
            return packed(GraphWord, visited=1, degree=self.random.randrange(8), start=self.field(32))
        return value


class _ChunkSplitter(Stimuli):
    """Vertices of few chunks; and, in a run each, one of as many neighbours as one bit says."""

    LENGTHS = (700, *[24] * 31)

    def value(self, name: str) -> int:
        value = super().value(name)
        if name != "neighbours_payload":
            return value
        degree = self.random.randrange(5 * self.component._chunk)
        if self.run and self.cycle > 4:
            degree = 1 << self.run - 1
        word = packed(GraphWord, visited=self.random.random() < 0.2, degree=degree, start=self.field(32))
        return packed(Neighbour, vertex=field_of(Neighbour, value, "vertex"), word=word)


class _LeanVisitor(Stimuli):
    """Pieces of a vertex follow each other; slots ascend, and come for what was queued; addresses change between runs.

    As soon as a slot is beyond the capacity, all further ones of a run are.
    """

    LENGTHS = (2000,)
    PACES = (0.2, 0.6, 0.9, 1.0)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._owed = self._number = 0
        self._fitting = 20
        self._vertex: int | None = None

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        if before.get("slot_valid") and before["slot_ready"]:
            self._number += 1
            self._fitting -= 1
            self._owed -= 1
        self._owed += before.get("demand", 0)
        rests = not before or (before["idle"] and not before["demand"])
        if not rests:
            for name in ("next_queue", "words", "reach_queue"):
                now[name] = before[name]
        elif self.random.random() < 0.3:
            self._number = self.random.choice((0, 1 << self.random.randrange(32), 2**32 - 4, self.field(32)))
            self._fitting = self.random.randrange(60)
        if not (before.get("slot_valid") and not before["slot_ready"]):
            now["slot_valid"] &= self._owed > 0
            if self.random.random() < 0.2:
                # Those between are another kernel's.
                gap = self.random.randrange(1, 4)
                self._number += gap
                self._fitting -= gap
            now["slot_payload"] = packed(Slot, number=self._number % 2**32, fits=self._fitting > 0)
        self._bring(now, before)

    def _bring(self, now: Ports, before: Mapping[str, int]) -> None:
        """Change what comes into a further piece of the last vertex, if that has more."""
        shape = self.component.neighbours.payload.shape()
        if before.get("neighbours_valid"):
            if not before["neighbours_ready"]:
                return
            came = before["neighbours_payload"]
            more = "more" in shape.members and field_of(shape, came, "more")
            self._vertex = field_of(shape, came, "vertex") if more else None
        # Now and then none comes, so that a run ends.
        now["neighbours_valid"] &= self.cycle % 100 < 70
        word = field_of(shape, now["neighbours_payload"], "word") & ~1
        fields = {"vertex": field_of(shape, now["neighbours_payload"], "vertex"), "word": word}
        if self._vertex is None and self.random.random() < 0.3:
            fields["word"] |= 1
        elif "more" in shape.members:
            fields["more"] = self.random.randrange(2)
            fields["further"] = self._vertex is not None
        if self._vertex is not None:
            fields["vertex"] = self._vertex
        now["neighbours_payload"] = packed(shape, **fields)


class _SlotAllocator(Stimuli):
    """No more vertices wait than there are places; the token's value is near the capacity."""

    LENGTHS = (400,)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._waiting, self._capacity = 0, 0

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        self._waiting += before.get("demand", 0) - (before.get("slot_valid", 0) & before.get("slot_ready", 0))
        now["demand"] &= self._waiting < self.component._depth + 4
        if self.random.random() < 0.5:
            value = (now["capacity"] + self.random.randrange(-6, 3)) % 2**32
            done, epoch = self.random.randrange(2), self.random.randrange(2)
            now["token_in_payload"] = packed(Token, value=value, done=done, epoch=epoch)


class _MarkingVisitor(Stimuli):
    """Vertices have no neighbours, or often as many as one bit says."""

    LENGTHS = (900,)
    PACES = (0.2, 0.5, 1.0)

    def value(self, name: str) -> int:
        value = super().value(name)
        if name == "neighbours_payload":
            fields = {name: field_of(Neighbour, value, name) for name in ("word", "vertex")}
            degree = self.random.choice((0, 1 << self.random.randrange(31), self.field(31)))
            word = packed(GraphWord, visited=self.random.randrange(2), degree=degree, start=fields["word"] >> 32)
            return packed(Neighbour, vertex=fields["vertex"], word=word)
        return value


class _StartFinder(Stimuli):
    """Tokens often bring no start, or a number that differs from it in a bit."""

    LENGTHS = (500,)

    def value(self, name: str) -> int:
        value = super().value(name)
        if name == "token_in_payload" and self.random.random() < 0.8:
            return (value | NO_START) ^ self.random.choice((0, 0, 1 << self.random.randrange(32)))
        return value


class _Dispatch(Stimuli):
    """Mostly registers and instructions that there are."""

    LENGTHS = (2400,)

    def value(self, name: str) -> int:
        number = register_number(self, name)
        draw = self.random.random()
        if name == "read_payload" and draw < 0.3:
            number = self.random.choice((Register.STATUS, Register.CYCLES))
        if name == "read_payload" and 0.1 < draw < 0.6:
            # Much is told from its neighbours by one bit.
            return number ^ 1 << self.random.randrange(16)
        return number


class _KernelControl(Stimuli):
    """Mostly registers that are written, and questions."""

    LENGTHS = (650,)

    def value(self, name: str) -> int:
        value = super().value(name)
        draw = self.random.random()
        if name == "chain_in_payload" and draw < 0.5:
            write = {"op": number_of(ChainOp.WRITE), "index": self.random.randrange(16)}
            return packed(ChainMessage, hops=self.field(4), value=self.field(48), **write)
        if name == "chain_in_payload" and draw < 0.9:
            read = {"op": number_of(ChainOp.READ), "index": self.random.randrange(8)}
            return packed(ChainMessage, hops=self.random.choice((0, 0, 0, self.field(4))), value=self.field(48), **read)
        return value


class _QueueReader(_Reader):
    """Counts a little beyond this kernel's number, or beyond it by what one bit says."""

    PHASE = 6
    LENGTHS = (800,)
    COUNTS: Mapping[str, str] = {"count": "first"}

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        super().rule(now, before)
        place = self.cycle % self.PHASE
        if place == 0:
            for count, first in self.COUNTS.items():
                far = self.random.choice((0, 1 << self.random.randrange(32)))
                now[count] = (now[first] + far + self.random.randrange(-2, 9)) % 2**32
        # The count is steady from the cycle before on.
        now["start"] = int(place == 1 or (place > 1 and now["start"] and self.random.random() < 0.1))


class _ReachReader(_QueueReader):
    COUNTS: Mapping[str, str] = {"forward_count": "first", "backward_count": "first"}


class _CopyFilter(Stimuli):
    """Ids come again, or differ in a bit from one that came; a run begins when nothing is under way."""

    LENGTHS = (900,)
    PACES = (0.3, 0.7, 1.0)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._recent = [0] * 6

    def value(self, name: str) -> int:
        value = super().value(name)
        if name != "ids_payload":
            return value
        if self.random.random() < 0.8:
            value = self.random.choice(self._recent)
        if self.random.random() < 0.4:
            value ^= 1 << self.random.randrange(32)
        self._recent = [*self._recent[1:], value]
        return value

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        free = before.get("idle", 1) and not (before.get("ids_valid") and before.get("ids_ready"))
        now["start"] = int(
            free and not (before.get("ids_valid") and not before["ids_ready"]) and self.random.random() < 0.3
        )
        if now["start"]:
            now["ids_valid"] = 0


class _ModuleMaster(Stimuli):
    """Messages return on the chain; a run begins when the previous one is complete."""

    STEADY = ("engine",)
    LENGTHS = (800,)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._chain = deque([(0, 0)] * 3)
        self._free = True

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        message = before.get("chain_out_payload", 0)
        sent = before.get("chain_out_valid", 0)
        if sent and field_of(ChainMessage, message, "op") == number_of(ChainOp.READ):
            message = packed(ChainMessage, op=number_of(ChainOp.DATA), value=self.field(48))
        self._chain.append((sent, message))
        now["chain_in_valid"], now["chain_in_payload"] = self._chain.popleft()
        self._free |= bool(before.get("complete"))
        now["begin"] &= self._free
        if now["begin"]:
            self._free = False


class _RequestMux(Stimuli):
    """Often only one source asks, and often the port is slow."""

    PACES = (0.02, 0.1, 0.6, 1.0)
    LENGTHS = (800,)


_KINDS: dict[str, type[Stimuli]] = {
    "application_engine": EngineStimuli,
    "arbitrated_queues": GatheringStimuli,
    "bfs/chunk_splitter": _ChunkSplitter,
    "bfs/copy_filter": _CopyFilter,
    "bfs/frontier_reader": _QueueReader,
    "bfs/kernel": BfsKernelStimuli,
    "bfs/lean_visitor": _LeanVisitor,
    "bfs/marking_visitor": _MarkingVisitor,
    "bfs/neighbour_reader": _NeighbourReader,
    "bfs/pair_reader": _PairReader,
    "bfs/slot_allocator": _SlotAllocator,
    "bfs/slot_dispenser": SlotDispenserStimuli,
    "bfs/slot_station": SlotStationStimuli,
    "bfs/word_reader": _Reader,
    "credits": _Credits,
    "dispatch": _Dispatch,
    "exchange/bank_sweeper": BankSweeperStimuli,
    "exchange/exchange_slice": ExchangeSliceStimuli,
    "exchange/id_merger": IdMergerStimuli,
    "exchange/id_router": IdRouterStimuli,
    "exchange/visited_bank": VisitedBankStimuli,
    "intersection/classifier": _Reader,
    "intersection/colour_reader": _ColourReader,
    "intersection/kernel": KernelStimuli,
    "intersection/reach_reader": _ReachReader,
    "kernel_control": _KernelControl,
    "module_master": _ModuleMaster,
    "queue_bank": QueueBankStimuli,
    "queue_reader": _QueueReader,
    "request_mux": _RequestMux,
    "round_robin": RoundRobinStimuli,
    "intersection/start_finder": _StartFinder,
    "shell": ShellStimuli,
    "switch/credit_bank": CreditBankStimuli,
    "switch/flush_barrier": FlushBarrierStimuli,
    "switch/kernel_slice": KernelSliceStimuli,
    "switch/link_slice": LinkSliceStimuli,
    "switch/switch": SwitchStimuli,
}

_EXCHANGING: dict[type[Stimuli], type[Stimuli]] = {
    BfsKernelStimuli: ExchangingKernelStimuli,
    ShellStimuli: ExchangingShellStimuli,
}
"""By stimuli, those of such a component in a machine with an exchange."""


def stimuli_of(component: wiring.Component, name: str) -> Stimuli:
    """Return the stimuli of a component, whose name they are drawn by."""
    kind = _KINDS.get(file_of(component), Stimuli)
    if "drained" in component.signature.members:
        kind = _EXCHANGING.get(kind, kind)
    return kind(component, name)
