"""The memory as a whole: storage, timing, and what to ask it afterwards."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from amaranth.lib import data
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sim.arrays import ArrayKind
from sim.memory.functions import PROTOTYPES, MemoryModel, compiled_for
from sim.memory.profiles.profile import Profile, State
from sim.memory.recording import RecordedIntervals, RecordedSums, Recorder
from sim.memory.records import (
    BASE_ADDRESS,
    FLUSH_DEPTH,
    MAX_ENGINES,
    MAX_PORTS,
    NEAR,
    NEVER,
    TAG_BITS_LIMIT,
    Mailbox,
    Request,
    Response,
    context_of,
    in_lines,
)
from sim.memory.statistics import message, summarise
from sim.memory.storage import DEFAULT_CAPACITY, MemoryState, Region, Storage
from sim.memory.structures import Room

__all__ = ["Memory", "PayloadLayout"]


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
        If a field is empty, too wide, or overlaps another.
    """

    address_bits: int = 48
    size_bit: int = 48
    tag_shift: int = 49
    tag_bits: int = 15

    @classmethod
    def of(cls, layout: data.StructLayout) -> Self:
        """Return those of a request's layout."""
        return cls(
            address_bits=layout["address"].width,
            size_bit=layout["size"].offset,
            tag_shift=layout["tag"].offset,
            tag_bits=layout["tag"].width,
        )

    def __post_init__(self) -> None:
        """Refuse fields that do not fit."""
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


