// The slices of the exchange of ids between an AE's BFS kernels, as lanes of an object.
#pragma once

#include <string>

#include "lanes.h"
#include "no_exchange.h"
#include "signals.h"
#include "slice_wires.h"
#include "state.h"

namespace cyscc {

template <class Slices>
class LaneExchange {
public:
    static constexpr bool kThere = true;

    // Before the kernels' tick, the slices' part of it. What leaves the exchange empty for two cycles changes nothing.
    template <class Lanes>
    void step(Lanes& kernels) {
        const bool active = send<false>(kernels) | (busy() != 0);
        if (!active && !active_) return;
        active_ = active;
        connect<false>(kernels);
        slices_.tick();
    }

    // The same in a cycle that is shown.
    template <class Lanes>
    void step(Lanes& kernels, Watcher& watcher, int64_t cycle) {
        active_ = send<true>(kernels) | (busy() != 0);
        connect<true>(kernels);
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
    // Brings ids to the slices, or besides what is none; returns whether there are any.
    template <bool kAll, class Lanes>
    bool send(Lanes& kernels) {
        const bool even = bring_masks<Lanes>([&](auto& to) { kernels.get_send_even_0(to); }, slices_.push_even());
        if (even || kAll) kernels.get_id_even_0(slices_.even_0());
        const bool odd = bring_masks<Lanes>([&](auto& to) { kernels.get_send_odd_0(to); }, slices_.push_odd());
        if (odd || kAll) kernels.get_id_odd_0(slices_.odd_0());
        return even || odd;
    }

    template <bool kAll, class Lanes>
    void connect(Lanes& kernels) {
        uint64_t values[Slices::kLanes];
        put_masks<Lanes>(slices_.room_even(), [&](const auto& from) { kernels.put_room_even_0(from); });
        put_masks<Lanes>(slices_.room_odd(), [&](const auto& from) { kernels.put_room_odd_0(from); });
        const Bits even = slices_.owned_even_valid(), odd = slices_.owned_odd_valid();
        slices_.owned_even_ready(kernels.owned_even_ready());
        slices_.owned_odd_ready(kernels.owned_odd_ready());
        kernels.owned_even_valid(even);
        kernels.owned_odd_valid(odd);
        if (even || kAll) {
            slices_.get_owned_even_payload_0(values);
            kernels.put_owned_even_payload_0(values);
        }
        if (odd || kAll) {
            slices_.get_owned_odd_payload_0(values);
            kernels.put_owned_odd_payload_0(values);
        }
    }

    Slices slices_;
    bool active_ = true;
    int64_t group_ = 0;  // of signals
};

}  // namespace cyscc
