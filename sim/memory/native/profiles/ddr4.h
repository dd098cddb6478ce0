// Profile `ddr4`: the rules of DRAM with the times of DDR4; see sim/memory/profiles/ddr4.py.
#pragma once

#include "profiles/dram.h"

namespace cyscc::memory {

template <class Self>
struct Ddr4 : Dram<Self> {};

}  // namespace cyscc::memory
