"""Delivery of responses: the AE's own part of the timing of its responses (compiled).

All code here accesses only the side and the batch of one AE, so AEs may run in parallel threads.
"""

from cyscc.sim.memory.compiling import apart, call, inlined, out_of_line
from cyscc.sim.memory.recording import ENGINE_WORDS, record_read, record_write, row_of_arrays, start_row
from cyscc.sim.memory.records import (
    FLUSH,
    FLUSH_DEPTH,
    HISTOGRAM_BINS,
    LATEST,
    NEAR,
    READ,
    WRITE,
    AccessLog,
    Batch,
    Context,
    ErrorCode,
    Port,
    Request,
    Side,
    Statistics,
)

_PLAIN, _RECORDED, _LOGGED = range(3)
"""What is kept of delivered requests. Compile-time constants, so that code that keeps nothing has no overhead."""


@apart
def _push_far(side: Side, number: int, seen: int, tag: int, data: int, now: int) -> None:
    """Append a response that is far ahead to the ring of its port."""
    out_of_line()
    port = side.ports[number]
    if port.later.full():
        side.error.note(ErrorCode.RING_FULL, READ, port.later.mask + 1, side.number, number, now)
        return
    response = port.responses[port.later.push()]
    response.seen = seen
    response.tag = tag
    response.data = data
    side.far |= 1 << number


@apart
def _push_flush(side: Side, number: int, done: int, now: int) -> None:
    """Queue a flush, complete at `done` at the earliest, after the writes and the other flushes of its port."""
    out_of_line()
    port = side.ports[number]
    done = max(done, port.last_written, port.last_flushed + 1)
    port.last_flushed = done
    if port.flushes.full():
        side.error.note(ErrorCode.RING_FULL, FLUSH, FLUSH_DEPTH, side.number, number, now)
        return
    if port.flushes.head == port.flushes.tail:
        port.flush_due = done
        side.next_flush = min(done, side.next_flush)
    port.flush_times[port.flushes.push()] = done


@apart
def _checked(side: Side, number: int, kind: int, answer: int, now: int, least: int) -> int:
    """Return the time that rules from a file answered; refuse one that is too early, or too far ahead."""
    out_of_line()
    if now + least <= answer <= now + LATEST:
        return answer
    side.error.note(ErrorCode.ANSWER, kind, answer, side.number, number, now)
    return now


@inlined
def _count_latency(statistics: Statistics, latency: int) -> None:
    if latency >= HISTOGRAM_BINS - 1:
        statistics.latency_excess += latency - (HISTOGRAM_BINS - 1)
        statistics.latency_max = max(latency, statistics.latency_max)
        latency = HISTOGRAM_BINS - 1
    statistics.histogram[latency] += 1


@inlined
def _return(context: Context, side: Side, port: Port, number: int, request: Request) -> tuple[int, int]:
    """Compute the cycle of a read's response, and queue it; return that cycle, and the cycles it waited for order."""
    cycle = request.cycle()
    back = context.rules.read_back(side, number, request)
    if context.rules.is_outside():
        back = _checked(side, number, READ, back, cycle, context.quantum)
    seen = max(back, port.last_seen + 1)
    port.last_seen = seen
    _count_latency(side.statistics, seen - cycle)
    tag = (request.payload >> context.tag_shift) & context.tag_mask
    ahead = seen - side.cycle
    if ahead < 0 or ahead >= NEAR:
        _push_far(side, number, seen, tag, request.data[0], cycle)
    else:
        place = seen & (NEAR - 1)
        side.due[place] |= 1 << number
        first = 2 * context.row * place + number
        side.rows[first] = tag
        side.rows[first + context.row] = request.data[0]
    return seen, seen - back


@inlined
def _log(log: AccessLog, request: Request, address: int, answered: int) -> None:
    """Log an access if it is among those chosen: the request, with the cycle of its response as its time."""
    if log.first <= request.cycle() < log.end:
        for index in range(log.ranges):
            chosen = log.chosen[index]
            if chosen.start <= address < chosen.end and request.data[0] & chosen.mask == chosen.value:
                if log.count < log.capacity:
                    row = log.rows[log.count]
                    row.when = request.when
                    row.payload = request.payload
                    row.data[0] = request.data[0]
                    row.time = answered
                log.count += 1
                break


