// Requests on their way: their stamps, queues, batches and rings; and the first error of what handles them.
#pragma once

#include "base.h"
#include "layout.h"

namespace cyscc::memory {

CYSCC_INLINE int64_t cycle_of(const Request& request) { return request.when >> 16; }
CYSCC_INLINE int64_t port_of(const Request& request) { return request.when >> 8 & 255; }
CYSCC_INLINE int64_t kind_of(const Request& request) { return request.when & 3; }
CYSCC_INLINE int64_t array_of(const Request& request) { return request.when >> 2 & 63; }
CYSCC_INLINE int64_t stamp(int64_t cycle, int64_t port, int64_t kind) { return cycle << 16 | port << 8 | kind; }

// Place of a request of a batch, given by its number in the order of acceptance.
CYSCC_INLINE int64_t place_of(const Batch& batch, int64_t number, int64_t parts) {
    return parts == 1 ? number : batch.order[number];
}

CYSCC_INLINE void empty(Batch& batch, int64_t parts) {
    batch.count = 0;
    for (int64_t part = 0; part < parts; ++part) batch.queues[part].count = batch.queues[part].served = 0;
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
