// The slices of the exchange of ids between an AE's BFS kernels, as lanes of an object. Wires, generated, has functions
// that connect them to the kernels.
#pragma once

#include <string>

#include "lanes.h"
#include "no_exchange.h"
#include "state.h"

namespace cyscc {

template <class Slices, class Wires>
class LaneExchange {
public:
    static constexpr bool kThere = true;

    // Before the kernels' tick, the slices' part of it. What leaves the exchange empty for two cycles changes nothing.
    template <class Lanes>
    void step(Lanes& kernels) {
        const bool active = Wires::send(kernels, slices_) | (busy() != 0);
        if (!active && !active_) return;
        active_ = active;
        Wires::connect(kernels, slices_);
        slices_.tick();
    }

    // A bit of each slice that holds an id.
    Bits busy() const { return slices_.busy(); }

    void list(Inventory& inventory, const std::string& place) {
        for (int n = 0; n < Slices::kLanes; ++n) {
            inventory.enter(place + std::to_string(n));
            slices_.list(inventory, n);
        }
    }

    void resume() {
        slices_.resume();
        active_ = true;
    }

private:
    Slices slices_;
    bool active_ = true;
};

}  // namespace cyscc
