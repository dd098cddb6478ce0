// Vectors of `lanes.h` for any processor, by the compiler's own vector types.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace cyscc {

// Numbers of each of up to 16 instances, in as many registers as it takes.
template <class Number, int kLanes>
struct Numbers {
#if defined(__AVX2__)
    static constexpr int kBytes = 32;
#else
    static constexpr int kBytes = 16;
#endif
    static constexpr int kEach = kBytes / int(sizeof(Number));
    static constexpr int kParts = (kLanes + kEach - 1) / kEach;
    typedef Number Part __attribute__((vector_size(kBytes)));
    Part v[kParts];

    Numbers() = default;
    explicit Numbers(Number value) {
        for (auto& part : v) part = value - Part{};
    }
    template <class Function>
    static Numbers make(Function function) {
        Numbers result;
        for (int n = 0; n < kParts; ++n) result.v[n] = function(n);
        return result;
    }

    // All bits of the numbers whose instance is in a mask.
    static Part chosen(Mask mask, int n) {
        Part bits;
        if constexpr (kEach == 8) bits = Part{1, 2, 4, 8, 16, 32, 64, 128};
        else if constexpr (kEach == 4) bits = Part{1, 2, 4, 8};
        else bits = Part{1, 2};
        return Part(((Number(mask >> n * kEach) - Part{}) & bits) == bits);
    }

    // The mask of what is all ones, where everything else is zero.
    template <class Function>
    static Mask gather(Function function) {
        Mask mask = 0;
        for (int n = 0; n < kParts; ++n) mask |= signs(Part(function(n))) << n * kEach;
        return mask;
    }

private:
    static Mask signs(Part part) {
#if defined(__AVX2__)
        if constexpr (sizeof(Number) == 4) return Mask(_mm256_movemask_ps(__m256(part)));
        else return Mask(_mm256_movemask_pd(__m256d(part)));
#elif defined(__SSE2__)
        if constexpr (sizeof(Number) == 4) return Mask(_mm_movemask_ps(__m128(part)));
        else return Mask(_mm_movemask_pd(__m128d(part)));
#else
        Mask mask = 0;
        for (int lane = 0; lane < kEach; ++lane) mask |= Mask(part[lane] & 1) << lane;
        return mask;
#endif
    }
};

template <int kLanes>
using Words = Numbers<uint32_t, kLanes>;
template <int kLanes>
using Longs = Numbers<uint64_t, kLanes>;

#define CYSCC_OPERATOR(sign)                                                                                  \
    template <class Number, int k>                                                                            \
    inline Numbers<Number, k> operator sign(const Numbers<Number, k>& a, const Numbers<Number, k>& b) {       \
        return Numbers<Number, k>::make([&](int n) { return a.v[n] sign b.v[n]; });                           \
    }
CYSCC_OPERATOR(+)
CYSCC_OPERATOR(-)
CYSCC_OPERATOR(&)
CYSCC_OPERATOR(|)
CYSCC_OPERATOR(^)
#undef CYSCC_OPERATOR

// An array has as many elements as there are instances; what is beyond is neither read nor written.
template <class Number, int k>
inline Numbers<Number, k> load(const Number (&from)[k]) {
    using Result = Numbers<Number, k>;
    return Result::make([&](int n) {
        typename Result::Part part{};
        const Number* first = from + n * Result::kEach;
        if (n < k / Result::kEach) std::memcpy(&part, first, sizeof part);
        else std::memcpy(&part, first, k % Result::kEach * sizeof(Number));
        return part;
    });
}
template <class Number, int k>
inline void store(Number (&to)[k], const Numbers<Number, k>& value) {
    using Value = Numbers<Number, k>;
    for (int n = 0; n < Value::kParts; ++n) {
        Number* first = to + n * Value::kEach;
        if (n < k / Value::kEach) std::memcpy(first, &value.v[n], sizeof value.v[n]);
        else std::memcpy(first, &value.v[n], k % Value::kEach * sizeof(Number));
    }
}

template <int by, class Number, int k>
inline Numbers<Number, k> shl(const Numbers<Number, k>& a) {
    return Numbers<Number, k>::make([&](int n) { return a.v[n] << by; });
}
template <int by, class Number, int k>
inline Numbers<Number, k> shr(const Numbers<Number, k>& a) {
    return Numbers<Number, k>::make([&](int n) { return a.v[n] >> by; });
}
template <class Number, int k>
inline Numbers<Number, k> shl(const Numbers<Number, k>& a, const Numbers<Number, k>& by) {
    return Numbers<Number, k>::make([&](int n) { return a.v[n] << by.v[n]; });
}

template <class Number, int k>
inline Numbers<Number, k> select(Mask mask, const Numbers<Number, k>& a, const Numbers<Number, k>& b) {
    using Result = Numbers<Number, k>;
    return Result::make([&](int n) {
        const auto chosen = Result::chosen(mask, n);
        return (chosen & a.v[n]) | (~chosen & b.v[n]);
    });
}
template <class Number, int k>
inline Numbers<Number, k> from_mask(Mask mask, const Numbers<Number, k>& a) {
    using Result = Numbers<Number, k>;
    return Result::make([&](int n) { return Result::chosen(mask, n) & a.v[n]; });
}

template <class Number, int k>
inline Mask equal(const Numbers<Number, k>& a, const Numbers<Number, k>& b) {
    return Numbers<Number, k>::gather([&](int n) { return a.v[n] == b.v[n]; });
}
template <class Number, int k>
inline Mask less(const Numbers<Number, k>& a, const Numbers<Number, k>& b) {
    return Numbers<Number, k>::gather([&](int n) { return a.v[n] < b.v[n]; });
}
template <class Number, int k>
inline Mask test(const Numbers<Number, k>& a, const Numbers<Number, k>& b) {  // any bit of both
    return ~Numbers<Number, k>::gather([&](int n) { return (a.v[n] & b.v[n]) == 0; });
}

template <class To, class From, int k>
inline Numbers<To, k> converted(const Numbers<From, k>& a) {
    From from[k];
    store(from, a);
    To to[k];
    for (int lane = 0; lane < k; ++lane) to[lane] = To(from[lane]);
    return load(to);
}
template <int k>
inline Longs<k> widen(const Words<k>& a) {
    return converted<uint64_t>(a);
}
template <int k>
inline Words<k> narrow(const Longs<k>& a) {
    return converted<uint32_t>(a);
}

}  // namespace cyscc
