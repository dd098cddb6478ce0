// What all of the memory's code uses: hints for the compiler, and arithmetic on words.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// In every caller: the memory's loops are one function each.
#define CYSCC_INLINE inline __attribute__((always_inline))
// Out of its callers, whose registers it would take, and away from hot code.
#define CYSCC_RARE __attribute__((noinline, cold))

namespace cyscc::memory {

CYSCC_INLINE bool rarely(bool condition) { return __builtin_expect(condition, false); }

// Index of the lowest set bit of a nonzero word.
CYSCC_INLINE int64_t trailing_zeros(int64_t word) { return std::countr_zero(uint64_t(word)); }

// Remainder with the sign of the divisor.
CYSCC_INLINE int64_t modulo(int64_t number, int64_t divisor) {
    const int64_t rest = number % divisor;
    return rest < 0 ? rest + divisor : rest;
}

// Bits of a word, of those that are 1 in a mask, as instructions of a processor that are fast there.
#if defined(__BMI2__) && !defined(__znver1__) && !defined(__znver2__)
inline constexpr bool kFastBits = true;
CYSCC_INLINE int64_t taken_bits(int64_t word, int64_t mask) {
    return int64_t(_pext_u64(uint64_t(word), uint64_t(mask)));
}
CYSCC_INLINE uint64_t placed_bits(uint64_t bits, uint64_t mask) { return _pdep_u64(bits, mask); }
#else
inline constexpr bool kFastBits = false;
CYSCC_INLINE int64_t taken_bits(int64_t, int64_t) { return 0; }
CYSCC_INLINE uint64_t placed_bits(uint64_t, uint64_t) { return 0; }
#endif

// A hint never faults, whatever the address.
CYSCC_INLINE void prefetch(const void* begin, int64_t bytes) {
    __builtin_prefetch(reinterpret_cast<const void*>(uintptr_t(begin) + uintptr_t(bytes)), 0, 3);
}

}  // namespace cyscc::memory
