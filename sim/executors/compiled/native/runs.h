// When the kernels of a module began and ended the runs that they are in, or were in last.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "state.h"

namespace cyscc {

template <int kKernels>
class Runs {
public:
    // Tells which kernels are idle from a cycle on; others have not changed.
    void note(uint32_t idle, int64_t cycle) {
        for (uint32_t left = idle ^ idle_; left; left &= left - 1) {
            const int n = std::countr_zero(left);
            (idle >> n & 1 ? ended_ : begun_)[n] = cycle;
        }
        idle_ = idle;
    }
    bool knows(uint32_t idle) const { return idle == idle_; }
    void resume(uint32_t idle) { idle_ = idle; }

    int64_t* write(int kernel, int64_t* row) const {
        *row++ = begun_[kernel];
        *row++ = ended_[kernel];
        return row;
    }

    void list(Inventory& inventory, int kernel) {
        inventory.add("begun", &begun_[kernel]);
        inventory.add("ended", &ended_[kernel]);
    }

private:
    static constexpr uint32_t kAll = (1u << kKernels) - 1;
    static constexpr int64_t kNone = -1;

    static constexpr auto nowhere() {
        std::array<int64_t, kKernels> cycles;
        cycles.fill(kNone);
        return cycles;
    }

    uint32_t idle_ = kAll;
    std::array<int64_t, kKernels> begun_ = nowhere();
    std::array<int64_t, kKernels> ended_ = nowhere();
};

}  // namespace cyscc
