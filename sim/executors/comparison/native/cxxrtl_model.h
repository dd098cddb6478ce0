// The machine as a CXXRTL design, and access to its ports.
#pragma once

#include <cstdint>

#include "accelerator.h"
#include "pins.h"

namespace cyscc {

using Top = cxxrtl_design::p_accelerator;

// A port of a number of bits, which CXXRTL keeps in words of 32 bits.
template <int kBits>
class Pin : public BoundPin<uint32_t[(kBits + 31) / 32]> {
    using Base = BoundPin<uint32_t[(kBits + 31) / 32]>;

public:
    void bind(cxxrtl::value<kBits>& value) { Base::bind(value.data); }
    void bind(cxxrtl::wire<kBits>& wire) { Base::bind(wire.curr.data); }
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
