"""Limits of the parts of the machine: least cycles of levels, and the ceilings of throughput.

Beside the limits stands what a crossbar passes whose ports have first-in first-out queues: the request at a queue's
head blocks those behind. The model is that of M. J. Karol, M. G. Hluchyj and S. P. Morgan, "Input versus output
queueing on a space-division packet switch", IEEE Transactions on Communications 35 (1987), section III: every queue
always has a request at its head; a request's link is drawn independently of all others; of those that are for the same
link one, chosen at random, passes in a cycle. With evenly drawn links many ports reach 2 − √2 = 0.586 of their
capacity, 8 ports 0.618, 16 ports 0.60. Nothing here is fitted to a measurement.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from host.record.arrow import Integers
from sim.configuration import AcceleratorConfig
from sim.hardware import (
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
from sim.memory.compiling import jit

__all__ = [
    "CROSSBAR",
    "HIGHEST_INTENSITY",
    "LIMITS",
    "Bounds",
    "Ceiling",
    "Limit",
    "Traffic",
    "ceilings",
    "crossbar_cycles",
    "passed_per_cycle",
]


class Limit(NamedTuple):
    """A part of the machine that limits levels, and how it is drawn.

    Parameters
    ----------
    title : str
        What people call it.
    colour : str
        Its colour, as ``#rrggbb``.
    marker : str
        The shape of its points, as matplotlib calls it.
    """

    title: str
    colour: str
    marker: str


# Colours of Okabe and Ito, which colour-blind readers can tell apart; banks with rows have two browns and two violets
# besides.
LIMITS = {
    "ports": Limit("ports", "#0072B2", "o"),
    "imbalance": Limit("imbalance", "#56B4E9", "s"),
    "links": Limit("links", "#009E73", "^"),
    "busiest_link": Limit("busiest link", "#B8E3D2", "v"),
    "channels": Limit("pseudo-channels", "#8C6D31", ">"),
    "busiest_channel": Limit("busiest pseudo-channel", "#D9C08A", "p"),
    "rows": Limit("opening rows", "#5E3C99", "8"),
    "refresh": Limit("with refresh", "#B2ABD2", "H"),
    "banks": Limit("banks", "#E69F00", "<"),
    "busiest_bank": Limit("busiest bank", "#D55E00", "D"),
    "outstanding": Limit("outstanding reads", "#CC79A7", "P"),
    "ring": Limit("ring", "#F0E442", "X"),
    "overhead": Limit("level overhead", "#999999", "h"),
}
"""The limits by name. Where two of them are equal, the first one is called the tightest."""

CROSSBAR = Limit("crossbar queues", "#7A2500", "*")
"""Saturated first-in first-out queues at the crossbar: expected, not a limit."""

_LINK_LIMITS = ("links", "busiest_link")
_ROW_LIMITS = ("channels", "busiest_channel", "rows", "refresh", "busiest_bank")
"""Of banks with rows."""
_BANK_LIMITS = ("banks", "busiest_bank")
"""Of banks without."""


def _ceil(value: Integers, divisor: int) -> Integers:
    return -(-value // divisor)


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """The requests of some levels of searches.

    Which kernel sent a write to which link is not told: the links of the writes are counted over all AEs together.

    Parameters
    ----------
    entries, edges, pushes : ndarray of int64, shape (levels, kernels of the machine)
        Queue entries, edges that leave them, and vertices pushed, by kernel; AE 0's kernels first. Vertices that stand
        in the queue twice count twice.
    read_links : ndarray of int64, shape (levels, AEs, links)
        Reads by AE and crossbar link.
    write_links : ndarray of int64, shape (levels, links)
        Writes by crossbar link, over all AEs.
    banks : ndarray of int64, shape (levels, banks)
        Reads and writes by memory bank.
    openings : ndarray of int64, shape (levels, banks)
        Rows that each bank opened for them.
    """

    entries: Integers
    edges: Integers
    pushes: Integers
    read_links: Integers
    write_links: Integers
    banks: Integers
    openings: Integers

    @property
    def requests(self) -> Integers:
        """Reads and writes of each level."""
        return self.banks.sum(axis=1)


class Bounds:
    """Bounds of a machine, in cycles.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine.
    memory : Profile
        Its memory.

    Attributes
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

    def __init__(self, config: AcceleratorConfig, memory: Profile) -> None:
        self.engines, self.kernels = config.engines, config.total_bfs_kernels
        self.request_cycles = config.issue_interval
        self.visit_cycles = WRITES_PER_VISIT - 1 + config.issue_interval
        self.turn_cycles = ring_turn(config)
        self.ring_stages = config.ring_stages
        self.slots = config.visit_depth + QUEUE_REGISTERS
        self.frontier_places = config.frontier_depth
        self.edge_places = min(config.neighbour_depth, config.word_depth)
        self.read_cycles = MUX_CYCLES + memory.unloaded_latency + QUEUE_CYCLES
        self.flush_cycles = memory.quantum
        self.write_cycles = MUX_CYCLES + max(memory.quantum, memory.write_latency)
        self.contention = memory.contention

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the limits that hold for this machine, in the order of `LIMITS`."""
        of_memory = {*_LINK_LIMITS, *_ROW_LIMITS, *_BANK_LIMITS}
        if self.contention is not None:
            of_memory -= {*_LINK_LIMITS, *(_BANK_LIMITS if self.contention.rows is None else _ROW_LIMITS)}
        return tuple(name for name in LIMITS if name not in of_memory)

    def limits(self, traffic: Traffic) -> Integers:
        """Return the least cycles that each level needs for each limit's sake, in the order of `names`."""
        port = (
            self.request_cycles * (READS_PER_ENTRY * traffic.entries + READS_PER_EDGE * traffic.edges)
            + self.visit_cycles * traffic.pushes
        )
        known = {
            "ports": _ceil(port.sum(axis=1), self.kernels),
            "imbalance": port.max(axis=1),
            "outstanding": np.maximum(
                _ceil(self.read_cycles * traffic.entries, self.frontier_places).max(axis=1),
                _ceil(self.read_cycles * traffic.edges, self.edge_places).max(axis=1),
            ),
            "ring": self.turn_cycles * _ceil(traffic.pushes, self.slots).max(axis=1),
            "overhead": self._overhead(traffic),
            **self._memory_limits(traffic),
        }
        return np.stack([known[name] for name in self.names], axis=1)

    def crossbar(self, traffic: Traffic) -> Integers | None:
        """Return the cycles in which saturated crossbars pass each level's requests, by its own mix of links.

        Not a limit, but what is expected: requests in a lucky order pass faster. None where there are no links.
        """
        if self.contention is None:
            return None
        writes = self._by_engine(traffic.pushes)
        # Which AE wrote to which link is not known: as if all had written alike.
        shares = writes / np.maximum(1, writes.sum(axis=1, keepdims=True))
        requests = traffic.read_links + traffic.write_links[:, None, :] * shares[:, :, None]
        return np.array([crossbar_cycles(self.kernels // self.engines, level) for level in requests], np.int64)

    def _by_engine(self, counts: Integers) -> Integers:
        """Return the sums of levels by AE of counts by kernel."""
        return counts.reshape(len(counts), self.engines, -1).sum(axis=2)

    def _overhead(self, traffic: Traffic) -> Integers:
        """Return what levels cost however little they do: start, reads that wait for each other, flush, last turn.

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
        return LAUNCH_CYCLES + self.turn_cycles * turns.max(axis=1)

    def _memory_limits(self, traffic: Traffic) -> dict[str, Integers]:
        shared = self.contention
        if shared is None:
            return {}
        of_engine = traffic.read_links.sum(axis=2) + WRITES_PER_VISIT * self._by_engine(traffic.pushes)
        of_link = traffic.read_links.sum(axis=1) + traffic.write_links
        busiest = np.max(
            [
                traffic.read_links.max(axis=(1, 2)),
                _ceil(of_link, self.engines).max(axis=1),
                _ceil(of_engine, shared.links).max(axis=1),
            ],
            axis=0,
        )
        found = {"links": _ceil(traffic.requests, self.engines * shared.links), "busiest_link": busiest}
        if shared.rows is not None:
            return found | self._row_limits(traffic, shared, shared.rows)
        return found | {
            "banks": _ceil(traffic.requests * shared.bank_busy, shared.banks),
            "busiest_bank": traffic.banks.max(axis=1) * shared.bank_busy,
        }

    @staticmethod
    def _row_limits(traffic: Traffic, shared: Contention, rows: RowTimes) -> dict[str, Integers]:
        """Return the limits of pseudo-channels whose banks have rows.

        However the requests come, a window of `refresh_interval` has a whole refresh in it. The first activate needs no
        window before it, nor has the first row of a bank to wait for another one's end.
        """
        of_channel, opened = (
            counts.reshape(len(counts), shared.controllers, -1).sum(axis=2)
            for counts in (traffic.banks, traffic.openings)
        )

        def exact(counts: Integers) -> npt.NDArray[Any]:
            # Times are fractions.
            return counts.astype(object)

        def whole(cycles: npt.NDArray[Any]) -> Integers:
            return np.array([ceil(each) for each in cycles], np.int64)

        carried = exact(of_channel.max(axis=1)) * rows.burst
        again, bank_again = ((counts - 1).clip(0) for counts in (opened, traffic.openings))
        busiest = np.maximum(carried, exact(again.max(axis=1)) * rows.activate)
        refreshes = busiest // (rows.refresh_interval - rows.refresh)
        return {
            "channels": whole(exact(traffic.requests) * rows.burst / shared.controllers),
            "busiest_channel": whole(carried),
            "rows": whole(exact(again.sum(axis=1)) * rows.activate / shared.controllers),
            "refresh": whole(busiest + refreshes * rows.refresh),
            "busiest_bank": whole(
                np.maximum(exact(traffic.banks.max(axis=1)) * rows.column, exact(bank_again.max(axis=1)) * rows.row)
            ),
        }


HIGHEST_INTENSITY = 1 / READS_PER_EDGE
"""Edges per request when nothing but edges is read: no search has more."""


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """Ceiling of one limit at each intensity, work being evenly shared.

    Parameters
    ----------
    name : str
        The limit, one of `LIMITS`, or the title of `CROSSBAR`.
    edge_cost : Fraction
        Least cycles for an edge's two reads, shared by the whole machine.
    other_cost : Fraction
        Least cycles for each request besides, shared likewise.
    """

    name: str
    edge_cost: Fraction
    other_cost: Fraction

    @property
    def reads(self) -> float:
        """Most reads a cycle."""
        return float(READS_PER_EDGE / self.edge_cost)

    def edges(self, intensity: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the most edges a cycle.

        Parameters
        ----------
        intensity : ndarray of float64
            Edges per request, above 0, at most `HIGHEST_INTENSITY`.
        """
        return 1 / (float(self.edge_cost) + (1 / intensity - READS_PER_EDGE) * float(self.other_cost))


def ceilings(bounds: Bounds) -> tuple[Ceiling, ...]:
    """Return the ceilings of a machine: ports, and where the memory profile models them links and banks.

    Of banks with rows: what the pseudo-channels' data buses carry in the time that refresh leaves, and the same where
    each request opens a row. The last one is what saturated queues at the crossbar pass, by evenly drawn links.
    """
    kernels = bounds.kernels
    cheapest = min(Fraction(bounds.request_cycles), Fraction(bounds.visit_cycles, WRITES_PER_VISIT))
    found = [
        Ceiling(
            name="ports",
            edge_cost=Fraction(READS_PER_EDGE * bounds.request_cycles, kernels),
            other_cost=cheapest / kernels,
        )
    ]
    if (shared := bounds.contention) is not None:
        rates = {"links": Fraction(bounds.engines * shared.links)}
        if (rows := shared.rows) is None:
            rates["banks"] = Fraction(shared.banks, shared.bank_busy)
        else:
            left = 1 - rows.refresh / rows.refresh_interval
            rates["channels"] = left * shared.controllers / rows.burst
            rates["rows"] = left * shared.controllers / rows.activate
        passed = passed_per_cycle(kernels // bounds.engines, np.full(shared.links, 1 / shared.links))
        rates[CROSSBAR.title] = Fraction(bounds.engines * passed)
        found += [
            Ceiling(name=name, edge_cost=READS_PER_EDGE / rate, other_cost=1 / rate) for name, rate in rates.items()
        ]
    return tuple(found)


_SAMPLE = 1 << 16
"""Requests that are passed at most: the error of a rate is then some tenths of a percent."""
_CHANCES = 1 << 16
"""Most numbers that are drawn for the choice of who passes; then they come again."""


@jit
def _rate(links: npt.NDArray[np.int64], chances: npt.NDArray[np.int64], ports: int, count: int) -> float:
    """Return the requests a cycle, when ports take requests for these links in this order as their heads pass."""
    heads = links[:ports].copy()
    contenders = np.zeros(links.max() + 1, np.int64)
    winners = np.zeros(links.max() + 1, np.int64)
    cycles, passed, place = 0, 0, 0
    while passed < count:
        cycles += 1
        contenders[:] = 0
        for port in range(ports):
            link = heads[port]
            contenders[link] += 1
            # The n-th of them replaces the one chosen before with a chance of 1/n: all have the same in the end.
            if chances[place] % contenders[link] == 0:
                winners[link] = port
            place = (place + 1) % chances.size
        for link in range(contenders.size):
            if contenders[link] > 0:
                heads[winners[link]] = links[ports + passed]
                passed += 1
    return passed / cycles


def passed_per_cycle(ports: int, mix: npt.NDArray[np.float64], *, requests: int = _SAMPLE) -> float:
    """Return the requests a cycle that a saturated first-in first-out crossbar passes.

    Parameters
    ----------
    ports : int
        Ports, each with a queue.
    mix : ndarray of float64, shape (links,)
        Share of the requests that is for each link; a link passes one request a cycle.
    requests : int
        Requests that are to pass; few pass a little faster, since all queues begin with fresh heads.
    """
    count = max(1, min(requests, _SAMPLE))
    random = np.random.default_rng(0)
    # In the last cycle as many may pass as there are ports, and as many stay at the heads.
    links = random.choice(mix.size, size=count + 2 * ports, p=mix / mix.sum())
    chances = random.integers(0, 1 << 32, size=min(_CHANCES, 4 * count) | 1)
    return float(_rate(links, chances, ports, count))


def crossbar_cycles(ports: int, requests: npt.NDArray[np.float64]) -> int:
    """Return the cycles in which the saturated crossbars of several AEs pass their requests: those of the slowest.

    Parameters
    ----------
    ports : int
        Ports of an AE.
    requests : ndarray of float64, shape (AEs, links)
        Requests of each AE to each link.
    """
    cycles = 0.0
    for mix in requests:
        if count := round(float(mix.sum())):
            cycles = max(cycles, count / passed_per_cycle(ports, mix, requests=count))
    return round(cycles)
