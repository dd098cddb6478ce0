// The Verilated models: one per kind of module, one object per instance.
#pragma once

#include <verilated.h>

#if !CYSCC_LANES
#include "Vbfs_kernel.h"
#include "Vintersection_kernel.h"
#endif
#include "Vshell.h"

namespace cyscc {

// Advances a model by one clock cycle; defined beside each model's code. All outputs that others look at are registered, so
// inputs and rising edge are evaluated together, once.
#if !CYSCC_LANES
void tick(Vbfs_kernel& model);
void tick(Vintersection_kernel& model);
#endif
void tick(Vshell& model);

// Brings a new model into the state after reset.
template <class Model>
void start(Model& model) {
    model.rst = 0;
    model.clk = 0;
    model.eval();
}

// Evaluates what follows from a model's inputs and registers, without a clock edge.
template <class Model>
void settle(Model& model) {
    model.clk = 0;
    model.eval();
}

}  // namespace cyscc
