"""Service of requests by banks and other resources that all AEs share (compiled).

Requests are served in the order (cycle, AE, port), on one port reads before writes before flushes; the first AE and
port rotate each cycle. In this order requests take effect, and reserve the shared resources that determine their time.
If the profile divides the addresses into parts that share nothing, each part can be served by a thread of its own. The
AE's own part of the timing is in `cyscc.sim.memory.delivery`.
"""

from cyscc.sim.arrays import ArrayKind
from cyscc.sim.memory.compiling import apart, call, inlined, out_of_line, prefetch
from cyscc.sim.memory.recording import kind_at, record_service, row_of_links, start_service_row
from cyscc.sim.memory.records import BASE_ADDRESS, FLUSH, NEVER, Context, ErrorCode, Queue, Request, Service
from cyscc.sim.memory.structures import Words

_AHEAD = 12
"""Requests of a queue whose words are prefetched ahead of the current one."""


@apart
def _refuse(context: Context, service: Service, request: Request, ae: int, address: int, wide: int) -> None:
    """Record the error of an invalid access; a read returns 0, and the request continues with address 0."""
    out_of_line()
    outside = address < BASE_ADDRESS or address + 4 + 4 * wide > context.top
    code = ErrorCode.OUTSIDE if outside else ErrorCode.MISALIGNED
    kind = request.kind() + 4 * wide
    service.error.note(code, kind, address, ae, request.port(), request.cycle())
    request.data[0] = 0
    request.payload &= ~context.address_mask


@apart
def _checked_place(service: Service, place: int, count: int, ae: int, cycle: int) -> int:
    """Return the index of a link or word that rules from a file answered; refuse one that does not exist."""
    out_of_line()
    if 0 <= place < count:
        return place
    service.error.note(ErrorCode.PLACE, 0, place, ae, 0, cycle)
    return 0


@inlined
def _access(storage: Words, request: Request, address: int, wide: int, is_read: int) -> None:
    """Perform the read or write of a request on the storage.

    A read also writes, but only its own data back: this costs less than an unpredictable branch.
    """
    shift = (address & 4) << 3
    mask = -wide | 0xFFFFFFFF
    word = storage[address >> 3]
    written = (word & ~(mask << shift)) | (request.data[0] & mask) << shift
    place = request.data if is_read != 0 else storage
    place[0 if is_read != 0 else address >> 3] = (word >> shift) & mask if is_read != 0 else written


@inlined
def _serve_engine(context: Context, service: Service, ae: int, queue: Queue, cycle: int, recorded: int) -> int:
    """Perform an AE's requests of one cycle and part, and return their number.

    `recorded` is a compile-time constant, so that code without recording has no overhead.
    """
    storage, requests = context.storage, queue.requests
    top, size_bit, address_mask = context.top, context.size_bit, context.address_mask
    places, record = context.places[0], context.service_record[0]
    links = row_of_links(context, record, ae) if recorded != 0 else 0
    divided = context.parts != 1
    index, end, waited = queue.served, queue.count, 0
    while index != end:
        request = requests[index]
        if request.cycle() != cycle:
            break
        if divided:
            # Acceptance has prefetched the word, but for another thread's core.
            prefetch(storage, (requests[min(index + _AHEAD, end - 1)].payload & address_mask) >> 3)
        if request.when & FLUSH == 0:
            address = request.payload & address_mask
            wide = (request.payload >> size_bit) & 1
            size = 4 + 4 * wide
            is_read = ~request.when & 1
            if address < BASE_ADDRESS or address + size > top or address & (size - 1) != 0:
                _refuse(context, service, request, ae, address, wide)
                kind: int = ArrayKind.OTHER
            else:
                _access(storage, request, address, wide, is_read)
                kind = kind_at(places, address) if recorded != 0 else ArrayKind.OTHER
            entered = request.time
            earlier = context.rules.bank_waits(service.shared)
            back = context.rules.serve(service.shared, ae, address, is_read, entered, cycle)
            if recorded != 0:
                bank = context.rules.bank_waits(service.shared) - earlier
                link, word = context.rules.link_of(address), context.rules.place_of(address, record.word_mask)
                if context.rules.is_outside():
                    link = _checked_place(service, link, record.links_of_engine, ae, cycle)
                    word = _checked_place(service, word, record.word_mask + 1, ae, cycle)
                link += links + (is_read ^ 1) * record.links_of_engine
                request.note_array(kind)
                record_service(record, kind, word, bank, link, entered - cycle)
            if back < 0:
                service.error.note(ErrorCode.OVERBOOKED, request.kind() + 4, back, ae, request.port(), cycle)
                back = entered
            waited += back - entered
            request.time = back
        index += 1
    done = index - queue.served
    queue.served = index
    service.waited += waited
    return done


@inlined
def _oldest(queue: Queue) -> int:
    """Return the cycle of a queue's oldest unserved request."""
    return NEVER if queue.served == queue.count else queue.requests[queue.served].cycle()


@inlined
def _serve(context: Context, first: int, stop: int, recorded: int) -> None:
    """Perform the requests of some parts of a round; `recorded` is a compile-time constant."""
    engines, sides, services = context.engines, context.sides, context.services
    now, left = NEVER, 0
    for ae in range(engines):
        for part in range(first, stop):
            queue = sides[ae].batches[context.served].queues[part]
            left += queue.count - queue.served
            now = min(now, _oldest(queue))
    ae = now % engines
    record = context.service_record[0]
    while left != 0:
        if recorded != 0 and now >= record.end:
            start_service_row(context, record, now)
        for part in range(first, stop):
            context.rules.before_service(services[part].shared, now)
            for _ in range(engines):
                queue = sides[ae].batches[context.served].queues[part]
                left -= _serve_engine(context, services[part], ae, queue, now, recorded)
                ae = ae + 1 if ae + 1 < engines else 0
        ae = ae + 1 if ae + 1 < engines else 0
        now += 1


@apart
def serve(context: Context, part: int) -> None:
    """Perform the requests of a part of a round; see `cyscc.sim.memory.memory.Memory.serve`."""
    if context.interval == 0:
        _serve(context, part, part + 1, 0)
    else:
        call(context.serve_recorded, context, part)


@apart
def serve_recorded(context: Context, part: int) -> None:
    """Perform and record the requests of a round, all parts as one: the record's rows are common to them."""
    if part == 0:
        _serve(context, 0, context.parts, 1)
