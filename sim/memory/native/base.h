// What all of the memory's code uses: hints for the compiler, and arithmetic on words.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

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

// A hint never faults, whatever the address.
CYSCC_INLINE void prefetch(const int64_t* words, int64_t index) {
    __builtin_prefetch(reinterpret_cast<const void*>(uintptr_t(words) + 8 * uintptr_t(index)), 0, 3);
}

}  // namespace cyscc::memory
