// Service of requests by banks and other resources that all AEs share.
//
// Requests are served in the order (cycle, AE, port), on one port reads before writes before flushes; the first AE and
// port rotate each cycle. In this order requests take effect, and reserve the shared resources that determine their
// time. If the profile divides the addresses into parts that share nothing, each part can be served by a thread of its
// own. The AE's own part of the timing is in deliver.h.
#pragma once

#include "record.h"
#include "rules.h"

namespace cyscc::memory {

// Requests of a queue whose words are prefetched ahead of the current one.
inline constexpr int64_t kAhead = 12;

// Records the error of an invalid access; a read returns 0, and the request continues with address 0.
CYSCC_RARE inline void refuse(const Context& context, Service& service, Request& request, int64_t ae, int64_t address,
                              int64_t wide) {
    const bool outside = address < kBaseAddress || address + 4 + 4 * wide > context.top;
    const int64_t kind = kind_of(request) + 4 * wide;
    note(service.error, outside ? Code::OUTSIDE : Code::MISALIGNED, kind, address, ae, port_of(request),
         cycle_of(request));
    request.data[0] = 0;
    request.payload &= ~context.address_mask;
}

// The index of a link or word that a user's rules answered; refuses one that does not exist.
CYSCC_RARE inline int64_t checked_place(Service& service, int64_t place, int64_t count, int64_t ae, int64_t cycle) {
    if (0 <= place && place < count) return place;
    note(service.error, Code::PLACE, 0, place, ae, 0, cycle);
    return 0;
}

// Performs the read or write of a request on the storage. A read also writes, but only its own data back: this costs
// less than an unpredictable branch.
CYSCC_INLINE void access(int64_t* storage, Request& request, int64_t address, int64_t wide, int64_t is_read) {
    const int64_t shift = (address & 4) << 3, mask = -wide | 0xFFFFFFFF;
    int64_t& stored = storage[address >> 3];
    const int64_t word = stored;
    const int64_t written = (word & ~(mask << shift)) | (request.data[0] & mask) << shift;
    int64_t& place = is_read ? request.data[0] : stored;
    place = is_read ? int64_t(uint64_t(word) >> shift) & mask : written;
}

// Performs an AE's requests of one cycle and part, and returns their number.
template <bool kRecorded>
CYSCC_INLINE int64_t serve_engine(Context& context, Service& service, int64_t ae, Queue& queue, int64_t cycle) {
    const Parameters& rules = context.rules;
    int64_t* const storage = context.storage;
    Request* const requests = queue.requests;
    const int64_t top = context.top, size_bit = context.size_bit, address_mask = context.address_mask;
    ServiceRecord* const record = context.service_record;
    const int64_t links = kRecorded ? ((record->row & record->last) * kEngines + ae) * 2 * record->links_of_engine : 0;
    const bool divided = context.parts != 1;
    const int64_t first = queue.served, end = queue.count;
    int64_t index = first, waited = 0;
    for (; index != end; ++index) {
        Request& request = requests[index];
        if (cycle_of(request) != cycle) break;
        // Acceptance has prefetched the word, but for another thread's core.
        if (divided) prefetch(storage, (requests[std::min(index + kAhead, end - 1)].payload & address_mask) >> 3);
        if (rarely((request.when & kFlush) != 0)) continue;
        int64_t address = request.payload & address_mask;
        const int64_t wide = request.payload >> size_bit & 1, size = 4 + 4 * wide, is_read = ~request.when & 1;
        int64_t kind = Array::OTHER;
        if (rarely(address < kBaseAddress || address + size > top || (address & (size - 1)) != 0)) {
            refuse(context, service, request, ae, address, wide);
        } else {
            access(storage, request, address, wide, is_read);
            if constexpr (kRecorded) kind = kind_at(*context.places, address);
        }
        const int64_t entered = request.time, earlier = Rules::bank_waits(rules, service.shared);
        int64_t back = Rules::serve(rules, service.shared, ae, address, is_read, entered, cycle);
        if constexpr (kRecorded) {
            const int64_t bank = Rules::bank_waits(rules, service.shared) - earlier;
            int64_t link = Rules::link_of(rules, address), word = Rules::place_of(rules, address, record->word_mask);
            if constexpr (Rules::kOutside) {
                link = checked_place(service, link, record->links_of_engine, ae, cycle);
                word = checked_place(service, word, record->word_mask + 1, ae, cycle);
            }
            link += links + (is_read ^ 1) * record->links_of_engine;
            request.when |= kind << 2;
            record_service(*record, kind, word, bank, link, entered - cycle);
        }
        if (rarely(back < 0)) {
            note(service.error, Code::OVERBOOKED, kind_of(request) + 4, back, ae, port_of(request), cycle);
            back = entered;
        }
        waited += back - entered;
        request.time = back;
    }
    queue.served = index;
    service.waited += waited;
    return index - first;
}

// The cycle of a queue's oldest unserved request.
CYSCC_INLINE int64_t oldest(const Queue& queue) {
    return queue.served == queue.count ? kNever : cycle_of(queue.requests[queue.served]);
}

// Performs the requests of some parts of a round.
template <bool kRecorded>
CYSCC_INLINE void serve_parts(Context& context, int64_t first, int64_t stop) {
    Side* const sides = context.sides;
    Service* const services = context.services;
    int64_t now = kNever, left = 0;
    for (int64_t ae = 0; ae < kEngines; ++ae) {
        for (int64_t part = first; part < stop; ++part) {
            const Queue& queue = sides[ae].batches[context.served].queues[part];
            left += queue.count - queue.served;
            now = std::min(now, oldest(queue));
        }
    }
    for (; left != 0; ++now) {
        if constexpr (kRecorded) {
            if (now >= context.service_record->end) start_service_row(context, *context.service_record, now);
        }
        for (int64_t part = first; part < stop; ++part) {
            Rules::before_service(context.rules, services[part].shared, now);
            for (int64_t n = 0; n < kEngines; ++n) {
                const int64_t ae = (now + n) % kEngines;
                Queue& queue = sides[ae].batches[context.served].queues[part];
                left -= serve_engine<kRecorded>(context, services[part], ae, queue, now);
            }
        }
    }
}

// Performs the requests of a part of a round; see `Memory.serve`. With a record all parts as one: its rows are common
// to them.
inline void serve(Context& context, int64_t part) {
    if (context.kept != Kept::RECORD) {
        serve_parts<false>(context, part, part + 1);
    } else if (part == 0) {
        serve_parts<true>(context, 0, context.parts);
    }
}

}  // namespace cyscc::memory
