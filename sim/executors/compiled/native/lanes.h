// Values of several instances of a module at once: a mask holds one bit of each, a vector a number of each.
#pragma once

#include <bit>
#include <cstdint>

namespace cyscc {

// Bit n belongs to instance n. Bits beyond the last instance may be anything.
using Mask = uint32_t;

inline void put_bit(Mask& mask, int lane, uint64_t bit) { mask = (mask & ~(1u << lane)) | uint32_t(bit) << lane; }

// The instances of the mask take a, the others b.
inline Mask select(Mask mask, Mask a, Mask b) { return (mask & a) | (~mask & b); }

}  // namespace cyscc

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#include "lanes_avx512.h"
#else
#include "lanes_portable.h"
#endif
