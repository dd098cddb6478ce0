// Profile `hbm2`: the rules of DRAM with the times of HBM2; see sim/memory/profiles/hbm2.py.
#pragma once

#include "profiles/dram.h"

namespace cyscc::memory {

template <class Self>
struct Hbm2 : Dram<Self> {};

}  // namespace cyscc::memory
