"""When an engine sees what its requests bring: the part that it shares with no other (compiled).

Everything here touches the lane, the statistics and the batch of one engine only, so engines may run on threads of
their own.
"""

from sim.memory import state as s
from sim.memory.compiled import inlined, jit, load, store
from sim.memory.hashing import LATENCY_STREAM, draw, stream
from sim.memory.lanes import batch_of, due_of, lane_of, record, row_words, statistics_of

__all__ = ["deliver_round"]


@inlined
def _count(statistics: int, index: int, amount: int) -> None:
    store(statistics, index, load(statistics, index) + amount)


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


@jit
def _push_far(context: int, lane: int, ae: int, port: int, seen: int, tag: int, data: int, now: int) -> None:
    """Queue a response that is far ahead behind the others of its port."""
    depth = load(context, s.CTX_RESPONSE_DEPTH)
    stride = depth * s.RESPONSE_WORDS + s.LINE_WORDS
    ring = load(context, s.CTX_RESPONSES) + (ae * load(context, s.CTX_PORTS) + port) * stride * 8
    tail = load(lane, s.LANE_RESPONSE_TAIL + port)
    if tail - load(lane, s.LANE_RESPONSE_HEAD + port) >= depth:
        record(lane + s.LANE_ERROR * 8, s.RING_FULL, s.READ, depth, ae, port, now)
        return
    place = (tail & (depth - 1)) * s.RESPONSE_WORDS
    store(ring, place, seen << 16 | tag)
    store(ring, place + 1, data)
    store(lane, s.LANE_RESPONSE_TAIL + port, tail + 1)
    store(lane, s.LANE_FAR, load(lane, s.LANE_FAR) | 1 << port)


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
    ring = load(context, s.CTX_FLUSHES)
    ring += (ae * load(context, s.CTX_PORTS) + port) * (s.FLUSH_DEPTH + s.LINE_WORDS) * 8
    tail = load(lane, s.LANE_FLUSH_TAIL + port)
    waiting = tail - load(lane, s.LANE_FLUSH_HEAD + port)
    if waiting >= s.FLUSH_DEPTH:
        record(lane + s.LANE_ERROR * 8, s.RING_FULL, s.FLUSH, s.FLUSH_DEPTH, ae, port, now)
        return
    if waiting == 0:
        store(lane, s.LANE_FLUSH_DUE + port, done)
        store(lane, s.LANE_NEXT_FLUSH, min(done, load(lane, s.LANE_NEXT_FLUSH)))
    store(ring, tail & (s.FLUSH_DEPTH - 1), done)
    store(lane, s.LANE_FLUSH_TAIL + port, tail + 1)


@inlined
def _finish_read(
    context: int, lane: int, statistics: int, due: int, words: int, ae: int, port: int, request: int, kind: int
) -> tuple[int, int]:
    """Find when a read's response is seen, and queue it; return when, and how long it waited for its turn."""
    cycle = load(request, s.LOG_WHEN) >> 16
    if kind == s.HC2:
        back = load(request, s.LOG_TIME)
    elif kind == s.FIXED:
        back = cycle + load(context, s.CTX_LATENCY)
    else:
        back = cycle + _random_latency(context, lane, ae, port, s.READ)
    seen = max(back, load(lane, s.LANE_LAST_SEEN + port) + 1)
    store(lane, s.LANE_LAST_SEEN + port, seen)
    latency = seen - cycle
    if latency >= s.HISTOGRAM_BINS - 1:
        _count(statistics, s.STAT_LATENCY_EXCESS, latency - (s.HISTOGRAM_BINS - 1))
        store(statistics, s.STAT_LATENCY_MAX, max(latency, load(statistics, s.STAT_LATENCY_MAX)))
        latency = s.HISTOGRAM_BINS - 1
    _count(statistics, s.STAT_HISTOGRAM + latency, 1)
    payload = load(request, s.LOG_PAYLOAD)
    tag = (payload >> load(context, s.CTX_TAG_SHIFT)) & load(context, s.CTX_TAG_MASK)
    data = load(request, s.LOG_DATA)
    ahead = seen - load(lane, s.LANE_CYCLE)
    if ahead < 0 or ahead >= s.NEAR or (load(lane, s.LANE_FAR) >> port) & 1 != 0:
        _push_far(context, lane, ae, port, seen, tag, data, cycle)
    else:
        place = seen & (s.NEAR - 1)
        store(due, place, load(due, place) | 1 << port)
        row = s.NEAR + place * words
        store(due, row + port, tag)
        store(due, row + (words >> 1) + port, data)
    return seen, seen - back


