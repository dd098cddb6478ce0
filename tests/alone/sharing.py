"""Stimuli of what kernels share: queues that gather, the switch, stations that reserve slots, the exchange of ids."""

from collections.abc import Mapping

from cyscc.hw.exchange.wires import PLANES
from cyscc.hw.interfaces import Block, ChainMessage, ChainOp
from cyscc.hw.registers import NEW_SEARCH_BIT, Register
from tests.alone.engines import BfsKernelStimuli, ShellStimuli
from tests.alone.memories import AnyMemory
from tests.alone.stimuli import Ports, Stimuli, field_of, number_of, packed


def bits_of(mask: int, width: int) -> list[int]:
    """Return the bits of a mask, lowest first."""
    return [mask >> place & 1 for place in range(width)]


def mask_of(bits: list[bool]) -> int:
    """Return the mask of bits, lowest first."""
    return sum(bool(bit) << place for place, bit in enumerate(bits))


class QueueBankStimuli(Stimuli):
    """Queues get entries up to the last place, and one is pulled only from a queue that has some."""

    LENGTHS = (1500,)
    PHASE = 48
    BITS = ("push",)
    CHANGING = ("entry",)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._waiting = [0] * self.inputs["push"]
        self._held = [0] * self.inputs["push"]

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        queues = self.inputs["push"]
        advance = before.get("advance", 0)
        pushed, pulled, left = (bits_of(before.get(name, 0), queues) for name in ("push", "pull", "pulling"))
        for number in range(queues):
            self._waiting[number] += pushed[number] - (advance & pulled[number])
            self._held[number] += pushed[number] - (advance & left[number])
        now["push"] &= mask_of([held < self.component.capacity for held in self._held])
        available = [number for number, waiting in enumerate(self._waiting) if waiting]
        now["pull"] = 1 << self.random.choice(available) if available and self.paced("pull") else 0


class RoundRobinStimuli(Stimuli):
    """Each request comes as often as it likes."""

    BITS = ("requests",)


class GatheringStimuli(Stimuli):
    """Entries come where there was room in the cycle before."""

    LENGTHS: tuple[int, ...] = (700,)
    BITS: tuple[str, ...] = ("push",)
    CHANGING: tuple[str, ...] = ("entry",)
    ROOM: Mapping[str, str] = {"push": "room"}
    """By input of pushes, the output that allows them."""

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        for push, room in self.ROOM.items():
            now[push] &= before.get(room, 0)


class LinkSliceStimuli(GatheringStimuli):
    """The same, and a memory at the port."""

    LENGTHS = (900,)
    CHANGING = ("request",)
    STEADY = ("number",)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._memory = AnyMemory(self, "port")

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        super().rule(now, before)
        self._memory.rule(now, before)


class KernelSliceStimuli(Stimuli):
    """Links bring an answer to each read that was sent to them."""

    LENGTHS = (1500,)
    PHASE = 48
    BITS = ("room", "arrives")
    CHANGING = ("answer",)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._owed = [0] * self.inputs["room"]

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        links = self.inputs["room"]
        request = self.component.request.shape()
        reading = not field_of(request, before.get("request", 0), "write")
        sent, answered = (bits_of(before.get(name, 0), links) for name in ("send", "arrives"))
        for link in range(links):
            self._owed[link] += (sent[link] & reading) - answered[link]
        now["arrives"] &= mask_of([owed > 0 for owed in self._owed])


class SwitchStimuli(Stimuli):
    """A memory at each port."""

    LENGTHS = (700,)

    def restart(self, run: int) -> None:
        super().restart(run)
        ports = [name.removesuffix("_flushed") for name in self.inputs if name.endswith("_flushed")]
        self._memories = [AnyMemory(self, port) for port in ports]

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        for memory in self._memories:
            memory.rule(now, before)


class CreditBankStimuli(Stimuli):
    """Take only what is available, and return only what was taken."""

    LENGTHS = (1200,)
    PHASE = 48
    BITS = ("take", "give")

    def restart(self, run: int) -> None:
        super().restart(run)
        self._used = [0] * self.inputs["take"]

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        fifos = self.inputs["take"]
        # What is available is known a cycle late.
        now["take"] &= mask_of([used < self.component.depth - 1 for used in self._used])
        taken, given = (bits_of(before.get(name, 0), fifos) for name in ("take", "give"))
        self._used = [used + taken[n] - given[n] for n, used in enumerate(self._used)]
        now["give"] &= mask_of([used > 0 for used in self._used])


