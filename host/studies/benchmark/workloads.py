"""What is measured: searches of uniform random graphs, larger ones for those who are fast."""

from dataclasses import dataclass

from host.measuring.graphs import GraphSpec

__all__ = ["PRESETS", "Preset", "Workload"]

_SEED = 1


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A breadth-first search from vertex 0 of a uniform random graph.

    Parameters
    ----------
    config, memory : str
        Configuration and memory profile.
    vertices, degree : int
        The graph: vertices, and edges per vertex.
    """

    config: str
    memory: str
    vertices: int
    degree: int

    @property
    def graph(self) -> GraphSpec:
        """The graph."""
        return GraphSpec(kind="random", degree=self.degree, vertices=self.vertices, seed=_SEED)

    @property
    def graph_text(self) -> str:
        """What reports call the graph."""
        return f"2^{self.vertices.bit_length() - 1} × {self.degree}"


@dataclass(frozen=True, kw_only=True)
class Preset:
    """What each contender runs, and how often.

    Parameters
    ----------
    config, memory : str
        Configuration and memory profile.
    graphs : dict of str to (int, int)
        By contender (`CONTENDERS`): vertices and degree of its graph, powers of two.
    repetitions : dict of str to int
        By contender: how often it is measured.
    """

    config: str
    memory: str
    graphs: dict[str, tuple[int, int]]
    repetitions: dict[str, int]

    def workload(self, contender: str) -> Workload:
        """Return what a contender runs."""
        vertices, degree = self.graphs[contender]
        return Workload(config=self.config, memory=self.memory, vertices=vertices, degree=degree)


_LARGE = (2**18, 16)

PRESETS = {
    "full": Preset(
        config="hc2",
        memory="hc2",
        graphs={
            "compiled-2": _LARGE,
            "compiled-1": _LARGE,
            "verilator": _LARGE,
            "cxxrtl": (2**14, 16),
            # Every level takes Amaranth's simulator more than half a minute; here there are two.
            "amaranth": (2**2, 16),
            "cocotb": (2**7, 4),
        },
        repetitions={"compiled-2": 5, "compiled-1": 5, "verilator": 3, "cxxrtl": 3, "amaranth": 3, "cocotb": 3},
    ),
    "quick": Preset(
        config="test",
        memory="hc2",
        graphs={
            "compiled-2": (2**12, 8),
            "compiled-1": (2**12, 8),
            "verilator": (2**12, 8),
            "cxxrtl": (2**10, 8),
            "amaranth": (2**4, 4),
            "cocotb": (2**4, 4),
        },
        repetitions=dict.fromkeys(("compiled-2", "compiled-1", "verilator", "cxxrtl", "amaranth", "cocotb"), 1),
    ),
}
"""By name: the benchmark itself, and one that shows in less than a minute that everything works."""
