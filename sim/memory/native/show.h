// The memory's outputs to an AE in a cycle: responses, readiness of ports, completed flushes.
//
// All code here accesses only the side and the mailbox of one AE, so AEs may run in parallel threads.
#pragma once

#include "record.h"
#include "rules.h"

namespace cyscc::memory {

// Moves the responses due in this cycle from the ports' rings to the mailbox; returns the mask of their ports.
CYSCC_RARE inline int64_t respond_far(Side& side, Mailbox& box, int64_t cycle) {
    int64_t shown = 0, soonest = kNever;
    for (int64_t waiting = side.far; waiting; waiting &= waiting - 1) {
        const int64_t number = trailing_zeros(waiting);
        Port& port = side.ports[number];
        const Response& response = port.responses[oldest(port.later)];
        if (response.seen > cycle) {
            soonest = std::min(soonest, response.seen);
            continue;
        }
        if (response.seen < cycle) note(side.error, Code::LATE, kRead, response.seen, side.number, number, cycle);
        shown |= int64_t(1) << number;
        box.tags[number] = response.tag;
        box.data[number] = response.data;
        if (++port.later.head == port.later.tail) {
            side.far ^= int64_t(1) << number;
        } else {
            soonest = std::min(soonest, port.responses[oldest(port.later)].seen);
        }
    }
    side.next_far = soonest;
    return shown;
}

// Refuses responses in cycles that the AE has skipped.
CYSCC_RARE inline void skip(Side& side, int64_t cycle) {
    const int64_t end = std::min(cycle, side.cycle + kNear);
    for (int64_t skipped = std::max(side.cycle, side.soonest); skipped < end; ++skipped) {
        int64_t& mask = side.due[skipped & (kNear - 1)];
        if (mask == 0) continue;
        note(side.error, Code::LATE, kRead, skipped, side.number, trailing_zeros(mask), cycle);
        mask = 0;
    }
}

// Moves the responses due in this cycle to the mailbox; returns the mask of their ports.
CYSCC_INLINE int64_t respond(Context& context, Side& side, Mailbox& box, int64_t cycle) {
    if (rarely(side.cycle != cycle)) skip(side, cycle);
    side.cycle = cycle + 1;
    const int64_t place = cycle & (kNear - 1);
    int64_t shown = side.due[place];
    if (shown) {
        side.due[place] = 0;
        const int64_t* const row = side.rows + 2 * kRow * place;
        for (int64_t port = 0; port < kPorts; ++port) {
            box.tags[port] = int64_t(uint64_t(row[port]) >> context.tag_shift) & context.tag_mask;
        }
        std::memcpy(box.data, row + kRow, 8 * kPorts);
    }
    if (rarely(side.next_far <= cycle)) shown |= respond_far(side, box, cycle);
    if (shown) {
        for (int64_t port = 0; port < kPorts; ++port) side.in_flight[port] -= uint32_t(shown) >> port & 1;
        Rules::answered(context.rules, side, shown);
    }
    return shown;
}

// Retires the flushes that complete in this cycle; returns the mask of their ports.
CYSCC_RARE inline int64_t complete_flushes(Side& side, int64_t cycle) {
    int64_t shown = 0, soonest = kNever;
    for (int64_t number = 0; number < kPorts; ++number) {
        Port& port = side.ports[number];
        if (port.flush_due <= cycle) {
            if (port.flush_due < cycle) {
                note(side.error, Code::LATE, kFlush, port.flush_due, side.number, number, cycle);
            }
            shown |= int64_t(1) << number;
            const bool waits = ++port.flushes.head != port.flushes.tail;
            port.flush_due = waits ? port.flush_times[oldest(port.flushes)] : kNever;
        }
        soonest = std::min(soonest, port.flush_due);
    }
    side.next_flush = soonest;
    return shown;
}

// Fills an AE's mailbox for a cycle; see `Memory.prepare`.
CYSCC_INLINE void prepare(Context& context, int64_t ae, int64_t cycle) {
    constexpr int64_t kEvery = (int64_t(1) << kPorts) - 1;
    Side& side = context.sides[ae];
    Mailbox& box = context.mailboxes[ae];
    const int64_t responses = respond(context, side, box, cycle);
    int64_t flushed = 0;
    if (rarely(side.next_flush <= cycle)) flushed = complete_flushes(side, cycle);
    const Stalled stalled = Rules::stalled(context.rules, side, cycle);
    if (((stalled.reads | stalled.writes) & kEvery) != 0) {
        if (context.kept == Kept::RECORD && cycle >= context.engine_records[ae].port_end) start_port_row(context, ae, cycle);
        // Over all ports: branches on the masks would be unpredictable, whereas this loop vectorizes.
        for (int64_t port = 0; port < kPorts; ++port) {
            side.stalls[port] += stalled.reads >> port & 1;
            side.stalls[kMaxPorts + port] += stalled.writes >> port & 1;
        }
    }
    box.read_ready = kEvery & ~stalled.reads;
    box.write_ready = kEvery & ~stalled.writes;
    box.responses = responses;
    box.flushed = flushed;
}

// The first cycle with a response not shown yet.
CYSCC_RARE inline int64_t soonest_response(const Side& side) {
    int64_t soonest = std::max(side.soonest, side.cycle);
    const int64_t end = side.cycle + kNear;
    while (soonest < end && side.due[soonest & (kNear - 1)] == 0) ++soonest;
    return std::min(soonest < end ? soonest : kNever, side.next_far);
}

// The first cycle with a response or a completed flush; see `Memory.next_event`. It is cached until it has passed;
// delivery moves it to an earlier cycle if needed.
CYSCC_INLINE int64_t next_event(Context& context, int64_t ae, int64_t cycle) {
    Side& side = context.sides[ae];
    if (Rules::restless(context.rules, side, cycle)) return cycle;
    if (side.soonest < cycle) side.soonest = soonest_response(side);
    return std::max(cycle, std::min(side.soonest, side.next_flush));
}

}  // namespace cyscc::memory
