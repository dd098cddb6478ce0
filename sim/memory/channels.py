"""What one engine sees in a cycle: readiness, responses and completed flushes (compiled).

Everything here touches the lane and the mailbox of one engine only, so engines may run on threads of their own.
"""

from sim.memory import state as s
from sim.memory.compiled import inlined, jit, load, store, trailing_zeros
from sim.memory.hashing import STALL_STREAM, draw, stream
from sim.memory.lanes import box_of, due_of, lane_of, record, row_words

__all__ = ["next_event_cycle", "prepare_cycle"]


@inlined
def _far_rings(context: int, ae: int) -> int:
    """Return the address of an engine's rings of later responses."""
    ring = load(context, s.CTX_RESPONSE_DEPTH) * s.RESPONSE_WORDS + s.LINE_WORDS
    return load(context, s.CTX_RESPONSES) + ae * load(context, s.CTX_PORTS) * ring * 8


@inlined
def _far_place(context: int, lane: int, ae: int, port: int) -> int:
    """Return the address of the oldest response in a port's ring, which is not empty."""
    depth = load(context, s.CTX_RESPONSE_DEPTH)
    ring = _far_rings(context, ae) + port * (depth * s.RESPONSE_WORDS + s.LINE_WORDS) * 8
    return ring + (load(lane, s.LANE_RESPONSE_HEAD + port) & (depth - 1)) * (s.RESPONSE_WORDS * 8)


@jit
def _respond_far(context: int, lane: int, box: int, ae: int, cycle: int) -> int:
    """Put the responses due in this cycle from the ports' rings into the mailbox; return their ports' mask."""
    data = s.BOX_TAGS + load(context, s.CTX_BOX_ARRAY)
    far = load(lane, s.LANE_FAR)
    waiting = far
    shown = 0
    while waiting != 0:
        port = trailing_zeros(waiting)
        waiting &= waiting - 1
        place = _far_place(context, lane, ae, port)
        due = load(place, 0) >> 16
        if due <= cycle:
            if due < cycle:
                record(lane + s.LANE_ERROR * 8, s.LATE, s.READ, due, ae, port, cycle)
            shown |= 1 << port
            store(box, s.BOX_TAGS + port, load(place, 0) & 0xFFFF)
            store(box, data + port, load(place, 1))
            head = load(lane, s.LANE_RESPONSE_HEAD + port) + 1
            store(lane, s.LANE_RESPONSE_HEAD + port, head)
            if head == load(lane, s.LANE_RESPONSE_TAIL + port):
                far ^= 1 << port
    store(lane, s.LANE_FAR, far)
    return shown


@jit
def _skip(lane: int, due: int, ae: int, cycle: int) -> None:
    """Refuse responses in cycles that the engine has left out."""
    first = load(lane, s.LANE_CYCLE)
    end = min(cycle, first + s.NEAR)
    for skipped in range(max(first, load(lane, s.LANE_SOONEST)), end):
        mask = load(due, skipped & (s.NEAR - 1))
        if mask != 0:
            record(lane + s.LANE_ERROR * 8, s.LATE, s.READ, skipped, ae, trailing_zeros(mask), cycle)
            store(due, skipped & (s.NEAR - 1), 0)


@inlined
def _respond(context: int, lane: int, box: int, ae: int, cycle: int) -> int:
    """Put the responses due in this cycle into the mailbox; return their ports' mask."""
    due = due_of(context, ae)
    if load(lane, s.LANE_CYCLE) != cycle:
        _skip(lane, due, ae, cycle)
    store(lane, s.LANE_CYCLE, cycle + 1)
    place = cycle & (s.NEAR - 1)
    shown = load(due, place)
    if shown != 0:
        store(due, place, 0)
        words = row_words(context)
        row = due + (s.NEAR + place * words) * 8
        for word in range(words):
            store(box, s.BOX_TAGS + word, load(row, word))
    if load(lane, s.LANE_FAR) != 0:
        shown |= _respond_far(context, lane, box, ae, cycle)
    if shown != 0:
        for port in range(load(context, s.CTX_PORTS)):
            store(lane, s.LANE_READS + port, load(lane, s.LANE_READS + port) - (shown >> port & 1))
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
    """Fill an engine's mailbox with what it sees in a cycle; see `sim.memory.entries.prepare`."""
    lane = lane_of(context, ae)
    box = box_of(context, ae)
    responses = _respond(context, lane, box, ae, cycle)
    flushed = 0
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


@jit
def _soonest_response(context: int, lane: int, ae: int) -> int:
    """Return the first cycle with a response that has not been shown."""
    due = due_of(context, ae)
    following = load(lane, s.LANE_CYCLE)
    soonest = max(load(lane, s.LANE_SOONEST), following)
    end = following + s.NEAR
    while soonest < end and load(due, soonest & (s.NEAR - 1)) == 0:
        soonest += 1
    if soonest >= end:
        soonest = s.NEVER
    far = load(lane, s.LANE_FAR)
    while far != 0:
        soonest = min(soonest, load(_far_place(context, lane, ae, trailing_zeros(far)), 0) >> 16)
        far &= far - 1
    return soonest


@inlined
def next_event_cycle(context: int, ae: int, cycle: int) -> int:
    """Return the first cycle with a response or a completed flush; see `sim.memory.entries.next_event`.

    What is found is kept until its cycle has passed; delivery makes it earlier where it must.
    """
    kind = load(context, s.CTX_KIND)
    lane = lane_of(context, ae)
    crowded = load(lane, s.LANE_LATEST_ENTRY) >= cycle + load(context, s.CTX_PORT_QUEUE)
    full = (load(lane, s.LANE_READS_FULL) | load(lane, s.LANE_WRITES_FULL)) != 0
    if kind == s.STRESS or (kind == s.HC2 and (crowded or full)):
        return cycle
    if load(lane, s.LANE_SOONEST) < cycle:
        store(lane, s.LANE_SOONEST, _soonest_response(context, lane, ae))
    return max(cycle, min(load(lane, s.LANE_SOONEST), load(lane, s.LANE_NEXT_FLUSH)))
