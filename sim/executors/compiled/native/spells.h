// Logging of the spells of a module's kernels.
#pragma once

#include <bit>
#include <cstdint>

#include "lanes.h"
#include "spell_log.h"

namespace cyscc {

// The spells of kernels that show a number each in every cycle.
template <int kKernels>
class Spells {
public:
    using Numbers = uint8_t[kKernels];

    bool wanted() const { return log_.spells; }
    const int64_t* limits() const { return log_.limits; }
    void want(const SpellLog& log) {
        log_ = log;
        forget();
    }

    // Whatever is shown next begins then.
    void forget() {
        for (uint8_t& number : shown_) number = kNone;
    }

    // From a cycle on these numbers are shown.
    void show(const Numbers& now, int64_t cycle) {
        for (Bits left = among<kKernels>(~equal(load(now), load(shown_))); left; left &= left - 1) {
            const int n = std::countr_zero(left);
            write(n, cycle);
            shown_[n] = now[n];
            begun_[n] = cycle;
        }
    }

    // Writes the spells that are under way, up to a cycle.
    void write_open(int64_t cycle) {
        for (int n = 0; n < kKernels; ++n) write(n, cycle);
    }

private:
    static constexpr uint8_t kNone = 63;  // which nobody wants

    void write(int n, int64_t end) {
        if (end - begun_[n] < log_.least || !(log_.wanted >> shown_[n] & 1)) return;
        const int64_t place = (*log_.written)++;
        if (place < log_.places) log_.spells[place] = {log_.engine, log_.first + n, int64_t(shown_[n]), begun_[n], end};
    }

    SpellLog log_ = {};
    alignas(64) Numbers shown_ = {};
    int64_t begun_[kKernels] = {};
};

}  // namespace cyscc
