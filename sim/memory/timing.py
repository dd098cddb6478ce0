"""When and how requests take effect: the part that all engines share (compiled).

Requests are taken in the order (cycle, engine, port), reads before writes before flushes on one port; engine and
port are counted from one that moves on each cycle. A request takes effect in that order, and reserves its bank and
its return link in that order. What depends on its own engine alone is left to `sim.memory.delivery`.
"""

from sim.memory import state as s
from sim.memory.addresses import LINKS, link_of, place_of
from sim.memory.calendars import book
from sim.memory.compiled import inlined, jit, load, store
from sim.memory.lanes import batch_of, record

__all__ = ["serve_round"]


@inlined
def _access(context: int, request: int, spare: int) -> int:
    """Read or write the storage as a request says; return 1 if that was possible."""
    payload = load(request, s.LOG_PAYLOAD)
    is_read = ~load(request, s.LOG_WHEN) & 1
    address = payload & load(context, s.CTX_ADDRESS_MASK)
    wide = (payload >> load(context, s.CTX_SIZE_BIT)) & 1
    size = 4 + 4 * wide
    if address < s.BASE_ADDRESS or address + size > load(context, s.CTX_TOP) or address & (size - 1) != 0:
        store(request, s.LOG_DATA, 0)
        return 0
    place = load(context, s.CTX_STORAGE) + (address & ~7)
    shift = (address & 4) << 3
    mask = -wide | 0xFFFFFFFF
    word = load(place, 0)
    data = load(request, s.LOG_DATA)
    # A read writes as well, but into a spare word: that costs less than a branch that is hard to foresee.
    store(spare if is_read != 0 else place, 0, (word & ~(mask << shift)) | (data & mask) << shift)
    store(request, s.LOG_DATA, (word >> shift) & mask)
    return 1


@jit
def _refuse(context: int, request: int, ae: int) -> None:
    """Note why a request cannot reach the storage."""
    payload = load(request, s.LOG_PAYLOAD)
    when = load(request, s.LOG_WHEN)
    address = payload & load(context, s.CTX_ADDRESS_MASK)
    wide = (payload >> load(context, s.CTX_SIZE_BIT)) & 1
    outside = address < s.BASE_ADDRESS or address + 4 + 4 * wide > load(context, s.CTX_TOP)
    error = load(context, s.CTX_SERVICE) + s.SERVICE_ERROR * 8
    code = s.OUTSIDE if outside else s.MISALIGNED
    record(error, code, (when & 255) + 4 * wide, address, ae, (when >> 8) & 255, when >> 16)


@inlined
def _serve_engine(context: int, ae: int, batch: int, index: int, cycle: int, timed: bool) -> int:
    """Perform an engine's requests of one cycle, from number `index` of its batch on; return the number after them."""
    count = load(batch, s.BATCH_COUNT)
    service = load(context, s.CTX_SERVICE)
    banks = load(context, s.CTX_BANKS)
    returns = load(context, s.CTX_RETURNS)
    blocks = load(context, s.CTX_RETURN_BLOCKS)
    links = load(context, s.CTX_ENGINES) * LINKS
    there = load(context, s.CTX_REQUEST_TRAVEL)
    busy = load(context, s.CTX_BANK_BUSY)
    back = load(context, s.CTX_RESPONSE_TRAVEL)
    address_mask = load(context, s.CTX_ADDRESS_MASK)
    bank_wait = 0
    return_wait = 0
    while index < count:
        request = batch + (s.LINE_WORDS + index * s.LOG_WORDS) * 8
        when = load(request, s.LOG_WHEN)
        if when >> 16 != cycle:
            break
        index += 1
        if when & s.FLUSH != 0:
            continue
        if _access(context, request, request + s.LOG_DATA * 8) == 0:
            _refuse(context, request, ae)
        address = load(request, s.LOG_PAYLOAD) & address_mask
        bank = banks + place_of(address) * (s.BANK_WORDS * 8)
        store(bank, 1, load(bank, 1) + 1)
        if timed:
            arrival = load(request, s.LOG_TIME) + there
            start = max(arrival, load(bank, 0))
            done = start + busy
            store(bank, 0, done)
            bank_wait += start - arrival
            is_read = ~when & 1
            slot = book(returns, blocks, links, ae * LINKS + link_of(address), done, cycle, is_read)
            if slot < 0:
                record(service + s.SERVICE_ERROR * 8, s.CALENDAR_FULL, s.READ, blocks, ae, 0, cycle)
                slot = done
            return_wait += (slot - done) & -is_read
            store(request, s.LOG_TIME, (slot if is_read != 0 else done) + back)
    if timed:
        store(service, s.SERVICE_BANK_WAIT, load(service, s.SERVICE_BANK_WAIT) + bank_wait)
        store(service, s.SERVICE_RETURN_WAIT, load(service, s.SERVICE_RETURN_WAIT) + return_wait)
    return index


@inlined
def _oldest(batch: int) -> int:
    """Return the cycle of a batch's oldest request that is not served."""
    index = load(batch, s.BATCH_SERVED)
    if index == load(batch, s.BATCH_COUNT):
        return s.NEVER
    return load(batch, s.LINE_WORDS + index * s.LOG_WORDS + s.LOG_WHEN) >> 16


@inlined
def _serve(context: int, timed: bool) -> None:
    engines = load(context, s.CTX_ENGINES)
    while True:
        now = s.NEVER
        for ae in range(engines):
            now = min(now, _oldest(batch_of(context, s.CTX_SERVED, ae)))
        if now == s.NEVER:
            return
        ae = now % engines
        for _ in range(engines):
            batch = batch_of(context, s.CTX_SERVED, ae)
            index = _serve_engine(context, ae, batch, load(batch, s.BATCH_SERVED), now, timed)
            store(batch, s.BATCH_SERVED, index)
            ae = ae + 1 if ae + 1 < engines else 0


@jit
def _serve_timed(context: int) -> None:
    _serve(context, True)


@jit
def _serve_untimed(context: int) -> None:
    _serve(context, False)


@inlined
def serve_round(context: int) -> None:
    """Perform all requests of a round; see `sim.memory.entries.serve`."""
    if load(context, s.CTX_KIND) == s.HC2:
        _serve_timed(context)
    else:
        _serve_untimed(context)