class FlushBarrierStimuli(Stimuli):
    """Each kernel at work asks once a run, and each port answers a flush once; then others may be at work."""

    LENGTHS = (900,)
    BITS = ("asks", "answers")

    def restart(self, run: int) -> None:
        super().restart(run)
        self._working, self._asked, self._unanswered = (1 << self.inputs["working"]) - 1, 0, 0
        self._flushing = False

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        self._asked |= before.get("asks", 0)
        if before.get("flush"):
            self._flushing, self._unanswered = True, (1 << self.inputs["answers"]) - 1
        if before.get("flushed"):
            self._flushing, self._asked = False, 0
        if not self._asked and self.random.random() < 0.2:
            self._working = self.random.randrange(1, 1 << self.inputs["working"])
        now["working"] = self._working
        now["asks"] &= self._working & ~self._asked
        now["busy"] &= not self._flushing
        now["answers"] &= self._unanswered
        self._unanswered &= ~now["answers"]


class Blocks:
    """Blocks of ascending slots for a kernel: of as many as it asked for at most, and one at a time.

    Parameters
    ----------
    stimuli : Stimuli
        Whose inputs it changes.
    """

    def __init__(self, stimuli: Stimuli) -> None:
        self._stimuli = stimuli
        self._owed = 0
        self._room = False
        self.next = 0
        """Lowest number of the next slot."""

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        """Give a block, or none."""
        draw = self._stimuli.random
        if before.get("block_valid"):
            self._owed -= field_of(Block, before["block_payload"], "count")
            self._room = False
        elif before.get("room"):
            self._room = True
        self._owed += before.get("asked", 0)
        now["block_valid"] &= self._owed > 0 and self._room
        if now["block_valid"]:
            count = draw.choice((self._owed, draw.randrange(1, self._owed + 1)))
            first = self.next + draw.choice((0, 0, draw.randrange(3)))
            now["block_payload"] = packed(Block, first=first, count=count)
            self.next = (first + count) % 2**32


class SlotDispenserStimuli(Stimuli):
    """No more vertices wait than there are places; slots are near the capacity."""

    LENGTHS = (900,)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._waiting = 0
        self._blocks = Blocks(self)

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        self._waiting += before.get("demand", 0) - (before.get("slot_valid", 0) & before.get("slot_ready", 0))
        now["demand"] &= self._waiting < self.component.signature.members["demanded"].shape.stop - 1
        if self.cycle % self.PHASE == 0:
            beyond = self.random.choice((0, 0, 1 << self.random.randrange(32)))
            self._blocks.next = (now["capacity"] + beyond - self.random.randrange(12)) % 2**32
        self._blocks.rule(now, before)


class Demands:
    """Demands of several kernels at their station, and whether they have room for a block.

    Parameters
    ----------
    stimuli : Stimuli
        Whose inputs it changes.
    prefix : str
        Beginning of the names.
    most : int
        Vertices of a kernel that can wait at a time.
    """

    def __init__(self, stimuli: Stimuli, prefix: str, *, most: int) -> None:
        self._stimuli = stimuli
        self._prefix = prefix
        self._most = most
        kernels = stimuli.inputs[f"{prefix}asked"]
        self._demanded = [0] * kernels
        self._room = [True] * kernels

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        """Keep the demands within what may wait; let a kernel have no room for some time after a block."""
        draw, prefix = self._stimuli.random, self._prefix
        asked = bits_of(before.get(f"{prefix}asked", 0), len(self._room))
        for kernel in range(len(self._room)):
            self._demanded[kernel] += asked[kernel]
            if before.get(f"{prefix}block{kernel}_valid"):
                self._demanded[kernel] -= field_of(Block, before[f"{prefix}block{kernel}_payload"], "count")
                self._room[kernel] = draw.random() < 0.3
            else:
                self._room[kernel] |= draw.random() < 0.3
        now[f"{prefix}asked"] &= mask_of([demanded < self._most for demanded in self._demanded])
        now[f"{prefix}room"] = mask_of(self._room)


class SlotStationStimuli(Stimuli):
    """Kernels with demands, and tokens, also close to each other."""

    LENGTHS = (1200,)
    STEADY = ("epoch",)
    BITS = ("asked", "done")

    def restart(self, run: int) -> None:
        super().restart(run)
        self._demands = Demands(self, "", most=self.component.most)

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        self._demands.rule(now, before)


