"""Stimuli of the switch's parts, and of the queues that gather what many send."""

from collections.abc import Mapping

from tests.alone.memories import AnyMemory
from tests.alone.stimuli import Ports, Stimuli, field_of


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
