"""Predicted cycles of a recorded run on another machine, by a queueing model with synthetic traffic of its levels.

The traffic of a level has the counts of the record: entries, edges and pushes of each kernel, and the accesses of words
by bank. The model runs it on the recorded machine and on the changed one; what it gains or loses, so does the level.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cyscc.host.analysis.explain.queueing import PLAIN, Machine, Memory, modelled
from cyscc.host.analysis.explain.traffic import Traffic, pushes_of
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import MODULES
from cyscc.sim import hardware
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.memory import Profile, profile_from

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Predictor"]

_REQUESTS = 300_000
"""Requests of all levels together that the model runs for a machine, or little more."""

_OF_KERNEL = 1000
"""Least requests of an average kernel in the part of a large level that the model runs: with fewer, its beginning and
end would have too much weight."""

_ALONE = 0.04
"""Least share of a run's cycles with which a level is modelled for itself, and not by another one like it."""

_TURNS = 12
"""Turns of the token up to which levels are alike only if they take as many: a turn more or less matters."""

_ERROR = 0.05
"""Standard error of the model, as a share of the cycles in which an average kernel issues the level's requests."""

_COPIES = 2
"""Factor of the additional copies in a queue if a kernel issues more quickly: more vertices than the model knows of,
from those that the run pushed twice, are then read again before they are marked."""

_CHUNK_WRITES = hardware.WRITES_PER_VISIT - 1
"""Writes for each chunk of a vertex but the first one, which is marked, too."""

_BYTES = 8
"""Bytes of a word."""

_POINTS = 16
"""Points of a turn of the token for which the end of a level is evaluated."""


@dataclass(frozen=True, kw_only=True)
class _Level:
    """A level, or an intersection, that stands for others like it.

    Parameters
    ----------
    module : str
        The kind of kernels.
    traffic : Traffic
        Its traffic, or a part of it.
    requests, measured : int
        Its requests and cycles in the record.
    weight : float
        Cycles of all levels that it stands for, in those of this one.
    after : int or None
        Index of the level before it, if that one is modelled for itself: it pushes the copies in this one's queue.
    edges, earlier : int
        Edges that leave its vertices, and those of the levels before it in its search.
    found, reached : int
        Vertices that it pushed for the first time, and those of its whole search.
    """

    module: str
    traffic: Traffic
    requests: int
    measured: int
    weight: float
    after: int | None
    edges: int
    earlier: int
    found: int
    reached: int


class _Machines(NamedTuple):
    """The model of a machine: its kernels by kind, and its memory."""

    kernels: dict[str, Machine]
    memory: Memory


