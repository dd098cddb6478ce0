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

// Requests of an AE in one cycle, at most.
inline constexpr int64_t kAtOnce = 3 * kMaxPorts;

// The requests of an AE that are still to be performed. What lies at the end is of a later cycle than any.
struct Waiting {
    Request* next;
    Request* end;
    // With a record, how long each performed since `first` waited for its bank, as long as there are few.
    Request* first;
    int64_t banks[2 * kAtOnce];
};

// Counts the requests of an AE that were performed last, all at once: that leaves their service its registers.
inline void count_served(const Context& context, Service& service, const Counting counting, int64_t ae,
                         Waiting& waiting) {
    const Parameters rules = context.rules;
    const int64_t address_mask = context.address_mask;
    const int64_t* bank = waiting.banks;
    Request* const end = waiting.next;
    for (Request* each = waiting.first; each != end; ++each, ++bank) {
        const int64_t address = each->payload & address_mask;
        // A flush, or what stops the run.
        if (rarely(address < kBaseAddress)) continue;
        const int64_t kind = counting.kind_at(address);
        int64_t word = Rules::place_of(rules, address, counting.word_mask);
        if constexpr (Rules::kOutside) {
            word = checked_place(service.error, word, counting.word_mask + 1, ae, cycle_of(*each));
        }
        each->when |= kind << kArrayBit;
        counting.count(kind, word, *bank);
    }
    waiting.first = end;
}

// Performs an AE's requests of one cycle and part.
template <bool kRecorded>
CYSCC_INLINE void serve_engine(const Context& context, const Parameters& rules, Service& service, Shared& shared,
                               int64_t& waited, int64_t ae, Waiting& waiting, int64_t cycle) {
    int64_t* const storage = context.storage;
    const int64_t four_bit = context.size_bit - 2, address_mask = context.address_mask;
    const auto room = uint64_t(std::max<int64_t>(context.top - kBaseAddress - 7, 0));
    const bool divided = context.parts != 1;
    const int64_t after = (cycle + 1) << 16;
    Request* next = waiting.next;
    int64_t* bank = waiting.banks + (next - waiting.first);
    for (; next->when < after; ++next, ++bank) {
        Request& request = *next;
        // Acceptance has prefetched the word, but for another thread's core.
        if (divided) prefetch(storage, std::min(&request + kAhead, waiting.end - 1)->payload & address_mask);
        int64_t address = request.payload & address_mask;
        const int64_t four = request.payload >> four_bit & 4, is_read = ~request.when & 1;
        // A flush has no address, and the last 4 bytes may be valid.
        const bool doubtful = uint64_t(address - kBaseAddress) >= room || (address & (four | 3)) != 0;
        if (rarely(doubtful) && is_flush(request)) continue;
        if (rarely(doubtful) && !valid(context, service, request, ae)) {
            // It continues with address 0, and reads 0.
            request.data[0] = 0;
            request.payload &= ~address_mask;
        } else {
            access(storage, request, address, four, is_read);
        }
        const int64_t entered = cycle + request.time, earlier = Rules::bank_waits(rules, shared);
        int64_t back = Rules::serve(rules, shared, ae, address, is_read, entered, cycle);
        if constexpr (kRecorded) *bank = Rules::bank_waits(rules, shared) - earlier;
        if (rarely(back < 0)) {
            note(service.error, Code::OVERBOOKED, kind_of(request) + 4, back, ae, port_of(request), cycle);
            back = entered;
        }
        waited += back - entered;
        request.time = back;
    }
    waiting.next = next;
}

// Performs the requests of a part of a round that were accepted before a cycle; returns when the next one was.
template <bool kRecorded>
CYSCC_INLINE int64_t serve_part(Context& context, int64_t part, int64_t before) {
    Waiting waiting[kEngines];
    int64_t now = kNever, last = -1;
    for (int64_t ae = 0; ae < kEngines; ++ae) {
        Queue& queue = context.sides[ae].batches[context.served].queues[part];
        Request* const begin = queue.requests + queue.served;
        Request* const end = queue.requests + queue.count;
        waiting[ae].next = waiting[ae].first = begin;
        waiting[ae].end = end;
        end->when = std::numeric_limits<int64_t>::max();
        if (begin == end) continue;
        now = std::min(now, cycle_of(*begin));
        last = std::max(last, cycle_of(end[-1]));
    }
    Service& service = context.services[part];
    const Parameters rules = context.rules;
    const Counting counting = kRecorded ? Counting(context) : Counting();
    // A copy, which no store through a pointer changes, stays in registers.
    constexpr bool kCopied = !Rules::kOutside;
    Shared copy;
    if constexpr (kCopied) copy = service.shared;
    Shared& shared = kCopied ? copy : service.shared;
    int64_t waited = 0;
    for (const int64_t stop = std::min(last + 1, before); now < stop; ++now) {
        Rules::before_service(rules, shared, now);
        for (int64_t n = 0; n < kEngines; ++n) {
            const auto ae = int64_t(uint64_t(now + n) % kEngines);
            serve_engine<kRecorded>(context, rules, service, shared, waited, ae, waiting[ae], now);
            if constexpr (kRecorded) {
                if (waiting[ae].next - waiting[ae].first > kAtOnce) {
                    count_served(context, service, counting, ae, waiting[ae]);
                }
            }
        }
    }
    if constexpr (kCopied) service.shared = copy;
    service.waited += waited;
    int64_t next = kNever;
    for (int64_t ae = 0; ae < kEngines; ++ae) {
        if constexpr (kRecorded) count_served(context, service, counting, ae, waiting[ae]);
        Queue& queue = context.sides[ae].batches[context.served].queues[part];
        queue.served = waiting[ae].next - queue.requests;
        if (queue.served != queue.count) next = std::min(next, cycle_of(*waiting[ae].next));
    }
    return next;
}

// Performs the requests of a part of a round, see `Memory.serve`; with a record those of the current interval: the parts
// share its rows, so the next one begins when all are done. Returns when the next request was accepted.
inline int64_t serve(Context& context, int64_t part) {
    if (context.kept != Kept::RECORD) return serve_part<false>(context, part, kNever);
    return serve_part<true>(context, part, context.service_record->end);
}

// Performs all requests of a round that are left.
inline void serve_all(Context& context) {
    for (;;) {
        int64_t next = kNever;
        for (int64_t part = 0; part < context.parts; ++part) next = std::min(next, serve(context, part));
        if (next == kNever) return;
        start_service_row(context, *context.service_record, next);
    }
}

}  // namespace cyscc::memory
