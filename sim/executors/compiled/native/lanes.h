// Values of several instances of a module at once: a mask holds one bit of each, a vector a number of each.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

// The instructions of AVX-512 take masks as they are.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define CYSCC_AVX512 1
#else
#define CYSCC_AVX512 0
#endif

namespace cyscc {

// Bit n belongs to instance n. Bits beyond the last instance may be anything.
using Mask = uint32_t;

inline void put_bit(Mask& mask, int lane, uint64_t bit) { mask = (mask & ~(1u << lane)) | uint32_t(bit) << lane; }

// The instances of the mask take a, the others b.
inline Mask select(Mask mask, Mask a, Mask b) { return (mask & a) | (~mask & b); }

// A register of numbers, by the compiler's own vector types.
#if CYSCC_AVX512
inline constexpr int kPartBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kPartBytes = 32;
#else
inline constexpr int kPartBytes = 16;
#endif
template <class Number>
inline constexpr int kEach = kPartBytes / int(sizeof(Number));
typedef uint32_t WordPart __attribute__((vector_size(kPartBytes)));
typedef uint64_t LongPart __attribute__((vector_size(kPartBytes)));

// Numbers of each of up to 16 instances, in as many registers as it takes.
template <class Number_, class Part_, int kLanes>
struct Vector {
    using Number = Number_;
    using Part = Part_;
    static constexpr int kParts = (kLanes + kEach<Number> - 1) / kEach<Number>;
    Part v[kParts];

