// The machine as one Verilated model, and access to its ports.
#pragma once

#include <cstdint>
#include <type_traits>

#include "Vaccelerator.h"

namespace cyscc {

using Top = Vaccelerator;

// A port of a number of bits, which Verilator keeps in the smallest type that holds them.
template <int kBits>
class Pin {
public:
    using Value = std::conditional_t<
        kBits <= 8, CData,
        std::conditional_t<kBits <= 16, SData,
                           std::conditional_t<kBits <= 32, IData,
                                              std::conditional_t<kBits <= 64, QData, VlWide<(kBits + 31) / 32>>>>>;

    void bind(Value& value) { value_ = &value; }

    // Bits 64 * part up to 64 * part + 63.
    uint64_t get(int part = 0) const {
        if constexpr (kBits <= 64) {
            return *value_;
        } else {
            const int word = 2 * part;
            return (*value_)[word] | (word + 1 < kWords ? uint64_t((*value_)[word + 1]) << 32 : 0);
        }
    }

    void set(uint64_t low, [[maybe_unused]] uint64_t high = 0) {
        if constexpr (kBits <= 64) {
            *value_ = Value(low);
        } else {
            (*value_)[0] = uint32_t(low);
            (*value_)[1] = uint32_t(low >> 32);
            (*value_)[2] = uint32_t(high);
            if constexpr (kWords > 3) (*value_)[3] = uint32_t(high >> 32);
        }
    }

private:
    static constexpr int kWords = (kBits + 31) / 32;
    static_assert(kWords <= 4);
    Value* value_ = nullptr;
};

class Model {
public:
    Model() : top(&context_, "accelerator") {
        top.rst = 0;
        top.clk = 0;
        top.eval();
    }

    void tick() {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
    }

private:
    VerilatedContext context_;

public:
    Top top;
};

}  // namespace cyscc
