// The machine as one Verilated model, and access to its ports.
#pragma once

#include <type_traits>

#include "Vaccelerator.h"
#include "pins.h"

namespace cyscc {

using Top = Vaccelerator;

// A port of a number of bits, which Verilator keeps in the smallest type that holds them.
template <int kBits>
using Pin = BoundPin<std::conditional_t<
    kBits <= 8, CData,
    std::conditional_t<kBits <= 16, SData,
                       std::conditional_t<kBits <= 32, IData,
                                          std::conditional_t<kBits <= 64, QData, VlWide<(kBits + 31) / 32>>>>>>;

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
