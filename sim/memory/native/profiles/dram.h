// DRAM with banks, rows and refresh; see sim/memory/profiles/dram.py. Times are in memory clocks, except for travel and
// queues.
#pragma once

#include <iterator>

#include "profiles/ports.h"

namespace cyscc::memory {

inline constexpr int64_t kClosed = -1;
// Clocks that are kept after they are over: those shortly before count for the times between activates.
inline constexpr int64_t kBehind = 64;
// Blocks of a window's bits.
inline constexpr int64_t kNearBlocks = sizeof(Window::near) / sizeof(int64_t);

// The whole quotient of a number and a divisor, whose `inverse` is 2**64 - 1 divided by it, in a third of the time of a
// division.
// It is exact while the number and one, times the divisor, is at most 2**64.
CYSCC_INLINE int64_t whole(int64_t number, int64_t inverse) {
    return int64_t((unsigned __int128)(uint64_t(number) + 1) * uint64_t(inverse) >> 64);
}

// Performs a bank's refreshes due before a time, or before a row could be open then; returns when it may continue.
CYSCC_RARE inline int64_t refresh(Shared& shared, Bank& bank, int64_t start, const Parameters& p) {
    const int64_t period = p.t_refi, length = p.t_rp + p.t_rfc;
    int64_t due = bank.refresh + std::max<int64_t>(start - bank.refresh, 0) / period * period, end = due + length;
    if (start >= end && start + p.t_rcd >= due + period) {
        due += period;
        end += period;
    }
    bank.refresh = due + period;
    bank.row = kClosed;
    std::fill(std::begin(bank.earlier_rows), std::end(bank.earlier_rows), kClosed);
    bank.activated = std::max(bank.activated, end - (p.t_ras + p.t_rp));
    if (start < end) {
        ++shared.refreshes;
        shared.refreshing += end - start;
    }
    return std::max(start, end);
}

// The number of a window's requests that are not among its bits.
CYSCC_INLINE int64_t far(const Window& window) { return window.places.tail - window.places.head; }

CYSCC_INLINE int64_t& near_block(Window& window, int64_t number) { return window.near[number & (kNearBlocks - 1)]; }

CYSCC_INLINE void issue_near(Window& window, int64_t free) {
    near_block(window, free >> 6) |= int64_t(1) << (free & 63);
}

// Moves the bits of a window on to a block, and takes in the requests that they then have room for.
CYSCC_RARE inline void move_near(Window& window, int64_t first) {
    window.first = first;
    window.end = (first + kNearBlocks) << 6;
    for (; far(window) != 0 && window.far[oldest(window.places)] < window.end; ++window.places.head) {
        issue_near(window, window.far[oldest(window.places)]);
    }
}

// Notes a request that is too late for the bits of its window, unless these move on; what is before `now` is over.
CYSCC_RARE inline void issue_far(Window& window, int64_t free, int64_t now) {
    int64_t first = window.first;
    for (; first < now >> 6 && window.held != far(window); ++first) {
        window.held -= std::popcount(uint64_t(near_block(window, first)));
        near_block(window, first) = 0;
    }
    if (window.held == far(window)) {
        first = std::max(first, now >> 6);
        for (; far(window) != 0 && window.far[oldest(window.places)] >> 6 < first; --window.held) ++window.places.head;
    }
    move_near(window, first);
    if (free < window.end) return issue_near(window, free);
    const int64_t mask = window.places.mask;
    int64_t place = window.places.tail++;
    for (; place != window.places.head && window.far[(place - 1) & mask] > free; --place) {
        window.far[place & mask] = window.far[(place - 1) & mask];
    }
    window.far[place & mask] = free;
}

// Takes out the first request of a window.
CYSCC_INLINE int64_t leave(Window& window) {
    if (rarely(window.held-- == far(window))) move_near(window, window.far[oldest(window.places)] >> 6);
    while (near_block(window, window.first) == 0) ++window.first;
    int64_t& block = near_block(window, window.first);
    const int64_t free = window.first << 6 | trailing_zeros(block);
    block &= int64_t(uint64_t(block) - 1);
    return free;
}

template <class Self>
struct Dram : QueuedPorts<Self> {
    CYSCC_INLINE static int64_t channel_of(const Parameters& p, int64_t address) {
        return address >> p.channel_bit & (p.channels - 1);
    }
    // The number of a burst in its pseudo-channel: a byte address without the bits of byte and channel.
    CYSCC_INLINE static int64_t within(const Parameters& p, int64_t address) {
        const int64_t below = address & ((int64_t(1) << p.channel_bit) - 1);
        const int64_t above = address >> (p.channel_bit + trailing_zeros(p.channels)) << p.channel_bit;
        return (above | below) >> trailing_zeros(p.burst_bytes);
    }
    CYSCC_INLINE static int64_t bank_within(const Parameters& p, int64_t inside) {
        const int64_t low_group = inside & ((int64_t(1) << p.low_groups) - 1);
        const int64_t above = inside >> (p.low_groups + p.low_columns);
        const int64_t group = above >> trailing_zeros(p.banks) << p.low_groups | low_group;
        return (group & (p.groups - 1)) * p.banks + (above & (p.banks - 1));
    }
    CYSCC_INLINE static int64_t row_within(const Parameters& p, int64_t inside) {
        return inside >> trailing_zeros(p.groups * p.banks * p.columns);
    }
    CYSCC_INLINE static int64_t link_of(const Parameters& p, int64_t address) {
        const int64_t channel = channel_of(p, address);
        if (p.links == 1) return channel;
        return channel * p.links + (bank_within(p, within(p, address)) & (p.links - 1));
    }
    CYSCC_INLINE static int64_t place_of(const Parameters& p, int64_t address, int64_t) {
        return channel_of(p, address) * p.groups * p.banks + bank_within(p, within(p, address));
    }
    CYSCC_INLINE static int64_t controller_of(const Parameters& p, int64_t channel) {
        return channel >> trailing_zeros(p.pseudo_channels);
    }
    CYSCC_INLINE static int64_t division_of(const Parameters& p, int64_t address) {
        return controller_of(p, channel_of(p, address));
    }
    CYSCC_INLINE static void before_service(const Parameters& p, Shared& shared, int64_t now) {
        shared.clock = whole(now * p.memory_mhz, shared.of_machine);
        advance(shared.clocks, shared.clock - kBehind);
        advance(shared.columns, whole(shared.clock, shared.of_unit));
        advance(shared.links, now);
    }

