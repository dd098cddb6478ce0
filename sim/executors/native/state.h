// The state of a machine by name: where each register is, so that whoever executes the same hardware can go on from it.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace cyscc {

// Some bits of a register, or of each row of a memory.
struct Piece {
    const char* name;
    int64_t first, width;  // which bits; at most 64
    int64_t rows;
    char* address;                 // of the first row
    int64_t bytes, shift, stride;  // of a row: its number's size, the bits below, the distance to the next
    // Set by whoever has the words: the first row's place in bits, the distance to the next, and which bits are known.
    int64_t at, step;
    uint64_t known;
};

// Lists where everything is.
class Inventory {
public:
    // What is added next is part of this.
    void enter(const std::string& place) { place_ = place + "."; }

    void add(const std::string& name, int first, int width, void* address, int bytes, int shift, int rows = 1,
             int stride = 0) {
        names_.push_back(place_ + name);
        pieces_.push_back({names_.back().c_str(), first, width, rows, static_cast<char*>(address), bytes, shift, stride, 0, 0, 0});
    }

    // A number, or several in an array.
    template <std::integral Value>
    void add(const std::string& name, Value* values, int rows = 1, int stride = sizeof(Value)) {
        add(name, 0, std::same_as<Value, bool> ? 1 : 8 * sizeof(Value), values, sizeof(Value), 0, rows, stride);
    }

    std::vector<Piece>& pieces() { return pieces_; }

    // Puts all pieces into words, which are 0.
    void gather(uint64_t* words) const {
        for (const Piece& piece : pieces_) {
            for (int64_t row = 0; row < piece.rows; ++row) {
                const uint64_t value = load(piece, row) >> piece.shift & piece.known;
                const int64_t at = piece.at + row * piece.step, word = at / 64, place = at % 64;
                words[word] |= value << place;
                if (place + piece.width > 64) words[word + 1] |= value >> (64 - place);
            }
        }
    }

    // Takes all pieces out of words, as far as these know them.
    void scatter(const uint64_t* words) const {
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

private:
    static uint64_t load(const Piece& piece, int64_t row) {
        uint64_t whole = 0;
        std::memcpy(&whole, piece.address + row * piece.stride, piece.bytes);
        return whole;
    }

    std::string place_;
    std::deque<std::string> names_;
    std::vector<Piece> pieces_;
};

}  // namespace cyscc
