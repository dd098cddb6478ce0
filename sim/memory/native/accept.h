// Acceptance: an AE's requests of a cycle are checked, enter the crossbar and are logged.
//
// All code here accesses only the side, the mailbox and the batch of one AE, so AEs may run in parallel threads.
#pragma once

#include "record.h"
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

// Two bits for each port.
using PlaceBits = std::conditional_t<kPorts <= 16, uint32_t, uint64_t>;

// The word with bit p of a mask at bit 2p.
CYSCC_INLINE uint64_t spread(uint64_t mask) {
    if (kFastBits) return placed_bits(mask, 0x5555555555555555);
    mask = (mask | mask << 16) & 0x0000FFFF0000FFFF;
    mask = (mask | mask << 8) & 0x00FF00FF00FF00FF;
    mask = (mask | mask << 4) & 0x0F0F0F0F0F0F0F0F;
    mask = (mask | mask << 2) & 0x3333333333333333;
    return (mask | mask << 1) & 0x5555555555555555;
}

// Requests of a cycle, each of a kind and port at bit 2 * port + kind, so rotated that port `first` is in bit 0. The
// order is that of any number of ports.
CYSCC_INLINE PlaceBits rotated(uint64_t reads, uint64_t writes, int64_t first) {
    return std::rotr(PlaceBits(spread(reads) | spread(writes) << 1), int(2 * first));
}

// What is at a bit of that: port and kind.
CYSCC_INLINE int64_t place_at(int64_t bit, int64_t first) {
    return (bit + 2 * first) & (std::numeric_limits<PlaceBits>::digits - 1);
}

// The first `room` bits of a mask of requests; refuses the others.
CYSCC_RARE inline uint64_t without_excess(Side& side, uint64_t waiting, int64_t room, int64_t first, int64_t depth,
                                          int64_t cycle) {
    uint64_t excess = waiting;
    for (; room > 0 && excess; --room) excess &= excess - 1;
    if (excess) {
        const int64_t place = place_at(trailing_zeros(int64_t(excess)), first);
        note(side.error, Code::LOG_FULL, place & 1, depth, side.number, place >> 1, cycle);
    }
    return waiting ^ excess;
}

// Appends flushes to a batch, after all other requests of the cycle: only their order per port matters. They touch
// nothing that is divided, and are in the first queue.
CYSCC_RARE inline void log_flushes(const Context& context, Side& side, Batch& batch, int64_t flushes, int64_t first,
                                   int64_t cycle) {
    for (PlaceBits waiting = rotated(uint64_t(flushes), 0, first); waiting; waiting &= waiting - 1) {
        const int64_t port = place_at(std::countr_zero(waiting), first) >> 1;
        if (batch.count >= context.batch_depth) {
            note(side.error, Code::LOG_FULL, kFlush, context.batch_depth, side.number, port, cycle);
            return;
        }
        Queue& queue = batch.queues[0];
        Request& request = queue.requests[queue.count];
        request.when = cycle << 16 | kFlushed | port << 1;
        request.payload = 0;
        if (context.parts != 1) batch.order[batch.count] = queue.count;
        ++queue.count;
        ++batch.count;
    }
}

// Logs the requests of a batch from one on when they are accepted, if that is asked for.
CYSCC_RARE inline void log_entries(const Context& context, const Side& side, const Batch& batch, int64_t number) {
    AccessLog& log = context.access_logs[side.number];
    for (; log.following != 0 && number < batch.count; ++number) {
        Request request = batch.queues[0].requests[place_of(batch, number, context.parts)];
        const int64_t cycle = cycle_of(request);
        if (cycle < log.first || cycle >= log.end) return;
        request.time += cycle;
        if (log.entries < log.capacity) log.entered[log.entries] = request;
        ++log.entries;
    }
}

// Records the requests of a batch from one on: those of each link, and how long they wait for it.
template <bool kDivided>
inline void record_entries(Context& context, Side& side, const Batch& batch, int64_t number, int64_t cycle) {
    EngineRecord& record = context.engine_records[side.number];
    if (cycle >= record.port_end) start_port_row(context, side.number, cycle);
    int64_t* const links = record.links + (record.port_row & record.last) * 2 * context.links_of_engine;
    // Copies, which no store through a pointer changes.
    const Parameters rules = context.rules;
    const int64_t address_mask = context.address_mask, count = batch.count;
    const Request* const requests = batch.queues[0].requests;
    const int64_t* const order = batch.order;
    for (; number < count; ++number) {
        const Request& request = requests[kDivided ? order[number] : number];
        int64_t link = Rules::link_of(rules, request.payload & address_mask);
        if constexpr (Rules::kOutside) {
            link = checked_place(side.error, link, context.links_of_engine, side.number, cycle);
        }
        links[2 * link + (request.when & 1)] += (int64_t(1) << kRequests) + request.time;
    }
}

