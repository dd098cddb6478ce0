// The record as it is taken: counts of complete intervals, and sums since they were last taken; see `Recorder` in
// sim/memory/recording.py, which owns the arrays.
#pragma once

#include "record.h"

namespace cyscc::memory {

// Adds the counts by word of the intervals from `first` until before `stop` to their banks, and clears them. Each
// interval has `of_row` words in `banks`: for each bank its accesses and waiting cycles.
inline void drain_banks(ServiceRecord& record, int64_t first, int64_t stop, const int64_t* bank_by_word, int64_t* banks,
                        int64_t of_row) {
    const int64_t words = record.word_mask + 1;
    for (int64_t number = first; number < stop; ++number, banks += of_row) {
        const int64_t row = number & record.last;
        int64_t& filled = record.filled[row];
        if (filled & 1) {
            const int64_t* const since = record.since + row * words;
            for (int64_t word = 0; word < words; ++word) {
                int64_t* const bank = banks + 2 * bank_by_word[word];
                bank[0] += since[word] >> kAccesses & kCount;
                bank[1] += since[word] & kWaited;
            }
        }
        if (filled & 2) {
            int64_t* const more = record.more + 2 * row * words;
            for (int64_t word = 0; word < words; ++word) {
                int64_t* const bank = banks + 2 * bank_by_word[word];
                bank[0] += more[2 * word];
                bank[1] += more[2 * word + 1];
            }
            std::fill(more, more + 2 * words, 0);
        }
        filled = 0;
    }
}

// Lists the counts since the last call as rows of bank, kind, accesses and waiting cycles; returns the number of rows.
// The sums by bank and kind are 0 before and afterwards.
inline int64_t take_banks(const ServiceRecord& record, int64_t* taken, const int64_t* bank_by_word, int64_t* sums,
                          int64_t banks, int64_t* found) {
    const int64_t words = record.word_mask + 1;
    for (int64_t kind = 0; kind < kKinds; ++kind) {
        for (int64_t word = 0; word < words; ++word, taken += 2) {
            const int64_t place = kind * words + word, count = record.counts[place];
            const int64_t accesses = record.totals[2 * place] + (count >> kAccesses);
            const int64_t waited = record.totals[2 * place + 1] + (count & kWaited);
            if (accesses == taken[0] && waited == taken[1]) continue;
            int64_t* const sum = sums + 2 * (bank_by_word[word] * kKinds + kind);
            sum[0] += accesses - taken[0];
            sum[1] += waited - taken[1];
            taken[0] = accesses;
            taken[1] = waited;
        }
    }
    const int64_t* const begin = found;
    for (int64_t bank = 0; bank < banks; ++bank) {
        for (int64_t kind = 0; kind < kKinds; ++kind, sums += 2) {
            if (sums[0] == 0 && sums[1] == 0) continue;
            for (const int64_t number : {bank, kind, sums[0], sums[1]}) *found++ = number;
            sums[0] = sums[1] = 0;
        }
    }
    return (found - begin) / 4;
}

// Lists the reads since the last call as rows of latency and reads; returns the number of rows.
inline int64_t take_latencies(const Context& context, int64_t* taken, int64_t* found) {
    const int64_t* const begin = found;
    for (int64_t latency = 0; latency < kHistogramBins; ++latency) {
        int64_t reads = 0;
        for (int64_t ae = 0; ae < kEngines; ++ae) reads += context.sides[ae].statistics.histogram[latency];
        if (reads == taken[latency]) continue;
        *found++ = latency;
        *found++ = reads - taken[latency];
        taken[latency] = reads;
    }
    return (found - begin) / 2;
}

}  // namespace cyscc::memory
