// The operations of lanes.h for a single instance: a mask is one bit, a vector one number.
#pragma once

#include <bit>
#include <cstdint>

namespace cyscc {

// Bits beyond the lowest may be anything.
using Mask = uint32_t;

inline void put_bit(Mask& mask, int, uint64_t bit) { mask = Mask(bit); }
inline Mask select(Mask mask, Mask a, Mask b) { return (mask & a) | (~mask & b); }

// A type of its own, since a mask is a plain number too.
template <class Number_>
struct Single {
    using Number = Number_;
    Number v;

    Single() = default;
    explicit Single(Number value) : v(value) {}
};

template <int>
using Words = Single<uint32_t>;
template <int>
using Longs = Single<uint64_t>;

template <class N>
inline Single<N> load(const N (&from)[1]) {
    return Single<N>(from[0]);
}
template <class N>
inline void store(N (&to)[1], Single<N> value) {
    to[0] = value.v;
}

#define CYSCC_OPERATOR(sign)                                      \
    template <class N>                                            \
    inline Single<N> operator sign(Single<N> a, Single<N> b) {    \
        return Single<N>(a.v sign b.v);                           \
    }
CYSCC_OPERATOR(+)
CYSCC_OPERATOR(-)
CYSCC_OPERATOR(&)
CYSCC_OPERATOR(|)
CYSCC_OPERATOR(^)
#undef CYSCC_OPERATOR

template <int by, class N>
inline Single<N> shl(Single<N> a) {
    return Single<N>(a.v << by);
}
template <int by, class N>
inline Single<N> shr(Single<N> a) {
    return Single<N>(a.v >> by);
}
template <class N>
inline Single<N> select(Mask mask, Single<N> a, Single<N> b) {
    return mask & 1 ? a : b;
}
template <class N>
inline Single<N> from_mask(Mask mask, Single<N> a) {
    return Single<N>(mask & 1 ? a.v : 0);
}
template <class N>
inline Mask equal(Single<N> a, Single<N> b) {
    return a.v == b.v;
}
template <class N>
inline Mask less(Single<N> a, Single<N> b) {
    return a.v < b.v;
}
template <class N>
inline Mask test(Single<N> a, Single<N> b) {  // any bit of both
    return (a.v & b.v) != 0;
}
inline Longs<1> widen(Words<1> a) { return Longs<1>(a.v); }
inline Words<1> narrow(Longs<1> a) { return Words<1>(uint32_t(a.v)); }

}  // namespace cyscc
