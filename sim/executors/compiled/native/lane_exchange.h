// The slices of the exchange of ids between an AE's BFS kernels, as lanes of an object. Wires, generated, has functions
// that connect them to the kernels.
#pragma once

#include <string>

#include "lanes.h"
#include "no_exchange.h"
#include "signals.h"
#include "state.h"

namespace cyscc {

template <class Slices, class Wires>
class LaneExchange {
public:
    static constexpr bool kThere = true;

    // Before the kernels' tick, the slices' part of it. What leaves the exchange empty for two cycles changes nothing.
    template <class Lanes>
    void step(Lanes& kernels) {
        const bool active = Wires::template send<false>(kernels, slices_) | (busy() != 0);
        if (!active && !active_) return;
        active_ = active;
        Wires::template connect<false>(kernels, slices_);
        slices_.tick();
    }

    // The same in a cycle that is shown.
    template <class Lanes>
    void step(Lanes& kernels, Watcher& watcher, int64_t cycle) {
        active_ = Wires::template send<true>(kernels, slices_) | (busy() != 0);
        Wires::template connect<true>(kernels, slices_);
        cyscc::show(slices_, watcher, group_, cycle);
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

    void list_signals(Signals& signals, const std::string& place) { group_ = signals.add(slices_, place); }

    void resume() {
        slices_.resume();
        active_ = true;
    }

private:
    Slices slices_;
    bool active_ = true;
    int64_t group_ = 0;  // of signals
};

}  // namespace cyscc
