"""The arrays behind one memory, sized so that none can overflow, and the context with their addresses."""

import numpy as np
from numpy.typing import NDArray

from sim.memory import state as s
from sim.memory.addresses import BANKS, LINKS
from sim.memory.parameters import STRESS_LATENCY_LIMIT, MemoryParameters

__all__ = ["State", "ring_stride"]


class State:
    """The arrays of one memory, and the context with their addresses.

    Parameters
    ----------
    parameters : MemoryParameters
        The profile.
    engines, ports : int
        Number of engines, and of memory ports of each.
    payload : s.PayloadLayout
        Fields of a request's payload.
    storage : int
        Address of the storage.
    """

    def __init__(
        self, *, parameters: MemoryParameters, engines: int, ports: int, payload: s.PayloadLayout, storage: int
    ) -> None:
        box = s.mailbox_layout(ports)
        array = s.box_array_words(ports)
        batch_depth = 2 * (parameters.quantum + 1) * s.REQUESTS_PER_PORT * ports
        batch_words = ring_stride(_power_of_two(batch_depth) * s.LOG_WORDS)
        response_depth = _power_of_two(_most_reads(parameters) + 1)
        write_depth = _power_of_two(parameters.writes_in_flight + 1)
        entry_blocks = _blocks(_entry_horizon(parameters, ports))
        return_blocks = _blocks(_return_horizon(parameters, engines, ports))
        self.context = _words(s.CONTEXT_WORDS)
        self.mailbox = _words(engines * box.words).reshape(engines, box.words)
        self.lanes = _words(engines * s.LANE_WORDS).reshape(engines, s.LANE_WORDS)
        self.batches = _words(s.BATCHES * engines * batch_words)
        self.due = _words(engines * s.NEAR * (1 + 2 * array))
        self.responses = _words(engines * ports * ring_stride(response_depth * s.RESPONSE_WORDS))
        self.writes = _words(engines * ports * ring_stride(write_depth))
        self.flushes = _words(engines * ports * ring_stride(s.FLUSH_DEPTH))
        self.banks = _words(BANKS * s.BANK_WORDS).reshape(BANKS, s.BANK_WORDS)
        self.entries = _words(engines * LINKS * entry_blocks)
        self.returns = _words(engines * LINKS * return_blocks)
        self.statistics = _words(engines * s.STAT_WORDS).reshape(engines, s.STAT_WORDS)
        self.service = _words(s.SERVICE_WORDS)
        batches = self.batches.ctypes.data
        numbers = {
            s.CTX_MAILBOX: self.mailbox.ctypes.data,
            s.CTX_MAILBOX_WORDS: box.words,
            s.CTX_BOX_ARRAY: array,
            s.CTX_ENGINES: engines,
            s.CTX_PORTS: ports,
            s.CTX_KIND: {"hc2": s.HC2, "fixed": s.FIXED, "stress": s.STRESS}[parameters.kind],
            s.CTX_STORAGE: storage,
            s.CTX_TOP: s.BASE_ADDRESS,
            s.CTX_LANES: self.lanes.ctypes.data,
            s.CTX_BATCH_BYTES: batch_words * 8,
            s.CTX_BATCH_DEPTH: _power_of_two(batch_depth),
            s.CTX_ACCEPTED: batches,
            s.CTX_SERVED: batches + engines * batch_words * 8,
            s.CTX_DELIVERED: batches + 2 * engines * batch_words * 8,
            s.CTX_DUE: self.due.ctypes.data,
            s.CTX_RESPONSES: self.responses.ctypes.data,
            s.CTX_RESPONSE_DEPTH: response_depth,
            s.CTX_WRITES: self.writes.ctypes.data,
            s.CTX_WRITE_DEPTH: write_depth,
            s.CTX_FLUSHES: self.flushes.ctypes.data,
            s.CTX_BANKS: self.banks.ctypes.data,
            s.CTX_ENTRIES: self.entries.ctypes.data,
            s.CTX_ENTRY_BLOCKS: entry_blocks,
            s.CTX_RETURNS: self.returns.ctypes.data,
            s.CTX_RETURN_BLOCKS: return_blocks,
            s.CTX_STATISTICS: self.statistics.ctypes.data,
            s.CTX_SERVICE: self.service.ctypes.data,
            s.CTX_ADDRESS_MASK: (1 << payload.address_bits) - 1,
            s.CTX_SIZE_BIT: payload.size_bit,
            s.CTX_TAG_SHIFT: payload.tag_shift,
            s.CTX_TAG_MASK: (1 << payload.tag_bits) - 1,
            s.CTX_REQUEST_TRAVEL: parameters.request_travel,
            s.CTX_BANK_BUSY: parameters.bank_busy,
            s.CTX_RESPONSE_TRAVEL: parameters.response_travel,
            s.CTX_FLUSH_TRAVEL: parameters.flush_travel,
            s.CTX_PORT_QUEUE: parameters.port_queue,
            s.CTX_READ_LIMIT: parameters.reads_in_flight,
            s.CTX_WRITE_LIMIT: parameters.writes_in_flight,
            s.CTX_LATENCY: parameters.latency,
            s.CTX_SEED: parameters.seed,
            s.CTX_SETTLED: -1,
        }
        for index, number in numbers.items():
            self.context[index] = number
        self.lanes[:, [s.LANE_SOONEST, s.LANE_NEXT_FLUSH]] = s.NEVER
        self.lanes[:, s.LANE_LATEST_ENTRY] = -1
        for first, value in (
            (s.LANE_ENTERED, -1),
            (s.LANE_FLUSH_DUE, s.NEVER),
            (s.LANE_LAST_SEEN, -1),
            (s.LANE_LAST_ACKNOWLEDGED, -1),
            (s.LANE_LAST_WRITTEN, -1),
            (s.LANE_LAST_FLUSHED, -1),
        ):
            self.lanes[:, first : first + s.MAX_PORTS] = value


def ring_stride(words: int) -> int:
    """Return the distance of neighbouring rings: a line more than the ring, so that they do not meet in a cache."""
    return words + s.LINE_WORDS


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def _words(count: int) -> NDArray[np.int64]:
    """Return zeroed words that start at a cache line."""
    raw = np.zeros(count + s.LINE_WORDS, np.int64)
    skip = -(raw.ctypes.data // 8) % s.LINE_WORDS
    return raw[skip : skip + count]


def _most_reads(parameters: MemoryParameters) -> int:
    """Return how many reads of one port can be in flight."""
    if parameters.kind == "hc2":
        return parameters.reads_in_flight
    return parameters.latency if parameters.kind == "fixed" else STRESS_LATENCY_LIMIT + 1


def _blocks(horizon: int) -> int:
    """Return the blocks of a calendar that reaches `horizon` cycles ahead."""
    return _power_of_two(horizon // 64 + 2)


def _entry_horizon(parameters: MemoryParameters, ports: int) -> int:
    """Return how far ahead of now a link can be reserved: all ports have a full queue for it."""
    return ports * (parameters.port_queue + 2)


def _return_horizon(parameters: MemoryParameters, engines: int, ports: int) -> int:
    """Return how far ahead of now a return link can be reserved: everything in flight waits for the same bank."""
    in_flight = engines * ports * (parameters.reads_in_flight + parameters.writes_in_flight)
    return _entry_horizon(parameters, ports) + parameters.request_travel + in_flight * (parameters.bank_busy + 1)
