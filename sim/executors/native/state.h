// The state of a machine by name: where each register is, so that whoever executes the same hardware can go on from it.
#pragma once

#include <concepts>
#include <cstdint>
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

    // Not here, since each kernel has hundreds of them.
    void add(const char* name, int first, int width, void* address, int bytes, int shift, int rows = 1, int stride = 0);

    // A number, or several in an array.
    template <std::integral Value>
    void add(const char* name, Value* values, int rows = 1, int stride = sizeof(Value)) {
        add(name, 0, std::same_as<Value, bool> ? 1 : 8 * sizeof(Value), values, sizeof(Value), 0, rows, stride);
    }

    std::vector<Piece>& pieces() { return pieces_; }

    // Puts all pieces into words, which are 0.
    void gather(uint64_t* words) const;

    // Takes all pieces out of words, as far as these know them.
    void scatter(const uint64_t* words) const;

private:
    static uint64_t load(const Piece& piece, int64_t row);

    std::string place_;
    std::deque<std::string> names_;
    std::vector<Piece> pieces_;
};

}  // namespace cyscc
