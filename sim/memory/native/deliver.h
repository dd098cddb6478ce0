// Delivery of responses: the AE's own part of the timing of its responses.
//
// All code here accesses only the side and the batch of one AE, so AEs may run in parallel threads.
#pragma once

#include "record.h"
#include "rules.h"

namespace cyscc::memory {

// Appends a response that is far ahead to the ring of its port.
CYSCC_RARE inline void push_far(Side& side, int64_t number, int64_t seen, int64_t tag, int64_t data, int64_t now) {
    Port& port = side.ports[number];
    if (full(port.later)) {
        note(side.error, Code::RING_FULL, kRead, port.later.mask + 1, side.number, number, now);
        return;
    }
    port.responses[push(port.later)] = {seen, tag, data};
    side.far |= int64_t(1) << number;
    side.next_far = std::min(side.next_far, seen);
}

// Queues a flush, complete at `done` at the earliest, after the writes and the other flushes of its port.
CYSCC_RARE inline void push_flush(Side& side, int64_t number, int64_t done, int64_t now) {
    Port& port = side.ports[number];
    done = std::max({done, side.last_written[number], port.last_flushed + 1});
    port.last_flushed = done;
    if (full(port.flushes)) {
        note(side.error, Code::RING_FULL, kFlush, kFlushDepth, side.number, number, now);
        return;
    }
    if (port.flushes.head == port.flushes.tail) {
        port.flush_due = done;
        side.next_flush = std::min(done, side.next_flush);
    }
    port.flush_times[push(port.flushes)] = done;
}

// The time that a user's rules answered; refuses one that is too early, or too far ahead.
CYSCC_RARE inline int64_t checked(Side& side, int64_t number, int64_t kind, int64_t answer, int64_t now, int64_t least) {
    if (now + least <= answer && answer <= now + kLatest) return answer;
    note(side.error, Code::ANSWER, kind, answer, side.number, number, now);
    return now;
}

CYSCC_INLINE void count_latency(Statistics& statistics, int64_t latency) {
    if (rarely(latency >= kHistogramBins - 1)) {
        statistics.latency_excess += latency - (kHistogramBins - 1);
        statistics.latency_max = std::max(latency, statistics.latency_max);
        latency = kHistogramBins - 1;
    }
    ++statistics.histogram[latency];
}

// Queues the response of a read that is back at a cycle; returns the cycle in which it is seen.
CYSCC_INLINE int64_t respond(const Context& context, Side& side, int64_t number, const Request& request, int64_t back) {
    const int64_t cycle = cycle_of(request), seen = std::max(back, side.last_seen[number] + 1);
    side.last_seen[number] = seen;
    count_latency(side.statistics, seen - cycle);
    if (rarely(uint64_t(seen - side.cycle) >= kNear)) {
        const int64_t tag = request.payload >> context.tag_shift & context.tag_mask;
        push_far(side, number, seen, tag, request.data[0], cycle);
    } else {
        const int64_t place = seen & (kNear - 1);
        side.due[place] |= int64_t(1) << number;
        int64_t* const row = side.rows + 2 * kRow * place + number;
        row[0] = request.payload;
        row[kRow] = request.data[0];
    }
    return seen;
}

// Logs an access if it is among those chosen: the request, with the cycle of its response as its time.
inline void log_access(AccessLog& log, const Request& request, int64_t address, int64_t answered) {
    const int64_t cycle = cycle_of(request);
    if (cycle < log.first || cycle >= log.end) return;
    for (int64_t index = 0; index < log.ranges; ++index) {
        const AccessRange& chosen = log.chosen[index];
        if (address < chosen.start || address >= chosen.end) continue;
        if ((request.data[0] & chosen.mask) != chosen.value) continue;
        if (log.count < log.capacity) {
            log.rows[log.count] = {request.when, request.payload, {request.data[0]}, answered};
        }
        ++log.count;
        return;
    }
}

// Queues the responses and completions of some requests of a batch. `kKept` is what is kept of them, `kInOrder` whether
// they lie in the order of acceptance.
template <int64_t kKept, bool kInOrder>
inline void deliver_run(Context& context, Side& side, Batch& batch, int64_t first, int64_t stop) {
    const Parameters& rules = context.rules;
    const int64_t size_bit = context.size_bit, address_mask = context.address_mask;
    int64_t soonest = side.soonest, order_wait = 0, wide_reads = 0, writes = 0, wide_writes = 0, flushes = 0;
    EngineRecord* const record = kKept == Kept::RECORD ? context.engine_records + side.number : nullptr;
    int64_t* const row =
        kKept == Kept::RECORD ? record->arrays + (record->row & record->last) * kKinds * kKindWords : nullptr;
    AccessLog* const log = kKept == Kept::LOG ? context.access_logs + side.number : nullptr;
    const Request* const requests = batch.queues[0].requests;
    const int64_t* const order = batch.order;
    for (int64_t index = first; index < stop; ++index) {
        // A copy, which no store changes, is read once.
        const Request request = requests[kInOrder ? index : order[index]];
        const int64_t number = port_of(request), wide = request.payload >> size_bit & 1;
        int64_t answered;
        if (kind_of(request) == kRead) {
            wide_reads += wide;
            int64_t back = Rules::read_back(rules, side, number, request);
            if constexpr (Rules::kOutside) {
                back = checked(side, number, kRead, back, cycle_of(request), context.quantum);
            }
            answered = respond(context, side, number, request, back);
            soonest = std::min(soonest, answered);
            order_wait += answered - back;
            if constexpr (kKept == Kept::RECORD) {
                int64_t* const counts = row + array_of(request) * kKindWords;
                ++counts[0];
                counts[2] += answered - cycle_of(request);
            }
        } else if (kind_of(request) == kWrite) {
            ++writes;
            wide_writes += wide;
            answered = Rules::written(rules, side, number, request);
            if constexpr (Rules::kOutside) answered = checked(side, number, kWrite, answered, cycle_of(request), 0);
            side.last_written[number] = std::max(side.last_written[number], answered);
            if constexpr (kKept == Kept::RECORD) ++row[array_of(request) * kKindWords + 1];
        } else {
            ++flushes;
            const int64_t now = cycle_of(request);
            int64_t complete = Rules::flushed(rules, now);
            if constexpr (Rules::kOutside) complete = checked(side, number, kFlush, complete, now, context.quantum);
            push_flush(side, number, complete, now);
            continue;
        }
        if constexpr (kKept == Kept::LOG) log_access(*log, request, request.payload & address_mask, answered);
    }
    Statistics& statistics = side.statistics;
    statistics.reads4 += stop - first - flushes - writes - wide_reads;
    statistics.reads8 += wide_reads;
    statistics.writes4 += writes - wide_writes;
    statistics.writes8 += wide_writes;
    statistics.flushes += flushes;
    statistics.order_wait += order_wait;
    side.soonest = soonest;
    if constexpr (kKept == Kept::RECORD) record->engines[(record->row & record->last) * kEngineWords] += order_wait;
}

// Queues and records the responses of a batch, by intervals of acceptance.
template <bool kInOrder>
inline void deliver_recorded(Context& context, Side& side, Batch& batch) {
    EngineRecord& record = context.engine_records[side.number];
    const Request* const requests = batch.queues[0].requests;
    const auto cycle = [&](int64_t number) { return cycle_of(requests[place_of(batch, number, context.parts)]); };
    for (int64_t first = 0, stop; first != batch.count; first = stop) {
        if (cycle(first) >= record.end) start_row(context, record, cycle(first));
        for (stop = batch.count; cycle(stop - 1) >= record.end;) --stop;
        deliver_run<Kept::RECORD, kInOrder>(context, side, batch, first, stop);
    }
}

template <bool kInOrder>
inline void deliver_batch(Context& context, Side& side, Batch& batch) {
    if (context.kept == Kept::NOTHING) {
        deliver_run<Kept::NOTHING, kInOrder>(context, side, batch, 0, batch.count);
    } else if (context.kept == Kept::LOG) {
        deliver_run<Kept::LOG, kInOrder>(context, side, batch, 0, batch.count);
    } else {
        deliver_recorded<kInOrder>(context, side, batch);
    }
}

// Queues the responses to an AE's requests of a round; see `Memory.deliver`.
inline void deliver(Context& context, int64_t ae) {
    Side& side = context.sides[ae];
    Batch& batch = side.batches[context.delivered];
    if (batch.count == 0) return;
    (context.parts == 1 ? deliver_batch<true> : deliver_batch<false>)(context, side, batch);
    empty(batch, context.parts);
}

}  // namespace cyscc::memory
