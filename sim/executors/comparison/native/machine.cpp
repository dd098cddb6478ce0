// The whole machine as one model: the loop over cycles, which plays memory and host to it. The interface is in C.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include CYSCC_MODEL

// Generated: what it shares with the memory, sizes and ports.
#include "pins.h"

namespace cyscc {

enum CommandKind : int64_t { kWrite = 0, kDispatch = 1, kRead = 2 };
enum RunState : int { kRunning = 0, kDone = 1, kHung = 2, kMemoryError = 3 };

struct Command {
    int64_t kind;
    int64_t index;
    uint64_t value;
};

struct Setup {
    MemoryModel memory;
    int64_t interval;  // cycles between two calls of settle
    int64_t watchdog;
};

// Where an AE is in the list of commands.
struct Host {
    size_t position = 0;
    bool awaiting = false;
    std::vector<uint64_t> answers;
    int64_t idle_since = 0;
};

class Machine {
public:
    explicit Machine(const Setup& setup) : setup_(setup) { connect(model_.top, pins_); }

    void begin(const Command* commands, int count) {
        commands_.assign(commands, commands + count);
        for (Host& host : hosts_) {
            host.position = 0;
            host.answers.clear();
        }
        dispatched_ = -1;
        moved_ = cycle_;
    }

    RunState run(int64_t budget) {
        const int64_t end = cycle_ + budget;
        for (;;) {
            for (const int64_t meeting = cycle_ + setup_.interval; cycle_ < meeting; ++cycle_) {
                for (int engine = 0; engine < kEngines; ++engine) {
                    play_memory(engine);
                    play_host(pins_[engine], hosts_[engine]);
                }
                model_.tick();
            }
            if (setup_.memory.settle(setup_.memory.context, cycle_ - 1)) return kMemoryError;
            if (std::ranges::all_of(hosts_, [this](const Host& host) { return finished(host); })) return kDone;
            if (cycle_ - moved_ > setup_.watchdog) return kHung;
            if (cycle_ >= end) return kRunning;
        }
    }

    int64_t cycle() const { return cycle_; }

    int64_t instruction_cycles() const {
        int64_t last = 0;
        for (const Host& host : hosts_) last = std::max(last, host.idle_since);
        return last - dispatched_;
    }

    // Answers as [read][engine].
    void answers(uint64_t* values) const {
        for (size_t read = 0; read < hosts_[0].answers.size(); ++read)
            for (const Host& host : hosts_) *values++ = host.answers[read];
    }

private:
    bool finished(const Host& host) const {
        return host.position == commands_.size() && (dispatched_ < 0 || host.idle_since > dispatched_);
    }

    // Takes the requests of a cycle and shows the AE what the memory has for it.
    void play_memory(int engine) {
        Mailbox& box = setup_.memory.mailboxes[engine];
        setup_.memory.prepare(setup_.memory.context, engine, cycle_);
        const uint32_t read_ready = uint32_t(box.read_ready);
        const uint32_t write_ready = uint32_t(box.write_ready);
        const uint32_t responses = uint32_t(box.responses);
        const uint32_t flushed = uint32_t(box.flushed);
        uint32_t reads = 0, writes = 0, flushes = 0;
        for (int n = 0; n < kPorts; ++n) {
            PortPins& port = pins_[engine].ports[n];
            const uint32_t bit = 1u << n;
            if (read_ready & bit && port.read_valid.get()) {
                reads |= bit;
                box.read_payloads[n] = port.read_payload.get();
            }
            if (write_ready & bit && port.write_valid.get()) {
                writes |= bit;
                box.write_payloads[n] = port.write_payload.get(1);
                box.write_data[n] = port.write_payload.get(0);
            }
            if (port.flush.get()) flushes |= bit;
            port.read_ready.set((read_ready & bit) != 0);
            port.write_ready.set((write_ready & bit) != 0);
            port.flushed.set((flushed & bit) != 0);
            port.response_valid.set((responses & bit) != 0);
            if (responses & bit) port.response_payload.set(box.data[n], box.tags[n]);
        }
        box.requests[kReads] = reads;
        box.requests[kWrites] = writes;
        box.requests[kFlushes] = flushes;
        if (reads | writes | flushes | responses | flushed) moved_ = cycle_;
        setup_.memory.accept(setup_.memory.context, engine, cycle_);
    }

    // Gives an AE one command a cycle, a read until it is answered.
    void play_host(EnginePins& pins, Host& host) {
        pins.write_valid.set(0);
        pins.instruction_valid.set(0);
        pins.read_valid.set(0);
        if (!pins.idle.get()) {
            host.idle_since = 0;
        } else if (host.idle_since <= dispatched_) {
            host.idle_since = cycle_;
        }
        if (host.awaiting && pins.data_valid.get()) {
            host.answers.push_back(pins.data_payload.get());
            host.awaiting = false;
            ++host.position;
        }
        if (host.awaiting || host.position == commands_.size()) return;
        const Command& command = commands_[host.position];
        if (command.kind == kRead) {
            pins.read_valid.set(1);
            pins.read_payload.set(uint64_t(command.index));
            host.awaiting = pins.read_ready.get() != 0;
            return;
        }
        if (command.kind == kWrite) {
            pins.write_valid.set(1);
            pins.write_payload.set(command.value, uint64_t(command.index));
        } else {
            pins.instruction_valid.set(1);
            pins.instruction_payload.set(uint64_t(command.index));
            dispatched_ = cycle_;
            host.idle_since = 0;
        }
        ++host.position;
    }

    const Setup setup_;
    Model model_;
    std::array<EnginePins, kEngines> pins_;
    std::array<Host, kEngines> hosts_;
    std::vector<Command> commands_;
    int64_t cycle_ = 0;
    int64_t dispatched_ = -1;
    int64_t moved_ = 0;
};

}  // namespace cyscc

#define CYSCC_EXPORT __attribute__((visibility("default")))

extern "C" {

CYSCC_EXPORT cyscc::Machine* cyscc_create(const cyscc::Setup* setup) { return new cyscc::Machine(*setup); }
CYSCC_EXPORT void cyscc_destroy(cyscc::Machine* machine) { delete machine; }
CYSCC_EXPORT void cyscc_begin(cyscc::Machine* machine, const cyscc::Command* commands, int count) {
    machine->begin(commands, count);
}
CYSCC_EXPORT int cyscc_run(cyscc::Machine* machine, int64_t budget) { return machine->run(budget); }
CYSCC_EXPORT int64_t cyscc_cycle(const cyscc::Machine* machine) { return machine->cycle(); }
CYSCC_EXPORT int64_t cyscc_instruction_cycles(const cyscc::Machine* machine) { return machine->instruction_cycles(); }
CYSCC_EXPORT void cyscc_answers(const cyscc::Machine* machine, uint64_t* values) { machine->answers(values); }
}
