"""The least cycles of a level that each part of the machine allows, from configuration and memory profile."""

from dataclasses import dataclass
from math import ceil
from typing import Self

import numpy as np
import numpy.typing as npt

from host.studies.roofline.crossbar import crossbar_cycles, passed_per_cycle
from host.studies.roofline.traffic import LevelTraffic
from sim.configuration import AcceleratorConfig
from sim.latencies import (
    LAUNCH_CYCLES,
    MUX_CYCLES,
    QUEUE_CYCLES,
    QUEUE_REGISTERS,
    READS_PER_EDGE,
    READS_PER_ENTRY,
    WRITES_PER_VISIT,
    ring_turn,
)
from sim.memory import Contention, Profile, RowTimes

__all__ = ["LIMITS", "Bounds"]

LIMITS = (
    *("ports", "imbalance", "links", "busiest_link", "channels", "busiest_channel", "rows", "refresh"),
    *("banks", "busiest_bank", "outstanding", "ring", "overhead"),
)
"""Names of the limits. Where two of them are equal, the first one is called the tightest."""

_LINK_LIMITS = ("links", "busiest_link")
_ROW_LIMITS = ("channels", "busiest_channel", "rows", "refresh", "busiest_bank")
"""Of banks with rows."""
_BANK_LIMITS = ("banks", "busiest_bank")
"""Of banks without."""