@inlined
def _finish_write(context: int, lane: int, ae: int, port: int, request: int, kind: int) -> None:
    """Find when a write has completed, as far as its port can tell."""
    if kind == s.FIXED:
        return
    cycle = load(request, s.LOG_WHEN) >> 16
    if kind == s.STRESS:
        written = cycle + _random_latency(context, lane, ae, port, s.WRITE)
    else:
        written = load(request, s.LOG_TIME)
        depth = load(context, s.CTX_WRITE_DEPTH)
        ring = load(context, s.CTX_WRITES)
        ring += (ae * load(context, s.CTX_PORTS) + port) * (depth + s.LINE_WORDS) * 8
        tail = load(lane, s.LANE_WRITE_TAIL + port)
        if tail - load(lane, s.LANE_WRITE_HEAD + port) >= depth:
            record(lane + s.LANE_ERROR * 8, s.RING_FULL, s.WRITE, depth, ae, port, cycle)
            return
        acknowledged = max(written, load(lane, s.LANE_LAST_ACKNOWLEDGED + port) + 1)
        store(lane, s.LANE_LAST_ACKNOWLEDGED + port, acknowledged)
        store(ring, tail & (depth - 1), acknowledged)
        store(lane, s.LANE_WRITE_TAIL + port, tail + 1)
    store(lane, s.LANE_LAST_WRITTEN + port, max(written, load(lane, s.LANE_LAST_WRITTEN + port)))


@inlined
def _deliver(context: int, ae: int, kind: int) -> None:
    """Queue all that a batch of requests brings, under the rules of a kind of profile."""
    lane = lane_of(context, ae)
    statistics = statistics_of(context, ae)
    due = due_of(context, ae)
    words = row_words(context)
    size_bit = load(context, s.CTX_SIZE_BIT)
    batch = batch_of(context, s.CTX_DELIVERED, ae)
    count = load(batch, s.BATCH_COUNT)
    soonest = load(lane, s.LANE_SOONEST)
    order_wait = 0
    wide_reads = 0
    writes = 0
    wide_writes = 0
    flushes = 0
    for index in range(count):
        request = batch + (s.LINE_WORDS + index * s.LOG_WORDS) * 8
        when = load(request, s.LOG_WHEN)
        port = (when >> 8) & 255
        wide = (load(request, s.LOG_PAYLOAD) >> size_bit) & 1
        if when & 255 == s.READ:
            wide_reads += wide
            seen, waited = _finish_read(context, lane, statistics, due, words, ae, port, request, kind)
            soonest = min(soonest, seen)
            order_wait += waited
        elif when & 255 == s.WRITE:
            writes += 1
            wide_writes += wide
            _finish_write(context, lane, ae, port, request, kind)
        else:
            flushes += 1
            _push_flush(context, lane, ae, port, when >> 16)
    store(batch, s.BATCH_COUNT, 0)
    store(batch, s.BATCH_SERVED, 0)
    store(lane, s.LANE_SOONEST, soonest)
    _count(statistics, s.STAT_READS4, count - flushes - writes - wide_reads)
    _count(statistics, s.STAT_READS8, wide_reads)
    _count(statistics, s.STAT_WRITES4, writes - wide_writes)
    _count(statistics, s.STAT_WRITES8, wide_writes)
    _count(statistics, s.STAT_FLUSHES, flushes)
    _count(statistics, s.STAT_ORDER_WAIT, order_wait)


@jit
def _deliver_hc2(context: int, ae: int) -> None:
    _deliver(context, ae, s.HC2)


@jit
def _deliver_fixed(context: int, ae: int) -> None:
    _deliver(context, ae, s.FIXED)


@jit
def _deliver_stress(context: int, ae: int) -> None:
    _deliver(context, ae, s.STRESS)


@inlined
def deliver_round(context: int, ae: int) -> None:
    """Queue what an engine's requests of a round bring; see `sim.memory.entries.deliver`."""
    if load(batch_of(context, s.CTX_DELIVERED, ae), s.BATCH_COUNT) == 0:
        return
    kind = load(context, s.CTX_KIND)
    if kind == s.HC2:
        _deliver_hc2(context, ae)
    elif kind == s.FIXED:
        _deliver_fixed(context, ae)
    else:
        _deliver_stress(context, ae)