    Vector() = default;
    explicit Vector(Number value) {
        for (auto& part : v) part = value - Part{};
    }
    template <class Function>
    static Vector make(Function function) {
        Vector result;
        for (int n = 0; n < kParts; ++n) result.v[n] = function(n);
        return result;
    }
    template <class Function>
    static Mask gather(Function function) {
        Mask mask = 0;
        for (int n = 0; n < kParts; ++n) mask |= Mask(function(n)) << n * kEach<Number>;
        return mask;
    }
};

template <int kLanes>
using Words = Vector<uint32_t, WordPart, kLanes>;
template <int kLanes>
using Longs = Vector<uint64_t, LongPart, kLanes>;

// What parts have to do with masks, and with the first few numbers of an array.
#if CYSCC_AVX512
#define CYSCC_PART(Number, Part, Lanes, bits)                                                                        \
    inline Part load_first(const Number* from, int count) {                                                          \
        return Part(_mm512_maskz_loadu_epi##bits(Lanes((1u << count) - 1), from));                                   \
    }                                                                                                                \
    inline void store_first(Number* to, int count, Part a) {                                                         \
        _mm512_mask_storeu_epi##bits(to, Lanes((1u << count) - 1), __m512i(a));                                      \
    }                                                                                                                \
    inline Part select(Mask mask, Part a, Part b) {                                                                  \
        return Part(_mm512_mask_blend_epi##bits(Lanes(mask), __m512i(b), __m512i(a)));                               \
    }                                                                                                                \
    inline Part from_mask(Mask mask, Part a) { return Part(_mm512_maskz_mov_epi##bits(Lanes(mask), __m512i(a))); }   \
    inline Mask equal(Part a, Part b) { return _mm512_cmpeq_epi##bits##_mask(__m512i(a), __m512i(b)); }              \
    inline Mask less(Part a, Part b) { return _mm512_cmplt_epu##bits##_mask(__m512i(a), __m512i(b)); }               \
    inline Mask test(Part a, Part b) { return _mm512_test_epi##bits##_mask(__m512i(a), __m512i(b)); }
CYSCC_PART(uint32_t, WordPart, __mmask16, 32)
CYSCC_PART(uint64_t, LongPart, __mmask8, 64)
#undef CYSCC_PART
#else
template <class Number, class Part>
inline Part spread(Mask mask) {  // ones for the instances of the mask
    Part bits;
    if constexpr (kEach<Number> == 8) bits = Part{1, 2, 4, 8, 16, 32, 64, 128};
    else if constexpr (kEach<Number> == 4) bits = Part{1, 2, 4, 8};
    else bits = Part{1, 2};
    return Part(((Number(mask) - Part{}) & bits) == bits);
}
inline Mask signs(WordPart a) {
#if defined(__AVX2__)
    return Mask(_mm256_movemask_ps(__m256(a)));
#elif defined(__SSE2__)
    return Mask(_mm_movemask_ps(__m128(a)));
#else
    return (a[0] & 1) | (a[1] & 2) | (a[2] & 4) | (a[3] & 8);
#endif
}
inline Mask signs(LongPart a) {
#if defined(__AVX2__)
    return Mask(_mm256_movemask_pd(__m256d(a)));
#elif defined(__SSE2__)
    return Mask(_mm_movemask_pd(__m128d(a)));
#else
    return Mask((a[0] & 1) | (a[1] & 2));
#endif
}
#define CYSCC_PART(Number, Part)                                                                    \
    inline Part load_first(const Number* from, int count) {                                         \
        Part part{};                                                                                \
        std::memcpy(&part, from, count * sizeof(Number));                                           \
        return part;                                                                                \
    }                                                                                               \
    inline void store_first(Number* to, int count, Part a) {                                        \
        std::memcpy(to, &a, count * sizeof(Number));                                                \
    }                                                                                               \
    inline Part from_mask(Mask mask, Part a) { return spread<Number, Part>(mask) & a; }             \
    inline Part select(Mask mask, Part a, Part b) {                                                 \
        const Part chosen = spread<Number, Part>(mask);                                             \
        return (chosen & a) | (~chosen & b);                                                        \
    }                                                                                               \
    inline Mask equal(Part a, Part b) { return signs(Part(a == b)); }                               \
    inline Mask less(Part a, Part b) { return signs(Part(a < b)); }                                 \
    inline Mask test(Part a, Part b) { return signs(Part((a & b) != 0)); }
CYSCC_PART(uint32_t, WordPart)
CYSCC_PART(uint64_t, LongPart)
#undef CYSCC_PART
#endif

// An array has as many elements as there are instances; what is beyond is neither read nor written.
template <class Value, int k>
inline Value load_all(const typename Value::Number (&from)[k]) {
    constexpr int each = kEach<typename Value::Number>;
    return Value::make([&](int n) {
        if (n == k / each) return load_first(from + n * each, k % each);
        typename Value::Part part;
        std::memcpy(&part, from + n * each, sizeof part);
        return part;
    });
}
template <int k>
inline Words<k> load(const uint32_t (&from)[k]) {
    return load_all<Words<k>>(from);
}
template <int k>
inline Longs<k> load(const uint64_t (&from)[k]) {
    return load_all<Longs<k>>(from);
}
template <class Number, class Part, int k>
inline void store(Number (&to)[k], const Vector<Number, Part, k>& value) {
    constexpr int each = kEach<Number>;
    for (int n = 0; n < k / each; ++n) std::memcpy(to + n * each, &value.v[n], sizeof(Part));
    if constexpr (k % each != 0) store_first(to + k / each * each, k % each, value.v[k / each]);
}

#define CYSCC_OPERATOR(sign)                                                                            \
    template <class N, class P, int k>                                                                  \
    inline Vector<N, P, k> operator sign(const Vector<N, P, k>& a, const Vector<N, P, k>& b) {          \
        return Vector<N, P, k>::make([&](int n) { return a.v[n] sign b.v[n]; });                        \
    }
CYSCC_OPERATOR(+)
CYSCC_OPERATOR(*)
CYSCC_OPERATOR(-)
CYSCC_OPERATOR(&)
CYSCC_OPERATOR(|)
CYSCC_OPERATOR(^)
#undef CYSCC_OPERATOR

template <int by, class N, class P, int k>
inline Vector<N, P, k> shl(const Vector<N, P, k>& a) {
    return Vector<N, P, k>::make([&](int n) { return a.v[n] << by; });
}
template <int by, class N, class P, int k>
inline Vector<N, P, k> shr(const Vector<N, P, k>& a) {
    return Vector<N, P, k>::make([&](int n) { return a.v[n] >> by; });
}
template <class N, class P, int k>
inline Vector<N, P, k> shl(const Vector<N, P, k>& a, const Vector<N, P, k>& by) {
    return Vector<N, P, k>::make([&](int n) { return a.v[n] << by.v[n]; });
}
template <class N, class P, int k>
inline Vector<N, P, k> shr(const Vector<N, P, k>& a, const Vector<N, P, k>& by) {
    return Vector<N, P, k>::make([&](int n) { return a.v[n] >> by.v[n]; });
}

// The larger of both in each field of 16 bits.
template <int k>
inline Longs<k> most(const Longs<k>& a, const Longs<k>& b) {
    typedef uint16_t Fields __attribute__((vector_size(kPartBytes)));
    return Longs<k>::make([&](int n) {
        const Fields first = Fields(a.v[n]), second = Fields(b.v[n]);
        return LongPart(first > second ? first : second);
    });
}

template <class N, class P, int k>
inline Vector<N, P, k> select(Mask mask, const Vector<N, P, k>& a, const Vector<N, P, k>& b) {
    return Vector<N, P, k>::make([&](int n) { return select(mask >> n * kEach<N>, a.v[n], b.v[n]); });
}
template <class N, class P, int k>
inline Vector<N, P, k> from_mask(Mask mask, const Vector<N, P, k>& a) {
    return Vector<N, P, k>::make([&](int n) { return from_mask(mask >> n * kEach<N>, a.v[n]); });
}

#define CYSCC_COMPARISON(name)                                                                          \
    template <class N, class P, int k>                                                                  \
    inline Mask name(const Vector<N, P, k>& a, const Vector<N, P, k>& b) {                              \
        return Vector<N, P, k>::gather([&](int n) { return name(a.v[n], b.v[n]); });                    \
    }
CYSCC_COMPARISON(equal)
CYSCC_COMPARISON(less)
CYSCC_COMPARISON(test)  // any bit of both
#undef CYSCC_COMPARISON

#if CYSCC_AVX512
template <int k>
inline Longs<k> widen(const Words<k>& a) {
    return Longs<k>::make([&](int n) {
        const __m512i all = __m512i(a.v[0]);
        return LongPart(_mm512_cvtepu32_epi64(n ? _mm512_extracti64x4_epi64(all, 1) : _mm512_castsi512_si256(all)));
    });
}
template <int k>
inline Words<k> narrow(const Longs<k>& a) {
    __m512i all = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(__m512i(a.v[0])));
    if constexpr (Longs<k>::kParts > 1) all = _mm512_inserti64x4(all, _mm512_cvtepi64_epi32(__m512i(a.v[1])), 1);
    return Words<k>::make([&](int) { return WordPart(all); });
}
#else
template <class To, class From, class Part, int k>
inline auto converted(const Vector<From, Part, k>& a) {
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
#endif

}  // namespace cyscc
