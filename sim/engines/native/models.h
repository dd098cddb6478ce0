// One compiled model per kind of module, one object per instance.
#pragma once

#include <verilated.h>

#include "Vbfs_kernel.h"
#include "Vbfs_kernel___024root.h"
#include "Vintersection_kernel.h"
#include "Vintersection_kernel___024root.h"
#include "Vshell.h"
#include "Vshell___024root.h"

namespace cyscc {

// Advances a model by one clock cycle. All outputs that others look at are registered, so one evaluation is enough: the
// model is told that its clock was low, and evaluates inputs and rising edge together. A Verilator that keeps the previous
// clock elsewhere gets the usual two evaluations.
template <class Model>
inline void tick(Model& model) {
    if constexpr (requires { model.rootp->__Vtrigprevexpr___TOP__clk__0; }) {
        model.rootp->__Vtrigprevexpr___TOP__clk__0 = 0;
        model.clk = 1;
        model.eval();
    } else {
        model.clk = 0;
        model.eval();
        model.clk = 1;
        model.eval();
    }
}

}  // namespace cyscc
