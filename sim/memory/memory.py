"""The memory as a whole: storage, timing, statistics and record."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from amaranth.lib import data
from numpy.typing import ArrayLike, DTypeLike, NDArray

from cyscc.sim.arrays import ArrayKind
from cyscc.sim.memory.access_log import Accesses
from cyscc.sim.memory.library import FUNCTIONS, MemoryModel, functions_of
from cyscc.sim.memory.profiles.profile import OUTSIDE, Profile, State
from cyscc.sim.memory.profiles.rules import addresses_of, rule_at_fault
from cyscc.sim.memory.recording import RecordedIntervals, RecordedSums, Recorder
from cyscc.sim.memory.records import (
    BASE_ADDRESS,
    FLUSH_DEPTH,
    MAX_ENGINES,
    MAX_PARTS,
    MAX_PORTS,
    NEAR,
    NEVER,
    TAG_BITS_LIMIT,
    Kept,
    Mailbox,
    Request,
    Response,
    context_of,
    in_lines,
)
from cyscc.sim.memory.statistics import message, summarise
from cyscc.sim.memory.storage import DEFAULT_CAPACITY, MemoryState, Region, Storage
from cyscc.sim.memory.structures import Arena


@dataclass(frozen=True, kw_only=True)
class PayloadLayout:
    """Fields of a request's payload word, as the hardware packs them.

    Parameters
    ----------
    address_bits : int
        Width of the byte address, which is in the lowest bits.
    size_bit : int
        Position of the size: 0 for 4 bytes, 1 for 8.
    tag_shift, tag_bits : int
        Position and width (at most 16) of the tag that comes back with the data of a read.

    Raises
    ------
    ValueError
        A field is empty, too wide, or overlaps another.
    """

    address_bits: int = 48
    size_bit: int = 48
    tag_shift: int = 49
    tag_bits: int = 15

    @classmethod
    def of(cls, layout: data.StructLayout) -> Self:
        """Return the fields of a request's layout."""
        return cls(
            address_bits=layout["address"].width,
            size_bit=layout["size"].offset,
            tag_shift=layout["tag"].offset,
            tag_bits=layout["tag"].width,
        )

    def __post_init__(self) -> None:
        """Refuse invalid fields."""
        if not 13 <= self.address_bits <= 48:
            raise ValueError(f"address_bits must be from 13 to 48, not {self.address_bits!r}")
        if not self.address_bits <= self.size_bit <= 63:
            raise ValueError(f"size_bit must be from {self.address_bits} to 63, not {self.size_bit!r}")
        if not 1 <= self.tag_bits <= TAG_BITS_LIMIT:
            raise ValueError(f"tag_bits must be from 1 to {TAG_BITS_LIMIT}, not {self.tag_bits!r}")
        if not self.address_bits <= self.tag_shift <= 64 - self.tag_bits:
            raise ValueError(
                f"tag_shift must be from {self.address_bits} to {64 - self.tag_bits}, not {self.tag_shift!r}"
            )
        if self.tag_shift <= self.size_bit < self.tag_shift + self.tag_bits:
            raise ValueError(f"size_bit must be outside the tag, not {self.size_bit!r}")