class Predictor:
    """Predictions for a recorded run with other settings.

    Parameters
    ----------
    record : Record
        The record.

    Attributes
    ----------
    config : AcceleratorConfig
        The recorded machine.
    memory : Profile or None
        Its memory; None if its rules are not in the record.
    cycles : int
        The recorded cycles of the instructions.
    vertices : int
        Vertices of the graph.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        document = record.document
        self.config = AcceleratorConfig.from_mapping(document["configuration"])
        self.memory = _recorded_memory(document["memory_profile"])
        self.cycles = int(record.instructions["cycles"].sum())
        self._known: dict[tuple[object, ...], int] = {}
        self.vertices = int(document["run"]["vertices"])

    def predicted(self, config: AcceleratorConfig, memory: Profile | None) -> int:
        """Return the predicted cycles of the instructions on another machine.

        Parameters
        ----------
        config : AcceleratorConfig
            The machine.
        memory : Profile or None
            Its memory; None only if that of the record is unknown.
        """
        machine = self._machine_of(config, memory)
        key = (*machine.kernels.values(), machine.memory[:-3], *(each.tobytes() for each in machine.memory[-3:]))
        if key not in self._known:
            after = self._modelled(machine, self._before)
            self._known[key] = round(
                sum(
                    level.weight
                    * (
                        self._ended(level, before, machine.kernels[level.module], cycles)
                        + _queueing_of_chunks(level, machine.kernels[level.module])
                    )
                    for level, (before, _), (cycles, _) in zip(self._levels, self._before, after, strict=True)
                )
            )
        return self._known[key]

    @cached_property
    def _now(self) -> _Machines:
        """The recorded machine."""
        return self._machine_of(self.config, self.memory)

    @cached_property
    def _before(self) -> list[tuple[int, int]]:
        """The cycles and copies of each level on the recorded machine, in the model."""
        return self._modelled(self._now)

    def _modelled(self, machine: _Machines, before: list[tuple[int, int]] | None = None) -> list[tuple[int, int]]:
        """Return the cycles of each level in the model, and its copies: pushes of a vertex that was pushed already.

        Parameters
        ----------
        machine : _Machines
            The machine.
        before : list, optional
            The same for the recorded machine, if this is another one: with more copies, the next queue is longer.
        """
        found: list[tuple[int, int]] = []
        for level in self._levels:
            kernels, traffic = machine.kernels[level.module], level.traffic
            more = 0.0
            if level.after is not None and before is not None:
                pushed = max(self._levels[level.after].traffic.pushed, 1)
                more = (found[level.after][1] - before[level.after][1]) / pushed
                if kernels.interval < self._now.kernels[level.module].interval:
                    more = max(more, _COPIES * more)
            words = 1.0
            if level.module == "bfs":
                words = self._words_read(level, kernels) / self._words_read(level, self._now.kernels["bfs"])
            cycles, pushed = modelled(kernels, machine.memory, traffic.stream(kernels, more, words))
            if traffic.share < 1:
                # The first entries of all kernels take as long as all that does not grow with the level.
                beginning = traffic.beginning(kernels.engines * kernels.kernels)
                fixed, _ = modelled(kernels, machine.memory, beginning)
                cycles = round(fixed + max(cycles - fixed, 0) / traffic.share)
            found.append((cycles, pushed - traffic.found))
        return found

    def _ended(self, level: _Level, before: float, machine: Machine, after: float) -> float:
        """Return the cycles of a level on a changed machine, from the model's before and after the change.

        A level of a search ends with a turn of the token. When in its turn the last kernel was done is not recorded:
        it was about when the model says, give or take the model's error.
        """
        ratio = after / max(before, 1)
        if level.module == "intersection":
            return level.measured * ratio
        now = self._now.kernels[level.module]
        turns = max(round((level.measured - now.launch) / now.turn) - 1, 1)
        ends = (turns - 1 + (np.arange(_POINTS) + 0.5) / _POINTS) * now.turn
        error = 2 + _ERROR * level.requests / (now.engines * now.kernels)
        chances = np.exp(-(((ends - before) / error) ** 2) / 2) + 1e-9
        cycles = machine.launch + machine.turn * (1 + np.maximum(np.ceil(ends * ratio / machine.turn), 1))
        beside = level.measured - now.launch - now.turn * (1 + turns)
        return float((chances * cycles).sum() / chances.sum()) + beside

    @cached_property
    def _levels(self) -> list[_Level]:
        rows = self._record.instructions
        rows = rows[rows["requests"] > 0]
        turn = hardware.ring_turn(self.config)
        groups: dict[tuple[object, ...], list[int]] = {}
        columns = (rows.index, rows["module"], rows["requests"], rows["cycles"])
        for number, module, requests, cycles in zip(*columns, strict=True):
            alike = (module, int(requests).bit_length(), min(cycles // turn, _TURNS))
            groups.setdefault((number,) if cycles > _ALONE * self.cycles else alike, []).append(int(number))
        of_group = {}
        for members in groups.values():
            its = rows.loc[members].sort_values("cycles")
            of_group[int(its.index[len(its) // 2])] = its
        found: list[_Level] = []
        place: dict[int, int] = {}
        for number in sorted(of_group):
            its = of_group[number]
            row, cycles = rows.loc[number], int(its["cycles"].sum())
            module = str(row["module"])
            requests = int(row["requests"])
            wanted = max(_REQUESTS * cycles / self.cycles, _OF_KERNEL * self._record.kernels(module))
            before = place.get(number - 1) if module == "bfs" and row["level"] > 0 else None
            search = None
            traffic = Traffic(self._record, self.memory, self._pushes, number, min(1.0, wanted / requests))
            if module == "bfs":
                search = self._searches.loc[number]
                ends = row["edges"] * search["unmet"] / max(search["reached"], 1)
                traffic.calibrate(self._now.kernels[module], self._now.memory, max(ends - row["pushed"], 0.0))
            measured = int(row["cycles"])
            if len(its) == 1:
                place[number] = len(found)
            found.append(
                _Level(
                    module=module,
                    traffic=traffic,
                    requests=requests,
                    measured=measured,
                    weight=cycles / measured,
                    after=before,
                    edges=int(row["edges"]),
                    earlier=0 if search is None else int(search["earlier"]),
                    found=int(row["pushed"] - row["duplicates"]),
                    reached=0 if search is None else int(search["reached"]),
                )
            )
        return found

    def _machine_of(self, config: AcceleratorConfig, memory: Profile | None) -> _Machines:
        """Return the model of a machine."""
        kernels = {module: _kernels(config, module, self.vertices) for module in MODULES}
        memory_ways = self._ways(memory)
        if config.link_queues:
            places = np.arange(1 << max(config.link_bits, default=0) + 1, step=_BYTES)
            ports = np.zeros_like(places)
            for number, bit in enumerate(config.link_bits):
                ports |= (places >> bit & 1) << number
            memory_ways = memory_ways._replace(port_of=ports)
        return _Machines(kernels, memory_ways)

    @cached_property
    def _pushes(self) -> "pd.DataFrame":
        """The vertices that each level pushed."""
        return pushes_of(self._record)

    @property
    def copied(self) -> float:
        """Share of the pushed vertices that were pushed before."""
        pushed, found, _ = (int(number) for number in self._pushes.sum())
        return 1 - found / max(pushed, 1)

    @cached_property
    def _searches(self) -> "pd.DataFrame":
        """Vertices that the search of each level found (`reached`), and had not found before the level (`unmet`).

        The edges of the levels before it are `earlier`.
        """
        rows = self._record.instructions
        rows = rows[rows["module"] == "bfs"]
        search = (rows["level"] <= 0).cumsum()
        found = rows["pushed"] - rows["duplicates"]
        reached = found.groupby(search).transform("sum")
        unmet = reached - found.groupby(search).cumsum() + found
        earlier = rows["edges"].groupby(search).cumsum() - rows["edges"]
        return reached.to_frame("reached").assign(unmet=unmet, earlier=earlier)

    @staticmethod
    def _words_read(level: _Level, machine: Machine) -> float:
        """Return the words that a machine reads in a level, as a share of the edges.

        With a filter each AE reads the word of a vertex once. How many AEs meet a vertex is estimated for edges with
        random ends: where some vertices have many more than others, fewer words are read.
        """
        if not machine.lanes or not level.edges:
            return 1.0
        reached, engines = max(level.reached, 1), machine.engines
        unmet, left = (
            engines * reached * np.exp(-edges / (engines * reached))
            for edges in (level.earlier, level.earlier + level.edges)
        )
        read = min(max(unmet - left, level.found) / level.edges, 1.0)
        return float(machine.filtered * read + 1 - machine.filtered)

    def _ways(self, memory: Profile | None) -> Memory:
        """Return the model of a memory."""
        shared = None if memory is None else memory.contention
        if memory is None or shared is None:
            latency = self._latency if memory is None else memory.unloaded_latency
            return PLAIN._replace(
                there=float(latency), flush=round(latency) if memory is None else memory.flush_latency
            )
        values = memory.describe()
        rows = shared.rows
        served = float(shared.bank_busy) if rows is None else 0.0
        travel = (memory.unloaded_latency - served) / 2
        ways = PLAIN._replace(
            links=shared.links,
            there=travel,
            served=served,
            back=travel,
            busy=served,
            queue=values["port_queue"],
            reads=values["reads_in_flight"],
            writes=values["writes_in_flight"],
            flush=memory.flush_latency,
            of_controller=shared.banks // shared.controllers,
            link_of=np.ascontiguousarray(shared.link_by_word, np.int64),
            bank_of=np.ascontiguousarray(shared.bank_by_word, np.int64),
        )
        if rows is None:
            return ways
        # While it refreshes, a controller serves nothing; on average all takes longer by as much.
        longer = float(1 / (1 - rows.refresh / rows.refresh_interval))
        return ways._replace(
            busy=longer * float(rows.column),
            opening=longer * float(rows.row),
            opened=float(rows.column) / values["t_ccd_l"] * (values["t_rp"] + values["t_rcd"]),
            opens=self._opens,
            burst=longer * float(rows.burst),
            activate=longer * float(rows.activate),
        )

    @cached_property
    def _opens(self) -> float:
        """Share of the accesses that opened a row."""
        accesses = int(self._record.frame("instruction_banks")["accesses"].sum())
        return float(self._record.frame("instruction_rows")["openings"].sum()) / max(accesses, 1)

    @cached_property
    def _latency(self) -> float:
        """Mean latency of the reads."""
        frame = self._record.frame("instruction_latencies")
        reads = frame["reads"].astype("int64")
        return float((frame["latency"] * reads).sum() / max(reads.sum(), 1))


def _recorded_memory(described: Mapping[str, Any]) -> Profile | None:
    """Return the memory of a record; None if its rules are the user's."""
    try:
        return profile_from({name: value for name, value in described.items() if name != "source"})
    except ValueError:
        return None


