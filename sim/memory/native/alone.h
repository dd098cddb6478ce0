// A profile's service alone, without ports, links and words: when requests are done that come at given times.
#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "rules.h"

namespace cyscc::memory {

// Plays requests in their order. With `outstanding`, their times are ignored: so many are outstanding, and a further one
// comes when one is done. Writes the times at which each comes and is done; returns the number of requests played,
// which is smaller if a resource cannot be booked so far ahead.
inline int64_t play(Context& context, int64_t count, const int64_t* addresses, const int64_t* reads,
                    int64_t outstanding, int64_t* come, int64_t* done) {
    Shared& shared = context.services[0].shared;
    std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> under_way;
    int64_t now = 0;
    for (int64_t number = 0; number < count; ++number) {
        if (outstanding == 0) {
            now = come[number];
        } else if (int64_t(under_way.size()) == outstanding) {
            now = std::max(now, under_way.top());
            under_way.pop();
        }
        come[number] = now;
        Rules::before_service(context.rules, shared, now);
        done[number] = Rules::serve(context.rules, shared, 0, addresses[number], reads[number], now, now);
        if (rarely(done[number] < 0)) return number;
        if (outstanding != 0) under_way.push(done[number]);
    }
    return count;
}

}  // namespace cyscc::memory
