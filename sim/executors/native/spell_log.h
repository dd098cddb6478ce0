// Spells of kernels: cycles without interruption in which a kernel shows the same number, a cause for example.
#pragma once

#include <cstdint>

namespace cyscc {

struct Spell {
    int64_t engine, kernel, number, begin, end;
};

// The spells that are wanted, and where those of an engine are written; who asks for them owns the memory.
struct SpellLog {
    int64_t least;    // cycles of the shortest
    uint64_t wanted;  // a bit of each number
    // The number is whether any FIFO holds more than its limit, listed here module after module; null: it is the cause.
    const int64_t* limits;
    int64_t places;
    Spell* spells;
    int64_t* written;  // also counts those that found no place
    int64_t engine;
    int64_t first;  // number of the module's first kernel
};

}  // namespace cyscc
