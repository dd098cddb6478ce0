"""A functional, untimed coprocessor: what the instructions do, and nothing of how."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.sim.configuration import PRESETS
from cyscc.sim.coprocessor import NO_START, ArrayKind, Coprocessor, Instruction, Register, Status
from cyscc.sim.hardware import DEGREE, LEVEL, START, VISITED

_BASE = 4096


class FakeCoprocessor(Coprocessor):
    """Executes instructions on the host.

    Parameters
    ----------
    size : int
        Bytes of memory.
    engines : int
        Application Engines. Only the last one reports an overflow.
    duplicates : bool
        Push every vertex of a level that is met twice a second time, as racing kernels may.
    offer : bool
        Offer a next start when the intersection meets one.
    searches : bool
        Only search: no reach queue.
    """

    def __init__(
        self,
        *,
        size: int = 1 << 24,
        engines: int = 2,
        duplicates: bool = False,
        offer: bool = True,
        searches: bool = False,
    ) -> None:
        self._memory = np.zeros(size // 8, np.uint64).view(np.uint8)
        self._top = _BASE
        self.config = PRESETS["test"].replace(engines=engines, bfs_only=searches)
        self._searches = searches
        self._duplicates = duplicates
        self._offer = offer
        self._registers: dict[int, int] = {}
        self._status = 0
        self._pending: int | None = None
        self._cycle = 0
        self.writes: list[dict[Register, int]] = []
        self.dispatched: list[Instruction] = []
        self.holds: dict[int, ArrayKind] = {}
        self.closed = False
        self.build_seconds = 0.25
        self.break_instruction: Instruction | None = None

    @property
    def cycle(self) -> int:
        return self._cycle

    def allocate(self, size: int, *, holds: ArrayKind = ArrayKind.OTHER) -> int:
        address = self._top
        self.holds[address] = holds
        self._top = -(-(address + size + 1) // 512) * 512
        if self._top > self._memory.size:
            raise MemoryError
        return address

    def view(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        end = address + np.dtype(dtype).itemsize * count
        assert _BASE <= address <= end <= self._top
        return self._memory[address:end].view(dtype)

    def set_registers(self, values: Mapping[Register, int]) -> None:
        self.writes.append(dict(values))
        self._registers.update(dict(values.items()))

    def get_registers(self, registers: Sequence[int]) -> npt.NDArray[np.uint64]:
        return np.array([self.register(register) for register in registers], np.uint64)

    def register(self, register: int) -> list[int]:
        """Return a register of each engine; only the last one reports an error, and only the first one a result."""
        if register == Register.STATUS:
            return [0] * (self.engines - 1) + [self._status]
        return [self._registers.get(Register(register), 0)] + [0] * (self.engines - 1)

    def dispatch(self, instruction: Instruction) -> int:
        self.dispatched.append(instruction)
        self._status = 0
        if instruction is self.break_instruction:
            self._status = int(Status.BAD_INSTRUCTION)
            self._pending = 1
        elif instruction is Instruction.BFS_LEVEL:
            self._pending = 100 + self._level()
        else:
            self._pending = 50 + self._intersect()
        return self._cycle

    def wait(self) -> int:
        assert self._pending is not None
        cycles, self._pending = self._pending, None
        self._cycle += cycles
        return cycles

    def begin_attempt(self) -> None:
        """Count nothing."""

    def statistics(self) -> dict[str, Any]:
        return {"memory": {"reads": 0}}

    def close(self) -> None:
        self.closed = True

    def _level(self) -> int:
        r = self._registers
        count, capacity = r[Register.CURRENT_COUNT], r[Register.CAPACITY]
        current = self.read(r[Register.CURRENT_QUEUE], np.uint64, count)
        pushed = 0
        met: set[int] = set()
        words: dict[int, np.uint64] = {}
        for start, degree in zip(START.get(current).tolist(), DEGREE.get(current).tolist(), strict=True):
            for neighbour in self.read(r[Register.NEIGHBOURS] + 4 * start, np.uint32, degree).tolist():
                place = self.view(r[Register.WORDS] + 8 * neighbour, np.uint64, 1)
                if VISITED.get(place[0]) and not (self._duplicates and neighbour in met):
                    continue
                met ^= {neighbour}
                word = words.setdefault(neighbour, place[0])
                place[0] = VISITED.put(1) | (LEVEL.put(r[Register.REACH_QUEUE]) if self._searches else word)
                if self._searches and not DEGREE.get(word):
                    continue
                if pushed < capacity:
                    self.view(r[Register.NEXT_QUEUE] + 8 * pushed, np.uint64, 1)[0] = word
                    if not self._searches:
                        self.view(r[Register.REACH_QUEUE] + 4 * pushed, np.uint32, 1)[0] = neighbour
                else:
                    self._status = int(Status.OVERFLOW)
                pushed += 1
        self._registers[Register.CURRENT_COUNT] = pushed
        return count + pushed

    def _intersect(self) -> int:
        r = self._registers
        forward = self.read(r[Register.FORWARD_QUEUE], np.uint32, r[Register.FORWARD_COUNT]).tolist()
        backward = self.read(r[Register.BACKWARD_QUEUE], np.uint32, r[Register.BACKWARD_COUNT]).tolist()
        candidate = NO_START
        passes = (
            (forward, r[Register.WORDS], r[Register.TRANSPOSED_WORDS]),
            (backward, r[Register.TRANSPOSED_WORDS], r[Register.WORDS]),
        )
        for queue, own, other in passes:
            for vertex in queue:
                colour = self.view(r[Register.COLOURS] + 4 * vertex, np.uint32, 1)
                if colour[0]:
                    continue
                if self.view(other + 8 * vertex, np.uint64, 1)[0] & 1:
                    colour[0] = r[Register.COLOUR]
                else:
                    self.view(own + 8 * vertex, np.uint64, 1)[0] &= ~VISITED.put(1)
                    candidate = vertex
        self._registers[Register.NEXT_START] = candidate if self._offer else NO_START
        return len(forward) + len(backward)
