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
        uint32_t& in_flight = side.in_flight[kMaxPorts + port];
        for (; queue.places.head != queue.places.tail && queue.complete[oldest(queue.places)] <= cycle; --in_flight) {
            ++queue.places.head;
        }
        if (in_flight < limit) still_full &= ~(int64_t(1) << port);
    }
    side.own.full[kWrite] = still_full;
}

// Moves what is reserved so far ahead that it is in the calendar, so that it counts from `base` on as the rest does.
CYSCC_RARE inline void move_far(Own& own, int64_t ahead) {
    const int64_t from = ahead < 64 ? own.base - ahead + 64 : own.base, left = own.last - from;
    const uint64_t known = left < 63 ? (uint64_t(2) << left) - 1 : ~uint64_t(0);
    for (int64_t link = 0; link < own.links.links; ++link) {
        const uint64_t later = taken_from(own.links, link, from) & known;
        own.near[link] = int64_t(ahead < 64 ? uint64_t(own.near[link]) >> ahead | later << (64 - ahead) : later);
    }
}

// Books a link from a cycle on that is not among the next 64, or after these if none of them is free.
CYSCC_RARE inline int64_t book_far(Own& own, int64_t link, int64_t cycle) {
    advance(own.links, own.base);
    const int64_t found = search_rows(own.links, link, std::max(cycle, own.base + 64), own.base, 1);
    own.last = std::max(own.last, found);
    return found;
}

template <class Self>
struct QueuedPorts : Profile<Self> {
    CYSCC_INLINE static void before_entries(const Parameters&, Side& side, int64_t cycle) {
        auto& own = side.own;
        const int64_t ahead = cycle - own.base, links = own.links.links;
        if (ahead <= 0) return;
        own.base = cycle;
        if (rarely(own.last >= std::min(cycle, cycle - ahead + 64))) {
            move_far(own, ahead);
        } else if (rarely(ahead >= 64)) {
            std::fill(own.near, own.near + links, 0);
        } else {
            for (int64_t link = 0; link < links; link += kLineWords) {
                for (int64_t& word : std::span(own.near + link, kLineWords)) word = int64_t(uint64_t(word) >> ahead);
            }
        }
        const auto less = int32_t(std::min<int64_t>(ahead, 1 << 30));
        for (int64_t port = 0; port < kPorts; ++port) {
            own.soonest[port] = uint32_t(std::max(int32_t(own.soonest[port]) - less, 0));
        }
    }
    CYSCC_INLINE static int64_t enter(const Parameters& p, Side& side, int64_t port, int64_t, int64_t address,
                                      int64_t cycle) {
        auto& own = side.own;
        const int64_t link = Self::link_of(p, address), soonest = own.soonest[port];
        const auto reserved = uint64_t(own.near[link]), free = ~reserved >> (soonest & 63);
        int64_t ahead = soonest + std::countr_zero(free);
        if (rarely(free == 0 || soonest > 63)) {
            ahead = book_far(own, link, cycle + soonest) - cycle;
        } else {
            own.near[link] = int64_t(reserved | uint64_t(1) << ahead);
        }
        own.soonest[port] = uint32_t(ahead + 1);
        return cycle + ahead;
    }
    CYSCC_INLINE static void after_entries(const Parameters&, Side& side) {
        for (int64_t kind = kRead; kind <= kWrite; ++kind) {
            side.own.full[kind] |= at_least(side.in_flight + kind * kMaxPorts, side.own.most[kind]);
        }
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
    // The ports whose latest request enters its link too late for them to take another.
    CYSCC_INLINE static int64_t crowded_ports(const Parameters& p, const Side& side, int64_t cycle) {
        return at_least(side.own.soonest, std::max<int64_t>(cycle - side.own.base + p.port_queue, 0) + 1);
    }
    CYSCC_INLINE static Stalled stalled(const Parameters& p, Side& side, int64_t cycle) {
        auto& own = side.own;
        if (rarely(own.full[kWrite] != 0)) retire_writes(side, p.writes_in_flight, cycle);
        const int64_t crowded = crowded_ports(p, side, cycle);
        return {crowded | own.full[kRead], crowded | own.full[kWrite]};
    }
    CYSCC_INLINE static int64_t bank_waits(const Parameters&, const Shared& shared) { return shared.waited; }
    CYSCC_INLINE static bool restless(const Parameters& p, const Side& side, int64_t cycle) {
        return (crowded_ports(p, side, cycle) | side.own.full[kRead] | side.own.full[kWrite]) != 0;
    }
};

}  // namespace cyscc::memory