class ExchangeSliceStimuli(GatheringStimuli):
    """Ids come where there was room in the cycle before."""

    LENGTHS = (900,)
    BITS = tuple(f"push_{plane}" for plane in PLANES)
    CHANGING = PLANES
    ROOM: Mapping[str, str] = {f"push_{plane}": f"room_{plane}" for plane in PLANES}


class IdRouterStimuli(Stimuli):
    """Streams bring halves of a pair, both of which are taken before the next pair comes."""

    LENGTHS = (700,)
    BITS = tuple(f"room_{plane}" for plane in PLANES)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._lanes = [name.removesuffix("_valid") for name in self.inputs if name.endswith("_valid")]
        self._left: list[str] = []

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        self._left = [lane for lane in self._left if not before[f"{lane}_ready"]]
        if not self._left and self.paced(f"{self._lanes[0]}_valid"):
            count = self.random.randrange(1, len(self._lanes) + 1)
            self._left = self.random.sample(self._lanes, count)
        for lane in self._lanes:
            now[f"{lane}_valid"] = int(lane in self._left)


class IdMergerStimuli(Stimuli):
    """The owner stays the same for some time."""

    STEADY = ("owner",)
    LENGTHS = (400,)


class BankSweeperStimuli(Stimuli):
    """The last id is often one of those that a bank has a bit of, or a power of two."""

    LENGTHS = (700,)
    PACES = (0.05, 0.2, 0.7)
    CHANGING = ("last",)

    def value(self, name: str) -> int:
        choice = self.random.randrange(3)
        if name != "last" or not choice:
            return super().value(name)
        rows = 1 << len(self.component.row)
        # A row has 64 bits, and bits 0 and up to two more of an id are those of plane and owner.
        return self.random.randrange(rows << 9) if choice == 1 else 1 << self.random.randrange(32)


class VisitedBankStimuli(Stimuli):
    """Ids come again, or differ in a bit from one that came; rows are cleared when nothing is under way."""

    LENGTHS = (3000,)
    PACES = (0.3, 0.8, 1.0)
    BITS = ("row",)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._recent = [0] * 6
        self._rows_left = 0

    def value(self, name: str) -> int:
        if name != "ids_payload":
            return super().value(name)
        draw = self.random.random()
        value = self.random.choice(self._recent)
        if draw < 0.35:
            value = self.random.getrandbits(self.component.id_bits)
        elif draw < 0.65:
            value ^= 1 << self.random.randrange(self.component.id_bits + 1)
        elif draw < 0.75:
            value ^= 1 << self.random.randrange(self.inputs[name])
        self._recent = [*self._recent[1:], value]
        return value

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        offered = before.get("ids_valid", 0)
        rests = before.get("idle", 1) and not (offered and before["ids_ready"])
        free = rests and not (offered and not before["ids_ready"])
        self._rows_left = max(self._rows_left - 1, 0)
        if free and not self._rows_left and self.random.random() < 0.03:
            # No id is offered in the first cycle; those that come later wait.
            now["ids_valid"] = 0
            self._rows_left = self.random.randrange(1, self.component.rows + 1)
        now["sweep"] = int(self._rows_left > 0)


class _Others:
    """The other kernels of an AE: they send ids that a kernel owns, and tell when all of a run are sent.

    Parameters
    ----------
    stimuli : Stimuli
        Whose inputs it changes.
    """

    def __init__(self, stimuli: Stimuli) -> None:
        self._stimuli = stimuli
        self._left = 0
        self._sending = False
        self._epoch = 0
        """Of the last run of which they sent all ids."""

    def begin(self) -> None:
        """Begin a run."""
        self._left, self._sending = self._stimuli.random.randrange(40), True

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        """Send ids, and tell the kernel when all have left the exchange."""
        own = before.get("read_epoch", 0)
        now["drained"] = 1 << own if not self._left and own == self._epoch else 0
        offered = [bool(before.get(f"owned_{plane}_valid")) for plane in PLANES]
        stays = [offer and not before[f"owned_{plane}_ready"] for plane, offer in zip(PLANES, offered, strict=True)]
        self._left -= sum(offered) - sum(stays)
        spare = self._left - sum(stays)
        for plane, stay in zip(PLANES, stays, strict=True):
            if not stay:
                now[f"owned_{plane}_valid"] &= spare > 0
                spare -= now[f"owned_{plane}_valid"]
        if self._sending and not self._left and self._stimuli.random.random() < 0.2:
            self._sending, self._epoch = False, 1 - self._epoch


