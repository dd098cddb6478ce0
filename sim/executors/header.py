"""What native executors share with the hardware, the memory model and Python, as a C++ header."""

from dataclasses import asdict
from enum import IntEnum

from hw.causes import Cause
from hw.config import AcceleratorConfig
from sim.executors.base import CommandKind, RunState
from sim.memory import mailbox_layout

__all__ = ["machine_header"]


def machine_header(config: AcceleratorConfig) -> str:
    """Return ``config.h``: sizes, the numbers of enumerations, and where the words of a mailbox are."""
    constants = {
        "engines": config.engines,
        "ports": config.ports,
        "bfs_kernels": config.bfs_kernels,
        "intersection_kernels": config.intersection_kernels,
        "link_cycles": config.link_cycles,
        "causes": len(Cause),
        **{f"box_{name}": word for name, word in asdict(mailbox_layout(config.ports)).items()},
    }
    lines = [
        "#pragma once",
        f"#define CYSCC_ENGINES {config.engines}",
        "namespace cyscc {",
        *(f"inline constexpr int {_constant(name)} = {value};" for name, value in constants.items()),
        _enumeration(CommandKind),
        _enumeration(RunState),
        "}  // namespace cyscc",
    ]
    return "\n".join(lines) + "\n"


def _enumeration(kind: type[IntEnum]) -> str:
    members = ", ".join(f"{_constant(member.name)} = {member.value}" for member in kind)
    return f"enum {kind.__name__} : int {{ {members} }};"


def _constant(name: str) -> str:
    return "k" + "".join(map(str.capitalize, name.lower().split("_")))
