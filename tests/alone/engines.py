"""Stimuli of kernels, shells and engines: instructions, tokens, and memories."""

from collections import deque
from collections.abc import Mapping
from typing import ClassVar

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.dispatch import AegWrite
from cyscc.hw.interfaces import ChainMessage, ChainOp, Token
from cyscc.hw.registers import NO_START, Instruction, KernelWord, Register, kernel_register
from tests.alone.memories import Memory
from tests.alone.stimuli import Ports, Stimuli, field_of, number_of, packed

_COUNTS = frozenset({Register.CURRENT_COUNT, Register.CAPACITY, Register.FORWARD_COUNT, Register.BACKWARD_COUNT})
"""Registers that decide how long a run takes."""

_READ = (*range(18), Register.STATUS, Register.STATUS, Register.CURRENT_COUNT, Register.NEXT_START)


def _often(stimuli: Stimuli, share: float) -> bool:
    return stimuli.random.random() < share


def register_number(stimuli: Stimuli, name: str) -> int:
    """Return a value for an input of a shell or of its dispatch: mostly registers and instructions that there are."""
    if name == "write_payload":
        index = stimuli.random.randrange(17) if _often(stimuli, 0.9) else stimuli.field(16)
        # Where there are kernels, a run must end.
        small = index in _COUNTS and (isinstance(stimuli, EngineStimuli) or _often(stimuli, 0.9))
        small &= index != Register.CAPACITY or _often(stimuli, 0.4)
        value = stimuli.random.randrange(1, 8) if small else stimuli.field(64)
        return packed(AegWrite, index=index, value=value)
    if name == "read_payload" and _often(stimuli, 0.2):
        # Near what there is.
        number = stimuli.random.choice((kernel_register(stimuli.random.randrange(5), 0), stimuli.random.randrange(20)))
        return number ^ 1 << stimuli.random.randrange(16)
    if name == "read_payload" and _often(stimuli, 0.9):
        kernel, word = stimuli.random.randrange(4), stimuli.random.randrange(8)
        return kernel_register(kernel, word) if _often(stimuli, 0.4) else stimuli.random.choice(_READ)
    if name == "instruction_payload" and _often(stimuli, 0.9):
        return stimuli.random.randrange(len(Instruction))
    return Stimuli.value(stimuli, name)


class KernelStimuli(Stimuli):
    """Runs one after another, tokens that come by, questions, and a memory."""

    LENGTHS: tuple[int, ...] = (1020,)
    PACES = (0.2, 0.9, 1.0)
    LONGER: tuple[int, ...] = (1,)
    """By run, how much longer the queues are that it reads."""

    def restart(self, run: int) -> None:
        super().restart(run)
        self._memory = Memory(self, "port")
        self._memory.searching = isinstance(self.component, BfsKernel)
        self._script: deque[int] = deque()
        self._started = self._capacity = 0

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        self._memory.rule(now, before)
        self._give_slots(now, before)
        if not self._script and (not self._started or (self.cycle - self._started > 3 and before["done"])):
            self._script.extend(self._program())
            self._started = self.cycle + 1000
        now["chain_in_valid"] &= bool(self._script) or _often(self, 0.6)
        if not now["chain_in_valid"]:
            return
        if self._script and _often(self, 0.8):
            now["chain_in_payload"] = self._script.popleft()
            if not self._script:
                self._started = self.cycle
        else:
            word, hops = (
                self.random.choice((0, 0, self.field(3), self.field(4))),
                self.random.choice((0, 0, 0, self.field(4))),
            )
            fields = {"index": word, "hops": hops, "value": self.field(48)}
            op = self.random.choice((ChainOp.READ, ChainOp.READ, ChainOp.READ, ChainOp.DATA))
            now["chain_in_payload"] = packed(ChainMessage, op=number_of(op), **fields)

    def _give_slots(self, now: Ports, before: Mapping[str, int]) -> None:
        """Let tokens come by."""
        now["token_in_valid"] &= _often(self, 0.4)
        if _often(self, 0.8):
            # A slot below the capacity, where that is not the lowest numbers.
            value = max(self._capacity - self.random.randrange(10), 0)
            fields = {"done": self.random.randrange(2), "epoch": self.random.randrange(2)}
            if not isinstance(self.component, BfsKernel):
                value = NO_START
            now["token_in_payload"] = packed(Token, value=value, **fields)

    def _program(self) -> list[int]:
        """Return the messages that begin a run: registers of this kernel and of others, and the start."""
        number = self.random.randrange(4) if _often(self, 0.7) else self.field(32)
        script = []
        for register in self.component.PARAMETERS:
            value = self.field(48)
            if register in _COUNTS:
                value = self.random.randrange(12) * self.LONGER[self.run] + number * (register != Register.CAPACITY)
            if register == Register.CAPACITY:
                value = self._capacity = value if _often(self, 0.3) else self.field(32)
            script.append(packed(ChainMessage, op=number_of(ChainOp.WRITE), index=register, value=value))
        if _often(self, 0.5):
            other = packed(ChainMessage, op=number_of(ChainOp.WRITE), index=15, value=self.field(48))
            script.insert(self.random.randrange(len(script)), other)
        return [*script, packed(ChainMessage, op=number_of(ChainOp.START), value=number)]


