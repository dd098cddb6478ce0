// Profile `hc2`; see sim/memory/profiles/hc2.py.
#pragma once

#include "profiles/ports.h"

namespace cyscc::memory {

template <class Self>
struct Hc2 : QueuedPorts<Self> {
    CYSCC_INLINE static int64_t controller_of(const Parameters& p, int64_t address) {
        return address >> p.controller_bit & (p.controllers - 1);
    }
    CYSCC_INLINE static int64_t link_of(const Parameters& p, int64_t address) {
        // In one instruction, if the bits are in that order.
        const int64_t inner = (p.links - 1) << p.link_bit, outer = (p.controllers - 1) << p.controller_bit;
        if (kFastBits && inner < int64_t(1) << p.controller_bit) return taken_bits(address, inner | outer);
        return controller_of(p, address) * p.links + (address >> p.link_bit & (p.links - 1));
    }
    CYSCC_INLINE static int64_t division_of(const Parameters& p, int64_t address) { return controller_of(p, address); }
    CYSCC_INLINE static void before_service(const Parameters&, Shared& shared, int64_t now) {
        advance(shared.links, now);
    }
    // Banks serve requests in order, and reads reserve a return link.
    CYSCC_INLINE static int64_t serve(const Parameters& p, Shared& shared, int64_t ae, int64_t address, int64_t is_read,
                                      int64_t entered, int64_t now) {
        Bank& bank = shared.banks[address >> 3 & shared.last_bank];
        ++bank.accesses;
        const int64_t arrival = entered + p.request_travel;
        const int64_t start = std::max(arrival, bank.free), done = start + p.bank_busy;
        bank.free = done;
        shared.waited += start - arrival;
        if (!is_read) return done + p.response_travel;
        return book(shared.links, Self::link_of(p, address) * kEngines + ae, done, now, 1) + p.response_travel;
    }
};

}  // namespace cyscc::memory
