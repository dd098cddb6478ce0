// The slices of a switch as lanes of two objects.
#pragma once

#include <string>

#include "lanes.h"
#include "slice_wires.h"
#include "switch.h"

namespace cyscc {

template <class KernelSlices, class LinkSlices>
class LaneSwitch final : public Switch {
public:
    LaneSwitch() {
        uint64_t numbers[kLinks];
        for (int n = 0; n < kLinks; ++n) numbers[n] = n;
        links_.put_number_0(numbers);
        put_out();
    }

    void show(uint32_t flushed, bool shown) override {
        box_.read_ready = kernels_.port_read_ready();
        box_.write_ready = kernels_.port_write_ready();
        box_.responses = kernels_.port_response_valid();
        box_.flushed = flushed;
        for (auto& requests : box_.requests) requests = 0;
        if (shown || box_.responses) {
            kernels_.get_port_response_payload_0(array<kKernels>(box_.data));
            kernels_.get_port_response_payload_1(array<kKernels>(box_.tags));
        }
    }

    void step(Mailbox& ports) override { evaluate<false>(ports, box_, 0, nullptr); }
    void step_shown(Mailbox& ports, const Mailbox& seen, int64_t cycle, Watcher& watcher) override {
        evaluate<kIsSeen<KernelSlices>>(ports, seen, cycle, &watcher);
    }

    void list_signals(Signals& signals, const std::string& place) override {
        kernel_group_ = signals.add(kernels_, place + ".kernel");
        link_group_ = signals.add(links_, place + ".link");
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
    template <int k>
    static auto array(const uint64_t* first) -> const uint64_t (&)[k] {
        return *reinterpret_cast<const uint64_t(*)[k]>(first);
    }

    // Connects what the slices put out, or besides what nobody takes.
    template <bool kAll>
    void connect() {
        const bool asks = bring_masks<KernelSlices>([&](auto& to) { kernels_.get_send_0(to); }, links_.push());
        if (asks || kAll) {
            kernels_.get_request_0(links_.request_0());
            kernels_.get_request_1(links_.request_1());
        }
        const bool answers = bring_masks<LinkSlices>([&](auto& to) { links_.get_answers_0(to); }, kernels_.arrives());
        if (answers || kAll) links_.get_answer_0(kernels_.answer_0());
        put_masks<KernelSlices>(links_.room(), [&](const auto& from) { kernels_.put_room_0(from); });
    }

    // Advances by a cycle, given the requests of kernels, of which a watcher sees everything if it is shown.
    template <bool kShown>
    void evaluate(Mailbox& ports, const Mailbox& requests, int64_t cycle, Watcher* watcher) {
        const Bits reads = Bits(requests.requests[kReads]), writes = Bits(requests.requests[kWrites]);
        const Bits answers = Bits(ports.responses);
        if (!kShown && rests_ && !(reads | writes | answers)) return;
        const Bits left_reads = links_.port_read_valid() & Bits(ports.read_ready);
        const Bits left_writes = links_.port_write_valid() & Bits(ports.write_ready);
        if (left_reads) links_.get_port_read_payload_0(array<kLinks>(ports.read_payloads));
        if (left_writes) {
            links_.get_port_write_payload_0(array<kLinks>(ports.write_data));
            links_.get_port_write_payload_1(array<kLinks>(ports.write_payloads));
        }
        ports.requests[kReads] |= left_reads;
        ports.requests[kWrites] |= left_writes;

        connect<kShown>();
        if (kShown || reads) kernels_.put_port_read_payload_0(array<kKernels>(requests.read_payloads));
        if (kShown || writes) {
            kernels_.put_port_write_payload_0(array<kKernels>(requests.write_data));
            kernels_.put_port_write_payload_1(array<kKernels>(requests.write_payloads));
        }
        kernels_.port_read_valid(reads);
        kernels_.port_write_valid(writes);
        if (kShown || answers) {
            links_.put_port_response_payload_0(array<kLinks>(ports.data));
            links_.put_port_response_payload_1(array<kLinks>(ports.tags));
        }
        links_.port_response_valid(answers);
        links_.port_read_ready(Bits(ports.read_ready));
        links_.port_write_ready(Bits(ports.write_ready));
        if constexpr (kShown) {
            cyscc::show(kernels_, *watcher, kernel_group_, cycle);
            cyscc::show(links_, *watcher, link_group_, cycle);
        }
        kernels_.tick();
        links_.tick();
        put_out();
    }

    void put_out() {
        busy_ = kernels_.busy() | links_.busy();
        rests_ = !(~kernels_.quiescent() & KernelSlices::kAll) && !(~links_.quiescent() & LinkSlices::kAll) &&
                 !(links_.port_read_valid() | links_.port_write_valid());
    }

    KernelSlices kernels_;
    LinkSlices links_;
    int64_t kernel_group_ = 0, link_group_ = 0;  // of signals
};

}  // namespace cyscc
