// The rules of a profile, and their defaults; see `Profile` in sim/memory/profiles/profile.py.
//
// `Self` is the class of the whole profile, whose rules are called. All rules get the profile's parameters. Those before
// and after the service get the AE's side, and may access nothing else, because an AE runs ahead of the others.
#pragma once

#include "requests.h"

namespace cyscc::memory {

// Masks of the ports that take no read, and no write.
struct Stalled {
    int64_t reads, writes;
};

// Calls a rule in Python, given its address.
template <class Answer, class... Words>
CYSCC_INLINE Answer call(int64_t rule, Words... words) {
    return reinterpret_cast<Answer (*)(Words...)>(rule)(words...);
}

template <class Self>
struct Profile {
    CYSCC_INLINE static void before_entries(const Parameters&, Side&, int64_t) {}
    CYSCC_INLINE static int64_t enter(const Parameters&, Side&, int64_t, int64_t, int64_t, int64_t cycle) {
        return cycle;
    }
    CYSCC_INLINE static void after_entries(const Parameters&, Side&) {}
    CYSCC_INLINE static int64_t division_of(const Parameters&, int64_t) { return 0; }
    CYSCC_INLINE static void before_service(const Parameters&, Shared&, int64_t) {}
    CYSCC_INLINE static int64_t serve(const Parameters&, Shared&, int64_t, int64_t, int64_t, int64_t entered, int64_t) {
        return entered;
    }
    CYSCC_INLINE static int64_t bank_waits(const Parameters&, const Shared&) { return 0; }
    CYSCC_INLINE static int64_t link_of(const Parameters&, int64_t) { return 0; }
    CYSCC_INLINE static int64_t place_of(const Parameters&, int64_t address, int64_t last) {
        return address >> 3 & last;
    }
    CYSCC_INLINE static int64_t read_back(const Parameters&, Side&, int64_t, const Request& request) {
        return request.time;
    }
    CYSCC_INLINE static int64_t written(const Parameters&, Side&, int64_t, const Request& request) {
        return request.time;
    }
    CYSCC_INLINE static void answered(const Parameters&, Side&, int64_t) {}
    CYSCC_INLINE static Stalled stalled(const Parameters&, Side&, int64_t) { return {0, 0}; }
    CYSCC_INLINE static bool restless(const Parameters&, const Side&, int64_t) { return false; }
};

}  // namespace cyscc::memory