// Logs an AE's requests by port, in one queue or in several; the first port advances by one each cycle.
template <bool kDivided>
CYSCC_INLINE void take(Context& context, Side& side, const Mailbox& box, int64_t cycle) {
    if (!checked(side, box, cycle)) return;
    const Parameters rules = context.rules;
    // Those of writes follow those of reads.
    const char* const ports = reinterpret_cast<const char*>(&box) + offsetof(Mailbox, read_payloads);
    const auto* const payloads = reinterpret_cast<const int64_t*>(ports);
    const int64_t address_mask = context.address_mask, depth = context.batch_depth, part_shift = context.part_shift;
    const int64_t* const storage = context.storage;
    Batch& batch = side.batches[context.accepted];
    Queue* const queues = batch.queues;
    const int64_t before = batch.count;
    const int64_t first = int64_t(uint64_t(cycle) % kPorts);
    PlaceBits waiting = rotated(uint64_t(box.requests[kRead]), uint64_t(box.requests[kWrite]), first);
    if (rarely(depth - before < 2 * kPorts)) {
        waiting = PlaceBits(without_excess(side, waiting, depth - before, first, depth, cycle));
    }
    Rules::before_entries(rules, side, cycle);
    batch.count += std::popcount(waiting);
    // Where the next requests go.
    std::array<Request*, kDivided ? kMaxParts : 1> ends;
    const auto parts = std::span(queues, size_t(kDivided ? context.parts : 1));
    for (size_t part = 0; part < parts.size(); ++part) ends[part] = parts[part].requests + parts[part].count;
    int64_t* order = batch.order + before;
    int64_t waited = 0;
    for (; waiting; waiting &= waiting - 1) {
        const int64_t at = place_at(std::countr_zero(waiting), first), kind = at & 1, port = at >> 1;
        const int64_t payload = payloads[kind * kMaxPorts + port], address = payload & address_mask;
        Request*& end = ends[kDivided ? size_t(Rules::division_of(rules, address) >> part_shift) : 0];
        Request& request = *end++;
        if constexpr (kDivided) *order++ = &request - queues[0].requests;
        prefetch(storage, address);
        // How far ahead, since that is known to be no less than 0 if a link is free soon.
        int64_t ahead = Rules::enter(rules, side, port, kind, address, cycle) - cycle;
        if (rarely(ahead < (Rules::kOutside ? -cycle : 0))) {
            note(side.error, Code::OVERBOOKED, kind, cycle + ahead, side.number, port, cycle);
            ahead = 0;
        }
        request = {cycle << 16 | at, payload, {box.write_data[port]}, ahead};
        waited += ahead;
    }
    add(side.in_flight, box.requests[kRead]);
    add(side.in_flight + kMaxPorts, box.requests[kWrite]);
    Rules::after_entries(rules, side);
    for (size_t part = 0; part < parts.size(); ++part) parts[part].count = ends[part] - parts[part].requests;
    side.entering += waited;
    if (rarely(context.kept == Kept::LOG)) log_entries(context, side, batch, before);
    if (rarely(context.kept == Kept::RECORD)) record_entries<kDivided>(context, side, batch, before, cycle);
    if (rarely(box.requests[kFlush] != 0)) log_flushes(context, side, batch, box.requests[kFlush], first, cycle);
}

// Takes an AE's requests of a cycle from its mailbox; see `Memory.accept`.
CYSCC_INLINE void accept(Context& context, int64_t ae, int64_t cycle) {
    Mailbox& box = context.mailboxes[ae];
    if ((box.requests[kRead] | box.requests[kWrite] | box.requests[kFlush]) == 0) return;
    (context.parts == 1 ? take<false> : take<true>)(context, context.sides[ae], box, cycle);
    for (int64_t kind = 0; kind <= kFlush; ++kind) box.requests[kind] = 0;
}

}  // namespace cyscc::memory
