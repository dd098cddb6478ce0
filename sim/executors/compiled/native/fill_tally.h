// How full the FIFOs of some kernels have been, counted for all of them at once.
#pragma once

#include <cstring>
#include <string>

#include "lanes.h"
#include "numbers.h"
#include "state.h"

namespace cyscc {

template <int kLanes, int kFifos>
class FillTally {
public:
    static constexpr int kEachWord = 64 / kFillBits;
    static constexpr int kWords = (kFifos + kEachWord - 1) / kEachWord;
    // As the kernels show it: a field for each FIFO.
    using Shown = uint64_t[kWords][kLanes];

    // Counts cycles in which FIFOs were as they are shown.
    void count(const Shown& now, int64_t cycles) {
        for (int word = 0; word < kWords; ++word) store(most_[word], cyscc::most(load(most_[word]), load(now[word])));
        if (cycles == 1) {
            for (int word = 0; word < kWords; ++word) store(tally_[word], load(tally_[word]) + load(now[word]));
            if (++tallied_ == kMostTallied) spill();
        } else {
            for (int fifo = 0; fifo < kFifos; ++fifo)
                store(sums_[fifo], load(sums_[fifo]) + field(now, fifo) * Long(uint64_t(cycles)));
        }
    }

    // Brings the numbers up to what was counted, before they are looked at.
    void settle() {
        spill();
        for (int fifo = 0; fifo < kFifos; ++fifo) {
            const Long most = field(most_, fifo);
            for (Array* all : {interval_most_, instruction_most_}) {
                const Long before = load(all[fifo]);
                store(all[fifo], select(less(before, most), most, before));
            }
        }
        std::memset(most_, 0, sizeof most_);
    }

    void begin_interval() { std::memset(interval_most_, 0, sizeof interval_most_); }
    void begin_instruction() { std::memset(instruction_most_, 0, sizeof instruction_most_); }

    // What was counted since the state was set is forgotten.
    void resume() {
        std::memset(tally_, 0, sizeof tally_);
        std::memset(most_, 0, sizeof most_);
        tallied_ = 0;
    }

    int64_t* write(int lane, int64_t* row) const {
        for (const Array* all : {sums_, interval_most_, instruction_most_})
            for (int fifo = 0; fifo < kFifos; ++fifo) *row++ = int64_t(all[fifo][lane]);
        return row;
    }

    void list(Inventory& inventory, int lane) {
        inventory.add("fill", &sums_[0][lane], kFifos, sizeof(Array));
        inventory.add("interval_most", &interval_most_[0][lane], kFifos, sizeof(Array));
        inventory.add("instruction_most", &instruction_most_[0][lane], kFifos, sizeof(Array));
    }

private:
    using Array = uint64_t[kLanes];
    using Long = Longs<kLanes>;
    static_assert(kFillBits == 16, "as `most` has it");
    static constexpr int kMostTallied = ((1 << kFillBits) - 1) / kMostHeld;

    static Long field(const Shown& words, int fifo) {
        const Long by(uint64_t(fifo % kEachWord * kFillBits));
        return shr(load(words[fifo / kEachWord]), by) & Long((1ull << kFillBits) - 1);
    }

    void spill() {
        for (int fifo = 0; fifo < kFifos; ++fifo) store(sums_[fifo], load(sums_[fifo]) + field(tally_, fifo));
        std::memset(tally_, 0, sizeof tally_);
        tallied_ = 0;
    }

    alignas(64) Shown tally_ = {};  // sums that fit into the fields, of the last cycles
    alignas(64) Shown most_ = {};
    int tallied_ = 0;
    alignas(64) Array sums_[kFifos] = {};
    alignas(64) Array interval_most_[kFifos] = {};
    alignas(64) Array instruction_most_[kFifos] = {};
};

}  // namespace cyscc
