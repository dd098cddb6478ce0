"""What one engine sees and hands over in a cycle: readiness, responses and requests (compiled).

Everything here touches the lane and the mailbox of one engine only, so engines may run on threads of their own.
"""

from sim.memory import state as s
from sim.memory.addresses import link_of
from sim.memory.calendars import book
from sim.memory.compiled import inlined, jit, load, prefetch, store, trailing_zeros
from sim.memory.hashing import STALL_STREAM, draw, stream

__all__ = ["accept_cycle", "lane_of", "next_event_cycle", "prepare_cycle", "record"]


@inlined
def lane_of(context: int, ae: int) -> int:
    """Return the address of an engine's lane."""
    return load(context, s.CTX_LANES) + ae * (s.LANE_WORDS * 8)


@inlined
def record(words: int, code: int, kind: int, value: int, ae: int, port: int, cycle: int) -> None:
    """Note an error at the address `words`, unless one is there already."""
    if load(words, s.ERROR_CODE) == 0:
        store(words, s.ERROR_CODE, code)
        store(words, s.ERROR_KIND, kind)
        store(words, s.ERROR_VALUE, value)
        store(words, s.ERROR_ENGINE, ae)
        store(words, s.ERROR_PORT, port)
        store(words, s.ERROR_CYCLE, cycle)


@jit
def _respond(context: int, lane: int, box: int, ae: int, cycle: int) -> int:
    """Put the responses due in this cycle into the mailbox; return their ports' mask."""
    ports = load(context, s.CTX_PORTS)
    depth = load(context, s.CTX_RESPONSE_DEPTH)
    stride = depth * s.RESPONSE_WORDS + 8
    rings = load(context, s.CTX_RESPONSES) + ae * ports * stride * 8
    data = s.BOX_TAGS + load(context, s.CTX_BOX_ARRAY)
    shown = 0
    soonest = s.NEVER
    for port in range(ports):
        due = load(lane, s.LANE_RESPONSE_DUE + port)
        if due <= cycle:
            if due < cycle:
                record(lane + s.LANE_ERROR * 8, s.LATE, s.READ, due, ae, port, cycle)
            shown |= 1 << port
            ring = rings + port * stride * 8
            head = load(lane, s.LANE_RESPONSE_HEAD + port)
            place = (head & (depth - 1)) * s.RESPONSE_WORDS
            store(box, s.BOX_TAGS + port, load(ring, place) & 0xFFFF)
            store(box, data + port, load(ring, place + 1))
            head += 1
            store(lane, s.LANE_RESPONSE_HEAD + port, head)
            due = s.NEVER
            if head != load(lane, s.LANE_RESPONSE_TAIL + port):
                due = load(ring, (head & (depth - 1)) * s.RESPONSE_WORDS) >> 16
            store(lane, s.LANE_RESPONSE_DUE + port, due)
            store(lane, s.LANE_READS + port, load(lane, s.LANE_READS + port) - 1)
        soonest = min(soonest, due)
    store(lane, s.LANE_NEXT_RESPONSE, soonest)
    store(lane, s.LANE_READS_FULL, load(lane, s.LANE_READS_FULL) & ~shown)
    return shown


@jit
def _complete_flushes(context: int, lane: int, ae: int, cycle: int) -> int:
    """Take the flushes that complete in this cycle; return their ports' mask."""
    ports = load(context, s.CTX_PORTS)
    stride = s.FLUSH_DEPTH + 8
    rings = load(context, s.CTX_FLUSHES) + ae * ports * stride * 8
    shown = 0
    soonest = s.NEVER
    for port in range(ports):
        due = load(lane, s.LANE_FLUSH_DUE + port)
        if due <= cycle:
            if due < cycle:
                record(lane + s.LANE_ERROR * 8, s.LATE, s.FLUSH, due, ae, port, cycle)
            shown |= 1 << port
            head = load(lane, s.LANE_FLUSH_HEAD + port) + 1
            store(lane, s.LANE_FLUSH_HEAD + port, head)
            due = s.NEVER
            if head != load(lane, s.LANE_FLUSH_TAIL + port):
                due = load(rings + port * stride * 8, head & (s.FLUSH_DEPTH - 1))
            store(lane, s.LANE_FLUSH_DUE + port, due)
        soonest = min(soonest, due)
    store(lane, s.LANE_NEXT_FLUSH, soonest)
    return shown


