"""The memory's outputs to an AE in a cycle: responses, readiness of ports, completed flushes (compiled).

All code here accesses only the side and the mailbox of one AE, so AEs may run in parallel threads.
"""

from cyscc.sim.memory.compiling import apart, inlined, out_of_line, trailing_zeros
from cyscc.sim.memory.recording import start_stall_row
from cyscc.sim.memory.records import FLUSH, MAX_PORTS, NEAR, NEVER, READ, Context, ErrorCode, Mailbox, Side


@apart
def _respond_far(side: Side, box: Mailbox, cycle: int) -> int:
    """Move the responses due in this cycle from the ports' rings to the mailbox; return the mask of their ports."""
    out_of_line()
    waiting = side.far
    shown = 0
    while waiting != 0:
        number = trailing_zeros(waiting)
        waiting &= waiting - 1
        port = side.ports[number]
        response = port.responses[port.later.oldest()]
        if response.seen <= cycle:
            if response.seen < cycle:
                side.error.note(ErrorCode.LATE, READ, response.seen, side.number, number, cycle)
            shown |= 1 << number
            box.tags[number] = response.tag
            box.data[number] = response.data
            port.later.head += 1
            if port.later.head == port.later.tail:
                side.far ^= 1 << number
    return shown


@apart
def _skip(side: Side, cycle: int) -> None:
    """Refuse responses in cycles that the AE has skipped."""
    out_of_line()
    end = min(cycle, side.cycle + NEAR)
    for skipped in range(max(side.cycle, side.soonest), end):
        mask = side.due[skipped & (NEAR - 1)]
        if mask != 0:
            side.error.note(ErrorCode.LATE, READ, skipped, side.number, trailing_zeros(mask), cycle)
            side.due[skipped & (NEAR - 1)] = 0


@inlined
def _respond(context: Context, side: Side, box: Mailbox, cycle: int) -> int:
    """Move the responses due in this cycle to the mailbox; return the mask of their ports."""
    if side.cycle != cycle:
        _skip(side, cycle)
    side.cycle = cycle + 1
    place = cycle & (NEAR - 1)
    shown = side.due[place]
    if shown != 0:
        side.due[place] = 0
        width = context.row
        first = 2 * width * place
        rows, tags, data = side.rows, box.tags, box.data
        # Two loops, each of which is compiled to vector instructions.
        for port in range(width):
            tags[port] = rows[first + port]
        for port in range(width):
            data[port] = rows[first + width + port]
    if side.far != 0:
        shown |= _respond_far(side, box, cycle)
    if shown != 0:
        in_flight = side.in_flight
        for port in range(context.ports):
            in_flight[port] -= shown >> port & 1
        context.rules.answered(side, shown)
    return shown


@apart
def _complete_flushes(side: Side, cycle: int) -> int:
    """Retire the flushes that complete in this cycle; return the mask of their ports."""
    out_of_line()
    shown = 0
    soonest = NEVER
    for number in range(side.width):
        port = side.ports[number]
        if port.flush_due <= cycle:
            if port.flush_due < cycle:
                side.error.note(ErrorCode.LATE, FLUSH, port.flush_due, side.number, number, cycle)
            shown |= 1 << number
            port.flushes.head += 1
            waits = port.flushes.head != port.flushes.tail
            port.flush_due = port.flush_times[port.flushes.oldest()] if waits else NEVER
        soonest = min(soonest, port.flush_due)
    side.next_flush = soonest
    return shown


@apart
def _count_stalls(side: Side, reads: int, writes: int) -> None:
    """Count the ports that are not ready for reads, and for writes, given by masks."""
    stalls = side.stalls
    # Over all ports: branches on the masks would be unpredictable, whereas this loop vectorizes.
    for port in range(side.width):
        stalls[port] += reads >> port & 1
        stalls[MAX_PORTS + port] += writes >> port & 1


@inlined
def prepare(context: Context, ae: int, cycle: int) -> None:
    """Fill an AE's mailbox for a cycle; see `cyscc.sim.memory.memory.Memory.prepare`."""
    side = context.sides[ae]
    box = context.mailboxes[ae]
    responses = _respond(context, side, box, cycle)
    flushed = 0
    if side.next_flush <= cycle:
        flushed = _complete_flushes(side, cycle)
    reads, writes = context.rules.stalled(side, cycle)
    every = context.every
    if (reads | writes) & every != 0:
        if context.interval != 0 and cycle >= context.engine_records[ae].stall_end:
            start_stall_row(context, ae, cycle)
        _count_stalls(side, reads & every, writes & every)
    box.read_ready = every & ~reads
    box.write_ready = every & ~writes
    box.responses = responses
    box.flushed = flushed


@apart
def _soonest_response(side: Side) -> int:
    """Return the first cycle with a response not shown yet."""
    soonest = max(side.soonest, side.cycle)
    end = side.cycle + NEAR
    while soonest < end and side.due[soonest & (NEAR - 1)] == 0:
        soonest += 1
    if soonest >= end:
        soonest = NEVER
    far = side.far
    while far != 0:
        port = side.ports[trailing_zeros(far)]
        soonest = min(soonest, port.responses[port.later.oldest()].seen)
        far &= far - 1
    return soonest


@inlined
def next_event(context: Context, ae: int, cycle: int) -> int:
    """Return the first cycle with a response or a completed flush; see `cyscc.sim.memory.memory.Memory.next_event`.

    The result is cached until its cycle has passed; delivery moves it to an earlier cycle if needed.
    """
    side = context.sides[ae]
    if context.rules.restless(side, cycle):
        return cycle
    if side.soonest < cycle:
        side.soonest = _soonest_response(side)
    return max(cycle, min(side.soonest, side.next_flush))
