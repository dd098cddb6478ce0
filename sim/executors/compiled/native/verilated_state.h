// The registers of Verilated models as pieces of the state.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>

#include <verilated.h>

#include "state.h"

namespace cyscc {

template <std::integral Value>
void add(Inventory& inventory, const char* name, int width, Value& value, int rows = 1, int stride = 0) {
    inventory.add(name, 0, width, &value, sizeof value, 0, rows, stride);
}

template <std::size_t kWords>
void add(Inventory& inventory, const char* name, int width, VlWide<kWords>& value, int rows = 1, int stride = 0) {
    for (int word = 0; word < int(kWords); ++word)
        inventory.add(name, 32 * word, std::min(32, width - 32 * word), &value[word], 4, 0, rows, stride);
}

template <class Row, std::size_t kRows>
void add(Inventory& inventory, const char* name, int width, VlUnpacked<Row, kRows>& memory) {
    add(inventory, name, width, memory[0], kRows, sizeof(Row));
}

}  // namespace cyscc
