"""What one engine hands over in a cycle: checked, entered into its links and logged (compiled).

Everything here touches the lane, the mailbox and the batch of one engine only, so engines may run on threads of their
own.
"""

from sim.memory import state as s
from sim.memory.addresses import LINKS, link_of
from sim.memory.calendars import book, pass_blocks
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
def _spread(mask: int) -> int:
    """Return a word with bit p of a 32-bit mask at bit 2p."""
    mask = (mask | mask << 16) & 0x0000FFFF0000FFFF
    mask = (mask | mask << 8) & 0x00FF00FF00FF00FF
    mask = (mask | mask << 4) & 0x0F0F0F0F0F0F0F0F
    mask = (mask | mask << 2) & 0x3333333333333333
    return (mask | mask << 1) & 0x5555555555555555


@inlined
def _port_of(place: int, ports: int, first: int) -> int:
    """Return the port at a place of the order that begins with the port `first`."""
    port = place + first
    return port - ports if port >= ports else port


@jit
def _without_excess(
    error: int, waiting: int, room: int, ports: int, first: int, depth: int, ae: int, cycle: int
) -> int:
    """Return the first `room` bits of a mask of requests, and refuse the others."""
    excess = waiting
    for _ in range(room):
        excess &= excess - 1
    if excess != 0:
        place = trailing_zeros(excess)
        record(error, s.LOG_FULL, place & 1, depth, ae, _port_of(place >> 1, ports, first), cycle)
    return waiting ^ excess


@jit
def _log_flushes(batch: int, error: int, flushes: int, ports: int, first: int, depth: int, ae: int, cycle: int) -> None:
    """Append flushes to a batch; after all else of the cycle, as only the order on each port counts for them."""
    while flushes != 0:
        port = _port_of(trailing_zeros(flushes), ports, first)
        flushes &= flushes - 1
        count = load(batch, s.BATCH_COUNT)
        if count >= depth:
            record(error, s.LOG_FULL, s.FLUSH, depth, ae, port, cycle)
            return
        place = batch + (s.LINE_WORDS + count * s.LOG_WORDS) * 8
        store(place, s.LOG_WHEN, cycle << 16 | port << 8 | s.FLUSH)
        store(place, s.LOG_PAYLOAD, 0)
        store(batch, s.BATCH_COUNT, count + 1)


@inlined
def _take(context: int, lane: int, box: int, ae: int, cycle: int, timed: bool) -> None:
    """Log an engine's requests by port, from a port that moves on by one each cycle; `timed` where links count."""
    ports = load(context, s.CTX_PORTS)
    error = lane + s.LANE_ERROR * 8
    if not _check(box, error, ports, ae, cycle):
        return
    array = load(context, s.CTX_BOX_ARRAY)
    payloads = box + (s.BOX_TAGS + 2 * array) * 8
    storage = load(context, s.CTX_STORAGE)
    address_mask = load(context, s.CTX_ADDRESS_MASK)
    blocks = load(context, s.CTX_ENTRY_BLOCKS)
    entries = load(context, s.CTX_ENTRIES) + ae * blocks * (LINKS * 8)
    limits = context + s.CTX_READ_LIMIT * 8
    batch = batch_of(context, s.CTX_ACCEPTED, ae)
    depth = load(context, s.CTX_BATCH_DEPTH)
    count = load(batch, s.BATCH_COUNT)
    latest = load(lane, s.LANE_LATEST_ENTRY)
    waited = 0
    if timed and load(lane, s.LANE_BLOCK) != cycle >> 6:
        pass_blocks(entries, blocks, LINKS, load(lane, s.LANE_BLOCK), cycle >> 6)
        store(lane, s.LANE_BLOCK, cycle >> 6)
    first = _first_port(ports, cycle)
    reads = _rotated(load(box, s.BOX_REQUESTS + s.READ), ports, first)
    writes = _rotated(load(box, s.BOX_REQUESTS + s.WRITE), ports, first)
    flushes = _rotated(load(box, s.BOX_REQUESTS + s.FLUSH), ports, first)
    waiting = _spread(reads) | _spread(writes) << 1
    if depth - count < 2 * ports:
        waiting = _without_excess(error, waiting, depth - count, ports, first, depth, ae, cycle)
    place = batch + (s.LINE_WORDS + count * s.LOG_WORDS) * 8
    while waiting != 0:
        following = trailing_zeros(waiting)
        waiting &= waiting - 1
        kind = following & 1
        port = _port_of(following >> 1, ports, first)
        payload = load(payloads, kind * array + port)
        store(place, s.LOG_WHEN, cycle << 16 | port << 8 | kind)
        store(place, s.LOG_PAYLOAD, payload)
        store(place, s.LOG_DATA, load(payloads, 2 * array + port))
        address = payload & address_mask
        prefetch(storage + address)
        counter = s.LANE_READS + kind * (s.LANE_WRITES - s.LANE_READS) + port
        flying = load(lane, counter) + 1
        store(lane, counter, flying)
        if timed:
            entry = max(cycle, load(lane, s.LANE_ENTERED + port) + 1)
            calendar = entries + link_of(address) * 8
            entry = book(calendar, blocks, LINKS, entry, cycle, 1)
            if entry < 0:
                record(error, s.CALENDAR_FULL, kind, blocks, ae, port, cycle)
                entry = cycle
            store(place, s.LOG_TIME, entry)
            store(lane, s.LANE_ENTERED + port, entry)
            latest = max(latest, entry)
            waited += entry - cycle
            if flying >= load(limits, kind):
                full = s.LANE_READS_FULL + kind
                store(lane, full, load(lane, full) | 1 << port)
        place += s.LOG_WORDS * 8
    store(batch, s.BATCH_COUNT, ((place - batch) >> s.LOG_SHIFT) - s.LINE_WORDS // s.LOG_WORDS)
    if timed:
        store(lane, s.LANE_LATEST_ENTRY, latest)
        statistics = statistics_of(context, ae)
        store(statistics, s.STAT_LINK_WAIT, load(statistics, s.STAT_LINK_WAIT) + waited)
    if flushes != 0:
        _log_flushes(batch, error, flushes, ports, first, depth, ae, cycle)


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
