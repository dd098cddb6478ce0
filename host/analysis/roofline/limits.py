"""Limits of the machine's parts: least cycles of levels, and ceilings of throughput.

The module also predicts the throughput of a crossbar whose ports have first-in first-out queues, where the request at
the head blocks those behind it. The model is that of M. J. Karol, M. G. Hluchyj and S. P. Morgan, "Input versus output
queueing on a space-division packet switch", IEEE Transactions on Communications 35 (1987), section III: every queue
always has a request at its head; each request's link is drawn independently; of the requests for the same link, one,
chosen at random, passes in each cycle. With evenly drawn links, many ports reach 2 − √2 = 0.586 of their capacity,
8 ports 0.618, 16 ports 0.60. Nothing here is fitted to a measurement.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from cyscc.host.graph.loops import loop
from cyscc.host.record.arrow import Integers
from cyscc.sim import hardware
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.memory import Contention, Profile, RowTimes


class Limit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A limit by a part of the machine, and its style in plots.

    Parameters
    ----------
    title : str
        Display name.
    colour : str
        Its colour, as ``#rrggbb``.
    marker, dash : str
        Symbol of its points, and dash of its line, as plotly names them.
    memory : str
        Memories that have it: ``shared``, those with links and banks; ``rows`` and ``banks``, those of them whose
        banks have rows, and have none; empty for all.
    """

    title: str
    colour: str
    marker: str
    dash: str = "longdashdot"
    memory: str = ""


LIMITS = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, Limit])
"""The limits by name. If two are equal in a level, the first one is the tightest."""

CROSSBAR = Limit(title="crossbar queues", colour="#7A2500", marker="star")
"""Saturated first-in first-out queues at the crossbar: an expectation, not a limit."""


