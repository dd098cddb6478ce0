"""When and how requests take effect, once all engines have met (compiled).

Requests are taken in the order (cycle, engine, port), reads before writes before flushes on one port; engine and
port are counted from one that moves on each cycle. A request takes effect in that order, and its completion time
comes from reserving what it needs in that order: bank, return link, place in its port's order.
"""

from sim.memory import state as s
from sim.memory.addresses import bank_of, link_of
from sim.memory.calendars import book
from sim.memory.channels import lane_of, record
from sim.memory.compiled import inlined, jit, load, store
from sim.memory.hashing import LATENCY_STREAM, draw, stream

__all__ = ["settle_cycles"]


@inlined
def _count(statistics: int, index: int, amount: int) -> None:
    store(statistics, index, load(statistics, index) + amount)


@inlined
def _return_slot(context: int, ae: int, link: int, cycle: int, now: int) -> int:
    """Reserve the first free cycle of a return link from `cycle` on."""
    blocks = load(context, s.CTX_RETURN_BLOCKS)
    slot = book(load(context, s.CTX_RETURNS), blocks, ae, link, cycle, now)
    if slot < 0:
        record(context + s.CTX_ERROR * 8, s.CALENDAR_FULL, s.READ, blocks, ae, 0, now)
        return cycle
    return slot


@inlined
def _random_latency(context: int, lane: int, ae: int, port: int, kind: int) -> int:
    """Return the `stress` latency of a port's next access, as the published project's simulator was set."""
    serial = load(lane, s.LANE_SERIAL + port)
    store(lane, s.LANE_SERIAL + port, serial + 1)
    word = draw(stream(load(context, s.CTX_SEED), ae, port, LATENCY_STREAM), serial)
    part = (word >> 8) & 0xFFFFFFFF
    if kind == s.WRITE:
        return 50 + part % 201
    if word & 3 != 3:
        return 70 + part % 131
    return 700 + part % 301


@inlined
def _push_response(context: int, lane: int, ae: int, port: int, seen: int, tag: int, data: int, now: int) -> None:
    """Queue a response behind the others of its port."""
    depth = load(context, s.CTX_RESPONSE_DEPTH)
    stride = depth * s.RESPONSE_WORDS + 8
    ring = load(context, s.CTX_RESPONSES) + (ae * load(context, s.CTX_PORTS) + port) * stride * 8
    tail = load(lane, s.LANE_RESPONSE_TAIL + port)
    waiting = tail - load(lane, s.LANE_RESPONSE_HEAD + port)
    if waiting >= depth:
        record(context + s.CTX_ERROR * 8, s.RING_FULL, s.READ, depth, ae, port, now)
        return
    if waiting == 0:
        store(lane, s.LANE_RESPONSE_DUE + port, seen)
        store(lane, s.LANE_NEXT_RESPONSE, min(seen, load(lane, s.LANE_NEXT_RESPONSE)))
    place = (tail & (depth - 1)) * s.RESPONSE_WORDS
    store(ring, place, seen << 16 | tag)
    store(ring, place + 1, data)
    store(lane, s.LANE_RESPONSE_TAIL + port, tail + 1)


@jit
def _push_flush(context: int, lane: int, ae: int, port: int, now: int) -> None:
    """Queue a flush behind the writes and the other flushes of its port."""
    kind = load(context, s.CTX_KIND)
    done = now + 4
    if kind == s.HC2:
        done = now + load(context, s.CTX_FLUSH_TRAVEL)
    if kind != s.FIXED:
        done = max(done, load(lane, s.LANE_LAST_WRITTEN + port))
    done = max(done, load(lane, s.LANE_LAST_FLUSHED + port) + 1)
    store(lane, s.LANE_LAST_FLUSHED + port, done)
    ring = load(context, s.CTX_FLUSHES) + (ae * load(context, s.CTX_PORTS) + port) * (s.FLUSH_DEPTH + 8) * 8
    tail = load(lane, s.LANE_FLUSH_TAIL + port)
    waiting = tail - load(lane, s.LANE_FLUSH_HEAD + port)
    if waiting >= s.FLUSH_DEPTH:
        record(context + s.CTX_ERROR * 8, s.RING_FULL, s.FLUSH, s.FLUSH_DEPTH, ae, port, now)
        return
    if waiting == 0:
        store(lane, s.LANE_FLUSH_DUE + port, done)
        store(lane, s.LANE_NEXT_FLUSH, min(done, load(lane, s.LANE_NEXT_FLUSH)))
    store(ring, tail & (s.FLUSH_DEPTH - 1), done)
    store(lane, s.LANE_FLUSH_TAIL + port, tail + 1)


