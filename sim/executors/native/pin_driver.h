// Drives the host and memory ports of an Application Engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pins.h"
#include "state.h"

// Generated: the numbers of enumerations; the memory.
#include "numbers.h"
#include "memory.h"

namespace cyscc {

struct Command {
    int64_t kind;
    int64_t index;
    uint64_t value;
};

// Shows a port what the memory has for it in a cycle, and takes its requests; with an empty mask nothing passes.
template <class Port>
void drive_port(Port&& port, Mailbox& box, int number, uint32_t mask) {
    const uint32_t bit = 1u << number & mask;
    set(port.read_ready, (box.read_ready & bit) != 0);
    set(port.write_ready, (box.write_ready & bit) != 0);
    set(port.flushed, (box.flushed & bit) != 0);
    set(port.response_valid, (box.responses & bit) != 0);
    if (box.responses & bit) set(port.response_payload, box.data[number], box.tags[number]);
    const bool read = box.read_ready & bit && get(port.read_valid);
    const bool write = box.write_ready & bit && get(port.write_valid);
    if (read) {
        box.requests[kReads] |= bit;
        box.read_payloads[number] = get(port.read_payload);
    }
    if (write) {
        box.requests[kWrites] |= bit;
        box.write_data[number] = get(port.write_payload, 0);
        box.write_payloads[number] = get(port.write_payload, 1);
    }
    if (get(port.flush)) box.requests[kFlushes] |= bit;
}

// The host's and the memory's side of an AE.
class PinDriver {
public:
    PinDriver(const MemoryModel& memory, int number)
        : memory_(memory), number_(number), box_(memory.mailboxes[number]) {}

    Mailbox& box() const { return box_; }

    // Begins a cycle: what the memory shows is in the mailbox then.
    void prepare(int64_t cycle) const { memory_.prepare(memory_.context, number_, cycle); }

    // Ends a cycle whose requests are in the mailbox.
    void accept(int64_t cycle) {
        const bool requests = box_.requests[kReads] | box_.requests[kWrites] | box_.requests[kFlushes];
        if (requests) memory_.accept(memory_.context, number_, cycle);
        if (requests || box_.responses || box_.flushed) moved_ = cycle;
    }

    void begin(const Command* commands, int count) {
        commands_ = commands;
        count_ = count;
        position_ = 0;
        answers_.clear();
        dispatched_ = -1;
    }

    bool has_commands() const { return awaiting_ || position_ < count_; }

    // Whether the list is done, and the AE idle since the dispatch if there was one.
    bool finished() const { return position_ == count_ && idle_since_ > dispatched_; }

    // Drives the host's ports: one command a cycle, a read until it is answered.
    template <class Pins>
    void drive_host(Pins& pins, int64_t cycle) {
        set(pins.write_valid, 0);
        set(pins.instruction_valid, 0);
        set(pins.read_valid, 0);
        if (!get(pins.idle)) {
            idle_since_ = 0;
        } else if (idle_since_ <= dispatched_) {
            idle_since_ = cycle;
        }
        if (awaiting_ && get(pins.data_valid)) {
            answers_.push_back(get(pins.data_payload));
            awaiting_ = false;
            ++position_;
        }
        if (!has_commands() || awaiting_) return;
        const Command& command = commands_[position_];
        switch (command.kind) {
            case kRead:
                set(pins.read_valid, 1);
                set(pins.read_payload, uint64_t(command.index));
                awaiting_ = get(pins.read_ready) != 0;
                return;
            case kWrite:
                set(pins.write_valid, 1);
                set(pins.write_payload, command.value, uint64_t(command.index));
                break;
            case kDispatch:
                set(pins.instruction_valid, 1);
                set(pins.instruction_payload, uint64_t(command.index));
                dispatched_ = cycle;
                idle_since_ = 0;
        }
        ++position_;
    }

    // Where the host is in its list of commands, which is begun before.
    void list(Inventory& inventory) {
        inventory.enter("engine" + std::to_string(number_) + ".host");
        inventory.add("position", &position_);
        inventory.add("awaiting", &awaiting_);
        inventory.add("dispatched", &dispatched_);
        inventory.add("idle_since", &idle_since_);
        inventory.add("moved", &moved_);
    }

    int64_t dispatched() const { return dispatched_; }
    int64_t idle_since() const { return idle_since_; }
    int64_t moved() const { return moved_; }
    const std::vector<uint64_t>& answers() const { return answers_; }

private:
    const MemoryModel memory_;
    const int number_;
    Mailbox& box_;
    const Command* commands_ = nullptr;
    int count_ = 0;
    int position_ = 0;
    bool awaiting_ = false;
    std::vector<uint64_t> answers_;
    int64_t dispatched_ = -1;
    int64_t idle_since_ = 0;
    int64_t moved_ = 0;
};

}  // namespace cyscc
