// What is counted of the kernels of a module in one AE, however they are executed.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "kernels.h"
#include "lanes.h"
#include "numbers.h"
#include "spells.h"

namespace cyscc {

// How full the FIFOs of some kernels have been, counted for all of them at once.
template <int kLanes, int kFifos>
class FillTally {
public:
    // As the kernels show it.
    using Shown = uint32_t[kFifos][kLanes];

    // Counts cycles in which FIFOs were as they are shown.
    void count(const Shown& now, int64_t cycles) {
        for (int fifo = 0; fifo < kFifos; ++fifo) store(most_[fifo], cyscc::most(load(most_[fifo]), load(now[fifo])));
        if (cycles == 1) {
            for (int fifo = 0; fifo < kFifos; ++fifo) store(tally_[fifo], load(tally_[fifo]) + load(now[fifo]));
            if (++tallied_ == kMostTallied) spill();
        } else {
            for (int fifo = 0; fifo < kFifos; ++fifo)
                store(sums_[fifo], load(sums_[fifo]) + as<Long>(load(now[fifo])) * Long(uint64_t(cycles)));
        }
    }

    // Brings the numbers up to what was counted, before they are looked at.
    void settle() {
        spill();
        for (int fifo = 0; fifo < kFifos; ++fifo) {
            const Long most = as<Long>(load(most_[fifo]));
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
    static constexpr uint32_t kMostTallied = ~uint32_t(0) / kMostHeld;

    void spill() {
        for (int fifo = 0; fifo < kFifos; ++fifo) store(sums_[fifo], load(sums_[fifo]) + as<Long>(load(tally_[fifo])));
        std::memset(tally_, 0, sizeof tally_);
        tallied_ = 0;
    }

    alignas(64) Shown tally_ = {};  // sums of the last cycles
    alignas(64) Shown most_ = {};
    uint32_t tallied_ = 0;
    alignas(64) Array sums_[kFifos] = {};
    alignas(64) Array interval_most_[kFifos] = {};
    alignas(64) Array instruction_most_[kFifos] = {};
};

// A module shows causes and fill levels of its kernels by `show_causes` and `show_fill`, and lists one by `list_kernel`.
template <class Module, int kKernels, int kFifos>
class CountedKernels : public Kernels {
public:
    void record() override { recording_ = true; }

    int64_t* write(int64_t cycle, int64_t* row) override {
        bring_up(cycle);
        for (int n = 0; n < kKernels; ++n) {
            for (const auto& cycles : causes_) *row++ = int64_t(cycles[n]);
            row = fill_.write(n, row);
            *row++ = begun_[n];
            *row++ = ended_[n];
        }
        return row;
    }
    void begin_interval() override { fill_.begin_interval(); }
    void begin_instruction(int64_t cycle) override {
        bring_up(cycle);
        fill_.begin_instruction();
    }

    void log_spells(int64_t cycle, const SpellLog& log) override {
        bring_up(cycle);
        spells_.want(log);
    }
    void write_spells(int64_t cycle, bool open) override {
        bring_up(cycle);
        if (open) spells_.write_open(cycle);
    }

    void list(Inventory& inventory, const std::string& place) override {
        inventory.enter(place);
        inventory.add("turns", &turns_);
        for (int n = 0; n < kKernels; ++n) {
            inventory.enter(place + std::to_string(n));
            inventory.add("causes", &causes_[0][n], kCauses, sizeof causes_[0]);
            fill_.list(inventory, n);
            inventory.add("begun", &begun_[n]);
            inventory.add("ended", &ended_[n]);
            module().list_kernel(inventory, n);
        }
    }

protected:
    using Array = uint64_t[kKernels];
    using Numbers = typename Spells<kKernels>::Numbers;
    using Fill = FillTally<kKernels, kFifos>;

    // Counts the causes up to a cycle.
    void count(int64_t cycle) {
        const int64_t since = counted_, elapsed = cycle - since;
        if (!elapsed) return;
        counted_ = cycle;
        alignas(64) Numbers now;
        module().show_causes(now);
        const Bits idling = idle(load(now));
        if (idling != idle_) note_runs(idling, since);
        if (spells_.wanted()) show_spells(now, since);
        if (recording_) {
            alignas(64) typename Fill::Shown fill;
            module().show_fill(fill);
            fill_.count(fill, elapsed);
        }
        if (elapsed == 1) {
            const Byte causes = load(now), one(1);
            for (int cause = 0; cause < kCauses; ++cause)
                store(tally_[cause], load(tally_[cause]) + from_mask(equal(causes, Byte(uint8_t(cause))), one));
            if (++tallied_ == kMostTallied) spill();
        } else {
            for (int n = 0; n < kKernels; ++n) causes_[now[n]][n] += elapsed;
        }
    }

    void bring_up(int64_t cycle) {
        count(cycle);
        spill();
        fill_.settle();
    }

    // What was counted since the state was set is forgotten.
    void resume_counts(int64_t cycle) {
        counted_ = cycle;
        tallied_ = 0;
        std::memset(tally_, 0, sizeof tally_);
        fill_.resume();
        alignas(64) Numbers now;
        module().show_causes(now);
        idle_ = idle(load(now));
        spells_.forget();
    }

private:
    using Byte = Bytes<kKernels>;
    using Long = Longs<kKernels>;
    static constexpr Bits kAll = (1u << kKernels) - 1;
    static constexpr int kMostTallied = 255;

    Module& module() { return static_cast<Module&>(*this); }

    static Bits idle(const Byte& causes) { return among<kKernels>(equal(causes, Byte(kIdle))); }

    // Notes which kernels are idle from a cycle on; others have not changed.
    void note_runs(Bits idle, int64_t cycle) {
        for (Bits left = idle ^ idle_; left; left &= left - 1) {
            const int n = std::countr_zero(left);
            (idle >> n & 1 ? ended_ : begun_)[n] = cycle;
        }
        idle_ = idle;
    }

    // Out of line, since nearly no run wants spells.
    __attribute__((noinline)) void show_spells(const Numbers& causes, int64_t cycle) {
        if (!spells_.limits()) return spells_.show(causes, cycle);
        alignas(64) typename Fill::Shown fill;
        module().show_fill(fill);
        Bits above = 0;
        for (int fifo = 0; fifo < kFifos; ++fifo)
            above |= less(Words<kKernels>(uint32_t(spells_.limits()[fifo])), load(fill[fifo])).bits();
        alignas(64) Numbers numbers;
        for (int n = 0; n < kKernels; ++n) numbers[n] = above >> n & 1;
        spells_.show(numbers, cycle);
    }

    static constexpr auto nowhere() {
        std::array<int64_t, kKernels> cycles;
        cycles.fill(-1);
        return cycles;
    }

    void spill() {
        for (int cause = 0; cause < kCauses; ++cause)
            store(causes_[cause], load(causes_[cause]) + as<Long>(load(tally_[cause])));
        std::memset(tally_, 0, sizeof tally_);
        tallied_ = 0;
    }

    int64_t counted_ = 0;
    int tallied_ = 0;
    alignas(64) Numbers tally_[kCauses] = {};  // of the last cycles
    alignas(64) Array causes_[kCauses] = {};
    bool recording_ = false;
    Bits idle_ = kAll;
    // When each kernel began and ended the run that it is in, or was in last.
    std::array<int64_t, kKernels> begun_ = nowhere();
    std::array<int64_t, kKernels> ended_ = nowhere();
    Fill fill_;
    Spells<kKernels> spells_;
};

}  // namespace cyscc