@inlined
def _access(context: int, address: int, wide: int, kind: int, data: int) -> int:
    """Read or write the storage; return the data of a read, zero-extended."""
    word_address = load(context, s.CTX_STORAGE) + (address & ~7)
    shift = (address & 4) << 3
    mask = -wide | 0xFFFFFFFF
    word = load(word_address, 0)
    if kind == s.WRITE:
        store(word_address, 0, (word & ~(mask << shift)) | (data & mask) << shift)
        return 0
    return (word >> shift) & mask


@inlined
def _wait_for_bank(context: int, statistics: int, address: int, cycle: int, entry: int) -> int:
    """Reserve the bank of an access that enters its link at `entry`; return when the bank is done."""
    bank = load(context, s.CTX_BANK_FREE) + bank_of(address) * 8
    arrival = entry + load(context, s.CTX_REQUEST_TRAVEL)
    start = max(arrival, load(bank, 0))
    done = start + load(context, s.CTX_BANK_BUSY)
    store(bank, 0, done)
    _count(statistics, s.STAT_LINK_WAIT, entry - cycle)
    _count(statistics, s.STAT_BANK_WAIT, start - arrival)
    return done


@inlined
def _finish_read(
    context: int, lane: int, ae: int, port: int, address: int, cycle: int, entry: int, tag: int, data: int
) -> None:
    """Find when a read's response is seen, and queue it."""
    statistics = load(context, s.CTX_STATISTICS)
    kind = load(context, s.CTX_KIND)
    if kind == s.HC2:
        done = _wait_for_bank(context, statistics, address, cycle, entry)
        slot = _return_slot(context, ae, link_of(address), done, cycle)
        _count(statistics, s.STAT_RETURN_WAIT, slot - done)
        back = slot + load(context, s.CTX_RESPONSE_TRAVEL)
    elif kind == s.FIXED:
        back = cycle + load(context, s.CTX_LATENCY)
    else:
        back = cycle + _random_latency(context, lane, ae, port, s.READ)
    seen = max(back, load(lane, s.LANE_LAST_SEEN + port) + 1)
    store(lane, s.LANE_LAST_SEEN + port, seen)
    latency = seen - cycle
    _count(statistics, s.STAT_ORDER_WAIT, seen - back)
    _count(statistics, s.STAT_LATENCY_SUM, latency)
    _count(statistics, s.STAT_HISTOGRAM + min(latency, s.HISTOGRAM_BINS - 1), 1)
    store(statistics, s.STAT_LATENCY_MAX, max(latency, load(statistics, s.STAT_LATENCY_MAX)))
    _push_response(context, lane, ae, port, seen, tag, data, cycle)


@inlined
def _finish_write(context: int, lane: int, ae: int, port: int, address: int, cycle: int, entry: int) -> None:
    """Find when a write has completed, as far as its port can tell."""
    kind = load(context, s.CTX_KIND)
    if kind == s.FIXED:
        return
    if kind == s.STRESS:
        written = cycle + _random_latency(context, lane, ae, port, s.WRITE)
    else:
        statistics = load(context, s.CTX_STATISTICS)
        written = _wait_for_bank(context, statistics, address, cycle, entry) + load(context, s.CTX_RESPONSE_TRAVEL)
        depth = load(context, s.CTX_WRITE_DEPTH)
        ring = load(context, s.CTX_WRITES) + (ae * load(context, s.CTX_PORTS) + port) * (depth + 8) * 8
        tail = load(lane, s.LANE_WRITE_TAIL + port)
        if tail - load(lane, s.LANE_WRITE_HEAD + port) >= depth:
            record(context + s.CTX_ERROR * 8, s.RING_FULL, s.WRITE, depth, ae, port, cycle)
            return
        acknowledged = max(written, load(lane, s.LANE_LAST_ACKNOWLEDGED + port) + 1)
        store(lane, s.LANE_LAST_ACKNOWLEDGED + port, acknowledged)
        store(ring, tail & (depth - 1), acknowledged)
        store(lane, s.LANE_WRITE_TAIL + port, tail + 1)
    store(lane, s.LANE_LAST_WRITTEN + port, max(written, load(lane, s.LANE_LAST_WRITTEN + port)))


