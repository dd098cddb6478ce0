"""Acceptance of requests: an AE's requests of a cycle are checked, enter the crossbar and are logged (compiled).

All code here accesses only the side, the mailbox and the batch of one AE, so AEs may run in parallel threads.
"""

from cyscc.sim.memory.compiling import apart, inlined, out_of_line, prefetch, trailing_zeros
from cyscc.sim.memory.records import FLUSH, MAX_PORTS, READ, WRITE, Batch, Context, ErrorCode, Mailbox, Side


@inlined
def _check(side: Side, box: Mailbox, cycle: int) -> bool:
    """Return whether the masks only have the AE's ports, and refuse requests to ports that are not ready."""
    if (box.requests[READ] | box.requests[WRITE] | box.requests[FLUSH]) >> side.width != 0:
        for kind in range(FLUSH + 1):
            if box.requests[kind] >> side.width != 0:
                side.error.note(ErrorCode.MALFORMED, kind, box.requests[kind], side.number, 0, cycle)
        return False
    early = box.requests[READ] & ~box.read_ready
    if early != 0:
        side.error.note(ErrorCode.NOT_READY, READ, 0, side.number, trailing_zeros(early), cycle)
    early = box.requests[WRITE] & ~box.write_ready
    if early != 0:
        side.error.note(ErrorCode.NOT_READY, WRITE, 0, side.number, trailing_zeros(early), cycle)
    return True


@inlined
def _first_port(ports: int, cycle: int) -> int:
    """Return the port with the highest priority in a cycle."""
    return cycle & (ports - 1) if ports & (ports - 1) == 0 else cycle % ports


@inlined
def _rotated(mask: int, first: int) -> int:
    """Rotate a mask of MAX_PORTS ports so that port `first` is in bit 0; the order is that of any fewer ports."""
    return ((mask | mask << MAX_PORTS) >> first) & ((1 << MAX_PORTS) - 1)


@inlined
def _spread(mask: int) -> int:
    """Return a word with bit p of a 32-bit mask at bit 2p."""
    mask = (mask | mask << 16) & 0x0000FFFF0000FFFF
    mask = (mask | mask << 8) & 0x00FF00FF00FF00FF
    mask = (mask | mask << 4) & 0x0F0F0F0F0F0F0F0F
    mask = (mask | mask << 2) & 0x3333333333333333
    return (mask | mask << 1) & 0x5555555555555555


@inlined
def _port_of(place: int, first: int) -> int:
    """Return the port at a bit of a rotated mask."""
    return (place + first) & (MAX_PORTS - 1)


@apart
def _without_excess(side: Side, waiting: int, room: int, first: int, depth: int, cycle: int) -> int:
    """Return the first `room` bits of a mask of requests, and refuse the others."""
    out_of_line()
    excess = waiting
    for _ in range(room):
        excess &= excess - 1
    if excess != 0:
        place = trailing_zeros(excess)
        port = _port_of(place >> 1, first)
        side.error.note(ErrorCode.LOG_FULL, place & 1, depth, side.number, port, cycle)
    return waiting ^ excess


@apart
def _log_flushes(context: Context, side: Side, batch: Batch, flushes: int, first: int, cycle: int) -> None:
    """Append flushes to a batch, after all other requests of the cycle: only their order per port matters.

    They touch nothing that is divided, and are in the first queue.
    """
    out_of_line()
    while flushes != 0:
        port = _port_of(trailing_zeros(flushes), first)
        flushes &= flushes - 1
        if batch.count >= context.batch_depth:
            side.error.note(ErrorCode.LOG_FULL, FLUSH, context.batch_depth, side.number, port, cycle)
            return
        queue = batch.queues[0]
        request = queue.requests[queue.count]
        request.stamp(cycle, port, FLUSH)
        request.payload = 0
        if context.parts != 1:
            batch.order[batch.count] = queue.count
        queue.count += 1
        batch.count += 1


@apart
def _take(context: Context, side: Side, box: Mailbox, cycle: int) -> None:
    """Log an AE's requests by port; the first port advances by one each cycle."""
    if not _check(side, box, cycle):
        return
    ports = context.ports
    address_mask, storage = context.address_mask, context.storage
    batch = side.batches[context.accepted]
    queues, count = batch.queues, batch.count
    requests, divided = queues[0].requests, context.parts != 1
    first = _first_port(ports, cycle)
    waiting = _spread(_rotated(box.requests[READ], first))
    waiting |= _spread(_rotated(box.requests[WRITE], first)) << 1
    flushes = _rotated(box.requests[FLUSH], first)
    if context.batch_depth - count < 2 * ports:
        waiting = _without_excess(side, waiting, context.batch_depth - count, first, context.batch_depth, cycle)
    context.rules.before_entries(side, cycle)
    latest, entries, before = side.latest_entry, 0, count
    while waiting != 0:
        following = trailing_zeros(waiting)
        waiting &= waiting - 1
        kind = following & 1
        port = _port_of(following >> 1, first)
        payload = box.read_payloads[kind * MAX_PORTS + port]  # payloads of writes follow
        address = payload & address_mask
        place = count
        if divided:
            part = context.rules.division_of(address) >> context.part_shift
            place = part * context.queue_places + queues[part].count
            queues[part].count += 1
            batch.order[count] = place
        request = requests[place]
        request.stamp(cycle, port, kind)
        request.payload = payload
        request.data[0] = box.write_data[port]
        prefetch(storage, address >> 3)
        side.in_flight[kind * MAX_PORTS + port] += 1
        entry = context.rules.enter(side, port, kind, address, cycle)
        if entry < 0:
            side.error.note(ErrorCode.OVERBOOKED, kind, entry, side.number, port, cycle)
            entry = cycle
        request.time = entry
        latest = max(latest, entry)
        entries += entry
        count += 1
    batch.count = count
    if not divided:
        queues[0].count = count
    side.latest_entry = latest
    side.entering += entries - (count - before) * cycle
    if flushes != 0:
        _log_flushes(context, side, batch, flushes, first, cycle)


@inlined
def accept(context: Context, ae: int, cycle: int) -> None:
    """Take an AE's requests of a cycle from its mailbox; see `cyscc.sim.memory.memory.Memory.accept`."""
    box = context.mailboxes[ae]
    if (box.requests[READ] | box.requests[WRITE] | box.requests[FLUSH]) != 0:
        _take(context, context.sides[ae], box, cycle)
        for kind in range(FLUSH + 1):
            box.requests[kind] = 0
