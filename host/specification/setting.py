"""The setting of a run: its specification, with the size of its graph and the clock of its machine."""

from dataclasses import asdict, dataclass
from typing import Any

from cyscc.host.specification.run import RunSpec

__all__ = ["Setting"]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Setting of a run: specification, graph size, and machine.

    Parameters
    ----------
    spec : RunSpec
        The run.
    vertices, edges : int
        Size of the graph, as read.
    dropped_edges : int or None
        Edges dropped before the graph was placed; None if dropping was not requested.
    clock_hz : float
        Clock of the coprocessor in hertz.
    uploaded_bytes : int
        Bytes of the graph, in every direction needed, in coprocessor memory.
    """

    spec: RunSpec
    vertices: int
    edges: int
    dropped_edges: int | None = None
    clock_hz: float
    uploaded_bytes: int

    def machine_document(self) -> dict[str, Any]:
        """Return the machine and its memory as a JSON document."""
        spec = self.spec
        return {
            "config": spec.config_name,
            "configuration": asdict(spec.configuration),
            "memory": spec.memory_name,
            "memory_profile": spec.profile.describe(),
            "set": spec.overrides.values(),
            "executor": spec.executor,
            "threads": spec.threads,
            "clock_hz": self.clock_hz,
        }

    def seconds(self, cycles: int) -> float:
        """Return the simulated time of a number of cycles."""
        return cycles / self.clock_hz

    def gteps(self, edges: int, cycles: int) -> float:
        """Return 10**9 traversed edges per simulated second; 0 if no cycles were simulated."""
        return edges / self.seconds(cycles) / 1e9 if cycles else 0.0
