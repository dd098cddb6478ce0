// The slices of a switch as lanes of two objects. Wires, generated, has functions that connect the ones to the others.
#pragma once

#include <string>

#include "lanes.h"
#include "switch.h"

namespace cyscc {

template <class KernelSlices, class LinkSlices, class Wires>
class LaneSwitch final : public Switch {
public:
    LaneSwitch() {
        Wires::number(links_);
        put_out();
    }

    void show(uint32_t flushed) override {
        box_.read_ready = kernels_.port_read_ready();
        box_.write_ready = kernels_.port_write_ready();
        box_.responses = kernels_.port_response_valid();
        box_.flushed = flushed;
        for (auto& requests : box_.requests) requests = 0;
        if (box_.responses) {
            kernels_.get_port_response_payload_0(array<kKernels>(box_.data));
            kernels_.get_port_response_payload_1(array<kKernels>(box_.tags));
        }
    }

    void step(Mailbox& ports) override {
        const Bits reads = Bits(box_.requests[kReads]), writes = Bits(box_.requests[kWrites]);
        const Bits answers = Bits(ports.responses);
        if (rests_ && !(reads | writes | answers)) return;
        const Bits left_reads = links_.port_read_valid() & Bits(ports.read_ready);
        const Bits left_writes = links_.port_write_valid() & Bits(ports.write_ready);
        if (left_reads) links_.get_port_read_payload_0(array<kLinks>(ports.read_payloads));
        if (left_writes) {
            links_.get_port_write_payload_0(array<kLinks>(ports.write_data));
            links_.get_port_write_payload_1(array<kLinks>(ports.write_payloads));
        }
        ports.requests[kReads] |= left_reads;
        ports.requests[kWrites] |= left_writes;

        Wires::connect(kernels_, links_);
        if (reads) kernels_.put_port_read_payload_0(array<kKernels>(box_.read_payloads));
        if (writes) {
            kernels_.put_port_write_payload_0(array<kKernels>(box_.write_data));
            kernels_.put_port_write_payload_1(array<kKernels>(box_.write_payloads));
        }
        kernels_.port_read_valid(reads);
        kernels_.port_write_valid(writes);
        if (answers) {
            links_.put_port_response_payload_0(array<kLinks>(ports.data));
            Wires::put_tags(links_, ports.tags);
        }
        links_.port_response_valid(answers);
        links_.port_read_ready(Bits(ports.read_ready));
        links_.port_write_ready(Bits(ports.write_ready));
        kernels_.tick();
        links_.tick();
        put_out();
    }

    void list(Inventory& inventory, const std::string& place) override {
        for (int n = 0; n < kKernels; ++n) {
            inventory.enter(place + ".kernel" + std::to_string(n));
            kernels_.list(inventory, n);
        }
        for (int n = 0; n < kLinks; ++n) {
            inventory.enter(place + ".link" + std::to_string(n));
            links_.list(inventory, n);
        }
    }

    void resume() override {
        kernels_.resume();
        links_.resume();
        put_out();
    }

private:
    static constexpr int kKernels = KernelSlices::kLanes;
    static constexpr int kLinks = LinkSlices::kLanes;

    template <int k>
    static auto array(uint64_t* first) -> uint64_t (&)[k] {
        return *reinterpret_cast<uint64_t(*)[k]>(first);
    }

    void put_out() {
        busy_ = kernels_.busy() | links_.busy();
        rests_ = !(~kernels_.quiescent() & KernelSlices::kAll) && !(~links_.quiescent() & LinkSlices::kAll) &&
                 !(links_.port_read_valid() | links_.port_write_valid());
    }

    KernelSlices kernels_;
    LinkSlices links_;
};

}  // namespace cyscc