def _ceil(value: Integers, divisor: int) -> Integers:
    return -(-value // divisor)


def _whole(cycles: npt.NDArray[Any]) -> Integers:
    """Return fractions of cycles, rounded up."""
    return np.array([ceil(each) for each in cycles], np.int64)


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """The requests of some levels of searches.

    The AE of a write is not recorded with its link: writes by link are counted over all AEs together.

    Parameters
    ----------
    entries, ids, words, writes : ndarray of int64, shape (levels, kernels of the machine)
        Reads of queue entries, of neighbour ids or pairs of them, and of graph words, and writes, by kernel, AE by AE.
        A vertex that is in the queue twice counts twice.
    read_links : ndarray of int64, shape (levels, AEs, links)
        Reads by AE and crossbar link.
    write_links : ndarray of int64, shape (levels, links)
        Writes by crossbar link, over all AEs.
    banks : ndarray of int64, shape (levels, banks)
        Reads and writes by memory bank.
    openings : ndarray of int64, shape (levels, banks)
        Rows opened in each bank by these requests.
    """

    entries: Integers
    ids: Integers
    words: Integers
    writes: Integers
    read_links: Integers
    write_links: Integers
    banks: Integers
    openings: Integers

    @property
    def pushes(self) -> Integers:
        """Least slots that the writes of each level and kernel fill; exact unless some visits take fewer writes."""
        return _ceil(self.writes, hardware.WRITES_PER_VISIT)

    @property
    def requests(self) -> Integers:
        """Reads and writes of each level."""
        return self.banks.sum(axis=1)


class Bounds:
    """Timing and capacities of a machine, and the limits that follow from them.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine.
    memory : Profile
        Its memory.

    Attributes
    ----------
    engines, kernels : int
        Number of AEs, and of BFS kernels in the machine.
    request_cycles : int
        Cycles of a kernel's multiplexer per request; a write that another one of its visit follows takes only one.
    visit_cycles : int
        Cycles of the multiplexer for the writes of a visit, which go back to back.
    exchanges : bool
        Whether the kernels of an AE exchange ids, so that others read the words.
    edge_reads : Fraction
        Least reads for an edge: of its id, or half a pair, and of its word, unless a filter may drop it.
    turn_cycles : int
        Cycles of one turn of the token.
    ring_stages : int
        Cycles of the token from the ring master to the first kernel.
    slots : int
        Slots that a kernel can reserve per turn: the capacity of its queue of visited vertices.
    entry_places, id_places, word_places : int
        Most outstanding reads of a kernel: of queue entries, of ids or pairs of them, and of graph words.
    read_cycles : int
        Least cycles from the grant of a read until the next process has its response.
    flush_cycles : int
        Least cycles of a flush.
    write_cycles : int
        Least cycles from the grant of a write until a flush after it has its response.
    port_kernels : Fraction
        Kernels that share a memory port; 1 without a switch.
    contention : Contention or None
        Links and banks; None if the memory does not model them.
    blocks : bool
        Whether requests wait at the crossbar behind others that go to another link: not behind a switch.
    """

    def __init__(self, config: AcceleratorConfig, memory: Profile) -> None:
        self.engines, self.kernels = config.engines, config.total_bfs_kernels
        self.request_cycles = config.issue_interval
        self.visit_cycles = hardware.WRITES_PER_VISIT - 1 + config.issue_interval
        self.turn_cycles = hardware.ring_turn(config)
        self.ring_stages = config.ring_stages
        self.slots = config.visit_depth + hardware.QUEUE_REGISTERS
        self.edge_reads = Fraction(1, 2 if config.pair_reads else 1) + (not config.filters_copies)
        self.entry_places, self.id_places = config.frontier_depth, config.neighbour_depth
        self.word_places = config.word_depth
        self.port_kernels = Fraction(config.bfs_kernels, config.ports)
        self.exchanges = config.exchange_kernels > 0
        self.blocks = memory.contention is not None and not config.link_queues
        self.read_cycles = hardware.MUX_CYCLES + memory.unloaded_latency + hardware.QUEUE_CYCLES
        if config.link_queues:
            self.read_cycles += hardware.SWITCH_CYCLES
        self.flush_cycles = memory.quantum
        self.write_cycles = hardware.MUX_CYCLES + max(memory.quantum, memory.write_latency)
        self.contention = memory.contention

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the limits that hold for this machine, in the order of `LIMITS`."""
        shared = [] if self.contention is None else ["shared", "banks" if self.contention.rows is None else "rows"]
        return tuple(name for name, limit in LIMITS.items() if limit.memory in ("", *shared))

    def limits(self, traffic: Traffic) -> Integers:
        """Return the least cycles of each level by each limit, in the order of `names`; shape (levels, limits)."""
        port = (
            self.request_cycles * (traffic.entries + traffic.ids + traffic.words)
            + traffic.writes
            + (self.request_cycles - 1) * traffic.pushes
        )
        shared = self.port_kernels * traffic.requests.astype(object)
        known = {
            "ports": _ceil(np.maximum(port.sum(axis=1), _whole(shared)), self.kernels),
            "imbalance": port.max(axis=1),
            "outstanding": np.max(
                [
                    _ceil(self.read_cycles * reads, places).max(axis=1)
                    for reads, places in (
                        (traffic.entries, self.entry_places),
                        (traffic.ids, self.id_places),
                        (traffic.words, self.word_places),
                    )
                ],
                axis=0,
            ),
            "ring": self.turn_cycles * _ceil(traffic.pushes, self.slots).max(axis=1),
            "overhead": self._overhead(traffic),
            **self._memory_limits(traffic),
        }
        return np.stack([known[name] for name in self.names], axis=1)

    def crossbar(self, traffic: Traffic) -> Integers | None:
        """Return the cycles in which saturated crossbars would pass each level's requests, by its mix of links.

        This is an expectation, not a limit: requests in a lucky order pass faster. None unless the crossbar `blocks`.
        """
        if not self.blocks:
            return None
        writes = self._by_engine(traffic.writes)
        # The AE of a write to a link is not recorded: assume the same distribution of links in all AEs.
        shares = writes / np.maximum(1, writes.sum(axis=1, keepdims=True))
        requests = traffic.read_links + traffic.write_links[:, None, :] * shares[:, :, None]
        return np.array([crossbar_cycles(self.kernels // self.engines, level) for level in requests], np.int64)

    def _by_engine(self, counts: Integers) -> Integers:
        """Return counts by level and kernel, summed over the kernels of each AE."""
        return counts.reshape(len(counts), self.engines, -1).sum(axis=2)

    def _overhead(self, traffic: Traffic) -> Integers:
        """Return the fixed cost of each level: start, dependent reads, flush, last turn of the token.

        The token passes each kernel once per turn. In the last turn of a level it finds every kernel done; a kernel
        that pushes must have reserved its slots in an earlier turn. Where kernels exchange ids, the first kernel of the
        AE may have read the ids whose words another one reads.
        """
        kernels = np.arange(self.kernels)
        engine_kernels = self.kernels // self.engines
        # The start message and the token travel along an AE's kernels at the same speed.
        passage = self.ring_stages + (kernels // engine_kernels) * (self.turn_cycles // self.engines)
        reads = np.where(traffic.words > 0, 3, np.where(traffic.ids > 0, 2, np.where(traffic.entries > 0, 1, 0)))
        earlier = kernels % engine_kernels if self.exchanges else 0
        ready = reads * self.read_cycles - passage - earlier
        visits = traffic.pushes > 0
        wait = np.where(visits, ready, ready + self.flush_cycles)
        turns = 1 + np.maximum(_ceil(wait, self.turn_cycles), 0)
        turns += np.where(visits, -(-self.write_cycles // self.turn_cycles), 0)
        return hardware.LAUNCH_CYCLES + self.turn_cycles * turns.max(axis=1)

    def _memory_limits(self, traffic: Traffic) -> dict[str, Integers]:
        shared = self.contention
        if shared is None:
            return {}
        of_engine = traffic.read_links.sum(axis=2) + self._by_engine(traffic.writes)
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

        In any order of the requests, every window of `refresh_interval` cycles contains a whole refresh. The first
        activate of a channel need not wait for another, nor the first row of a bank for the end of another row. A row
        that is followed by another one is closed by a command, or by a refresh.
        """
        of_channel, opened = (
            counts.reshape(len(counts), shared.controllers, -1).sum(axis=2)
            for counts in (traffic.banks, traffic.openings)
        )

        def exact(counts: Integers) -> npt.NDArray[Any]:
            # Times are fractions of a cycle.
            return counts.astype(object)

        carried = exact(of_channel.max(axis=1)) * rows.burst
        again, bank_again = ((counts - 1).clip(0) for counts in (opened, traffic.openings))
        activates = np.maximum(exact(again) * rows.activate, exact(again // 4) * rows.five)
        on_bus, closed = (
            exact(counts.reshape(len(counts), shared.controllers // rows.sharing, -1).sum(axis=2))
            for counts in (opened, bank_again)
        )
        banks = rows.sharing * shared.banks // shared.controllers
        commands = (rows.opening * on_bus + rows.closing * np.maximum(closed - banks, 0)) / (
            1 + rows.closing * banks / rows.refresh_interval
        )
        busiest = np.maximum(carried, np.maximum(activates.max(axis=1), commands.max(axis=1)))
        refreshes = busiest // (rows.refresh_interval - rows.refresh)
        return {
            "channels": _whole(exact(traffic.requests) * rows.burst / shared.controllers),
            "busiest_channel": _whole(carried),
            "rows": _whole(np.maximum(activates.sum(axis=1) / shared.controllers, commands.mean(axis=1))),
            "refresh": _whole(busiest + refreshes * rows.refresh),
            "busiest_bank": _whole(
                np.maximum(exact(traffic.banks.max(axis=1)) * rows.column, exact(bank_again.max(axis=1)) * rows.row)
            ),
        }


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """Ceiling of the throughput by one limit, as a function of intensity, with evenly distributed work.

    Parameters
    ----------
    name : str
        The limit, one of `LIMITS`, or the title of `CROSSBAR`.
    edge_reads : Fraction
        Least reads for an edge.
    edge_cost : Fraction
        Least cycles for these, of the whole machine.
    other_cost : Fraction
        Least cycles for every other request, of the whole machine.
    """

    name: str
    edge_reads: Fraction
    edge_cost: Fraction
    other_cost: Fraction

    @property
    def reads(self) -> float:
        """Most reads per cycle."""
        return float(self.edge_reads / self.edge_cost)

    def edges(self, intensity: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the most edges per cycle.

        Parameters
        ----------
        intensity : ndarray of float64
            Edges per request, above 0, at most 1 / `edge_reads`: that of a search that only reads edges.
        """
        return 1 / (float(self.edge_cost) + (1 / intensity - float(self.edge_reads)) * float(self.other_cost))


def ceilings(bounds: Bounds) -> tuple[Ceiling, ...]:
    """Return the ceilings of a machine: by its ports, and, if the memory profile models them, by links and banks.

    Banks with rows have two ceilings: the bandwidth of the pseudo-channels' data buses less the time for refresh, and
    the same if each request opens a row. The last ceiling is that of saturated crossbar queues with evenly drawn links,
    unless a switch stands before them.
    """
    kernels, reads = bounds.kernels, bounds.edge_reads
    cheapest = min(Fraction(bounds.request_cycles), Fraction(bounds.visit_cycles, hardware.WRITES_PER_VISIT))
    found = [
        Ceiling(
            name="ports",
            edge_reads=reads,
            edge_cost=reads * max(Fraction(bounds.request_cycles), bounds.port_kernels) / kernels,
            other_cost=max(cheapest, bounds.port_kernels) / kernels,
        )
    ]
    if (shared := bounds.contention) is not None:
        rates = {"links": Fraction(bounds.engines * shared.links)}
        if (rows := shared.rows) is None:
            rates["banks"] = Fraction(shared.banks, shared.bank_busy)
        else:
            left = 1 - rows.refresh / rows.refresh_interval
            rates["channels"] = left * shared.controllers / rows.burst
            rates["rows"] = left * shared.controllers / rows.of_row
        if bounds.blocks:
            passed = passed_per_cycle(kernels // bounds.engines, np.full(shared.links, 1 / shared.links))
            rates[CROSSBAR.title] = Fraction(bounds.engines * passed)
        found += [
            Ceiling(name=name, edge_reads=reads, edge_cost=reads / rate, other_cost=1 / rate)
            for name, rate in rates.items()
        ]
    return tuple(found)


_SAMPLE = 1 << 16
"""Most requests in a simulation of the crossbar: the error of the rate is then some tenths of a percent."""
_CHANCES = 1 << 16
"""Most random numbers for the arbitration; after them the sequence repeats."""


def passed_per_cycle(ports: int, mix: npt.NDArray[np.float64], *, requests: int = _SAMPLE) -> float:
    """Return the throughput of a saturated first-in first-out crossbar, in requests per cycle.

    Parameters
    ----------
    ports : int
        Number of ports; each has a queue.
    mix : ndarray of float64, shape (links,)
        Share of the requests to each link; a link passes one request per cycle.
    requests : int
        Number of requests to pass; with few, the rate is a little higher, since all queues begin with fresh heads.
    """
    count = max(1, min(requests, _SAMPLE))
    random = np.random.default_rng(0)
    # In the last cycle one request per port may pass, and one stays at the head of each port.
    links = random.choice(mix.size, size=count + 2 * ports, p=mix / mix.sum())
    chances = random.integers(0, 1 << 32, size=min(_CHANCES, 4 * count) | 1)
    found = np.empty(2, np.int64)
    loop("crossbar", links, ports, count, chances, chances.size, mix.size, found)
    return float(found[0] / found[1])


def crossbar_cycles(ports: int, requests: npt.NDArray[np.float64]) -> int:
    """Return the cycles in which the saturated crossbars of all AEs pass their requests: those of the slowest AE.

    Parameters
    ----------
    ports : int
        Number of ports of an AE.
    requests : ndarray of float64, shape (AEs, links)
        Number of requests of each AE to each link.
    """
    cycles = 0.0
    for mix in requests:
        if count := round(float(mix.sum())):
            cycles = max(cycles, count / passed_per_cycle(ports, mix, requests=count))
    return round(cycles)
