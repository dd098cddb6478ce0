"""What native executors share with the hardware and with Python, as C++ headers."""

from collections.abc import Mapping, Sequence
from enum import IntEnum

from hw.causes import Cause
from hw.config import AcceleratorConfig
from hw.interfaces import FILL_WIDTH
from sim.executors.base import LINK_PLACES, CommandKind, RunState
from sim.executors.samples import MOST_HELD, fifos, sample_dtype
from sim.memory import memory_header

__all__ = ["fixed_headers", "machine_headers"]


def machine_headers(config: AcceleratorConfig) -> dict[str, str]:
    """Return all headers of a machine by the names of their files."""
    return {"config.h": _sizes(config), **fixed_headers()}


def fixed_headers() -> dict[str, str]:
    """Return those that are the same for every configuration: the numbers of enumerations, the memory."""
    constants = {
        "link_places": LINK_PLACES,
        "causes": len(Cause),
        "idle": Cause.IDLE.value,
        "fill_bits": FILL_WIDTH,
        "most_held": MOST_HELD,
    }
    numbers = _header(constants, enumerations=[_enumeration(CommandKind), _enumeration(RunState)])
    return {"numbers.h": numbers, "memory.h": memory_header()}


def _sizes(config: AcceleratorConfig) -> str:
    """Return the sizes; no depth is among them, so that configurations that differ in depths alone have the same."""
    constants = {
        "engines": config.engines,
        "ports": config.ports,
        "bfs_kernels": config.bfs_kernels,
        "intersection_kernels": config.intersection_kernels,
        "link_cycles": config.link_cycles,
        "bfs_fifos": len(fifos(config)["bfs"]),
        "intersection_fifos": len(fifos(config)["intersection"]),
        "row_words": sample_dtype(config).itemsize // 8,
    }
    return _header(constants, macros=[f"#define CYSCC_ENGINES {config.engines}"])


def _header(constants: Mapping[str, int], *, macros: Sequence[str] = (), enumerations: Sequence[str] = ()) -> str:
    lines = [
        "#pragma once",
        *macros,
        "namespace cyscc {",
        *(f"inline constexpr int {_constant(name)} = {value};" for name, value in constants.items()),
        *enumerations,
        "}  // namespace cyscc",
    ]
    return "\n".join(lines) + "\n"


def _enumeration(kind: type[IntEnum]) -> str:
    members = ", ".join(f"{_constant(member.name)} = {member.value}" for member in kind)
    return f"enum {kind.__name__} : int {{ {members} }};"


def _constant(name: str) -> str:
    return "k" + "".join(map(str.capitalize, name.lower().split("_")))
