"""When and how requests take effect: the part that all engines share (compiled).

Requests are taken in the order (cycle, engine, port), reads before writes before flushes on one port; engine and
port are counted from one that moves on each cycle. A request takes effect in that order, and reserves its bank and
its return link in that order. What depends on its own engine alone is left to `sim.memory.delivery`.
"""

from sim.memory import state as s
from sim.memory.addresses import LINKS, link_of, place_of
from sim.memory.calendars import book, pass_blocks
from sim.memory.compiled import inlined, jit, load, store
from sim.memory.lanes import batch_of, record

__all__ = ["serve_round"]


@jit
def _refuse(context: int, request: int, ae: int) -> None:
    """Note why a request cannot reach the storage; a read brings 0."""
    payload = load(request, s.LOG_PAYLOAD)
    when = load(request, s.LOG_WHEN)
    address = payload & load(context, s.CTX_ADDRESS_MASK)
    wide = (payload >> load(context, s.CTX_SIZE_BIT)) & 1
    outside = address < s.BASE_ADDRESS or address + 4 + 4 * wide > load(context, s.CTX_TOP)
    error = load(context, s.CTX_SERVICE) + s.SERVICE_ERROR * 8
    code = s.OUTSIDE if outside else s.MISALIGNED
    record(error, code, (when & 255) + 4 * wide, address, ae, (when >> 8) & 255, when >> 16)
    store(request, s.LOG_DATA, 0)


@inlined
def _access(storage: int, request: int, address: int, wide: int, is_read: int) -> None:
    """Read or write the storage as a request says.

    A read writes as well, but over its own data: that costs less than a branch that is hard to foresee.
    """
    place = storage + (address & ~7)
    shift = (address & 4) << 3
    mask = -wide | 0xFFFFFFFF
    word = load(place, 0)
    data = load(request, s.LOG_DATA)
    own = request + s.LOG_DATA * 8
    written = (word & ~(mask << shift)) | (data & mask) << shift
    store(own if is_read != 0 else place, 0, (word >> shift) & mask if is_read != 0 else written)


@inlined
def _serve_engine(context: int, ae: int, batch: int, cycle: int, timed: bool) -> None:
    """Perform an engine's requests of one cycle."""
    service = load(context, s.CTX_SERVICE)
    storage = load(context, s.CTX_STORAGE)
    top = load(context, s.CTX_TOP)
    size_bit = load(context, s.CTX_SIZE_BIT)
    banks = load(context, s.CTX_BANKS)
    blocks = load(context, s.CTX_RETURN_BLOCKS)
    links = load(context, s.CTX_ENGINES) * LINKS
    returns = load(context, s.CTX_RETURNS) + ae * (LINKS * 8)
    there = load(context, s.CTX_REQUEST_TRAVEL)
    busy = load(context, s.CTX_BANK_BUSY)
    back = load(context, s.CTX_RESPONSE_TRAVEL)
    address_mask = load(context, s.CTX_ADDRESS_MASK)
    bank_wait = 0
    return_wait = 0
    request = batch + (s.LINE_WORDS + load(batch, s.BATCH_SERVED) * s.LOG_WORDS) * 8
    end = batch + (s.LINE_WORDS + load(batch, s.BATCH_COUNT) * s.LOG_WORDS) * 8
    while request != end:
        when = load(request, s.LOG_WHEN)
        if when >> 16 != cycle:
            break
        if when & s.FLUSH == 0:
            payload = load(request, s.LOG_PAYLOAD)
            address = payload & address_mask
            wide = (payload >> size_bit) & 1
            size = 4 + 4 * wide
            is_read = ~when & 1
            if address < s.BASE_ADDRESS or address + size > top or address & (size - 1) != 0:
                _refuse(context, request, ae)
            else:
                _access(storage, request, address, wide, is_read)
            bank = banks + place_of(address) * (s.BANK_WORDS * 8)
            store(bank, 1, load(bank, 1) + 1)
            if timed:
                arrival = load(request, s.LOG_TIME) + there
                start = max(arrival, load(bank, 0))
                done = start + busy
                store(bank, 0, done)
                bank_wait += start - arrival
                calendar = returns + link_of(address) * 8
                slot = book(calendar, blocks, links, done, cycle, is_read)
                if slot < 0:
                    record(service + s.SERVICE_ERROR * 8, s.CALENDAR_FULL, s.READ, blocks, ae, 0, cycle)
                    slot = done
                slot = slot if is_read != 0 else done
                return_wait += slot - done
                store(request, s.LOG_TIME, slot + back)
        request += s.LOG_WORDS * 8
    store(batch, s.BATCH_SERVED, ((request - batch) >> s.LOG_SHIFT) - s.LINE_WORDS // s.LOG_WORDS)
    if timed:
        store(service, s.SERVICE_BANK_WAIT, load(service, s.SERVICE_BANK_WAIT) + bank_wait)
        store(service, s.SERVICE_RETURN_WAIT, load(service, s.SERVICE_RETURN_WAIT) + return_wait)


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
    service = load(context, s.CTX_SERVICE)
    while True:
        now = s.NEVER
        for ae in range(engines):
            now = min(now, _oldest(batch_of(context, s.CTX_SERVED, ae)))
        if now == s.NEVER:
            return
        if timed and load(service, s.SERVICE_BLOCK) != now >> 6:
            returns, blocks = load(context, s.CTX_RETURNS), load(context, s.CTX_RETURN_BLOCKS)
            pass_blocks(returns, blocks, engines * LINKS, load(service, s.SERVICE_BLOCK), now >> 6)
            store(service, s.SERVICE_BLOCK, now >> 6)
        ae = now % engines
        for _ in range(engines):
            batch = batch_of(context, s.CTX_SERVED, ae)
            _serve_engine(context, ae, batch, now, timed)
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
