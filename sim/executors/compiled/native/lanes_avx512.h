// Vectors of `lanes.h` for AVX-512, whose instructions take masks as they are.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace cyscc {

// 32 bits of each of up to 16 instances.
template <int kLanes>
struct Words {
    __m512i v;
    Words() = default;
    Words(__m512i value) : v(value) {}
    explicit Words(uint32_t value) : v(_mm512_set1_epi32(int(value))) {}
};

// 64 bits of each.
template <int kLanes>
struct Longs {
    static constexpr int kParts = (kLanes + 7) / 8;
    __m512i v[kParts];
    Longs() = default;
    explicit Longs(uint64_t value) {
        for (auto& part : v) part = _mm512_set1_epi64(int64_t(value));
    }
    template <class Function>
    static Longs make(Function function) {
        Longs result;
        for (int n = 0; n < kParts; ++n) result.v[n] = function(n);
        return result;
    }
};

#define CYSCC_OPERATOR(sign, words, longs)                                                            \
    template <int k>                                                                                  \
    inline Words<k> operator sign(Words<k> a, Words<k> b) {                                           \
        return words(a.v, b.v);                                                                       \
    }                                                                                                 \
    template <int k>                                                                                  \
    inline Longs<k> operator sign(const Longs<k>& a, const Longs<k>& b) {                             \
        return Longs<k>::make([&](int n) { return longs(a.v[n], b.v[n]); });                          \
    }
CYSCC_OPERATOR(+, _mm512_add_epi32, _mm512_add_epi64)
CYSCC_OPERATOR(-, _mm512_sub_epi32, _mm512_sub_epi64)
CYSCC_OPERATOR(&, _mm512_and_si512, _mm512_and_si512)
CYSCC_OPERATOR(|, _mm512_or_si512, _mm512_or_si512)
CYSCC_OPERATOR(^, _mm512_xor_si512, _mm512_xor_si512)
#undef CYSCC_OPERATOR

// An array has as many elements as there are instances; what is beyond is neither read nor written.
template <int k>
inline constexpr __mmask16 kWordLanes = __mmask16((1u << k) - 1);

template <int k>
inline Words<k> load(const uint32_t (&from)[k]) {
    if constexpr (k == 16) return _mm512_load_si512(from);
    return _mm512_maskz_loadu_epi32(kWordLanes<k>, from);
}
template <int k>
inline void store(uint32_t (&to)[k], Words<k> value) {
    if constexpr (k == 16) {
        _mm512_store_si512(to, value.v);
    } else {
        _mm512_mask_storeu_epi32(to, kWordLanes<k>, value.v);
    }
}
template <int k>
inline Longs<k> load(const uint64_t (&from)[k]) {
    return Longs<k>::make([&](int n) {
        if (n * 8 + 8 <= k) return _mm512_loadu_si512(from + 8 * n);
        return _mm512_maskz_loadu_epi64(__mmask8(kWordLanes<k> >> (8 * n)), from + 8 * n);
    });
}
template <int k>
inline void store(uint64_t (&to)[k], const Longs<k>& value) {
    for (int n = 0; n < Longs<k>::kParts; ++n) {
        if (n * 8 + 8 <= k) {
            _mm512_storeu_si512(to + 8 * n, value.v[n]);
        } else {
            _mm512_mask_storeu_epi64(to + 8 * n, __mmask8(kWordLanes<k> >> (8 * n)), value.v[n]);
        }
    }
}

template <int by, int k>
inline Words<k> shl(Words<k> a) {
    return _mm512_slli_epi32(a.v, by);
}
template <int by, int k>
inline Words<k> shr(Words<k> a) {
    return _mm512_srli_epi32(a.v, by);
}
template <int by, int k>
inline Longs<k> shl(const Longs<k>& a) {
    return Longs<k>::make([&](int n) { return _mm512_slli_epi64(a.v[n], by); });
}
template <int by, int k>
inline Longs<k> shr(const Longs<k>& a) {
    return Longs<k>::make([&](int n) { return _mm512_srli_epi64(a.v[n], by); });
}

template <int k>
inline Longs<k> shl(const Longs<k>& a, const Longs<k>& by) {
    return Longs<k>::make([&](int n) { return _mm512_sllv_epi64(a.v[n], by.v[n]); });
}

template <int k>
inline Words<k> select(Mask mask, Words<k> a, Words<k> b) {
    return _mm512_mask_blend_epi32(__mmask16(mask), b.v, a.v);
}
template <int k>
inline Longs<k> select(Mask mask, const Longs<k>& a, const Longs<k>& b) {
    return Longs<k>::make([&](int n) { return _mm512_mask_blend_epi64(__mmask8(mask >> (8 * n)), b.v[n], a.v[n]); });
}
template <int k>
inline Words<k> from_mask(Mask mask, Words<k> a) {
    return _mm512_maskz_mov_epi32(__mmask16(mask), a.v);
}
template <int k>
inline Longs<k> from_mask(Mask mask, const Longs<k>& a) {
    return Longs<k>::make([&](int n) { return _mm512_maskz_mov_epi64(__mmask8(mask >> (8 * n)), a.v[n]); });
}

#define CYSCC_COMPARISON(name, words, longs)                                                      \
    template <int k>                                                                              \
    inline Mask name(Words<k> a, Words<k> b) {                                                    \
        return words(a.v, b.v);                                                                   \
    }                                                                                             \
    template <int k>                                                                              \
    inline Mask name(const Longs<k>& a, const Longs<k>& b) {                                      \
        Mask mask = 0;                                                                            \
        for (int n = 0; n < Longs<k>::kParts; ++n) mask |= Mask(longs(a.v[n], b.v[n])) << 8 * n;  \
        return mask;                                                                              \
    }
CYSCC_COMPARISON(equal, _mm512_cmpeq_epi32_mask, _mm512_cmpeq_epi64_mask)
CYSCC_COMPARISON(less, _mm512_cmplt_epu32_mask, _mm512_cmplt_epu64_mask)
CYSCC_COMPARISON(test, _mm512_test_epi32_mask, _mm512_test_epi64_mask)  // any bit of both
#undef CYSCC_COMPARISON

template <int k>
inline Longs<k> widen(Words<k> a) {
    return Longs<k>::make([&](int n) {
        const __m256i half = n ? _mm512_extracti64x4_epi64(a.v, 1) : _mm512_castsi512_si256(a.v);
        return _mm512_cvtepu32_epi64(half);
    });
}
template <int k>
inline Words<k> narrow(const Longs<k>& a) {
    const __m512i low = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(a.v[0]));
    if constexpr (Longs<k>::kParts == 1) {
        return low;
    } else {
        return _mm512_inserti64x4(low, _mm512_cvtepi64_epi32(a.v[1]), 1);
    }
}

}  // namespace cyscc
