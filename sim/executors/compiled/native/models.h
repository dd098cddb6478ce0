// What all Verilated models have: an object per instance.
#pragma once

namespace cyscc {

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

#if VM_TRACE
// Advances a model by one clock cycle.
template <class Model>
void tick(Model& model) {
    settle(model);
    model.clk = 1;
    model.eval();
}
#endif

}  // namespace cyscc