@jit
def _retire_writes(context: int, lane: int, ae: int, cycle: int) -> None:
    """Take the acknowledged writes of full ports out of flight."""
    depth = load(context, s.CTX_WRITE_DEPTH)
    stride = depth + 8
    limit = load(context, s.CTX_WRITE_LIMIT)
    rings = load(context, s.CTX_WRITES) + ae * load(context, s.CTX_PORTS) * stride * 8
    full = load(lane, s.LANE_WRITES_FULL)
    still_full = full
    while full != 0:
        port = trailing_zeros(full)
        full &= full - 1
        ring = rings + port * stride * 8
        head = load(lane, s.LANE_WRITE_HEAD + port)
        tail = load(lane, s.LANE_WRITE_TAIL + port)
        before = head
        while head != tail and load(ring, head & (depth - 1)) <= cycle:
            head += 1
        store(lane, s.LANE_WRITE_HEAD + port, head)
        flying = load(lane, s.LANE_WRITES + port) - (head - before)
        store(lane, s.LANE_WRITES + port, flying)
        if flying < limit:
            still_full &= ~(1 << port)
    store(lane, s.LANE_WRITES_FULL, still_full)


@jit
def _crowded(context: int, lane: int, cycle: int) -> int:
    """Return the mask of the ports whose queue to the links is full."""
    latest = cycle + load(context, s.CTX_PORT_QUEUE)
    crowded = 0
    for port in range(load(context, s.CTX_PORTS)):
        crowded |= (load(lane, s.LANE_ENTERED + port) >= latest) << port
    return crowded


@jit
def _random_stalls(context: int, ae: int, cycle: int) -> int:
    """Return a word whose bits are set where a `stress` channel stalls: reads in the low half, writes above.

    A bit is the conjunction of fair ones: 1/8 of the cycles alone and 1/16 of the runs of eight, 18 % in all.
    """
    key = stream(load(context, s.CTX_SEED), ae, 0, STALL_STREAM)
    single = draw(key, 3 * cycle) & draw(key, 3 * cycle + 1) & draw(key, 3 * cycle + 2)
    key = stream(load(context, s.CTX_SEED), ae, 1, STALL_STREAM)
    first = 4 * (cycle >> 3)
    runs = draw(key, first) & draw(key, first + 1) & draw(key, first + 2) & draw(key, first + 3)
    return single | runs


@jit
def _count_stalls(counters: int, stalled: int) -> None:
    while stalled != 0:
        port = trailing_zeros(stalled)
        stalled &= stalled - 1
        store(counters, port, load(counters, port) + 1)


@inlined
def prepare_cycle(context: int, ae: int, cycle: int) -> None:
    """Fill an engine's mailbox with what it sees in a cycle; see `sim.memory.model.prepare`."""
    lane = lane_of(context, ae)
    box = load(context, s.CTX_MAILBOX) + ae * load(context, s.CTX_MAILBOX_WORDS) * 8
    responses = 0
    flushed = 0
    if load(lane, s.LANE_NEXT_RESPONSE) <= cycle:
        responses = _respond(context, lane, box, ae, cycle)
    if load(lane, s.LANE_NEXT_FLUSH) <= cycle:
        flushed = _complete_flushes(context, lane, ae, cycle)
    every = (1 << load(context, s.CTX_PORTS)) - 1
    reads_stalled = 0
    writes_stalled = 0
    kind = load(context, s.CTX_KIND)
    if kind == s.HC2:
        if load(lane, s.LANE_WRITES_FULL) != 0:
            _retire_writes(context, lane, ae, cycle)
        if load(lane, s.LANE_LATEST_ENTRY) >= cycle + load(context, s.CTX_PORT_QUEUE):
            reads_stalled = _crowded(context, lane, cycle)
            writes_stalled = reads_stalled
        reads_stalled |= load(lane, s.LANE_READS_FULL)
        writes_stalled |= load(lane, s.LANE_WRITES_FULL)
    elif kind == s.STRESS:
        stalled = _random_stalls(context, ae, cycle)
        reads_stalled = stalled & every
        writes_stalled = (stalled >> 32) & every
    if (reads_stalled | writes_stalled) != 0:
        _count_stalls(lane + s.LANE_READ_STALLS * 8, reads_stalled)
        _count_stalls(lane + s.LANE_WRITE_STALLS * 8, writes_stalled)
    store(box, s.BOX_READ_READY, every & ~reads_stalled)
    store(box, s.BOX_WRITE_READY, every & ~writes_stalled)
    store(box, s.BOX_RESPONSES, responses)
    store(box, s.BOX_FLUSHED, flushed)


