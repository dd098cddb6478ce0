// The kernels of a module in one engine as objects of a Verilated model, which can write waveforms.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <string>

#include "box.h"
#include "models.h"

namespace cyscc {

template <class Model, int kCount>
class ObjectModule {
public:
    ObjectModule(VerilatedContext* context, const std::string& place) {
        for (int n = 0; n < kCount; ++n) {
            kernels_[n] = std::make_unique<Model>(context, (place + std::to_string(n)).c_str());
            start(*kernels_[n]);
        }
    }

    // Advances the kernels that have something to do; all, and only up to the clock edge, while waveforms are drawn. From
    // the last to the first, so that each still finds what its predecessor on chain and ring put out in the cycle before.
    void step(const Head& head, bool owns, Box box, int64_t cycle, bool drawn = false) {
        const uint32_t ports = owns ? kAll : 0;
        const uint32_t chain = (chain_full_ << 1 | uint32_t(head.chain_valid)) & kAll;
        const uint32_t token = (token_full_ << 1 | uint32_t(head.token_valid)) & kAll;
        const uint32_t responses = box.responses() & ports;
        const uint32_t flushed = box.flushed() & ports;
        uint32_t todo = awake_ | chain | token | responses | flushed;
        todo |= ((read_full_ & box.read_ready()) | (write_full_ & box.write_ready())) & ports;
        if (drawn) todo = kAll;
        while (todo) {
            const int n = 31 - std::countl_zero(todo);
            const uint32_t bit = 1u << n;
            todo ^= bit;
            Model& model = *kernels_[n];
            count(n, cycle);
            model.port_read_ready = (box.read_ready() & ports & bit) != 0;
            model.port_write_ready = (box.write_ready() & ports & bit) != 0;
            if (owns) collect(model, n, box);
            model.chain_in_valid = (chain & bit) != 0;
            if (chain & bit) model.chain_in_payload = n ? kernels_[n - 1]->chain_out_payload : head.chain;
            model.token_in_valid = (token & bit) != 0;
            if (token & bit) model.token_in_payload = n ? kernels_[n - 1]->token_out_payload : head.token;
            model.port_flushed = (flushed & bit) != 0;
            model.port_response_valid = (responses & bit) != 0;
            if (responses & bit) {
                const uint64_t data = box.data()[n];
                model.port_response_payload[0] = uint32_t(data);
                model.port_response_payload[1] = uint32_t(data >> 32);
                model.port_response_payload[2] = uint32_t(box.tags()[n]);
            }
            if (drawn) {
                settle(model);
            } else {
                tick(model);
                observe(n);
            }
        }
    }

    // The clock edge of a drawn cycle.
    void clock() {
        for (int n = 0; n < kCount; ++n) {
            tick(*kernels_[n]);
            observe(n);
        }
    }

    // Nothing happens here before a cycle unless something arrives; 0 where something may happen in each.
    int64_t rests_until(int64_t) const {
        return awake_ | token_full_ | chain_full_ | read_full_ | write_full_ ? 0 : kNever;
    }

    // What the last kernel puts out.
    bool chain_valid() const { return kernels_[kCount - 1]->chain_out_valid; }
    bool token_valid(int64_t) const { return kernels_[kCount - 1]->token_out_valid; }
    uint64_t chain() const { return kernels_[kCount - 1]->chain_out_payload; }
    uint64_t token() const { return kernels_[kCount - 1]->token_out_payload; }

    uint32_t done() const { return done_; }
    uint32_t error() const { return error_; }

    // Writes the cycles of each kernel by activity, as [kernel][activity].
    int64_t* activity(int64_t cycle, int64_t* counts) {
        for (int n = 0; n < kCount; ++n) {
            count(n, cycle);
            for (int64_t cycles : activity_[n]) *counts++ = cycles;
        }
        return counts;
    }

    template <class Function>
    void for_each_model(Function function) {
        for (auto& kernel : kernels_) function(*kernel);
    }

private:
    static constexpr uint32_t kAll = (1u << kCount) - 1;

    void count(int kernel, int64_t cycle) {
        activity_[kernel][kernels_[kernel]->activity] += cycle - counted_[kernel];
        counted_[kernel] = cycle;
    }

    // Hands a kernel's requests of this cycle to the memory.
    void collect(const Model& model, int port, Box box) {
        const uint32_t bit = 1u << port;
        const bool read = model.port_read_valid && model.port_read_ready;
        const bool write = model.port_write_valid && model.port_write_ready;
        if (read) box.read_payloads()[port] = model.port_read_payload;
        if (write) {
            const auto& payload = model.port_write_payload;
            box.write_data()[port] = payload[0] | uint64_t(payload[1]) << 32;
            box.write_payloads()[port] = payload[2] | uint64_t(payload[3]) << 32;
        }
        box.hand_over(read ? bit : 0, write ? bit : 0, model.port_flush ? bit : 0);
    }

    // Notes what a kernel put out with the clock edge that it has just seen.
    void observe(int kernel) {
        const Model& model = *kernels_[kernel];
        const uint32_t bit = 1u << kernel;
        auto put = [bit](uint32_t& mask, bool value) { mask = value ? mask | bit : mask & ~bit; };
        put(awake_, !model.quiescent);
        put(chain_full_, model.chain_out_valid);
        put(token_full_, model.token_out_valid);
        put(read_full_, model.port_read_valid);
        put(write_full_, model.port_write_valid);
        put(done_, model.done);
        put(error_, model.error);
    }

    std::array<std::unique_ptr<Model>, kCount> kernels_;
    uint32_t awake_ = kAll;     // may change state by themselves
    uint32_t chain_full_ = 0;   // chain_out is valid
    uint32_t token_full_ = 0;   // token_out is valid
    uint32_t read_full_ = 0;    // a read waits at the port
    uint32_t write_full_ = 0;   // a write waits at the port
    uint32_t done_ = 0;
    uint32_t error_ = 0;
    std::array<int64_t, kCount> counted_{};  // cycle up to which the activity is counted
    std::array<std::array<int64_t, kActivities>, kCount> activity_{};
};

}  // namespace cyscc
