// The kernels of a module in one engine as one object, whose lanes they are.
#pragma once

#include <bit>

#include "box.h"
#include "lanes.h"

namespace cyscc {

template <class Lanes>
class LaneModule {
public:
    static constexpr int kKernels = Lanes::kLanes;

    // Advances the kernels by a cycle if any has something to do.
    void step(const Head& head, bool owns, Box box, int64_t cycle) {
        const Mask ports = owns ? Lanes::kAll : 0;
        const Mask chain = (lanes_.chain_out_valid() << 1 | Mask(head.chain_valid)) & Lanes::kAll;
        const Mask token = (lanes_.token_out_valid() << 1 | Mask(head.token_valid)) & Lanes::kAll;
        const Mask responses = box.responses() & ports;
        const Mask flushed = box.flushed() & ports;
        const Mask reads = lanes_.port_read_valid() & box.read_ready() & ports;
        const Mask writes = lanes_.port_write_valid() & box.write_ready() & ports;
        const Mask flushes = lanes_.port_flush() & ports;
        const Mask awake = ~lanes_.quiescent() & Lanes::kAll;
        if (!(awake | chain | token | responses | flushed | reads | writes)) return;
        count(cycle);
        if (reads) lanes_.get_port_read_payload_0(array(box.read_payloads()));
        if (writes) {
            lanes_.get_port_write_payload_0(array(box.write_data()));
            lanes_.get_port_write_payload_1(array(box.write_payloads()));
        }
        box.hand_over(reads, writes, flushes);
        if (responses) {
            lanes_.put_port_response_payload_0(array(box.data()));
            lanes_.put_port_response_payload_1(array(box.tags()));
        }
        for (Mask left = chain; left; left &= left - 1) {
            const int n = std::countr_zero(left);
            lanes_.put_chain_in_payload_0(n, n ? lanes_.get_chain_out_payload_0(n - 1) : head.chain);
        }
        for (Mask left = token; left; left &= left - 1) {
            const int n = std::countr_zero(left);
            lanes_.put_token_in_payload_0(n, n ? lanes_.get_token_out_payload_0(n - 1) : head.token);
        }
        lanes_.chain_in_valid(chain);
        lanes_.token_in_valid(token);
        lanes_.port_read_ready(box.read_ready() & ports);
        lanes_.port_write_ready(box.write_ready() & ports);
        lanes_.port_response_valid(responses);
        lanes_.port_flushed(flushed);
        lanes_.tick();
    }

    // What the last kernel puts out.
    bool chain_valid() const { return lanes_.chain_out_valid() >> (kKernels - 1); }
    bool token_valid() const { return lanes_.token_out_valid() >> (kKernels - 1); }
    uint64_t chain() const { return lanes_.get_chain_out_payload_0(kKernels - 1); }
    uint64_t token() const { return lanes_.get_token_out_payload_0(kKernels - 1); }

    Mask done() const { return lanes_.done(); }
    Mask error() const { return lanes_.error(); }

    // Writes the cycles of each kernel by activity, as [kernel][activity].
    int64_t* activity(int64_t cycle, int64_t* counts) {
        count(cycle);
        spill();
        for (auto& kernel : activity_)
            for (int64_t cycles : kernel) *counts++ = cycles;
        return counts;
    }

private:
    using Long = typename Lanes::Long;
    using Array = uint64_t[kKernels];
    static constexpr int kMostTallied = 255;
    static_assert(kActivities <= 8);

    static Array& array(uint64_t* first) { return *reinterpret_cast<Array*>(first); }

    // Counts the activity up to a cycle. In the tally each kernel has a byte an activity, which holds 255 cycles.
    void count(int64_t cycle) {
        const int64_t elapsed = cycle - counted_;
        counted_ = cycle;
        alignas(64) Array now;
        lanes_.get_activity_0(now);
        if (elapsed == 1) {
            store(tally_, load(tally_) + shl(Long(1), shl<3>(load(now))));
            if (++tallied_ == kMostTallied) spill();
        } else {
            for (int n = 0; n < kKernels; ++n) activity_[n][now[n]] += elapsed;
        }
    }

    void spill() {
        for (int n = 0; n < kKernels; ++n) {
            for (int kind = 0; kind < kActivities; ++kind) activity_[n][kind] += tally_[n] >> 8 * kind & 255;
            tally_[n] = 0;
        }
        tallied_ = 0;
    }

    Lanes lanes_;
    int64_t counted_ = 0;
    int tallied_ = 0;
    alignas(64) Array tally_ = {};
    int64_t activity_[kKernels][kActivities] = {};
};

}  // namespace cyscc
