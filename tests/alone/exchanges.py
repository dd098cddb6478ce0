"""Stimuli of the exchange: its parts, and engines that exchange."""

from collections.abc import Mapping

from cyscc.hw.exchange.wires import PLANES
from cyscc.hw.interfaces import ChainMessage, ChainOp
from cyscc.hw.registers import NEW_SEARCH_BIT, Register
from tests.alone.engines import BfsKernelStimuli, ShellStimuli
from tests.alone.slots import Blocks, Demands
from tests.alone.stimuli import Ports, Stimuli, field_of, number_of, packed
from tests.alone.switches import GatheringStimuli, bits_of, mask_of


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
