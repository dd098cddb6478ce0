"""Stimuli of what reserves and hands out slots where an AE has one station for all its kernels."""

from collections.abc import Mapping

from cyscc.hw.interfaces import Block
from tests.alone.stimuli import Ports, Stimuli, field_of, packed
from tests.alone.switches import bits_of, mask_of


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
