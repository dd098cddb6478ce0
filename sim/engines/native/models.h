// One compiled model per kind of module, one object per instance.
#pragma once

#include <verilated.h>

#include "Vbfs_kernel.h"
#include "Vintersection_kernel.h"
#include "Vshell.h"

namespace cyscc {

// Advances a model by one clock cycle; defined beside each model's code. All outputs that others look at are registered, so
// inputs and rising edge are evaluated together, once.
void tick(Vbfs_kernel& model);
void tick(Vintersection_kernel& model);
void tick(Vshell& model);

}  // namespace cyscc