class Memory(Storage):
    """The memory of the HC-2 under one profile: its storage, with the AEs' ports to it.

    Executors call `prepare`, `accept` and `next_event`, and `settle` at sync points of the AEs; C++ code calls them
    through `model`. The memory must outlive the executors. Cycle numbers must ascend. AEs on parallel threads need not
    wait until each other's requests are performed: see `seal`.

    Parameters
    ----------
    profile : Profile
        The profile.
    engines : int
        Application Engines, 1 to 4.
    ports : int
        Memory ports of each, 1 to 32.
    capacity : int
        Bytes of address space; reduced if the system refuses that much.
    payload : PayloadLayout
        Positions of address, size and tag in the payload word of a request.

    Members
    -------
    profile : Profile
        The profile.
    engines, ports : int
        As given.
    capacity : int
        Actual bytes of address space.
    parts : int
        Parts into which the service of a round is divided, see `divide`.
    mailboxes : ndarray of Mailbox, one per AE
        Signals exchanged by AE and memory in a cycle.

    Raises
    ------
    ValueError
        A number is out of range.
    MemoryError
        The system refuses the memory.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        engines: int,
        ports: int,
        capacity: int = DEFAULT_CAPACITY,
        payload: PayloadLayout | None = None,
    ) -> None:
        for name, value, most in (("engines", engines, MAX_ENGINES), ("ports", ports, MAX_PORTS)):
            if not 1 <= value <= most:
                raise ValueError(f"{name} must be from 1 to {most}, not {value!r}")
        layout = payload or PayloadLayout()
        self.profile = profile
        self.engines = engines
        self.ports = ports
        super().__init__(min(capacity, 1 << layout.address_bits))
        self._first_cycle = 0
        self._kinds: list[ArrayKind] = []
        self._recorder: Recorder | None = None
        self._access_log: Accesses | None = None
        self._arena = Arena()
        side, service, context = context_of(type(profile))  # type: ignore[arg-type]
        self._context = self._arena.make(context, 1)
        self.mailboxes = self._arena.link(self._context, "mailboxes", Mailbox, engines)[0]
        self._sides = self._arena.link(self._context, "sides", side, engines)[0]
        outside = type(profile).__module__.startswith(OUTSIDE)
        self._divisions = 1 if outside else min(profile.divisions, MAX_PARTS)
        self._services = self._arena.link(self._context, "services", service, self._divisions)[0]
        self._state = State(own=self._sides["own"], shared=self._services["shared"], arena=self._arena)
        self._set_context(layout)
        self._set_sides()
        profile.build(self._state, ports=ports)
        self._pointer = self._context.ctypes.data
        self._functions = functions_of(type(profile), engines=engines, ports=ports)  # type: ignore[arg-type]
        self._model: MemoryModel | None = None
        self.divide(1)

    def _set_context(self, layout: PayloadLayout) -> None:
        numbers = {
            "engines": self.engines,
            "ports": self.ports,
            "divisions": self._divisions,
            "row": in_lines(self.ports),
            "every": (1 << self.ports) - 1,
            "batch_depth": 2 * (self.quantum + 1) * 3 * self.ports,
            "quantum": self.quantum,
            "accepted": 0,
            "served": 1,
            "delivered": 2,
            "settled": -1,
            "top": BASE_ADDRESS,
            "address_mask": (1 << layout.address_bits) - 1,
            "size_bit": layout.size_bit,
            "tag_shift": layout.tag_shift,
            "tag_mask": (1 << layout.tag_bits) - 1,
        }
        for name, number in numbers.items():
            self._context[name] = number
        self._arena.set_link(self._context, "storage", self.address)
        for each in fields(self.profile):
            self._context["rules"][each.name] = getattr(self.profile, each.name)
        if type(self.profile).__module__.startswith(OUTSIDE):
            self._context["rules"]["rules"] = addresses_of(type(self.profile))  # type: ignore[arg-type]

    def _set_sides(self) -> None:
        """Allocate the arrays of each AE's side, large enough that none can overflow."""
        arena, sides = self._arena, self._sides
        sides["number"] = np.arange(self.engines)
        sides["width"] = self.ports
        sides["last_seen"] = sides["last_written"] = -1
        sides["soonest"] = sides["next_flush"] = sides["next_far"] = NEVER
        self._due = arena.link(sides, "due", int, NEAR)
        arena.link(sides, "rows", int, 2 * NEAR * in_lines(self.ports))
        # Their arrays are in no saved state, in which there are no requests.
        arena.set_link(sides["batches"], "order", 0)
        arena.set_link(sides["batches"]["queues"], "requests", 0)
        ports = sides["ports"][:, : self.ports]
        ports["last_flushed"] = -1
        sides["ports"]["flush_due"] = NEVER
        later = 1 << self.profile.reads_in_flight_limit.bit_length()
        ports["later"]["mask"] = later - 1
        self._responses = arena.link(ports, "responses", Response, later)
        ports["flushes"]["mask"] = FLUSH_DEPTH - 1
        arena.link(ports, "flush_times", int, FLUSH_DEPTH)

    def divide(self, threads: int) -> None:
        """Divide the service of a round into parts for a number of threads, as far as the profile can.

        Call between two settled cycles. Results do not depend on it.
        """
        parts = min(1 << (threads - 1).bit_length(), self._divisions)
        self.parts = parts
        self._context["parts"] = parts
        self._context["part_shift"] = (self.profile.divisions // parts).bit_length() - 1
        self.profile.divide(self._state, parts)
        depth, batches = int(self._context["batch_depth"][0]), self._sides["batches"]
        self._logs = Arena()
        self._logs.link(batches, "order", int, depth)
        self._logs.link(batches["queues"][..., :parts], "requests", Request, depth)
        if self._model is not None:
            self._model.parts = parts

    @property
    def quantum(self) -> int:
        """Most cycles that AEs may run between sync points, where `settle` is called."""
        return self.profile.quantum

    @property
    def allocated(self) -> int:
        """Bytes from the first allocation to the end of the last."""
        return self.top - BASE_ADDRESS

    @property
    def model(self) -> MemoryModel:
        """Interface for native code: functions, context and mailboxes."""
        if self._model is None:
            self._model = MemoryModel(context=self._pointer, mailboxes=self.mailboxes.ctypes.data, parts=self.parts)
            for name in FUNCTIONS:
                setattr(self._model, name, self._functions[name])
        return self._model

    def _call(self, name: str, *words: int) -> int:
        """Call a function of the library; return its answer, if any."""
        return int(self._functions[name](self._pointer, *words) or 0)

    def prepare(self, ae: int, cycle: int) -> None:
        """Fill an AE's mailbox for a cycle: readiness, responses, completed flushes.

        Call once for each cycle that the AE evaluates, in ascending order; cycles before `next_event` may be skipped.
        Different AEs may call it concurrently, but not during `settle` or `seal`.
        """
        self.model.prepare(self._pointer, ae, cycle)

    def accept(self, ae: int, cycle: int) -> None:
        """Take the requests of a cycle from an AE's mailbox, and clear their masks.

        Call after `prepare` of the same cycle. Reads and writes are only allowed at ports that are ready for them.
        """
        self.model.accept(self._pointer, ae, cycle)

    def settle(self, cycle: int) -> int:
        """Perform and deliver all requests accepted up to a cycle, which all AEs have finished.

        Call before any AE prepares the cycle `quantum` after one that is not settled. It is equivalent to `seal`,
        `serve`, `seal` and `deliver` for all AEs, and may end a sequence of these.

        Returns
        -------
        int
            0, or the code of the first error so far; `error` has its text.
        """
        return int(self.model.settle(self._pointer, cycle))

    def seal(self, cycle: int) -> int:
        """End a round at a cycle that all AEs have finished, and advance the requests of earlier rounds by a stage.

        Requests accepted in one round are performed by `serve` during the next round, and delivered by `deliver` at the
        start of the round after that, before its first `prepare`. So a round may have at most half of `quantum` cycles.
        Call `seal` while no other function runs; it performs a `serve` or `deliver` of the round that was not called.

        Returns
        -------
        int
        See `settle`; the error of a request is reported at the end of the round in which it is performed.
        """
        return int(self.model.seal(self._pointer, cycle))

    def serve(self, part: int) -> None:
        """Perform the requests that all AEs accepted in the round before this one, of one of the memory's parts.

        Parts access nothing in common, and may run concurrently with each other and with `prepare`, `accept` and
        `deliver` of any AE. Call once per round for each of `parts`.
        """
        self.model.serve(self._pointer, part)

    def deliver(self, ae: int) -> None:
        """Queue responses and completions of an AE's requests of the last round but one.

        Call once per round, before the AE's first `prepare`. Different AEs may call it concurrently.
        """
        self.model.deliver(self._pointer, ae)

    def next_event(self, ae: int, cycle: int) -> int:
        """Return the first cycle from `cycle` on in which `prepare` will show a response, a completed flush or a stall.

        Considers settled or delivered requests only. Without any event, the result is 2**62. If a port may stall in a
        later cycle without any request, it is `cycle` itself.
        """
        return int(self.model.next_event(self._pointer, ae, cycle))

    def last_completion(self) -> int:
        """Return the last cycle with a response or completion of the requests so far, -1 before the first.

        Considers settled or delivered requests only. Their timing is final, so the cycle only changes with further
        requests.
        """
        return int(self.model.last_completion(self._pointer))

    def play(
        self, addresses: NDArray[np.int64], reads: NDArray[np.int64], *, come: NDArray[np.int64], outstanding: int = 0
    ) -> NDArray[np.int64]:
        """Play requests through the profile's service alone, without ports and words.

        The memory must be new, and cannot be used for anything else afterwards but its statistics.

        Parameters
        ----------
        addresses : ndarray of int64
            Byte addresses, in the order in which the requests come.
        reads : ndarray of int64
            1 for a read, 0 for a write.
        come : ndarray of int64
            Cycles in which they come, ascending; written where `outstanding` is above 0.
        outstanding : int
            Requests under way at a time, a further one when one is done; 0 for requests that come at their cycles.

        Returns
        -------
        ndarray of int64
            Cycles in which they are done.

        Raises
        ------
        ValueError
            A resource cannot be booked so far ahead.
        """
        done = np.empty_like(come)
        places = (array.ctypes.data for array in (addresses, reads))
        played = self._call("play", come.size, *places, outstanding, come.ctypes.data, done.ctypes.data)
        if played < come.size:
            raise ValueError(f"request {played + 1} comes while too many are under way")
        return done

    def allocate(self, size_bytes: int, alignment: int = 512, *, holds: ArrayKind = ArrayKind.OTHER) -> int:
        """Allocate zeroed bytes and return the address of the first; see `Storage.allocate`.

        `holds` matters to the record only.
        """
        address = super().allocate(size_bytes, alignment)
        self._context["top"] = self.top
        self._kinds.append(holds)
        if self._recorder is not None:
            self._recorder.know(self.allocations, self._kinds, self.top)
        return address

    def write(self, address: int, values: ArrayLike) -> None:
        """Store the elements of an array from a byte address on, in no simulated time.

        Raises
        ------
        ValueError
            As `view` does.
        """
        elements = np.asarray(values).ravel()
        self.view(address, elements.dtype, elements.size)[:] = elements

    def read(self, address: int, dtype: DTypeLike, count: int) -> NDArray[Any]:
        """Return a copy of `count` elements from a byte address on.

        Raises
        ------
        ValueError
            As `view` does.
        """
        return self.view(address, dtype, count).copy()

    @property
    def holds(self) -> Sequence[ArrayKind]:
        """What each allocation holds."""
        return self._kinds

    def save(self, *, without: Collection[int] = ()) -> MemoryState:
        """Return the state after a settled cycle that all AEs have finished.

        The regions are views of the storage, not copies.

        Parameters
        ----------
        without : collection of int
            Addresses of allocations to leave out.
        """
        regions = []
        first = BASE_ADDRESS
        for address, size in [*self.allocations, (self.top, 0)]:
            if address in without or not size:
                if address > first:
                    regions.append(Region(address=first, content=self.view(first, np.uint8, address - first)))
                first = address + size
        return MemoryState(
            allocations=list(self.allocations),
            regions=regions,
            records=self._arena.save() + (self._recorder.save() if self._recorder is not None else []),
            first_cycle=self._first_cycle,
        )

    def load(self, state: MemoryState) -> None:
        """Load a state, with the same allocations; those left out must have been written again.

        A memory that records continues the record in the state; otherwise that is ignored.

        Raises
        ------
        ValueError
            The state is of a memory of other sizes, or lacks the record to continue.
        """
        if list(state.allocations) != self.allocations:
            raise ValueError("the memory has other allocations")
        own = self._arena.count
        if self._recorder is not None:
            self._recorder.load(state.records[own:])
        self._arena.load(state.records[:own])
        self._context["interval"] = self.record_interval
        for region in state.regions:
            self.view(region.address, np.uint8, region.content.size)[:] = region.content
        self._first_cycle = state.first_cycle
        if self._recorder is not None:
            # Compiled code looks up addresses by this, and a state may hold anything.
            self._recorder.know(self.allocations, self._kinds, self.top)

    def check(self, cycle: int) -> None:
        """Refuse a loaded state that is not that of settled memory before a cycle, as `save` returns it.

        Parameters
        ----------
        cycle : int
            The first cycle that is not settled.

        Raises
        ------
        ValueError
            Something is out of range that compiled code would use unchecked.
        """
        context, sides, every = self._context[0], self._sides, int(self._context["every"][0])
        batches, queues = sides["batches"], sides["batches"]["queues"]
        errors = [context["error"], *self._services["error"], *sides["error"]]
        holds = {
            "rounds": sorted(int(context[name]) for name in ("accepted", "served", "delivered")) == [0, 1, 2],
            "cycle": context["settled"] == cycle - 1 and 0 <= self._first_cycle <= cycle,
            "engines' cycle": np.all((sides["cycle"] >= 0) & (sides["cycle"] <= cycle)),
            "top": context["top"] == self.top,
            "error": not any(error["code"] for error in errors),
            "batches": not any(counts.any() for counts in (batches["count"], queues["count"], queues["served"])),
            "masks of ports": not ((sides["far"] & ~every).any() or (self._due & ~every).any()),
            "tags": not (self._responses["tag"] & ~context["tag_mask"]).any(),
        }
        wrong = [name for name, right in holds.items() if not right]
        if wrong:
            raise ValueError(f"the memory's {wrong[0]} are impossible")
        self.profile.check(self._state, ports=self.ports)
        if self._recorder is not None:
            self._recorder.check(cycle)

    def record(self, interval: int) -> None:
        """Start recording by intervals of cycles; call between two settled cycles.

        Call `drain` at least every `record_span` cycles from then on.

        Raises
        ------
        ValueError
            The interval is not from 1 to 2**16 cycles, or a record or a log is kept already.
        """
        if self._context["kept"][0]:
            raise ValueError("the memory keeps a record already")
        cycle = int(self._context["settled"][0]) + 1
        recorder = Recorder(
            interval,
            cycle=cycle,
            engines=self.engines,
            quantum=self.quantum,
            contention=self.profile.contention,
            stalls=self._stalls(),
            call=self._call,
        )
        recorder.know(self.allocations, self._kinds, self.top)
        for field, records in recorder.records.items():
            self._arena.set_link(self._context, field, records.ctypes.data)
        recorder.take(self.profile.openings(self._state))
        self._context["kept"], self._context["recorded"], self._context["interval"] = Kept.RECORD, cycle, interval
        self._context["links_of_engine"] = recorder.links
        self._recorder = recorder

    @property
    def record_interval(self) -> int:
        """Cycles of an interval of the record, 0 if not recording."""
        return self._recorder.interval if self._recorder is not None else 0

    @property
    def record_span(self) -> int:
        """Most cycles between two calls of `drain`, which fill half of the rings."""
        return self._recording.most * self.record_interval

    def drain(self, cycle: int, *, partial: bool = False) -> RecordedIntervals:
        """Return the recorded intervals that end at or before a cycle and were not returned yet.

        Parameters
        ----------
        cycle : int
            The first cycle not begun. All before it are settled, and the executor's last call was `settle`.
        partial : bool
            Also return the current interval, extended to its end; the machine has run its last cycle.

        Raises
        ------
        ValueError
            No record is kept, cycles before this one are not settled, or `drain` was not called often enough.
        """
        recorder = self._recording
        if partial:
            cycle += -cycle % recorder.interval
            self.settle(cycle - 1)
        recorded = int(self._context["recorded"][0])
        if cycle > recorded:
            raise ValueError(f"the memory's record is complete until cycle {recorded}, not {cycle}")
        return recorder.drain(cycle)

    def take(self) -> RecordedSums:
        """Return the recorded sums since the last call; call when all requests are settled.

        Raises
        ------
        ValueError
            No record is kept.
        """
        return self._recording.take(self.profile.openings(self._state))

    def log_accesses(self, *, span: int) -> Accesses:
        """Return a log of accesses, which is empty until addresses are chosen; call between two settled cycles.

        Parameters
        ----------
        span : int
            Most cycles between two calls of its `take`.

        Raises
        ------
        ValueError
            A record or a log is kept already.
        """
        if self._context["kept"][0]:
            raise ValueError("the memory keeps a record already")
        log = Accesses(self._context, span=span)
        self._arena.set_link(self._context, "access_logs", log.records.ctypes.data)
        self._context["kept"] = Kept.LOG
        self._access_log = log
        return log

    def _stalls(self) -> NDArray[np.int64]:
        """Return each AE's stalls of reads, and of writes."""
        stalls: NDArray[np.int64] = self._sides["stalls"].reshape(self.engines, 2, MAX_PORTS).sum(axis=2)
        return stalls

    @property
    def _recording(self) -> Recorder:
        if self._recorder is None:
            raise ValueError("the memory keeps no record")
        return self._recorder

    def error(self) -> str | None:
        """Return the first error in one line, or None."""
        error = self._context["error"][0].item()
        if not error[0]:
            return None
        rules = rule_at_fault(type(self.profile), error[0], error[1])
        return message(error, top=self.top, quantum=self.quantum, ports=self.ports, rules=rules)

    def outstanding(self) -> list[tuple[int, int, int]]:
        """Return (engine, port, reads in flight) for each port with outstanding reads."""
        reads = self._sides["in_flight"][:, : self.ports]
        return [(int(ae), int(port), int(reads[ae, port])) for ae, port in np.argwhere(reads)]

    def statistics(self) -> dict[str, Any]:
        """Return the statistics, JSON-able; see `cyscc.sim.memory.statistics.summarise`."""
        cycles = int(self._context["settled"][0]) + 1 - self._first_cycle
        entering, serving = int(self._sides["entering"].sum()), int(self._services["waited"].sum())
        own = self.profile.statistics(self._state, cycles=cycles, entering=entering, serving=serving)
        return {"profile": str(self.profile), **summarise(self._sides, own, ports=self.ports, cycles=cycles)}

    def reset_statistics(self) -> None:
        """Restart the statistics at the cycle after the last settled one."""
        self._first_cycle = int(self._context["settled"][0]) + 1
        if self._recorder is not None:
            openings = self.profile.openings(self._state)
            self._recorder.reset(self._sides["statistics"]["histogram"], self._stalls(), openings)
        self._sides["statistics"] = self._sides["stalls"] = self._sides["entering"] = 0
        self._services["waited"] = 0
        self.profile.reset_statistics(self._state)
