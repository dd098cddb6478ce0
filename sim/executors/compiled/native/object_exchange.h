// The slices of the exchange of ids between an AE's BFS kernels, as objects of a Verilated model. To be included after the
// model and what is generated beside its code. Wires, generated, connects them to the kernels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "models.h"
#include "state.h"

namespace cyscc {

template <class Model, int kCount, class Wires>
class ObjectExchange {
public:
    static constexpr bool kThere = true;

    ObjectExchange(VerilatedContext* context, const std::string& place) {
        for (int n = 0; n < kCount; ++n) {
            slices_[n] = std::make_unique<Model>(context, (place + std::to_string(n)).c_str());
            start(*slices_[n]);
        }
    }

    // Shows kernels and slices what the others put out, before any of them is evaluated.
    template <class Kernels>
    void connect(Kernels& kernels, uint64_t drained) {
        Wires::connect(kernels, slices_);
        for (auto& kernel : kernels) kernel->drained = drained;
    }

    void settle() {
        for (auto& slice : slices_) cyscc::settle(*slice);
    }
    void tick() {
        for (auto& slice : slices_) cyscc::tick(*slice);
    }

    // A bit of each slice that holds an id.
    uint32_t busy() const {
        uint32_t busy = 0;
        for (int n = 0; n < kCount; ++n) busy |= uint32_t(slices_[n]->busy) << n;
        return busy;
    }

    void list(Inventory& inventory, const std::string& place) {
        for (int n = 0; n < kCount; ++n) {
            inventory.enter(place + std::to_string(n));
            cyscc::list(*slices_[n], inventory);
        }
    }
    void reevaluate() {
        for (auto& slice : slices_) cyscc::reevaluate(*slice);
    }

#if VM_TRACE
    template <class Drawn>
    void trace(VerilatedVcdC& file, const Drawn& drawn) {
        for (auto& slice : slices_)
            if (drawn.contains(slice->hierName())) slice->trace(&file, 99);
    }
#endif

private:
    std::array<std::unique_ptr<Model>, kCount> slices_;
};

}  // namespace cyscc
