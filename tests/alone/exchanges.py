"""Stimuli of the exchange's parts."""

from collections.abc import Mapping

from cyscc.hw.exchange.wires import PLANES
from tests.alone.stimuli import Ports, Stimuli
from tests.alone.switches import GatheringStimuli


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