@inlined
def _serve(context: int, lane: int, ae: int, request: int) -> None:
    """Perform one logged request."""
    statistics = load(context, s.CTX_STATISTICS)
    word = load(request, 0)
    cycle = word >> 16
    port = (word >> 8) & 255
    kind = word & 255
    if kind == s.FLUSH:
        _count(statistics, s.STAT_FLUSHES, 1)
        _push_flush(context, lane, ae, port, cycle)
        return
    payload = load(request, 1)
    entry = load(request, 3)
    address = payload & load(context, s.CTX_ADDRESS_MASK)
    wide = (payload >> load(context, s.CTX_SIZE_BIT)) & 1
    size = 4 + 4 * wide
    data = 0
    if address < s.BASE_ADDRESS or address + size > load(context, s.CTX_TOP):
        record(context + s.CTX_ERROR * 8, s.OUTSIDE, kind + 4 * wide, address, ae, port, cycle)
    elif address & (size - 1):
        record(context + s.CTX_ERROR * 8, s.MISALIGNED, kind + 4 * wide, address, ae, port, cycle)
    else:
        data = _access(context, address, wide, kind, load(request, 2))
    _count(statistics, 2 * kind + wide, 1)
    _count(statistics, s.STAT_BANKS + bank_of(address), 1)
    if kind == s.READ:
        tag = (payload >> load(context, s.CTX_TAG_SHIFT)) & load(context, s.CTX_TAG_MASK)
        _finish_read(context, lane, ae, port, address, cycle, entry, tag, data)
    else:
        _finish_write(context, lane, ae, port, address, cycle, entry)


@inlined
def _oldest(context: int, ae: int) -> int:
    """Return the cycle of an engine's oldest logged request."""
    lane = lane_of(context, ae)
    head = load(lane, s.LANE_LOG_HEAD)
    if head == load(lane, s.LANE_LOG_TAIL):
        return s.NEVER
    depth = load(context, s.CTX_LOG_DEPTH)
    return load(load(context, s.CTX_LOGS), (ae * depth + (head & (depth - 1))) * s.LOG_WORDS) >> 16


@inlined
def _serve_engine(context: int, ae: int, cycle: int) -> None:
    """Perform an engine's logged requests of one cycle."""
    lane = lane_of(context, ae)
    depth = load(context, s.CTX_LOG_DEPTH)
    logs = load(context, s.CTX_LOGS) + ae * depth * s.LOG_WORDS * 8
    head = load(lane, s.LANE_LOG_HEAD)
    tail = load(lane, s.LANE_LOG_TAIL)
    while head != tail:
        request = logs + (head & (depth - 1)) * s.LOG_WORDS * 8
        if load(request, 0) >> 16 != cycle:
            break
        _serve(context, lane, ae, request)
        head += 1
    if head == tail:
        # Starting over keeps the part of the log in use small, and in the cache.
        head = 0
        store(lane, s.LANE_LOG_TAIL, 0)
    store(lane, s.LANE_LOG_HEAD, head)


@inlined
def _collect_errors(context: int, engines: int) -> None:
    """Make the first error of all engines that of the memory."""
    first = context + s.CTX_ERROR * 8
    for ae in range(engines):
        words = lane_of(context, ae) + s.LANE_ERROR * 8
        earlier = load(first, s.ERROR_CODE) == 0 or load(words, s.ERROR_CYCLE) < load(first, s.ERROR_CYCLE)
        if load(words, s.ERROR_CODE) != 0 and earlier:
            for index in range(s.ERROR_WORDS):
                store(first, index, load(words, index))


@inlined
def settle_cycles(context: int, cycle: int) -> int:
    """Perform all requests up to a cycle; see `sim.memory.model.settle`."""
    engines = load(context, s.CTX_ENGINES)
    while True:
        now = s.NEVER
        for ae in range(engines):
            now = min(now, _oldest(context, ae))
        if now > cycle:
            break
        first = now % engines
        for step in range(engines):
            ae = first + step
            _serve_engine(context, ae - engines if ae >= engines else ae, now)
    store(context, s.CTX_SETTLED, cycle)
    _collect_errors(context, engines)
    return load(context, s.CTX_ERROR + s.ERROR_CODE)
