// The kernels of a module in one AE as objects of a Verilated model, which can write waveforms if it was built for them. To
// be included after the model and what is generated beside its code.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <string>

#include "counted.h"
#include "models.h"
#include "no_exchange.h"
#include "pin_driver.h"

namespace cyscc {

#if !VM_TRACE
// What models without waveforms have in common, whatever machine they are in.
inline VerilatedContext* undrawn() {
    static VerilatedContext context;
    return &context;
}
#endif

template <class Model, int kCount, int kFifos, class Exchange = NoExchange>
class ObjectModule final : public CountedKernels<ObjectModule<Model, kCount, kFifos, Exchange>, kCount, kFifos> {
    using Base = CountedKernels<ObjectModule, kCount, kFifos>;
    using typename Base::Array;
    using Base::chain_, Base::chain_valid_, Base::token_, Base::token_valid_;
    using Base::asked_, Base::busy_, Base::count, Base::done_, Base::epoch_, Base::error_, Base::exchange_busy_;
    using Base::read_epoch_, Base::room_;

public:
    template <class... Further>
    explicit ObjectModule(VerilatedContext* context, const std::string& place, const Further&... exchange)
        : exchange_(exchange...) {
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

#if VM_TRACE
    void draw(const Head& head, bool owns, Mailbox& box, int64_t cycle) override {
        evaluate(head, owns, box, cycle, true);
    }

    void clock() override {
        for (int n = 0; n < kCount; ++n) {
            tick(*kernels_[n]);
            observe(n);
        }
        if constexpr (Exchange::kThere) exchange_.tick();
        put_out();
    }
#endif

    void list_kernel(Inventory& inventory, int kernel) { cyscc::list(*kernels_[kernel], inventory); }
    void list_exchange([[maybe_unused]] Inventory& inventory, [[maybe_unused]] const std::string& place) override {
        if constexpr (Exchange::kThere) exchange_.list(inventory, place);
    }
    void show_causes(Array& now) const {
        for (int n = 0; n < kCount; ++n) now[n] = kernels_[n]->cause;
    }
    void show_fill(typename Base::Fill::Shown& now) const {
        for (int word = 0; word < Base::Fill::kWords; ++word)
            for (int n = 0; n < kCount; ++n) now[word][n] = get(kernels_[n]->fill, word);
    }

    void rest(int64_t cycle) override {
        Base::bring_up(cycle);
        for (auto& kernel : kernels_) reevaluate(*kernel);
        if constexpr (Exchange::kThere) exchange_.reevaluate();
    }

    void resume(int64_t cycle) override {
        for (int n = 0; n < kCount; ++n) {
            reevaluate(*kernels_[n]);
            observe(n);
        }
        if constexpr (Exchange::kThere) exchange_.reevaluate();
        Base::resume_counts(cycle);
        put_out();
    }

#if VM_TRACE
    void recall(const Head& head, bool owns, const Mailbox& box) override {
        for (int n = 0; n < kCount; ++n) {
            Model& model = *kernels_[n];
            model.chain_in_payload = n ? kernels_[n - 1]->chain_out_payload : head.chain;
            show_token(model, n, head);
            if (owns) set(model.port_response_payload, box.data[n], box.tags[n]);
        }
    }

    void look(Mailbox& seen) const override {
        for (int n = 0; n < kCount; ++n) {
            const auto port = port_of(*kernels_[n]);
            auto put = [n](auto& mask, bool value) { mask = (mask & ~(1u << n)) | uint32_t(value) << n; };
            put(seen.requests[kReads], get(port.read_valid));
            seen.read_payloads[n] = get(port.read_payload);
            put(seen.requests[kWrites], get(port.write_valid));
            seen.write_data[n] = get(port.write_payload, 0);
            seen.write_payloads[n] = get(port.write_payload, 1);
            put(seen.requests[kFlushes], get(port.flush));
        }
    }

    void trace(VerilatedVcdC& file, const Drawn& drawn) override {
        for (auto& kernel : kernels_)
            if (drawn.contains(kernel->hierName())) kernel->trace(&file, 99);
        if constexpr (Exchange::kThere) exchange_.trace(file, drawn);
    }
#endif

private:
    static constexpr uint32_t kAll = (1u << kCount) - 1;
    // The token does not pass the kernels, but the station that gives them slots.
    static constexpr bool kStation = requires(const Model& model) { model.asked; };

    // Shows a kernel the token, or the slots that its station gives it.
    void show_token(Model& model, int n, const Head& head) const {
        if constexpr (kStation) model.block_payload = head.block[n];
        else model.token_in_payload = n ? kernels_[n - 1]->token_out_payload : head.token;
    }

    // Advances the kernels that have something to do; all, and only up to the clock edge, while waveforms are drawn. From
    // the last to the first, so that each still finds what its predecessor on chain and ring put out in the cycle before.
    void evaluate(const Head& head, bool owns, Mailbox& box, int64_t cycle, bool drawn) {
        count(cycle);
        const uint32_t ports = owns ? kAll : 0;
        const uint32_t chain = (chain_full_ << 1 | uint32_t(head.chain_valid)) & kAll;
        const uint32_t token = kStation ? head.blocks : (token_full_ << 1 | uint32_t(head.token_valid)) & kAll;
        const uint32_t responses = box.responses & ports;
        const uint32_t flushed = box.flushed & ports;
        uint32_t todo = awake_ | chain | token | responses | flushed;
        todo |= ((read_full_ & box.read_ready) | (write_full_ & box.write_ready)) & ports;
        if (drawn) todo = kAll;
        if constexpr (Exchange::kThere) {
            exchange_.connect(kernels_, head.drained);
            drawn ? exchange_.settle() : exchange_.tick();
        }
        while (todo) {
            const int n = 31 - std::countl_zero(todo);
            const uint32_t bit = 1u << n;
            todo ^= bit;
            Model& model = *kernels_[n];
            drive_port(port_of(model), box, n, ports);
            model.chain_in_valid = (chain & bit) != 0;
            if (chain & bit) model.chain_in_payload = n ? kernels_[n - 1]->chain_out_payload : head.chain;
            if constexpr (kStation) model.block_valid = (token & bit) != 0;
            else model.token_in_valid = (token & bit) != 0;
            if (token & bit) show_token(model, n, head);
            if (drawn) {
                settle(model);
            } else {
                tick(model);
                observe(n);
            }
        }
    }

    // Shows the engine what the last kernel puts out, and whether there is anything to do.
    void put_out() {
        const Model& last = *kernels_[kCount - 1];
        busy_ = awake_ | token_full_ | chain_full_ | read_full_ | write_full_;
        chain_valid_ = last.chain_out_valid;
        chain_ = last.chain_out_payload;
        if constexpr (kStation) {
            asked_ = room_ = epoch_ = 0;
            for (int n = 0; n < kCount; ++n) {
                asked_ |= uint32_t(kernels_[n]->asked) << n;
                room_ |= uint32_t(kernels_[n]->room) << n;
                epoch_ |= uint32_t(kernels_[n]->epoch) << n;
            }
        } else {
            token_valid_ = last.token_out_valid;
            token_ = last.token_out_payload;
        }
        if constexpr (Exchange::kThere) {
            exchange_busy_ = exchange_.busy();
            read_epoch_ = 0;
            for (int n = 0; n < kCount; ++n) read_epoch_ |= uint32_t(kernels_[n]->read_epoch) << n;
        }
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
        if constexpr (!kStation) put(token_full_, model.token_out_valid);
        put(read_full_, model.port_read_valid);
        put(write_full_, model.port_write_valid);
        put(done_, model.done);
        put(error_, model.error);
    }

    [[no_unique_address]] Exchange exchange_;
    std::array<std::unique_ptr<Model>, kCount> kernels_;
    uint32_t awake_ = kAll;     // may change state by themselves
    uint32_t chain_full_ = 0;   // chain_out is valid
    uint32_t token_full_ = 0;   // token_out is valid
    uint32_t read_full_ = 0;    // a read waits at the port
    uint32_t write_full_ = 0;   // a write waits at the port
};

}  // namespace cyscc
