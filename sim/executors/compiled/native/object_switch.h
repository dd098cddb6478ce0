// A switch as one object of a Verilated model, which can write waveforms. To be included after the model and what is
// generated beside its code. Ports, generated, has functions that visit the model's memory ports.
#pragma once

#include <string>

#include "models.h"
#include "pin_driver.h"
#include "switch.h"

namespace cyscc {

// A memory port of the model, by the names that those of a whole machine have.
template <class Bit, class Read, class Write, class Response>
struct SwitchPort {
    Bit& read_valid;
    Bit& read_ready;
    Read& read_payload;
    Bit& write_valid;
    Bit& write_ready;
    Write& write_payload;
    Bit& response_valid;
    Response& response_payload;
    Bit& flush;
    Bit& flushed;
};
template <class Bit, class Read, class Write, class Response>
SwitchPort(Bit&, Bit&, Read&, Bit&, Bit&, Write&, Bit&, Response&, Bit&, Bit&) -> SwitchPort<Bit, Read, Write, Response>;

template <class Model, class Ports>
class ObjectSwitch final : public Switch {
public:
    ObjectSwitch(VerilatedContext* context, const std::string& name) : model_(context, name.c_str()) {
        start(model_);
        put_out();
    }

    void show(uint32_t flushed) override {
        recall();
        box_.flushed = flushed;
        for (auto& requests : box_.requests) requests = 0;
    }

    void step(Mailbox& ports, const Mailbox& seen, bool flush) override {
        draw(ports, seen, flush);
        clock();
    }

    void draw(Mailbox& ports, const Mailbox& seen, bool flush) override {
        set(model_.flush, flush);
        set(model_.flushed, box_.flushed);
        Ports::visit_kernels(model_, [&](int n, auto port) {
            set(port.read_valid, seen.requests[kReads] >> n & 1);
            set(port.read_payload, seen.read_payloads[n]);
            set(port.write_valid, seen.requests[kWrites] >> n & 1);
            set(port.write_payload, seen.write_data[n], seen.write_payloads[n]);
            set(port.flush, seen.requests[kFlushes] >> n & 1);
        });
        settle(model_);
        Ports::visit_links(model_, [&](int n, auto port) { drive_port(port, ports, n, ~uint32_t(0)); });
        settle(model_);
    }

    void clock() override {
        tick(model_);
        put_out();
    }

    void list(Inventory& inventory, const std::string& place) override {
        inventory.enter(place);
        cyscc::list(model_, inventory);
    }
    void rest() override { reevaluate(model_); }
    void resume() override {
        reevaluate(model_);
        put_out();
    }

    void recall(const Mailbox& ports) override {
        Ports::visit_links(model_, [&](int n, auto port) { set(port.response_payload, ports.data[n], ports.tags[n]); });
        recall();
    }

    void trace(VerilatedVcdC& file, const Drawn& drawn) override {
        if (drawn.contains(model_.hierName())) model_.trace(&file, 99);
    }

private:
    // Shows the kernels what registers hold for them.
    void recall() {
        box_.read_ready = box_.write_ready = box_.responses = 0;
        Ports::visit_kernels(model_, [&](int n, auto port) {
            box_.read_ready |= uint32_t(get(port.read_ready)) << n;
            box_.write_ready |= uint32_t(get(port.write_ready)) << n;
            box_.responses |= uint32_t(get(port.response_valid)) << n;
            box_.data[n] = get(port.response_payload, 0);
            box_.tags[n] = get(port.response_payload, 1);
        });
    }

    void put_out() {
        busy_ = model_.busy;
        rests_ = model_.quiescent;
        Ports::visit_links(model_, [&](int, auto port) { rests_ &= !(get(port.read_valid) | get(port.write_valid)); });
    }

    Model model_;
};

}  // namespace cyscc
