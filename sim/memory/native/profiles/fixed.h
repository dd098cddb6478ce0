// Profile `fixed`; see sim/memory/profiles/fixed.py.
#pragma once

#include "profiles/profile.h"

namespace cyscc::memory {

template <class Self>
struct Fixed : Profile<Self> {
    CYSCC_INLINE static int64_t read_back(const Parameters& p, Side&, int64_t, const Request& request) {
        return cycle_of(request) + p.latency;
    }
    CYSCC_INLINE static int64_t flushed(const Parameters&, int64_t now) { return now + 4; }
};

}  // namespace cyscc::memory
