// The machine: engines that run side by side and meet at the memory. The interface is in C, for ctypes.

#include <algorithm>
#include <memory>
#include <vector>

#include "engine.h"
#include "team.h"

#if VM_TRACE
#include <verilated_vcd_c.h>
#endif

namespace cyscc {

enum RunState : int { kRunning = 0, kDone = 1, kHung = 2, kMemoryError = 3 };

struct Setup {
    MemoryModel memory;
    int64_t interval;  // cycles between two moments at which the host may begin or end something
    int64_t round;     // cycles between two meetings, if requests are performed while engines go on; else 0
    int64_t watchdog;
    int64_t threads;
    const char* waves;
    int64_t first_wave;
    int64_t last_wave;
};

class Machine {
public:
    explicit Machine(const Setup& setup)
        : setup_(setup),
          links_(CYSCC_ENGINES),
          team_(int(setup.threads), CYSCC_ENGINES + (setup.round > 0), [this](int number) { do_part(number); }),
          pace_(setup.threads > 1) {
#if VM_TRACE
        verilated_.traceEverOn(true);
#endif
        for (int n = 0; n < CYSCC_ENGINES; ++n) {
            Link* from = &links_[(n + CYSCC_ENGINES - 1) % CYSCC_ENGINES];
            engines_.push_back(std::make_unique<Engine>(&verilated_, n, setup.memory, from, &links_[n]));
        }
#if VM_TRACE
        for (auto& engine : engines_) engine->for_each_model([&](auto& model) { model.trace(&trace_, 99); });
        trace_.open(setup.waves);
#endif
    }

    ~Machine() {
#if VM_TRACE
        trace_.close();
#endif
    }

    void begin(const Command* commands, int count) {
        commands_.assign(commands, commands + count);
        for (auto& engine : engines_) engine->begin(commands_.data(), count);
        begun_ = cycle_;
    }

    RunState run(int64_t budget) {
        const int64_t end = cycle_ + budget;
        RunState state = kRunning;
        do state = run_interval();
        while (state == kRunning && cycle_ < end);
        // Nothing stays under way, so that the memory holds what has been written.
        if (setup_.round && setup_.memory.settle(setup_.memory.context, cycle_ - 1)) state = kMemoryError;
        return state;
    }

    int64_t cycle() const { return cycle_; }

    int64_t instruction_cycles() const {
        int64_t last = 0;
        for (auto& engine : engines_) last = std::max(last, engine->idle_since());
        return last - engines_[0]->dispatched();
    }

    // Answers as [read][engine].
    void answers(uint64_t* values) const {
        const size_t reads = engines_[0]->answers().size();
        for (size_t read = 0; read < reads; ++read)
            for (auto& engine : engines_) *values++ = engine->answers()[read];
    }

    void activity(int64_t* counts) {
        for (auto& engine : engines_) {
            engine->activity(cycle_, counts);
            counts += (kBfsKernels + kIntersectionKernels) * kActivities;
        }
    }

private:
    RunState run_interval() {
        const MemoryModel& memory = setup_.memory;
        const int64_t end = cycle_ + setup_.interval;
        while (cycle_ < end) {
            meeting_ = setup_.round ? std::min(end, cycle_ + setup_.round) : end;
            advance();
            cycle_ = meeting_;
            const auto finish = setup_.round ? memory.seal : memory.settle;
            if (finish(memory.context, cycle_ - 1)) return kMemoryError;
        }
        int64_t moved = begun_;
        bool finished = true;
        for (auto& engine : engines_) {
            finished = finished && engine->finished();
            moved = std::max(moved, engine->moved());
        }
        if (finished) return kDone;
        return cycle_ - moved > setup_.watchdog ? kHung : kRunning;
    }

    // Runs all engines up to their next meeting.
    void advance() {
#if VM_TRACE
        // All engines cycle by cycle, since a waveform has one time for all.
        for (int64_t cycle = cycle_; cycle < meeting_; ++cycle) {
            if (cycle < setup_.first_wave || cycle > setup_.last_wave) {
                for (auto& engine : engines_) engine->step(cycle);
                continue;
            }
            for (auto& engine : engines_) engine->show(cycle);
            trace_.dump(uint64_t(cycle));
            for (auto& engine : engines_) engine->clock();
        }
#else
        team_.run(pace_.together());
#endif
    }

    // Does a part of what is to be done up to the next meeting: runs an engine, or performs the requests of the round
    // before, which none of the engines needs yet.
    void do_part(int number) {
        const MemoryModel& memory = setup_.memory;
        if (number == CYSCC_ENGINES) return memory.serve(memory.context);
        if (setup_.round) memory.deliver(memory.context, number);
        engines_[number]->run(cycle_, meeting_);
    }

    const Setup setup_;
    VerilatedContext verilated_;
#if VM_TRACE
    VerilatedVcdC trace_;
#endif
    std::vector<Link> links_;
    std::vector<std::unique_ptr<Engine>> engines_;
    std::vector<Command> commands_;
    int64_t cycle_ = 0;
    int64_t meeting_ = 0;
    int64_t begun_ = 0;
    Team team_;
    Pace pace_;
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
CYSCC_EXPORT void cyscc_activity(cyscc::Machine* machine, int64_t* counts) { machine->activity(counts); }
}