class ExchangingKernelStimuli(BfsKernelStimuli):
    """Runs one after another, of which many begin a search; ids from other kernels; and slots."""

    LENGTHS = (1400, 700)
    BITS = tuple(f"room_{plane}" for plane in PLANES)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._memory.most_neighbours = 11
        self._others = _Others(self)
        self._blocks = Blocks(self)
        if "block_valid" in self.inputs:
            self.SLOTS = "block"

    def value(self, name: str) -> int:
        if name.startswith("owned") and self.random.random() < 0.7:
            return self.random.randrange(24)
        return super().value(name)

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        super().rule(now, before)
        self._others.rule(now, before)

    def _give_slots(self, now: Ports, before: Mapping[str, int]) -> None:
        if self.SLOTS == "block":
            self._blocks.rule(now, before)
        else:
            super()._give_slots(now, before)

    def _program(self) -> list[int]:
        script = super()._program()
        self._others.begin()
        self._blocks.next = max(self._capacity - self.random.randrange(20), 0)
        count = {"op": number_of(ChainOp.WRITE), "index": Register.CURRENT_COUNT}
        for place, message in enumerate(script):
            if all(field_of(ChainMessage, message, name) == value for name, value in count.items()):
                new = self.random.randrange(2) << NEW_SEARCH_BIT
                value = field_of(ChainMessage, message, "value") + new
                script[place] = packed(ChainMessage, value=value, **count)
        return script


class ExchangingShellStimuli(ShellStimuli):
    """A host, the kernels' stations of chain and ring, links, the exchange, memory ports, and demands of slots."""

    LENGTHS = (2000, 600, 200)
    BITS = ("asks", "bfs_asked", "exchange_busy")

    def restart(self, run: int) -> None:
        super().restart(run)
        self._demands = Demands(self, "bfs_", most=8)
        self._epochs = [0] * self._kernels["bfs"]
        self._read_epochs = [0] * self._kernels["bfs"]
        self._asked = {module: [True] * count for module, count in self._kernels.items()}
        self._flushed = {module: [True] * count for module, count in self._kernels.items()}
        self._unanswered = 0
        self._flushing = False

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        for module, flushed in self._flushed.items():
            came = bits_of(before.get("flushed", 0), len(flushed))
            owns = bool(before.get("intersection_owns")) == (module == "intersection")
            self._flushed[module] = [there or bool(owns and bit) for there, bit in zip(flushed, came, strict=True)]
        super().rule(now, before)
        self._exchange(now)
        self._ask(now, before)
        self._demands.rule(now, before)
        now["bfs_asked"] &= mask_of([left > 0 for left in self._left["bfs"]])
        now["bfs_epoch"] = mask_of([bool(epoch) for epoch in self._epochs])

    def _begin(self, module: str, count: int) -> None:
        super()._begin(module, count)
        self._asked[module] = [False] * count
        self._flushed[module] = [False] * count
        if module == "bfs":
            self._epochs = [1 - epoch for epoch in self._epochs]

    def _done(self, module: str, place: int) -> bool:
        return super()._done(module, place) and self._flushed[module][place]

    def _exchange(self, now: Ports) -> None:
        """Let ids be in the exchange until each kernel has sent all of its own."""
        left = self._left["bfs"]
        for kernel, epoch in enumerate(self._epochs):
            if not left[kernel] or (left[kernel] < 12 and self.random.random() < 0.2):
                self._read_epochs[kernel] = epoch
        now["read_epoch"] = mask_of([bool(epoch) for epoch in self._read_epochs])
        if not any(left):
            now["exchange_busy"] = 0

    def _ask(self, now: Ports, before: Mapping[str, int]) -> None:
        """Ask for a flush when a kernel has finished, and answer for the memory ports."""
        wanted = 0
        for module, asked in self._asked.items():
            for place in range(len(asked)):
                finished = not self._left[module][place]
                if module == "bfs":
                    finished &= bool(before.get("drained", 0) >> self._epochs[place] & 1)
                if finished and not asked[place] and now["asks"] >> place & 1:
                    wanted |= 1 << place
                    asked[place] = True
        now["asks"] = wanted
        if before.get("flush"):
            self._flushing, self._unanswered = True, (1 << self.inputs["answers"]) - 1
        if before.get("flushed"):
            self._flushing = False
        now["busy"] &= not self._flushing
        now["answers"] &= self._unanswered
        self._unanswered &= ~now["answers"]
