// Profile `stress`; see sim/memory/profiles/stress.py.
#pragma once

#include "profiles/profile.h"

namespace cyscc::memory {

// The splitmix64 hash of a word.
CYSCC_INLINE uint64_t mix(uint64_t word) {
    word += 0x9E3779B97F4A7C15;
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9;
    word = (word ^ word >> 27) * 0x94D049BB133111EB;
    return word ^ word >> 31;
}

// The key of one sequence of random words.
CYSCC_INLINE uint64_t stream(int64_t seed, int64_t ae, int64_t port, int64_t purpose) {
    return mix(mix(uint64_t(seed)) + uint64_t(purpose << 16 | ae << 8 | port));
}

// Word number `index` of a sequence.
CYSCC_INLINE uint64_t draw(uint64_t key, int64_t index) { return mix(key + uint64_t(index) * 0x5851F42D4C957F2D); }

template <class Self>
struct Stress : Profile<Self> {
    enum { kLatencies, kStalls };

    // The random word of a port's next access.
    CYSCC_INLINE static uint64_t latency_word(const Parameters& p, Side& side, int64_t port) {
        return draw(stream(p.seed, side.number, port, kLatencies), side.own.serial[port]++);
    }
    CYSCC_INLINE static int64_t read_back(const Parameters& p, Side& side, int64_t port, const Request& request) {
        const uint64_t word = latency_word(p, side, port), part = word >> 8 & 0xFFFFFFFF;
        return cycle_of(request) + int64_t((word & 3) != 3 ? 70 + part % 131 : 700 + part % 301);
    }
    CYSCC_INLINE static int64_t written(const Parameters& p, Side& side, int64_t port, const Request& request) {
        return cycle_of(request) + 50 + int64_t((latency_word(p, side, port) >> 8 & 0xFFFFFFFF) % 201);
    }
    CYSCC_INLINE static int64_t flushed(const Parameters&, int64_t now) { return now + 4; }
    // Each bit is the AND of fair random bits.
    CYSCC_INLINE static Stalled stalled(const Parameters& p, const Side& side, int64_t cycle) {
        uint64_t key = stream(p.seed, side.number, 0, kStalls);
        const uint64_t single = draw(key, 3 * cycle) & draw(key, 3 * cycle + 1) & draw(key, 3 * cycle + 2);
        key = stream(p.seed, side.number, 1, kStalls);
        const int64_t first = 4 * (cycle >> 3);
        const uint64_t runs = draw(key, first) & draw(key, first + 1) & draw(key, first + 2) & draw(key, first + 3);
        const uint64_t stalls = single | runs;
        return {int64_t(stalls & 0xFFFFFFFF), int64_t(stalls >> 32)};
    }
    CYSCC_INLINE static bool restless(const Parameters&, const Side&, int64_t) { return true; }
};

}  // namespace cyscc::memory
