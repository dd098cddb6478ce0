// What an inventory does; to be included by the one source that has the machine.
#pragma once

#include <cstring>

#include "state.h"

namespace cyscc {

void Inventory::add(const char* name, int first, int width, void* address, int bytes, int shift, int rows, int stride) {
    names_.push_back(place_ + name);
    pieces_.push_back({names_.back().c_str(), first, width, rows, static_cast<char*>(address), bytes, shift, stride, 0, 0, 0});
}

void Inventory::gather(uint64_t* words) const {
    for (const Piece& piece : pieces_) {
        for (int64_t row = 0; row < piece.rows; ++row) {
            const uint64_t value = load(piece, row) >> piece.shift & piece.known;
            const int64_t at = piece.at + row * piece.step, word = at / 64, place = at % 64;
            words[word] |= value << place;
            if (place + piece.width > 64) words[word + 1] |= value >> (64 - place);
        }
    }
}

void Inventory::scatter(const uint64_t* words) const {
    for (const Piece& piece : pieces_) {
        if (!piece.known) continue;
        const uint64_t bits = piece.known << piece.shift;
        for (int64_t row = 0; row < piece.rows; ++row) {
            const int64_t at = piece.at + row * piece.step, word = at / 64, place = at % 64;
            uint64_t value = words[word] >> place;
            if (place + piece.width > 64) value |= words[word + 1] << (64 - place);
            const uint64_t whole = (load(piece, row) & ~bits) | (value << piece.shift & bits);
            std::memcpy(piece.address + row * piece.stride, &whole, piece.bytes);
        }
    }
}

uint64_t Inventory::load(const Piece& piece, int64_t row) {
    uint64_t whole = 0;
    std::memcpy(&whole, piece.address + row * piece.stride, piece.bytes);
    return whole;
}

}  // namespace cyscc