def _ceil(value: npt.NDArray[np.int64], divisor: int) -> npt.NDArray[np.int64]:
    return -(-value // divisor)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What a machine can do at most, in cycles.

    Parameters
    ----------
    engines, kernels : int
        AEs; BFS kernels of the machine.
    request_cycles : int
        Of a kernel's multiplexer for a request, unless another write of the same visit follows.
    visit_cycles : int
        Of the same for the writes of a visit, which go back to back.
    turn_cycles : int
        Of a turn of the token.
    ring_stages : int
        Until the token has come from the ring master to the first kernel.
    slots : int
        That a kernel can reserve a turn: the vertices that can wait in it.
    frontier_places, edge_places : int
        Reads that a kernel can have outstanding: of queue entries, and of the scarcer kind of an edge's two reads.
    read_cycles : int
        Least time from the grant of a read until the next process has its answer.
    flush_cycles : int
        Least time of a flush.
    write_cycles : int
        Least time from the grant of a write until a flush after it is answered.
    contention : Contention or None
        Links and banks; None where they do not limit.
    """

    engines: int
    kernels: int
    request_cycles: int
    visit_cycles: int
    turn_cycles: int
    ring_stages: int
    slots: int
    frontier_places: int
    edge_places: int
    read_cycles: int
    flush_cycles: int
    write_cycles: int
    contention: Contention | None

    @classmethod
    def of(cls, config: AcceleratorConfig, memory: Profile) -> Self:
        """Return the bounds of a configuration with a memory profile."""
        return cls(
            engines=config.engines,
            kernels=config.total_bfs_kernels,
            request_cycles=config.issue_interval,
            visit_cycles=WRITES_PER_VISIT - 1 + config.issue_interval,
            turn_cycles=ring_turn(config),
            ring_stages=config.ring_stages,
            slots=config.visit_depth + QUEUE_REGISTERS,
            frontier_places=config.frontier_depth,
            edge_places=min(config.neighbour_depth, config.word_depth),
            read_cycles=MUX_CYCLES + memory.unloaded_latency + QUEUE_CYCLES,
            flush_cycles=memory.quantum,
            write_cycles=MUX_CYCLES + max(memory.quantum, memory.write_latency),
            contention=memory.contention,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the limits that hold for this machine, in the order of `LIMITS`."""
        of_memory = {*_LINK_LIMITS, *_ROW_LIMITS, *_BANK_LIMITS}
        if self.contention is not None:
            of_memory -= {*_LINK_LIMITS, *(_BANK_LIMITS if self.contention.rows is None else _ROW_LIMITS)}
        return tuple(name for name in LIMITS if name not in of_memory)

    def limits(self, traffic: LevelTraffic) -> tuple[int, ...]:
        """Return the least cycles that a level needs for each limit's sake, in the order of `names`."""
        port = (
            self.request_cycles * (READS_PER_ENTRY * traffic.entries + READS_PER_EDGE * traffic.edges)
            + self.visit_cycles * traffic.pushes
        )
        known = {
            "ports": -(-int(port.sum()) // self.kernels),
            "imbalance": int(port.max()),
            "outstanding": max(
                int(_ceil(self.read_cycles * traffic.entries, self.frontier_places).max()),
                int(_ceil(self.read_cycles * traffic.edges, self.edge_places).max()),
            ),
            "ring": self.turn_cycles * int(_ceil(traffic.pushes, self.slots).max()),
            "overhead": self._overhead(traffic),
            **self._memory_limits(traffic),
        }
        return tuple(known[name] for name in self.names)

    @property
    def crossbar_rate(self) -> float | None:
        """Requests a cycle that the crossbars of all AEs pass when they are saturated, by evenly drawn links.

        None where there are no links.
        """
        if self.contention is None:
            return None
        links = self.contention.links
        return self.engines * passed_per_cycle(self.kernels // self.engines, np.full(links, 1 / links))

    def crossbar(self, traffic: LevelTraffic) -> int | None:
        """Return the cycles in which saturated crossbars pass a level's requests, by its own mix of links.

        Not a limit, but what is expected: requests in a lucky order pass faster. None where there are no links.
        """
        if self.contention is None:
            return None
        writes = traffic.pushes.reshape(self.engines, -1).sum(axis=1)
        # Which AE wrote to which link is not known: as if all had written alike.
        written = traffic.write_links * (writes / max(1, int(writes.sum())))[:, None]
        return crossbar_cycles(self.kernels // self.engines, traffic.read_links + written)

    def _overhead(self, traffic: LevelTraffic) -> int:
        """Return what a level costs however little it does: start, reads that wait for each other, flush, last turn.

        The token passes a kernel once a turn. In a level's last turn it finds every kernel done; a kernel that pushes
        must have reserved its slots in a turn before.
        """
        kernels = np.arange(self.kernels)
        engine_kernels = self.kernels // self.engines
        # The start message and the token go along an AE's kernels at the same pace.
        passage = self.ring_stages + (kernels // engine_kernels) * (self.turn_cycles // self.engines)
        reads = np.where(traffic.edges > 0, 1 + READS_PER_EDGE, np.where(traffic.entries > 0, 1, 0))
        ready = reads * self.read_cycles - passage
        visits = traffic.pushes > 0
        wait = np.where(visits, ready, ready + self.flush_cycles)
        turns = 1 + np.maximum(_ceil(wait, self.turn_cycles), 0)
        turns += np.where(visits, -(-self.write_cycles // self.turn_cycles), 0)
        return LAUNCH_CYCLES + self.turn_cycles * int(turns.max())

    def _memory_limits(self, traffic: LevelTraffic) -> dict[str, int]:
        shared = self.contention
        if shared is None:
            return {}
        writes = WRITES_PER_VISIT * traffic.pushes.reshape(self.engines, -1).sum(axis=1)
        of_engine = traffic.read_links.sum(axis=1) + writes
        of_link = traffic.read_links.sum(axis=0) + traffic.write_links
        busiest = max(
            int(traffic.read_links.max()),
            int(_ceil(of_link, self.engines).max()),
            int(_ceil(of_engine, shared.links).max()),
        )
        found = {"links": -(-traffic.requests // (self.engines * shared.links)), "busiest_link": busiest}
        if shared.rows is not None:
            return found | self._row_limits(traffic, shared, shared.rows)
        return found | {
            "banks": -(-traffic.requests * shared.bank_busy // shared.banks),
            "busiest_bank": int(traffic.banks.max()) * shared.bank_busy,
        }

    @staticmethod
    def _row_limits(traffic: LevelTraffic, shared: Contention, rows: RowTimes) -> dict[str, int]:
        """Return the limits of pseudo-channels whose banks have rows.

        However the requests come, a window of `refresh_interval` has a whole refresh in it. The first activate needs no
        window before it, nor has the first row of a bank to wait for another one's end.
        """
        openings = np.zeros_like(traffic.banks) if traffic.openings is None else traffic.openings
        of_channel, opened = (
            counts.reshape(shared.controllers, -1).sum(axis=1) for counts in (traffic.banks, openings)
        )
        busiest = max(int(of_channel.max()) * rows.burst, int((opened - 1).clip(0).max()) * rows.activate)
        refreshes = busiest // (rows.refresh_interval - rows.refresh)
        return {
            "channels": ceil(traffic.requests * rows.burst / shared.controllers),
            "busiest_channel": ceil(int(of_channel.max()) * rows.burst),
            "rows": ceil(int((opened - 1).clip(0).sum()) * rows.activate / shared.controllers),
            "refresh": ceil(busiest + refreshes * rows.refresh),
            "busiest_bank": ceil(
                max(int(traffic.banks.max()) * rows.column, int((openings - 1).clip(0).max()) * rows.row)
            ),
        }
