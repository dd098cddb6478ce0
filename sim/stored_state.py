"""Checks of a machine's state from a file, before compiled code gets it.

Compiled code trusts its state: it follows indices and masks without looking at them. A state from a file may hold
anything, so every value that selects a place is checked here, in `Memory.check` or in `Recording.check`.
"""

from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.registers import Counter, Instruction, Register
from cyscc.sim.executors.base import CommandKind
from cyscc.sim.named_words import NamedWords
from cyscc.sim.observation.state import MachineState, Tally

_LONGEST_RUN = 1 << 53
"""Most cycles of a run; they are added and multiplied as words."""


def check_state(state: MachineState, config: AcceleratorConfig) -> None:
    """Refuse a state that no machine of a configuration can have.

    Raises
    ------
    ValueError
        Something is missing, or out of range.
    """
    hardware = state.hardware
    hardware.check()
    (cycle,) = _values(hardware, "machine.cycle")
    _require(0 <= cycle <= _LONGEST_RUN, "its cycle")
    for name in ("began", "spent", "readout", "attempts"):
        _require(0 <= getattr(state, name) <= cycle, name)
    _check_commands(state.commands)
    _require(state.lead == len(state.commands) - 1, "lead")
    _require(_values(hardware, "machine.begun")[0] <= cycle, "its begin")
    for engine in range(config.engines):
        place = f"engine{engine}"
        (position,) = _values(hardware, f"{place}.host.position")
        _require(0 <= position <= len(state.commands), "the host's position")
        _require(not any(_values(hardware, f"{place}.host.awaiting")), "the host's position")
        for name in ("dispatched", "idle_since", "moved"):
            _require(-1 <= _values(hardware, f"{place}.host.{name}")[0] <= cycle, f"the host's {name}")
        for module, kernels in (("bfs", config.bfs_kernels), ("intersection", config.intersection_kernels)):
            for kernel in range(kernels):
                for name in ("begun", "ended"):
                    (when,) = _values(hardware, f"{place}.{module}{kernel}.{name}")
                    _require(-1 <= when <= cycle, f"{place}.{module}{kernel}.{name}")
    for name in hardware.places:
        if name.endswith(".cause"):
            _require(hardware.values(name)[0] < len(Cause), name)
    if state.attempt is not None:
        _check_tally(state.attempt, config, cycle)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} is out of range")


def _values(hardware: NamedWords, name: str) -> list[int]:
    """Return the words of a field as signed numbers."""
    if name not in hardware.places:
        raise ValueError(f"{name} is missing")
    values: list[int] = hardware.rows(name)[:, 0].view("int64").tolist()
    _require(len(values) > 0, name)
    return values


def _check_commands(commands: list[tuple[int, int, int]]) -> None:
    """Refuse a list of commands other than register writes before a dispatch."""
    *writes, last = commands or [(-1, -1, -1)]
    for kind, index, value in writes:
        _require(kind == CommandKind.WRITE and index in list(Register) and 0 <= value < 1 << 64, "a command")
    _require(last[0] == CommandKind.DISPATCH and last[1] in list(Instruction) and last[2] == 0, "the last command")


def _check_tally(tally: Tally, config: AcceleratorConfig, cycle: int) -> None:
    """Refuse counts of other kernels, or of later cycles."""
    kernels = config.bfs_kernels + config.intersection_kernels
    _require(tally.causes.shape == (config.engines, kernels, len(Cause)), "the number of causes")
    _require(tally.counters.shape == (kernels, len(Counter), config.engines), "the number of counters")
    for name in ("cycle", "instructions", "readout"):
        _require(0 <= getattr(tally, name) <= cycle, f"{name} of the attempt")