@inlined
def _deliver_run(context: Context, side: Side, batch: Batch, first: int, stop: int, kept: int) -> None:
    """Queue the responses and completions of some requests of a batch.

    `kept` is one of `_PLAIN`, `_RECORDED` and `_LOGGED`.
    """
    size_bit = context.size_bit
    soonest = side.soonest
    order_wait = wide_reads = writes = wide_writes = flushes = 0
    record = context.engine_records[side.number]
    row = row_of_arrays(record) if kept == _RECORDED else 0
    log = context.access_logs[side.number]
    requests, parts = batch.queues[0].requests, context.parts
    for index in range(first, stop):
        request = requests[batch.place_of(index, parts)]
        number = request.port()
        port = side.ports[number]
        wide = (request.payload >> size_bit) & 1
        if request.kind() == READ:
            wide_reads += wide
            seen, waited = _return(context, side, port, number, request)
            soonest = min(soonest, seen)
            order_wait += waited
            if kept == _RECORDED:
                record_read(record, row, request.array(), seen - request.cycle())
            if kept == _LOGGED:
                _log(log, request, request.payload & context.address_mask, seen)
        elif request.kind() == WRITE:
            writes += 1
            wide_writes += wide
            complete = context.rules.written(side, number, request)
            if context.rules.is_outside():
                complete = _checked(side, number, WRITE, complete, request.cycle(), 0)
            port.last_written = max(port.last_written, complete)
            if kept == _RECORDED:
                record_write(record, row, request.array())
            if kept == _LOGGED:
                _log(log, request, request.payload & context.address_mask, complete)
        else:
            flushes += 1
            now = request.cycle()
            complete = context.rules.flushed(now)
            if context.rules.is_outside():
                complete = _checked(side, number, FLUSH, complete, now, context.quantum)
            _push_flush(side, number, complete, now)
    statistics = side.statistics
    statistics.reads4 += stop - first - flushes - writes - wide_reads
    statistics.reads8 += wide_reads
    statistics.writes4 += writes - wide_writes
    statistics.writes8 += wide_writes
    statistics.flushes += flushes
    statistics.order_wait += order_wait
    side.soonest = soonest
    if kept == _RECORDED:
        record.engines[(record.row & record.last) * ENGINE_WORDS] += order_wait


@apart
def _deliver(context: Context, side: Side) -> None:
    """Queue the responses and completions of a batch."""
    batch = side.batches[context.delivered]
    _deliver_run(context, side, batch, 0, batch.count, _PLAIN)
    batch.empty(context.parts)


@apart
def deliver_logged(context: Context, ae: int) -> None:
    """Queue the responses and completions of a batch, and log those that are chosen."""
    side = context.sides[ae]
    batch = side.batches[context.delivered]
    _deliver_run(context, side, batch, 0, batch.count, _LOGGED)
    batch.empty(context.parts)


@inlined
def _first_from(batch: Batch, parts: int, cycle: int) -> int:
    """Return the end of the requests of a batch that were accepted before a cycle; there is at least one."""
    requests, stop = batch.queues[0].requests, batch.count
    while requests[batch.place_of(stop - 1, parts)].cycle() >= cycle:
        stop -= 1
    return stop


@apart
def deliver_recorded(context: Context, ae: int) -> None:
    """Queue and record the responses of a batch, by intervals of acceptance."""
    side, record = context.sides[ae], context.engine_records[ae]
    batch = side.batches[context.delivered]
    first = 0
    while first != batch.count:
        cycle = batch.queues[0].requests[batch.place_of(first, context.parts)].cycle()
        if cycle >= record.end:
            start_row(context, record, cycle)
        stop = _first_from(batch, context.parts, record.end)
        _deliver_run(context, side, batch, first, stop, _RECORDED)
        first = stop
    batch.empty(context.parts)


@inlined
def deliver(context: Context, ae: int) -> None:
    """Queue the responses to an AE's requests of a round; see `cyscc.sim.memory.memory.Memory.deliver`."""
    side = context.sides[ae]
    if side.batches[context.delivered].count != 0:
        if context.deliver_kept == 0:
            _deliver(context, side)
        else:
            call(context.deliver_kept, context, ae)
