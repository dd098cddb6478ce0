"""Searches with waveforms, and what passes the ports in them, read by addresses and tags."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cyscc.host.driver.search import BfsRun, breadth_first_search
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.hw.bfs.tags import Tag
from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.observation.wave_reader import WaveReader
from tests.system.runs import made

Event = tuple[int, str, int]
"""A cycle, the kind of the event, and an address or data."""


class Cut(WaveReader):
    """A reader's window, restricted to a part of it."""

    def __init__(self, reader: WaveReader, first: int, end: int) -> None:
        self._whole = reader
        self.first, self.cycles = first, end - first

    def __contains__(self, name: str) -> bool:
        return name in self._whole

    @property
    def names(self) -> list[str]:
        """Dotted paths of all signals."""
        return self._whole.names

    def width(self, name: str) -> int:
        """Return the bits of a signal."""
        return self._whole.width(name)

    def values(self, name: str) -> npt.NDArray[np.uint64]:
        """Return a signal in each cycle of the part."""
        return self._whole.values(name)[self.first : self.first + self.cycles]


def passes(reader: WaveReader, stream: str) -> list[int]:
    """Return the cycles in which a stream transfers something."""
    valid, ready = (reader.values(f"{stream}__{end}") for end in ("valid", "ready"))
    return [cycle for cycle in range(reader.cycles) if valid[cycle] and ready[cycle]]


def port_reads(reader: WaveReader, kernel: str) -> set[tuple[int, int, int]]:
    """Return the reads that the memory took of a kernel: cycle, tag, address."""
    payload = reader.values(f"{kernel}.port__read__payload").tolist()
    return {
        (cycle, payload[cycle] >> 49, payload[cycle] & (1 << 48) - 1)
        for cycle in passes(reader, f"{kernel}.port__read")
    }


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

    def port_reads(self, kernel: str) -> set[Event]:
        """Return the reads that the memory took of a kernel: cycle, tag, address."""
        return {(cycle, Tag(tag).name, address) for cycle, tag, address in port_reads(self.reader, kernel)}

    def port_answers(self, kernel: str) -> set[Event]:
        """Return what the memory answered: cycle, tag, data."""
        found = set()
        data = self.reader.values(f"{kernel}.port__response__payload.data")
        for number, tag in enumerate(Tag):
            valid = self.reader.values(f"{kernel}.decoder.process{number}__valid")
            found |= {(int(cycle), tag.name, int(data[cycle])) for cycle in np.flatnonzero(valid)}
        return found

    def taken_writes(self, kernel: str) -> set[Event]:
        """Return the writes that the multiplexer accepted: cycle, array, and address, or slot of a reach queue."""
        command = f"{kernel}.mux.write_address.command"
        base = self.reader.values(f"{command}__payload.base")
        index = self.reader.values(f"{command}__payload.index")
        size = self.reader.values(f"{command}__payload.size")
        words = self.reader.values(f"{kernel}.control.register_words")
        found = set()
        for cycle in passes(self.reader, command):
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
