// Requests on their way: their stamps, queues, batches and rings; and the first error of what handles them.
#pragma once

#include "base.h"
#include "layout.h"

namespace cyscc::memory {

// Bits of a request's stamp, above those of port and kind.
inline constexpr int64_t kFlushed = 2 * kMaxPorts, kArrayBit = 7;

CYSCC_INLINE int64_t cycle_of(const Request& request) { return request.when >> 16; }
CYSCC_INLINE int64_t port_of(const Request& request) { return request.when >> 1 & (kMaxPorts - 1); }
CYSCC_INLINE bool is_flush(const Request& request) { return (request.when & kFlushed) != 0; }
CYSCC_INLINE int64_t kind_of(const Request& request) { return is_flush(request) ? kFlush : request.when & 1; }
CYSCC_INLINE int64_t array_of(const Request& request) { return request.when >> kArrayBit & 63; }

// Place of a request of a batch, given by its number in the order of acceptance.
CYSCC_INLINE int64_t place_of(const Batch& batch, int64_t number, int64_t parts) {
    return parts == 1 ? number : batch.order[number];
}

CYSCC_INLINE void empty(Batch& batch, int64_t parts) {
    batch.count = 0;
    for (int64_t part = 0; part < parts; ++part) batch.queues[part].count = batch.queues[part].served = 0;
}

// Adds 1 to the numbers of the ports of a mask.
CYSCC_INLINE void add(uint32_t* numbers, int64_t mask) {
    for (int64_t port = 0; port < kPorts; ++port) numbers[port] += uint32_t(mask) >> port & 1;
}

// The mask of the ports whose number is at least another.
CYSCC_INLINE int64_t at_least(const uint32_t* numbers, int64_t least) {
    int64_t mask = 0;
#if defined(__AVX512F__)
    const __m512i bound = _mm512_set1_epi32(int(least));
    for (int64_t port = 0; port < kPorts; port += 16) {
        mask |= int64_t(_mm512_cmpge_epu32_mask(_mm512_loadu_si512(numbers + port), bound)) << port;
    }
#else
    // Hardly ever is any, and the highest is found by vectors.
    uint32_t highest = 0;
    for (int64_t port = 0; port < kPorts; ++port) highest = std::max(highest, numbers[port]);
    if (rarely(highest >= uint32_t(least))) {
        for (int64_t port = 0; port < kPorts; ++port) mask |= int64_t(numbers[port] >= uint32_t(least)) << port;
    }
#endif
    return mask;
}

CYSCC_INLINE bool full(const Ring& ring) { return ring.tail - ring.head > ring.mask; }
CYSCC_INLINE int64_t oldest(const Ring& ring) { return ring.head & ring.mask; }
CYSCC_INLINE int64_t push(Ring& ring) { return ring.tail++ & ring.mask; }

// Records an error unless there is one already.
CYSCC_RARE inline void note(Error& error, int64_t code, int64_t kind, int64_t value, int64_t ae, int64_t port,
                            int64_t cycle) {
    if (error.code == 0) error = {code, kind, value, ae, port, cycle};
}

}  // namespace cyscc::memory
