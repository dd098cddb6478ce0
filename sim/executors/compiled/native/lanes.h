// Values of several instances of a module at once: a mask holds one bit of each, a vector a number of each.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

// The instructions of AVX-512 take masks as they are.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define CYSCC_AVX512 1
#else
#define CYSCC_AVX512 0
#endif

// Without it a compiler calls functions of two instructions, as often as a large class needs them.
#define CYSCC_INLINE __attribute__((always_inline)) inline

namespace cyscc {

// Bit n belongs to instance n.
using Bits = uint32_t;

// The same in the form in which a processor computes with it; what it has beyond the last instance may be anything.
#if CYSCC_AVX512
struct Mask {
    Bits v = 0;

    static Mask of(Bits bits) { return {bits}; }
    Bits bits() const { return v; }
    void put(int lane, uint64_t bit) { v = (v & ~(1u << lane)) | Bits(bit) << lane; }
    template <class Inventory>
    void list(Inventory& inventory, const char* name, int place, int lane) {
        inventory.add(name, place, 1, &v, sizeof v, lane);
    }
};
CYSCC_INLINE Mask load(const Mask& mask) { return mask; }
#else
// A byte of each instance, which is 0 or -1. Comparisons result in such bytes, and wider ones choose between numbers.
typedef int8_t Flags __attribute__((vector_size(16)));
struct Mask {
    Flags v = {};

    static Mask of(Bits bits) {
        typedef uint64_t Halves __attribute__((vector_size(16)));
        const auto half = [](uint64_t byte) { return byte * 0x0101010101010101 & 0x8040201008040201; };
        return {Flags(Flags(Halves{half(bits & 0xff), half(bits >> 8 & 0xff)}) != 0)};
    }
    Bits bits() const {
#if defined(__SSE2__)
        return Bits(_mm_movemask_epi8(__m128i(v)));
#else
        typedef uint64_t Halves __attribute__((vector_size(16)));
        const auto byte = [](uint64_t half) { return Bits((half & 0x8040201008040201) * 0x0101010101010101 >> 56); };
        return byte(Halves(v)[0]) | byte(Halves(v)[1]) << 8;
#endif
    }
    void put(int lane, uint64_t bit) { v[lane] = bit ? -1 : 0; }
    // A state has one bit of each byte, its sign.
    template <class Inventory>
    void list(Inventory& inventory, const char* name, int place, int lane) {
        inventory.add(name, place, 1, reinterpret_cast<char*>(&v) + lane, 1, 7);
    }
};
CYSCC_INLINE Mask load(const Mask& mask) { return {Flags(mask.v < 0)}; }
#endif

CYSCC_INLINE Mask operator~(Mask a) { return {~a.v}; }
CYSCC_INLINE Mask operator&(Mask a, Mask b) { return {a.v & b.v}; }
CYSCC_INLINE Mask operator|(Mask a, Mask b) { return {a.v | b.v}; }
CYSCC_INLINE Mask operator^(Mask a, Mask b) { return {a.v ^ b.v}; }

// Which of some instances are in the mask.
template <int kLanes>
CYSCC_INLINE Bits among(Mask mask) {
    return mask.bits() & ((Bits(1) << kLanes) - 1);
}

// The instances of the mask take a, the others b.
CYSCC_INLINE Mask select(Mask mask, Mask a, Mask b) { return (mask & a) | (~mask & b); }

// A register of numbers, by the compiler's own vector types.
#if CYSCC_AVX512
inline constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kRegisterBytes = 32;
#else
inline constexpr int kRegisterBytes = 16;
#endif
typedef uint8_t BytePart __attribute__((vector_size(16)));
typedef uint32_t WordPart __attribute__((vector_size(kRegisterBytes)));
typedef uint64_t LongPart __attribute__((vector_size(kRegisterBytes)));

// Numbers of each of up to 16 instances, in as many registers as it takes.
template <class Number_, class Part_, int kLanes>
struct Vector {
    using Number = Number_;
    using Part = Part_;
    static constexpr int kEach = int(sizeof(Part) / sizeof(Number));  // numbers in a register
    static constexpr int kParts = (kLanes + kEach - 1) / kEach;
    Part v[kParts];

