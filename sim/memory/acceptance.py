"""What one engine hands over in a cycle: checked, entered into its links and logged (compiled).

Everything here touches the lane, the mailbox and the batch of one engine only, so engines may run on threads of their
own.
"""

from sim.memory import state as s
from sim.memory.addresses import LINKS, link_of
from sim.memory.calendars import book
from sim.memory.compiled import inlined, jit, load, prefetch, store, trailing_zeros
from sim.memory.lanes import batch_of, box_of, lane_of, record, statistics_of

__all__ = ["accept_cycle"]


@inlined
def _check(box: int, error: int, ports: int, ae: int, cycle: int) -> bool:
    """Return whether the masks are of the engine's ports, and refuse requests to ports that are not ready."""
    reads = load(box, s.BOX_REQUESTS + s.READ)
    writes = load(box, s.BOX_REQUESTS + s.WRITE)
    if (reads | writes | load(box, s.BOX_REQUESTS + s.FLUSH)) >> ports != 0:
        for kind in range(s.REQUESTS_PER_PORT):
            mask = load(box, s.BOX_REQUESTS + kind)
            if mask >> ports != 0:
                record(error, s.MALFORMED, kind, mask, ae, 0, cycle)
        return False
    early = reads & ~load(box, s.BOX_READ_READY)
    if early != 0:
        record(error, s.NOT_READY, s.READ, 0, ae, trailing_zeros(early), cycle)
    early = writes & ~load(box, s.BOX_WRITE_READY)
    if early != 0:
        record(error, s.NOT_READY, s.WRITE, 0, ae, trailing_zeros(early), cycle)
    return True


@inlined
def _first_port(ports: int, cycle: int) -> int:
    """Return the port that comes first in a cycle."""
    return cycle & (ports - 1) if ports & (ports - 1) == 0 else cycle % ports


@inlined
def _rotated(mask: int, ports: int, first: int) -> int:
    """Return a mask of ports with the port `first` in bit 0."""
    return (mask >> first | mask << (ports - first)) & ((1 << ports) - 1)


@inlined
def _take(context: int, lane: int, box: int, ae: int, cycle: int, timed: bool) -> None:
    """Log an engine's requests by port, from a port that moves on by one each cycle; `timed` where links count."""
    ports = load(context, s.CTX_PORTS)
    error = lane + s.LANE_ERROR * 8
    if not _check(box, error, ports, ae, cycle):
        return
    array = load(context, s.CTX_BOX_ARRAY)
    payloads = box + (s.BOX_TAGS + 2 * array) * 8
    depth = load(context, s.CTX_BATCH_DEPTH)
    storage = load(context, s.CTX_STORAGE)
    address_mask = load(context, s.CTX_ADDRESS_MASK)
    entries = load(context, s.CTX_ENTRIES)
    blocks = load(context, s.CTX_ENTRY_BLOCKS)
    entries += ae * blocks * (LINKS * s.BLOCK_WORDS * 8)
    batch = batch_of(context, s.CTX_ACCEPTED, ae)
    count = load(batch, s.BATCH_COUNT)
    latest = load(lane, s.LANE_LATEST_ENTRY)
    waited = 0
    first = _first_port(ports, cycle)
    reads = _rotated(load(box, s.BOX_REQUESTS + s.READ), ports, first)
    writes = _rotated(load(box, s.BOX_REQUESTS + s.WRITE), ports, first)
    flushes = _rotated(load(box, s.BOX_REQUESTS + s.FLUSH), ports, first)
    waiting = reads | writes | flushes
    while waiting != 0:
        bit = waiting & -waiting
        port = trailing_zeros(waiting) + first
        port -= ports * (port >= ports)
        kind = s.WRITE - ((reads & bit) != 0)
        if (reads | writes) & bit == 0:
            kind = s.FLUSH
        reads &= ~bit
        writes &= ~bit | -(kind == s.READ)
        flushes &= ~bit | -(kind != s.FLUSH)
        waiting = reads | writes | flushes
        if count >= depth:
            record(error, s.LOG_FULL, kind, depth, ae, port, cycle)
            continue
        payload = 0
        data = 0
        entry = cycle
        if kind != s.FLUSH:
            payload = load(payloads, kind * array + port)
            data = load(payloads, 2 * array + port)
            address = payload & address_mask
            prefetch(storage + address)
            counter = s.LANE_READS + kind * (s.LANE_WRITES - s.LANE_READS) + port
            flying = load(lane, counter) + 1
            store(lane, counter, flying)
            if timed:
                entry = max(cycle, load(lane, s.LANE_ENTERED + port) + 1)
                entry = book(entries, blocks, LINKS, link_of(address), entry, cycle, 1)
                if entry < 0:
                    record(error, s.CALENDAR_FULL, kind, blocks, ae, port, cycle)
                    continue
                store(lane, s.LANE_ENTERED + port, entry)
                latest = max(latest, entry)
                waited += entry - cycle
                if flying >= load(context, s.CTX_READ_LIMIT + kind):
                    full = s.LANE_READS_FULL + kind
                    store(lane, full, load(lane, full) | 1 << port)
        place = batch + (s.LINE_WORDS + count * s.LOG_WORDS) * 8
        store(place, s.LOG_WHEN, cycle << 16 | port << 8 | kind)
        store(place, s.LOG_PAYLOAD, payload)
        store(place, s.LOG_DATA, data)
        store(place, s.LOG_TIME, entry)
        count += 1
    store(batch, s.BATCH_COUNT, count)
    store(lane, s.LANE_LATEST_ENTRY, latest)
    statistics = statistics_of(context, ae)
    store(statistics, s.STAT_LINK_WAIT, load(statistics, s.STAT_LINK_WAIT) + waited)


@jit
def _take_timed(context: int, lane: int, box: int, ae: int, cycle: int) -> None:
    _take(context, lane, box, ae, cycle, True)


@jit
def _take_untimed(context: int, lane: int, box: int, ae: int, cycle: int) -> None:
    _take(context, lane, box, ae, cycle, False)


@inlined
def accept_cycle(context: int, ae: int, cycle: int) -> None:
    """Take an engine's requests of a cycle out of its mailbox; see `sim.memory.entries.accept`."""
    box = box_of(context, ae)
    requests = load(box, s.BOX_REQUESTS + s.READ) | load(box, s.BOX_REQUESTS + s.WRITE)
    if (requests | load(box, s.BOX_REQUESTS + s.FLUSH)) != 0:
        if load(context, s.CTX_KIND) == s.HC2:
            _take_timed(context, lane_of(context, ae), box, ae, cycle)
        else:
            _take_untimed(context, lane_of(context, ae), box, ae, cycle)
        for kind in range(s.REQUESTS_PER_PORT):
            store(box, s.BOX_REQUESTS + kind, 0)