    // The links of a request: of its controller and pseudo-channel by clocks, of its pseudo-channel and group by units.
    struct Taken {
        int64_t commands, activates, bus, group;
    };
    // Returns when a request that has arrived is in its controller's window: that is full until a column is issued.
    CYSCC_INLINE static int64_t admitted(const Parameters& p, Window& window, int64_t& last, int64_t arrived) {
        last = std::max(arrived, last);
        if (window.held == p.entries) last = std::max(last, leave(window) >> trailing_zeros(p.pseudo_channels));
        return last;
    }
    // Notes when a request's place in the window is free.
    CYSCC_INLINE static void issue(const Parameters& p, const Shared& shared, Window& window, int64_t channel,
                                   int64_t column) {
        const int64_t free = (column + 1) * p.pseudo_channels | (channel & (p.pseudo_channels - 1));
        if (rarely(free >= window.end)) {
            issue_far(window, free, shared.clock * p.pseudo_channels);
        } else {
            issue_near(window, free);
        }
        ++window.held;
    }
    // Returns the first time from one on that has room on the data bus and in the bank group.
    CYSCC_INLINE static int64_t column_from(const Shared& shared, const Taken& taken, int64_t time) {
        const Calendar& columns = shared.columns;
        const int64_t unit = first_free(columns, whole(time, shared.of_unit), 64, [&](int64_t from) {
            return taken_from(columns, taken.bus, from) | taken_from(columns, taken.group, from);
        });
        return rarely(unit < 0) ? unit : std::max(time, unit * shared.unit);
    }
    CYSCC_INLINE static void take_column(Shared& shared, const Taken& taken, int64_t column) {
        take_window(shared.columns, taken.bus, whole(column, shared.of_burst), shared.burst);
        take_window(shared.columns, taken.group, whole(column, shared.of_group), shared.group);
    }
    // Takes a window, but for what is over: its block is that of later cycles.
    CYSCC_INLINE static void take_window(Calendar& columns, int64_t link, int64_t number, int64_t length) {
        const int64_t begin = number * length, first = std::max(begin, columns.now << 6);
        take(columns, link, first, begin + length - first);
    }
    // Returns `time`, or the next one that is possible if an activate then would be one of five in less than `t_faw`.
    CYSCC_RARE static int64_t spread_five(const Parameters& p, uint64_t near, int64_t time) {
        // The bit of `time` is bit 31.
        if (std::popcount(near) < 4) return time;
        int64_t before[5] = {0}, after[5] = {0};
        uint64_t below = near & ((uint64_t(1) << 31) - 1), above = near >> 32;
        for (int64_t number = 1; number < 5; ++number) {
            before[number] = below != 0 ? 31 - (63 - std::countl_zero(below)) : 64;
            after[number] = above != 0 ? std::countr_zero(above) + 1 : 64;
            if (below != 0) below ^= uint64_t(1) << (63 - std::countl_zero(below));
            above &= above - 1;
        }
        for (int64_t number = 0; number < 5; ++number) {
            if (before[number] + after[4 - number] >= p.t_faw) continue;
            return number == 4 ? time - before[4] + p.t_faw : time + after[1] + p.t_rrd;
        }
        return time;
    }
    // Returns the first time from one on at which a row can be opened: `t_rrd` from the other activates of its
    // pseudo-channel, no five in less than `t_faw`, and with its controller's row commands, which it takes until then.
    CYSCC_INLINE static int64_t opened_from(const Parameters& p, const Shared& shared, const Taken& taken,
                                            int64_t time) {
        const Calendar& clocks = shared.clocks;
        const int64_t around = 2 * p.t_rrd - 1, before = p.activate_clocks - 1;
        for (;;) {
            time = first_free(clocks, time, 65 - std::max(around, before + 1), [&](int64_t from) {
                return any_of(taken_from(clocks, taken.activates, from - p.t_rrd + 1), around) |
                       any_of(taken_from(clocks, taken.commands, from - before), before + 1);
            });
            // `t_rrd` alone may keep five of them apart.
            if (p.t_faw <= 4 * p.t_rrd || rarely(time < 0)) return time;
            const int64_t later = spread_five(p, taken_from(clocks, taken.activates, time - 31), time);
            if (later == time) return time;
            time = later;
        }
    }
    // Returns the first time from one on at which a row can be closed, with its controller's row commands.
    CYSCC_INLINE static int64_t closed_from(const Parameters& p, const Shared& shared, const Taken& taken,
                                            int64_t time) {
        return first_free(shared.clocks, time, 65 - p.precharge_clocks, [&](int64_t from) {
            return any_of(taken_from(shared.clocks, taken.commands, from), p.precharge_clocks);
        });
    }
    CYSCC_INLINE static int64_t serve(const Parameters& p, Shared& shared, int64_t ae, int64_t address, int64_t is_read,
                                      int64_t entered, int64_t now) {
        const int64_t channel = channel_of(p, address), inside = within(p, address);
        const int64_t controller = controller_of(p, channel), kind = is_read ? kRead : kWrite;
        const int64_t own_bank = bank_within(p, inside), number = channel * p.groups * p.banks + own_bank;
        const int64_t row = row_within(p, inside);
        Channel& own = shared.of_channels[channel];
        const int64_t bus = channel * (1 + p.groups), of_group = own_bank >> trailing_zeros(p.banks);
        const Taken taken{controller * (1 + p.pseudo_channels), controller + channel + 1, bus, bus + 1 + of_group};
        Bank& bank = shared.banks[number];
        Window& window = shared.windows[2 * controller + kind];
        const int64_t arrival = entered + p.request_travel;
        const int64_t arrived = whole(arrival * p.memory_mhz + p.machine_mhz - 1, shared.of_machine) + p.way_there;
        const int64_t at = admitted(p, window, own.admitted[kind], arrived);
        int64_t column;
        if (bank.row != row && is_read && (column = joined(p, shared, bank, row, taken, at)) >= 0) {
            ++bank.hits;
            issue(p, shared, window, channel, column);
            return back(p, shared, column, ae, address, is_read, arrival, now);
        }
        int64_t start = std::max(at, is_read ? bank.readable : bank.used);
        const int64_t opening = bank.row == row ? 0 : p.t_rcd + (bank.row == kClosed ? 0 : p.t_rp);
        // A command that does not fit before a refresh is performed after it.
        if (rarely(start + opening >= bank.refresh)) start = refresh(shared, bank, start, p);
        int64_t opened, closed = 0;
        for (;;) {
            column = std::max(start, bank.activated + p.t_rcd);
            opened = bank.activated;
            if (bank.row != row) {
                if (bank.row != kClosed) {
                    closed = closed_from(p, shared, taken, std::max(start, bank.closable));
                    if (closed < 0) return closed;
                    start = closed + p.t_rp;
                }
                opened = opened_from(p, shared, taken, std::max(start, bank.activated + p.t_ras + p.t_rp));
                if (opened < 0) return opened;
                if (rarely(opened + p.t_rcd >= bank.refresh)) {
                    start = refresh(shared, bank, opened, p);
                    if (start > opened) continue;
                }
                column = opened + p.t_rcd;
            }
            column = column_from(shared, taken, column);
            if (column < 0) return column;
            if (!rarely(column >= bank.refresh)) break;
            start = refresh(shared, bank, column, p);
        }
        take_column(shared, taken, column);
        if (bank.row == row) {
            ++bank.hits;
        } else {
            take(shared.clocks, taken.activates, opened, 1);
            take(shared.clocks, taken.commands, opened - p.activate_clocks + 1, p.activate_clocks);
            if (bank.row != kClosed) {
                ++shared.conflicts;
                take(shared.clocks, taken.commands, closed, p.precharge_clocks);
                const int64_t place = bank.earlier++ % std::ssize(bank.earlier_rows);
                bank.earlier_rows[place] = bank.row;
                bank.earlier_opened[place] = bank.activated;
                bank.earlier_closed[place] = closed;
            }
            ++bank.openings;
            bank.row = row;
            bank.activated = opened;
            bank.closable = opened + p.t_ras;
        }
        issue(p, shared, window, channel, column);
        const int64_t written = column + p.t_cwl + p.burst;
        bank.used = std::max(bank.used, column);
        bank.readable = std::max(bank.readable, is_read ? column : written + p.t_wtr);
        bank.closable = std::max(bank.closable, is_read ? column + p.t_rtp : written + p.t_wr);
        if (!is_read && ++own.writes % p.write_batch == 0) turn(p, shared, taken, column);
        return back(p, shared, column, ae, address, is_read, arrival, now);
    }
    // Returns when a read can join a row that will be closed, but is not yet; below 0 if there is none with room.
    CYSCC_INLINE static int64_t joined(const Parameters& p, Shared& shared, const Bank& bank, int64_t row,
                                       const Taken& taken, int64_t at) {
        for (int64_t place = 0; place < std::ssize(bank.earlier_rows); ++place) {
            if (bank.earlier_rows[place] != row || bank.earlier_closed[place] < at + p.t_rtp) continue;
            const int64_t column = column_from(shared, taken, std::max(at, bank.earlier_opened[place] + p.t_rcd));
            if (column < 0 || column + p.t_rtp > bank.earlier_closed[place]) continue;
            take_column(shared, taken, column);
            return column;
        }
        return -1;
    }
    // Takes the time from the data bus in which it turns to writes and back.
    CYSCC_INLINE static void turn(const Parameters& p, Shared& shared, const Taken& taken, int64_t column) {
        const int64_t lost = p.t_rtw + p.t_cwl + p.t_wtr;
        int64_t window = whole(column, shared.of_burst) * shared.burst;
        for (int64_t gone = 0; gone < lost && window >= 0; gone += p.burst) {
            window = first_free(shared.columns, window + shared.burst, 64,
                                [&](int64_t from) { return taken_from(shared.columns, taken.bus, from); });
            if (window >= 0) take(shared.columns, taken.bus, window, shared.burst);
        }
    }
    // When the result of a column command is back.
    CYSCC_INLINE static int64_t back(const Parameters& p, Shared& shared, int64_t column, int64_t ae, int64_t address,
                                     int64_t is_read, int64_t arrival, int64_t now) {
        const int64_t ticks = (is_read ? p.t_cl : p.t_cwl) + p.burst + p.way_back;
        const int64_t returned = whole((column + ticks) * p.machine_mhz + p.memory_mhz - 1, shared.of_memory);
        shared.waited += returned - arrival - (is_read ? shared.least_read : shared.least_write);
        if (!is_read) return returned + p.response_travel;
        const int64_t slot = book(shared.links, Self::link_of(p, address) * kEngines + ae, returned, now, 1);
        shared.returned += slot - returned;
        return slot + p.response_travel;
    }
};

}  // namespace cyscc::memory
