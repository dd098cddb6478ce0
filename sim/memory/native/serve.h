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

// Whether an access is valid; records the error if not.
CYSCC_RARE inline bool valid(const Context& context, Service& service, const Request& request, int64_t ae) {
    const int64_t address = request.payload & context.address_mask, wide = request.payload >> context.size_bit & 1;
    const bool outside = address < kBaseAddress || address + 4 + 4 * wide > context.top;
    if (!outside && (address & (3 + 4 * wide)) == 0) return true;
    note(service.error, outside ? Code::OUTSIDE : Code::MISALIGNED, kind_of(request) + 4 * wide, address, ae,
         port_of(request), cycle_of(request));
    return false;
}

// The index of a link or word that a user's rules answered; refuses one that does not exist.
CYSCC_RARE inline int64_t checked_place(Service& service, int64_t place, int64_t count, int64_t ae, int64_t cycle) {
    if (0 <= place && place < count) return place;
    note(service.error, Code::PLACE, 0, place, ae, 0, cycle);
    return 0;
}

// Performs the read or write of a request on the storage; `four` is 4 if it has 8 bytes, otherwise 0.
CYSCC_INLINE void access(int64_t* storage, Request& request, int64_t address, int64_t four, int64_t is_read) {
    const int64_t shift = (address & 4) << 3;
    int64_t& stored = storage[address >> 3];
    if (is_read) {
        const uint64_t data = uint64_t(stored) >> shift;
        request.data[0] = int64_t(four ? data : uint32_t(data));
    } else {
        const uint64_t mask = ~uint64_t(0) >> (32 - 8 * four);
        stored = int64_t((uint64_t(stored) & ~(mask << shift)) | (uint64_t(request.data[0]) & mask) << shift);
    }
}

// The requests of an AE that are still to be performed. What lies at the end is of a later cycle than any.
struct Waiting {
    Request* next;
    Request* end;
};

// Performs an AE's requests of one cycle and part.
template <bool kRecorded>
CYSCC_INLINE void serve_engine(const Context& context, const Parameters& rules, Service& service, Shared& shared,
                               int64_t& waited, int64_t ae, Waiting& waiting, int64_t cycle) {
    int64_t* const storage = context.storage;
    const int64_t four_bit = context.size_bit - 2, address_mask = context.address_mask;
    const auto room = uint64_t(std::max<int64_t>(context.top - kBaseAddress - 7, 0));
    ServiceRecord* const record = context.service_record;
    const int64_t links = kRecorded ? ((record->row & record->last) * kEngines + ae) * 2 * record->links_of_engine : 0;
    const bool divided = context.parts != 1;
    const int64_t after = (cycle + 1) << 16;
    Request* next = waiting.next;
    for (; next->when < after; ++next) {
        Request& request = *next;
        // Acceptance has prefetched the word, but for another thread's core.
        if (divided) prefetch(storage, std::min(&request + kAhead, waiting.end - 1)->payload & address_mask);
        int64_t address = request.payload & address_mask;
        const int64_t four = request.payload >> four_bit & 4, is_read = ~request.when & 1;
        int64_t kind = Array::OTHER;
        // A flush has no address, and the last 4 bytes may be valid.
        const bool doubtful = uint64_t(address - kBaseAddress) >= room || (address & (four | 3)) != 0;
        if (rarely(doubtful) && is_flush(request)) continue;
        if (rarely(doubtful) && !valid(context, service, request, ae)) {
            // It continues with address 0, and reads 0.
            request.data[0] = 0;
            request.payload &= ~address_mask;
        } else {
            access(storage, request, address, four, is_read);
            if constexpr (kRecorded) kind = kind_at(*context.places, address);
        }
        const int64_t entered = cycle + request.time, earlier = Rules::bank_waits(rules, shared);
        int64_t back = Rules::serve(rules, shared, ae, address, is_read, entered, cycle);
        if constexpr (kRecorded) {
            const int64_t bank = Rules::bank_waits(rules, shared) - earlier;
            int64_t link = Rules::link_of(rules, address), word = Rules::place_of(rules, address, record->word_mask);
            if constexpr (Rules::kOutside) {
                link = checked_place(service, link, record->links_of_engine, ae, cycle);
                word = checked_place(service, word, record->word_mask + 1, ae, cycle);
            }
            link += links + (is_read ^ 1) * record->links_of_engine;
            request.when |= kind << kArrayBit;
            record_service(*record, kind, word, bank, link, entered - cycle);
        }
        if (rarely(back < 0)) {
            note(service.error, Code::OVERBOOKED, kind_of(request) + 4, back, ae, port_of(request), cycle);
            back = entered;
        }
        waited += back - entered;
        request.time = back;
    }
    waiting.next = next;
}

// Performs the requests of some parts of a round.
template <bool kRecorded>
CYSCC_INLINE void serve_parts(Context& context, int64_t first, int64_t stop) {
    Waiting waiting[kRecorded ? kMaxParts : 1][kEngines];
    int64_t now = kNever, last = -1;
    for (int64_t ae = 0; ae < kEngines; ++ae) {
        for (int64_t part = first; part < stop; ++part) {
            Queue& queue = context.sides[ae].batches[context.served].queues[part];
            Request* const begin = queue.requests + queue.served;
            Request* const end = queue.requests + queue.count;
            waiting[part - first][ae] = {begin, end};
            end->when = std::numeric_limits<int64_t>::max();
            queue.served = queue.count;
            if (begin == end) continue;
            now = std::min(now, cycle_of(*begin));
            last = std::max(last, cycle_of(end[-1]));
        }
    }
    Service* const services = context.services;
    const Parameters rules = context.rules;
    // A copy, which no store through a pointer changes, stays in registers.
    constexpr bool kCopied = !kRecorded && !Rules::kOutside;
    Shared copy;
    if constexpr (kCopied) copy = services[first].shared;
    int64_t waited = 0;
    for (; now <= last; ++now) {
        if constexpr (kRecorded) {
            if (now >= context.service_record->end) start_service_row(context, *context.service_record, now);
        }
        for (int64_t part = first; part < stop; ++part) {
            Shared& shared = kCopied ? copy : services[part].shared;
            Rules::before_service(rules, shared, now);
            for (int64_t n = 0; n < kEngines; ++n) {
                const auto ae = int64_t(uint64_t(now + n) % kEngines);
                Waiting& own = waiting[kRecorded ? part : 0][ae];
                serve_engine<kRecorded>(context, rules, services[part], shared, waited, ae, own, now);
            }
        }
    }
    if constexpr (kCopied) services[first].shared = copy;
    services[first].waited += waited;
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
