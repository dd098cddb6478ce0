// The record over time, by the interval in which a request was accepted; see sim/memory/recording.py.
#pragma once

#include <atomic>

#include "requests.h"

namespace cyscc::memory {

inline constexpr int64_t kWaited = (int64_t(1) << kAccesses) - 1;
inline constexpr int64_t kCount = (int64_t(1) << (64 - kAccesses)) - 1;

// Third-highest bit of each field of a packed count. While these are clear, a sum over all arrays fits, and one more
// access sets no higher bit, since no bank can be booked 2**38 cycles ahead (half an hour of the machine).
inline constexpr int64_t kAlmostFull = int64_t(1) << (kAccesses - 3) | int64_t(1) << 61;

// Records an access that a packed count cannot hold, and flushes that count.
CYSCC_RARE inline void record_apart(ServiceRecord& record, int64_t place, int64_t bank) {
    const int64_t words = record.word_mask + 1, word = place & record.word_mask;
    // Sums of packed counts wrap around; their difference is right.
    uint64_t since = -uint64_t(record.before[word]);
    for (int64_t kind = 0; kind < kKinds; ++kind) since += uint64_t(record.counts[kind * words + word]);
    const int64_t count = record.counts[place];
    record.before[word] = int64_t(uint64_t(record.before[word]) + since - uint64_t(count));
    record.counts[place] = 0;
    record.totals[2 * place] += (count >> kAccesses) + 1;
    record.totals[2 * place + 1] += (count & kWaited) + bank;
    const int64_t row = record.row & record.last;
    record.more[2 * (row * words + word)] += int64_t(since >> kAccesses & kCount) + 1;
    record.more[2 * (row * words + word) + 1] += int64_t(since & kWaited) + bank;
    // The parts of the service share it.
    std::atomic_ref(record.filled[row]).fetch_or(2, std::memory_order_relaxed);
}

// The kind of the last allocation that begins at or before an address; there is one.
CYSCC_RARE inline int64_t kind_among(const Places& places, int64_t address) {
    const int64_t* const after = std::upper_bound(places.starts + 1, places.starts + places.allocations, address);
    return places.kinds[after - places.starts - 1];
}

// The index of a link or word that a user's rules answered; refuses one that does not exist.
CYSCC_RARE inline int64_t checked_place(Error& error, int64_t place, int64_t count, int64_t ae, int64_t cycle) {
    if (0 <= place && place < count) return place;
    note(error, Code::PLACE, 0, place, ae, 0, cycle);
    return 0;
}

// What a part of the service counts in during an interval, copied, so that it stays in registers.
struct Counting {
    ServiceRecord* record = nullptr;
    const Places* places = nullptr;
    const uint8_t* blocks = nullptr;
    int64_t* counts = nullptr;
    int64_t shift = 0, word_mask = 0, word_bits = 0;

    Counting() = default;
    explicit Counting(const Context& context)
        : record(context.service_record),
          places(context.places),
          blocks(places->blocks),
          counts(record->counts),
          shift(places->shift),
          word_mask(record->word_mask),
          word_bits(std::popcount(uint64_t(word_mask))) {}

    // The kind of the array at an address.
    CYSCC_INLINE int64_t kind_at(int64_t address) const {
        const int64_t kind = blocks[address >> shift];
        return rarely(kind == kSeveral) ? kind_among(*places, address) : kind;
    }

    // Counts an access to a word, or to the index that the profile counts instead, that waited for its bank.
    CYSCC_INLINE void count(int64_t kind, int64_t word, int64_t waited) const {
        const int64_t place = kind << word_bits | word;
        const int64_t sum = counts[place] + waited + (int64_t(1) << kAccesses);
        if (rarely((sum & kAlmostFull) != 0)) {
            record_apart(*record, place, waited);
        } else {
            counts[place] = sum;
        }
    }
};

// Advances to the interval of a cycle.
template <class Record>
CYSCC_INLINE void start_row(const Context& context, Record& record, int64_t cycle) {
    record.row = cycle / context.interval;
    record.end = (record.row + 1) * context.interval;
}

// Completes the current interval of banks, and advances to that of a cycle.
inline void start_service_row(const Context& context, ServiceRecord& record, int64_t cycle) {
    const int64_t words = record.word_mask + 1;
    // Without signs, since sums of packed counts wrap around.
    const auto packed = [](int64_t* counts) { return reinterpret_cast<uint64_t*>(counts); };
    uint64_t* const since = packed(record.since + (record.row & record.last) * words);
    uint64_t* const before = packed(record.before);
    // Words in the inner loops, so that they vectorize.
    for (int64_t word = 0; word < words; ++word) since[word] = -before[word];
    for (int64_t kind = 0; kind < kKinds; ++kind) {
        const uint64_t* const counts = packed(record.counts + kind * words);
        for (int64_t word = 0; word < words; ++word) since[word] += counts[word];
    }
    for (int64_t word = 0; word < words; ++word) before[word] += since[word];
    record.filled[record.row & record.last] |= 1;
    start_row(context, record, cycle);
}

// Completes the current interval at an AE's ports, and advances to that of a cycle.
CYSCC_RARE inline void start_port_row(const Context& context, int64_t ae, int64_t cycle) {
    const Side& side = context.sides[ae];
    EngineRecord& record = context.engine_records[ae];
    int64_t* const row = record.engines + (record.port_row & record.last) * kEngineWords + 1;
    for (int64_t kind = 0; kind < 2; ++kind) {
        int64_t stalls = 0;
        for (int64_t port = 0; port < side.width; ++port) stalls += side.stalls[kind * kMaxPorts + port];
        row[kind] += stalls - record.stalls[kind];
        record.stalls[kind] = stalls;
    }
    const int64_t links = 2 * context.links_of_engine;
    const int64_t* const passed = record.links + (record.port_row & record.last) * links;
    for (int64_t link = 0; link < links; ++link) record.requests[link] += int64_t(uint64_t(passed[link]) >> kRequests);
    record.port_row = cycle / context.interval;
    record.port_end = (record.port_row + 1) * context.interval;
}

// Completes all intervals that end before a cycle; everything before it is delivered.
CYSCC_RARE inline void record_until(Context& context, int64_t cycle) {
    ServiceRecord& service = *context.service_record;
    if (cycle >= service.end) start_service_row(context, service, cycle);
    for (int64_t ae = 0; ae < context.engines; ++ae) {
        EngineRecord& record = context.engine_records[ae];
        if (cycle >= record.end) start_row(context, record, cycle);
        if (cycle >= record.port_end) start_port_row(context, ae, cycle);
    }
    context.recorded = cycle;
}

}  // namespace cyscc::memory
