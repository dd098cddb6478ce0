// Profile `hbm2`; see sim/memory/profiles/hbm2.py. Times are in memory clocks, except for travel and queues.
#pragma once

#include "profiles/ports.h"

namespace cyscc::memory {

inline constexpr int64_t kClosed = -1;
// Address bits within a burst of 32 bytes.
inline constexpr int64_t kBurstBits = 5;

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
    bank.activated = std::max(bank.activated, end - (p.t_ras + p.t_rp));
    if (start < end) {
        ++shared.refreshes;
        shared.refreshing += end - start;
    }
    return std::max(start, end);
}

template <class Self>
struct Hbm2 : QueuedPorts<Self> {
    CYSCC_INLINE static int64_t activate_window(const Parameters& p) { return std::max(p.t_rrd, (p.t_faw + 3) >> 2); }
    CYSCC_INLINE static int64_t channel_of(const Parameters& p, int64_t address) {
        return address >> p.channel_bit & (p.channels - 1);
    }
    // The number of a burst in its pseudo-channel: a byte address without the bits of byte and channel.
    CYSCC_INLINE static int64_t within(const Parameters& p, int64_t address) {
        const int64_t below = address & ((int64_t(1) << p.channel_bit) - 1);
        const int64_t above = address >> (p.channel_bit + trailing_zeros(p.channels)) << p.channel_bit;
        return (above | below) >> kBurstBits;
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
    CYSCC_INLINE static int64_t division_of(const Parameters& p, int64_t address) { return channel_of(p, address); }
    CYSCC_INLINE static void before_service(const Parameters& p, Shared& shared, int64_t now) {
        const int64_t ticks = now * p.memory_mhz / p.machine_mhz;
        advance(shared.bursts, shared.bursts_now = ticks / p.burst);
        advance(shared.groups, shared.groups_now = ticks / p.t_ccd_l);
        advance(shared.activates, shared.activates_now = ticks / activate_window(p));
        advance(shared.links, now);
    }
    CYSCC_INLINE static int64_t serve(const Parameters& p, Shared& shared, int64_t ae, int64_t address, int64_t is_read,
                                      int64_t entered, int64_t now) {
        const int64_t channel = channel_of(p, address), inside = within(p, address);
        const int64_t number = channel * p.groups * p.banks + bank_within(p, inside), row = row_within(p, inside);
        Bank& bank = shared.banks[number];
        const int64_t arrival = entered + p.request_travel;
        const int64_t at = whole(arrival * p.memory_mhz + p.machine_mhz - 1, p.machine_mhz) + p.way_there;
        int64_t start = std::max(at, is_read ? bank.readable : bank.used);
        const int64_t group = number >> trailing_zeros(p.banks), window = activate_window(p);
        const int64_t opening = bank.row == row ? 0 : p.t_rcd + (bank.row == kClosed ? 0 : p.t_rp);
        // A command that does not fit before a refresh is performed after it.
        if (rarely(start + opening >= bank.refresh)) start = refresh(shared, bank, start, p);
        int64_t column, opened;
        for (;;) {
            column = std::max(start, bank.activated + p.t_rcd);
            opened = bank.activated;
            if (bank.row != row) {
                if (bank.row != kClosed) start = std::max(start, bank.closable) + p.t_rp;
                opened = std::max(start, bank.activated + p.t_ras + p.t_rp);
                const int64_t booked = book(shared.activates, channel, whole(opened, window), shared.activates_now, 1);
                if (booked < 0) return booked;
                opened = std::max(opened, booked * window);
                if (rarely(opened + p.t_rcd >= bank.refresh)) {
                    start = refresh(shared, bank, opened, p);
                    if (start > opened) continue;
                }
                column = opened + p.t_rcd;
            }
            int64_t booked = book(shared.groups, group, whole(column, p.t_ccd_l), shared.groups_now, 1);
            column = std::max(column, booked * p.t_ccd_l);
            booked = book(shared.bursts, channel, whole(column, p.burst), shared.bursts_now, 1);
            if (booked < 0) return booked;
            column = std::max(column, booked * p.burst);
            if (!rarely(column >= bank.refresh)) break;
            start = refresh(shared, bank, column, p);
        }
        if (bank.row == row) {
            ++bank.hits;
        } else {
            shared.conflicts += bank.row != kClosed;
            ++bank.openings;
            bank.row = row;
            bank.activated = opened;
            bank.closable = opened + p.t_ras;
        }
        return back(p, shared, bank, column, ae, address, is_read, arrival, now);
    }
    // When the result of a column command is back; updates the bank's earliest times.
    CYSCC_INLINE static int64_t back(const Parameters& p, Shared& shared, Bank& bank, int64_t column, int64_t ae,
                                     int64_t address, int64_t is_read, int64_t arrival, int64_t now) {
        const int64_t written = column + p.t_cwl + p.burst;
        bank.used = column;
        bank.readable = is_read ? column : written + p.t_wtr;
        bank.closable = std::max(bank.closable, is_read ? column + p.t_rtp : written + p.t_wr);
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