def _queueing_of_chunks(level: _Level, machine: Machine) -> float:
    """Return the cycles in which a kernel queues the additional chunks of a level's largest vertex.

    The level before takes so many more if all others wait for it. Divided edges gain only what is beyond these.
    """
    more = level.traffic.most_pieces(machine)
    return more * max(_CHUNK_WRITES, machine.turn / machine.visits)


def _kernels(config: AcceleratorConfig, module: str, vertices: int) -> Machine:
    """Return the model of the kernels of a kind, for a graph of so many vertices."""
    searches = module == "bfs"
    paired = searches and config.pair_reads
    kernels = config.bfs_kernels if searches else config.intersection_kernels
    return Machine(
        engines=config.engines,
        kernels=kernels,
        entries=config.frontier_depth if searches else config.reach_depth,
        ids=config.neighbour_depth << paired if searches else config.colour_depth,
        words=config.word_depth if searches else config.unvisit_depth,
        visits=config.visit_depth,
        interval=config.issue_interval,
        blocking=config.blocking_reservation,
        turn=hardware.ring_turn(config) if searches else 0,
        stages=config.ring_stages,
        launch=hardware.LAUNCH_CYCLES,
        intersects=not searches,
        paired=paired,
        lean=searches and config.lean_visits,
        together=searches and config.short_ring,
        ports=config.ports if config.link_queues else 0,
        crosspoints=hardware.capacity_of(config.link_queues) if config.link_queues else 0,
        lanes=0 if not searches or not config.exchange_kernels else 1 + config.pair_reads,
        filtered=min(config.visited_filter / max(vertices, 1), 1.0) if searches else 0.0,
        chunk=config.edge_chunk if searches else 0,
    )
