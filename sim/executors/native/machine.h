// What all machines share: lists of commands, sync points of the AEs at the memory, the status of a run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "access_log.h"
#include "pin_driver.h"
#include "spell_log.h"

namespace cyscc {

struct Setup {
    MemoryModel memory;
    int64_t interval;  // cycles between two moments at which the host may begin or end something
    int64_t round;     // most cycles between two sync points, if requests are performed while AEs go on; else 0
    int64_t watchdog;
    int64_t threads;
};

class Machine {
public:
    virtual ~Machine() = default;

    void begin(const Command* commands, int count) {
        commands_.assign(commands, commands + count);
        for (PinDriver* driver : drivers_) driver->begin(commands_.data(), count);
        begun_ = cycle_;
    }

    RunState run(int64_t budget) {
        const int64_t intervals = std::max<int64_t>(1, (budget + setup_.interval - 1) / setup_.interval);
        const int64_t end = cycle_ + intervals * setup_.interval;
        RunState state = kRunning;
        do state = run_intervals(end);
        while (state == kRunning && cycle_ < end);
        // Nothing stays under way, so that the memory holds what has been written.
        if (setup_.round && setup_.memory.settle(setup_.memory.context, cycle_ - 1)) state = kMemoryError;
        return state;
    }

    int64_t cycle() const { return cycle_; }

    int64_t instruction_cycles() const {
        int64_t last = 0;
        for (const PinDriver* driver : drivers_) last = std::max(last, driver->idle_since());
        return last - drivers_[0]->dispatched();
    }

    // Answers as [read][AE].
    void answers(uint64_t* values) const {
        for (size_t read = 0; read < drivers_[0]->answers().size(); ++read)
            for (const PinDriver* driver : drivers_) *values++ = driver->answers()[read];
    }

    // Writes what was counted at every multiple of an interval from now on, as [AE][place][word], see `Engine::record`.
    virtual void record(int64_t, int64_t, int64_t*) {}
    // Writes what was counted up to now, as [AE][word].
    virtual void sample(int64_t*) {}
    // The high-water marks of an instruction begin anew.
    virtual void begin_instruction() {}

    // Logs the spells of all kernels from now on, each AE's behind those of the one before.
    virtual void log_spells(SpellLog) {}
    // Brings the log up to now, if asked with the spells that are under way.
    virtual void write_spells(bool) {}

    // Logs the accesses of all kernels from now on; then those of an AE since the last call, there until the next one.
    virtual void log_accesses(const AccessRequest&) {}
    virtual const std::vector<Access>* take_accesses(int64_t) { return nullptr; }
    // How many reads will yet be logged, though no port takes another request.
    virtual int64_t open_reads() const { return 0; }

    // The state by name, where the hardware has names.
    Inventory& inventory() {
        if (inventory_.pieces().empty()) {
            inventory_.enter("machine");
            inventory_.add("cycle", &cycle_);
            inventory_.add("begun", &begun_);
            for (PinDriver* driver : drivers_) driver->list(inventory_);
            list(inventory_);
        }
        return inventory_;
    }

    // Makes the state what it is with every cycle evaluated up to now: before it is read.
    virtual void rest() {}

    // Makes everything else follow from the state: after it was written.
    virtual void resume() {}

protected:
    explicit Machine(const Setup& setup) : setup_(setup) {}

    // Runs all AEs from the present cycle up to another, before which none sees what the others do.
    virtual void advance(int64_t sync_point) = 0;

    // Cycles up to which no AE sees what another does from now on, and the list of commands is surely not done. More than
    // an interval before the first one it is not done either.
    struct Horizon {
        int64_t unseen, undone;
    };
    virtual Horizon horizon() const { return {cycle_, cycle_}; }

    virtual void list(Inventory&) {}

    const Setup setup_;
    std::vector<PinDriver*> drivers_;
    int64_t cycle_ = 0;
    int64_t begun_ = 0;

private:
    // Runs to where the next interval ends, or further, at most to an end, as long as no AE sees what another does. That
    // something is done or hangs is seen only where an interval ends; so it runs past such a cycle only if neither can be.
    RunState run_intervals(int64_t end) {
        const MemoryModel& memory = setup_.memory;
        const auto finish = setup_.round ? memory.seal : memory.settle;
        const int64_t patient = last_move() + setup_.watchdog;
        const Horizon ahead = horizon();
        // The last cycle up to some other one in which an interval ends.
        const auto last_end = [this, end](int64_t cycle) {
            return end - (end - cycle + setup_.interval - 1) / setup_.interval * setup_.interval;
        };
        int64_t stop = std::min({end, cycle_ + setup_.round, ahead.unseen, patient + setup_.interval});
        if (stop > std::min(ahead.undone, patient)) stop = last_end(stop);
        stop = std::max(stop, last_end(cycle_ + setup_.interval));
        while (cycle_ < stop) {
            const int64_t sync_point = setup_.round ? std::min(stop, cycle_ + setup_.round) : stop;
            advance(sync_point);
            cycle_ = sync_point;
            if (finish(memory.context, cycle_ - 1)) return kMemoryError;
        }
        if ((end - cycle_) % setup_.interval) return kRunning;
        if (finished()) return kDone;
        if (cycle_ - last_move() <= setup_.watchdog) return kRunning;
        // What the memory owes comes by itself, however long it takes. A request that is not delivered yet, and not
        // counted here, has moved in one of the last two rounds.
        return cycle_ - memory.last_completion(memory.context) > setup_.watchdog ? kHung : kRunning;
    }

    bool finished() const {
        return std::all_of(drivers_.begin(), drivers_.end(), [](const PinDriver* driver) { return driver->finished(); });
    }

    // The last cycle in which something moved, or the list began.
    int64_t last_move() const {
        int64_t last = begun_;
        for (const PinDriver* driver : drivers_) last = std::max(last, driver->moved());
        return last;
    }

    std::vector<Command> commands_;
    Inventory inventory_;
};

}  // namespace cyscc