@inlined
def _log(context: int, lane: int, ae: int, cycle: int, port: int, kind: int, payload: int, data: int) -> None:
    """Reserve the link of one request and append it to the engine's log."""
    depth = load(context, s.CTX_LOG_DEPTH)
    tail = load(lane, s.LANE_LOG_TAIL)
    if tail - load(lane, s.LANE_LOG_HEAD) >= depth:
        record(lane + s.LANE_ERROR * 8, s.LOG_FULL, kind, depth, ae, port, cycle)
        return
    entry = cycle
    if kind != s.FLUSH:
        address = payload & load(context, s.CTX_ADDRESS_MASK)
        prefetch(load(context, s.CTX_STORAGE) + address)
        count = s.LANE_READS + kind * (s.LANE_WRITES - s.LANE_READS) + port
        flying = load(lane, count) + 1
        store(lane, count, flying)
        if load(context, s.CTX_KIND) == s.HC2:
            first = max(cycle, load(lane, s.LANE_ENTERED + port) + 1)
            blocks = load(context, s.CTX_ENTRY_BLOCKS)
            entry = book(load(context, s.CTX_ENTRIES), blocks, ae, link_of(address), first, cycle)
            if entry < 0:
                record(lane + s.LANE_ERROR * 8, s.CALENDAR_FULL, kind, blocks, ae, port, cycle)
                return
            store(lane, s.LANE_ENTERED + port, entry)
            store(lane, s.LANE_LATEST_ENTRY, max(entry, load(lane, s.LANE_LATEST_ENTRY)))
            if flying >= load(context, s.CTX_READ_LIMIT + kind):
                full = s.LANE_READS_FULL + kind
                store(lane, full, load(lane, full) | 1 << port)
    place = load(context, s.CTX_LOGS) + (ae * depth + (tail & (depth - 1))) * (s.LOG_WORDS * 8)
    store(place, 0, cycle << 16 | port << 8 | kind)
    store(place, 1, payload)
    store(place, 2, data)
    store(place, 3, entry)
    store(lane, s.LANE_LOG_TAIL, tail + 1)


@jit
def _take(context: int, lane: int, box: int, ae: int, cycle: int) -> None:
    """Check an engine's requests and log them by port, from a port that moves on by one each cycle."""
    error = lane + s.LANE_ERROR * 8
    ports = load(context, s.CTX_PORTS)
    for kind in range(s.REQUESTS_PER_PORT):
        mask = load(box, s.BOX_REQUESTS + kind)
        if mask >> ports != 0:
            record(error, s.MALFORMED, kind, mask, ae, 0, cycle)
            return
    reads = load(box, s.BOX_REQUESTS + s.READ)
    writes = load(box, s.BOX_REQUESTS + s.WRITE)
    flushes = load(box, s.BOX_REQUESTS + s.FLUSH)
    early = reads & ~load(box, s.BOX_READ_READY)
    if early:
        record(error, s.NOT_READY, s.READ, 0, ae, trailing_zeros(early), cycle)
    early = writes & ~load(box, s.BOX_WRITE_READY)
    if early:
        record(error, s.NOT_READY, s.WRITE, 0, ae, trailing_zeros(early), cycle)
    array = load(context, s.CTX_BOX_ARRAY)
    read_payloads = s.BOX_TAGS + 2 * array
    write_payloads = s.BOX_TAGS + 3 * array
    write_data = s.BOX_TAGS + 4 * array
    first = cycle % ports
    below = (1 << first) - 1
    waiting = (reads | writes | flushes) & ~below
    later = (reads | writes | flushes) & below
    while waiting != 0 or later != 0:
        if waiting == 0:
            waiting, later = later, 0
        port = trailing_zeros(waiting)
        waiting &= waiting - 1
        if reads >> port & 1:
            _log(context, lane, ae, cycle, port, s.READ, load(box, read_payloads + port), 0)
        if writes >> port & 1:
            payload = load(box, write_payloads + port)
            _log(context, lane, ae, cycle, port, s.WRITE, payload, load(box, write_data + port))
        if flushes >> port & 1:
            _log(context, lane, ae, cycle, port, s.FLUSH, 0, 0)


@inlined
def accept_cycle(context: int, ae: int, cycle: int) -> None:
    """Take an engine's requests of a cycle out of its mailbox; see `sim.memory.model.accept`."""
    box = load(context, s.CTX_MAILBOX) + ae * load(context, s.CTX_MAILBOX_WORDS) * 8
    requests = load(box, s.BOX_REQUESTS + s.READ) | load(box, s.BOX_REQUESTS + s.WRITE)
    if (requests | load(box, s.BOX_REQUESTS + s.FLUSH)) != 0:
        _take(context, lane_of(context, ae), box, ae, cycle)
        for kind in range(s.REQUESTS_PER_PORT):
            store(box, s.BOX_REQUESTS + kind, 0)


@inlined
def next_event_cycle(context: int, ae: int, cycle: int) -> int:
    """Return the first cycle with a response or a completed flush; see `sim.memory.model.next_event`."""
    lane = lane_of(context, ae)
    return max(cycle, min(load(lane, s.LANE_NEXT_RESPONSE), load(lane, s.LANE_NEXT_FLUSH)))
