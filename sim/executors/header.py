"""What native executors share with the hardware and with Python, as a C++ header."""

from enum import IntEnum

from hw.causes import Cause
from hw.config import AcceleratorConfig
from hw.interfaces import FILL_WIDTH
from sim.executors.base import LINK_PLACES, CommandKind, RunState
from sim.executors.samples import fifos, most_held, sample_dtype

__all__ = ["machine_header"]


def machine_header(config: AcceleratorConfig) -> str:
    """Return ``config.h``: sizes, and the numbers of enumerations."""
    constants = {
        "engines": config.engines,
        "ports": config.ports,
        "bfs_kernels": config.bfs_kernels,
        "intersection_kernels": config.intersection_kernels,
        "link_cycles": config.link_cycles,
        "link_places": LINK_PLACES,
        "causes": len(Cause),
        "bfs_fifos": len(fifos(config)["bfs"]),
        "intersection_fifos": len(fifos(config)["intersection"]),
        "fill_bits": FILL_WIDTH,
        "most_held": most_held(config),
        "row_words": sample_dtype(config).itemsize // 8,
    }
    lines = [
        "#pragma once",
        f"#define CYSCC_ENGINES {config.engines}",
        "namespace cyscc {",
        *(f"inline constexpr int {_constant(name)} = {value};" for name, value in constants.items()),
        f"inline constexpr int kIdle = {Cause.IDLE.value};",
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
