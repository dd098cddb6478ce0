// Wires between slices of two kinds: a number of one has a bit for each slice of the other kind.
#pragma once

#include "lanes.h"

namespace cyscc {

// Brings the numbers that slices put out into an array of masks: those to which each speaks. Returns whether any does.
template <class Slices, class Get, class Masks>
CYSCC_INLINE bool bring_masks(Get get, Masks& to) {
    uint64_t values[Slices::kLanes];
    get(values);
    const auto masks = as<typename Slices::Word>(load(values));
    store(to, masks);
    return among<Slices::kLanes>(test(masks, typename Slices::Word(~0u))) != 0;
}

// Brings masks to slices, each of which takes one as a number.
template <class Slices, class Masks, class Put>
CYSCC_INLINE void put_masks(const Masks& from, Put put) {
    uint64_t values[Slices::kLanes];
    // Stored as they are loaded next: a processor waits for numbers that come together from several stores.
    store(values, as<typename Slices::Long>(load(from)));
    put(values);
}

}  // namespace cyscc
