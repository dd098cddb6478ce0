// What is counted of the kernels of a module in one AE, however they are executed.
#pragma once

#include <cstring>
#include <string>

#include "fill_tally.h"
#include "kernels.h"
#include "lanes.h"
#include "numbers.h"
#include "runs.h"

namespace cyscc {

// A module shows causes and fill levels of its kernels by `show_causes` and `show_fill`, and lists one by `list_kernel`.
template <class Module, int kKernels, int kFifos>
class CountedKernels : public Kernels {
public:
    void record() override { recording_ = true; }

    int64_t* write(int64_t cycle, int64_t* row) override {
        bring_up(cycle);
        for (int n = 0; n < kKernels; ++n) {
            for (const auto& cycles : causes_) *row++ = int64_t(cycles[n]);
            row = runs_.write(n, fill_.write(n, row));
        }
        return row;
    }
    void begin_interval() override { fill_.begin_interval(); }
    void begin_instruction(int64_t cycle) override {
        bring_up(cycle);
        fill_.begin_instruction();
    }

    void list(Inventory& inventory, const std::string& place) override {
        inventory.enter(place);
        inventory.add("turns", &turns_);
        for (int n = 0; n < kKernels; ++n) {
            inventory.enter(place + std::to_string(n));
            inventory.add("causes", &causes_[0][n], kCauses, sizeof causes_[0]);
            fill_.list(inventory, n);
            runs_.list(inventory, n);
            module().list_kernel(inventory, n);
        }
    }

protected:
    using Array = uint64_t[kKernels];
    using Fill = FillTally<kKernels, kFifos>;

    // Counts the causes up to a cycle. In the tally each kernel has a field of a few bits a cause.
    void count(int64_t cycle) {
        const int64_t since = counted_, elapsed = cycle - since;
        if (!elapsed) return;
        counted_ = cycle;
        alignas(64) Array now;
        module().show_causes(now);
        const Mask idling = idle(load(now));
        if (!runs_.knows(idling)) runs_.note(idling, since);
        if (recording_) {
            alignas(64) typename Fill::Shown fill;
            module().show_fill(fill);
            fill_.count(fill, elapsed);
        }
        if (elapsed == 1) {
            store(tally_, load(tally_) + shl(Long(1), times<kTallyBits>(load(now))));
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
        alignas(64) Array now;
        module().show_causes(now);
        runs_.resume(idle(load(now)));
    }

private:
    using Long = Longs<kKernels>;
    static constexpr int kTallyBits = 64 / kCauses;
    static constexpr int kMostTallied = (1 << kTallyBits) - 1;
    static_assert(kTallyBits >= 4, "the tally has a field for each cause, and is spilled when one may be full");

    Module& module() { return static_cast<Module&>(*this); }

    // By shifts: a vector's multiplication takes as long as a dozen of them.
    template <int kFactor>
    static Long times(const Long& a) {
        if constexpr (kFactor == 1) return a;
        else if constexpr (kFactor % 2) return times<kFactor / 2>(shl<1>(a)) + a;
        else return times<kFactor / 2>(shl<1>(a));
    }

    static Mask idle(const Long& causes) { return equal(causes, Long(kIdle)) & ((1u << kKernels) - 1); }

    void spill() {
        Long left = load(tally_);
        for (Array& cycles : causes_) {
            store(cycles, load(cycles) + (left & Long(kMostTallied)));
            left = shr<kTallyBits>(left);
        }
        std::memset(tally_, 0, sizeof tally_);
        tallied_ = 0;
    }

    int64_t counted_ = 0;
    int tallied_ = 0;
    alignas(64) Array tally_ = {};
    alignas(64) Array causes_[kCauses] = {};
    bool recording_ = false;
    Runs<kKernels> runs_;
    Fill fill_;
};

}  // namespace cyscc
