"""Searches with waveforms, and what passes the ports in them, read by addresses and tags."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from host.algorithms.search import BfsRun, breadth_first_search
from host.graph.csr import Graph
from host.graph.memory_map import PlacedGraph
from hw.bfs.tags import Tag
from hw.config import AcceleratorConfig
from sim.observation.wave_reader import WaveReader
from tests.system.runs import made

__all__ = ["Searched", "searched"]

Event = tuple[int, str, int]
"""A cycle, what it is about, an address or data."""


@dataclass(frozen=True)
class Searched:
    """A search, and the waveforms of it."""

    config: AcceleratorConfig
    memory: str
    graph: Graph
    bfs: BfsRun
    cycles: int
    """Cycles simulated."""
    neighbours: int
    """Address of C."""
    path: Path
    reader: WaveReader

    def targets_of(self, vertex: int) -> list[int]:
        """Return the neighbours of a vertex, in the order of the graph."""
        first, end = self.graph.offsets[vertex : vertex + 2]
        found: list[int] = self.graph.targets[first:end].tolist()
        return found

    def _passes(self, stream: str) -> list[int]:
        valid, ready = (self.reader.values(f"{stream}__{end}") for end in ("valid", "ready"))
        return [cycle for cycle in range(self.reader.cycles) if valid[cycle] and ready[cycle]]

    def port_reads(self, kernel: str) -> set[Event]:
        """Return the reads that the memory took of a kernel: cycle, tag, address."""
        payload = self.reader.values(f"{kernel}.port__read__payload")
        return {
            (cycle, Tag(int(payload[cycle]) >> 49).name, int(payload[cycle]) & (1 << 48) - 1)
            for cycle in self._passes(f"{kernel}.port__read")
        }

    def port_answers(self, kernel: str) -> set[Event]:
        """Return what the memory answered: cycle, tag, data."""
        found = set()
        data = self.reader.values(f"{kernel}.port__response__payload.data")
        for number, tag in enumerate(Tag):
            valid = self.reader.values(f"{kernel}.decoder.process{number}__valid")
            found |= {(int(cycle), tag.name, int(data[cycle])) for cycle in np.flatnonzero(valid)}
        return found

    def taken_writes(self, kernel: str) -> set[Event]:
        """Return the writes that the multiplexer took: cycle, what is written to, address, or slot of a reach queue."""
        command = f"{kernel}.mux.write_address.command"
        base = self.reader.values(f"{command}__payload.base")
        index = self.reader.values(f"{command}__payload.index")
        size = self.reader.values(f"{command}__payload.size")
        words = self.reader.values(f"{kernel}.control.register_words")
        found = set()
        for cycle in self._passes(command):
            address = int(base[cycle] + (index[cycle] << np.uint64(3)))
            if not size[cycle]:
                found.add((cycle, "reach", int(index[cycle])))
            else:
                found.add((cycle, "words" if base[cycle] == words[cycle] else "queue", address))
        return found

    def reservations(self, kernel: str) -> dict[int, tuple[int, int]]:
        """Return by cycle the first slot that a kernel took of the token, and how many."""
        came = self.reader.values(f"{kernel}.token_in__valid")
        value = self.reader.values(f"{kernel}.token_in__payload.value")
        left = self.reader.values(f"{kernel}.token_out__payload.value")
        return {
            int(cycle): (int(value[cycle]), int(left[cycle + 1] - value[cycle]))
            for cycle in np.flatnonzero(came[:-1])
            if left[cycle + 1] > value[cycle]
        }


def searched(
    folder: Path,
    config: AcceleratorConfig,
    memory: str,
    *,
    executor: str,
    vertices: int = 40,
    edges: int = 120,
    slack: int | None = 2000,
) -> Searched:
    """Search a random graph from vertex 0, and return the waveforms of it."""
    random = np.random.default_rng(1)
    sources, targets = random.integers(0, vertices, (2, edges), np.uint32)
    graph = Graph.from_edges(vertices, sources, targets)
    path = folder / "run.vcd"
    with made(config, memory, executor=executor, waves=path) as machine:
        placed = PlacedGraph.place(machine, graph)
        bfs = breadth_first_search(machine, placed, 0, slack=slack)
        cycles = machine.cycle
    reader = WaveReader(path)
    neighbours = int(reader.values("engine0.bfs0.control.register_neighbours")[-1])
    return Searched(config, memory, graph, bfs, cycles, neighbours, path, reader)
