// Ports with queues in front of a crossbar and limits on requests in flight, common to `hc2` and `hbm2`; see
// sim/memory/profiles/ports.py.
#pragma once

#include "calendar.h"
#include "profiles/profile.h"

namespace cyscc::memory {

// Retires the complete writes of full ports.
CYSCC_RARE inline void retire_writes(Side& side, int64_t limit, int64_t cycle) {
    int64_t still_full = side.own.full[kWrite];
    for (int64_t full = still_full; full; full &= full - 1) {
        const int64_t port = trailing_zeros(full);
        WriteQueue& queue = side.own.writes[port];
        int64_t& in_flight = side.in_flight[kMaxPorts + port];
        for (; queue.places.head != queue.places.tail && queue.complete[oldest(queue.places)] <= cycle; --in_flight) {
            ++queue.places.head;
        }
        if (in_flight < limit) still_full &= ~(int64_t(1) << port);
    }
    side.own.full[kWrite] = still_full;
}

template <class Self>
struct QueuedPorts : Profile<Self> {
    CYSCC_INLINE static void before_entries(const Parameters&, Side& side, int64_t cycle) {
        advance(side.own.links, cycle);
    }
    CYSCC_INLINE static int64_t enter(const Parameters& p, Side& side, int64_t port, int64_t kind, int64_t address,
                                      int64_t cycle) {
        auto& own = side.own;
        const int64_t soonest = std::max(cycle, own.entered[port] + 1);
        const int64_t entry = book(own.links, Self::link_of(p, address), soonest, cycle, 1);
        own.entered[port] = entry;
        own.full[kind] |= int64_t(side.in_flight[kind * kMaxPorts + port] >= own.most[kind]) << port;
        return entry;
    }
    // A port sees completions of writes in order, one a cycle.
    CYSCC_INLINE static int64_t written(const Parameters&, Side& side, int64_t port, const Request& request) {
        WriteQueue& queue = side.own.writes[port];
        if (rarely(full(queue.places))) {
            note(side.error, Code::RING_FULL, kWrite, queue.places.mask + 1, side.number, port, cycle_of(request));
            return request.time;
        }
        queue.last = std::max(request.time, queue.last + 1);
        queue.complete[push(queue.places)] = queue.last;
        return request.time;
    }
    CYSCC_INLINE static int64_t flushed(const Parameters& p, int64_t now) { return now + p.flush_travel; }
    CYSCC_INLINE static void answered(const Parameters&, Side& side, int64_t shown) { side.own.full[kRead] &= ~shown; }
    CYSCC_INLINE static Stalled stalled(const Parameters& p, Side& side, int64_t cycle) {
        auto& own = side.own;
        if (rarely(own.full[kWrite] != 0)) retire_writes(side, p.writes_in_flight, cycle);
        int64_t crowded = 0;
        if (const int64_t late = cycle + p.port_queue; side.latest_entry >= late) {
            for (int64_t port = 0; port < kPorts; ++port) crowded |= int64_t(own.entered[port] >= late) << port;
        }
        return {crowded | own.full[kRead], crowded | own.full[kWrite]};
    }
    CYSCC_INLINE static int64_t bank_waits(const Parameters&, const Shared& shared) { return shared.waited; }
    CYSCC_INLINE static bool restless(const Parameters& p, const Side& side, int64_t cycle) {
        return side.latest_entry >= cycle + p.port_queue || (side.own.full[kRead] | side.own.full[kWrite]) != 0;
    }
};

}  // namespace cyscc::memory
