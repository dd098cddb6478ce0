// Acceptance: an AE's requests of a cycle are checked, enter the crossbar and are logged.
//
// All code here accesses only the side, the mailbox and the batch of one AE, so AEs may run in parallel threads.
#pragma once

#include "requests.h"
#include "rules.h"

namespace cyscc::memory {

// Whether the masks only have the AE's ports; refuses requests to ports that are not ready.
CYSCC_RARE inline bool refuse(Side& side, const Mailbox& box, int64_t cycle) {
    bool malformed = false;
    for (int64_t kind = 0; kind <= kFlush; ++kind) {
        if (uint64_t(box.requests[kind]) >> side.width == 0) continue;
        note(side.error, Code::MALFORMED, kind, box.requests[kind], side.number, 0, cycle);
        malformed = true;
    }
    if (malformed) return false;
    const int64_t ready[] = {box.read_ready, box.write_ready};
    for (int64_t kind = kRead; kind <= kWrite; ++kind) {
        const int64_t early = box.requests[kind] & ~ready[kind];
        if (early) note(side.error, Code::NOT_READY, kind, 0, side.number, trailing_zeros(early), cycle);
    }
    return true;
}

CYSCC_INLINE bool checked(Side& side, const Mailbox& box, int64_t cycle) {
    const int64_t every = (int64_t(1) << kPorts) - 1;
    const int64_t reads = box.requests[kRead], writes = box.requests[kWrite];
    const int64_t wrong =
        ((reads | writes | box.requests[kFlush]) & ~every) | (reads & ~box.read_ready) | (writes & ~box.write_ready);
    return rarely(wrong != 0) ? refuse(side, box, cycle) : true;
}

// Rotates a mask of `kMaxPorts` ports so that port `first` is in bit 0; the order is that of any fewer ports.
CYSCC_INLINE uint32_t rotated(int64_t mask, int64_t first) { return std::rotr(uint32_t(mask), int(first)); }

// The word with bit p of a mask at bit 2p.
CYSCC_INLINE uint64_t spread(uint64_t mask) {
    mask = (mask | mask << 16) & 0x0000FFFF0000FFFF;
    mask = (mask | mask << 8) & 0x00FF00FF00FF00FF;
    mask = (mask | mask << 4) & 0x0F0F0F0F0F0F0F0F;
    mask = (mask | mask << 2) & 0x3333333333333333;
    return (mask | mask << 1) & 0x5555555555555555;
}

// The port at a bit of a rotated mask.
CYSCC_INLINE int64_t port_at(int64_t place, int64_t first) { return (place + first) & (kMaxPorts - 1); }

// The first `room` bits of a mask of requests; refuses the others.
CYSCC_RARE inline uint64_t without_excess(Side& side, uint64_t waiting, int64_t room, int64_t first, int64_t depth,
                                          int64_t cycle) {
    uint64_t excess = waiting;
    for (; room > 0 && excess; --room) excess &= excess - 1;
    if (excess) {
        const int64_t place = trailing_zeros(int64_t(excess));
        note(side.error, Code::LOG_FULL, place & 1, depth, side.number, port_at(place >> 1, first), cycle);
    }
    return waiting ^ excess;
}

// Appends flushes to a batch, after all other requests of the cycle: only their order per port matters. They touch
// nothing that is divided, and are in the first queue.
CYSCC_RARE inline void log_flushes(const Context& context, Side& side, Batch& batch, uint32_t flushes, int64_t first,
                                   int64_t cycle) {
    for (; flushes; flushes &= flushes - 1) {
        const int64_t port = port_at(std::countr_zero(flushes), first);
        if (batch.count >= context.batch_depth) {
            note(side.error, Code::LOG_FULL, kFlush, context.batch_depth, side.number, port, cycle);
            return;
        }
        Queue& queue = batch.queues[0];
        Request& request = queue.requests[queue.count];
        request.when = stamp(cycle, port, kFlush);
        request.payload = 0;
        if (context.parts != 1) batch.order[batch.count] = queue.count;
        ++queue.count;
        ++batch.count;
    }
}

// Logs a request when it is accepted, if that is asked for.
CYSCC_RARE inline void log_entry(AccessLog& log, const Request& request) {
    if (log.following == 0 || cycle_of(request) < log.first || cycle_of(request) >= log.end) return;
    if (log.entries < log.capacity) log.entered[log.entries] = request;
    ++log.entries;
}

// Logs an AE's requests by port; the first port advances by one each cycle.
CYSCC_INLINE void take(Context& context, Side& side, const Mailbox& box, int64_t cycle) {
    if (!checked(side, box, cycle)) return;
    const Parameters& rules = context.rules;
    const int64_t address_mask = context.address_mask, parts = context.parts, depth = context.batch_depth;
    const int64_t* const storage = context.storage;
    Batch& batch = side.batches[context.accepted];
    Queue* const queues = batch.queues;
    Request* const requests = queues[0].requests;
    const int64_t before = batch.count;
    int64_t count = before;
    const int64_t first = cycle % kPorts;
    uint64_t waiting = spread(rotated(box.requests[kRead], first)) | spread(rotated(box.requests[kWrite], first)) << 1;
    const uint32_t flushes = rotated(box.requests[kFlush], first);
    if (rarely(depth - count < 2 * kPorts)) {
        waiting = without_excess(side, waiting, depth - count, first, depth, cycle);
    }
    Rules::before_entries(rules, side, cycle);
    int64_t latest = side.latest_entry, entries = 0;
    for (; waiting; waiting &= waiting - 1) {
        const int64_t next = trailing_zeros(int64_t(waiting)), kind = next & 1, port = port_at(next >> 1, first);
        const int64_t payload = (kind ? box.write_payloads : box.read_payloads)[port], address = payload & address_mask;
        int64_t place = count;
        if (parts != 1) {
            const int64_t part = Rules::division_of(rules, address) >> context.part_shift;
            place = part * context.queue_places + queues[part].count++;
            batch.order[count] = place;
        }
        prefetch(storage, address >> 3);
        ++side.in_flight[kind * kMaxPorts + port];
        int64_t entry = Rules::enter(rules, side, port, kind, address, cycle);
        if (rarely(entry < 0)) {
            note(side.error, Code::OVERBOOKED, kind, entry, side.number, port, cycle);
            entry = cycle;
        }
        requests[place] = {stamp(cycle, port, kind), payload, {box.write_data[port]}, entry};
        if (rarely(context.kept == Kept::LOG)) log_entry(context.access_logs[side.number], requests[place]);
        latest = std::max(latest, entry);
        entries += entry;
        ++count;
    }
    batch.count = count;
    if (parts == 1) queues[0].count = count;
    side.latest_entry = latest;
    side.entering += entries - (count - before) * cycle;
    if (rarely(flushes != 0)) log_flushes(context, side, batch, flushes, first, cycle);
}

// Takes an AE's requests of a cycle from its mailbox; see `Memory.accept`.
CYSCC_INLINE void accept(Context& context, int64_t ae, int64_t cycle) {
    Mailbox& box = context.mailboxes[ae];
    if ((box.requests[kRead] | box.requests[kWrite] | box.requests[kFlush]) == 0) return;
    take(context, context.sides[ae], box, cycle);
    for (int64_t kind = 0; kind <= kFlush; ++kind) box.requests[kind] = 0;
}

}  // namespace cyscc::memory
