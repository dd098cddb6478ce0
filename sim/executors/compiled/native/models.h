// The Verilated models: one per kind of module, one object per instance.
#pragma once

#include <verilated.h>

#if VM_TRACE
#include "Vbfs_kernel.h"
#include "Vintersection_kernel.h"
#endif
#include "Vshell.h"
#include "state.h"

namespace cyscc {

// Generated beside each model's code: lists its registers, and evaluates what follows from them after they were set.
#if VM_TRACE
void list(Vbfs_kernel& model, Inventory& inventory);
void list(Vintersection_kernel& model, Inventory& inventory);
void reevaluate(Vbfs_kernel& model);
void reevaluate(Vintersection_kernel& model);
#endif
void list(Vshell& model, Inventory& inventory);
void reevaluate(Vshell& model);

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

// Advances a model by one clock cycle.
#if VM_TRACE
template <class Model>
void tick(Model& model) {
    settle(model);
    model.clk = 1;
    model.eval();
}
#else
// Defined beside the model's code. All outputs that others look at are registered, so inputs and rising edge are evaluated
// together, once.
void tick(Vshell& model);
#endif

}  // namespace cyscc
