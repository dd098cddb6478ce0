// A component by itself as a Verilated model with an input that chooses a mutant, and what it should answer.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

// Generated: `Model`; `give` copies the inputs of a cycle from memory to its pins, `take` the outputs to memory, and
// kInputBytes and kOutputBytes are how much that is.
#include "pins.h"

// Return the first cycle in which a bit of the mask is not what it should be, or -1.
extern "C" [[gnu::visibility("default")]] int64_t cyscc_differs(int mutant, int64_t runs, const int64_t* lengths,
                                                                const uint8_t* inputs, const uint8_t* outputs,
                                                                const uint8_t* masks) {
    int64_t cycle = 0;
    for (int64_t run = 0; run < runs; ++run) {
        auto context = std::make_unique<VerilatedContext>();
        auto top = std::make_unique<Model>(context.get(), "part");
        top->mutsel = mutant;
        for (int64_t end = cycle + lengths[run]; cycle < end; ++cycle) {
            give(*top, inputs + cycle * kInputBytes);
            top->clk = 0;
            top->eval();
            uint8_t found[kOutputBytes];
            take(*top, found);
            for (size_t place = 0; place < kOutputBytes; ++place)
                if ((found[place] ^ outputs[cycle * kOutputBytes + place]) & masks[cycle * kOutputBytes + place])
                    return cycle;
            top->clk = 1;
            top->eval();
        }
    }
    return -1;
}
