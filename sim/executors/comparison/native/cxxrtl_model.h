// The machine as a CXXRTL design, and access to its ports.
#pragma once

#include <cstdint>

#include "accelerator.h"

namespace cyscc {

using Top = cxxrtl_design::p_accelerator;

// A port of a number of bits, which CXXRTL keeps in words of 32 bits.
template <int kBits>
class Pin {
public:
    void bind(cxxrtl::value<kBits>& value) { value_ = &value; }
    void bind(cxxrtl::wire<kBits>& wire) { value_ = &wire.curr; }

    // Bits 64 * part up to 64 * part + 63.
    uint64_t get(int part = 0) const {
        const int word = 2 * part;
        return value_->data[word] | (word + 1 < kWords ? uint64_t(value_->data[word + 1]) << 32 : 0);
    }

    void set(uint64_t low, uint64_t high = 0) {
        for (int word = 0; word < kWords; ++word) {
            const uint64_t part = word < 2 ? low : high;
            value_->data[word] = uint32_t(part >> (word % 2 * 32));
        }
    }

private:
    static constexpr int kWords = (kBits + 31) / 32;
    cxxrtl::value<kBits>* value_ = nullptr;
};

class Model {
public:
    Model() {
        top.p_clk.set(false);
        top.step();
    }

    void tick() {
        top.p_clk.set(false);
        top.step();
        top.p_clk.set(true);
        top.step();
    }

    Top top;
};

}  // namespace cyscc