    Vector() = default;
    explicit Vector(Number value) {
        for (auto& part : v) part = value - Part{};
    }
    template <class Function>
    CYSCC_INLINE static Vector make(Function function) {
        Vector result;
        for (int n = 0; n < kParts; ++n) result.v[n] = function(n);
        return result;
    }
};

template <int kLanes>
using Bytes = Vector<uint8_t, BytePart, kLanes>;
template <int kLanes>
using Words = Vector<uint32_t, WordPart, kLanes>;
template <int kLanes>
using Longs = Vector<uint64_t, LongPart, kLanes>;

// An array has as many elements as there are instances; what is beyond is neither read nor written.
template <class Value, int k>
CYSCC_INLINE Value load_all(const typename Value::Number (&from)[k]) {
    constexpr int each = Value::kEach;
    return Value::make([&](int n) {
        typename Value::Part part{};
        if (n == k / each) std::memcpy(&part, from + n * each, k % each * sizeof *from);
        else std::memcpy(&part, from + n * each, sizeof part);
        return part;
    });
}
template <int k>
CYSCC_INLINE Bytes<k> load(const uint8_t (&from)[k]) {
    return load_all<Bytes<k>>(from);
}
template <int k>
CYSCC_INLINE Words<k> load(const uint32_t (&from)[k]) {
    return load_all<Words<k>>(from);
}
template <int k>
CYSCC_INLINE Longs<k> load(const uint64_t (&from)[k]) {
    return load_all<Longs<k>>(from);
}
template <class Number, class Part, int k>
CYSCC_INLINE void store(Number (&to)[k], const Vector<Number, Part, k>& value) {
    constexpr int each = value.kEach;
    for (int n = 0; n < k / each; ++n) std::memcpy(to + n * each, &value.v[n], sizeof(Part));
    if constexpr (k % each != 0) std::memcpy(to + k / each * each, &value.v[k / each], k % each * sizeof(Number));
}

#define CYSCC_OPERATOR(sign)                                                                            \
    template <class N, class P, int k>                                                                  \
    CYSCC_INLINE Vector<N, P, k> operator sign(const Vector<N, P, k>& a, const Vector<N, P, k>& b) {          \
        return Vector<N, P, k>::make([&](int n) { return a.v[n] sign b.v[n]; });                        \
    }
CYSCC_OPERATOR(+)
CYSCC_OPERATOR(*)
CYSCC_OPERATOR(-)
CYSCC_OPERATOR(&)
CYSCC_OPERATOR(|)
CYSCC_OPERATOR(^)
#undef CYSCC_OPERATOR

// Processors cannot shift bytes, only pairs of them.
typedef uint16_t PairPart __attribute__((vector_size(16)));

template <int by, class N, class P, int k>
CYSCC_INLINE Vector<N, P, k> shl(const Vector<N, P, k>& a) {
    if constexpr (sizeof(N) > 1) return Vector<N, P, k>::make([&](int n) { return a.v[n] << by; });
    else return Vector<N, P, k>::make([&](int n) { return P(PairPart(a.v[n]) << by); }) & Vector<N, P, k>(N(0xff << by));
}
template <int by, class N, class P, int k>
CYSCC_INLINE Vector<N, P, k> shr(const Vector<N, P, k>& a) {
    if constexpr (sizeof(N) > 1) return Vector<N, P, k>::make([&](int n) { return a.v[n] >> by; });
    else return Vector<N, P, k>::make([&](int n) { return P(PairPart(a.v[n]) >> by); }) & Vector<N, P, k>(N(0xff >> by));
}
template <class N, class P, int k>
CYSCC_INLINE Vector<N, P, k> shl(const Vector<N, P, k>& a, const Vector<N, P, k>& by) {
    return Vector<N, P, k>::make([&](int n) { return a.v[n] << by.v[n]; });
}
template <class N, class P, int k>
CYSCC_INLINE Vector<N, P, k> shr(const Vector<N, P, k>& a, const Vector<N, P, k>& by) {
    return Vector<N, P, k>::make([&](int n) { return a.v[n] >> by.v[n]; });
}

// The larger of both.
template <int k>
CYSCC_INLINE Words<k> most(const Words<k>& a, const Words<k>& b) {
    return Words<k>::make([&](int n) { return a.v[n] > b.v[n] ? a.v[n] : b.v[n]; });
}

// Conversions between neighbouring sizes: `extend` repeats the uppermost bit or adds zeros, `cut` leaves the lower half or,
// from a word to a byte, the lowest quarter. Of `flags` it is known that each is 0 or -1.
#if CYSCC_AVX512
template <int k>
CYSCC_INLINE Words<k> extend(const Bytes<k>& a) {
    return Words<k>::make([&](int) { return WordPart(_mm512_cvtepu8_epi32(__m128i(a.v[0]))); });
}
template <int k>
CYSCC_INLINE Longs<k> extend(const Words<k>& a) {
    return Longs<k>::make([&](int n) {
        const __m512i all = __m512i(a.v[0]);
        return LongPart(_mm512_cvtepu32_epi64(n ? _mm512_extracti64x4_epi64(all, 1) : _mm512_castsi512_si256(all)));
    });
}
template <int k>
CYSCC_INLINE Words<k> cut(const Longs<k>& a) {
    __m512i all = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(__m512i(a.v[0])));
    if constexpr (Longs<k>::kParts > 1) all = _mm512_inserti64x4(all, _mm512_cvtepi64_epi32(__m512i(a.v[1])), 1);
    return Words<k>::make([&](int) { return WordPart(all); });
}
template <int k>
CYSCC_INLINE Bytes<k> cut(const Words<k>& a) {
    return Bytes<k>::make([&](int) { return BytePart(_mm512_cvtepi32_epi8(__m512i(a.v[0]))); });
}
#elif defined(__AVX2__)
template <bool flags = false, int k>
CYSCC_INLINE Words<k> extend(const Bytes<k>& a) {
    return Words<k>::make([&](int n) {
        const __m128i all = __m128i(a.v[0]), part = n ? _mm_srli_si128(all, 8) : all;
        return WordPart(flags ? _mm256_cvtepi8_epi32(part) : _mm256_cvtepu8_epi32(part));
    });
}
template <bool flags = false, int k>
CYSCC_INLINE Longs<k> extend(const Words<k>& a) {
    return Longs<k>::make([&](int n) {
        const __m256i all = __m256i(a.v[n / 2]);
        const __m128i part = n % 2 ? _mm256_extracti128_si256(all, 1) : _mm256_castsi256_si128(all);
        return LongPart(flags ? _mm256_cvtepi32_epi64(part) : _mm256_cvtepu32_epi64(part));
    });
}
template <int k>
CYSCC_INLINE Words<k> cut(const Longs<k>& a) {
    return Words<k>::make([&](int n) {
        const __m256 low = __m256(a.v[2 * n]), high = __m256(a.v[2 * n + 1 < Longs<k>::kParts ? 2 * n + 1 : 2 * n]);
        return WordPart(_mm256_permute4x64_epi64(__m256i(_mm256_shuffle_ps(low, high, 0x88)), 0xd8));
    });
}
template <bool flags = false, int k>
CYSCC_INLINE Bytes<k> cut(const Words<k>& a) {
    return Bytes<k>::make([&](int) {
        constexpr int last = Words<k>::kParts - 1;
        const WordPart below = flags ? ~WordPart{} : 0xff - WordPart{};
        const __m256i pairs = _mm256_packs_epi32(__m256i(a.v[0] & below), __m256i(a.v[last] & below));
        const __m256i ordered = _mm256_permute4x64_epi64(pairs, 0xd8);
        const __m128i low = _mm256_castsi256_si128(ordered), high = _mm256_extracti128_si256(ordered, 1);
        return BytePart(flags ? _mm_packs_epi16(low, high) : _mm_packus_epi16(low, high));
    });
}
#else
#if defined(__clang__)
#define CYSCC_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define CYSCC_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, decltype(a){__VA_ARGS__})
#endif
// The bytes, pairs or words of the lower or upper halves of two registers in turn; those of even places of both.
CYSCC_INLINE BytePart mix(BytePart a, BytePart b, bool upper) {
    return upper ? CYSCC_SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
                 : CYSCC_SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
CYSCC_INLINE PairPart mix(PairPart a, PairPart b, bool upper) {
    return upper ? CYSCC_SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15) : CYSCC_SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
CYSCC_INLINE WordPart mix(WordPart a, WordPart b, bool upper) {
    return upper ? CYSCC_SHUFFLE(a, b, 2, 6, 3, 7) : CYSCC_SHUFFLE(a, b, 0, 4, 1, 5);
}
CYSCC_INLINE BytePart even(BytePart a, BytePart b) {
    return CYSCC_SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
CYSCC_INLINE WordPart even(WordPart a, WordPart b) { return CYSCC_SHUFFLE(a, b, 0, 2, 4, 6); }
#undef CYSCC_SHUFFLE

template <bool flags = false, int k>
CYSCC_INLINE Words<k> extend(const Bytes<k>& a) {
    const BytePart all = a.v[0], above = flags ? all : BytePart{};
    return Words<k>::make([&](int n) {
        const PairPart pairs = PairPart(mix(all, above, n / 2));
        return WordPart(mix(pairs, flags ? pairs : PairPart{}, n % 2));
    });
}
template <bool flags = false, int k>
CYSCC_INLINE Longs<k> extend(const Words<k>& a) {
    return Longs<k>::make([&](int n) {
        const WordPart all = a.v[n / 2];
        return LongPart(mix(all, flags ? all : WordPart{}, n % 2));
    });
}
template <int k>
CYSCC_INLINE Words<k> cut(const Longs<k>& a) {
    return Words<k>::make([&](int n) {
        return even(WordPart(a.v[2 * n]), WordPart(a.v[2 * n + 1 < Longs<k>::kParts ? 2 * n + 1 : 2 * n]));
    });
}
template <bool flags = false, int k>
CYSCC_INLINE Bytes<k> cut(const Words<k>& a) {
    return Bytes<k>::make([&](int) {
        constexpr int last = Words<k>::kParts - 1;
        const auto part = [&](int n) { return a.v[n < last ? n : last]; };
#if defined(__SSE2__)
        const auto packed = [&](int n) {
            const WordPart below = flags ? ~WordPart{} : 0xff - WordPart{};
            return _mm_packs_epi32(__m128i(part(n) & below), __m128i(part(n + 1) & below));
        };
        return BytePart(flags ? _mm_packs_epi16(packed(0), packed(2)) : _mm_packus_epi16(packed(0), packed(2)));
#else
        return even(even(BytePart(part(0)), BytePart(part(1))), even(BytePart(part(2)), BytePart(part(3))));
#endif
    });
}
#endif

// Converts numbers to another size.
template <class To, class N, class P, int k>
CYSCC_INLINE To as(const Vector<N, P, k>& a) {
    using Other = typename To::Number;
    if constexpr (sizeof(Other) == sizeof(N)) return a;
    else if constexpr (sizeof(Other) + sizeof(N) == 9) return as<To>(as<Words<k>>(a));
    else if constexpr (sizeof(Other) > sizeof(N)) return extend(a);
    else return cut(a);
}

#if CYSCC_AVX512
#define CYSCC_PART(Number, Part, Lanes, Register, prefix, bits)                                                      \
    CYSCC_INLINE Part select(Bits mask, Part a, Part b) {                                                                  \
        return Part(prefix##_mask_blend_epi##bits(Lanes(mask), Register(b), Register(a)));                           \
    }                                                                                                                \
    CYSCC_INLINE Part from_mask(Bits mask, Part a) { return Part(prefix##_maskz_mov_epi##bits(Lanes(mask), Register(a))); }\
    CYSCC_INLINE Bits equal(Part a, Part b) { return prefix##_cmpeq_epi##bits##_mask(Register(a), Register(b)); }          \
    CYSCC_INLINE Bits less(Part a, Part b) { return prefix##_cmplt_epu##bits##_mask(Register(a), Register(b)); }           \
    CYSCC_INLINE Bits test(Part a, Part b) { return prefix##_test_epi##bits##_mask(Register(a), Register(b)); }
CYSCC_PART(uint8_t, BytePart, __mmask16, __m128i, _mm, 8)
CYSCC_PART(uint32_t, WordPart, __mmask16, __m512i, _mm512, 32)
CYSCC_PART(uint64_t, LongPart, __mmask8, __m512i, _mm512, 64)
#undef CYSCC_PART

template <class N, class P, int k>
CYSCC_INLINE Vector<N, P, k> select(Mask mask, const Vector<N, P, k>& a, const Vector<N, P, k>& b) {
    return Vector<N, P, k>::make([&](int n) { return select(mask.v >> n * a.kEach, a.v[n], b.v[n]); });
}
template <class N, class P, int k>
CYSCC_INLINE Vector<N, P, k> from_mask(Mask mask, const Vector<N, P, k>& a) {
    return Vector<N, P, k>::make([&](int n) { return from_mask(mask.v >> n * a.kEach, a.v[n]); });
}
#define CYSCC_COMPARISON(name, comparison)                                                              \
    template <class N, class P, int k>                                                                  \
    CYSCC_INLINE Mask name(const Vector<N, P, k>& a, const Vector<N, P, k>& b) {                              \
        Bits bits = 0;                                                                                  \
        for (int n = 0; n < a.kParts; ++n) bits |= name(a.v[n], b.v[n]) << n * a.kEach;                 \
        return {bits};                                                                                  \
    }
#else
template <class Value, int k>
CYSCC_INLINE Value spread(Mask mask) {
    Bytes<k> flags;
    flags.v[0] = BytePart(mask.v);
    if constexpr (sizeof(typename Value::Number) == 1) return flags;
    else if constexpr (sizeof(typename Value::Number) == 4) return extend<true>(flags);
    else return extend<true>(extend<true>(flags));
}
template <class N, class P, int k>
CYSCC_INLINE Mask gathered(const Vector<N, P, k>& flags) {
    if constexpr (sizeof(N) == 1) return {Flags(flags.v[0])};
    else if constexpr (sizeof(N) == 4) return {Flags(cut<true>(flags).v[0])};
    else return gathered(cut(flags));
}
template <class N, class P, int k>
CYSCC_INLINE Vector<N, P, k> select(Mask mask, const Vector<N, P, k>& a, const Vector<N, P, k>& b) {
    const auto chosen = spread<Vector<N, P, k>, k>(mask);
    return Vector<N, P, k>::make([&](int n) {
#if defined(__AVX2__)
        if constexpr (sizeof(P) == 32) return P(_mm256_blendv_epi8(__m256i(b.v[n]), __m256i(a.v[n]), __m256i(chosen.v[n])));
        else return P(_mm_blendv_epi8(__m128i(b.v[n]), __m128i(a.v[n]), __m128i(chosen.v[n])));
#else
        return (chosen.v[n] & a.v[n]) | (~chosen.v[n] & b.v[n]);
#endif
    });
}
template <class N, class P, int k>
CYSCC_INLINE Vector<N, P, k> from_mask(Mask mask, const Vector<N, P, k>& a) {
    return spread<Vector<N, P, k>, k>(mask) & a;
}
#define CYSCC_COMPARISON(name, comparison)                                                              \
    template <class N, class P, int k>                                                                  \
    CYSCC_INLINE Mask name(const Vector<N, P, k>& x, const Vector<N, P, k>& y) {                              \
        return gathered(Vector<N, P, k>::make([&](int n) {                                              \
            const P a = x.v[n], b = y.v[n];                                                             \
            return P(comparison);                                                                       \
        }));                                                                                            \
    }
#endif
CYSCC_COMPARISON(equal, a == b)
CYSCC_COMPARISON(less, a < b)
CYSCC_COMPARISON(test, (a & b) != 0)  // any bit of both
#undef CYSCC_COMPARISON

// Stores numbers for the instances of the mask, where others have the number of before. A branch that nobody can predict
// costs more than it saves, unless it takes many instructions to choose.
template <class N, class P, int k>
CYSCC_INLINE void update(N (&to)[k], Mask mask, const Vector<N, P, k>& value, const Vector<N, P, k>& before) {
    if (CYSCC_AVX512 || sizeof(N) == 1 || among<k>(mask)) store(to, select(mask, value, before));
}

}  // namespace cyscc
