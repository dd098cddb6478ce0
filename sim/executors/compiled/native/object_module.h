// The kernels of a module in one AE as objects of a Verilated model, which can write waveforms. To be included after the
// model and what is generated beside its code.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <string>

#include "fill_tally.h"
#include "kernels.h"
#include "models.h"
#include "numbers.h"
#include "player.h"
#include "runs.h"

namespace cyscc {

template <class Model, int kCount, int kFifos>
class ObjectModule final : public Kernels {
public:
    ObjectModule(VerilatedContext* context, const std::string& place) {
        for (int n = 0; n < kCount; ++n) {
            kernels_[n] = std::make_unique<Model>(context, (place + std::to_string(n)).c_str());
            start(*kernels_[n]);
        }
        put_out();
    }

    void advance(const Head& head, bool owns, Mailbox& box, int64_t cycle) override {
        evaluate(head, owns, box, cycle, false);
        put_out();
    }

    void draw(const Head& head, bool owns, Mailbox& box, int64_t cycle) override {
        evaluate(head, owns, box, cycle, true);
    }

    void clock() override {
        for (int n = 0; n < kCount; ++n) {
            tick(*kernels_[n]);
            observe(n);
        }
        put_out();
    }

    void record() override { recording_ = true; }

    int64_t* write(int64_t cycle, int64_t* row) override {
        for (int n = 0; n < kCount; ++n) {
            bring_up(n, cycle);
            for (int64_t cycles : causes_[n]) *row++ = cycles;
            row = runs_.write(n, fill_[n].write(0, row));
        }
        return row;
    }
    void begin_interval() override {
        for (auto& fill : fill_) fill.begin_interval();
    }
    void begin_instruction(int64_t cycle) override {
        for (int n = 0; n < kCount; ++n) {
            bring_up(n, cycle);
            fill_[n].begin_instruction();
        }
    }

    void list(Inventory& inventory, const std::string& place) override {
        inventory.enter(place);
        inventory.add("turns", &turns_);
        for (int n = 0; n < kCount; ++n) {
            inventory.enter(place + std::to_string(n));
            inventory.add("causes", causes_[n].data(), kCauses);
            fill_[n].list(inventory, 0);
            runs_.list(inventory, n);
            cyscc::list(*kernels_[n], inventory);
        }
    }

    void rest(int64_t cycle) override {
        for (int n = 0; n < kCount; ++n) {
            bring_up(n, cycle);
            reevaluate(*kernels_[n]);
        }
    }

    void resume(int64_t cycle) override {
        counted_.fill(cycle);
        uint32_t idle = 0;
        for (int n = 0; n < kCount; ++n) {
            reevaluate(*kernels_[n]);
            observe(n);
            fill_[n].resume();
            idle |= uint32_t(kernels_[n]->cause == kIdle) << n;
        }
        runs_.resume(idle);
        put_out();
    }

    void recall(const Head& head, bool owns, const Mailbox& box) override {
        for (int n = 0; n < kCount; ++n) {
            Model& model = *kernels_[n];
            model.chain_in_payload = n ? kernels_[n - 1]->chain_out_payload : head.chain;
            model.token_in_payload = n ? kernels_[n - 1]->token_out_payload : head.token;
            if (owns) set(model.port_response_payload, box.data[n], box.tags[n]);
        }
    }

    void trace(VerilatedVcdC& file, const Drawn& drawn) override {
        for (auto& kernel : kernels_)
            if (drawn.contains(kernel->hierName())) kernel->trace(&file, 99);
    }

private:
    using Fill = FillTally<1, kFifos>;
    static constexpr uint32_t kAll = (1u << kCount) - 1;

    // Advances the kernels that have something to do; all, and only up to the clock edge, while waveforms are drawn. From
    // the last to the first, so that each still finds what its predecessor on chain and ring put out in the cycle before.
    void evaluate(const Head& head, bool owns, Mailbox& box, int64_t cycle, bool drawn) {
        const uint32_t ports = owns ? kAll : 0;
        const uint32_t chain = (chain_full_ << 1 | uint32_t(head.chain_valid)) & kAll;
        const uint32_t token = (token_full_ << 1 | uint32_t(head.token_valid)) & kAll;
        const uint32_t responses = box.responses & ports;
        const uint32_t flushed = box.flushed & ports;
        uint32_t todo = awake_ | chain | token | responses | flushed;
        todo |= ((read_full_ & box.read_ready) | (write_full_ & box.write_ready)) & ports;
        if (drawn) todo = kAll;
        while (todo) {
            const int n = 31 - std::countl_zero(todo);
            const uint32_t bit = 1u << n;
            todo ^= bit;
            Model& model = *kernels_[n];
            count(n, cycle);
            play_port(port_of(model), box, n, ports);
            model.chain_in_valid = (chain & bit) != 0;
            if (chain & bit) model.chain_in_payload = n ? kernels_[n - 1]->chain_out_payload : head.chain;
            model.token_in_valid = (token & bit) != 0;
            if (token & bit) model.token_in_payload = n ? kernels_[n - 1]->token_out_payload : head.token;
            if (drawn) {
                settle(model);
            } else {
                tick(model);
                observe(n);
            }
        }
    }

    void count(int kernel, int64_t cycle) {
        const int64_t since = counted_[kernel];
        if (cycle == since) return;
        counted_[kernel] = cycle;
        const Model& model = *kernels_[kernel];
        causes_[kernel][model.cause] += cycle - since;
        const uint32_t bit = 1u << kernel;
        runs_.note(model.cause == kIdle ? runs_.idle() | bit : runs_.idle() & ~bit, since);
        if (!recording_) return;
        typename Fill::Shown now;
        for (int word = 0; word < Fill::kWords; ++word) now[word][0] = get(model.fill, word);
        fill_[kernel].count(now, cycle - since);
    }

    void bring_up(int kernel, int64_t cycle) {
        count(kernel, cycle);
        fill_[kernel].settle();
    }

    // Shows the engine what the last kernel puts out, and whether there is anything to do.
    void put_out() {
        const Model& last = *kernels_[kCount - 1];
        busy_ = awake_ | token_full_ | chain_full_ | read_full_ | write_full_;
        chain_valid_ = last.chain_out_valid;
        token_valid_ = last.token_out_valid;
        chain_ = last.chain_out_payload;
        token_ = last.token_out_payload;
    }

    // A kernel's memory port, by the names that those of a whole machine have.
    static auto port_of(Model& model) {
        struct Port {
            Model& model;
            decltype(Model::port_read_ready)& read_ready = model.port_read_ready;
            decltype(Model::port_read_valid)& read_valid = model.port_read_valid;
            decltype(Model::port_read_payload)& read_payload = model.port_read_payload;
            decltype(Model::port_write_ready)& write_ready = model.port_write_ready;
            decltype(Model::port_write_valid)& write_valid = model.port_write_valid;
            decltype(Model::port_write_payload)& write_payload = model.port_write_payload;
            decltype(Model::port_flush)& flush = model.port_flush;
            decltype(Model::port_flushed)& flushed = model.port_flushed;
            decltype(Model::port_response_valid)& response_valid = model.port_response_valid;
            decltype(Model::port_response_payload)& response_payload = model.port_response_payload;
        };
        return Port{model};
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
    std::array<int64_t, kCount> counted_{};  // cycle up to which the causes are counted
    std::array<std::array<int64_t, kCauses>, kCount> causes_{};
    bool recording_ = false;
    Runs<kCount> runs_;
    std::array<Fill, kCount> fill_;
};

}  // namespace cyscc