class BfsKernelStimuli(KernelStimuli):
    """In a second run tokens are rare and writes wait, and the kernel is asked how many vertices wait for a slot."""

    LENGTHS: tuple[int, ...] = (1020, 400)
    LONGER = (1, 4)
    SLOTS = "token_in"
    """The stream that brings slots."""

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        super().rule(now, before)
        if not self.run:
            return
        now[f"{self.SLOTS}_valid"] &= _often(self, 0.15)
        now["port_read_ready"] |= _often(self, 0.8)
        now["port_write_ready"] &= self.cycle % 64 < 24
        if now["chain_in_valid"] and field_of(ChainMessage, now["chain_in_payload"], "op") == number_of(ChainOp.READ):
            word = self.random.choice((KernelWord.STATE, KernelWord.RESERVATION))
            now["chain_in_payload"] = packed(ChainMessage, op=number_of(ChainOp.READ), index=word)


class _HostStimuli(Stimuli):
    """A host, and the links to other engines."""

    STEADY = ("engine",)
    FOREIGN: ClassVar[int]
    """Bits in which other engines change a token's value, which is the next run's count."""

    def value(self, name: str) -> int:
        if name == "engine":
            return self.run
        return register_number(self, name)

    def restart(self, run: int) -> None:
        super().restart(run)
        self._links: deque[tuple[int, int]] = deque([(0, 0)] * 5)

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        # Some registers are written before each instruction.
        now["instruction_valid"] &= _often(self, 0.1 if before.get("idle", 1) else 0.02)
        self._links.append((before.get("link_out_valid", 0), before.get("link_out_payload", 0)))
        valid, token = self._links.popleft()
        now["link_in_valid"] = int(valid or (self.run > 0 and _often(self, 0.1)))
        if valid:
            # Other engines have reserved slots; a token that came to the wrong module would be lost.
            now["link_in_payload"] = token ^ (self.field(self.FOREIGN) if _often(self, 0.5) else 0)


class ShellStimuli(_HostStimuli):
    """A host, the kernels' stations of chain and ring, and links."""

    LENGTHS: tuple[int, ...] = (2000, 600, 100)
    FOREIGN = 32

    def restart(self, run: int) -> None:
        super().restart(run)
        self._kernels = {"bfs": 2, "intersection": 1}
        self._chains = {module: deque([(0, 0)] * count) for module, count in self._kernels.items()}
        self._rings = {module: deque([(0, 0)] * count) for module, count in self._kernels.items()}
        self._left = {module: [0] * count for module, count in self._kernels.items()}

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        super().rule(now, before)
        if self.cycle % 64 >= 40:
            # So that it rests, and shows what wakes it.
            for name in ("write", "read", "instruction"):
                now[f"{name}_valid"] &= before[f"{name}_valid"] & ~before[f"{name}_ready"]
        for module, count in self._kernels.items():
            self._pass_message(module, count, now, before)
            if f"{module}_token_in_valid" in self.inputs:
                self._pass_token(module, now, before)
            self._left[module] = [max(left - 1, 0) for left in self._left[module]]
            now[f"{module}_done"] = sum(self._done(module, place) << place for place in range(count))
            if before and not _often(self, 0.1):
                now[f"{module}_error"] = before[f"{module}_error"]

    def _done(self, module: str, place: int) -> bool:
        """Return whether a kernel is done."""
        return self._left[module][place] == 0

    def _begin(self, module: str, count: int) -> None:
        """Begin a run of a module's kernels."""
        self._left[module] = [self.random.randrange(3, 40) for _ in range(count)]

    def _pass_message(self, module: str, count: int, now: Ports, before: Mapping[str, int]) -> None:
        """Pass a message of the chain through a module's kernels."""
        message = before.get(f"{module}_chain_out_payload", 0)
        sent = before.get(f"{module}_chain_out_valid", 0)
        if sent and field_of(ChainMessage, message, "op") == number_of(ChainOp.START):
            message = packed(ChainMessage, op=number_of(ChainOp.START), value=(message >> 10) + count)
            self._begin(module, count)
        elif sent and field_of(ChainMessage, message, "op") == number_of(ChainOp.READ):
            message = packed(ChainMessage, op=number_of(ChainOp.DATA), value=self.field(48))
        self._chains[module].append((sent, message))
        now[f"{module}_chain_in_valid"], now[f"{module}_chain_in_payload"] = self._chains[module].popleft()

    def _pass_token(self, module: str, now: Ports, before: Mapping[str, int]) -> None:
        """Pass a token through a module's kernels."""
        token = before.get(f"{module}_token_out_payload", 0)
        busy = any(self._left[module])
        done = (token >> Token["done"].offset) & (not busy) & _often(self, 0.9)
        token = token & ~(1 << Token["done"].offset) | done << Token["done"].offset
        token ^= self.field(4) if module == "bfs" and _often(self, 0.5) else 0
        self._rings[module].append((before.get(f"{module}_token_out_valid", 0), token))
        now[f"{module}_token_in_valid"], now[f"{module}_token_in_payload"] = self._rings[module].popleft()


class EngineStimuli(_HostStimuli):
    """A host, links, and a memory at every port."""

    LENGTHS = (500, 120)
    FOREIGN = 2

    def restart(self, run: int) -> None:
        super().restart(run)
        self._memories = [Memory(self, f"port_{number}") for number in range(len(self.component.port))]

    def rule(self, now: Ports, before: Mapping[str, int]) -> None:
        super().rule(now, before)
        for memory in self._memories:
            if before.get("idle") and before["instruction_valid"]:
                memory.searching = before["instruction_payload"] == Instruction.BFS_LEVEL
            memory.rule(now, before)
