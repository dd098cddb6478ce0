// DRAM with banks, rows and refresh; see sim/memory/profiles/dram.py. Times are in memory clocks, except for travel and
// queues.
#pragma once

#include <iterator>

#include "profiles/ports.h"

namespace cyscc::memory {

inline constexpr int64_t kClosed = -1;

// The quotient of a number from 0 to 2**50: as `/`, but in a third of the time.
CYSCC_INLINE int64_t whole(int64_t number, int64_t divisor) {
    return int64_t((double(number) + 0.5) * (1.0 / double(divisor)));
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

// Returns when a request that has arrived is in a controller's window: that is full until a column command is issued.
CYSCC_INLINE int64_t admitted(Window& window, int64_t& last, int64_t arrived, int64_t entries) {
    last = std::max(arrived, last);
    if (window.places.tail - window.places.head == entries) {
        last = std::max(last, window.issued[oldest(window.places)]);
        ++window.places.head;
    }
    return last;
}

// Notes when a request's place in the window is free: later than those of most before it, so few are moved.
CYSCC_INLINE void issue(Window& window, int64_t column) {
    const int64_t mask = window.places.mask;
    int64_t place = window.places.tail++;
    for (; place != window.places.head && window.issued[(place - 1) & mask] > column + 1; --place) {
        window.issued[place & mask] = window.issued[(place - 1) & mask];
    }
    window.issued[place & mask] = column + 1;
}

// Returns when an activate of a channel may follow from a time on, among those that are booked: `t_rrd` from each other,
// and no five in less than `t_faw`.
CYSCC_INLINE int64_t activate_from(const Calendar& activates, int64_t channel, int64_t time, const Parameters& p,
                                   int64_t now) {
    for (;;) {
        if (rarely(beyond(activates, time, now))) return -kNever;
        // The bit of `time` is bit 31.
        const uint64_t near = taken_from(activates, channel, time - 31);
        const uint64_t close = near & (~uint64_t(0) >> (65 - 2 * p.t_rrd)) << (32 - p.t_rrd);
        if (close != 0) {
            time += 63 - std::countl_zero(close) - 31 + p.t_rrd;
            continue;
        }
        // Five are not there.
        if (std::popcount(near) < 4) return time;
        int64_t before[5] = {0}, after[5] = {0};
        uint64_t below = near & ((uint64_t(1) << 31) - 1), above = near >> 32;
        for (int64_t number = 1; number < 5; ++number) {
            before[number] = below != 0 ? 31 - (63 - std::countl_zero(below)) : 64;
            after[number] = above != 0 ? std::countr_zero(above) + 1 : 64;
            if (below != 0) below ^= uint64_t(1) << (63 - std::countl_zero(below));
            above &= above - 1;
        }
        int64_t later = time;
        for (int64_t number = 0; number < 5 && later == time; ++number) {
            if (before[number] + after[4 - number] >= p.t_faw) continue;
            later = number == 4 ? time - before[4] + p.t_faw : time + after[1] + p.t_rrd;
        }
        if (later == time) return time;
        time = later;
    }
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
        const int64_t ticks = now * p.memory_mhz / p.machine_mhz;
        advance(shared.bursts, shared.bursts_now = ticks / p.burst);
        advance(shared.groups, shared.groups_now = ticks / p.t_ccd_l);
        advance(shared.commands, shared.ticks_now = ticks);
        // What was activated shortly before still counts.
        advance(shared.activates, ticks - 64);
        advance(shared.links, now);
    }
    // Returns the first time from one on that has room on the data bus and in the bank group.
    CYSCC_INLINE static int64_t column_from(const Parameters& p, Shared& shared, int64_t channel, int64_t group,
                                            int64_t time) {
        for (;;) {
            const int64_t of_group = book(shared.groups, group, whole(time, p.t_ccd_l), shared.groups_now, 0);
            time = std::max(time, of_group * p.t_ccd_l);
            const int64_t burst = book(shared.bursts, channel, whole(time, p.burst), shared.bursts_now, 0);
            if (rarely(of_group < 0 || burst < 0)) return -kNever;
            if (burst * p.burst <= time) return time;
            time = burst * p.burst;
        }
    }
    CYSCC_INLINE static void take_column(const Parameters& p, Shared& shared, int64_t channel, int64_t group,
                                         int64_t column) {
        take(shared.groups, group, whole(column, p.t_ccd_l), 1);
        take(shared.bursts, channel, whole(column, p.burst), 1);
    }
    // Returns the first time from one on at which a row can be opened: by the activates of its pseudo-channel, and with
    // its controller's row commands, which an activate takes until then.
    CYSCC_INLINE static int64_t opened_from(const Parameters& p, const Shared& shared, int64_t channel, int64_t time) {
        for (;;) {
            time = activate_from(shared.activates, channel, time, p, shared.ticks_now - 64);
            if (rarely(time < 0)) return time;
            const int64_t first = time - p.activate_clocks + 1;
            const int64_t free =
                run_of(shared.commands, controller_of(p, channel), first, p.activate_clocks, shared.ticks_now);
            if (free == first) return time;
            if (rarely(free < 0)) return free;
            time = free + p.activate_clocks - 1;
        }
    }
    CYSCC_INLINE static int64_t serve(const Parameters& p, Shared& shared, int64_t ae, int64_t address, int64_t is_read,
                                      int64_t entered, int64_t now) {
        const int64_t channel = channel_of(p, address), inside = within(p, address);
        const int64_t controller = controller_of(p, channel), kind = is_read ? kRead : kWrite;
        const int64_t number = channel * p.groups * p.banks + bank_within(p, inside), row = row_within(p, inside);
        Bank& bank = shared.banks[number];
        Window& window = shared.windows[2 * controller + kind];
        Channel& own = shared.of_channels[channel];
        const int64_t arrival = entered + p.request_travel, group = number >> trailing_zeros(p.banks);
        const int64_t arrived = whole(arrival * p.memory_mhz + p.machine_mhz - 1, p.machine_mhz) + p.way_there;
        const int64_t at = admitted(window, own.admitted[kind], arrived, p.entries);
        int64_t column;
        if (bank.row != row && is_read && (column = joined(p, shared, bank, row, channel, group, at)) >= 0) {
            ++bank.hits;
            issue(window, column);
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
                    closed = std::max(start, bank.closable);
                    closed = run_of(shared.commands, controller, closed, p.precharge_clocks, shared.ticks_now);
                    if (closed < 0) return closed;
                    start = closed + p.t_rp;
                }
                opened = opened_from(p, shared, channel, std::max(start, bank.activated + p.t_ras + p.t_rp));
                if (opened < 0) return opened;
                if (rarely(opened + p.t_rcd >= bank.refresh)) {
                    start = refresh(shared, bank, opened, p);
                    if (start > opened) continue;
                }
                column = opened + p.t_rcd;
            }
            column = column_from(p, shared, channel, group, column);
            if (column < 0) return column;
            if (!rarely(column >= bank.refresh)) break;
            start = refresh(shared, bank, column, p);
        }
        take_column(p, shared, channel, group, column);
        if (bank.row == row) {
            ++bank.hits;
        } else {
            take(shared.activates, channel, opened, 1);
            take(shared.commands, controller, opened - p.activate_clocks + 1, p.activate_clocks);
            if (bank.row != kClosed) {
                ++shared.conflicts;
                take(shared.commands, controller, closed, p.precharge_clocks);
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
        issue(window, column);
        const int64_t written = column + p.t_cwl + p.burst;
        bank.used = std::max(bank.used, column);
        bank.readable = std::max(bank.readable, is_read ? column : written + p.t_wtr);
        bank.closable = std::max(bank.closable, is_read ? column + p.t_rtp : written + p.t_wr);
        if (!is_read && ++own.writes % p.write_batch == 0) turn(p, shared, channel, column);
        return back(p, shared, column, ae, address, is_read, arrival, now);
    }
    // Returns when a read can join a row that will be closed, but is not yet; below 0 if there is none with room.
    CYSCC_INLINE static int64_t joined(const Parameters& p, Shared& shared, const Bank& bank, int64_t row,
                                       int64_t channel, int64_t group, int64_t at) {
        for (int64_t place = 0; place < std::ssize(bank.earlier_rows); ++place) {
            if (bank.earlier_rows[place] != row || bank.earlier_closed[place] < at + p.t_rtp) continue;
            const int64_t column =
                column_from(p, shared, channel, group, std::max(at, bank.earlier_opened[place] + p.t_rcd));
            if (column < 0 || column + p.t_rtp > bank.earlier_closed[place]) continue;
            take_column(p, shared, channel, group, column);
            return column;
        }
        return -1;
    }
    // Takes the time from the data bus in which it turns to writes and back.
    CYSCC_INLINE static void turn(const Parameters& p, Shared& shared, int64_t channel, int64_t column) {
        const int64_t lost = p.t_rtw + p.t_cwl + p.t_wtr;
        int64_t burst = whole(column, p.burst);
        for (int64_t taken = 0; taken < lost; taken += p.burst) {
            burst = book(shared.bursts, channel, burst + 1, shared.bursts_now, 1);
        }
    }
    // When the result of a column command is back.
    CYSCC_INLINE static int64_t back(const Parameters& p, Shared& shared, int64_t column, int64_t ae, int64_t address,
                                     int64_t is_read, int64_t arrival, int64_t now) {
        const int64_t ticks = (is_read ? p.t_cl : p.t_cwl) + p.burst + p.way_back;
        const int64_t returned = whole((column + ticks) * p.machine_mhz + p.memory_mhz - 1, p.memory_mhz);
        shared.waited += returned - arrival - (is_read ? shared.least_read : shared.least_write);
        if (!is_read) return returned + p.response_travel;
        const int64_t slot = book(shared.links, Self::link_of(p, address) * kEngines + ae, returned, now, 1);
        shared.returned += slot - returned;
        return slot + p.response_travel;
    }
};

}  // namespace cyscc::memory
