// Reservation of crossbar links by cycle.
//
// A calendar has a bit for each cycle of a link, 64 to a block, so that a later request can use a gap. The blocks of all
// links for the same cycles form a row. Rows are reused cyclically, and cleared when their cycles are over. Parts of the
// service have calendars of the same rows, each for links of its own.
#pragma once

#include "requests.h"

namespace cyscc::memory {

// Rows prefetched ahead of the current one: more than most responses take.
inline constexpr int64_t kRowsAhead = 4;

CYSCC_RARE inline void clear_rows(Calendar calendar, int64_t now) {
    const int64_t links = calendar.links, first = calendar.first, end = calendar.end;
    for (int64_t number = std::max(calendar.now, now - calendar.rows); number < now; ++number) {
        int64_t* const row = calendar.taken + (number & (calendar.rows - 1)) * links;
        std::fill(row + first, row + end, 0);
    }
    const int64_t ahead = ((now + kRowsAhead) & (calendar.rows - 1)) * links;
    for (int64_t link = first; link < end; link += kLineWords) prefetch(calendar.taken + ahead + link, 0);
}

// Clears the rows before a cycle, before which nothing will be booked any more.
CYSCC_INLINE void advance(Calendar& calendar, int64_t cycle) {
    if (rarely(calendar.now != cycle >> 6)) {
        clear_rows(calendar, cycle >> 6);
        calendar.now = cycle >> 6;
    }
}

// Books in any row; see `book`.
CYSCC_RARE inline int64_t search_rows(Calendar calendar, int64_t link, int64_t cycle, int64_t now, int64_t take) {
    int64_t allowed = int64_t(~uint64_t(0) << (cycle & 63));
    for (int64_t number = cycle >> 6; number - (now >> 6) < calendar.rows; ++number) {
        int64_t& taken = calendar.taken[(number & (calendar.rows - 1)) * calendar.links + link];
        const int64_t free = ~taken & allowed;
        if (free != 0) {
            const int64_t bit = trailing_zeros(free);
            taken |= take << bit;
            return number << 6 | bit;
        }
        allowed = -1;
    }
    return -kNever;
}

// Returns the first free cycle of a link from `cycle` on, far below 0 if it is beyond the calendar, and reserves it if
// `take` is 1, not if it is 0. `now` is the cycle that `advance` was called with.
CYSCC_INLINE int64_t book(Calendar& calendar, int64_t link, int64_t cycle, int64_t now, int64_t take) {
    const int64_t number = cycle >> 6;
    int64_t& taken = calendar.taken[(number & (calendar.rows - 1)) * calendar.links + link];
    const uint64_t free = ~uint64_t(taken) >> (cycle & 63);
    if (rarely(number - (now >> 6) >= calendar.rows || free == 0)) {
        return search_rows(calendar, link, cycle, now, take);
    }
    const int64_t found = cycle + std::countr_zero(free);
    taken |= take << (found & 63);
    return found;
}

// The bits of 64 cycles of a link from one on; a bit that is 1 is taken.
CYSCC_INLINE uint64_t taken_from(const Calendar& calendar, int64_t link, int64_t cycle) {
    const auto block = [&](int64_t number) {
        return uint64_t(calendar.taken[(number & (calendar.rows - 1)) * calendar.links + link]);
    };
    const int64_t number = cycle >> 6, shift = cycle & 63;
    return block(number) >> shift | block(number + 1) << 1 << (63 - shift);
}

// Of a word's bits, whether one of `width` from each on is 1.
CYSCC_INLINE uint64_t any_of(uint64_t word, int64_t width) {
    for (int64_t done = 1; done < width;) {
        const int64_t more = std::min(done, width - done);
        word |= word >> more;
        done += more;
    }
    return word;
}

// Returns the first free cycle from one on, far below 0 if it is beyond the calendar. `taken(cycle)` has the bits of 64
// cycles from one on, of which the first `known` are meant.
template <class Taken>
CYSCC_INLINE int64_t first_free(const Calendar& calendar, int64_t cycle, int64_t known, Taken taken) {
    for (;; cycle += known) {
        if (rarely((cycle >> 6) + 1 - calendar.now >= calendar.rows)) return -kNever;
        const uint64_t free = ~taken(cycle) & ~uint64_t(0) >> (64 - known);
        if (!rarely(free == 0)) return cycle + std::countr_zero(free);
    }
}

// Reserves cycles of a link, those in blocks after the first one.
CYSCC_RARE inline void take_further(Calendar& calendar, int64_t link, int64_t cycle, int64_t length) {
    for (const int64_t end = cycle + length; cycle < end; ++cycle) {
        calendar.taken[(cycle >> 6 & (calendar.rows - 1)) * calendar.links + link] |= int64_t(1) << (cycle & 63);
    }
}

// Reserves cycles of a link.
CYSCC_INLINE void take(Calendar& calendar, int64_t link, int64_t cycle, int64_t length) {
    const int64_t shift = cycle & 63;
    if (rarely(shift + length > 64)) return take_further(calendar, link, cycle, length);
    calendar.taken[(cycle >> 6 & (calendar.rows - 1)) * calendar.links + link] |=
        int64_t(~uint64_t(0) >> (64 - length) << shift);
}

}  // namespace cyscc::memory