class Memory:
    """The memory of the HC-2 under one profile, with the AEs' ports to it.

    Executors call `prepare`, `accept` and `next_event`, and `settle` where the AEs meet; those in C++ by `model`. The
    memory must exist as long as they do. Cycle numbers only ever ascend. AEs on threads need not wait for each other's
    requests to be performed: see `seal`.

    Parameters
    ----------
    profile : Profile
        The profile.
    engines : int
        Application Engines, 1 to 4.
    ports : int
        Memory ports of each, 1 to 32.
    capacity : int
        Bytes of address space; less is taken where the system refuses that much.
    payload : PayloadLayout
        Where address, size and tag are in the payload word of a request.

    Members
    -------
    profile : Profile
        The profile.
    engines, ports : int
        As given.
    capacity : int
        Bytes of address space there are.
    mailboxes : ndarray of Mailbox, one an AE
        What AEs and memory exchange in a cycle.

    Raises
    ------
    ValueError
        If a number is out of range.
    MemoryError
        If the system refuses the memory.
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
        self._storage = Storage(min(capacity, 1 << layout.address_bits))
        self.capacity = self._storage.capacity
        self._first_cycle = 0
        self._kinds: list[ArrayKind] = []
        self._recorder: Recorder | None = None
        self._room = Room()
        side, context = context_of(type(profile))  # type: ignore[arg-type]
        self._context = self._room.make(context, 1)
        self.mailboxes = self._room.link(self._context, "mailboxes", Mailbox, engines)[0]
        self._sides = self._room.link(self._context, "sides", side, engines)[0]
        self._state = State(own=self._sides["own"], shared=self._context["service"]["shared"], room=self._room)
        self._set_context(layout)
        self._set_sides()
        profile.build(self._state, ports=ports)
        self._pointer = self._context.ctypes.data
        self._model: MemoryModel | None = None

    def _set_context(self, layout: PayloadLayout) -> None:
        numbers = {
            "engines": self.engines,
            "ports": self.ports,
            "row": in_lines(self.ports),
            "every": (1 << self.ports) - 1,
            "batch_depth": 2 * (self.quantum + 1) * 3 * self.ports,
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
        self._room.set_link(self._context, "storage", self._storage.address)
        for name in type(self.profile).dtype.names or ():
            self._context["rules"][name] = getattr(self.profile, name)

    def _set_sides(self) -> None:
        """Make the arrays of each AE's side, so large that none can overflow."""
        room, sides = self._room, self._sides
        sides["number"] = np.arange(self.engines)
        sides["width"] = self.ports
        sides["latest_entry"] = -1
        sides["soonest"] = sides["next_flush"] = NEVER
        room.link(sides, "due", int, NEAR)
        room.link(sides, "rows", int, 2 * NEAR * in_lines(self.ports))
        room.link(sides["batches"], "requests", Request, int(self._context["batch_depth"][0]))
        ports = sides["ports"][:, : self.ports]
        for name in ("last_seen", "last_written", "last_flushed"):
            ports[name] = -1
        sides["ports"]["flush_due"] = NEVER
        later = 1 << self.profile.reads_in_flight_limit.bit_length()
        ports["later"]["mask"] = later - 1
        room.link(ports, "responses", Response, later)
        ports["flushes"]["mask"] = FLUSH_DEPTH - 1
        room.link(ports, "flush_times", int, FLUSH_DEPTH)

    @property
    def quantum(self) -> int:
        """Most cycles that AEs may run before they meet and call `settle`."""
        return self.profile.quantum

    @property
    def allocated(self) -> int:
        """Bytes from the first allocation to the end of the last."""
        return self._storage.top - BASE_ADDRESS

    @property
    def model(self) -> MemoryModel:
        """What native code is given: the compiled functions, the context and the mailboxes."""
        if self._model is None:
            self._model = MemoryModel(context=self._pointer, mailboxes=self.mailboxes.ctypes.data)
            for name, address in compiled_for(type(self.profile)).items():  # type: ignore[arg-type]
                setattr(self._model, name, PROTOTYPES[name](address))
        return self._model

    def prepare(self, ae: int, cycle: int) -> None:
        """Fill an AE's mailbox with what it sees in a cycle: readiness, responses, completed flushes.

        To be called once for a cycle that the AE evaluates, cycles ascending; cycles before `next_event` may be left
        out. AEs may call it at the same time as each other, but not during `settle` or `seal`.
        """
        self.model.prepare(self._pointer, ae, cycle)

    def accept(self, ae: int, cycle: int) -> None:
        """Take the requests of a cycle out of an AE's mailbox and clear their masks.

        To be called after `prepare` of the same cycle. Reads and writes only where the port is ready for them.
        """
        self.model.accept(self._pointer, ae, cycle)

    def settle(self, cycle: int) -> int:
        """Perform and deliver all requests accepted up to a cycle, which all AEs have finished.

        To be called often enough: before any AE prepares the cycle `quantum` after one that is not settled. It is the
        same as `seal`, `serve`, `seal` and `deliver` for all AEs, and may end a sequence of these.

        Returns
        -------
        int
            0, or an error code when there has been an error, now or before; `error` has its text.
        """
        return int(self.model.settle(self._pointer, cycle))

    def seal(self, cycle: int) -> int:
        """End a round with a cycle that all AEs have finished; the requests of each round then move on by a step.

        The requests that AEs accept in one round are performed by `serve` during the next, and reach their AE by
        `deliver` at the beginning of the round after that, before its first `prepare`. So a round may have at most
        half of `quantum` cycles. `seal` is to be called while nothing else runs; it makes up for a `serve` or
        `deliver` of the round that was left out.

        Returns
        -------
        int
            As `settle`; an error that a request brings is reported when the round is over in which it is performed.
        """
        return int(self.model.seal(self._pointer, cycle))

    def serve(self) -> None:
        """Perform the requests that all AEs accepted in the round before this one.

        It may run at the same time as `prepare`, `accept` and `deliver` of any AE. To be called once a round.
        """
        self.model.serve(self._pointer)

    def deliver(self, ae: int) -> None:
        """Queue what an AE's requests of the last round but one bring: responses and completions.

        To be called once a round, before the AE's first `prepare`. AEs may call it at the same time as each other.
        """
        self.model.deliver(self._pointer, ae)

    def next_event(self, ae: int, cycle: int) -> int:
        """Return the first cycle from `cycle` on in which `prepare` will show a response, a completed flush or a stall.

        Only what is settled or delivered counts. Without any, the result is 2**62. Where a port may stall in a later
        cycle without any request, it is `cycle` itself.
        """
        return int(self.model.next_event(self._pointer, ae, cycle))

    def owed_until(self) -> int:
        """Return the last cycle in which anything comes of the requests taken so far, -1 before the first.

        That is a response, or the completion of a write or a flush. Only what is settled or delivered counts. Each
        request has its time from then on, so that cycle never moves without a further request.
        """
        return int(self.model.owed_until(self._pointer))

    def allocate(self, size_bytes: int, alignment: int = 512, *, holds: ArrayKind = ArrayKind.OTHER) -> int:
        """Reserve zeroed bytes and return the address of the first; see `Storage.allocate`.

        What they hold matters to the record only.
        """
        address = self._storage.allocate(size_bytes, alignment)
        self._context["top"] = self._storage.top
        self._kinds.append(holds)
        if self._recorder is not None:
            self._recorder.know(self.allocations, self._kinds, self._storage.top)
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

    def view(self, address: int, dtype: DTypeLike, count: int) -> NDArray[Any]:
        """Return a writable array over `count` elements at a byte address.

        Raises
        ------
        ValueError
            If they are not all inside the allocated range, or not aligned to their size.
        """
        return self._storage.view(address, dtype, count)

    @property
    def allocations(self) -> Sequence[tuple[int, int]]:
        """Address and size in bytes of each allocation, in the order of addresses."""
        return self._storage.allocations

    def stray_writes(self) -> list[int]:
        """Return the addresses of words of no allocation that something was written to."""
        return self._storage.stray_writes()

    def save(self, *, without: Collection[int] = ()) -> MemoryState:
        """Return the state after a cycle that all AEs have finished and that is settled.

        The regions are the storage itself, not a copy.

        Parameters
        ----------
        without : collection of int
            Addresses of the allocations that are to be left out.
        """
        regions = []
        first = BASE_ADDRESS
        for address, size in [*self._storage.allocations, (self._storage.top, 0)]:
            if address in without or not size:
                if address > first:
                    regions.append(Region(address=first, content=self.view(first, np.uint8, address - first)))
                first = address + size
        return MemoryState(
            allocations=list(self._storage.allocations),
            regions=regions,
            records=self._room.save() + (self._recorder.save() if self._recorder is not None else []),
            first_cycle=self._first_cycle,
        )

    def load(self, state: MemoryState) -> None:
        """Go on from a state, with the same allocations; those that were left out must have been written.

        A memory that records goes on with the record of the state; one that does not leaves it.

        Raises
        ------
        ValueError
            It is the state of a memory of other sizes, or has not the record to go on with.
        """
        if list(state.allocations) != self._storage.allocations:
            raise ValueError("the memory has other allocations")
        own = self._room.count
        if self._recorder is not None:
            self._recorder.load(state.records[own:])
        self._room.load(state.records[:own])
        self._context["interval"] = self.record_interval
        for region in state.regions:
            self.view(region.address, np.uint8, region.content.size)[:] = region.content
        self._first_cycle = state.first_cycle

    def record(self, interval: int) -> None:
        """Record from now on, between two cycles that are settled, what happens in each interval of cycles.

        Call `drain` at least every `record_span` cycles then.

        Raises
        ------
        ValueError
            The interval is not from 1 to 2**16 cycles, or a record is kept already.
        """
        if self._recorder is not None:
            raise ValueError("the memory keeps a record already")
        cycle = int(self._context["settled"][0]) + 1
        recorder = Recorder(
            interval,
            cycle=cycle,
            engines=self.engines,
            quantum=self.quantum,
            contention=self.profile.contention,
            stalls=self._stalls(),
        )
        recorder.know(self.allocations, self._kinds, self._storage.top)
        recorder.take(self._sides["statistics"]["histogram"], self.profile.openings(self._state))
        for field, records in recorder.records.items():
            self._room.set_link(self._context, field, records.ctypes.data)
        for name, pointer in compiled_for(type(self.profile), recording=True).items():  # type: ignore[arg-type]
            self._room.set_link(self._context, name, pointer)
        self._context["recorded"], self._context["interval"] = cycle, interval
        self._recorder = recorder

    @property
    def record_interval(self) -> int:
        """Cycles of an interval of the record, 0 where none is kept."""
        return self._recorder.interval if self._recorder is not None else 0

    @property
    def record_span(self) -> int:
        """Most cycles between two calls of `drain`; they fill half of the places that there are."""
        return self._recording.most * self.record_interval

    def drain(self, cycle: int, *, partial: bool = False) -> RecordedIntervals:
        """Return what was recorded of the intervals that end at a cycle or before, and were not returned yet.

        Parameters
        ----------
        cycle : int
            The first cycle that has not begun. All before it are settled, the last call of an executor was `settle`.
        partial : bool
            Return the interval that has begun as well, by going on to its end: the machine has run its last cycle.

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
        """Return what was recorded since this was last called; to be called where all is settled.

        Raises
        ------
        ValueError
            No record is kept.
        """
        return self._recording.take(self._sides["statistics"]["histogram"], self.profile.openings(self._state))

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
        """Return one line about the first error there was, or None."""
        error = self._context["error"][0].item()
        return message(error, top=self._storage.top, quantum=self.quantum, ports=self.ports) if error[0] else None

    def outstanding(self) -> list[tuple[int, int, int]]:
        """Return (engine, port, reads in flight) for each port that waits for responses."""
        reads = self._sides["in_flight"][:, : self.ports]
        return [(int(ae), int(port), int(reads[ae, port])) for ae, port in np.argwhere(reads)]

    def statistics(self) -> dict[str, Any]:
        """Return what was counted, ready for JSON; see `sim.memory.statistics.summarise`."""
        cycles = int(self._context["settled"][0]) + 1 - self._first_cycle
        entering, serving = int(self._sides["entering"].sum()), int(self._context["service"]["waited"][0])
        own = self.profile.statistics(self._state, cycles=cycles, entering=entering, serving=serving)
        return {"profile": str(self.profile), **summarise(self._sides, own, ports=self.ports, cycles=cycles)}

    def reset_statistics(self) -> None:
        """Count from the cycle after the last settled one on."""
        self._first_cycle = int(self._context["settled"][0]) + 1
        if self._recorder is not None:
            openings = self.profile.openings(self._state)
            self._recorder.forget(self._sides["statistics"]["histogram"], self._stalls(), openings)
        self._sides["statistics"] = self._sides["stalls"] = self._sides["entering"] = 0
        self._context["service"]["waited"] = 0
        self.profile.reset_statistics(self._state)
