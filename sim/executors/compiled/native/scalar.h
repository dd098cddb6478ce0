// The operations of lanes.h for a single instance: a mask is one bit, a vector one number.
#pragma once

#include <bit>
#include <cstdint>

// The names are those of lanes.h, the types are not.
namespace cyscc {
inline namespace scalar {

using Bits = uint32_t;

// Bits beyond the lowest may be anything.
struct Mask {
    Bits v = 0;

    static Mask of(Bits bits) { return {bits}; }
    Bits bits() const { return v; }
    void put(int, uint64_t bit) { v = Bits(bit); }
    template <class Inventory>
    void list(Inventory& inventory, const char* name, int place, int) {
        inventory.add(name, place, 1, &v, sizeof v, 0);
    }
};
inline Mask load(Mask mask) { return mask; }

inline Mask operator~(Mask a) { return {~a.v}; }
inline Mask operator&(Mask a, Mask b) { return {a.v & b.v}; }
inline Mask operator|(Mask a, Mask b) { return {a.v | b.v}; }
inline Mask operator^(Mask a, Mask b) { return {a.v ^ b.v}; }

template <int>
inline Bits among(Mask mask) {
    return mask.v & 1;
}
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
using Bytes = Single<uint8_t>;
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
        return Single<N>(N(a.v sign b.v));                          \
    }
CYSCC_OPERATOR(+)
CYSCC_OPERATOR(-)
CYSCC_OPERATOR(&)
CYSCC_OPERATOR(|)
CYSCC_OPERATOR(^)
#undef CYSCC_OPERATOR

template <int by, class N>
inline Single<N> shl(Single<N> a) {
    return Single<N>(N(a.v << by));
}
template <int by, class N>
inline Single<N> shr(Single<N> a) {
    return Single<N>(N(a.v >> by));
}
template <class N>
inline Single<N> shl(Single<N> a, Single<N> by) {
    return Single<N>(N(a.v << by.v));
}
template <class N>
inline Single<N> select(Mask mask, Single<N> a, Single<N> b) {
    return mask.v & 1 ? a : b;
}
template <class N>
inline Single<N> from_mask(Mask mask, Single<N> a) {
    return Single<N>(mask.v & 1 ? a.v : N(0));
}
template <class N>
inline void update(N (&to)[1], Mask mask, Single<N> value, Single<N>) {
    if (mask.v & 1) store(to, value);
}
template <class N>
inline Mask equal(Single<N> a, Single<N> b) {
    return {a.v == b.v};
}
template <class N>
inline Mask less(Single<N> a, Single<N> b) {
    return {a.v < b.v};
}
template <class N>
inline Mask test(Single<N> a, Single<N> b) {  // any bit of both
    return {(a.v & b.v) != 0};
}
template <class To, class N>
inline To as(Single<N> a) {
    return To(typename To::Number(a.v));
}

}  // namespace scalar
}  // namespace cyscc
